"""The units that a registration drew, as the table that `ingest` reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from verifier.casefile import Case
from verifier.engine.ingest_rows import axis_column, ingested_key
from verifier.engine.manifest import grid_of, registered, sweep_of
from verifier.engine.register import Registration
from verifier.engine.sweep import Drawn, Grid
from verifier.engine.targets import Targets
from verifier.ledger import Entry, Ledger
from verifier.model.errors import BadInput, InfrastructureFailed, TamperingDetected
from verifier.model.numbers import parse_rational
from verifier.stats.run_csv import INGESTED, SUMS
from verifier.sweeps.jobs import Inspection, Row, Unit
from verifier.sweeps.store import UnitStore


class ExportedRuns(NamedTuple):
    """A table as bytes, of which probe, its rows, and how many of them an evidence entry vouches for.

    `ingested`: they are rows from elsewhere, as last ingested, none of them drawn here.
    """

    probe: str
    table: bytes
    rows: int
    vouched: int
    ingested: bool


def export_runs(case: Case, *, probe_name: str | None, ledger: Ledger, store: UnitStore) -> ExportedRuns:
    """The units of one sweep under the case's registration: those drawn here, else those last ingested.

    A control may draw units of the probe's own target, so stored units alone, beside evidence on rows from elsewhere,
    are no run of the probe: then the rows from elsewhere are written.

    `started` of a unit drawn here is the registration's time: the engine keeps no other, and none started before.
    Raises BadInput where there is no registration or no unit, InfrastructureFailed where the store lacks units that
    the ledger recorded, TamperingDetected where they are not those.
    """
    probe = sweep_of(case, probe_name)
    registration = registered(case, ledger)
    inspection = Inspection(case.code_sha256, probe.target).key
    names = store.get([inspection]).get(inspection)
    if names is None:
        raise _nothing(case)
    grid = grid_of(case, probe, Targets({probe.target: frozenset(names["names"])}, {}))
    units = grid.units(0, probe.rule.maximum)
    rows = store.get(unit.key for unit in units)
    entries = [
        entry
        for entry in ledger.entries("evidence", registration=case.registration)
        if entry.content["probe"] == probe.name and "units" in entry.content
    ]
    here = [entry for entry in entries if "ingested" not in entry.content]
    ingested = bool(entries) and not here
    if ingested:
        header, lines = _ingested(case, entries, units, store)
        vouched = len(lines)
    elif rows or here:
        vouched = max((_vouched(entry, grid, units, rows) for entry in here), default=0)
        header, lines = _drawn(registration, units, rows)
    else:
        raise _nothing(case)
    columns = [axis_column(probe.axis), "replicate", *header, *INGESTED]
    return ExportedRuns(probe.name, _table(columns, lines), len(lines), vouched, ingested)


def _nothing(case: Case) -> BadInput:
    return BadInput(
        "no unit of this registration is kept beside this ledger",
        where=str(case.folder),
        mend="run or ingest the case with this ledger first",
    )


def _vouched(entry: Entry, grid: Grid, units: Sequence[Unit], rows: Mapping[str, Row]) -> int:
    """How many units the entry recorded, the same ones as in the store."""
    recorded: Mapping[str, Any] = entry.content["units"]
    first = units[: recorded["count"]]
    absent = sum(unit.key not in rows for unit in first)
    if absent:
        raise InfrastructureFailed(
            f"the store of units lacks {absent} of the {len(first)} units that entry {entry.n} recorded",
            where=f"probe {grid.probe.name}",
            mend="run the case again: the same units are drawn",
        )
    if Drawn(grid, {}, tuple((unit, rows[unit.key]) for unit in first)).record.root != recorded["root"]:
        raise TamperingDetected(
            f"the stored units are not those that entry {entry.n} recorded",
            where=f"probe {grid.probe.name}",
            mend="move the store of units away, so that they are drawn again, and look what changed it",
        )
    return len(first)


def _drawn(
    registration: Registration, units: Sequence[Unit], rows: Mapping[str, Row]
) -> tuple[Sequence[str], list[list[str]]]:
    lines = []
    for unit in units:
        if unit.key in rows:
            row = rows[unit.key]
            numbers = [str(row["n"]), *(_number(row["sum"], row["values"]), _number(row["sum_sq"], row["values"]))]
            lines.append(_line(unit, numbers, ["", "", registration.entry.time, ""]))
    return SUMS, lines


def _ingested(
    case: Case, entries: Sequence[Entry], units: Sequence[Unit], store: UnitStore
) -> tuple[Sequence[str], list[list[str]]]:
    """The rows last ingested, as they came."""
    root = entries[-1].content["ingested"]["root"]
    keys = {unit.key: ingested_key(root, unit) for unit in units}
    rows = store.get(keys.values())
    found = [(unit, rows[keys[unit.key]]) for unit in units if keys[unit.key] in rows]
    if not found:
        raise _nothing(case)
    numbers = ("value",) if "value" in found[0][1] else SUMS
    rest = INGESTED[2:]
    return numbers, [_line(unit, [row[c] for c in numbers], [row[c] for c in rest]) for unit, row in found]


def _line(unit: Unit, numbers: Sequence[str], rest: Sequence[str]) -> list[str]:
    """A row: scale, replicate, numbers, unit, stream, then job, hardware, started, log_sha256."""
    return [str(unit.scale[0][1]), str(unit.replicate), *numbers, unit.key, f"{unit.stream:032x}", *rest]


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


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([header, *lines])
    return text.getvalue().encode()
