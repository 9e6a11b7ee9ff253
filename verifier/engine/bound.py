"""A search of instances under a bound as a sequential procedure: draw up to a look, judge, stop or go on."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from verifier.engine.sweep import NoAnswer, OutOfBudget, Results, as_double
from verifier.engine.targets import Targets
from verifier.engine.units import units_record
from verifier.model.canonical import rational_text
from verifier.model.case import Value
from verifier.model.results import Point, UnitsRecord
from verifier.stats import bound
from verifier.stats.bound import BoundFinding, Instance
from verifier.stats.bound_rule import BoundRule
from verifier.sweeps.bound import INSTANCE, BoundProbe
from verifier.sweeps.jobs import Failure, Job, Row, Sums, Unit, ValueCall, sums_of, value_of

Cell = tuple[int, int]
"""A scale and the number of an instance, from 1."""


@dataclass(frozen=True)
class Search:
    """The instances of one target of a probe, at every scale.

    `stream_target` is the target whose streams are drawn. `settings` are the parameters' values.
    """

    registration: str
    probe: BoundProbe
    target: str
    stream_target: str
    scales: tuple[int, ...]
    settings: Mapping[str, Value]
    targets: Targets

    @property
    def rule(self) -> BoundRule:
        """The rule over the instances of all these scales."""
        return self.probe.searched(self.scales)

    @property
    def cells(self) -> list[Cell]:
        """Every instance at every scale, in the order of the rule's."""
        count = len(self.probe.rule.instances)
        return [(scale, i) for scale in self.scales for i in range(1, count + 1)]

    def unit(self, cell: Cell, replicate: int) -> Unit:
        """The unit of one replicate of an instance; replicates count from 0. Each instance draws its own streams."""
        scale, instance = cell
        keywords = self.targets.keywords(self.target, self.settings, {**self.probe.replicate, INSTANCE: instance})
        return Unit(
            registration=self.registration,
            probe=self.probe.name,
            target=self.target,
            stream_target=self.stream_target,
            scale=((self.probe.axis, scale),),
            replicate=replicate,
            keywords=keywords,
            arm=f"{INSTANCE} {instance}",
        )

    def value(self, target: str, cell: Cell) -> ValueCall:
        """The exact value of `target` for an instance; one that does not ask which is the same for all."""
        scale, instance = cell
        accepted = self.targets.names[target]
        told = {INSTANCE: instance} if INSTANCE in accepted or "**" in accepted else {}
        keywords = self.targets.keywords(target, self.settings, told)
        return ValueCall(self.registration, target, ((self.probe.axis, scale),), keywords)


@dataclass(frozen=True)
class Drawn:
    """What every instance cost so far, replicate by replicate, with the rows as stored."""

    search: Search
    costs: Mapping[Cell, tuple[Sums, ...]]
    rows: tuple[tuple[Unit, Row], ...]

    @property
    def record(self) -> UnitsRecord:
        """Their number, and the Merkle root (RFC 6962) over their canonical rows in unit order."""
        return units_record(
            {
                "unit": unit.key,
                "scale": dict(unit.scale),
                INSTANCE: int(unit.arm.rpartition(" ")[2]),
                "replicate": unit.replicate,
                **row,
            }
            for unit, row in self.rows
        )

    def instance(self, cell: Cell, g: Fraction, *, first: int = 0) -> Instance:
        """An instance as the rule takes it, its replicates from number `first`; exact where its values are integers."""
        name, costs = self.search.probe.label(*cell), self.costs[cell][first:]
        if not self.search.probe.rule.looks:
            return Instance(name=name, bound=g, value=costs[0].mean if costs[0].exact else as_double(costs[0].mean))
        return Instance(name=name, bound=g, draws=np.array([as_double(cost.mean) for cost in costs]))

    def points(self, bounds: Mapping[Cell, Fraction]) -> tuple[Point, ...]:
        """By how much each instance's mean exceeds its bound, with its standard error over replicates."""
        return tuple(self._point(cell, g) for cell, g in bounds.items())

    def _point(self, cell: Cell, g: Fraction) -> Point:
        means = [cost.mean for cost in self.costs[cell][: self.search.probe.maximum]]
        n = len(means)
        mean = sum(means, Fraction(0)) / n
        stderr = None
        if n > 1:
            stderr = math.sqrt(as_double(sum(((m - mean) ** 2 for m in means), Fraction(0)) / ((n - 1) * n)))
        return Point({self.search.probe.axis: cell[0], INSTANCE: cell[1]}, as_double(mean - g), stderr, n)


def ask_bounds(search: Search, target: str) -> Generator[Sequence[Job], Results, dict[Cell, Fraction]]:
    """The exact value of `target` for every instance. Raises NoAnswer where one has none."""
    calls = {cell: search.value(target, cell) for cell in search.cells}
    results = yield list({call.key: call for call in calls.values()}.values())
    return {cell: value_of(_row(results, call)) for cell, call in calls.items()}


def ask_costs(
    search: Search, cells: Sequence[Cell], start: int, stop: int, *, drawn: Drawn | None = None
) -> Generator[Sequence[Job], Results, Drawn]:
    """Draws replicates start..stop − 1 of `cells`, on top of `drawn`. Raises NoAnswer where a unit has none."""
    units = [(cell, search.unit(cell, replicate)) for replicate in range(start, stop) for cell in cells]
    results = yield [unit for _, unit in units]
    costs = {cell: list(sums) for cell, sums in drawn.costs.items()} if drawn else {}
    rows = []
    for cell, unit in units:
        row = _row(results, unit)
        rows.append((unit, row))
        costs.setdefault(cell, []).append(_complete(search, sums_of(row)))
    held = {cell: tuple(sums) for cell, sums in costs.items()}
    return Drawn(search, held, (*(drawn.rows if drawn else ()), *rows))


