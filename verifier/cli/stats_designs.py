"""Designs before any data: the chances of each outcome and what would decide, for every rule."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from verifier.cli.stats_options import GivenRule
from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome
from verifier.model.shares import percent, registered
from verifier.report.text import OUTCOME_WORDS, counted
from verifier.stats import bound, count, difference, proportion, ratio
from verifier.stats.critical import log_threshold, power_at
from verifier.stats.growth_rule import GrowthRule

if TYPE_CHECKING:
    from verifier.report.power_figure import Curve
    from verifier.stats.plan import GrowthPlan

POINTS = 24  # of a line of the picture
RUNS = 2_000  # where a line or a chance can only be simulated
MOST_CURVES = 6


@dataclass(frozen=True, kw_only=True)
class Chance:
    """What a design ends in at one truth. what: the truth in words. runs: None where nothing was simulated."""

    what: str
    effect: float
    outcomes: Mapping[Outcome, float]
    answers: Mapping[Any, float]
    mean_n: float | None
    method: str
    runs: int | None = None


@dataclass(frozen=True, kw_only=True)
class Planned:
    """The answer about a design. needed: what decides nine times in ten, by unit; empty where nothing does.

    replicates: as planned, or what is needed where nothing was planned. inputs: what else `curves` must know.
    """

    rule: Any
    design: Mapping[str, Any]
    sentence: str
    can_decide: bool
    needed: Mapping[str, int]
    chances: tuple[Chance, ...] = ()
    growth: GrowthPlan | None = None
    replicates: int | None = None
    unit: str = "replicates"
    inputs: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def sweep_design(
    given: GivenRule,
    *,
    axis: str,
    scales: Sequence[int],
    replicates: int,
    sd: Mapping[int, float],
    effect: float | None,
    claim_scale: int | None,
    seconds: Mapping[int, float] | None,
) -> Planned:
    """A design of the rule growth or rate. effect: the slope, or the exponent q of t^−q; None is the alleged one."""
    from verifier.stats.plan import growth_plan  # brings scipy.optimize, which other rules can do without

    rule = given.rule(max(2, replicates))
    inner: GrowthRule = rule if given.kind == "growth" else rule.growth
    slope: Any = inner.alternative
    if effect is not None:
        slope = effect if given.kind == "growth" else float(rule.claimed) - effect
    found = growth_plan(
        scales,
        replicates=replicates,
        sd=sd,
        effect=slope,
        delta=inner.delta,
        law=inner.law,
        noise=inner.noise,
        threshold=inner.threshold,
        gamma0=inner.gamma0,
        claim_scale=claim_scale,
        seconds=seconds,
        axis=axis,
    )
    opening = "" if given.kind == "growth" else f"Of ln({axis}^{rule.claimed} y), which is bounded if the claim holds: "
    best = found.headline
    needed = {} if best is None or best.replicates is None else {axis: best.largest, "replicates": best.replicates}
    return Planned(
        rule=rule,
        design={"axis": axis, "scales": list(scales), "replicates": replicates, "sd": dict(sd), "slope": float(slope)},
        sentence=opening + (found.sentence if not opening else found.sentence[0].lower() + found.sentence[1:]),
        can_decide=found.can_decide,
        needed=needed,
        growth=found,
        replicates=replicates,
        inputs={"rule": dataclasses.replace(inner, alternative=Fraction(slope)), "sd": sd},
    )


def margin_design(
    given: GivenRule,
    *,
    replicates: int | None,
    sd: float | None,
    effect: float | None,
    items: int | None,
    item_sd: float | None,
) -> Planned:
    """A design of a margin rule, at what is claimed and at what is alleged, and at `effect` if one is given."""
    noise = _noise(given, sd=sd, item_sd=item_sd)
    least = given.rule(2)
    needed = _needed(least, noise)
    unit = least.unit
    n = replicates if replicates is not None else needed.get(unit)
    if "looks" in given.table:
        if replicates is not None:
            raise BadInput("the looks say how many there are", where="--replicates", mend="give one of the two")
        rule = given.rule(2)
        n = rule.maximum
    elif n is None:
        rule = least
    elif n < least.minimum_n:
        return _too_few(least, n, needed=needed, unit=unit, noise=noise)
    else:
        rule = given.rule(n)
    if given.word("population") == "items-drawn" and items is None:
        items = needed.get("items")
        if items is None:
            raise BadInput("nothing says how many items", where="--items", mend="give a number")
    known = {**noise, **({} if items is None else {"items": items})}
    truths = [
        (f"the claim is right ({registered(rule.claimed)})", _right(rule)),
        (f"the dispute is right ({registered(rule.alleged)})", float(rule.alleged)),
    ]
    if effect is not None:
        truths.append((f"it is as asked ({effect:.10g})", effect))
    chances = tuple(_chance(rule, what, theta, known) for what, theta in truths) if n is not None else ()
    return Planned(
        rule=rule,
        design={unit: n, **known, "looks": list(rule.looks)},
        sentence=_margin_sentence(
            chances, needed, n=n, unit=unit, planned=replicates is not None or "looks" in given.table, items=items
        ),
        can_decide=n is not None,
        needed=needed,
        chances=chances,
        replicates=n,
        unit=unit,
        inputs={"known": known},
    )


def bound_design(
    given: GivenRule, *, instances: int | None, replicates: int | None, effect: float | None, share: float | None
) -> Planned:
    """A search for a violation: in the mean, at `effect` standard deviations, or of one that is hit with `share`."""
    table = dict(given.table)
    if instances is not None:
        if "instances" in table or "members" in table:
            raise BadInput("the rule file says which instances", where="--instances", mend="leave it out")
        table["instances"] = instances
    if (effect is None) == (share is None):
        raise BadInput(
            "a search is planned at one truth", where="--effect", mend="give --effect with --replicates, or --share"
        )
    if replicates is not None and "looks" not in table:
        table["looks"] = [replicates]
    if effect is not None and "looks" not in table:
        raise BadInput("nothing says how many replicates", where="--replicates", mend="give a number, like 60")
    if share is not None and "looks" in table:
        raise BadInput("a share is of costs without chance", where="--share", mend="leave out --replicates and looks")
    if share is not None and not 0 <= share <= 1:
        raise BadInput(f"{share:g} is no share", where="--share", mend="give a number between 0 and 1")
    rule = dataclasses.replace(given, table=table).rule(2)
    found = bound.power(rule, effect or 0.0, share=share)
    needed = bound.needed(rule, effect or 0.0, share=share)
    hit = 1 - found.outcomes.get(Outcome.UNDERPOWERED, 0.0)
    what = (
        f"one instance exceeds its bound by {effect:g} sd"
        if effect is not None
        else f"a share of {share:g} of the instances exceeds the bound"
    )
    chance = Chance(
        what=what, effect=effect if effect is not None else float(share or 0), outcomes=found.outcomes,
        answers=found.answers, mean_n=None, method=found.method,
    )  # fmt: skip
    sentence = (
        f"If {what}, this search finds it in {percent(hit, decimals=1)} of runs. {_need_words(needed, ways='')} "
        "Passes are never evidence against the dispute."
    )
    return Planned(
        rule=rule,
        design={"instances": len(rule.instances), "replicates": replicates, "effect": effect, "share": share},
        sentence=sentence,
        can_decide=hit > 0,
        needed=needed,
        chances=(chance,),
        replicates=replicates,
        unit="replicates" if rule.looks else "instances",
        inputs={"effect": effect, "share": share},
    )


def curves(found: Planned) -> list[Curve]:
    """Power against n: a line for each largest scale of a sweep, for each side of a margin rule."""
    from verifier.report.power_figure import Curve

    if found.growth is not None:
        return _sweep_curves(found)
    top = max(found.needed.get(found.unit, 0), found.replicates or 0, 10)
    if found.rule.kind == "bound":
        return [_bound_curve(found, grid(2, 4 * top))]
    least = found.rule.minimum_n
    most = min(2 * top, getattr(found.rule, "size", 2 * top))
    points = grid(max(least, 2), max(most, least + 1))
    lines = []
    for name, theta, right in (
        ("the claim is right", _right(found.rule), Outcome.AGAINST_DISPUTE),
        ("the dispute is right", float(found.rule.alleged), Outcome.FOR_DISPUTE),
    ):
        shares = [
            _chance(dataclasses.replace(found.rule, looks=(n,)), name, theta, found.inputs["known"]).outcomes.get(
                right, 0.0
            )
            for n in points
        ]
        lines.append(Curve(name=name, n=points, chance=shares))
    return lines


def grid(low: int, high: int) -> list[int]:
    """Whole numbers from low to high, each about the same factor above the last."""
    return sorted({round(x) for x in np.geomspace(low, high, POINTS)})


def _sweep_curves(found: Planned) -> list[Curve]:
    from verifier.report.power_figure import Curve
    from verifier.stats.adequacy import contrast_sd, degrees_of_freedom, effects

    assert found.growth is not None
    rule, sd = found.inputs["rule"], found.inputs["sd"]
    bar = log_threshold(float(rule.threshold))
    options = [option for option in found.growth.options if option.decides][:MOST_CURVES]
    most = max([2 * (option.replicates or 0) for option in options] + [2 * (found.replicates or 0), 20])
    points = grid(2, min(most, 100_000))
    lines = []
    for option in options:
        spread = contrast_sd(rule, option.scales, sd)
        chance = [
            min(
                power_at(
                    float(beta) / float(s), n, log_threshold=bar, df=degrees_of_freedom(rule, len(option.scales), n)
                )
                for beta, s in zip(effects(rule), spread, strict=True)
            )
            for n in points
        ]
        lines.append(Curve(name=f"K = {option.largest:,}", n=points, chance=chance))
    return lines


def _bound_curve(found: Planned, points: list[int]) -> Curve:
    from verifier.report.power_figure import Curve

    effect, share = found.inputs["effect"], found.inputs["share"]
    if share is not None:
        chance = [-math.expm1(n * math.log1p(-share)) if share < 1 else 1.0 for n in points]
        return Curve(name=f"share {share:g}", n=points, chance=chance)
    rules = [dataclasses.replace(found.rule, looks=(n,)) for n in points]
    chance = [1 - bound.power(rule, effect).outcomes.get(Outcome.UNDERPOWERED, 0.0) for rule in rules]
    return Curve(name=f"{effect:g} sd", n=points, chance=chance)


def _noise(given: GivenRule, *, sd: float | None, item_sd: float | None) -> dict[str, float]:
    if given.kind in {"proportion", "count"}:
        return {}
    one_seed = given.word("population") == "items-drawn" and given.table.get("looks") == [1]
    known = {}
    if sd is None and not one_seed:
        what = "no noise of a launch is known" if given.kind == "ratio" else "no standard deviation is known"
        raise BadInput(what, where="--sd", mend="give the one that a few runs showed")
    if sd is not None:
        known["noise" if given.kind == "ratio" else "sd"] = sd
    if given.word("population") == "items-drawn":
        if item_sd is None:
            raise BadInput(
                "nothing says how items differ", where="--item-sd", mend="give the sd of one item's difference"
            )
        known["item_sd"] = item_sd
    for value in known.values():
        if not value > 0:
            raise BadInput(f"{value:g} is not above zero", where="--sd", mend="give the one that a few runs showed")
    return known


def _needed(rule: Any, noise: Mapping[str, float]) -> dict[str, int]:
    match rule.kind:
        case "difference":
            return difference.needed(rule, **noise)
        case "ratio":
            return ratio.needed(rule, **noise)
        case "proportion":
            n = proportion.needed(rule)
        case _:
            n = count.needed(rule)
    return {} if n is None else {rule.unit: n}


def _right(rule: Any) -> float:
    """θ where the claim is right, in the rule's own unit of effects."""
    return float(rule.claimed)


