"""The bound rule applied: from instances and their costs to an answer, and what a search could have found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from verifier.model import e_values
from verifier.model.answers import Finding
from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome, Reason
from verifier.stats.bound_rule import BoundAnswer, BoundRule, bound_outcome, decide
from verifier.stats.critical import POWER, log_threshold, power_at, replicates_needed
from verifier.stats.eprocess import log_mean_exp, log_mixture_e
from verifier.stats.growth_statistics import EValue, e_value
from verifier.stats.laws import Floats
from verifier.stats.noise import block_estimate

ROUNDING = 1e-13  # relative: a range below it is the last digits of a double


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One instance that was run.

    name: as registered. bound: g(I, ε), exact. value: X(I) for a cost without chance: a Fraction where it is known as
    written, a float if not. rounded: it may have been rounded before it was written, so that it shows no "exactly
    within". draws: replicates of the cost, float64 of shape (n,), for an expected cost. same: of draws that are all one
    double, the least as written, where that is known. certified: the checker accepted a certificate of X(I) > g(I, ε)
    that witnesses the hypotheses.
    """

    name: str
    bound: Fraction
    value: Fraction | float | None = None
    rounded: bool = False
    draws: Floats | None = None
    same: Fraction | None = None
    certified: bool = False


@dataclass(frozen=True, kw_only=True)
class BoundStatistics:
    """The numbers behind an answer. E-values are undiscounted; `discount` is what the rule multiplied them by.

    instances: how many were run, of `registered`. worst_ratio: the largest X/g (or mean/g) over instances with g > 0,
    and whose. e_mean: Σ v_i E_i(mean > g). e_rerun: of the instance found, on fresh streams. n: replicates of each.
    control_found: whether this sampler finds a control's planted violation, None where none was tried.
    """

    instances: int
    registered: int
    n: int
    looks_made: tuple[int, ...]
    discount: float
    worst_ratio: float | None
    worst_instance: str
    e_mean: EValue | None
    e_rerun: EValue | None
    control_found: bool | None


@dataclass(frozen=True, kw_only=True)
class BoundFinding:
    """The bound rule's answer, and everything a person or a machine is told about it."""

    answer: BoundAnswer
    outcome: Outcome
    reason: Reason | None
    summary: str
    stops: bool
    statistics: BoundStatistics
    flags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class BoundPower:
    """The chances of a search. answers: probabilities that occur, summing to 1. method: how they were computed."""

    answers: Mapping[BoundAnswer, float]
    outcomes: Mapping[Outcome, float]
    method: str


def evaluate(
    rule: BoundRule,
    instances: Sequence[Instance],
    *,
    discount: float,
    last: bool,
    rerun: Instance | None = None,
    control_found: bool | None = None,
) -> BoundFinding:
    """The rule's finding on the instances run so far, each with the same number of replicates (a look) or none.

    rerun: the one instance that was found and run again on fresh streams, with its draws. Its E stands alone, for it
    was chosen before they were drawn. discount: 6/(π² l²) of the l-th registration.

    Raises BadInput for an instance that is not registered or stands twice, for draws that are not finite, not of one
    number or not at a look.
    """
    n = _check(rule, instances, rerun)
    looks = tuple(look for look in rule.looks if look <= n)
    weighed, again = mean_log_e(rule, instances, looks), _rerun_log_e(rule, rerun)
    bar = log_threshold(float(rule.threshold), discount)
    answer = decide(
        exact_witness=any(one.certified for one in instances),
        float_violation=any(exceeds(one) for one in instances),
        violated_in_mean=any(logs is not None and logs.max() >= bar for logs in (weighed, again)),
        holds_on_class=holds_on_class(rule, instances),
    )
    said = bound_outcome(answer, alleges_in_class=rule.alleges_in_class)
    ratio, worst = worst_ratio(instances)
    statistics = BoundStatistics(
        instances=len(instances),
        registered=len(rule.instances),
        n=n,
        looks_made=looks,
        discount=discount,
        worst_ratio=ratio,
        worst_instance=worst,
        e_mean=_record(weighed),
        e_rerun=_record(again),
        control_found=control_found,
    )
    return BoundFinding(
        answer=answer,
        outcome=said.outcome,
        reason=said.reason,
        summary=_summary(rule, answer, statistics, instances, said),
        stops=said.outcome.decided or last,
        statistics=statistics,
        flags=_flags(statistics),
    )


def exceeds(instance: Instance) -> bool:
    """Whether a value was computed that lies above the bound: a cost without chance, or draws that are all equal.

    A double may be the nearest one to a number within the bound, and is above it by more than half its last digit.
    """
    value: Fraction | float | None = instance.value
    if value is None and instance.draws is not None and len(instance.draws) and _constant(instance.draws):
        value = float(instance.draws[0]) if instance.same is None else instance.same
    if value is None:
        return False
    excess = Fraction(value) - instance.bound
    return excess > 0 if isinstance(value, Fraction) else 2 * excess > Fraction(math.ulp(value))


