"""Rows of runs made elsewhere, matched to the units that a registration gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from verifier.engine.sweep import Grid
from verifier.ledger.merkle import CompactRange, leaf_hash
from verifier.model.canonical import Json, canonical_bytes, rational_text
from verifier.model.complaints import listed, shown
from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational
from verifier.model.results import UnitsRecord
from verifier.stats.run_csv import INGESTED, KEYS, SUMS, parse_runs
from verifier.stats.run_table import RunTable
from verifier.sweeps.jobs import Row, Unit, sums_of

NEEDS = ("unit", "stream")
MOST_AHEAD = 300
"""Seconds that a start may lie in the future, for clocks that differ."""

_RESERVED = frozenset({*KEYS, "value", *SUMS, *INGESTED, "seed", "scale"})
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FORMULA = ("=", "+", "-", "@")


def axis_column(axis: str) -> str:
    """The column that holds the scale: the axis' own name, or `scale` where that is a column already."""
    return "scale" if axis in _RESERVED else axis


@dataclass(frozen=True, slots=True)
class Measured:
    """One unit as reported: its row as a store of units would hold it, and the file's columns as written.

    `line` is where it stood, `started` the declared second since 1970, None where there is none.
    """

    unit: Unit
    row: Row
    columns: Mapping[str, str]
    line: int
    started: int | None

    @property
    def leaf(self) -> bytes:
        """The leaf of the Merkle tree over what was ingested: every column counts."""
        identity: dict[str, Json] = {
            "unit": self.unit.key,
            "scale": dict(self.unit.scale),
            "replicate": self.unit.replicate,
        }
        return leaf_hash(canonical_bytes({**identity, **self.columns}))


@dataclass(frozen=True, slots=True)
class Missing:
    """A cell that no row fills, and why."""

    unit: Unit
    reason: str


@dataclass(frozen=True)
class Reported:
    """A file's rows by unit, against the units of the registration.

    `units` are the registration's, in manifest order; `measured` maps the keys of those that have numbers to them;
    `empty` those whose cell is empty to the line.
    """

    grid: Grid
    units: tuple[Unit, ...]
    measured: Mapping[str, Measured]
    empty: Mapping[str, int]

    @property
    def rows(self) -> int:
        """How many rows have numbers."""
        return len(self.measured)

    @property
    def prefix(self) -> int:
        """r*: how many replicates, in manifest order, have all their cells before the first that has not."""
        size = len(self.grid.scales)
        absent = next((i for i, unit in enumerate(self.units) if unit.key not in self.measured), len(self.units))
        return absent // size

    def used(self, count: int) -> list[Measured]:
        """The first `count` units in manifest order. They must all be there."""
        return [self.measured[unit.key] for unit in self.units[:count]]

    def record(self, count: int) -> UnitsRecord:
        """Their number, and the Merkle root (RFC 6962) over their rows with every column."""
        tree = CompactRange()
        for one in self.used(count):
            tree.append(one.leaf)
        return UnitsRecord(count, tree.root().hex())

    def missing(self, replicates: int) -> Iterator[Missing]:
        """The cells of the first `replicates` replicates that have no number."""
        for unit in self.units[: replicates * len(self.grid.scales)]:
            if unit.key not in self.measured:
                line = self.empty.get(unit.key)
                yield Missing(unit, "there is no row" if line is None else f"it is empty in line {line}")

    def later(self, replicates: int) -> list[Measured]:
        """What was measured in replicates after the first `replicates`, in manifest order."""
        rest = self.units[replicates * len(self.grid.scales) :]
        return [self.measured[unit.key] for unit in rest if unit.key in self.measured]

    def last_replicate(self) -> int:
        """How many replicates there are up to the last that has a number."""
        return max((one.unit.replicate + 1 for one in self.measured.values()), default=0)


def ingested_key(root: str, unit: Unit) -> str:
    """Where the store keeps a unit's row as reported: never where a unit drawn here is looked for."""
    return f"ingested:{root}:{unit.key}"


