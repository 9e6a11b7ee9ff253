"""What a person reads about a growth sweep: one sentence per answer, with its numbers, and the registered class."""

from __future__ import annotations

from collections.abc import Sequence

from verifier.model.e_values import discount_text, e_text, e_value
from verifier.model.results import Adequacy
from verifier.stats.contrasts import LARGEST_GAMMA
from verifier.stats.growth_rule import FEW, GrowthAnswer, GrowthRule
from verifier.stats.growth_statistics import GrowthStatistics, Slope
from verifier.stats.law_names import law_unit


def residual_class(rule: GrowthRule, scales: Sequence[int], *, axis: str) -> str:
    """The class of bounded functions that a finding tells apart from growth, with K and δ."""
    return (
        f"bounded means: up to K = {scales[-1]}, a constant plus non-negative multiples of "
        f"-{axis}^-g with {float(rule.gamma0):g} <= g <= {LARGEST_GAMMA:g}, -1/ln {axis}, -1/ln^2 {axis} and "
        f"-1/ln^3 {axis}; the smallest slope of interest is {float(rule.delta):g} per {_unit(rule, axis)}; "
        f"a slower saturation, such as {axis}^-0.1, can pass for growth"
    )


def flags(rule: GrowthRule, n: int) -> tuple[str, ...]:
    """What the design cannot see with n replicates, whatever the data show."""
    first = rule.looks[0] * rule.replicate_size
    few = (f"few: the first look rests on {first} repetitions, fewer than {FEW}",) if first < FEW else ()
    if not n:
        return few
    names = " × ".join(rule.replicate) or "replicates"
    return (*few, f"a mean over {n * rule.replicate_size:,} {names} is blind to failures rarer than one in as many")


def summary(
    rule: GrowthRule,
    answer: GrowthAnswer,
    statistics: GrowthStatistics,
    adequacy: Adequacy,
    *,
    stuck: str,
    axis: str,
) -> str:
    """One sentence, reason first, then the numbers it rests on and, where a design fell short, what would decide."""
    if stuck:
        return f"{answer.sentence}: {stuck}"
    parts = [answer.sentence]
    if answer is GrowthAnswer.MISFIT and statistics.misfit is not None:
        parts.append(f"χ² = {statistics.misfit.chi2:.3g} on {statistics.misfit.df}, p = {statistics.misfit.p:.2g}")
    if answer is GrowthAnswer.GROWS_NOT_LOG and statistics.extrapolation is not None:
        parts.append(f"prediction p = {statistics.extrapolation.p:.2g}")
    parts += _numbers(rule, statistics, axis)
    if answer is GrowthAnswer.BELOW_LAW:
        parts.append(_log_law(statistics, axis))
    if not adequacy.adequate and answer.outcome.value == "UNDERPOWERED":
        parts.append(would_decide(adequacy, axis=axis))
    return f"{parts[0]}: {'; '.join(parts[1:])}"


def _numbers(rule: GrowthRule, statistics: GrowthStatistics, axis: str) -> list[str]:
    full, grow, flat = statistics.slope_full, statistics.e_grow, statistics.e_flat
    if full is None or grow is None or flat is None:
        return []
    inner = "".join(f", {count:,} {name}" for name, count in rule.inner(statistics.n).items())
    sigma = "" if full.sigma_fixed_n is None else f", {full.sigma_fixed_n:.1f} sigma at fixed n"
    return [
        f"slope {full.estimate:.3f} per {_unit(rule, axis)}{interval_text(full)}{sigma}",
        (
            f"evidence for growth {e_text(grow.sup * statistics.discount)} ({statistics.sigma_discounted:.1f} sigma at "
            f"any stopping time), for a slope below {float(rule.delta):g} {e_text(flat.sup * statistics.discount)}"
            f"{discount_text(statistics.discount)}, against {e_value(float(rule.threshold))}"
        ),
        f"{statistics.n} of {rule.maximum} replicates{inner}",
    ]


def _log_law(statistics: GrowthStatistics, axis: str) -> str:
    beside = statistics.log_law
    if beside is None:
        return f"growth like ln {axis} was not tested, so the claim is not reproduced"
    shown = "shown" if beside.reached else "not shown, so the claim is not reproduced"
    return (
        f"a slope below {beside.delta:g} per ln {axis}, {e_text(beside.e_flat.sup * statistics.discount)}, is {shown}"
    )


def interval_text(slope: Slope) -> str:
    """The interval in brackets, or nothing where there is none."""
    if slope.interval is None:
        return ""
    low, high = slope.interval
    return f" (95 % at any stopping time: {low:.3f} to {high:.3f})"


def would_decide(adequacy: Adequacy, *, axis: str) -> str:
    """What would decide, as a clause."""
    needed = dict(adequacy.needed)
    k, scales, n = needed.pop(axis, None), needed.pop("scales", None), needed.pop("replicates", None)
    if scales is not None:
        return f"at least {scales} scales up to {axis} = {k} are needed"
    if n is None:
        return f"scales up to {axis} = {k} are needed; no number of replicates within reach is known to decide"
    inner = "".join(f", {count:,} {name}," for name, count in needed.items())
    return f"scales up to {axis} = {k} with {n} replicates{inner} would decide"


def _unit(rule: GrowthRule, axis: str) -> str:
    return law_unit(rule.law, axis)