def rounded_only(rule: BoundRule, instances: Sequence[Instance]) -> tuple[str, ...]:
    """The instances for whose rounding alone a finite class is not decided; () where anything else is open as well."""
    within = {one.name: one.rounded for one in instances if isinstance(one.value, Fraction) and one.value <= one.bound}
    if not rule.whole_class or set(within) != set(rule.instances):
        return ()
    return tuple(name for name, rounded in within.items() if rounded)


def holds_on_class(rule: BoundRule, instances: Sequence[Instance]) -> bool:
    """Whether every instance of the finite registered class was run and is exactly within its bound."""
    within = {
        one.name for one in instances if isinstance(one.value, Fraction) and not one.rounded and one.value <= one.bound
    }
    return rule.whole_class and within == set(rule.instances)


def worst_ratio(instances: Sequence[Instance]) -> tuple[float | None, str]:
    """The largest X/g over instances with g > 0, and its name; (None, "") where there is none."""
    found = [
        (cost / float(one.bound), one.name) for one in instances if (cost := _cost(one)) is not None and one.bound > 0
    ]
    return max(found, key=lambda pair: pair[0]) if found else (None, "")


def instance_log_e(instances: Sequence[Instance], looks: Sequence[int]) -> Floats:
    """The logarithm of E_i(mean > g), by the t e-process, at each look, shape (instances, looks).

    The instances have draws, all of one number. −∞ where the draws up to a look do not vary.
    """
    if not instances or not looks:
        return np.full((len(instances), len(looks)), -np.inf)
    draws = np.stack([one.draws for one in instances if one.draws is not None])
    excess = draws - np.array([float(one.bound) for one in instances])[:, None]
    path = block_estimate(np.ones(1), excess[:, None, :], looks)
    size = np.maximum.accumulate(np.abs(draws), axis=-1)[:, np.asarray(looks) - 1]
    varies = path.stderr * np.sqrt(path.n) > ROUNDING * size
    return np.where(varies, log_mixture_e(path.t(0.0), df=path.df, n=path.n), -np.inf)


def mean_log_e(rule: BoundRule, instances: Sequence[Instance], looks: Sequence[int]) -> Floats | None:
    """The logarithm of Σ v_i E_i(mean > g) at each look of at least minimum_n, shape (L',); None where there is none.

    The nulls "mean_i ≤ g" hold together if the claim is true, and a weighted mean of e-processes with weights fixed
    beforehand is one (Vovk and Wang 2021); the largest of them is not. An instance that was not run adds nothing.
    """
    counted = [look for look in looks if look >= rule.minimum_n]
    drawn = [one for one in instances if one.draws is not None]
    if not counted or not drawn:
        return None
    weight = dict(zip(rule.instances, rule.weights, strict=True))
    logs = np.array([math.log(weight[one.name]) for one in drawn])[:, None] + instance_log_e(drawn, counted)
    return log_mean_exp(logs, axis=0) + math.log(len(drawn))


def power(rule: BoundRule, effect: float, *, instance: str = "", share: float | None = None) -> BoundPower:
    """The chances of the search: in the mean if the rule has looks, else of hitting a violating instance.

    effect: by how many standard deviations the mean of one instance (the lightest weight if none is named) exceeds its
    bound: P(t' ≥ t_n) at the last look with threshold T/v_i, a lower bound since other instances only add. share: for a
    sampler of costs without chance, the probability that one draw is a violating instance: 1 − (1 − share)^N.
    """
    if rule.looks:
        weight = dict(zip(rule.instances, rule.weights, strict=True))
        if instance and instance not in weight:
            raise BadInput(f"no instance {shown(instance)} is registered")
        v = weight[instance] if instance else min(rule.weights)
        found = power_at(effect, rule.looks[-1], log_threshold=log_threshold(float(rule.threshold / v)))
        answer, method = BoundAnswer.VIOLATED_IN_MEAN, "noncentral t"
    else:
        if share is None or not 0 <= share <= 1:
            raise BadInput("the share of violating instances is not between 0 and 1")
        found = -math.expm1(len(rule.instances) * math.log1p(-share)) if share < 1 else 1.0
        answer, method = BoundAnswer.VIOLATED_FLOAT, "binomial"
    chances = {answer: found, BoundAnswer.NO_VIOLATION_FOUND: 1 - found}
    outcomes = {bound_outcome(a, alleges_in_class=False).outcome: p for a, p in chances.items()}
    return BoundPower(answers=chances, outcomes=outcomes, method=method)


def needed(rule: BoundRule, effect: float, *, share: float | None = None) -> dict[str, int]:
    """What finds a violation nine times in ten: `{"replicates": n}` at that effect, or `{"instances": N}` for a share.

    Empty where no number within reach does.
    """
    if rule.looks:
        n = replicates_needed(effect, log_threshold=log_threshold(float(rule.threshold / min(rule.weights))))
        return {} if n is None else {"replicates": max(n, rule.minimum_n)}
    if share is None or not 0 < share <= 1:
        return {}
    return {"instances": 1 if share >= POWER else math.ceil(math.log(1 - POWER) / math.log1p(-share))}


