"""Exact linear algebra over the rationals: products, solutions, null spaces."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verifier.exact.reading import Matrix, Vector

ZERO = Fraction(0)


def dot(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    """⟨x, y⟩."""
    return sum((a * b for a, b in zip(x, y, strict=True)), ZERO)


def apply(matrix: Matrix, x: Vector) -> Vector:
    """Mx."""
    return tuple(dot(row, x) for row in matrix)


def transposed(matrix: Matrix) -> Matrix:
    """Mᵀ."""
    return tuple(zip(*matrix, strict=True))


def product(left: Matrix, right: Matrix) -> Matrix:
    """The matrix product."""
    columns = transposed(right)
    return tuple(tuple(dot(row, column) for column in columns) for row in left)


def plus(x: Vector, y: Vector) -> Vector:
    """The sum of two vectors."""
    return tuple(a + b for a, b in zip(x, y, strict=True))


def minus(x: Vector, y: Vector) -> Vector:
    """The difference x − y."""
    return tuple(a - b for a, b in zip(x, y, strict=True))


def subtracted(left: Matrix, right: Matrix) -> Matrix:
    """The difference of two matrices."""
    return tuple(minus(x, y) for x, y in zip(left, right, strict=True))


def unit(size: int, index: int) -> Vector:
    """The unit vector e_index."""
    return tuple(Fraction(int(i == index)) for i in range(size))


def identity(size: int) -> Matrix:
    """The unit matrix."""
    return tuple(unit(size, i) for i in range(size))


def quadratic(matrix: Matrix, x: Vector) -> Fraction:
    """xᵀSx."""
    return dot(x, apply(matrix, x))


def echelon(matrix: Sequence[Sequence[Fraction]], columns: int) -> tuple[list[list[Fraction]], list[int]]:
    """The reduced row echelon form over the first `columns` columns, and its pivot columns."""
    rows = [list(row) for row in matrix]
    pivots: list[int] = []
    for column in range(columns):
        top = len(pivots)
        found = next((i for i in range(top, len(rows)) if rows[i][column]), None)
        if found is None:
            continue
        rows[top], rows[found] = rows[found], rows[top]
        scale = rows[top][column]
        rows[top] = [x / scale if x else x for x in rows[top]]
        for i, row in enumerate(rows):
            factor = row[column]
            if i != top and factor:
                rows[i] = [x - factor * y if y else x for x, y in zip(row, rows[top], strict=True)]
        pivots.append(column)
    return rows, pivots


def solve(matrix: Matrix, right: Vector) -> Vector | None:
    """One solution x of Mx = right (free entries 0), or None where there is none."""
    size = len(matrix[0])
    rows, pivots = echelon([(*row, b) for row, b in zip(matrix, right, strict=True)], size)
    if any(row[size] for row in rows[len(pivots) :]):
        return None
    found = [ZERO] * size
    for row, column in zip(rows, pivots, strict=False):
        found[column] = row[size]
    return tuple(found)


def null_space(matrix: Matrix) -> list[Vector]:
    """A basis of {x : Mx = 0}."""
    size = len(matrix[0])
    rows, pivots = echelon(matrix, size)
    basis = []
    for free in (column for column in range(size) if column not in pivots):
        vector = [ZERO] * size
        vector[free] = Fraction(1)
        for row, column in zip(rows, pivots, strict=False):
            vector[column] = -row[free]
        basis.append(tuple(vector))
    return basis


def rank(matrix: Matrix) -> int:
    """The rank."""
    return len(echelon(matrix, len(matrix[0]))[1])
