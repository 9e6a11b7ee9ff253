"""Formulas as tokens: longest match, spaces between, nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from verifier.model.complaints import shown
from verifier.model.errors import BadInput

MOST_CHARACTERS = 4_000
MOST_TOKENS = 2_000
MOST_DIGITS = 100
MOST_NAME = 32
RESERVED = frozenset(("forall", "psd", "min", "max", "abs", "sum", "if", "in", "sqrt", "exp", "log"))

_TOKEN = re.compile(
    r"(?P<number>0|[1-9][0-9]*)|(?P<name>[A-Za-z][A-Za-z0-9_]*)|(?P<sign>\.\.|<=|!=|[-+*/^()\[\],:<=])", re.ASCII
)

Kind = Literal["number", "name", "sign", "end"]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a formula: `text` as written, `at` the character it begins at, from 0."""

    kind: Kind
    text: str
    at: int


def complaint(formula: str, at: int, what: str, *, where: str, mend: str) -> BadInput:
    """What is wrong at one character of a formula; characters are counted from 1 for people."""
    begin = max(0, at - 12)
    near = formula[begin : at + 16]
    place = f"character {at + 1}" if at < len(formula) else "the end"
    there = f"{place} of the formula (near {shown(near)})" if near else f"{place} of the formula"
    return BadInput(what, where=f"{where}: {there}", mend=mend)


def tokenize(formula: str, *, where: str) -> tuple[Token, ...]:
    """The tokens of a formula, the last one of kind `end`. Raises BadInput, `where` in front."""
    if len(formula) > MOST_CHARACTERS:
        raise BadInput(
            f"the formula has more than {MOST_CHARACTERS:,} characters", where=where, mend="split or shorten it"
        )
    found: list[Token] = []
    at = 0
    while at < len(formula):
        if formula[at] == " ":
            at += 1
            continue
        match = _TOKEN.match(formula, at)
        if match is None:
            what = f"the character {shown(formula[at])} means nothing here"
            mend = "use letters, digits, spaces and the signs of docs/certificates.md, section 8; 7/3 for a fraction"
            if formula[at] == ">":
                sign = "<=" if formula.startswith(">=", at) else "<"
                mend = f"swap the sides: write a {sign.replace('<', '>')} b as b {sign} a"
            raise complaint(formula, at, what, where=where, mend=mend)
        text = match[0]
        kind: Kind = "number" if match["number"] else "name" if match["name"] else "sign"
        if kind == "number" and len(text) > MOST_DIGITS:
            raise complaint(formula, at, f"a number has more than {MOST_DIGITS} digits", where=where, mend="shorten it")
        if kind == "name" and len(text) > MOST_NAME:
            what = f"a name has more than {MOST_NAME} characters"
            raise complaint(formula, at, what, where=where, mend="shorten it")
        found.append(Token(kind, text, at))
        if len(found) > MOST_TOKENS:
            what = f"the formula has more than {MOST_TOKENS:,} tokens"
            raise BadInput(what, where=where, mend="split or shorten it")
        at = match.end()
    return (*found, Token("end", "", len(formula)))
