"""The rate rule: whether y(t) decays like t^−p, as claimed, or only like t^−q with q < p, as alleged.

y = O(t^−p) says that v(t) = ln(t^p y(t)) is bounded above, and y ~ t^−q that v grows like (p − q) ln t. So the rate
rule is the growth rule on v under the law ln t, with the alleged slope p − q; a trajectory is one replicate (block).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isfinite

import numpy as np

from verifier.model.errors import BadInput
from verifier.model.results import Adequacy
from verifier.stats import growth
from verifier.stats.growth_rule import LEAST_SCALES, GrowthAnswer
from verifier.stats.growth_sentences import residual_class
from verifier.stats.growth_statistics import GrowthFinding, GrowthStatistics
from verifier.stats.laws import Floats, scale_array
from verifier.stats.power import RUNS, Power, needed_replicates
from verifier.stats.power import power as growth_power
from verifier.stats.rate_rule import RateRule


def log_residue(rule: RateRule, times: Sequence[int], values: Floats) -> Floats:
    """The logarithm v = ln y + p ln t, shape (m, n), of the replicates' means y, shape (m, n), all above zero."""
    t = scale_array(times)
    return np.asarray(np.log(values) + float(rule.claimed) * np.log(t)[:, None])


def unresolved(rule: RateRule, times: Sequence[int], values: Floats, *, axis: str = "t") -> str:
    """Where y is not above zero, or below the registered resolution, as a clause naming the first t; "" if nowhere."""
    least = float(rule.resolution)
    for t, row in zip(times, values, strict=True):
        low = float(row.min()) if row.size else least
        if low <= 0:
            return f"at {axis} = {t} a replicate is {low:.3g}, and what is not above zero has no rate"
        if low < least:
            return f"at {axis} = {t} a replicate is {low:.3g}, below the registered resolution {least:.3g}"
    return ""


def evaluate(
    rule: RateRule,
    *,
    times: Sequence[int],
    values: Floats,
    claim_time: int,
    discount: float,
    last: bool,
    planned_sd: Mapping[int, float] | None = None,
    registered_times: Sequence[int] | None = None,
    stopped_at: int | None = None,
    shared_seeds: bool = True,
    axis: str = "t",
) -> GrowthFinding:
    """The rule's finding at the look n = values.shape[1].

    times: the m times t, increasing integers of at least 2. values: (m, n) replicate means of y, in its own unit.
    claim_time: K_claim, up to which the claim is tested. planned_sd: of one replicate's ln y. shared_seeds: one
    trajectory gives all times of a replicate, so that they are correlated; False where each time has runs of its own.
    The rest as in `growth.evaluate`, whose answers these are, read of v = ln(t^p y).

    Raises BadInput as `growth.evaluate` does. A y that is not above zero, or below the resolution, is no error but the
    answer MALFORMED, which names t.
    """
    values = np.asarray(values, dtype=float)
    scale_array(times)
    if values.ndim != 2 or values.shape[0] != len(times):
        raise BadInput(f"the values have shape {values.shape}, not ({len(times)} times, replicates)")
    if not np.isfinite(values).all():
        raise BadInput("a replicate's value is not a finite number", mend="such a run has no answer")
    stuck = unresolved(rule, times, values, axis=axis)
    if stuck and len(times) >= LEAST_SCALES:
        return _malformed(
            rule, times, n=values.shape[1], discount=discount, claim_time=claim_time, why=stuck, axis=axis
        )
    found = growth.evaluate(
        rule.growth,
        scales=times,
        values=log_residue(rule, times, values[:, :0] if stuck else values),
        claim_scale=claim_time,
        discount=discount,
        last=last,
        planned_sd=planned_sd,
        registered_scales=registered_times,
        stopped_at=stopped_at,
        shared_seeds=shared_seeds,
        axis=axis,
    )
    return replace(found, summary=f"{_subject(rule, axis)} {found.summary}{_decay(rule, found, axis)}")


def _subject(rule: RateRule, axis: str) -> str:
    return f"of ln({axis}^{rule.claimed} y), bounded if y = O({axis}^-{rule.claimed}):"


def _decay(rule: RateRule, found: GrowthFinding, axis: str) -> str:
    """The exponent that the full slope amounts to."""
    full = found.statistics.slope_full
    if full is None or not isfinite(full.estimate):
        return ""
    return f"; over all times y falls like {axis}^-{float(rule.claimed) - full.estimate:.3f}"


def _malformed(
    rule: RateRule, times: Sequence[int], *, n: int, discount: float, claim_time: int, why: str, axis: str
) -> GrowthFinding:
    answer = GrowthAnswer.MALFORMED
    return GrowthFinding(
        answer=answer,
        outcome=answer.outcome,
        reason=answer.reason,
        summary=f"{_subject(rule, axis)} there is no such logarithm, for {why}",
        stops=True,
        statistics=GrowthStatistics(
            n=n,
            looks_made=tuple(look for look in rule.looks if look <= n),
            stopped_by="malformed",
            discount=discount,
        ),
        adequacy=Adequacy(adequate=False, needed={axis: claim_time}),
        residual_class=residual_class(rule.growth, times, axis=axis),
        reproduces=False,
        so_far=None,
        flags=(),
    )


def power(
    rule: RateRule,
    decay: Fraction | float,
    *,
    times: Sequence[int],
    sd: Mapping[int, float],
    claim_time: int,
    discount: float = 1.0,
    runs: int = RUNS,
    seed: int = 0,
) -> Power:
    """The probability of each answer and outcome if y decays like t^−decay with lognormal noise (simulated).

    sd: of one replicate's ln y at some times, interpolated in ln t at the others.
    """
    return growth_power(
        rule.growth,
        scales=times,
        sd=sd,
        claim_scale=claim_time,
        discount=discount,
        slope=float(rule.claimed) - float(decay),
        runs=runs,
        seed=seed,
    )


def needed(rule: RateRule, *, times: Sequence[int], sd: Mapping[int, float], discount: float = 1.0) -> int | None:
    """The least number of trajectories at which both sides have 90 % power, as `power.needed_replicates`."""
    return needed_replicates(rule.growth, scales=times, sd=sd, discount=discount)
