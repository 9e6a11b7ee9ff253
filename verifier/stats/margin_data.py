"""Two arms at the door of a rule: shapes, finite numbers, bounds, and which arm favours the claim."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from verifier.model.errors import BadInput
from verifier.stats.laws import Floats
from verifier.stats.margin_design import DifferenceRule, RatioRule, TRule


class Arms(NamedTuple):
    """Values of either arm, row r being replicate r, turned so that a larger `left` favours the claim.

    right is None where `left` already holds differences. excess: rows of either arm that have no partner.
    """

    left: Floats
    right: Floats | None
    excess: tuple[int, int]

    @property
    def n(self) -> int:
        """Replicates that count."""
        return len(self.left)


def read_arms(
    rule: TRule,
    left: npt.ArrayLike,
    right: npt.ArrayLike | None,
    *,
    paired: bool,
    noun: str,
    items: bool = True,
) -> Arms:
    """The arms as float64, (n,) or, where `items` allows, (n, items). Not paired, excess rows are set aside.

    Raises BadInput for values that are not finite numbers, arms of different shape, or tables of more than two axes.
    """
    first = _finite(left, "left" if right is not None else "difference")
    if first.ndim == 2 and not items:
        raise BadInput(f"{noun} have no items under this rule", mend="give one value each")
    if right is None:
        return Arms(first if rule.better == "higher" else -first, None, (0, 0))
    second = _finite(right, "right")
    if first.shape[1:] != second.shape[1:]:
        raise BadInput("the two arms do not have the same items", mend="give every item in both arms, in one order")
    if paired and len(first) != len(second):
        raise BadInput(
            f"{len(first)} {noun} on the left and {len(second)} on the right are not pairs",
            mend='give both arms of every pair, or register noise = "unpaired"',
        )
    n = min(len(first), len(second))
    excess = (len(first) - n, len(second) - n)
    first, second = first[:n], second[:n]
    return Arms(first, second, excess) if rule.better == "higher" else Arms(second, first, excess[::-1])


def _finite(values: npt.ArrayLike, arm: str) -> Floats:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"a value of the {arm} arm is not a number") from error
    if array.ndim not in (1, 2):
        raise BadInput(f"the {arm} arm has {array.ndim} axes", mend="give replicates, or replicates by items")
    if not np.isfinite(array).all():
        raise BadInput(f"a value of the {arm} arm is not a finite number", mend="such a run has no answer")
    return array


def allowed_values(rule: TRule, *, both: bool) -> tuple[float, float]:
    """The least and the largest value that the registered bounds allow, infinite where there are none.

    both: of a value of either arm; otherwise of their difference.
    """
    if rule.bounds is None:
        return -math.inf, math.inf
    low, high = (float(bound) for bound in rule.bounds)
    return (low, high) if both else (low - high, high - low)


def out_of_bounds(rule: TRule, arms: Arms, *, noun: str) -> str:
    """Which replicate has a value outside the registered bounds, as a clause; "" where none has."""
    if rule.bounds is None:
        return ""
    low, high = allowed_values(rule, both=arms.right is not None)
    for values in (arms.left, arms.right):
        if values is None:
            continue
        outside = (values < low) | (values > high)
        rows = np.flatnonzero(outside if outside.ndim == 1 else outside.any(axis=1))
        if rows.size:
            return f"{noun} {rows[0] + 1} has a value outside the registered bounds, {low:g} to {high:g}"
    return ""


def may_be(rule: DifferenceRule | RatioRule, value: float, *, both: bool) -> bool:
    """Whether the rule can judge a value: within the registered bounds, and above zero where its logarithm is taken."""
    low, high = allowed_values(rule, both=both)
    logarithm = isinstance(rule, RatioRule) and rule.estimand == "geometric"
    return low <= value <= high and (value > 0 or not logarithm)
