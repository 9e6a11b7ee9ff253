"""Betting on a bounded metric: e-processes and confidence sequences for a mean that assume no distribution.

A gambler who may only look back stakes λ_t on the next value lying above m; if the mean is at most m the capital
Π(1 + λ_t (x_t − m)) is a non-negative supermartingale, whatever the values are besides lying in [0, 1], and however
they depend on the past as long as the conditional mean stays there. All of it in logs: capital overflows.

Source: Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, Proposition 2 (the
capital process), Theorem 3 (hedged capital) and Section 3 (predictable plug-in bets); Ville (1939) for the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from verifier.model.errors import BadInput
from verifier.stats.laws import Floats

HALF_CAP = 0.5
"""The published cap: a bet is at most half of what could lose everything."""
CAPS = (HALF_CAP, 0.95)
"""Evidence averages over these: the bold cap halves the data needed where the metric hardly varies."""
PRIOR_MEAN, PRIOR_VARIANCE = 0.5, 0.25
"""What is believed of values in [0, 1] before the first; they count as one observation."""
RESOLUTION = 1e-12
"""How closely an interval's end is found, as a share of the metric's range."""


def unit_values(values: Floats, *, lo: Fraction, hi: Fraction) -> Floats:
    """The values of a metric on [lo, hi] moved to [0, 1]; any shape, float64.

    Raises BadInput for lo ≥ hi, a value that is not finite, and one outside the registered range, which would make the
    capital negative.
    """
    low, high = float(lo), float(hi)
    if not low < high:
        raise BadInput(f"the range [{lo}, {hi}] is empty", mend="write lo below hi")
    values = np.asarray(values, float)
    outside = ~((values >= low) & (values <= high))  # true for NaN as well
    if np.any(outside):
        index = int(np.flatnonzero(outside)[0])
        raise BadInput(
            f"value {index + 1}, {values.flat[index]:g}, is outside the registered range [{low:g}, {high:g}]",
            mend="register the range that the metric cannot leave",
        )
    return np.clip((values - low) / (high - low), 0.0, 1.0)


def bets(x: Floats, *, log_target: float) -> Floats:
    """λ_t before the cap, from the values before t alone; x in [0, 1] of shape (…, n), and so is the result.

    λ_t = √(2·target / (σ̂²_{t−1} t ln(1 + t))) with μ̂_t = (½ + Σx)/(t + 1) and σ̂²_t = (¼ + Σ(x_i − μ̂_i)²)/(t + 1): the
    predictable plug-in of Waudby-Smith and Ramdas (2024), equation 26. log_target: ln of the capital aimed at, ln T for
    a threshold T and ln(2/α) for a confidence sequence; it steers power and never validity.
    """
    t = np.arange(1.0, x.shape[-1] + 1.0)
    means = (PRIOR_MEAN + np.cumsum(x, axis=-1)) / (t + 1.0)
    variances = (PRIOR_VARIANCE + np.cumsum(np.square(x - means), axis=-1)) / (t + 1.0)
    before = np.empty_like(variances)
    before[..., :1] = PRIOR_VARIANCE
    before[..., 1:] = variances[..., :-1]
    return np.asarray(np.sqrt(2.0 * log_target / (before * t * np.log1p(t))))


def log_gains(x: Floats, stakes: Floats, *, null: float, cap: float = HALF_CAP) -> Floats:
    """The log gain of each bet that the mean is above `null`, ln(1 + min(λ_t, cap/m)(x_t − m)); shapes as of `bets`.

    At m = 0 there is nothing to lose and no cap; at m = 1 nothing can be won.
    """
    most = cap / null if null > 0 else math.inf
    return np.asarray(np.log1p(np.minimum(stakes, most) * (x - null)))


def log_e_above(x: Floats, stakes: Floats, *, null: float, caps: Sequence[float] = CAPS) -> Floats:
    """Log evidence at every n that the mean of x is above `null`, against a mean of at most `null`.

    The average over `caps` of the capitals (an average of e-processes is one: Vovk and Wang 2021). x, stakes: (…, n),
    values in [0, 1] and their `bets`. null in [0, 1]. It falls as the null rises, so nested nulls give nested evidence.
    """
    total = np.cumsum(log_gains(x, stakes, null=null, cap=caps[0]), axis=-1)
    for cap in caps[1:]:
        total = np.logaddexp(total, np.cumsum(log_gains(x, stakes, null=null, cap=cap), axis=-1))
    return np.asarray(total - math.log(len(caps)))


def log_e_below(x: Floats, stakes: Floats, *, null: float, caps: Sequence[float] = CAPS) -> Floats:
    """Log evidence at every n that the mean of x is below `null`: `log_e_above` in the mirror."""
    return log_e_above(1.0 - x, stakes, null=1.0 - null, caps=caps)


def log_hedged_e(x: Floats, stakes: Floats, *, null: float) -> Floats:
    """Log of the hedged capital max(½K⁺, ½K⁻) at every n against "the mean is `null`", with the published cap."""
    above = log_e_above(x, stakes, null=null, caps=(HALF_CAP,))
    below = log_e_below(x, stakes, null=null, caps=(HALF_CAP,))
    return np.asarray(np.maximum(above, below) - math.log(2))


def confidence_sequence(
    values: Floats, *, lo: Fraction, hi: Fraction, looks: Sequence[int], level: float = 0.95
) -> list[tuple[float, float]]:
    """At each look the means that the hedged capital does not hold against at 1/(1 − level): a confidence sequence.

    values: (n,) in [lo, hi] with n ≥ the last look. The chance that any look's interval misses the mean is at most
    1 − level, under any stopping rule. Each look uses its own prefix only. Every end is found to 1e-12 of the range,
    on the safe side. Raises BadInput as `unit_values` does.
    """
    x = unit_values(values, lo=lo, hi=hi)
    goal = math.log(2.0 / (1.0 - level))
    stakes = bets(x, log_target=goal)
    low, width = float(lo), float(hi) - float(lo)
    found = []
    for look in looks:
        seen, bet = x[:look], stakes[:look]
        under = _lower_end(seen, bet, goal=goal)
        over = 1.0 - _lower_end(1.0 - seen, bet, goal=goal)
        found.append((low + width * under, low + width * over))
    return found


def _lower_end(x: Floats, stakes: Floats, *, goal: float) -> float:
    """The largest m with ½K⁺(m) ≥ 1/α: K⁺ falls in m; 0 where not even m = 0 is held against."""

    def excess(m: float) -> float:
        return float(np.sum(log_gains(x, stakes, null=m))) - goal

    at_zero = excess(0.0)
    if at_zero < 0:
        return 0.0
    return _falling_root(excess, low=0.0, high=1.0, at_low=at_zero, at_high=excess(1.0))


def _falling_root(f: Callable[[float], float], *, low: float, high: float, at_low: float, at_high: float) -> float:
    """The bracket's lower end, where f ≥ 0, once f's change of sign is enclosed to RESOLUTION.

    Secant steps with the Illinois weight (Dowell and Jarratt 1971), and a bisection after three of them that did not
    halve the bracket: a pass over a million values is what costs.
    """
    side, steps, wide = 0, 0, high - low
    while high - low > RESOLUTION:
        steps += 1
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        if steps % 4 == 0:
            middle = (low + high) / 2 if high - low > wide / 2 else middle
            wide = high - low
        # half a resolution inside: an estimate that sits on the root then closes the bracket from the other side
        middle = min(max(middle, low + RESOLUTION / 2), high - RESOLUTION / 2)
        value = f(middle)
        if value >= 0:
            at_high = at_high / 2 if side > 0 else at_high
            low, at_low, side = middle, value, 1
        else:
            at_low = at_low / 2 if side < 0 else at_low
            high, at_high, side = middle, value, -1
    return low
