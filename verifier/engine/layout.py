"""The units that a registration gives a probe, in the order in which its rule uses them: what a manifest lists."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from verifier.casefile import Case
from verifier.engine import replication, sweep
from verifier.engine.targets import Targets
from verifier.model.complaints import listed, nearest, shown
from verifier.model.errors import BadInput
from verifier.model.results import UnitsRecord
from verifier.sweeps.jobs import Row, Unit
from verifier.sweeps.probe import SweepProbe
from verifier.sweeps.replication import ReplicationProbe

UnitProbe = SweepProbe | ReplicationProbe
"""A probe that draws units, so that they can be run elsewhere."""


@dataclass(frozen=True)
class Layout:
    """A probe's own units under one registration: those of a sweep's grid, or of a replication's runs."""

    source: sweep.Grid | replication.Runs

    @property
    def probe(self) -> UnitProbe:
        """Whose units they are."""
        return self.source.probe

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms for which the target is called by itself; ("",) where one call gives the replicate."""
        return ("",) if isinstance(self.source, sweep.Grid) else self.source.arms

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Every unit up to the registered maximum: replicate by replicate, the slowest scale or the left arm first."""
        maximum = self.probe.rule.maximum
        if isinstance(self.source, sweep.Grid):
            return tuple(self.source.units(0, maximum))
        return tuple(self.source.unit(replicate, arm) for replicate in range(maximum) for arm in self.arms)

    def count(self, replicates: int) -> int:
        """How many units the first `replicates` replicates have; under stages not each has as many."""
        return bisect.bisect_left(self.units, replicates, key=lambda unit: unit.replicate)

    def complete(self, count: int) -> int:
        """How many replicates are complete in the first `count` units."""
        return self.units[count].replicate if count < len(self.units) else self.probe.rule.maximum

    def arm(self, unit: Unit) -> str:
        """The arm that one of `units` is called for, "" where that is none or both."""
        return str(dict(unit.keywords)["arm"]) if self.arms != ("",) else ""

    def words(self, unit: Unit) -> str:
        """Which unit it is, in words."""
        at = [f"{axis} = {value}" for axis, value in unit.scale]
        arm = [f"{self.arm(unit)} arm"] if self.arm(unit) else []
        return ", ".join([*at, f"replicate {unit.replicate}", *arm])

    def record(self, rows: Iterable[tuple[Unit, Row]]) -> UnitsRecord:
        """What an evidence entry says of units drawn here: their number, and the root over their rows."""
        if isinstance(self.source, sweep.Grid):
            return sweep.Drawn(self.source, {}, tuple(rows)).record
        return replication.Drawn(self.source, (), tuple(rows)).record


def layout_of(case: Case, probe: UnitProbe, targets: Targets) -> Layout:
    """The layout of a probe's own target under the case's registration and settings."""
    if isinstance(probe, SweepProbe):
        grid = sweep.Grid(case.registration, probe, probe.target, probe.target, probe.scales, case.settings, targets)
        return Layout(grid)
    return Layout(replication.Runs(case.registration, probe, probe.target, probe.target, case.settings, targets))


def unit_probes(case: Case, name: str | None = None) -> Sequence[UnitProbe]:
    """The probes whose units can be run elsewhere, in case order, or the one called `name`.

    Raises BadInput where there is none.
    """
    found = [
        probe
        for probe in case.probes
        if isinstance(probe, SweepProbe) or (isinstance(probe, ReplicationProbe) and not probe.file)
    ]
    where = str(case.folder)
    if not found:
        what = "this case has no sweep over scales and no replication with a target, so none of its runs come from elsewhere"
        raise BadInput(what, where=where, mend="run the case here")
    if name is None:
        return found
    names = [probe.name for probe in found]
    if name not in names:
        what = f"this case has no sweep or replication {shown(name)} with a target"
        mend = nearest(name, names, what="probe") if len(names) > 1 else f"it has {listed(names)}"
        raise BadInput(what, where=where, mend=mend)
    return [found[names.index(name)]]
