"""A replication and its rule as a sequential procedure: draw up to a look, judge, stop or go on."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeVar

import numpy as np

from verifier.engine.sweep import NoAnswer, OutOfBudget, Results, as_double
from verifier.engine.targets import Targets
from verifier.engine.units import units_record
from verifier.model.case import Value
from verifier.model.errors import BadInput
from verifier.model.results import UnitsRecord
from verifier.stats.growth_statistics import EValue
from verifier.stats.laws import Floats
from verifier.stats.margin_answers import MarginAnswer
from verifier.stats.margin_kinds import evaluate_margin
from verifier.stats.margin_statistics import MarginFinding
from verifier.stats.run_arms import impossible_line, read_arm_runs
from verifier.stats.run_table import RunTable
from verifier.sweeps.jobs import ARMS, Failure, Job, Row, Sums, Unit, ValueCall, arms_of, value_of
from verifier.sweeps.replication import ReplicationProbe

Replicate = Mapping[str, Sums]
"""One replicate: arm -> what it returned, or "" -> that where there are no arms."""

MOST_LOOKS_KEPT = 200
"""Looks whose E-values are recorded one by one; of more, as many, evenly spread."""


@dataclass(frozen=True)
class Runs:
    """The replicates of one target of a probe.

    `stream_target` is the target whose streams are drawn. `settings` are the parameters' values.
    """

    registration: str
    probe: ReplicationProbe
    target: str
    stream_target: str
    settings: Mapping[str, Value]
    targets: Targets

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms for which the target is called by itself; ("",) where one call gives the replicate."""
        names = self.targets.names[self.target]
        by_arm = self.probe.arms and ("arm" in names or (self.probe.separate and "**" in names))
        return ARMS if by_arm else ("",)

    def unit(self, replicate: int, arm: str) -> Unit:
        """The unit of one replicate and arm; replicates count from 0. Paired arms share a stream."""
        keywords = self.targets.keywords(self.target, self.settings, self.probe.replicate)
        return Unit(
            registration=self.registration,
            probe=self.probe.name,
            target=self.target,
            stream_target=self.stream_target,
            scale=(),
            replicate=replicate,
            keywords=tuple(sorted((*keywords, ("arm", arm)))) if arm else keywords,
            arm=arm if self.probe.separate else "",
            arms=self.probe.arms and not arm,
            items=self.probe.items,
        )

    def value(self, target: str) -> ValueCall:
        """The exact value of `target` under these settings."""
        return ValueCall(self.registration, target, (), self.targets.keywords(target, self.settings))


@dataclass(frozen=True)
class Drawn:
    """Every replicate drawn so far, with the rows as stored."""

    runs: Runs
    replicates: tuple[Replicate, ...]
    rows: tuple[tuple[Unit, Row], ...]

    @property
    def record(self) -> UnitsRecord:
        """Their number, and the Merkle root (RFC 6962) over their canonical rows in unit order."""
        return units_record(
            {"unit": unit.key, "arm": dict(unit.keywords).get("arm", ""), "replicate": unit.replicate, **row}
            for unit, row in self.rows
        )

    def arrays(self) -> tuple[Floats, Floats | None]:
        """Left and right as the rule takes them: (n,), or (n, items). Exact means before they become doubles.

        Raises NoAnswer where the replicates are not of one form.
        """
        target, forms = self.runs.target, {tuple(sorted(replicate)) for replicate in self.replicates}
        if len(forms) > 1:
            raise NoAnswer(Failure(f"{target} returned two arms in one replicate and one array in another"))
        (names,) = forms
        arms = [self._arm(name) for name in names]
        if self.runs.probe.items and len({arm.shape for arm in arms}) > 1:
            raise NoAnswer(Failure(f"{target} returned arms with different numbers of items"))
        return arms[0], arms[1] if len(arms) > 1 else None

    def _arm(self, name: str) -> Floats:
        cells = [replicate[name] for replicate in self.replicates]
        if not self.runs.probe.items:
            return np.array([as_double(cell.mean) for cell in cells])
        sizes = {cell.n for cell in cells}
        if len(sizes) > 1:
            raise NoAnswer(
                Failure(f"{self.runs.target} returned {min(sizes)} items in one replicate and {max(sizes)} in another")
            )
        return np.array([cell.items for cell in cells], dtype=float)


