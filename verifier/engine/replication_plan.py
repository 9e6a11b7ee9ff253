"""What a replication would run and be able to show, before any data. Runs nothing."""

from __future__ import annotations

from dataclasses import dataclass

from verifier.stats import count, difference, proportion, ratio
from verifier.stats.bounded_design import CountRule, ProportionRule
from verifier.stats.margin_design import DifferenceRule, RatioRule
from verifier.stats.margin_statistics import MarginPower
from verifier.sweeps.replication import ReplicationProbe

POWER_RUNS = 2_000


@dataclass(frozen=True)
class ReplicationPlan:
    """What one replication would run and what it could show.

    replicates: at most, of the probe and of its controls. seconds: CPU seconds of the probe at its maximum, None where
    none are stated. powers: where the claim is right and where the dispute is; empty where that needs an sd that is not
    stated. needed: what decides nine times in ten either way, by the rule's unit; empty where nothing is known to.
    source: where sd and seconds are from.
    """

    probe: ReplicationProbe
    replicates: int
    control_replicates: int
    seconds: float | None
    powers: tuple[MarginPower, ...]
    needed: dict[str, int]
    source: str

    @property
    def lacks_sd(self) -> bool:
        """Whether its power is unknown for want of an sd, which a pilot would measure."""
        items = isinstance(self.probe.rule, DifferenceRule) and self.probe.rule.population == "items-drawn"
        return not (self.powers or self.probe.file or items)


def plan_replication(
    probe: ReplicationProbe, *, discount: float, source: str = "stated in case.toml"
) -> ReplicationPlan:
    """Cost and power of one replication; none of either for a file of runs. source: of its planned sd and seconds."""
    maximum = 0 if probe.file else probe.rule.maximum
    drawn = sum(2 if control.expect.kind == "equals" else 1 for control in probe.controls)
    powers, needed = ((), {}) if probe.file else _chances(probe, discount)
    return ReplicationPlan(
        probe=probe,
        replicates=maximum,
        control_replicates=drawn * maximum,
        seconds=None if probe.planned_seconds is None or probe.file else probe.planned_seconds * maximum,
        powers=powers,
        needed=needed,
        source=source,
    )


def _chances(probe: ReplicationProbe, discount: float) -> tuple[tuple[MarginPower, ...], dict[str, int]]:
    rule, sd = probe.rule, probe.planned_sd
    sides = (float(rule.claimed), float(rule.alleged))
    match rule:
        case ProportionRule():
            n = proportion.needed(rule, discount=discount)
            powers = tuple(proportion.power(rule, side, discount=discount) for side in sides)
            return powers, {} if n is None else {rule.unit: n}
        case CountRule():
            n = count.needed(rule, discount=discount)
            powers = tuple(count.power(rule, side, discount=discount) for side in (rule.claimed, rule.alleged))
            return powers, {} if n is None else {rule.unit: n}
        case RatioRule() if sd is not None:
            powers = tuple(ratio.power(rule, side, noise=sd, discount=discount, runs=POWER_RUNS) for side in sides)
            return powers, ratio.needed(rule, noise=sd, discount=discount)
        case DifferenceRule() if sd is not None and rule.population != "items-drawn":
            powers = tuple(difference.power(rule, side, sd=sd, discount=discount, runs=POWER_RUNS) for side in sides)
            return powers, difference.needed(rule, sd=sd, discount=discount)
    return (), {}
