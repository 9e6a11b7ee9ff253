"""Enumerations whose members carry the sentence a person reads."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class SentenceEnum(StrEnum):
    """A word with its sentence: `NAME = "word", "what it means"`."""

    sentence: str

    def __new__(cls, value: str, sentence: str) -> Self:
        """A member is its word and carries its sentence."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member