def ask_replicates(runs: Runs, stop: int, *, drawn: Drawn | None = None) -> Generator[Sequence[Job], Results, Drawn]:
    """Draws replicates up to `stop`, continuing `drawn`. Raises NoAnswer where a unit has none."""
    start = len(drawn.replicates) if drawn else 0
    units = [[runs.unit(replicate, arm) for arm in runs.arms] for replicate in range(start, stop)]
    results = yield [unit for one in units for unit in one]
    replicates: list[Replicate] = []
    rows: list[tuple[Unit, Row]] = []
    for one in units:
        cells: dict[str, Sums] = {}
        for arm, unit in zip(runs.arms, one, strict=True):
            row = _row(results, unit)
            rows.append((unit, row))
            cells |= {arm: arms_of(row)[""]} if arm else arms_of(row)
        _require_size(runs, cells)
        replicates.append(cells)
    before = drawn or Drawn(runs, (), ())
    return Drawn(runs, (*before.replicates, *replicates), (*before.rows, *rows))


def _require_size(runs: Runs, cells: Replicate) -> None:
    """Raises NoAnswer where a replicate holds another number of values than it is registered with."""
    probe = runs.probe
    wanted = 1 if not probe.arms else probe.replicate_size if probe.replicate else None
    for cell in cells.values():
        if wanted is not None and cell.n != wanted:
            size = ", ".join(f"{name} = {count}" for name, count in probe.replicate.items())
            what = f"{size} is registered" if probe.arms else f"a {probe.rule.kind} takes one outcome a replicate"
            raise NoAnswer(Failure(f"{runs.target} returned {cell.n} values, where {what}"))


def ask_value(runs: Runs, target: str) -> Generator[Sequence[Job], Results, Fraction]:
    """The exact value of `target`. Raises NoAnswer where it has none."""
    call = runs.value(target)
    results = yield [call]
    return value_of(_row(results, call))


def _row(results: Results, job: Job) -> Row:
    for result in results.values():
        if isinstance(result, Failure):
            raise NoAnswer(result)
    row = results[job.key]
    assert not isinstance(row, Failure), "failures were raised before"
    return row


def most_jobs(probe: ReplicationProbe) -> int:
    """The most jobs that `judge_runs` asks for."""
    return probe.rule.maximum * (2 if probe.separate else 1)


@dataclass(frozen=True)
class Judged:
    """What the rule found at one end, with the statistics as they are recorded: E at each look, and each arm's mean."""

    stage: Literal["decision", "maximum"]
    finding: MarginFinding
    statistics: Mapping[str, Any]
    units: UnitsRecord


def judge_runs(
    runs: Runs, *, discount: float, to_maximum: bool = False, budget: int | None = None
) -> Generator[Sequence[Job], Results, tuple[Judged, ...]]:
    """Looks at the registered numbers of replicates until the rule stops, then, if asked, goes on to the last look.

    Raises NoAnswer where a unit has none, OutOfBudget where `budget` replicates are spent before the rule stops.
    """
    rule = runs.probe.rule
    drawn: Drawn | None = None
    ends: list[Judged] = []
    path: list[dict[str, Any]] = []
    for look in rule.looks:
        if budget is not None and look > budget and not ends:
            raise OutOfBudget
        drawn = yield from ask_replicates(runs, look, drawn=drawn)
        last = look == rule.maximum
        stopped_at = ends[0].finding.statistics.n if ends else None
        left, right = drawn.arrays()
        try:
            finding = evaluate_margin(rule, left, right, discount=discount, last=last, stopped_at=stopped_at)
        except BadInput as error:
            raise NoAnswer(Failure(f"{runs.target}: {error.what}")) from error
        path.append(look_record(finding))
        if last or (finding.stops and not ends):
            stage: Literal["decision", "maximum"] = "maximum" if ends else "decision"
            ends.append(Judged(stage, finding, statistics_record(runs.probe, finding, path, left, right), drawn.record))
            if last or not (to_maximum and finding.outcome.decided):
                break
    return tuple(ends)


