"""Outcomes -> ruling: per part, and over all disputed parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verifier.model.answers import Finding
from verifier.model.outcomes import Outcome, Reason
from verifier.model.words import SentenceEnum


class Ruling(SentenceEnum):
    """What a case says about the dispute. Printed with its sentence, never bare."""

    UPHELD = "UPHELD", "the dispute stands"
    DISMISSED = "DISMISSED", "the dispute fails"
    UNDECIDED = "UNDECIDED", "the dispute is not decided"
    UNDERPOWERED = "UNDERPOWERED", "this design could not decide the dispute"
    INVALID = "INVALID", "the evidence does not bear on the dispute"
    NO_ANSWER = "NO_ANSWER", "no answer was obtained about the dispute"

    @property
    def words(self) -> str:
        """The ruling as it is printed: "the dispute stands (UPHELD)"."""
        return f"{self.sentence} ({self.value})"

    @property
    def decided(self) -> bool:
        """Whether the ruling takes a side."""
        return self in (Ruling.UPHELD, Ruling.DISMISSED)


def ruling_words(ruling: str) -> str:
    """`Ruling.words` of a ruling's name as recorded; the text itself where it is none, such as "no ruling"."""
    return Ruling[ruling].words if ruling in Ruling.__members__ else ruling


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """What one probe found about a part, after its controls."""

    probe: str
    finding: Finding
    required: bool = True


@dataclass(frozen=True, slots=True)
class PartRuling:
    """The ruling on one part, the probes that fixed it, and the reason where it is not a decision."""

    ruling: Ruling
    fixed_by: tuple[str, ...]
    reason: Reason | None = None


def rule_part(findings: Sequence[ProbeFinding]) -> PartRuling:
    """The ruling on one part: first row that applies. `findings` has at least one element."""
    assert findings, "a part without probes has no ruling"

    def some(outcome: Outcome) -> list[ProbeFinding]:
        return [finding for finding in findings if finding.finding.outcome is outcome]

    def fixed(ruling: Ruling, by: Sequence[ProbeFinding], reason: Reason | None = None) -> PartRuling:
        return PartRuling(ruling, tuple(finding.probe for finding in by), reason or by[0].finding.reason)

    required_without_answer = [finding for finding in some(Outcome.NO_ANSWER) if finding.required]
    for_dispute, against = some(Outcome.FOR_DISPUTE), some(Outcome.AGAINST_DISPUTE)
    if required_without_answer:
        return fixed(Ruling.NO_ANSWER, required_without_answer)
    if for_dispute and against:
        return fixed(Ruling.UNDECIDED, [*for_dispute, *against], Reason.CONFLICT)
    if for_dispute:
        return fixed(Ruling.UPHELD, for_dispute)
    if against:
        return fixed(Ruling.DISMISSED, against)
    if undecided := some(Outcome.UNDECIDED):
        return fixed(Ruling.UNDECIDED, undecided)
    if underpowered := some(Outcome.UNDERPOWERED):
        return fixed(Ruling.UNDERPOWERED, underpowered)
    if without_answer := some(Outcome.NO_ANSWER):
        return fixed(Ruling.NO_ANSWER, without_answer)
    return fixed(Ruling.INVALID, findings)


@dataclass(frozen=True, slots=True)
class CaseRuling:
    """The ruling in all, the parts that fixed it, and the reason where it is not a decision."""

    ruling: Ruling
    parts: tuple[str, ...]
    reason: Reason | None = None


def rule_case(parts: Mapping[str, PartRuling]) -> CaseRuling:
    """The ruling over the disputed parts (`parts`: id -> ruling, not empty), in the claim's order."""
    assert parts, "a dispute disputes at least one part"

    def those(ruling: Ruling) -> tuple[str, ...]:
        return tuple(part for part, found in parts.items() if found.ruling is ruling)

    if upheld := those(Ruling.UPHELD):
        return CaseRuling(Ruling.UPHELD, upheld)
    if len(dismissed := those(Ruling.DISMISSED)) == len(parts):
        return CaseRuling(Ruling.DISMISSED, dismissed)
    for ruling in (Ruling.NO_ANSWER, Ruling.UNDECIDED, Ruling.UNDERPOWERED, Ruling.INVALID):
        if open_parts := those(ruling):
            return CaseRuling(ruling, open_parts, parts[open_parts[0]].reason)
    raise AssertionError("the rows above are total")
