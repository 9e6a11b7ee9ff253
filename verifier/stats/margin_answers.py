"""The answers of the margin rule, and the table that turns its facts into one of them."""

from __future__ import annotations

from verifier.model.outcomes import Outcome, Reason
from verifier.stats.rule_answer import RuleAnswer


class MarginAnswer(RuleAnswer):
    """The rule's answers: each member is its word and carries its sentence, its outcome and its reason."""

    MALFORMED = (
        "MALFORMED",
        "these data cannot be judged by the registered rule",
        Outcome.INVALID,
        Reason.MALFORMED,
    )
    TOO_FEW = (
        "TOO_FEW",
        "fewer were run than the registered minimum",
        Outcome.UNDERPOWERED,
        Reason.UNDERPOWERED,
    )
    BETWEEN = (
        "BETWEEN",
        "the effect is real, but smaller than claimed",
        Outcome.UNDECIDED,
        Reason.BETWEEN,
    )
    BELOW_CLAIM = (
        "BELOW_CLAIM",
        "the effect is smaller than claimed, and nearer to what is alleged",
        Outcome.FOR_DISPUTE,
        None,
    )
    ABOVE_ALLEGED = (
        "ABOVE_ALLEGED",
        "the effect is larger than alleged, and nearer to what is claimed",
        Outcome.AGAINST_DISPUTE,
        None,
    )
    NOT_AS_ALLEGED = (
        "NOT_AS_ALLEGED",
        "the effect is larger than alleged, but whether it is as large as claimed is open",
        Outcome.UNDECIDED,
        Reason.BETWEEN,
    )
    NOT_AS_CLAIMED = (
        "NOT_AS_CLAIMED",
        "the effect is smaller than claimed, but whether it is as small as alleged is open",
        Outcome.UNDECIDED,
        Reason.BETWEEN,
    )
    NEITHER = (
        "NEITHER",
        "a design that should have decided reached neither threshold",
        Outcome.UNDECIDED,
        Reason.NOT_DECIDED,
    )
    NEITHER_INADEQUATE = (
        "NEITHER_INADEQUATE",
        "this design could not be expected to decide",
        Outcome.UNDERPOWERED,
        Reason.UNDERPOWERED,
    )


def decide(
    *,
    malformed: bool,
    too_few: bool,
    below_claim: bool,
    above_alleged: bool,
    below_middle: bool,
    above_middle: bool,
    below_claim_now: bool,
    above_alleged_now: bool,
    adequate: bool,
) -> MarginAnswer:
    """The rule's table: the first row that applies.

    below_claim, above_alleged: G ≥ T, F ≥ T, suprema over the looks made of the evidence for θ < c and for θ > a.
    below_middle, above_middle: H₋ ≥ 20, H₊ ≥ 20, likewise for θ < m and θ > m. below_claim_now, above_alleged_now:
    whether the evidence for θ < c, for θ > a at this look is at least 20. All after the discount.
    """
    if malformed:
        return MarginAnswer.MALFORMED
    if too_few:
        return MarginAnswer.TOO_FEW
    if below_claim and above_alleged:
        return MarginAnswer.BETWEEN
    if below_claim and below_middle and not above_alleged_now:
        return MarginAnswer.BELOW_CLAIM
    if above_alleged and above_middle and not below_claim_now:
        return MarginAnswer.ABOVE_ALLEGED
    if above_alleged:
        return MarginAnswer.NOT_AS_ALLEGED
    if below_claim:
        return MarginAnswer.NOT_AS_CLAIMED
    if adequate:
        return MarginAnswer.NEITHER
    return MarginAnswer.NEITHER_INADEQUATE
