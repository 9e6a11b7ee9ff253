"""From a table of runs to the arrays that a rule takes: which replicates count, and where the first cell is missing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.stats.run_table import Floats, Grid, RunTable


@dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """One team's numbers as a rule takes them; row or column r is the r-th replicate in order.

    left: float64, (scales, n) for growth and rate, (n,) or (n, items) for arms and differences, (n,) for outcomes.
    right: as `left`, None where there are no arms. n: replicates that count, up to the first with a missing cell.
    listed: replicates in the table. gap: where the first missing cell is, as a clause; "" where none is missing.
    """

    left: Floats
    right: Floats | None = None
    n: int
    listed: int
    gap: str = ""
    scales: tuple[int, ...] = ()
    axis: str = ""


def sample(table: RunTable, *, kind: str, noise: str, name: str) -> Sample:
    """The sample of the rule `kind` under its noise model, from the rows of one team.

    Nothing is imputed: replicates after the first that is not complete are listed and do not count. name: what errors
    call the file. Raises BadInput for columns that the rule has no use for, an arm that is missing, several scales
    where the rule takes one, an outcome that is neither 0 nor 1.
    """
    if not len(table):
        raise BadInput("there is no row", where=name, mend="give a row for each run")
    if kind in {"growth", "rate"}:
        return _sweep(table, pooled=noise == "pooled", name=name, kind=kind)
    scales = len(np.unique(table.scale, axis=0))
    if table.axes and scales > 1:
        at = f"{table.axes[0]}={table.scale[0, 0]}"
        raise BadInput(
            f"the rule {kind} is about one scale, and there are {scales}", where=name, mend=f"choose one, as --at {at}"
        )
    if kind in {"proportion", "count"}:
        return _outcomes(table, kind=kind, name=name)
    return _arms(table, paired=noise == "paired", kind=kind, name=name)


def refuse_impossible(table: RunTable, bounds: tuple[Fraction, Fraction] | None, *, name: str) -> None:
    """Nothing, unless a value lies outside the bounds of the metric; a table without arms holds differences.

    Raises BadInput at the first line with such a value, wherever it stands: either it or the bounds are wrong.
    """
    if bounds is None:
        return
    low, high = (float(bound) for bound in bounds)
    what = "value"
    if table.arms == ("",):
        low, high, what = low - high, high - low, "difference"
    outside = np.flatnonzero((table.value < low) | (table.value > high))
    if not outside.size:
        return
    row = int(outside[np.argmin(table.line[outside])])
    said = shown(table.numbers[row][0]) if len(table.numbers[row]) == 1 else f"the mean {table.value[row]:g}"
    raise BadInput(
        f"the {what} {said} is not within what the bounds allow, {low:g} to {high:g}",
        where=f"{name}, line {table.line[row]}",
        mend="correct the value, or give the bounds of the metric",
    )


def _refuse_columns(table: RunTable, *columns: str, kind: str, name: str) -> None:
    for column in columns:
        if getattr(table, f"{column}s") != ("",):
            raise BadInput(
                f"the rule {kind} has no use for the column {column}",
                where=f"{name}, line 1",
                mend="give one value a replicate, and leave the column out",
            )


def _sweep(table: RunTable, *, pooled: bool, kind: str, name: str) -> Sample:
    _refuse_columns(table, "arm", "item", kind=kind, name=name)
    if not table.axes:
        mend = f"add a column with the scale of each row, named {'k' if kind == 'growth' else 't'} or as --axis says"
        raise BadInput(f"the rule {kind} needs a scale, and no column holds one", where=f"{name}, line 1", mend=mend)
    axis = table.axes[0]
    if not pooled:
        grid = table.grid()
        values = grid.values[0, :, :, 0]
        scales = tuple(int(k) for k in grid.scales[:, 0])
        gap = _gap(grid, axis=axis)
        return Sample(
            left=values[:, : grid.prefix], n=grid.prefix, listed=values.shape[1], gap=gap, scales=scales, axis=axis
        )
    scales = tuple(int(k) for k in np.unique(table.scale[:, 0]))
    grids = [table.view(scale=k).grid() for k in scales]
    n = min(grid.prefix for grid in grids)
    gap = next((_gap(grid, axis=axis) for grid in grids if _gap(grid, axis=axis)), "")
    return Sample(
        left=np.stack([grid.values[0, 0, :n, 0] for grid in grids]),
        n=n,
        listed=max(len(grid.replicates) for grid in grids),
        gap=gap,
        scales=scales,
        axis=axis,
    )


def _arms(table: RunTable, *, paired: bool, kind: str, name: str) -> Sample:
    if table.arms == ("",):
        if kind == "ratio":
            raise BadInput(
                "the rule ratio needs both arms", where=f"{name}, line 1", mend="add a column arm, left or right"
            )
        grid = table.grid()
        return Sample(
            left=_plain(grid.values[0, 0, : grid.prefix]), n=grid.prefix, listed=len(grid.replicates), gap=_gap(grid)
        )
    used = {table.arms[i] for i in np.unique(table.arm)}
    if used != {"left", "right"}:
        missing = "right" if "left" in used else "left"
        raise BadInput(f"there is no row of the arm {missing}", where=name, mend="give both arms")
    if paired:
        grid = table.grid()
        n = grid.prefix
        return Sample(
            left=_plain(grid.arm("left")[0, :n]),
            right=_plain(grid.arm("right")[0, :n]),
            n=n,
            listed=len(grid.replicates),
            gap=_gap(grid),
        )
    left, right = (table.view(arm=arm).grid() for arm in ("left", "right"))
    if left.items != right.items:
        raise BadInput("the two arms do not have the same items", where=name, mend="give every item in both arms")
    first, second = (grid.values[0, 0, : grid.prefix] for grid in (left, right))
    return Sample(
        left=_plain(first),
        right=_plain(second),
        n=min(len(first), len(second)),
        listed=max(len(left.replicates), len(right.replicates)),
        gap=_gap(left) or _gap(right),
    )


def _outcomes(table: RunTable, *, kind: str, name: str) -> Sample:
    _refuse_columns(table, "arm", kind=kind, name=name)
    values = table.value[np.lexsort((table.item, table.replicate))]
    lines = table.line[np.lexsort((table.item, table.replicate))]
    wrong = ~((values == 0) | (values == 1) | np.isnan(values))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[np.argmin(lines[wrong])])
        raise BadInput(
            f"{values[row]:g} is neither success nor failure",
            where=f"{name}, line {lines[row]}, value",
            mend="write 1 for a success and 0 for a failure",
        )
    absent = np.flatnonzero(np.isnan(values))
    n = int(absent[0]) if absent.size else len(values)
    gap = f"line {lines[n]} has no value" if absent.size else ""
    return Sample(left=values[:n], n=n, listed=len(values), gap=gap)


def _plain(values: Floats) -> Floats:
    """(n,) where there is one item, else (n, items)."""
    return values[:, 0] if values.shape[1] == 1 else values


def _gap(grid: Grid, *, axis: str = "") -> str:
    """The first replicate that is not complete, and a cell it lacks; "" where all are complete."""
    n = grid.prefix
    if n == len(grid.replicates):
        return ""
    arm, scale, item = (int(i[0]) for i in np.nonzero(~grid.present[:, :, n, :]))
    cell = [
        f"{axis} = {grid.scales[scale, 0]}" if axis else "",
        f"arm {grid.arms[arm]}" if grid.arms[arm] else "",
        f"item {item + 1} of {len(grid.items)}" if grid.items != ("",) else "",
    ]
    where = ", ".join(filter(None, cell))
    return f"replicate {grid.replicates[n]} has no value{' at ' if where else ''}{where}"
