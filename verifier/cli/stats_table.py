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
    from verifier.stats.run_csv import ALIASES, KEYS, SUMS

    header = _header(data)
    for column in declared:
        if column in {*KEYS, *ALIASES, *SUMS, "value", axis} or declared.count(column) > 1:
            what = f"the column {shown(column)} has a meaning of its own, or is named twice"
            raise BadInput(
                what, where="--covariate" if given.kind != "bound" else "--bound", mend="name another column"
            )
    if axis is not None:
        if axis in {*KEYS, *ALIASES, *SUMS, "value"}:
            number = ", the number of repetitions" if axis == "n" else ""
            what = f"the column {axis} has a meaning of its own{number}"
            mend = "call it size in the table and say --axis size" if axis == "n" else "rename the column"
            raise BadInput(what, where="--axis", mend=mend)
        axes: tuple[str, ...] = (axis,)
    else:
        axes = tuple(name for name in AXES if name in header and name not in declared)[:1] or (
            AXES[1 if given.kind == "growth" else 2],
        )
        others = [name for name in header if name not in {*KEYS, *ALIASES, *SUMS, "value", *axes, *declared}]
        if given.kind in {"growth", "rate"} and axes[0] not in header and len(others) == 1:
            where, mend = f"{data}, line 1", f"say --axis {shlex.quote(others[0])}, if it is {shown(others[0])}"
            raise BadInput(f"no column is known to hold the scale of the rule {given.kind}", where=where, mend=mend)
    table = _read(data, given, axes=axes, declared=declared, header=header)
    return (table if at is None else _at_scale(table, at)), "seed" in header


def _read(
    data: Path, given: GivenRule, *, axes: Sequence[str], declared: Sequence[str], header: Sequence[str]
) -> RunTable:
    """The table; where it has an unknown column, the error names the options that could say what it holds."""
    from verifier.stats.run_csv import ALIASES, INGESTED, KEYS, SUMS, read_runs

    known = {*KEYS, *ALIASES, *SUMS, "value", *axes, *declared}
    unknown = next((name for name in header if name not in known), "")
    try:
        return read_runs(data, axes=axes, declared=declared)
    except BadInput as error:
        if error.what != f"unknown column {shown(unknown)}" or unknown in INGESTED:
            raise
        bound, name = given.kind == "bound", shlex.quote(unknown)
        holds = (
            f"--bound {name} if it holds each instance's bound" if bound else f"--covariate {name} if it is of teams"
        )
        raise BadInput(
            error.what, where=error.where, mend=f"{error.mend}; or say {holds}, --axis {name} if it holds the scale"
        ) from None


def _at_scale(table: RunTable, at: str) -> RunTable:
    """The rows of one scale, given as `64` or `k=64`. Raises BadInput where the table does not hold it."""
    name, _, number = at.rpartition("=")
    like = f"{table.axes[0]}={table.scale[0, 0]}" if table.axes and len(table) else "64"
    digits = number.isascii() and number.isdecimal() and len(number) <= 16
    if not table.axes or not digits or name not in {"", *table.axes}:
        mend = f"write it like {like}" if table.axes else "leave it out: no column holds a scale"
        raise BadInput(f"{shown(at)} is no scale of the table", where="--at", mend=mend)
    chosen = table.view(scale=int(number))
    if not len(chosen):
        raise BadInput(f"no row is at scale {number}", where="--at", mend="name a scale of the table")
    return chosen


def _header(data: Path) -> list[str]:
    """The names in the first line, without judging them; [] where it cannot be read."""
    try:
        with data.open("rb") as file:
            first = file.readline(8_192)
    except OSError:
        return []
    return [word.strip().strip('"') for word in first.decode("utf-8-sig", errors="replace").split(",")]
