"""What a growth design can show before any data: chances of each answer, of missing a slope, and what is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome
from verifier.stats.adequacy import contrast_sd, interpolate_sd, needed_for_contrasts
from verifier.stats.critical import misses
from verifier.stats.growth_batch import run_batch
from verifier.stats.growth_rule import LEAST_SCALES, GrowthAnswer, GrowthRule
from verifier.stats.laws import law_values

RUNS = 10_000
CHUNK = 500  # runs simulated at a time: a few megabytes


@dataclass(frozen=True, kw_only=True)
class Power:
    """The chances of a design at one true slope. Simulated, with normal noise and the registered early stopping.

    answers, outcomes: probabilities that occur, summing to 1. mean_n: replicates used on average. runs: how many were
    simulated; a probability's standard error is √(p(1 − p)/runs).
    """

    slope: float
    answers: Mapping[GrowthAnswer, float]
    outcomes: Mapping[Outcome, float]
    mean_n: float
    runs: int
    seed: int
    method: str = field(default="simulated")


def power(
    rule: GrowthRule,
    *,
    scales: Sequence[int],
    sd: Mapping[int, float],
    claim_scale: int,
    discount: float = 1.0,
    slope: float,
    runs: int = RUNS,
    seed: int = 0,
) -> Power:
    """The probability of each answer and outcome if the mean is slope·h(k) and replicates are normal.

    sd: of one replicate at some scales, interpolated in ln k at the others. seed: of the simulation alone.
    """
    _require_sd(sd)
    rng = np.random.default_rng(seed)
    mean = slope * law_values(scales, rule.law)
    cells = interpolate_sd(scales, sd)
    counted: Counter[GrowthAnswer] = Counter()
    used = 0
    for start in range(0, runs, CHUNK):
        size = (min(CHUNK, runs - start), len(scales), rule.maximum)
        values = mean[:, None] + cells[:, None] * rng.standard_normal(size)
        batch = run_batch(rule, scales=scales, values=values, claim_scale=claim_scale, discount=discount)
        counted.update(batch.answers)
        used += int(batch.n.sum())
    outcomes: Counter[Outcome] = Counter()
    for answer, count in counted.items():
        outcomes[answer.outcome] += count
    return Power(
        slope=slope,
        answers={answer: count / runs for answer, count in counted.most_common()},
        outcomes={outcome: count / runs for outcome, count in outcomes.most_common()},
        mean_n=used / runs,
        runs=runs,
        seed=seed,
    )


def slope_test_misses(
    scales: Sequence[int], *, sd: Mapping[int, float], slope: float, n: int, law: str = "log", level: float = 0.05
) -> float:
    """The probability that the usual test misses the slope and "verifies" O(1): noncentral t, no simulation.

    The test: one-sided at `level`, on n replicates' least-squares slopes over all scales, n − 1 degrees of freedom.
    """
    _require_sd(sd)
    h = law_values(scales, law)
    weights = (h - h.mean()) / float(np.sum((h - h.mean()) ** 2))
    return misses(slope / float(np.linalg.norm(weights * interpolate_sd(scales, sd))), n, level=level)


def needed_replicates(
    rule: GrowthRule, *, scales: Sequence[int], sd: Mapping[int, float], discount: float = 1.0
) -> int | None:
    """The least n on these scales at which both sides have 90 % power, if the sds are what they are said to be.

    The cone and upper slope must show the alternative, the full slope δ. None for fewer than five scales, and where ten
    million replicates are not enough.
    """
    _require_sd(sd)
    if len(scales) < LEAST_SCALES:
        return None
    return needed_for_contrasts(
        rule, m=len(scales), sd=[float(s) for s in contrast_sd(rule, scales, sd)], discount=discount
    )


def _require_sd(sd: Mapping[int, float]) -> None:
    if not sd or any(not value > 0 for value in sd.values()):
        raise BadInput(
            "no standard deviation of a replicate is known",
            mend="give planned = { sd = { … } }, or run a few replicates",
        )
