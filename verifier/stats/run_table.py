"""Results of runs as a table: one row a cell (scale, arm, replicate, item, team), and the arrays that rules take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from verifier.model.complaints import listed, nearest, shown
from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Texts: TypeAlias = npt.NDArray[np.object_]

ARMS = ("left", "right")
MOST_CELLS = 20_000_000
"""Cells of a grid, present or missing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RunTable:
    """Rows sorted by (scale, arm, replicate, item, team), so that the order in a file changes nothing; each once.

    axes: names of the scale's axes, () where the table has no scale. scale: int64 (rows, axes). arm, item, team: int64
    (rows,), indices into `arms`, `items`, `teams`, the labels in sorted order, ("",) where there is no such column.
    replicate: int64 (rows,). value: float64 (rows,), the double nearest to the exact number, NaN where the cell is
    missing; of the mean where the row holds n, sum and sum_sq. n: int64 (rows,), inner repetitions, 1 for a value and
    0 for a missing cell. numbers: (rows, 1) or (rows, 3), the numbers as written. line: int64 (rows,), where the row
    stood, 0 for rows from no file. extras: further columns as written, each (rows,).
    """

    axes: tuple[str, ...]
    scale: Ints
    arm: Ints
    replicate: Ints
    item: Ints
    team: Ints
    value: Floats
    n: Ints
    numbers: Texts
    line: Ints
    arms: tuple[str, ...] = ("",)
    items: tuple[str, ...] = ("",)
    teams: tuple[str, ...] = ("",)
    extras: Mapping[str, Texts] = field(default_factory=lambda: MappingProxyType({}))

    def __len__(self) -> int:
        """Rows, missing cells among them."""
        return len(self.value)

    @property
    def present(self) -> Bools:
        """Which rows have a number, bool (rows,)."""
        return ~np.isnan(self.value)

    @property
    def missing(self) -> int:
        """How many rows have none."""
        return int(np.isnan(self.value).sum())

    @cached_property
    def exact(self) -> tuple[Fraction | None, ...]:
        """The value of each row exactly, None where it is missing; the mean where the row holds n, sum and sum_sq."""
        known: dict[tuple[str, ...], Fraction] = {}
        for numbers in map(tuple, self.numbers):
            if numbers[0] and numbers not in known:
                known[numbers] = _exactly(numbers)
        return tuple(known.get(numbers) for numbers in map(tuple, self.numbers))

    @cached_property
    def value_codes(self) -> Ints:
        """A whole number for each row's exact value, equal where the values are, −1 where missing; int64 (rows,).

        Exact arithmetic only where different texts have the same double.
        """
        codes = np.full(len(self), -1, np.int64)
        known: dict[tuple[str, ...], int] = {}
        first: dict[float, tuple[str, ...]] = {}
        exact: dict[float, dict[Fraction, int]] = {}
        for row, (value, numbers) in enumerate(zip(self.value.tolist(), map(tuple, self.numbers), strict=True)):
            if not numbers[0]:
                continue
            if numbers not in known:
                other = first.setdefault(value, numbers)
                if other is numbers:
                    known[numbers] = row
                else:
                    alike = exact.setdefault(value, {_exactly(other): known[other]})
                    known[numbers] = alike.setdefault(_exactly(numbers), row)
            codes[row] = known[numbers]
        return codes

    def rows(self, which: Bools | Ints) -> RunTable:
        """The rows of a mask or of indices, labels kept."""
        part: dict[str, Any] = {
            column.name: getattr(self, column.name)[which]
            for column in fields(self)
            if isinstance(getattr(self, column.name), np.ndarray)
        }
        return replace(self, **part, extras=MappingProxyType({name: x[which] for name, x in self.extras.items()}))

    def view(
        self,
        *,
        scale: Sequence[int] | int | None = None,
        arm: str | None = None,
        item: str | None = None,
        team: str | None = None,
    ) -> RunTable:
        """The rows at one scale (a number, or one for each axis), arm, item and team; None leaves that open.

        Raises BadInput for a label that the table does not hold, and a scale with the wrong number of axes.
        """
        keep = np.ones(len(self), bool)
        if scale is not None:
            at = (scale,) if isinstance(scale, int) else tuple(scale)
            if len(at) != len(self.axes):
                raise BadInput(
                    f"{len(at)} numbers name no scale on {len(self.axes)} axes", mend="give one for each axis"
                )
            keep &= (self.scale == np.array(at, np.int64)).all(axis=1)
        for label, codes, labels, what in (
            (arm, self.arm, self.arms, "arm"),
            (item, self.item, self.items, "item"),
            (team, self.team, self.teams, "team"),
        ):
            if label is None:
                continue
            if label not in labels:
                raise BadInput(f"the table has no {what} {shown(label)}", mend=nearest(label, [x for x in labels if x]))
            keep &= codes == labels.index(label)
        return self.rows(keep)

    def grid(self) -> Grid:
        """The rows of one team as arrays over arm, scale, replicate and item.

        Raises BadInput where rows of several teams are left, and for a grid of more than 20 million cells.
        """
        used = np.unique(self.team)
        if len(used) > 1:
            raise BadInput(
                f"the rows are of {len(used)} teams: {listed([shown(self.teams[i]) for i in used[:5]])}",
                mend="take one team at a time; a team is the unit, not its seeds",
            )
        scales, scale = np.unique(self.scale, axis=0, return_inverse=True)
        replicates, replicate = np.unique(self.replicate, return_inverse=True)
        arms, arm = np.unique(self.arm, return_inverse=True)
        items, item = np.unique(self.item, return_inverse=True)
        shape = (len(arms), len(scales), len(replicates), len(items))
        if int(np.prod([float(size) for size in shape])) > MOST_CELLS:
            raise BadInput(
                f"{shape[0]} arms, {shape[1]} scales, {shape[2]} replicates and {shape[3]} items make more than "
                f"{MOST_CELLS} cells, most of them missing",
                mend="number the replicates alike at every scale, from 0 or 1",
            )
        place = (arm.ravel(), scale.ravel(), replicate.ravel(), item.ravel())
        values, counts = np.full(shape, np.nan), np.zeros(shape, np.int64)
        values[place], counts[place] = self.value, self.n
        return Grid(
            axes=self.axes,
            arms=tuple(self.arms[i] for i in arms),
            scales=scales,
            replicates=replicates,
            items=tuple(self.items[i] for i in items),
            values=values,
            n=counts,
        )