def _chance(rule: Any, what: str, theta: float, known: Mapping[str, Any]) -> Chance:
    match rule.kind:
        case "difference":
            found = difference.power(rule, theta, **{"sd": 1.0, **known}, runs=RUNS)
        case "ratio":
            found = ratio.power(rule, theta, **known, runs=RUNS)
        case "proportion":
            found = proportion.power(rule, theta)
        case _:
            found = count.power(rule, theta)
    return Chance(
        what=what,
        effect=theta,
        outcomes=found.outcomes,
        answers=found.answers,
        mean_n=found.mean_n,
        method=found.method,
        runs=found.runs,
    )


def _too_few(rule: Any, n: int, *, needed: Mapping[str, int], unit: str, noise: Mapping[str, float]) -> Planned:
    return Planned(
        rule=rule,
        design={unit: n, **noise},
        sentence=f"This design cannot decide: {n} {unit} ({rule.minimum_n} needed). {_need_words(needed)}",
        can_decide=False,
        needed=needed,
        replicates=n,
        unit=unit,
        inputs={"known": noise},
    )


def _margin_sentence(
    chances: Sequence[Chance], needed: Mapping[str, int], *, n: int | None, unit: str, planned: bool, items: int | None
) -> str:
    if n is None:
        return f"No number of {unit} within reach decides."
    parts = []
    for chance in chances:
        outcome, share = max(chance.outcomes.items(), key=lambda item: item[1])
        parts.append(f"if {chance.what}, it {_ends(outcome)} in {percent(share, decimals=1)} of runs")
    said = "; ".join(parts)
    also = "" if items is None else f" and {items:,} items"
    opening = f"With {n:,} {unit if n != 1 else unit.removesuffix('s')}{also}, {said}."
    return f"{opening} {_need_words(needed)}" if planned else opening


def _ends(outcome: Outcome) -> str:
    return OUTCOME_WORDS[outcome] if outcome is Outcome.UNDERPOWERED else f"ends {OUTCOME_WORDS[outcome]}"


def _need_words(needed: Mapping[str, int], *, ways: str = ", either way") -> str:
    if not needed:
        return "No number within reach decides nine times in ten."
    words = " and ".join(counted(n, unit, unit) for unit, n in needed.items())
    return f"{words} decide nine times in ten{ways}."
