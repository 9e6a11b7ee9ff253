"""The rule `ratio`: whether one arm is nearly as many times the other as claimed ("8×"), or no more than is alleged.

θ = ln of the ratio. Geometric: z = ln L − ln R per launch, a mean tested against a, m and c. Ratio of means: under
E L/E R = ρ the mean of L − ρR is 0, so the t e-process of L − ρR against 0, at ρ = e^a, e^m and e^c, is Fieller's
(1954) test as an e-process. Launch r of either arm makes z_r, paired or in launch order.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from verifier.model.results import Adequacy
from verifier.stats import margin_t as by_t
from verifier.stats.critical import critical_t
from verifier.stats.growth_statistics import COVERAGE_E
from verifier.stats.laws import Floats
from verifier.stats.margin_data import Arms, out_of_bounds, read_arms
from verifier.stats.margin_design import MIDDLE_BAR, RatioRule
from verifier.stats.margin_reported import reported
from verifier.stats.margin_rule import margin_finding
from verifier.stats.margin_statistics import Effect, MarginFinding
from verifier.stats.noise import block_estimate
from verifier.stats.ratio_power import needed, power, simulated_power

__all__ = ["RatioRule", "evaluate", "needed", "power", "ratio_contrast", "simulated_power"]


def evaluate(
    rule: RatioRule,
    left: npt.ArrayLike,
    right: npt.ArrayLike,
    *,
    discount: float,
    last: bool,
    stopped_at: int | None = None,
) -> MarginFinding:
    """The rule's finding at the look n = len(left), recomputed from the prefix of every earlier look.

    left, right: float64 of shape (n,), in launch order. Unpaired, launches without a partner are only counted.
    discount, last, stopped_at: as `margin_finding` has them. Estimate and interval are ln of the ratio.

    Raises BadInput for shapes that do not fit, values that are not finite, an n between or beyond the looks.
    """
    arms = read_arms(rule, left, right, paired=rule.noise == "paired", noun=rule.unit, items=False)
    assert arms.right is not None
    looks = rule.looks_made(arms.n)
    stuck = out_of_bounds(rule, arms, noun="launch") or _not_positive(rule, arms)
    contrast = None
    if arms.n >= 2 and not stuck:
        contrast = ratio_contrast(rule, arms.left, arms.right, looks or (arms.n,))
        if not _varies(rule, contrast, arms)[-1]:
            stuck = f"all {arms.n} ratios are equal"
    elif not arms.n:
        stuck = "there is no row"
    evidence = by_t.no_evidence(len(looks))
    if contrast is not None and looks and not stuck:
        evidence = by_t.t_evidence(contrast).masked(_varies(rule, contrast, arms))
    extra: dict[str, object] = {"excess_rows": {"left": arms.excess[0], "right": arms.excess[1]}}
    effect = None
    adequate = Adequacy(adequate=False, needed={})
    if contrast is not None and not stuck:
        adequate = by_t.adequacy(rule, _demands(rule, contrast, arms.right), discount=discount)
        effect = _log_mean(rule, contrast) if rule.estimand == "geometric" else _fieller(arms)
        if rule.estimand == "geometric":
            extra["beside"] = _reported(rule, effect, arms.n)
    return margin_finding(
        rule,
        evidence,
        n=arms.n,
        discount=discount,
        last=last,
        adequate=adequate,
        malformed=stuck,
        effect=effect,
        flags=rule.flags(arms.n),
        reported=extra,
        stopped_at=stopped_at,
    )


def ratio_contrast(rule: RatioRule, left: Floats, right: Floats, looks: tuple[int, ...]) -> by_t.Contrast:
    """The mean that is 0 where the ratio is the null's, at each null and look.

    left, right: (…, N) with N ≥ looks[-1], above zero where the estimand is geometric. Any number of data sets.
    """
    if rule.estimand == "geometric":
        z = np.log(left) - np.log(right)
        return by_t.shifted(block_estimate(np.ones(1), z[..., None, :], looks), rule.nulls)
    arms = np.stack([left, right], axis=-2)
    return by_t.Contrast(*(block_estimate(np.array([1.0, -math.exp(null)]), arms, looks) for null in rule.nulls))


def _varies(rule: RatioRule, contrast: by_t.Contrast, arms: Arms) -> npt.NDArray[np.bool_]:
    assert arms.right is not None
    if rule.estimand == "geometric":
        size = float(np.abs(np.log(arms.left)).max() + np.abs(np.log(arms.right)).max() + 1)
        return by_t.varies(contrast.middle, size)
    sizes = [float(np.abs(arms.left).max() + math.exp(null) * np.abs(arms.right).max()) for null in rule.nulls]
    found = [by_t.varies(path, size) for path, size in zip(contrast, sizes, strict=True)]
    return found[0] & found[1] & found[2]


def _not_positive(rule: RatioRule, arms: Arms) -> str:
    """Which launch has no logarithm, or that the denominator's mean is not above zero; "" where all is well."""
    assert arms.right is not None
    if rule.estimand == "geometric":
        rows = np.flatnonzero((arms.left <= 0) | (arms.right <= 0))
        return f"launch {rows[0] + 1} has a value that is not above zero, which has no ratio" if rows.size else ""
    if arms.n and not (arms.left.mean() > 0 and arms.right.mean() > 0):
        return "an arm's mean is not above zero, so there is no ratio of means"
    return ""


