"""The chance of either decision of every rule, by the rules' own `power`, at the effects that designs register."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

from verifier.model.outcomes import Outcome
from verifier.stats import bound, count, difference, proportion, rate, ratio
from verifier.stats.bound_rule import BoundRule, equal_weights
from verifier.stats.bounded_design import CountRule, ProportionRule
from verifier.stats.growth_rule import GrowthRule
from verifier.stats.margin_design import DifferenceRule, RatioRule
from verifier.stats.power import power as growth_power
from verifier.stats.rate_rule import RateRule

F = Fraction


@dataclass(frozen=True, kw_only=True)
class Chance:
    """The probability of both decisions of a design at one truth. runs: 0 where nothing was simulated."""

    design: str
    truth: str
    method: str
    runs: int
    against: float
    in_favour: float


class PowerLike(Protocol):
    """What every rule's `power` gives."""

    @property
    def outcomes(self) -> Mapping[Outcome, float]: ...  # noqa: D102  # as the rules have it
    @property
    def method(self) -> str: ...  # noqa: D102  # likewise


def chances(*, runs: int, seed: int) -> Iterator[Chance]:
    """Every design at its registered effects, and some between."""

    def chance(design: str, truth: str, found: PowerLike) -> Chance:
        simulated = getattr(found, "runs", None) or 0
        return Chance(
            design=design,
            truth=truth,
            method=found.method,
            runs=simulated,
            against=found.outcomes.get(Outcome.AGAINST_DISPUTE, 0.0),
            in_favour=found.outcomes.get(Outcome.FOR_DISPUTE, 0.0),
        )

    each: list[tuple[str, list[tuple[str, Callable[[], PowerLike]]]]] = [
        _difference(runs=runs, seed=seed),
        _unpaired(runs=runs, seed=seed),
        _items(runs=runs, seed=seed),
        _betting(runs=max(200, runs // 5), seed=seed),
        _ratio(seed=seed),
        _ratio_of_means(runs=runs, seed=seed),
        _proportion(),
        _count(),
        *_growth(runs=max(200, runs // 3), seed=seed),
        _rate(runs=max(200, runs // 3), seed=seed),
        _bound(),
    ]
    for design, truths in each:
        for truth, found in truths:
            yield chance(design, truth, found())


Named = tuple[str, list[tuple[str, Callable[[], PowerLike]]]]


def _difference(*, runs: int, seed: int) -> Named:
    rule = DifferenceRule(
        claimed=F(4), alleged=F(0), looks=(10, 20, 30, 40, 50, 60), minimum_n=15, bounds=(F(-100), F(100))
    )

    def at(truth: float) -> Callable[[], PowerLike]:
        return lambda: difference.power(rule, truth, sd=3.0, runs=runs, seed=seed)

    return "difference +4, paired sd 3, by t, looks 10 to 60", [(f"+{truth:g}", at(truth)) for truth in (4.0, 0.0, 2.0)]


def _betting(*, runs: int, seed: int) -> Named:
    rule = DifferenceRule(
        claimed=F(1, 5),
        alleged=F(0),
        looks=(50, 100, 150, 200, 250, 300),
        minimum_n=15,
        bounds=(F(-1), F(1)),
        method="betting",
    )

    def at(truth: float) -> Callable[[], PowerLike]:
        return lambda: difference.power(rule, truth, sd=0.15, runs=runs, seed=seed)

    name = "difference +.2 on [−1, 1], sd .15, by betting, looks 50 to 300"
    return name, [(f"+{truth:g}", at(truth)) for truth in (0.2, 0.0, 0.1)]


def _ratio(*, seed: int) -> Named:
    rule = RatioRule(claimed=F(8), alleged=F(1, 2), delta=F(5, 4), looks=(12,), minimum_n=12)

    def at(truth: float) -> Callable[[], PowerLike]:
        return lambda: ratio.power(rule, truth, noise=0.1, seed=seed)

    return "ratio 8, δ 1.25, 10 % a launch, one look at 12", [(f"{truth:g}×", at(truth)) for truth in (8.0, 0.5, 2.0)]


def _proportion() -> Named:
    rule = ProportionRule(claimed=F(9, 10), alleged=F(7, 10), looks=tuple(range(50, 321, 10)), minimum_n=50)

    def at(truth: float) -> Callable[[], PowerLike]:
        return lambda: proportion.power(rule, truth)

    return "proportion .9 against .7, looks 50 to 320", [(f"{truth:g}", at(truth)) for truth in (0.9, 0.7, 0.8)]


def _count() -> Named:
    rule = CountRule(claimed=F(9, 10), alleged=F(7, 10), looks=tuple(range(50, 241, 10)), minimum_n=50, size=500)

    def at(truth: float) -> Callable[[], PowerLike]:
        return lambda: count.power(rule, truth)

    return "count 450 against 350 of 500, looks 50 to 240", [
        (f"{round(500 * truth)}", at(truth)) for truth in (0.9, 0.7, 0.8)
    ]


def _unpaired(*, runs: int, seed: int) -> Named:
    rule = DifferenceRule(claimed=F(4), alleged=F(0), looks=tuple(range(30, 121, 10)), minimum_n=30, noise="unpaired")

    def at(truth: float) -> Callable[[], PowerLike]:
        return lambda: difference.power(rule, truth, sd=4.2, runs=runs, seed=seed)

    name = "difference +4, unpaired arms with sd 3 each, looks 30 to 120"
    return name, [(f"+{truth:g}", at(truth)) for truth in (4.0, 0.0, 2.0)]


def _items(*, runs: int, seed: int) -> Named:
    rule = DifferenceRule(claimed=F(4), alleged=F(0), looks=(30,), minimum_n=30, population="items-drawn")
    items, item_sd = 1_200, 18.0

    def at(truth: float) -> Callable[[], PowerLike]:
        return lambda: difference.power(rule, truth, sd=1.0, items=items, item_sd=item_sd, runs=runs, seed=seed)

    name = "difference +4, 30 seeds with sd 1, 1,200 items drawn with sd 18"
    return name, [(f"+{truth:g}", at(truth)) for truth in (4.0, 0.0, 2.0)]


def _ratio_of_means(*, runs: int, seed: int) -> Named:
    rule = RatioRule(claimed=F(8), alleged=F(1, 2), delta=F(5, 4), looks=(12,), minimum_n=12, estimand="ratio-of-means")

    def at(truth: float) -> Callable[[], PowerLike]:
        return lambda: ratio.power(rule, truth, noise=0.1, runs=runs, seed=seed)

    name = "ratio 8 of means, δ 1.25, 10 % a launch, one look at 12"
    return name, [(f"{truth:g}×", at(truth)) for truth in (8.0, 0.5, 2.0)]


def _growth(*, runs: int, seed: int) -> Iterator[Named]:
    scales = [8, 16, 32, 64, 128, 256]

    def at(rule: GrowthRule, slope: float) -> Callable[[], PowerLike]:
        return lambda: growth_power(
            rule, scales=scales, sd={8: 0.3}, claim_scale=256, slope=slope, runs=runs, seed=seed
        )

    designs: tuple[tuple[str, Literal["block", "pooled"], str, str, int], ...] = (
        ("log", "block", "0.19", "0.38", 80),
        ("log", "pooled", "0.19", "0.38", 80),
        ("loglog", "block", "1", "2", 140),
        ("sqrt", "block", "0.05", "0.1", 40),
        ("linear", "block", "0.003", "0.006", 40),
    )
    for law, noise, delta, alternative, last in designs:
        rule = GrowthRule(
            delta=F(delta), alternative=F(alternative), law=law, noise=noise, looks=tuple(range(10, last + 1, 10))
        )
        h = {"log": "ln k", "loglog": "ln ln k", "sqrt": "√k", "linear": "k"}[law]
        pooled = ", pooled" if noise == "pooled" else ""
        name = f"growth {alternative} {h}, δ {delta}{pooled}, k = 8 to 256, sd .3, looks 10 to {last}"
        truths = [(f"{slope:g} {h}", slope) for slope in (0.0, float(alternative), float(delta) / 2)]
        yield name, [(truth, at(rule, slope)) for truth, slope in truths]


def _rate(*, runs: int, seed: int) -> Named:
    rule = RateRule(claimed=F(1), alleged=F(1, 2), looks=(20,))
    times = [32 << i for i in range(10)]

    def at(decay: float) -> Callable[[], PowerLike]:
        return lambda: rate.power(rule, decay, times=times, sd={32: 0.3}, claim_time=times[-1], runs=runs, seed=seed)

    return "rate 1/t against t^−½, t = 32 to 16,384, sd .3, one look at 20", [
        (f"t^−{decay:g}", at(decay)) for decay in (1.0, 0.5)
    ]


def _bound() -> Named:
    rule = BoundRule(instances=tuple(map(str, range(10))), weights=equal_weights(10), looks=(60,))
    effect = 1.5

    def found() -> PowerLike:
        return bound.power(rule, effect)

    return "bound, means of 10 instances, one look at 60", [(f"one exceeds it by {effect:g} sd", found)]
