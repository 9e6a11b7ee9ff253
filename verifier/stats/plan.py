"""What a growth design can show before any data, in one answer: what it misses, whether it decides, what would."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from verifier.model.errors import BadInput
from verifier.model.shares import at_least_percent, percent
from verifier.stats.adequacy import contrast_sd, degrees_of_freedom, effects, needed_for_contrasts
from verifier.stats.critical import POWER, critical_t, log_threshold, power_at
from verifier.stats.growth_rule import LEAST_SCALES, GrowthRule
from verifier.stats.law_names import law_unit
from verifier.stats.laws import law_values
from verifier.stats.power import slope_test_misses

FURTHER = 5  # steps of the grid beyond its largest scale that are tried
MOST_STEPS = 50
DEARER = 2.0  # an alternative with a larger K may cost so many times as much as the cheapest
LEAST_CONTRAST = 3  # scales below which there is no cone contrast
LEVEL = 0.05


@dataclass(frozen=True, kw_only=True)
class Option:
    """A grid that goes on to `largest`, and the least replicates with 90 % power on it (n90 at T).

    replicates: None where ten million are not enough. decides: whether the rule can decide on this grid at all, with
    five scales that reach the claim's. cost: Σ n·k, or planned seconds.
    """

    largest: int
    scales: tuple[int, ...]
    replicates: int | None
    decides: bool
    cost: float


@dataclass(frozen=True, kw_only=True)
class GrowthPlan:
    """What a growth design can show at one alleged slope, by noncentral t, without simulation.

    missed: the probability that the usual one-sided 5 % slope test overlooks the slope. power: the least probability,
    over the three contrasts, of reaching T at the last look. least_replicates: below it no data reach T. options: by
    largest scale. headline: the cheapest that decides. alternative: the largest at no more than twice its cost, since a
    larger K excludes slower saturation.
    """

    scales: tuple[int, ...]
    replicates: int
    effect: float
    missed: float
    power: float
    least_scales: int
    least_replicates: int
    can_decide: bool
    options: tuple[Option, ...]
    headline: Option | None
    alternative: Option | None
    sentence: str


def growth_plan(
    scales: Sequence[int],
    *,
    replicates: int,
    sd: float | Mapping[int, float],
    effect: Fraction | float,
    delta: Fraction | float | None = None,
    law: str = "log",
    noise: Literal["block", "pooled"] = "block",
    threshold: Fraction = Fraction(10_000),
    gamma0: Fraction = Fraction(1, 2),
    discount: float = 1.0,
    claim_scale: int | None = None,
    seconds: Mapping[int, float] | None = None,
    axis: str = "k",
) -> GrowthPlan:
    """Whether `replicates` at these scales can decide about a slope of `effect`, and which design would.

    sd: of one replicate, the same everywhere or at some scales (interpolated in ln k). effect: the alleged slope per
    unit of the law. delta: the smallest slope of interest, half of it by default. claim_scale: K_claim, which a design
    that decides must reach; without it any K will do. seconds: of one replicate, at some scales; then options are
    compared by time, else by Σ n·k.

    Raises BadInput for scales that do not increase, fewer than two of them, fewer than one replicate, an effect, delta
    or sd that is not above zero.
    """
    law_values(scales, law)
    spread = {int(scales[0]): float(sd)} if isinstance(sd, int | float) else {int(k): float(s) for k, s in sd.items()}
    small = effect / 2 if delta is None else delta
    _check(scales, replicates, spread, numbers={"effect": effect, "delta": small}, seconds=seconds or {})
    rule = GrowthRule(
        delta=Fraction(small),
        alternative=Fraction(effect),
        looks=(max(2, replicates),),
        law=law,
        noise=noise,
        threshold=threshold,
        gamma0=gamma0,
    )
    reach = claim_scale if claim_scale is not None else 0
    options = tuple(
        _option(rule, grid, sd=spread, discount=discount, reach=reach, seconds=seconds)
        for grid in _grids(tuple(scales), reach=reach)
        if len(grid) >= LEAST_CONTRAST
    )
    deciding = [option for option in options if option.decides and option.replicates is not None]
    headline = min(deciding, key=lambda option: option.cost, default=None)
    dearer = [o for o in deciding if headline and o.largest > headline.largest and o.cost <= DEARER * headline.cost]
    alternative = max(dearer, key=lambda option: option.largest, default=None)
    missed = slope_test_misses(scales, sd=spread, slope=float(effect), n=replicates, law=law, level=LEVEL)
    least = least_replicates(rule, m=len(scales), discount=discount)
    can = len(scales) >= LEAST_SCALES and replicates >= least and scales[-1] >= reach
    sides = _sides(rule, scales, replicates, sd=spread, discount=discount) if can else {}
    opening = (
        f"If there is a slope of {float(effect):g} per {law_unit(law, axis)}, this design would have missed it in "
        f"{percent(missed)} of runs (one-sided 5 % slope test)."
    )
    verdict = _verdict(scales, replicates, least=least, reach=reach, sides=sides, axis=axis)
    return GrowthPlan(
        scales=tuple(scales),
        replicates=replicates,
        effect=float(effect),
        missed=missed,
        power=min(sides.values(), default=0.0),
        least_scales=LEAST_SCALES,
        least_replicates=least,
        can_decide=can,
        options=options,
        headline=headline,
        alternative=alternative,
        sentence=f"{opening} {verdict} {_offer(headline, alternative, options=options)}",
    )


def least_replicates(rule: GrowthRule, *, m: int, discount: float = 1.0) -> int:
    """The least n at which some t reaches the threshold: 5 for T = 10⁴ and block noise."""
    bar = log_threshold(float(rule.threshold), discount)
    n = 2
    while math.isinf(critical_t(n, log_threshold=bar, df=degrees_of_freedom(rule, m, n))):
        n += 1
    return n


def _check(
    scales: Sequence[int],
    replicates: int,
    spread: Mapping[int, float],
    *,
    numbers: Mapping[str, Fraction | float],
    seconds: Mapping[int, float],
) -> None:
    if len(scales) < 2:
        raise BadInput("one scale has no slope", mend="list at least five scales")
    if replicates < 1:
        raise BadInput(f"{replicates} replicates are none", mend="plan at least one")
    for name, value in numbers.items():
        if not 0 < value < math.inf:
            raise BadInput(f"{name} is {float(value):g}, not above zero", mend="write the slope as a positive number")
    for what, values in (("sd", spread), ("seconds", seconds)):
        if any(not 0 < value < math.inf for value in values.values()):
            raise BadInput(f"{what} is not above zero at every scale", mend="write a positive number")
    if not spread:
        raise BadInput("no standard deviation of a replicate is known", mend="state one, or run a few replicates")


def _grids(scales: tuple[int, ...], *, reach: int) -> list[tuple[int, ...]]:
    """The grid as given and five longer ones, more until K_claim is reached, each by the ratio of its last two."""
    ratio = max(2, round(scales[-1] / scales[-2]))
    grids = [scales]
    while len(grids) <= MOST_STEPS and (len(grids) <= FURTHER or grids[-1][-1] < reach):
        grids.append((*grids[-1], grids[-1][-1] * ratio))
    return grids


def _option(
    rule: GrowthRule,
    grid: tuple[int, ...],
    *,
    sd: Mapping[int, float],
    discount: float,
    reach: int,
    seconds: Mapping[int, float] | None,
) -> Option:
    spread = [float(s) for s in contrast_sd(rule, grid, sd)]
    n = needed_for_contrasts(rule, m=len(grid), sd=spread, discount=discount)
    return Option(
        largest=grid[-1],
        scales=grid,
        replicates=n,
        decides=len(grid) >= LEAST_SCALES and grid[-1] >= reach,
        cost=math.inf if n is None else n * (sum(grid) if not seconds else seconds_of(grid, seconds)),
    )


def seconds_of(grid: Sequence[int], known: Mapping[int, float]) -> float:
    """Seconds of one replicate of the grid: a power of k between and beyond the known scales, ∝ k if one is known."""
    at = np.log(np.array(sorted(known), float))
    logs = np.log([known[k] for k in sorted(known)])
    x = np.log(np.array(grid, float))
    if len(at) == 1:
        return float(np.exp(logs[0] + x - at[0]).sum())
    piece = np.clip(np.searchsorted(at, x) - 1, 0, len(at) - 2)
    slope = (logs[piece + 1] - logs[piece]) / (at[piece + 1] - at[piece])
    return float(np.exp(logs[piece] + slope * (x - at[piece])).sum())


def _sides(
    rule: GrowthRule, scales: Sequence[int], n: int, *, sd: Mapping[int, float], discount: float
) -> dict[str, float]:
    """The chance of deciding for the dispute (cone and upper slope, at the alleged one) and against it (full, at δ)."""
    bar, df = log_threshold(float(rule.threshold), discount), degrees_of_freedom(rule, len(scales), n)
    spread = contrast_sd(rule, scales, sd)
    cone, up, full = (
        power_at(float(beta) / float(s), n, log_threshold=bar, df=df)
        for beta, s in zip(effects(rule), spread, strict=True)
    )
    return {"for the dispute": min(cone, up), "against it": full}


def _verdict(
    scales: Sequence[int], replicates: int, *, least: int, reach: int, sides: Mapping[str, float], axis: str
) -> str:
    """Whether the design decides. sides: the chance of deciding each way, {} where it cannot."""
    if not sides:
        short = [
            f"{have} {what}{'' if have == 1 else 's'} ({want} needed)"
            for have, what, want in ((len(scales), "scale", LEAST_SCALES), (replicates, "replicate", least))
            if have < want
        ]
        if scales[-1] < reach:
            short.append(f"{axis} = {scales[-1]} ({reach} needed)")
        return f"This design cannot decide: {', '.join(short)}."
    short_of = {side: chance for side, chance in sides.items() if chance < POWER}
    if short_of:
        said = " and ".join(f"{side} in only {percent(chance)} of runs" for side, chance in short_of.items())
        return f"This design can decide, but {said}."
    return f"This design decides, for either side in {at_least_percent(min(sides.values()))}."


def _offer(headline: Option | None, alternative: Option | None, *, options: Sequence[Option]) -> str:
    if headline is None:
        return f"No number of replicates within reach decides up to K = {options[-1].largest}."
    other = f" (or {alternative.largest} with {alternative.replicates})" if alternative else ""
    return f"K = {headline.largest} with {headline.replicates} replicates decides{other}."
