"""Whether the origin lies in the convex hull of rational points: weights that prove it, or a vector that separates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from verifier.exact.reading import Vector

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Hull:
    """Exactly one of: `weights` w ≥ 0, Σw = 1, Σ w_i x_i = 0; `separator` u with ⟨u, x_i⟩ > 0 for every i."""

    weights: Vector | None
    separator: Vector | None


def origin_in_hull(points: Sequence[Sequence[Fraction]], *, tick: Callable[[], None] | None = None) -> Hull:
    """Decides 0 ∈ hull(points) by the simplex method in integers (phase one, Bland's rule, so it ends).

    The pivots are fraction-free (Edmonds 1967): every entry of the table is an integer over the last pivot.
    `tick` is called before each pivot.
    """
    if len(points[0]) == 1:
        return _on_a_line([point[0] for point in points])
    count, rows = len(points), len(points[0]) + 1
    scales = [lcm(*(x.denominator for x in point)) for point in points]
    columns = [
        [*(x.numerator * (scale // x.denominator) for x in point), scale]
        for point, scale in zip(points, scales, strict=True)
    ]
    # columns: the scaled points with a 1 below (Σw = 1), one artificial a row, the right-hand side e_rows
    table = [
        [*(column[r] for column in columns), *(int(r == i) for i in range(rows)), int(r == rows - 1)]
        for r in range(rows)
    ]
    # the last row: reduced costs of "minimise the sum of artificials", those of the artificials 0, and minus that sum
    table.append([*(-sum(column) for column in columns), *([0] * rows), -1])
    basis = list(range(count, count + rows))
    over = 1
    costs = table[rows]
    while costs[-1] < 0:
        if tick is not None:
            tick()
        entering = next((k for k in range(count) if costs[k] < 0), None)
        if entering is None:
            # y = 1 − (reduced cost of the artificials) is dual feasible: yᵀ(x_k, 1) ≤ 0 and y_last > 0
            return Hull(None, tuple(Fraction(c, over) - 1 for c in costs[count : count + rows - 1]))
        ratios = [
            (Fraction(table[i][-1], table[i][entering]), basis[i], i) for i in range(rows) if table[i][entering] > 0
        ]
        _, _, leaving = min(ratios)
        over = _pivot(table, leaving, entering, over)
        costs = table[rows]
        basis[leaving] = entering
    weights = [ZERO] * count
    for i, k in enumerate(basis):
        if k < count:
            weights[k] = Fraction(table[i][-1] * scales[k], over)
    return Hull(tuple(weights), None)


def _pivot(table: list[list[int]], row: int, column: int, over: int) -> int:
    """Makes `column` a unit column in place; returns the new common denominator."""
    line = table[row]
    pivot = line[column]
    for i, other in enumerate(table):
        factor = other[column]
        if i == row:
            continue
        if factor:
            table[i] = [(pivot * x - factor * y) // over for x, y in zip(other, line, strict=True)]
        elif pivot != over:
            table[i] = [pivot * x // over for x in other]
    return pivot


def _on_a_line(points: list[Fraction]) -> Hull:
    low, high = min(points), max(points)
    if low > 0 or high < 0:
        return Hull(None, (ONE if low > 0 else -ONE,))
    weights = [ZERO] * len(points)
    if low == high:
        weights[0] = ONE
    else:
        weights[points.index(low)] = high / (high - low)
        weights[points.index(high)] = -low / (high - low)
    return Hull(tuple(weights), None)