def _exactly(numbers: tuple[str, ...]) -> Fraction:
    """The value that a row's numbers, (value) or (n, sum, sum_sq), are."""
    return parse_rational(numbers[0]) if len(numbers) == 1 else parse_rational(numbers[1]) / int(numbers[0])


@dataclass(frozen=True, kw_only=True, eq=False)
class Grid:
    """One team's cells. Every axis is sorted; nothing is imputed.

    scales: int64 (m, axes). replicates: int64 (r,). values: float64 (arms, m, r, items), NaN where a cell is missing.
    n: int64 of the same shape, inner repetitions, 0 where missing.
    """

    axes: tuple[str, ...]
    arms: tuple[str, ...]
    scales: Ints
    replicates: Ints
    items: tuple[str, ...]
    values: Floats
    n: Ints

    @property
    def present(self) -> Bools:
        """Which cells have a number, bool (arms, m, r, items)."""
        return ~np.isnan(self.values)

    @property
    def complete(self) -> Bools:
        """The replicates all of whose cells are present, bool (r,)."""
        return np.asarray(self.present.all(axis=(0, 1, 3)))

    @property
    def prefix(self) -> int:
        """How many replicates, in order, are complete before the first that is not."""
        complete = self.complete
        return len(complete) if complete.all() else int(np.argmin(complete))

    def arm(self, name: str) -> Floats:
        """The cells of one arm, float64 (m, r, items). Raises BadInput for an arm that is not there."""
        if name not in self.arms:
            raise BadInput(f"there is no arm {shown(name)}", mend=nearest(name, [arm for arm in self.arms if arm]))
        return np.asarray(self.values[self.arms.index(name)])
