"""Reads the table of `stats test`: which column holds the scale, which further ones are declared."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verifier.model.complaints import shown
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from verifier.cli.stats_options import GivenRule
    from verifier.stats.run_table import RunTable

AXES = ("scale", "k", "t")
"""Columns that hold the scale where --axis names none."""


def read_table(
    data: Path, given: GivenRule, *, axis: str | None, at: str | None, declared: Sequence[str] = ()
) -> tuple[RunTable, bool]:
    """The table, and whether its file calls replicates seeds.

    axis, at: as the options say. declared: further columns of texts, which must be there. Raises BadInput for a table
    that cannot be read, a column whose name has a meaning of its own, a scale that it does not hold.
    """
    from verifier.stats.run_csv import ALIASES, KEYS, SUMS, read_runs

    header = _header(data)
    for column in declared:
        if column in {*KEYS, *ALIASES, *SUMS, "value", axis} or declared.count(column) > 1:
            what = f"the column {shown(column)} has a meaning of its own, or is named twice"
            raise BadInput(
                what, where="--covariate" if given.kind != "bound" else "--bound", mend="name another column"
            )
    if axis is not None:
        if axis in {*KEYS, *ALIASES, *SUMS, "value"}:
            raise BadInput(f"the column {axis} has a meaning of its own", where="--axis", mend="rename the column")
        axes: tuple[str, ...] = (axis,)
    else:
        axes = tuple(name for name in AXES if name in header and name not in declared)[:1] or (
            AXES[1 if given.kind == "growth" else 2],
        )
        others = [name for name in header if name not in {*KEYS, *ALIASES, *SUMS, "value", *axes, *declared}]
        if given.kind in {"growth", "rate"} and axes[0] not in header and len(others) == 1:
            where, mend = f"{data}, line 1", f"say --axis {shlex.quote(others[0])}, if it is {shown(others[0])}"
            raise BadInput(f"no column is known to hold the scale of the rule {given.kind}", where=where, mend=mend)
    table = read_runs(data, axes=axes, declared=declared)
    if at is not None:
        number = at.rpartition("=")[2]
        if not table.axes or not (number.isascii() and number.isdecimal() and len(number) <= 16):
            mend = "write it like 64" if table.axes else "leave it out: no column holds a scale"
            raise BadInput(f"{shown(at)} is no scale of the table", where="--at", mend=mend)
        table = table.view(scale=int(number))
        if not len(table):
            raise BadInput(f"no row is at scale {number}", where="--at", mend="name a scale of the table")
    return table, "seed" in header


def _header(data: Path) -> list[str]:
    """The names in the first line, without judging them; [] where it cannot be read."""
    try:
        with data.open("rb") as file:
            first = file.readline(8_192)
    except OSError:
        return []
    return [word.strip().strip('"') for word in first.decode("utf-8-sig", errors="replace").split(",")]
