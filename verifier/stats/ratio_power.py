"""What a `ratio` design can show before any data: the chances of each answer, and the least n."""

from __future__ import annotations

import math

import numpy as np

from verifier.stats import margin_t as by_t
from verifier.stats.critical import sd_upper_bound
from verifier.stats.laws import Floats
from verifier.stats.margin_batch import Flags, run_margin_batch
from verifier.stats.margin_design import MIDDLE_BAR, RatioRule
from verifier.stats.margin_statistics import MarginPower
from verifier.stats.noise import Estimate

RUNS = 10_000
_WHAT = "the noise of a launch"


def power(
    rule: RatioRule, effect: float, *, noise: float, discount: float = 1.0, runs: int = RUNS, seed: int = 0
) -> MarginPower:
    """The probability of each answer and outcome if the true ratio is `effect`.

    effect: the ratio itself, left/right turned as the rule turns it, above zero. noise: standard deviation of one
    launch and arm relative to its mean (of its logarithm, where the estimand is geometric), the arms independent: 0.1
    for 10 %. One look and a geometric estimand: by integration over the normal and χ² distributions. Otherwise
    simulated from `seed`, with normal noise.

    Raises BadInput for an effect or a noise that is not above zero.
    """
    by_t.positive_sd(noise, what=_WHAT)
    by_t.positive_sd(effect, what="the ratio")
    if len(rule.looks) == 1 and rule.estimand == "geometric":
        chances = by_t.one_look(rule, effect=math.log(effect), sd=math.sqrt(2) * noise, discount=discount)
        return by_t.power_record(effect, chances, mean_n=float(rule.maximum), method="noncentral t")
    return simulated_power(rule, effect, noise=noise, discount=discount, runs=runs, seed=seed)


def simulated_power(
    rule: RatioRule, effect: float, *, noise: float, discount: float = 1.0, runs: int = RUNS, seed: int = 0
) -> MarginPower:
    """As `power`, by simulation with the registered looks and early stops."""
    rng = np.random.default_rng(seed)
    if rule.estimand == "geometric":
        spread = by_t.drawable_sd(rule.nulls, math.sqrt(2) * noise)
        path = _path(rule, rng, mean=math.log(effect), sd=spread, runs=runs)
        contrast = by_t.shifted(path, rule.nulls)
        limit = by_t.adequate_up_to(rule.nulls, n=rule.maximum, threshold=float(rule.threshold), discount=discount)
        adequate: Flags = np.asarray(path.stderr[:, -1] * math.sqrt(rule.maximum) <= limit)
    else:
        contrast, right = _fieller_paths(rule, rng, effect, noise=noise, runs=runs)
        adequate = _adequate(rule, contrast, right, discount=discount)
    batch = run_margin_batch(rule, by_t.t_evidence(contrast), adequate=adequate, discount=discount)
    return by_t.power_record(
        effect, batch.shares(), mean_n=float(batch.n.mean()), method="simulated", runs=runs, seed=seed
    )


def needed(rule: RatioRule, effect: float | None = None, *, noise: float, discount: float = 1.0) -> dict[str, int]:
    """The least number of launches with 90 % power at both alternatives: `{"launches": n}`, empty beyond ten million.

    effect: the ratio if the claim is right (default: the ratio as claimed); the other alternative is the ratio as
    alleged. noise: as `power` has it. Each threshold's own n90, by the noncentral t at the last look.

    Raises BadInput for an effect or a noise that is not above zero.
    """
    by_t.positive_sd(noise, what=_WHAT)
    truth = by_t.positive_sd(float(rule.claimed) if effect is None else effect, what="the ratio")
    threshold = float(rule.threshold)
    if rule.estimand == "geometric":
        sd = math.sqrt(2) * noise
        asked = by_t.alternatives(rule.nulls, math.log(truth), sd=sd, threshold=threshold)
    else:
        a, m, c = (math.exp(null) for null in rule.nulls)
        asked = (
            _demand(truth, a, noise, threshold),
            _demand(truth, m, noise, MIDDLE_BAR),
            _demand(c, a, noise, threshold),
            _demand(m, a, noise, MIDDLE_BAR),
        )
    n = by_t.needed_n(asked, discount=discount, minimum=rule.minimum_n)
    return {} if n is None else {rule.unit: n}


