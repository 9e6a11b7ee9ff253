"""The table of numbers: each point as a row of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifier.model.results import Point
from verifier.report.text import decimal


@dataclass(frozen=True, slots=True)
class Row:
    """A point as shown: `gap` is its distance from the exact value in standard errors, "" where one is missing."""

    scale: str
    estimate: str
    stderr: str
    exact: str
    gap: str
    n: str


@dataclass(frozen=True, slots=True)
class NumberTable:
    """Columns, the first of them words, and rows of as many texts; "" where there is no number."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def number_table(points: Sequence[Point], axis: str) -> NumberTable:
    """The points along `axis`: estimate and error, and, where one has an exact value, that and the gap to it."""
    found = rows(points, axis)
    exact = any(row.exact for row in found)
    beside = ("exact", "gap (standard errors)") if exact else ()
    cells = [(row.scale, row.estimate, row.stderr, *((row.exact, row.gap) if exact else ()), row.n) for row in found]
    return NumberTable((axis, "estimate", "standard error", *beside, "replicates"), tuple(cells))


def rows(points: Sequence[Point], axis: str) -> list[Row]:
    """The rows of `points` along `axis`."""
    return [_row(point, axis) for point in points]


def _row(point: Point, axis: str) -> Row:
    exact = None if point.exact is None else float(point.exact)
    gap = ""
    if exact is not None and point.stderr:
        gap = f"{(point.estimate - exact) / point.stderr:+.1f}"
    elif exact is not None and point.estimate == exact:
        gap = "equal"
    return Row(
        scale=f"{point.at[axis]:,}" if axis in point.at else "",
        estimate=decimal(point.estimate, 4),
        stderr="" if point.stderr is None else decimal(point.stderr, 4),
        exact="" if exact is None else decimal(exact, 4),
        gap=gap,
        n=f"{point.n:,}",
    )
