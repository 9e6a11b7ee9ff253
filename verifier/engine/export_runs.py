"""The units that a registration drew, as the table that `ingest` reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from verifier.casefile import Case
from verifier.engine.ingest_rows import ingested_key, kept_cells
from verifier.engine.ingest_split import axis_column
from verifier.engine.layout import Layout, UnitProbe, layout_of, unit_probes
from verifier.engine.manifest import registered
from verifier.engine.targets import Targets
from verifier.ledger import Entry, Ledger
from verifier.model.errors import BadInput, InfrastructureFailed, TamperingDetected
from verifier.model.numbers import parse_rational
from verifier.stats.run_csv import INGESTED, SUMS
from verifier.sweeps.jobs import Inspection, Row
from verifier.sweeps.probe import SweepProbe
from verifier.sweeps.replication import ReplicationProbe
from verifier.sweeps.store import UnitStore

Line = Mapping[str, str]
"""A line of the table, by column."""


class ExportedProbe(NamedTuple):
    """How much of a probe was written: its rows, its units, and how many of these an evidence entry vouches for.

    `ingested`: they are rows from elsewhere, as last ingested, none of them drawn here.
    """

    probe: str
    rows: int
    units: int
    vouched: int
    ingested: bool


class ExportedRuns(NamedTuple):
    """A table as bytes, and what it holds of each probe."""

    table: bytes
    probes: tuple[ExportedProbe, ...]

    @property
    def name(self) -> str:
        """What the file is called after: its probe, or `runs` of several."""
        return self.probes[0].probe if len(self.probes) == 1 else "runs"


def export_runs(case: Case, *, probe_name: str | None, ledger: Ledger, store: UnitStore) -> ExportedRuns:
    """The units of the case's probes, or of one, under its registration: those drawn here, else those last ingested.

    A control may draw units of the probe's own target, so stored units alone, beside evidence on rows from elsewhere,
    are no run of the probe: then the rows from elsewhere are written. A replicate of a replication that has no unit
    before others that have is written with an empty number.

    `started` of a unit drawn here is the registration's time: the engine keeps no other, and none started before.
    Raises BadInput where there is no registration or no unit, InfrastructureFailed where the store lacks units that
    the ledger recorded, TamperingDetected where they are not those.
    """
    probes = unit_probes(case, probe_name)
    time = registered(case, ledger).entry.time
    found = [_exported(case, probe, time, ledger=ledger, store=store) for probe in probes]
    written = [(probe, *one) for probe, one in zip(probes, found, strict=True) if one is not None]
    if not written:
        raise BadInput(
            "no unit of this registration is kept beside this ledger",
            where=str(case.folder),
            mend="run or ingest the case with this ledger first",
        )
    columns = _columns([probe for probe, _, _ in written], [line for _, lines, _ in written for line in lines])
    table = _table(columns, [line for _, lines, _ in written for line in lines])
    return ExportedRuns(table, tuple(exported for _, _, exported in written))


def is_earlier_export(before: bytes, table: bytes) -> bool:
    """Whether each line of `before` stands in `table` too, under one header, so that replacing it loses none."""
    lines, now = before.splitlines(), table.splitlines()
    return bool(lines) and lines[0] == now[0] and set(lines) <= set(now)


def _exported(
    case: Case, probe: UnitProbe, time: str, *, ledger: Ledger, store: UnitStore
) -> tuple[list[Line], ExportedProbe] | None:
    """One probe's lines and what they are, None where none is kept. time: of the registration."""
    inspection = Inspection(case.code_sha256, probe.target).key
    names = store.get([inspection]).get(inspection)
    if names is None:
        return None
    layout = layout_of(case, probe, Targets({probe.target: frozenset(names["names"])}, {}))
    rows = store.get(unit.key for unit in layout.units)
    entries = [
        entry
        for entry in ledger.entries("evidence", registration=case.registration)
        if entry.content.get("probe") == probe.name and "units" in entry.content
    ]
    here = [entry for entry in entries if "ingested" not in entry.content]
    ingested = bool(entries) and not here
    if ingested:
        root = entries[-1].content["ingested"]["root"]
        rows = {key.rpartition(":")[2]: row for key, row in _ingested(root, layout, store).items()}
        vouched = len(rows)
    else:
        vouched = max((_vouched(entry, layout, rows) for entry in here), default=0)
    if not rows:
        return None
    lines = list(_lines(layout, rows, None if ingested else time))
    full = sum(1 for line in lines if line.get("value") or line.get("n"))
    return lines, ExportedProbe(probe.name, full, len(rows), vouched, ingested)


