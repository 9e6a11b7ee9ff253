"""No certificate leaves the finder that the checker does not accept."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from verifier.exact.answer import Refutation
from verifier.exact.checker import Result, check
from verifier.model.answers import ExactAnswer
from verifier.model.errors import InfrastructureFailed


@dataclass(frozen=True, slots=True)
class Checked:
    """A refutation, the text of its certificate's file, and what the checker printed on it.

    `text` and `said` are None where there is no certificate. `refused` is the checker's last line on one that it did
    not accept and that was therefore taken away; empty otherwise.
    """

    found: Refutation
    text: str | None
    said: str | None
    refused: str = ""


def certificate_text(found: Refutation) -> str | None:
    """The certificate as its file holds it, or None where there is none."""
    if found.certificate is None:
        return None
    return json.dumps(found.certificate, ensure_ascii=False, separators=(",", ":")) + "\n"


def accepted(found: Refutation) -> Checked:
    """The refutation with its certificate checked, and without it where the checker does not accept it.

    A proof too large for the format stays an answer. Else a VIOLATED_FOR_ALL becomes a VIOLATED, which the first
    violation shows by itself: both its sides were computed exactly. Raises InfrastructureFailed where none is known.
    """
    text = certificate_text(found)
    if text is None:
        return Checked(found, None, None)
    result = check(text.encode())
    if result.word == "ACCEPTED":
        return Checked(found, text, result.text)
    return Checked(_without(found, result), None, None, result.last_line)


def _without(found: Refutation, result: Result) -> Refutation:
    """What is left of an answer whose certificate was refused."""
    bare = replace(found, certificate=None, no_certificate=f"the checker says {result.last_line}: report this file")
    if found.answer is ExactAnswer.VIOLATED or result.code == "too-large":
        return bare
    first = found.first_violation
    if first is None or first.lhs is None or first.lhs <= first.rhs:
        raise InfrastructureFailed(
            f"the finder says {found.answer}, the checker {result.last_line}", mend="report this problem"
        )
    return replace(
        bare,
        answer=ExactAnswer.VIOLATED,
        sentence=f"The inequality fails at t = {first.t} for component {first.component}; a proof that it fails for "
        "good was not accepted.",
        fails_from=None,
        fails_from_by_component=None,
    )
