"""What a run would do, cost and be able to show, before any data. Imports no case code unless a pilot is asked for."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from verifier.casefile import Case
from verifier.engine.controls import most_control_units
from verifier.engine.register import Entries, same_dispute
from verifier.engine.sweep import Grid, NoAnswer, Results, ask_units, ask_values
from verifier.engine.targets import inspect_targets
from verifier.model.canonical import canonical_sha256
from verifier.model.errors import InfrastructureFailed
from verifier.model.results import Point
from verifier.stats.growth_rule import LEAST_SCALES
from verifier.stats.power import Power, needed_replicates, power, slope_test_misses
from verifier.sweeps.code import Code
from verifier.sweeps.drive import LeastSeconds, Progress, drive
from verifier.sweeps.executors import Executor
from verifier.sweeps.jobs import Job
from verifier.sweeps.probe import SweepProbe

POWER_RUNS = 2_000
PILOT_REPLICATES = 5
PILOT_SOURCE = f"of a pilot of {PILOT_REPLICATES} replicates"


@dataclass(frozen=True)
class Noise:
    """What is known of a replicate: its sd at some scales, the seconds of an inner repetition, and from where."""

    sd: Mapping[int, float]
    seconds: Mapping[int, float]
    source: str


@dataclass(frozen=True)
class ProbePlan:
    """What one sweep would run and what it could show.

    `seconds` is the cost in CPU seconds at the maximum n of the probe alone and with its controls, None where nothing
    is stated or measured. `powers` are at the alleged slope and at none; empty where no sd is known. `misses` is the
    chance that a one-sided 5 % slope test on three replicates would overlook the alleged slope.
    """

    probe: SweepProbe
    noise: Noise
    units: int
    control_units: int
    seconds: float | None
    seconds_with_controls: float | None
    powers: tuple[Power, ...]
    needed: int | None
    misses: float | None

    @property
    def enough_scales(self) -> bool:
        """Whether the rule can decide on as many scales as there are."""
        return len(self.probe.scales) >= LEAST_SCALES


def stated_noise(probe: SweepProbe) -> Noise:
    """What the case file states."""
    return Noise(probe.planned_sd, probe.planned_seconds, "stated in case.toml")


def stored_noise(case: Case, probe: SweepProbe, entries: Entries) -> Noise | None:
    """The sds that the ledger's last evidence of this dispute and probe shows, or None. Seconds as stated.

    A rate's points are of ln(t^p y), as its sds are.
    """
    registrations = {entry.content["registration"] for entry in same_dispute(case, entries)}
    found: dict[int, float] = {}
    for entry in entries("evidence"):
        content = entry.content
        if content.get("registration") in registrations and content["probe"] == probe.name:
            for point in content.get("points", []):
                if point["stderr"] is not None:
                    found[point["at"][probe.axis]] = float(point["stderr"]) * point["n"] ** 0.5
    return Noise(found, probe.planned_seconds, "of earlier evidence in this ledger") if found else None


def pilot_noise(case: Case, probe: SweepProbe, *, executor: Executor, progress: Progress) -> Noise:
    """Measures sd and seconds on streams that no registration has, so that nothing drawn here can become evidence.

    Raises InfrastructureFailed where a unit has no answer.
    """
    code = Code(case.code_sha256, case.files)
    seconds: dict[Any, float] = LeastSeconds()
    (targets,) = drive([inspect_targets(case)], code=code, executor=executor)
    registration = canonical_sha256({"pilot of": case.registration})
    probe = replace(probe, stages=())  # every scale is measured
    grid = Grid(registration, probe, probe.target, probe.target, probe.scales, case.settings, targets)
    try:
        (points,) = drive([_pilot(grid)], code=code, executor=executor, progress=progress, seconds=seconds)
    except NoAnswer as error:
        raise InfrastructureFailed(f"the pilot has no answer: {error}", where=str(case.folder)) from error
    size = probe.rule.replicate_size
    return Noise(
        sd={point.at[probe.axis]: point.stderr * PILOT_REPLICATES**0.5 for point in points if point.stderr},
        seconds={
            grid_scale: value / size
            for (target, ((_, grid_scale),)), value in seconds.items()
            if target == probe.target
        },
        source=PILOT_SOURCE,
    )


def _pilot(grid: Grid) -> Generator[Sequence[Job], Results, tuple[Point, ...]]:
    (baseline,) = yield from ask_values(grid, [grid.probe.baseline])
    drawn = yield from ask_units(grid, PILOT_REPLICATES)
    return drawn.points(baseline or dict.fromkeys(grid.scales, Fraction(0)), {})


def plan_probe(probe: SweepProbe, noise: Noise, *, discount: float) -> ProbePlan:
    """Cost and power of one probe under what is known of its noise."""
    rule = probe.growth
    if probe.stages:  # the last stage by itself: what earlier ones multiply E by has mean at most 1 under its null
        last = probe.stages[-1]
        alone = replace(probe.rule, looks=(last.replicates,))
        by_itself = plan_probe(replace(probe, stages=(), scales=last.scales, rule=alone), noise, discount=discount)
        whole = plan_probe(replace(probe, stages=()), Noise({}, noise.seconds, noise.source), discount=discount)
        units = sum(len(stage.scales) * stage.replicates for stage in probe.stages)
        return replace(
            whole,
            probe=probe,
            noise=noise,
            units=units,
            powers=by_itself.powers,
            needed=by_itself.needed,
            misses=by_itself.misses,
        )
    per_replicate = _seconds(probe.scales, noise, rule.replicate_size)
    per_control = _seconds(probe.registered_scales, noise, rule.replicate_size)
    control_units = sum(most_control_units(control, probe) for control in probe.controls)
    seconds = None if per_replicate is None else per_replicate * rule.maximum
    controls = None if per_control is None else per_control * control_units / len(probe.registered_scales)
    enough = len(probe.scales) >= LEAST_SCALES and bool(noise.sd)
    slope = float(rule.alternative)
    return ProbePlan(
        probe=probe,
        noise=noise,
        units=rule.maximum * len(probe.scales),
        control_units=control_units,
        seconds=seconds,
        seconds_with_controls=None if seconds is None or controls is None else seconds + controls,
        powers=tuple(_power(probe, noise, discount, at) for at in (slope, 0.0)) if enough else (),
        needed=needed_replicates(rule, scales=probe.scales, sd=noise.sd, discount=discount) if enough else None,
        misses=slope_test_misses(probe.scales, sd=noise.sd, slope=slope, n=3) if enough else None,
    )


def _power(probe: SweepProbe, noise: Noise, discount: float, slope: float) -> Power:
    return power(
        probe.growth,
        scales=probe.scales,
        sd=noise.sd,
        claim_scale=probe.claim_scale,
        discount=discount,
        slope=slope,
        runs=POWER_RUNS,
    )


def _seconds(scales: Sequence[int], noise: Noise, size: int) -> float | None:
    """CPU seconds of one replicate over the scales; a scale without a figure takes the next larger one's."""
    if not noise.seconds:
        return None
    known = sorted(noise.seconds)
    return sum(noise.seconds[next((k for k in known if k >= scale), known[-1])] * size for scale in scales)
