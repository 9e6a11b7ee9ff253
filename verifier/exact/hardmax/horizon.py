"""What a run that ended at its horizon can say: the smallest margin, two forecasts, and what it would have caught."""

from __future__ import annotations

from math import ceil, exp, log

from verifier.exact.answer import Horizon
from verifier.exact.hardmax.bound import Bound
from verifier.exact.hardmax.walk import Walk
from verifier.exact.known import Catch

MOST_FORECAST = 10**15
"""A crossing further away than this is not worth a number."""


def reached(walk: Walk) -> int:
    """The last step t whose inequality was checked."""
    return walk.state.t - 1 if walk.enclosed is None else walk.enclosed.t


def horizon_of(
    walk: Walk, bound: Bound, *, worst: tuple[float, int], stopped_by: str, catches: tuple[Catch, ...]
) -> Horizon:
    """The horizon of a walk that ended without an answer.

    `worst` is the largest left/right and its step, negative where no step was taken; `stopped_by` is "horizon",
    "time limit" or "number of selections".
    """
    last, (top, over) = reached(walk), walk.last
    theta = bound.theta
    crossing = theta.numerator * over // (theta.denominator * top) if top else None
    return Horizon(
        last,
        1 - worst[0] if worst[0] >= 0 else None,
        worst[1] if worst[0] >= 0 else None,
        crossing,
        stopped_by,
        trend_crossing=_trend_crossing(walk, bound, last),
        would_catch=catches,
    )


def _trend_crossing(walk: Walk, bound: Bound, last: int) -> int | None:
    """The step at which the bound is crossed if 2J falls like a power of t + 1, as it did over the second half.

    With 2J ∝ (t+1)^(−a) the left over right side grows like (t+1)^(1−a); for a ≥ 1 it never crosses.
    """
    top, over = walk.last
    earlier = [sample for sample in walk.energies if 2 * (sample[0] + 1) <= last + 1]
    if not earlier or top <= 0 or bound.theta <= 0:
        return None
    t, before = earlier[-1]
    now = log(top) - log(over)
    power = (before - now) / log((last + 1) / (t + 1))
    share = now + log(last + 1) - log(bound.theta.numerator) + log(bound.theta.denominator)  # ln of left over right
    if power >= 1 or share >= 0:
        return None
    ahead = -share / (1 - power)
    if ahead + log(last + 1) > log(MOST_FORECAST):
        return None
    return ceil((last + 1) * exp(ahead)) - 1