def _vouched(entry: Entry, layout: Layout, rows: Mapping[str, Row]) -> int:
    """How many units the entry recorded, the same ones as in the store."""
    recorded: Mapping[str, Any] = entry.content["units"]
    first = layout.units[: recorded["count"]]
    absent = sum(unit.key not in rows for unit in first)
    where = f"probe {layout.probe.name}"
    if absent:
        raise InfrastructureFailed(
            f"the store of units lacks {absent} of the {len(first)} units that entry {entry.n} recorded",
            where=where,
            mend="run the case again: the same units are drawn",
        )
    if layout.record((unit, rows[unit.key]) for unit in first).root != recorded["root"]:
        raise TamperingDetected(
            f"the stored units are not those that entry {entry.n} recorded",
            where=where,
            mend="move the store of units away, so that they are drawn again, and look what changed it",
        )
    return len(first)


def _ingested(root: str, layout: Layout, store: UnitStore) -> Mapping[str, Row]:
    """The rows of the table last ingested, by the key they are stored under."""
    return store.get(ingested_key(root, unit) for unit in layout.units)


def _lines(layout: Layout, rows: Mapping[str, Row], time: str | None) -> Iterator[Line]:
    """The table's lines in manifest order. time: of the registration; None where rows are lines that were ingested."""
    last = max((unit.replicate for unit in layout.units if unit.key in rows), default=-1)
    replication = isinstance(layout.probe, ReplicationProbe)
    empty: Sequence[Line] = ()
    if replication:
        any_row = next(rows[unit.key] for unit in layout.units if unit.key in rows)
        cells = list(_cells(any_row) if time is not None else kept_cells(any_row))
        empty = [_emptied(cells[0])]
    for unit in layout.units:
        row = rows.get(unit.key)
        if row is None:
            cells_of: Sequence[Line] = empty if unit.replicate < last else ()
        else:
            cells_of = list(_cells(row)) if time is not None else kept_cells(row)
        arm = {"arm": layout.arm(unit)} if layout.arm(unit) else {}
        more = {"unit": unit.key, "stream": f"{unit.stream:032x}", "replicate": str(unit.replicate), **arm}
        more |= {axis_column(axis): str(value) for axis, value in unit.scale}
        started = {"started": time} if time is not None and row is not None else {}
        yield from ({**cell, **more, **started} for cell in cells_of)


def _emptied(cell: Line) -> Line:
    """A line of the same columns without its numbers and what is said of the run."""
    return {name: text if name in ("arm", "item") else "" for name, text in cell.items() if name != "team"}


def _cells(row: Row) -> Iterator[Line]:
    """The lines of a unit drawn here: one for each arm, and for each item where they are kept."""
    for arm, sums in row.get("arms", {"": row}).items():
        label = {"arm": arm} if arm else {}
        if "items" in sums:
            yield from ({**label, "item": str(at), "value": text} for at, text in enumerate(sums["items"]))
        else:
            numbers = (str(sums["n"]), *(_number(sums[name], sums["values"]) for name in SUMS[1:]))
            yield {**label, **dict(zip(SUMS, numbers, strict=True))}


def _number(text: str, kind: str) -> str:
    """A stored number as a table writes it: whole numbers as they are, a double as its shortest decimal."""
    written = repr(float(Fraction(text))) if kind == "float" else text
    try:
        parse_rational(written)
    except BadInput as error:
        raise BadInput(
            f"a unit's sum cannot stand in a table: {error.what}", mend="ingest the values' means instead"
        ) from error
    return written


def _columns(probes: Sequence[UnitProbe], lines: Sequence[Line]) -> list[str]:
    """The header: scales, labels, numbers, then what `ingest` adds; of the first three those that some line has."""
    named = {name for line in lines for name in line}
    axes = dict.fromkeys(axis_column(probe.axis) for probe in probes if isinstance(probe, SweepProbe))
    labels = [name for name in ("arm", "replicate", "item", "team") if name in named]
    return [*axes, *labels, *(name for name in ("value", *SUMS) if name in named), *INGESTED]


def _table(columns: Sequence[str], lines: Sequence[Line]) -> bytes:
    text = io.StringIO(newline="")
    rows = ([line.get(name, "") for name in columns] for line in lines)
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue().encode()