def _demand(high: float, low: float, noise: float, bar: float) -> by_t.Demand:
    """The mean of L − ρR over its sd where one of two ratios is the truth and the other ρ; the same either way."""
    return by_t.Demand((high - low) / (noise * math.hypot(high, low)), bar)


def _path(rule: RatioRule, rng: np.random.Generator, *, mean: float, sd: float, runs: int) -> Estimate:
    n = np.array(rule.looks, float)
    means, squares = by_t.normal_moments(rng, rule.looks, mean=mean, sd=sd, runs=runs)
    return Estimate(value=means, stderr=np.sqrt(squares / (n - 1) / n), df=n - 1, n=n)


def _fieller_paths(
    rule: RatioRule, rng: np.random.Generator, ratio: float, *, noise: float, runs: int
) -> tuple[by_t.Contrast, Floats]:
    """Paths of the mean of L − ρR at the three nulls, and the last mean of R, for E R = 1: (runs, looks), (runs,).

    Means and the matrix of squares are drawn block by block between looks (its Bartlett decomposition, 1933).
    """
    shape = (runs, len(rule.looks))
    tops, bottoms, lls, lrs, rrs = (np.zeros(shape) for _ in range(5))
    top, bottom, ll, lr, rr = (np.zeros(runs) for _ in range(5))
    done = 0
    for index, look in enumerate(rule.looks):
        count = look - done
        scale = noise / math.sqrt(count)
        gap = (ratio * (1 + scale * rng.standard_normal(runs)) - top, 1 + scale * rng.standard_normal(runs) - bottom)
        weight = done * count / look
        if count > 1:
            first = np.sqrt(rng.chisquare(count - 1, runs))
            second = rng.standard_normal(runs)
            rest = rng.chisquare(count - 2, runs) if count > 2 else np.zeros(runs)
            ll, lr = ll + (ratio * noise * first) ** 2, lr + ratio * noise**2 * first * second
            rr = rr + noise**2 * (second**2 + rest)
        ll, lr, rr = ll + weight * gap[0] ** 2, lr + weight * gap[0] * gap[1], rr + weight * gap[1] ** 2
        top, bottom = top + gap[0] * count / look, bottom + gap[1] * count / look
        for table, column in zip((tops, bottoms, lls, lrs, rrs), (top, bottom, ll, lr, rr), strict=True):
            table[:, index] = column
        done = look
    n = np.array(rule.looks, float)
    paths = []
    for null in rule.nulls:
        rho = math.exp(null)
        squares = np.maximum(lls - 2 * rho * lrs + rho * rho * rrs, 0.0)
        paths.append(Estimate(value=tops - rho * bottoms, stderr=np.sqrt(squares / (n - 1) / n), df=n - 1, n=n))
    return by_t.Contrast(*paths), bottom


def _adequate(rule: RatioRule, contrast: by_t.Contrast, right: Floats, *, discount: float) -> Flags:
    """Which runs are adequate at the last look: each demand's effect is at least what n launches can show; (runs,)."""
    n = rule.maximum
    a, m, c = (math.exp(null) * right for null in rule.nulls)
    upper = sd_upper_bound(1.0, n - 1)
    at_a, at_m, at_c = (path.stderr[:, -1] * math.sqrt(n) * upper for path in contrast)
    full = by_t.least_effect(n=n, bar=float(rule.threshold), discount=discount)
    middle = by_t.least_effect(n=n, bar=MIDDLE_BAR, discount=discount)
    with np.errstate(divide="ignore"):
        return np.asarray(((c - a) / np.maximum(at_a, at_c) >= full) & (np.minimum(c - m, m - a) / at_m >= middle))
