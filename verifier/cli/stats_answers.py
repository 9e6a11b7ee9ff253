"""A rule applied to a sample at each of its looks: what it would have said, and where it would have stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from verifier.cli.stats_samples import Sample
from verifier.model.results import Adequacy
from verifier.stats import count, difference, proportion, ratio
from verifier.stats.bounded_design import CountRule, ProportionRule
from verifier.stats.growth_rule import LEAST_SCALES, GrowthAnswer, GrowthRule
from verifier.stats.growth_statistics import GrowthFinding, GrowthStatistics
from verifier.stats.margin_design import DifferenceRule, MarginRule, RatioRule
from verifier.stats.margin_statistics import MarginFinding
from verifier.stats.rate_rule import RateRule

Finding: TypeAlias = GrowthFinding | MarginFinding
Tell: TypeAlias = Callable[[int, int], None]
"""Called with how many looks of how many are done."""

SIDES: Mapping[str, Mapping[str, str]] = {
    "growth": {
        "grow": "growth",
        "flat": "a slope below delta",
        "half": "a slope below delta/2",
    },
    "margin": {
        "below_claim": "less than claimed",
        "above_alleged": "more than alleged",
        "below_middle": "below the middle",
        "above_middle": "above the middle",
    },
}
"""Family of rules -> E's by name -> what each is evidence for. The first is for the dispute, the second against it."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """The E-values at one look, by name; undiscounted, for a retrospective table has no registrations to count."""

    n: int
    e: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Tested:
    """What a rule says of a sample.

    finding: at its stop: the first look that decides, else the last look that the data reach. stop: that look, or the
    number of replicates where the first look is not reached. used: replicates that were looked at, beyond the stop too.
    """

    rule: Any
    finding: Finding
    stop: int
    used: int
    looks: tuple[Look, ...]

    @property
    def family(self) -> str:
        """Which of SIDES."""
        return "growth" if isinstance(self.finding, GrowthFinding) else "margin"

    @property
    def log_e(self) -> tuple[float, float]:
        """Natural logarithms of E for and against the dispute at the stop; −∞ where there is none."""
        at = next((look for look in self.looks if look.n == self.stop), None)
        names = list(SIDES[self.family])[:2]
        with np.errstate(divide="ignore"):
            first, second = (float(np.log(at.e[name])) if at and name in at.e else -np.inf for name in names)
        return first, second


def run_rule(
    rule: Any,
    data: Sample,
    *,
    claim_scale: int | None = None,
    shared_seeds: bool = False,
    tell: Tell = lambda done, of: None,  # noqa: ARG005  # what is told is not listened to
) -> Tested:
    """The rule's answers at all looks that the data reach, and the one at which it would have stopped."""
    made = [look for look in rule.looks if look <= data.n]
    if isinstance(rule, GrowthRule | RateRule) and len(data.scales) < LEAST_SCALES:
        finding = evaluate(rule, data, n=data.n, claim_scale=claim_scale, shared_seeds=shared_seeds)
        return Tested(rule=rule, finding=finding, stop=data.n, used=data.n, looks=())
    if isinstance(rule, CountRule) and data.n > rule.size:
        evaluate(rule, data, n=data.n)  # refuses more than the list holds
    if isinstance(rule, CountRule) and data.n == rule.size:
        made = [*[look for look in made if look < rule.size], rule.size]
    if not made:
        finding = _before_the_first_look(rule, data, claim_scale=claim_scale)
        return Tested(rule=rule, finding=finding, stop=data.n, used=data.n, looks=())
    stopped: Finding | None = None
    stop, looks = made[-1], []
    for done, n in enumerate(made, 1):
        tell(done, len(made))
        found = evaluate(rule, data, n=n, claim_scale=claim_scale, shared_seeds=shared_seeds, last=n == rule.looks[-1])
        looks.append(Look(n=n, e=_current(found)))
        if stopped is None and (found.stops or n == made[-1]):
            stopped, stop = found, n
    assert stopped is not None
    return Tested(rule=rule, finding=stopped, stop=stop, used=made[-1], looks=tuple(looks))


def evaluate(
    rule: Any,
    data: Sample,
    *,
    n: int,
    claim_scale: int | None = None,
    shared_seeds: bool = False,
    last: bool = True,
) -> Finding:
    """The rule's finding on the first n replicates, with no discount."""
    common: dict[str, Any] = {"discount": 1.0, "last": last}
    left = data.left
    match rule:
        case GrowthRule():
            from verifier.stats import growth  # brings scipy.optimize, which the other rules can do without

            reach = data.scales[-1] if claim_scale is None else claim_scale
            return growth.evaluate(
                rule,
                scales=data.scales,
                values=left[:, :n],
                claim_scale=reach,
                shared_seeds=shared_seeds,
                axis=data.axis,
                **common,
            )
        case RateRule():
            from verifier.stats import rate

            reach = data.scales[-1] if claim_scale is None else claim_scale
            return rate.evaluate(
                rule, times=data.scales, values=left[:, :n], claim_time=reach, axis=data.axis, **common
            )
        case DifferenceRule():
            right = data.right
            if right is None or rule.noise == "paired":
                return difference.evaluate(rule, left[:n], None if right is None else right[:n], **common)
            # unpaired: rows without a partner are counted by the rule itself, at the last look
            rest = n == min(len(left), len(right))
            return difference.evaluate(rule, left if rest else left[:n], right if rest else right[:n], **common)
        case RatioRule():
            assert data.right is not None
            rest = rule.noise == "unpaired" and n == data.n
            first, second = (data.left, data.right) if rest else (data.left[:n], data.right[:n])
            return ratio.evaluate(rule, first, second, **common)
        case ProportionRule():
            return proportion.evaluate(rule, left[:n], **common)
        case CountRule():
            return count.evaluate(rule, left[:n], **common)
    raise AssertionError(rule)


def _current(found: Finding) -> dict[str, float]:
    """The E's of a finding at its own look, by name."""
    family = "growth" if isinstance(found, GrowthFinding) else "margin"
    records = {name: getattr(found.statistics, f"e_{name}") for name in SIDES[family]}
    return {name: record.current for name, record in records.items() if record is not None}


def _before_the_first_look(rule: Any, data: Sample, *, claim_scale: int | None) -> Finding:
    if isinstance(rule, MarginRule):
        return evaluate(rule, data, n=data.n, last=False)
    from verifier.stats import adequacy as horizon
    from verifier.stats import growth

    reach = data.scales[-1] if claim_scale is None else claim_scale
    inner = rule if isinstance(rule, GrowthRule) else rule.growth
    deviations: Sequence[float] = data.left.std(axis=1, ddof=1).tolist() if data.n > 1 else []
    seen = {k: float(sd) for k, sd in zip(data.scales, deviations, strict=False) if sd > 0}
    needs = horizon.needed(
        inner,
        axis=data.axis,
        claim_scale=reach,
        registered=data.scales,
        sd=seen if isinstance(rule, GrowthRule) else {},
        inflate_df=float(data.n - 1) if seen and isinstance(rule, GrowthRule) else None,
        discount=1.0,
    )
    design = growth.Design(
        rule=inner,
        scales=data.scales,
        claim_scale=reach,
        registered=data.scales,
        discount=1.0,
        planned_sd={},
        axis=data.axis,
    )
    statistics = GrowthStatistics(n=data.n, looks_made=(), stopped_by=None, discount=1.0)
    lacking = Adequacy(adequate=False, needed=needs)
    return growth.finding(design, GrowthAnswer.NEITHER_INADEQUATE, statistics, lacking, stops=False, stuck="")
