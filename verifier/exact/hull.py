"""Whether the origin lies in the convex hull of rational points: weights that prove it, or a vector that separates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from verifier.exact.reading import Vector

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Hull:
    """Exactly one of: `weights` w ≥ 0, Σw = 1, Σ w_i x_i = 0; `separator` u with ⟨u, x_i⟩ > 0 for every i."""

    weights: Vector | None
    separator: Vector | None


def origin_in_hull(points: Sequence[Sequence[Fraction]]) -> Hull:
    """Decides 0 ∈ hull(points) by the simplex method over the rationals (phase one, Bland's rule, so it ends)."""
    if len(points[0]) == 1:
        return _on_a_line([point[0] for point in points])
    count, rows = len(points), len(points[0]) + 1
    # columns: the points with a 1 below (Σw = 1), then one artificial a row; the right-hand side is e_rows
    table = [
        [*(point[r] if r < rows - 1 else ONE for point in points), *(ONE if r == i else ZERO for i in range(rows))]
        for r in range(rows)
    ]
    right = [ZERO] * (rows - 1) + [ONE]
    basis = list(range(count, count + rows))
    # reduced costs of "minimise the sum of artificials": those of the artificials start at 0
    costs = [-sum((row[k] for row in table), ZERO) for k in range(count)] + [ZERO] * rows
    value = ONE
    while value > 0:
        entering = next((k for k in range(count) if costs[k] < 0), None)
        if entering is None:
            # y = 1 - (reduced cost of the artificials) is dual feasible: yᵀ(x_k, 1) ≤ 0 and y_last = value > 0
            dual = [ONE - costs[count + i] for i in range(rows)]
            return Hull(None, tuple(-y for y in dual[:-1]))
        ratios = [(right[i] / table[i][entering], basis[i], i) for i in range(rows) if table[i][entering] > 0]
        _, _, leaving = min(ratios)
        _pivot(table, right, leaving, entering)
        factor = costs[entering]
        value += factor * right[leaving]
        costs = [c - factor * x for c, x in zip(costs, table[leaving], strict=True)]
        basis[leaving] = entering
    weights = [ZERO] * count
    for i, column in enumerate(basis):
        if column < count:
            weights[column] = right[i]
    return Hull(tuple(weights), None)


def _pivot(table: list[list[Fraction]], right: list[Fraction], row: int, column: int) -> None:
    scale = table[row][column]
    table[row] = [x / scale if x else x for x in table[row]]
    right[row] /= scale
    line = table[row]
    for i, other in enumerate(table):
        factor = other[column]
        if i != row and factor:
            table[i] = [x - factor * y if y else x for x, y in zip(other, line, strict=True)]
            right[i] -= factor * right[row]


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
