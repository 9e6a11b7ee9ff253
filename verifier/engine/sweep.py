"""A sweep and its rule as a sequential procedure: draw up to a look, judge, stop or go on."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from verifier.engine.sweep_rules import evaluate, evaluate_in_stages, judged_values, precheck
from verifier.engine.targets import Targets
from verifier.engine.units import units_record
from verifier.model.case import Value
from verifier.model.results import Point, UnitsRecord
from verifier.stats.growth_stages import Stage
from verifier.stats.growth_statistics import GrowthFinding
from verifier.stats.laws import Floats
from verifier.stats.rate_rule import RateRule
from verifier.sweeps.jobs import Failure, Job, Row, Sums, Unit, ValueCall, sums_of, value_of
from verifier.sweeps.probe import SweepProbe

Results = Mapping[str, Row | Failure]
Asking = Generator[Sequence[Job], Results, Any]


@dataclass(frozen=True)
class Grid:
    """The units of one target of a probe: its scales, and what it is called with.

    `stream_target` is the target whose streams are drawn. `settings` are the parameters' values.
    """

    registration: str
    probe: SweepProbe
    target: str
    stream_target: str
    scales: tuple[int, ...]
    settings: Mapping[str, Value]
    targets: Targets

    def unit(self, scale: int, replicate: int) -> Unit:
        """The unit at one scale; replicates count from 0."""
        return Unit(
            registration=self.registration,
            probe=self.probe.name,
            target=self.target,
            stream_target=self.stream_target,
            scale=((self.probe.axis, scale),),
            replicate=replicate,
            keywords=self.targets.keywords(self.target, self.settings, self.probe.rule.replicate),
        )

    def units(self, start: int, stop: int) -> list[Unit]:
        """The units of replicates start..stop − 1: replicate by replicate, the slowest scale first.

        Under stages a replicate has the scales of its own stage.
        """
        return [
            self.unit(scale, replicate)
            for replicate in range(start, stop)
            for scale in reversed(self.probe.scales_of(replicate, self.scales))
        ]

    def value(self, target: str, scale: int) -> ValueCall:
        """The exact value of `target` at one scale under this grid's settings."""
        return ValueCall(
            registration=self.registration,
            target=target,
            scale=((self.probe.axis, scale),),
            keywords=self.targets.keywords(target, self.settings),
        )


class NoAnswer(Exception):
    """A unit or a value has no answer."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.what)


class OutOfBudget(Exception):
    """The probe has drawn as many replicates as this run may spend."""


@dataclass(frozen=True)
class Drawn:
    """Sums of every unit drawn so far, [scale][replicate], with the rows as stored."""

    grid: Grid
    sums: Mapping[int, list[Sums]]
    rows: tuple[tuple[Unit, Row], ...]

    @property
    def replicates(self) -> int:
        """How many were drawn."""
        return self.rows[-1][0].replicate + 1 if self.rows else 0

    def stages(self, baseline: Mapping[int, Fraction]) -> tuple[Stage, ...]:
        """The registered stages that are drawn, each with its own replicate means less the baseline."""
        held: list[Stage] = []
        done = dict.fromkeys(self.grid.scales, 0)
        for end, stage in zip(self.grid.probe.rule.looks, self.grid.probe.stages, strict=True):
            if end > self.replicates:
                break
            cells = []
            for k in stage.scales:
                own = self.sums[k][done[k] : done[k] + stage.replicates]
                done[k] += stage.replicates
                cells.append(np.array([as_double(sums.mean - baseline[k]) for sums in own]))
            held.append(Stage(scales=stage.scales, cells=tuple(cells)))
        return tuple(held)

    @property
    def record(self) -> UnitsRecord:
        """Their number, and the Merkle root (RFC 6962) over their canonical rows in unit order."""
        return units_record(
            {"unit": unit.key, "scale": dict(unit.scale), "replicate": unit.replicate, **row} for unit, row in self.rows
        )

    def values(self, baseline: Mapping[int, Fraction]) -> Floats:
        """Replicate means less the baseline, shape (scales, replicates); exact before they become doubles."""
        return np.array([[as_double(s.mean - baseline[k]) for s in self.sums[k]] for k in self.grid.scales])

    def points(self, baseline: Mapping[int, Fraction], exact: Mapping[int, Fraction]) -> tuple[Point, ...]:
        """The estimate at each scale with its standard error, of ln(t^p y) under a rate; () where that has no value."""
        if isinstance(self.grid.probe.rule, RateRule):
            return self._log_points(self.values(baseline))
        return tuple(self._point(k, baseline[k], exact.get(k)) for k in self.grid.scales if self.sums[k])

    def _point(self, scale: int, baseline: Fraction, exact: Fraction | None) -> Point:
        mean, stderr, n = cell(self.sums[scale])
        return Point({self.grid.probe.axis: scale}, as_double(mean - baseline), stderr, n, exact)

    def _log_points(self, values: Floats) -> tuple[Point, ...]:
        judged = judged_values(self.grid.probe, self.grid.scales, values)
        if judged is None:
            return ()
        n = judged.shape[1]
        errors = judged.std(axis=1, ddof=1) / math.sqrt(n) if n > 1 else [None] * len(judged)
        means = judged.mean(axis=1).tolist()
        return tuple(
            Point({self.grid.probe.axis: scale}, mean, None if error is None else float(error), n)
            for scale, mean, error in zip(self.grid.scales, means, errors, strict=True)
        )


def as_double(value: Fraction) -> float:
    """The nearest double. Raises NoAnswer where there is none."""
    try:
        return float(value)
    except OverflowError:
        raise NoAnswer(Failure("a mean less its baseline is too large for a double")) from None


def cell(sums: Sequence[Sums]) -> tuple[Fraction, float | None, int]:
    """Mean over replicates (exact), its standard error (None for one replicate), and their number."""
    n = len(sums)
    means = [entry.mean for entry in sums]
    mean = sum(means, Fraction(0)) / n
    if n == 1:
        return mean, None, n
    variance = sum(((m - mean) ** 2 for m in means), Fraction(0)) / (n - 1)
    return mean, math.sqrt(as_double(variance / n)), n


def ask_values(grid: Grid, names: Sequence[str | None]) -> Generator[Sequence[Job], Results, list[dict[int, Fraction]]]:
    """The exact values of each named target at every scale of the grid (an empty mapping for None).

    Raises NoAnswer where one has none.
    """
    calls = {(name, scale): grid.value(name, scale) for name in names if name for scale in grid.scales}
    results = yield list(calls.values())
    _require_answers(results)
    rows = {key: _row(results, call) for key, call in calls.items()}
    return [{scale: value_of(rows[name, scale]) for scale in grid.scales} if name else {} for name in names]


def ask_units(grid: Grid, stop: int, *, drawn: Drawn | None = None) -> Generator[Sequence[Job], Results, Drawn]:
    """Draws replicates up to `stop`, continuing `drawn`. Raises NoAnswer where a unit has none."""
    start = drawn.replicates if drawn else 0
    units = grid.units(start, stop)
    results = yield units
    _require_answers(results)
    sums = {scale: list(drawn.sums[scale]) if drawn else [] for scale in grid.scales}
    rows = [(unit, _row(results, unit)) for unit in units]
    for unit, row in rows:
        sums[unit.scale[0][1]].append(_complete(grid, unit, sums_of(row)))
    return Drawn(grid, sums, (*(drawn.rows if drawn else ()), *rows))


def _complete(grid: Grid, unit: Unit, sums: Sums) -> Sums:
    """The unit's sums. Raises NoAnswer where it holds another number of values than a replicate is registered with."""
    rule = grid.probe.rule
    if rule.replicate and sums.n != rule.replicate_size:
        scale = ", ".join(f"{axis} = {value}" for axis, value in unit.scale)
        registered = ", ".join(f"{name} = {size}" for name, size in rule.replicate.items())
        raise NoAnswer(Failure(f"{unit.target} returned {sums.n} values at {scale}, where {registered} is registered"))
    return sums