def read_reported(content: bytes, *, name: str, grid: Grid) -> Reported:
    """The rows of a CSV under this grid's registration. Nothing in it is evaluated, nothing is imputed.

    Raises BadInput, naming the line, for a table that cannot be read, a row that is no unit of the registration or
    names another unit or stream than the registration gives, a number of repetitions that is not the registered one, a
    time that is none, and a text that a spreadsheet would evaluate.
    """
    axis = axis_column(grid.probe.axis)
    table = parse_runs(content, name=name, axes=[axis], needs=[axis, *NEEDS], ingest=True)
    units = tuple(grid.units(0, grid.probe.rule.maximum))
    for what in ("arm", "item", "team"):
        if getattr(table, f"{what}s") != ("",):
            mend = "leave the column out"
            raise BadInput(f"the probe {grid.probe.name} registers no {what}s", where=f"{name}, {what}", mend=mend)
    if any(unit.arm or getattr(unit, "arms", False) or getattr(unit, "items", False) for unit in units[:1]):
        what = f"the rule {grid.probe.rule.kind} takes arms or items, which this version ingests none of"
        raise BadInput(what, where=name, mend="run the case here")
    by_cell = {(unit.scale[0][1], unit.replicate): unit for unit in units}
    measured: dict[str, Measured] = {}
    empty: dict[str, int] = {}
    for at in range(len(table)):
        where = f"{name}, line {table.line[at]}"
        unit = by_cell.get((int(table.scale[at, 0]), int(table.replicate[at])))
        if unit is None:
            raise _no_unit(table, at, grid, where)
        _check_identity(unit, table, at, where)
        columns = _columns(table, at, where)
        if not table.numbers[at][0]:
            empty[unit.key] = int(table.line[at])
            continue
        row = _row(tuple(table.numbers[at]), grid, where)
        started = _second(columns["started"], f"{where}, started")
        measured[unit.key] = Measured(unit, row, columns, int(table.line[at]), started)
    return Reported(grid, units, measured, empty)


def _no_unit(table: RunTable, at: int, grid: Grid, where: str) -> BadInput:
    scale, replicate = int(table.scale[at, 0]), int(table.replicate[at])
    if scale not in grid.scales:
        what = f"{grid.probe.axis} = {scale} is not a scale of this registration"
        return BadInput(what, where=where, mend=f"its scales are {listed([str(k) for k in grid.scales])}")
    return BadInput(
        f"there is no replicate {replicate} in this registration",
        where=where,
        mend=f"they are numbered from 0 to {grid.probe.rule.maximum - 1}, as in the manifest",
    )


def _check_identity(unit: Unit, table: RunTable, at: int, where: str) -> None:
    """Raises BadInput unless the row names the unit and the stream that the registration gives this cell."""
    for column, expected in (("unit", unit.key), ("stream", f"{unit.stream:032x}")):
        given = table.extras[column][at]
        if given != expected:
            scale = ", ".join(f"{axis} = {value}" for axis, value in unit.scale)
            raise BadInput(
                f"{shown(given)} is not the {column} that this registration gives {scale}, replicate {unit.replicate}",
                where=f"{where}, {column}",
                mend="copy unit, stream and replicate from the manifest of this registration",
            )


def _columns(table: RunTable, at: int, where: str) -> dict[str, str]:
    """The row's columns as written, by name. Raises BadInput for a text that is not what it must be."""
    names = SUMS if table.numbers.shape[1] == len(SUMS) else ("value",)
    found = dict(zip(names, table.numbers[at], strict=True))
    for column in INGESTED:
        text = table.extras[column][at] if column in table.extras else ""
        if text.startswith(_FORMULA):
            what = f"{shown(text)} begins like a formula of a spreadsheet"
            raise BadInput(what, where=f"{where}, {column}", mend="begin with a letter or a digit")
        if column == "log_sha256" and text and not _SHA256.fullmatch(text):
            mend = "write its 64 hexadecimal digits in small letters, or leave the cell empty"
            raise BadInput(f"{shown(text)} is no SHA-256", where=f"{where}, {column}", mend=mend)
        found[column] = text
    return found


