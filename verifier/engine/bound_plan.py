"""What a sweep under a bound would run, and what its search could find, before any data. Runs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from verifier.model.outcomes import Outcome
from verifier.stats import bound
from verifier.sweeps.bound import BoundProbe

EXCESSES = (0.5, 1.0, 2.0)
"""Of one instance's mean over its bound, in its standard deviations."""
SHARES = (0.001, 0.01, 0.1)
"""Of the instances that exceed the bound, where the cost is without chance."""


@dataclass(frozen=True)
class BoundPlan:
    """What one search would run and find.

    instances: over all scales. units: of the probe alone, and of its controls, at most. chances: an excess in standard
    deviations, or a share of the instances, to the probability that the search finds it; empty for a whole class
    computed exactly, which leaves nothing to chance.
    """

    probe: BoundProbe
    instances: int
    units: int
    control_units: int
    chances: Mapping[float, float]


def plan_bound(probe: BoundProbe, *, discount: float) -> BoundPlan:
    """Cost and power of one search; the discount raises the threshold."""
    rule = probe.searched(probe.scales)
    drawing = sum(2 if control.expect.kind == "equals" else 1 for control in probe.controls)
    each = len(probe.rule.instances) * probe.maximum
    chances: dict[float, float] = {}
    if rule.looks:
        raised = replace(rule, threshold=rule.threshold / Fraction(discount))
        chances = {effect: _found(bound.power(raised, effect)) for effect in EXCESSES}
    elif not rule.whole_class:
        chances = {share: _found(bound.power(rule, 0.0, share=share)) for share in SHARES}
    return BoundPlan(
        probe=probe,
        instances=len(rule.instances),
        units=each * len(probe.scales) + (probe.maximum if rule.looks else 0),
        control_units=drawing * each * len(probe.registered_scales),
        chances=chances,
    )


def _found(power: bound.BoundPower) -> float:
    return 1 - power.outcomes.get(Outcome.UNDERPOWERED, 0.0)
