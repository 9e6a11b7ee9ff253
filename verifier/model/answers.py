"""Answer -> outcome, for the probes whose answers are not a rule's own table: exact, audit, record.

Each function is one block of the table in the design: rows in order, the first that applies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from verifier.model.outcomes import Outcome, Reason
from verifier.model.words import SentenceEnum

About = Literal["claim", "dispute"]


@dataclass(frozen=True, slots=True)
class Finding:
    """An outcome, and the reason it names where it is not a decision."""

    outcome: Outcome
    reason: Reason | None = None

    def __post_init__(self) -> None:
        needs = self.outcome in (Outcome.UNDECIDED, Outcome.UNDERPOWERED, Outcome.INVALID)
        assert needs == (self.reason is not None), f"{self.outcome} with reason {self.reason}"


FOR = Finding(Outcome.FOR_DISPUTE)
AGAINST = Finding(Outcome.AGAINST_DISPUTE)
NO_ANSWER = Finding(Outcome.NO_ANSWER)


def undecided(reason: Reason) -> Finding:
    """UNDECIDED, because of `reason`."""
    return Finding(Outcome.UNDECIDED, reason)


def underpowered(reason: Reason) -> Finding:
    """UNDERPOWERED, because of `reason`."""
    return Finding(Outcome.UNDERPOWERED, reason)


def invalid(reason: Reason) -> Finding:
    """INVALID, because of `reason`."""
    return Finding(Outcome.INVALID, reason)


class ExactAnswer(SentenceEnum):
    """What exact work can find."""

    VIOLATED = "VIOLATED", "the conclusion fails under the hypotheses"
    VIOLATED_FOR_ALL = (
        "VIOLATED_FOR_ALL",
        "the conclusion fails for good: at every step from some step on, or in the limit",
    )
    HOLDS_FOR_ALL = "HOLDS_FOR_ALL", "the conclusion holds for this instance, at every step"
    VERIFIED_TO_HORIZON = (
        "VERIFIED_TO_HORIZON",
        "the conclusion is not shown to fail up to the horizon; nothing is known beyond it",
    )
    AMBIGUOUS = "AMBIGUOUS", "the answer depends on how a tie is broken, or two sides cannot be told apart"
    UNSUPPORTED_HYPOTHESIS = "UNSUPPORTED_HYPOTHESIS", "the instance is not shown to satisfy the hypotheses"


def exact_outcome(answer: ExactAnswer, *, alleges: Literal["instance", "general"]) -> Finding:
    """What an exact answer says; `alleges` tells whether the dispute alleges this very instance."""
    match answer:
        case ExactAnswer.VIOLATED | ExactAnswer.VIOLATED_FOR_ALL:
            return FOR
        case ExactAnswer.HOLDS_FOR_ALL:
            return AGAINST if alleges == "instance" else undecided(Reason.NOT_DECIDED)
        case ExactAnswer.VERIFIED_TO_HORIZON:
            return underpowered(Reason.HORIZON)
        case ExactAnswer.AMBIGUOUS:
            return undecided(Reason.AMBIGUOUS)
        case ExactAnswer.UNSUPPORTED_HYPOTHESIS:
            return invalid(Reason.HYPOTHESIS_UNMET)


class AuditAnswer(SentenceEnum):
    """What a basis audit can find."""

    SAME_BASIS = "SAME_BASIS", "both numbers stand on the same basis"
    MISMATCH_PROVEN = "MISMATCH_PROVEN", "the numbers are shown to stand on different bases"
    RECONCILED = "RECONCILED", "a declared factor with a source turns one basis into the other"
    RECONCILED_WEAK = "RECONCILED_WEAK", "a declared factor turns one basis into the other, but it has no source"
    JOINTLY_INCONSISTENT = "JOINTLY_INCONSISTENT", "the printed numbers cannot all hold together"
    NOT_MATERIAL = "NOT_MATERIAL", "the difference in basis does not change the comparison"
    INSUFFICIENT = "INSUFFICIENT", "what was given does not settle the basis"


class Corrected(SentenceEnum):
    """Where a comparison stands once both numbers are on one basis, over the whole corrected interval."""

    OTHER_SIDE = "OTHER_SIDE", "the whole corrected interval lies on the other side of 1"
    CONTAINS_ONE = "CONTAINS_ONE", "the corrected interval contains 1"
    BELOW_THRESHOLD = "BELOW_THRESHOLD", "the corrected interval misses the registered threshold"
    KEPT = "KEPT", "the correction keeps direction and support"


@dataclass(frozen=True, slots=True)
class AuditContext:
    """What the audit's answer is read with.

    `residual_excludes_one`: the factor left unexplained has an interval without 1. `code_against_text`: the audit
    sets code against the paper's words. `material`: the correction matters over its whole range.
    """

    about: About
    alleges_mismatch: bool = False
    residual_excludes_one: bool = False
    code_against_text: bool = False
    produced_by: Literal["released", "private", "unknown"] = "unknown"
    material: bool = False
    corrected: Corrected = Corrected.KEPT


def audit_outcome(answer: AuditAnswer, context: AuditContext) -> Finding:
    """What an audit's answer says."""
    mismatch = answer in (AuditAnswer.MISMATCH_PROVEN, AuditAnswer.RECONCILED)
    weak = answer in (AuditAnswer.RECONCILED_WEAK, AuditAnswer.JOINTLY_INCONSISTENT)
    if weak or context.residual_excludes_one:
        return undecided(Reason.SIZE_UNEXPLAINED)
    if context.code_against_text and context.produced_by != "released":
        return undecided(Reason.CODE_PROVENANCE)
    if mismatch and context.about == "claim":
        return FOR if context.material else undecided(Reason.SIZE_UNEXPLAINED)
    if mismatch:
        match context.corrected:
            case Corrected.OTHER_SIDE:
                return AGAINST
            case Corrected.CONTAINS_ONE | Corrected.BELOW_THRESHOLD:
                return invalid(Reason.BASIS)
            case Corrected.KEPT:
                return undecided(Reason.NOT_DECIDED)
    if answer in (AuditAnswer.SAME_BASIS, AuditAnswer.NOT_MATERIAL):
        return AGAINST if context.alleges_mismatch else undecided(Reason.NOT_DECIDED)
    return underpowered(Reason.UNDERPOWERED)  # INSUFFICIENT, the last row


def record_outcome(*, holds: bool | None, if_true: Outcome) -> Finding:
    """What a relation in pinned files says.

    `holds` is None where the relation needs meaning; `if_true` is the registered side (FOR_DISPUTE or
    AGAINST_DISPUTE) of a relation that holds.
    """
    assert if_true.decided, if_true
    if holds is None:
        return undecided(Reason.NEEDS_READER)
    return FOR if holds == (if_true is Outcome.FOR_DISPUTE) else AGAINST
