"""The rule of a sweep, whichever it is, applied to what was drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from verifier.stats import growth, rate
from verifier.stats.growth_stages import Stage, evaluate_stages
from verifier.stats.growth_statistics import GrowthFinding
from verifier.stats.laws import Floats
from verifier.stats.rate_rule import RateRule
from verifier.sweeps.probe import SweepProbe


def precheck(probe: SweepProbe, *, scales: tuple[int, ...], discount: float) -> GrowthFinding | None:
    """The finding that holds before any data, or None where data can decide. Raises BadInput as the rule does."""
    hopeless = growth.precheck(probe.growth, scales=scales, **_known(probe, discount))
    if hopeless is None or not isinstance(probe.rule, RateRule):
        return hopeless
    return evaluate(probe, scales=scales, values=np.empty((len(scales), 0)), discount=discount, last=True)


def evaluate(
    probe: SweepProbe,
    *,
    scales: tuple[int, ...],
    values: Floats,
    discount: float,
    last: bool,
    stopped_at: int | None = None,
) -> GrowthFinding:
    """The finding of the rule's own `evaluate` on replicate means, baseline subtracted: float64 (scales, replicates).

    Every unit has a stream of its own, so that scales are independent under every rule.
    """
    known = {**_known(probe, discount), "values": values, "last": last, "stopped_at": stopped_at}
    if isinstance(probe.rule, RateRule):
        known["claim_time"], known["registered_times"] = known.pop("claim_scale"), known.pop("registered_scales")
        return rate.evaluate(probe.rule, times=scales, shared_seeds=False, **known)
    return growth.evaluate(probe.rule, scales=scales, **known)


def evaluate_in_stages(
    probe: SweepProbe, stages: Sequence[Stage], *, discount: float, stopped_at: int | None
) -> GrowthFinding:
    """The finding after the stages drawn so far, E being the product of theirs.

    stopped_at: after how many replicates an earlier finding decided, where the run went on.
    """
    return evaluate_stages(
        probe.growth,
        stages,
        listed=[stage.scales for stage in probe.stages],
        claim_scale=probe.claim_scale,
        discount=discount,
        axis=probe.axis,
        stopped_at=None if stopped_at is None else probe.rule.looks.index(stopped_at) + 1,
    )


def _known(probe: SweepProbe, discount: float) -> dict[str, Any]:
    return {
        "claim_scale": probe.claim_scale,
        "discount": discount,
        "planned_sd": probe.planned_sd,
        "registered_scales": probe.registered_scales,
        "axis": probe.axis,
    }


def judged_values(probe: SweepProbe, scales: tuple[int, ...], values: Floats) -> Floats | None:
    """The quantity whose growth is judged: the values themselves, or ln(t^p y); None where a y has no logarithm."""
    if not isinstance(probe.rule, RateRule):
        return values
    return rate.log_residue(probe.rule, scales, values) if (values > 0).all() else None


def rule_record(probe: SweepProbe) -> Mapping[str, Any]:
    """The numbers of the growth rule that judges, where the registered rule states them otherwise."""
    if not isinstance(probe.rule, RateRule):
        return {}
    derived: dict[str, Fraction | str] = {
        "delta": probe.growth.delta,
        "alternative": probe.growth.alternative,
        "law": probe.growth.law,
    }
    return derived
