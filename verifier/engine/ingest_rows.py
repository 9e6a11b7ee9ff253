"""Units measured elsewhere, against those that a registration gives: which are there, which are not, what counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verifier.engine.ingest_cells import Cell, same_numbers
from verifier.engine.layout import Layout
from verifier.ledger.merkle import CompactRange, leaf_hash
from verifier.model.canonical import Json, canonical_bytes
from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.results import UnitsRecord
from verifier.sweeps.jobs import Row, Unit

MOST_AHEAD = 300
"""Seconds that a start may lie in the future, for clocks that differ."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One unit as reported: its row as a store of units would hold it, and the file's columns as written.

    `cells` are its lines in the order of arms and items, one where the unit has neither, and `lines` where they stood.
    `starts` are the declared seconds since 1970, None where a line declares none.
    """

    unit: Unit
    row: Row
    cells: tuple[Cell, ...]
    lines: tuple[int, ...]
    starts: tuple[int | None, ...]

    @property
    def started(self) -> int | None:
        """The earliest start, None where a line declares none."""
        known = [start for start in self.starts if start is not None]
        return min(known) if len(known) == len(self.starts) else None

    @property
    def line(self) -> int:
        """The first of its lines."""
        return min(self.lines)

    @property
    def means(self) -> bool:
        """Whether means alone were sent."""
        return "value" in self.cells[0]

    @property
    def kept(self) -> Row:
        """What is stored and hashed of it: every column counts."""
        return dict(self.cells[0]) if len(self.cells) == 1 else {"cells": [dict(cell) for cell in self.cells]}

    @property
    def leaf(self) -> bytes:
        """The leaf of the Merkle tree over what was ingested."""
        identity: dict[str, Json] = {
            "unit": self.unit.key,
            "scale": dict(self.unit.scale),
            "replicate": self.unit.replicate,
        }
        return leaf_hash(canonical_bytes({**identity, **self.kept}))


def kept_cells(kept: Row) -> list[Cell]:
    """The lines that `Measured.kept` holds."""
    return list(kept["cells"]) if "cells" in kept else [kept]


@dataclass(frozen=True, slots=True)
class Missing:
    """A unit without all its numbers: its arm, "" where it has none of its own, which it is in words, and why."""

    unit: Unit
    arm: str
    words: str
    reason: str


@dataclass(frozen=True)
class Reported:
    """A file's lines by unit, against the units of the registration.

    `measured` maps the keys of the units that have all their numbers to them; `gaps` those that have lines, and lack a
    number, to what they lack.
    """

    layout: Layout
    measured: Mapping[str, Measured]
    gaps: Mapping[str, str]

    @property
    def units(self) -> tuple[Unit, ...]:
        """The registration's, in manifest order."""
        return self.layout.units

    @property
    def rows(self) -> int:
        """How many units have numbers."""
        return len(self.measured)

    @property
    def prefix(self) -> int:
        """r*: how many replicates, in manifest order, have all their cells before the first that has not."""
        absent = next((i for i, unit in enumerate(self.units) if unit.key not in self.measured), len(self.units))
        return self.layout.complete(absent)

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
        """The units of the first `replicates` replicates that lack a number."""
        for unit in self.units[: self.layout.count(replicates)]:
            if unit.key not in self.measured:
                reason = self.gaps.get(unit.key, "there is no row")
                yield Missing(unit, self.layout.arm(unit), self.layout.words(unit), reason)

    def later(self, replicates: int) -> list[Measured]:
        """What was measured in replicates after the first `replicates`, in manifest order."""
        rest = self.units[self.layout.count(replicates) :]
        return [self.measured[unit.key] for unit in rest if unit.key in self.measured]

    def last_replicate(self) -> int:
        """How many replicates there are up to the last that has a number."""
        return max((one.unit.replicate + 1 for one in self.measured.values()), default=0)


def ingested_key(root: str, unit: Unit) -> str:
    """Where the store keeps a unit's row as reported: never where a unit drawn here is looked for."""
    return f"ingested:{root}:{unit.key}"


def same_unit(reported: Measured, drawn: Row) -> bool:
    """Whether a unit run here gave what was reported: n, sum and sum of squares, or the double nearest to the mean."""
    return same_numbers(reported.row, drawn, means=reported.means)


def check_not_ahead(rows: Sequence[Measured], *, now: int, name: str) -> None:
    """Raises BadInput for a start more than 5 minutes after `now`, in seconds since 1970."""
    ahead = [
        (line, cell["started"])
        for one in rows
        for line, cell, started in zip(one.lines, one.cells, one.starts, strict=True)
        if started is not None and started > now + MOST_AHEAD
    ]
    if ahead:
        line, text = min(ahead)
        raise BadInput(
            f"it started on {shown(text)}, which lies in the future",
            where=f"{name}, line {line}, started",
            mend="mend the clock that wrote it",
        )


def is_retrospective(rows: Sequence[Measured], registered: int) -> bool:
    """Whether a row does not say when it started, or started before the registration (seconds since 1970)."""
    return any(one.started is None or one.started < registered for one in rows)


def missing_document(cells: Sequence[Missing]) -> list[Any]:
    """Units without numbers, as JSON values."""
    return [{**unit_document(cell.unit, cell.arm), "reason": cell.reason} for cell in cells]


def unit_document(unit: Unit, arm: str) -> dict[str, Any]:
    """Which unit it is, as JSON values; its arm where the target is called for one."""
    return {"at": dict(unit.scale), "replicate": unit.replicate, **({"arm": arm} if arm else {})}