def _row(numbers: Sequence[str], grid: Grid, where: str) -> Row:
    """The row that a worker would have written, without the hash over values that nobody sent."""
    rule = grid.probe.rule
    if len(numbers) == 1:
        return stored(numbers, n=rule.replicate_size)
    n = int(numbers[0])
    if rule.replicate and n != rule.replicate_size:
        registered = ", ".join(f"{name} = {size}" for name, size in rule.replicate.items())
        what = f"{n} repetitions make this replicate, where {registered} is registered"
        raise BadInput(what, where=f"{where}, n", mend="run each unit as it is registered")
    return stored(numbers, n=n)


def number_columns(columns: Mapping[str, Any]) -> list[str]:
    """The numbers of a row's columns as written: the mean alone, or n, sum and sum of squares."""
    return [columns[name] for name in (("value",) if "value" in columns else SUMS)]


def stored(numbers: Sequence[str], *, n: int) -> Row:
    """The row of `number_columns`; a mean alone is one of `n` repetitions."""
    if len(numbers) == 1:
        mean = number(numbers[0])
        total, squares = mean * n, mean * mean * n
    else:
        n, total, squares = int(numbers[0]), number(numbers[1]), number(numbers[2])
    kind = "float" if any(map(_is_decimal, numbers)) else "integer"
    return {
        "values": kind,
        "n": n,
        "sum": rational_text(total),
        "sum_sq": rational_text(squares),
        "values_sha256": "",
    }


def _is_decimal(text: str) -> bool:
    return "/" not in text and not text.lstrip("+-").isdecimal()


def number(text: str) -> Fraction:
    """A whole number or p/q exactly; a decimal as the double nearest to it, which is what a unit of floats holds."""
    exact = parse_rational(text)
    return Fraction(float(exact)) if _is_decimal(text) else exact


def same_unit(reported: Measured, drawn: Row) -> bool:
    """Whether a unit run here gave what was reported: n, sum and sum of squares, or the double nearest to the mean."""
    return same_numbers(reported.row, drawn, means="value" in reported.columns)


def same_numbers(one: Row, other: Row, *, means: bool) -> bool:
    """Whether two rows hold the same n, sum and sum of squares; with `means` the same double as mean."""
    first, second = sums_of(one), sums_of(other)
    if means:
        return float(first.mean) == float(second.mean)
    return (first.n, first.total, first.total_of_squares) == (second.n, second.total, second.total_of_squares)


def _second(text: str, where: str) -> int | None:
    """A declared start in whole seconds since 1970, None for an empty cell. Raises BadInput for anything else."""
    if not text:
        return None
    mend = "write it like 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00"
    if not _TIME.fullmatch(text):
        raise BadInput(f"{shown(text)} is no time with its offset from UTC", where=where, mend=mend)
    try:
        return int(datetime.fromisoformat(text.upper()).timestamp() // 1)
    except (ValueError, OverflowError):
        raise BadInput(f"{shown(text)} is no time", where=where, mend=mend) from None


def check_not_ahead(rows: Sequence[Measured], *, now: int, name: str) -> None:
    """Raises BadInput for a start more than 5 minutes after `now`, in seconds since 1970."""
    ahead = [one for one in rows if one.started is not None and one.started > now + MOST_AHEAD]
    if ahead:
        first = min(ahead, key=lambda one: one.line)
        raise BadInput(
            f"it started on {shown(first.columns['started'])}, which lies in the future",
            where=f"{name}, line {first.line}, started",
            mend="mend the clock that wrote it",
        )


def is_retrospective(rows: Sequence[Measured], registered: int) -> bool:
    """Whether a row does not say when it started, or started before the registration (seconds since 1970)."""
    return any(one.started is None or one.started < registered for one in rows)


def missing_document(cells: Sequence[Missing]) -> list[Any]:
    """Cells without numbers, as JSON values."""
    return [{"at": dict(cell.unit.scale), "replicate": cell.unit.replicate, "reason": cell.reason} for cell in cells]
