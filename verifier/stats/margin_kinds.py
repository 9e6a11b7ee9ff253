"""The margin rules as one: whichever is registered, applied to the arrays that its kind takes."""

from __future__ import annotations

from typing import TypeAlias

from verifier.model.errors import BadInput
from verifier.stats import count, difference, proportion, ratio
from verifier.stats.bounded_design import CountRule, ProportionRule
from verifier.stats.laws import Floats
from verifier.stats.margin_design import DifferenceRule, RatioRule
from verifier.stats.margin_statistics import MarginFinding

AnyMarginRule: TypeAlias = DifferenceRule | RatioRule | ProportionRule | CountRule


def evaluate_margin(
    rule: AnyMarginRule,
    left: Floats,
    right: Floats | None = None,
    *,
    discount: float,
    last: bool,
    stopped_at: int | None = None,
) -> MarginFinding:
    """The finding of the rule's own `evaluate`.

    left, right: float64, (n,), or (n, items) for a difference over items. A difference may come as `left` alone; a
    proportion and a count have `left` alone, of 0 and 1. discount, last, stopped_at: as `margin_finding` has them.

    Raises BadInput as that `evaluate` does, and where a ratio has one arm or a proportion two.
    """
    match rule:
        case DifferenceRule():
            return difference.evaluate(rule, left, right, discount=discount, last=last, stopped_at=stopped_at)
        case RatioRule():
            if right is None:
                raise BadInput("a ratio needs both arms", mend="give left and right")
            return ratio.evaluate(rule, left, right, discount=discount, last=last, stopped_at=stopped_at)
        case ProportionRule() | CountRule():
            if right is not None:
                raise BadInput(f"a {rule.kind} has no arms", mend="give one outcome for each, 0 or 1")
            if isinstance(rule, CountRule):
                return count.evaluate(rule, left, discount=discount, last=last, stopped_at=stopped_at)
            return proportion.evaluate(rule, left, discount=discount, last=last, stopped_at=stopped_at)