def _complete(search: Search, sums: Sums) -> Sums:
    """The sums. Raises NoAnswer where a replicate holds another number of values than is registered."""
    probe = search.probe
    wanted = probe.replicate_size if probe.replicate else 1 if not probe.rule.looks else None
    if wanted is not None and sums.n != wanted:
        size = ", ".join(f"{name} = {count}" for name, count in probe.replicate.items()) or "one cost an instance"
        raise NoAnswer(Failure(f"{search.target} returned {sums.n} values, where {size} is registered"))
    return sums


def _row(results: Results, job: Job) -> Row:
    for result in results.values():
        if isinstance(result, Failure):
            raise NoAnswer(result)
    row = results[job.key]
    assert not isinstance(row, Failure), "failures were raised before"
    return row


def most_jobs(probe: BoundProbe) -> int:
    """The most jobs that `judge_bound` asks for: units, values of g, and a second run of one instance."""
    cells = len(probe.rule.instances) * len(probe.scales)
    return cells * (probe.maximum + 1) + (probe.maximum if probe.rule.looks else 0)


@dataclass(frozen=True)
class Judged:
    """What the rule found at one end, on `instances` and, where one was run again, on `rerun`."""

    stage: Literal["decision", "maximum"]
    finding: BoundFinding
    instances: tuple[Instance, ...]
    rerun: Instance | None
    points: tuple[Point, ...]
    units: UnitsRecord
    last: bool


def judge_bound(
    search: Search, *, discount: float, to_maximum: bool = False, budget: int | None = None
) -> Generator[Sequence[Job], Results, tuple[Judged, ...]]:
    """Looks at the registered numbers of replicates until the rule stops, then, if asked, goes on to the last look.

    Where the last look decides nothing, the instance with the most evidence, if its mean exceeds its bound, is run
    again on fresh streams, with the same looks. Raises NoAnswer where a unit has none, OutOfBudget where `budget`
    replicates are spent before the rule stops.
    """
    rule = search.rule
    bounds = yield from ask_bounds(search, search.probe.bound)
    drawn: Drawn | None = None
    ends: list[Judged] = []
    for look in rule.looks or (1,):
        if budget is not None and look > budget and not ends:
            raise OutOfBudget
        start = len(drawn.costs[search.cells[0]]) if drawn else 0
        drawn = yield from ask_costs(search, search.cells, start, look, drawn=drawn)
        last = look == search.probe.maximum
        if ends and not last:
            continue
        instances = [drawn.instance(cell, g) for cell, g in bounds.items()]
        finding = bound.evaluate(rule, instances, discount=discount, last=last)
        rerun: Instance | None = None
        if last and not ends and not finding.outcome.decided and rule.looks:
            candidate = candidate_of(rule, instances)
            if candidate is not None:
                cell = search.cells[candidate]
                drawn, rerun = yield from _again(search, cell, bounds[cell], drawn, discount)
                finding = bound.evaluate(rule, instances, discount=discount, last=True, rerun=rerun)
        if finding.stops or last:
            stage: Literal["decision", "maximum"] = "maximum" if ends else "decision"
            points = drawn.points(bounds)
            ends.append(Judged(stage, finding, tuple(instances), rerun, points, drawn.record, last))
            if last or not (to_maximum and finding.outcome.decided):
                break
    return tuple(ends)


def candidate_of(rule: BoundRule, instances: Sequence[Instance]) -> int | None:
    """The place of the instance with the most evidence of an excess, if its mean lies above its bound and varies."""
    logs = bound.instance_log_e(instances, rule.looks[-1:])[:, 0]
    best = int(np.argmax(logs))
    draws = instances[best].draws
    if draws is None or not np.isfinite(logs[best]) or not draws.mean() > float(instances[best].bound):
        return None
    return best


def _again(
    search: Search, cell: Cell, g: Fraction, drawn: Drawn, discount: float
) -> Generator[Sequence[Job], Results, tuple[Drawn, Instance]]:
    """The instance found, on fresh streams: replicates after the last registered one, until they decide or end."""
    rule, maximum = search.rule, search.probe.maximum
    bar = math.log(float(rule.threshold)) - math.log(discount)
    again: Instance | None = None
    for look in rule.looks:
        start = len(drawn.costs[cell])
        drawn = yield from ask_costs(search, [cell], start, maximum + look, drawn=drawn)
        again = drawn.instance(cell, g, first=maximum)
        if look >= rule.minimum_n and bound.instance_log_e([again], [look])[0, 0] >= bar:
            break
    assert again is not None, "a rule with looks has one"
    return drawn, again


def statistics_record(judged: Judged) -> dict[str, Any]:
    """The finding's statistics, E as it was at the stop, and why the run ended."""
    statistics = dataclasses.asdict(judged.finding.statistics)
    stopped = judged.finding.outcome.decided and not judged.last
    for name in ("e_mean", "e_rerun"):
        if statistics[name] is not None and (judged.finding.outcome.decided or judged.last):
            statistics[name]["at_stop"] = statistics[name]["current"]
    bounds = [rational_text(one.bound) for one in judged.instances]  # g of each instance, in the order of the points
    return {**statistics, "bounds": bounds, "stopped_by": "decision" if stopped else "maximum-n"}