def judge_file(probe: ReplicationProbe, content: bytes, *, name: str, discount: float) -> Judged:
    """The rule applied to a file of runs made elsewhere, at the last look that they reach.

    Raises BadInput where the rule cannot be applied to them.
    """
    rule = probe.rule
    runs = read_arm_runs(rule, content, name=name)
    reached = [look for look in rule.looks if look <= runs.n]
    n = reached[-1] if reached else runs.n
    try:
        path = [
            look_record(evaluate_margin(rule, *runs.first(look), discount=discount, last=False))
            for look in _spread(reached[:-1])
        ]
        finding = evaluate_margin(rule, *runs.first(n), discount=discount, last=True)
    except BadInput as error:
        raise BadInput(error.what, where=name, mend=error.mend) from error
    line = impossible_line(rule, runs.table) if finding.answer == MarginAnswer.MALFORMED else None
    if line is not None:
        finding = dataclasses.replace(finding, summary=f"{finding.summary} ({name}, line {line})")
    statistics = statistics_record(probe, finding, [*path, look_record(finding)], *runs.first(n))
    counts = {"rows": len(runs.table), "missing": runs.table.missing, "unused": runs.unused(n)}
    statistics["reported"] = {**statistics["reported"], "file": counts}
    return Judged("decision", finding, statistics, _file_record(runs.table))


def _file_record(table: RunTable) -> UnitsRecord:
    """The number of rows, and the Merkle root over them in the order of their keys, numbers as written."""
    return units_record(
        {
            "arm": table.arms[table.arm[row]],
            "replicate": str(table.replicate[row]),
            "item": table.items[table.item[row]],
            "numbers": list(table.numbers[row]),
        }
        for row in range(len(table))
    )


def look_record(finding: MarginFinding) -> dict[str, Any]:
    """n, and both sides' E at this look, undiscounted; None where there is none."""
    statistics = finding.statistics

    def current(process: EValue | None) -> float | None:
        return None if process is None else process.current

    return {
        "n": statistics.n,
        "below_claim": current(statistics.e_below_claim),
        "above_alleged": current(statistics.e_above_alleged),
    }


def statistics_record(
    probe: ReplicationProbe,
    finding: MarginFinding,
    path: Sequence[Mapping[str, Any]],
    left: Floats,
    right: Floats | None,
) -> dict[str, Any]:
    """The finding's statistics with E at the looks, what either arm gave, and the paper's number."""
    statistics = dataclasses.asdict(finding.statistics)
    arms = {"values": left} if right is None else {"left": left, "right": right}
    reported = {**statistics["reported"], "arms": {name: _mean(values) for name, values in arms.items()}}
    if probe.reported:
        reported["paper"] = probe.reported
    return {**statistics, "reported": reported, "looks": _spread(path)}


def _mean(values: Floats) -> dict[str, Any]:
    """Mean over replicates (of items first) with its fixed-n standard error, None where one replicate has none."""
    each = values if values.ndim == 1 else values.mean(axis=1)
    n = len(each)
    return {
        "mean": float(each.mean()) if n else None,
        "stderr": float(each.std(ddof=1)) / math.sqrt(n) if n > 1 else None,
        "n": n,
    }


T = TypeVar("T")


def _spread(looks: Sequence[T]) -> list[T]:
    """At most 200 of them, evenly spread, the last among them."""
    step = math.ceil(len(looks) / MOST_LOOKS_KEPT) or 1
    return [look for index, look in enumerate(looks) if (len(looks) - 1 - index) % step == 0]