def needed_as_seen(rule: BoundRule, instances: Sequence[Instance]) -> dict[str, int]:
    """`needed` at the largest excess of a mean over its bound, in its own sd; {} where no mean lies above its bound."""
    effects = [
        float((one.draws.mean() - float(one.bound)) / one.draws.std(ddof=1))
        for one in instances
        if one.draws is not None and len(one.draws) > 1 and not _constant(one.draws)
    ]
    largest = max(effects, default=0.0)
    return needed(rule, largest) if largest > 0 else {}


def _check(rule: BoundRule, instances: Sequence[Instance], rerun: Instance | None) -> int:
    """The number of replicates of every instance, 0 where there are none."""
    names = [one.name for one in instances]
    registered = set(rule.instances)
    for name in (*names, *([rerun.name] if rerun else [])):
        if name not in registered:
            raise BadInput(f"the instance {shown(name)} is not registered", mend="run the registered instances")
    if len(set(names)) < len(names):
        raise BadInput("an instance stands twice", mend="give each once")
    if rerun is not None and rerun.draws is None:
        raise BadInput(f"the second run of {shown(rerun.name)} has no draws", mend="leave it out")
    for one in (*instances, *([rerun] if rerun else [])):
        _check_numbers(one)
    sizes = {len(one.draws) for one in instances if one.draws is not None}
    if len(sizes) > 1:
        raise BadInput("the instances have different numbers of draws", mend="give every instance the same number")
    for size in sizes | ({len(rerun.draws)} if rerun and rerun.draws is not None else set()):
        if size not in rule.looks:
            raise BadInput(f"{size} draws are not at a registered look", mend=f"registered are {list(rule.looks)}")
    return sizes.pop() if sizes else 0


def _check_numbers(one: Instance) -> None:
    if one.draws is not None and (one.draws.ndim != 1 or not np.isfinite(one.draws).all()):
        raise BadInput(f"a draw of the instance {shown(one.name)} is not a finite number")
    if isinstance(one.value, float) and not math.isfinite(one.value):
        raise BadInput(f"the value of the instance {shown(one.name)} is not a finite number")
    if one.certified and one.value is not None and one.value <= one.bound:
        raise BadInput(
            f"the instance {shown(one.name)} has an accepted certificate and a value within the bound",
            mend="one of them belongs to another instance",
        )


def _constant(draws: Floats) -> bool:
    return len(draws) == 0 or bool(np.ptp(draws) <= ROUNDING * float(np.abs(draws).max()))


def _cost(instance: Instance) -> float | None:
    if instance.value is not None:
        return float(instance.value)
    return None if instance.draws is None or not len(instance.draws) else float(instance.draws.mean())


def _rerun_log_e(rule: BoundRule, rerun: Instance | None) -> Floats | None:
    if rerun is None or rerun.draws is None:
        return None
    looks = [look for look in rule.looks if rule.minimum_n <= look <= len(rerun.draws)]
    return instance_log_e([rerun], looks)[0] if looks else None


def _record(logs: Floats | None) -> EValue | None:
    return None if logs is None else e_value(logs, at_stop=None)


def _flags(statistics: BoundStatistics) -> tuple[str, ...]:
    if not statistics.n:
        return ()
    return (f"a mean over {statistics.n:,} replicates is blind to failures rarer than one in as many",)


def _summary(
    rule: BoundRule, answer: BoundAnswer, statistics: BoundStatistics, instances: Sequence[Instance], said: Finding
) -> str:
    """One sentence, reason first, then the numbers it rests on."""
    parts = [f"{statistics.instances:,} of {statistics.registered:,} instances were run"]
    if answer in (BoundAnswer.VIOLATED, BoundAnswer.VIOLATED_FLOAT):
        exact = answer is BoundAnswer.VIOLATED
        above = next(one.name for one in instances if (one.certified if exact else exceeds(one)))
        parts.append(f"the instance is {shown(above)}")
    if statistics.worst_ratio is not None:
        parts.append(
            f"the worst ratio of cost to bound is {statistics.worst_ratio:.4g}, at {shown(statistics.worst_instance)}"
        )
    found = [
        f"{what} {e_values.e_text(e.sup * statistics.discount)}"
        for what, e in (("weighted over instances", statistics.e_mean), ("on fresh streams", statistics.e_rerun))
        if e is not None
    ]
    if found:
        after = e_values.discount_text(statistics.discount)
        parts.append(f"{', '.join(found)}{after}, against {e_values.e_value(float(rule.threshold))}")
    if answer is BoundAnswer.HOLDS_ON_CLASS and said.reason is not None:
        parts.append("the dispute alleges no instance of that class")
    if answer is BoundAnswer.NO_VIOLATION_FOUND:
        parts.append(_CONTROL[statistics.control_found])
    sentence = answer.sentence
    if answer is BoundAnswer.NO_VIOLATION_FOUND and rule.whole_class and statistics.instances == statistics.registered:
        sentence = _WHOLE_CLASS
    return f"{sentence}: {'; '.join(parts)}"


_WHOLE_CLASS = (
    "no violation was found among all instances of the class, which does not show that each is within its bound"
)
_CONTROL = {
    None: "whether this search would find a violation was not tried",
    True: "the same search does find the control's violation",
    False: "the same search does not find the control's violation either",
}