def _demands(rule: RatioRule, contrast: by_t.Contrast, right: Floats) -> tuple[by_t.Demand, ...]:
    """What is asked of the design at the noise seen, each null's mean with its own sd_U."""
    threshold = float(rule.threshold)
    if rule.estimand == "geometric":
        return by_t.demands(rule.nulls, sd=by_t.upper_sd(contrast.middle), threshold=threshold)
    a, m, c = (math.exp(null) * float(right.mean()) for null in rule.nulls)
    at_a, at_m, at_c = (by_t.upper_sd(path) for path in contrast)
    return (
        by_t.Demand((c - a) / at_a, threshold),
        by_t.Demand((c - a) / at_c, threshold),
        by_t.Demand(min(c - m, m - a) / at_m, MIDDLE_BAR),
    )


def _log_mean(rule: RatioRule, contrast: by_t.Contrast) -> Effect:
    path = contrast.alleged
    return by_t.effect_of(path._replace(value=path.value + rule.nulls.alleged))


def _fieller(arms: Arms) -> Effect:
    """Ln of the ratio of means, with Fieller's set: the ρ whose L − ρR the two-sided mixture does not hold against.

    (L̄ − ρR̄)² ≤ t²(s_LL − 2ρ s_LR + ρ² s_RR)/n with t = t_n(20); None where that set is not an interval above zero.
    """
    assert arms.right is not None
    n = arms.n
    (ll, lr), (_, rr) = np.cov(np.stack([arms.left, arms.right])) / n
    top, bottom = float(arms.left.mean()), float(arms.right.mean())
    ratio = top / bottom
    spread = math.sqrt(max(float(ll - 2 * ratio * lr + ratio * ratio * rr), 0.0)) / top
    t = critical_t(n, log_threshold=math.log(COVERAGE_E), two_sided=True)
    interval = None
    if math.isfinite(t):
        square, cross, constant = bottom**2 - t * t * rr, top * bottom - t * t * lr, top**2 - t * t * ll
        inside = cross * cross - square * constant
        if square > 0 and inside >= 0 and cross - math.sqrt(inside) > 0:
            root = math.sqrt(inside)
            interval = (math.log((cross - root) / square), math.log((cross + root) / square))
    return Effect(estimate=math.log(ratio), stderr=spread, interval=interval, sd=spread * math.sqrt(n))


def _reported(rule: RatioRule, effect: Effect, n: int) -> object:
    a, _, c = rule.nulls
    return reported(
        mean=effect.estimate,
        stderr=effect.stderr or 0.0,
        df=n - 1,
        n=n,
        null=a,
        margin=c - a,
        original_n=rule.original_n,
    )