def _require_answers(results: Results) -> None:
    for result in results.values():
        if isinstance(result, Failure):
            raise NoAnswer(result)


def _row(results: Results, job: Unit | ValueCall) -> Row:
    row = results[job.key]
    assert not isinstance(row, Failure), "failures were raised before"
    return row


def most_jobs(probe: SweepProbe) -> int:
    """The most jobs that `judge` asks for on the probe's scales: its units, and its baseline's and exact values."""
    values = [name for name in (probe.baseline, probe.exact) if name]
    return len(probe.scales) * (probe.rule.maximum + len(values))


@dataclass(frozen=True)
class Judged:
    """The rule's finding at one end of a sweep, on `values` of shape (scales, replicates); (scales, 0) under stages."""

    stage: Literal["decision", "maximum"]
    finding: GrowthFinding
    points: tuple[Point, ...]
    units: UnitsRecord
    values: Floats


def judge(
    grid: Grid, *, discount: float, to_maximum: bool = False, budget: int | None = None
) -> Generator[Sequence[Job], Results, tuple[Judged, ...]]:
    """Looks at the registered numbers of replicates until the rule stops, then, if asked, goes on to the last look.

    Raises NoAnswer where a unit has none, OutOfBudget where `budget` replicates are spent before the rule stops.
    """
    probe = grid.probe
    rule = probe.rule
    hopeless = precheck(probe, scales=grid.scales, discount=discount)
    if hopeless is not None:
        nothing = units_record(())
        return (Judged("decision", hopeless, (), nothing, np.empty((len(grid.scales), 0))),)
    baseline, exact = yield from ask_values(grid, [probe.baseline, probe.exact])
    baseline = baseline or dict.fromkeys(grid.scales, Fraction(0))
    drawn: Drawn | None = None
    ends: list[Judged] = []
    for look in rule.looks:
        if budget is not None and look > budget and not ends:
            raise OutOfBudget
        drawn = yield from ask_units(grid, look, drawn=drawn)
        last = look == rule.maximum
        stopped_at = ends[0].finding.statistics.n if ends else None
        if ends and not last:
            continue
        if probe.stages:
            values = np.empty((len(grid.scales), 0))
            finding = evaluate_in_stages(probe, drawn.stages(baseline), discount=discount, stopped_at=stopped_at)
        else:
            values = drawn.values(baseline)
            finding = evaluate(
                probe, scales=grid.scales, values=values, discount=discount, last=last, stopped_at=stopped_at
            )
        if finding.stops or last:
            stage: Literal["decision", "maximum"] = "maximum" if ends else "decision"
            ends.append(Judged(stage, finding, drawn.points(baseline, exact), drawn.record, values))
            if last or not (to_maximum and finding.outcome.decided):
                break
    return tuple(ends)
