"""The ways in which two numbers can stand on different bases."""

from __future__ import annotations

from verifier.model.words import SentenceEnum


class BasisClass(SentenceEnum):
    """What differs between the bases of two numbers."""

    UNIT = "UNIT", "the unit of what is counted or measured"
    DENOM = "DENOM", "what it is counted per"
    MASK = "MASK", "which items are scored"
    AGG = "AGG", "the order in which it is averaged"
    FORM = "FORM", "which formula is computed"
    DIR = "DIR", "factor, percent, points, or the better direction"
    SEL = "SEL", "how many trials the best was chosen from"
    STATE = "STATE", "the state it was measured in"
    CLOSE = "CLOSE", "printed numbers that must agree"
    NAME = "NAME", "the formula that a name stands for"
