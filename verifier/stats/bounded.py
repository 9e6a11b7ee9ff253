"""The margin rule on a bounded metric, by betting: valid at any n and under any noise within the bounds.

θ is the mean of values that cannot leave [lo, hi], such as paired differences of scores. No rare failure can hide
behind 1/n here, for the bet that would miss it is capped by what it would lose.

Source: Waudby-Smith and Ramdas (2024), through `verifier.stats.betting`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import special

from verifier.model.errors import BadInput
from verifier.model.results import Adequacy
from verifier.stats.betting import (
    CAPS,
    PRIOR_VARIANCE,
    bets,
    confidence_sequence,
    log_e_above,
    log_e_below,
    unit_values,
)
from verifier.stats.bounded_design import BoundedRule
from verifier.stats.critical import POWER, log_threshold, sd_upper_bound
from verifier.stats.flags import zero_variance
from verifier.stats.laws import Floats
from verifier.stats.margin_answers import MarginAnswer
from verifier.stats.margin_batch import run_margin_batch
from verifier.stats.margin_design import MIDDLE_BAR
from verifier.stats.margin_rule import MarginEvidence, margin_finding
from verifier.stats.margin_statistics import Effect, MarginFinding, MarginPower
from verifier.stats.stopping import shares

RUNS = 10_000
MOST_SIMULATED = 2 * 10**7  # values drawn for one power: fewer runs of a longer design
MOST_REPLICATES = 2**18


def bounded_evidence(rule: BoundedRule, values: Floats, looks: Sequence[int]) -> MarginEvidence:
    """Log evidence against the four nulls at the looks, for values (…, n) in the rule's bounds; shape (…, looks).

    The bets aim at the rule's threshold. Order matters: a bet knows only what came before. Raises BadInput for a value
    outside the bounds.
    """
    low, high = rule.bounds
    x = unit_values(values, lo=low, hi=high)
    stakes = bets(x, log_target=math.log(rule.threshold))
    alleged, middle, claimed = unit_nulls(rule)
    at = np.asarray(looks, dtype=np.int64) - 1
    return MarginEvidence(
        below_claim=log_e_below(x, stakes, null=claimed)[..., at],
        above_alleged=log_e_above(x, stakes, null=alleged)[..., at],
        below_middle=log_e_below(x, stakes, null=middle)[..., at],
        above_middle=log_e_above(x, stakes, null=middle)[..., at],
    )


def unit_nulls(rule: BoundedRule) -> tuple[float, float, float]:
    """a, m, c moved to [0, 1], exactly before they become doubles."""
    low, high = rule.bounds
    middle = (rule.alleged + rule.claimed) / 2
    a, m, c = ((null - low) / (high - low) for null in (rule.alleged, middle, rule.claimed))
    return float(a), float(m), float(c)


def evaluate(
    rule: BoundedRule, values: npt.ArrayLike, *, discount: float, last: bool, stopped_at: int | None = None
) -> MarginFinding:
    """The rule's finding at the look n = len(values), recomputed from the prefix of every earlier look.

    values: (n,) in the registered order, in the rule's bounds. discount: 6/(π² l²) of the l-th registration. last: no
    further look follows. stopped_at: the look of the registered stop where data go on beyond it. Raises BadInput for a
    value outside the bounds, and an n that is no registered look.
    """
    values = np.asarray(values, float)
    if values.ndim != 1:
        raise BadInput(f"the values have shape {values.shape}, not (replicates,)")
    n = len(values)
    low, high = rule.bounds
    looks = rule.looks_made(n)
    evidence = bounded_evidence(rule, values, looks)
    sd = float(values.std(ddof=1)) if n > 1 else None
    constant = zero_variance(values)
    return margin_finding(
        rule,
        evidence,
        n=n,
        discount=discount,
        last=last,
        adequate=adequacy(rule, sd=sd, df=n - 1, discount=discount),
        malformed="" if n else "there is no replicate",
        effect=Effect(
            estimate=float(values.mean()),
            stderr=None if sd is None else sd / math.sqrt(n),
            interval=confidence_sequence(values, lo=low, hi=high, looks=[n])[0],
            sd=sd,
        )
        if n
        else None,
        flags=() if constant is None else (f"{constant.name}: {constant.evidence}",),
        stopped_at=stopped_at,
    )


def adequacy(rule: BoundedRule, *, sd: float | None, df: float, discount: float) -> Adequacy:
    """Whether the registered maximum decides with 90 % either way at the upper 80 % bound of the sd, and what would.

    sd: of one value, estimated on df degrees of freedom; None where nothing is known, which is not adequate.
    """
    if sd is None:
        return Adequacy(adequate=False, needed={})
    upper = sd_upper_bound(sd, df)
    chances = decision_chances(rule, sd=upper, most=rule.maximum, discount=discount)
    n = needed(rule, sd=upper, discount=discount)
    return Adequacy(adequate=bool(chances[-1] >= POWER), needed={} if n is None else {rule.unit: n})


def needed(rule: BoundedRule, *, sd: float, discount: float = 1.0) -> int | None:
    """The least n at which a single look decides rightly with probability 0.9, both at θ = c and at θ = a.

    sd: of one value, in the metric's units; more than the bounds allow is taken as what they allow. By the normal
    approximation of `decision_chances`. At least `minimum_n`. None beyond 2¹⁸ replicates.
    """
    most = 64
    while True:
        chances = decision_chances(rule, sd=sd, most=most, discount=discount)
        reached = np.flatnonzero(chances[rule.minimum_n - 1 :] >= POWER)
        if len(reached):
            return rule.minimum_n + int(reached[0])
        if most >= MOST_REPLICATES:
            return None
        most = min(4 * most, MOST_REPLICATES)


def decision_chances(rule: BoundedRule, *, sd: float, most: int, discount: float = 1.0) -> Floats:
    """The smaller of the two chances that a single look at n = 1 … `most` decides rightly; shape (most,).

    At θ = c the log capital against θ ≤ a is a sum of independent gains once the bets have settled, so it is nearly
    normal; their mean and variance are those of the two-point distribution with this mean and sd. Likewise at
    θ = a in the mirror. The bar for the middle null is 20. Approximate: within a tenth of the simulated n90.
    """
    low, high = rule.bounds
    spread = sd / float(high - low)
    alleged, middle, claimed = unit_nulls(rule)
    bars = log_threshold(float(rule.threshold), discount), log_threshold(MIDDLE_BAR, discount)
    target = math.log(rule.threshold)

    def chance(theta: float, nulls: tuple[float, float]) -> Floats:
        sides = (
            _crossing_chance(theta, spread, null=null, bar=bar, target=target, most=most)
            for null, bar in zip(nulls, bars, strict=True)
        )
        return np.minimum(*sides)

    return np.minimum(chance(claimed, (alleged, middle)), chance(1 - alleged, (1 - claimed, 1 - middle)))


def power(
    rule: BoundedRule, effect: float, *, sd: float, discount: float = 1.0, runs: int = RUNS, seed: int = 0
) -> MarginPower:
    """The probability of each answer when the values are beta-distributed within the bounds, with this mean and sd.

    effect: θ, in the bounds; sd: of one value, in the metric's units. Simulated with the registered looks and stops;
    fewer runs than asked where the design is long. Raises BadInput for an effect outside the bounds, or an sd that no
    distribution within them has.
    """
    low, high = (float(bound) for bound in rule.bounds)
    mean, spread = (effect - low) / (high - low), sd / (high - low)
    if not (0 <= mean <= 1 and spread >= 0 and spread**2 <= mean * (1 - mean)):
        raise BadInput(
            f"no metric in [{low:g}, {high:g}] has mean {effect:g} and standard deviation {sd:g}",
            mend="give an effect within the bounds and a smaller sd",
        )
    runs = max(200, min(runs, MOST_SIMULATED // rule.maximum))
    rng = np.random.default_rng(seed)
    enough = bool(decision_chances(rule, sd=sd, most=rule.maximum, discount=discount)[-1] >= POWER)
    used = 0
    chunk = max(1, min(runs, 10**6 // rule.maximum))
    answers: dict[MarginAnswer, float] = {}
    for start in range(0, runs, chunk):
        size = (min(chunk, runs - start), rule.maximum)
        values = low + (high - low) * beta_values(rng, mean, spread, size)
        evidence = bounded_evidence(rule, np.clip(values, low, high), rule.looks)
        batch = run_margin_batch(rule, evidence, adequate=np.full(size[0], enough), discount=discount)
        for answer, share in batch.shares().items():
            answers[answer] = answers.get(answer, 0.0) + share * size[0] / runs
        used += int(batch.n.sum())
    by_answer, outcomes = shares(answers)
    return MarginPower(
        effect=effect,
        answers=by_answer,
        outcomes=outcomes,
        mean_n=used / runs,
        method="simulated",
        runs=runs,
        seed=seed,
    )


def beta_values(rng: np.random.Generator, mean: float, sd: float, size: tuple[int, ...]) -> Floats:
    """Values in [0, 1] with this mean and sd: beta-distributed, constant at sd 0, the ends at the largest sd."""
    room = mean * (1 - mean)
    if sd == 0 or room == 0:
        return np.full(size, mean)
    concentration = room / sd**2 - 1
    if concentration < 1e-9:
        return (rng.random(size) < mean).astype(float)
    return np.asarray(rng.beta(mean * concentration, (1 - mean) * concentration, size))


def _crossing_chance(theta: float, sd: float, *, null: float, bar: float, target: float, most: int) -> Floats:
    """P(log E(θ > null) ≥ bar) at each n: the better cap alone, at half the capital, by the normal approximation."""
    sd = min(sd, math.sqrt(theta * (1 - theta)))
    low, high, weight = _two_points(theta, sd)
    variance = sd**2
    t = np.arange(1.0, most + 1.0)
    settled = (PRIOR_VARIANCE + (t - 1) * variance) / t  # the plug-in's variance once its mean is right
    stakes = np.sqrt(2 * target / (settled * t * np.log1p(t)))
    best = np.zeros(most)
    for cap in CAPS:
        bet = np.minimum(stakes, cap / null if null > 0 else math.inf)
        down, up = np.log1p(bet * (low - null)), np.log1p(bet * (high - null))
        mean = np.cumsum((1 - weight) * down + weight * up)
        spread = np.sqrt(np.cumsum(weight * (1 - weight) * np.square(up - down)))
        excess = mean - bar - math.log(len(CAPS))
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(spread > 0, excess / spread, np.where(excess >= 0, np.inf, -np.inf))
        best = np.maximum(best, special.ndtr(z))
    return best


def _two_points(mean: float, sd: float) -> tuple[float, float, float]:
    """Two points of [0, 1] and the upper one's weight, with this mean and sd, as even as the bounds allow."""
    if sd == 0:
        return mean, mean, 0.5
    down = min(sd, mean)  # the lower point's distance; the upper one's is sd²/down
    down = max(down, sd**2 / (1 - mean)) if mean < 1 else down
    up = sd**2 / down
    return mean - down, mean + up, down / (down + up)
