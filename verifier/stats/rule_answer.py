"""What every rule's answer is: a word with its sentence, its outcome and its reason."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from verifier.model.outcomes import Outcome, Reason


class RuleAnswer(StrEnum):
    """An enumeration of answers: `NAME = "NAME", "what it means", outcome, reason or None`."""

    sentence: str
    outcome: Outcome
    reason: Reason | None

    def __new__(cls, value: str, sentence: str, outcome: Outcome, reason: Reason | None) -> Self:
        """A member is its word and carries what it means."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence, member.outcome, member.reason = sentence, outcome, reason
        return member
