"""Exact symmetric matrices: definiteness by elimination, a witness where it fails, brackets of λ_max."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from verifier.exact.reading import Matrix, Vector

IntMatrix = list[list[int]]


def as_integers(matrix: Sequence[Sequence[Fraction]]) -> tuple[IntMatrix, int]:
    """A rational matrix as integers over one common denominator."""
    bottom = lcm(*(entry.denominator for row in matrix for entry in row))
    return [[entry.numerator * (bottom // entry.denominator) for entry in row] for row in matrix], bottom


def is_definite(matrix: Sequence[Sequence[int]], *, strict: bool) -> bool:
    """Whether a symmetric integer matrix is positive definite (`strict`) or semidefinite.

    Fraction-free elimination without exchanges (Bareiss 1968); a zero pivot with a zero column is skipped.
    """
    size, before = len(matrix), 1
    rows = [list(row) for row in matrix]
    for k in range(size):
        pivot = rows[k][k]
        if pivot < 0 or (strict and pivot == 0):
            return False
        if pivot == 0:
            if any(rows[i][k] for i in range(k + 1, size)):
                return False
            continue
        for i in range(k + 1, size):
            below, left = rows[i], rows[i][k]
            for j in range(k + 1, i + 1):
                below[j] = rows[j][i] = (pivot * below[j] - left * rows[j][k]) // before
        before = pivot
    return True


def is_symmetric(matrix: Matrix) -> bool:
    """Whether a matrix equals its transpose."""
    return all(len(row) == len(matrix) for row in matrix) and all(
        matrix[i][j] == matrix[j][i] for i in range(len(matrix)) for j in range(i)
    )


def is_semidefinite(matrix: Matrix) -> bool:
    """Whether a rational matrix is symmetric and positive semidefinite."""
    return is_symmetric(matrix) and is_definite(as_integers(matrix)[0], strict=False)


def is_positive(matrix: Matrix) -> bool:
    """Whether a rational matrix is symmetric and positive definite."""
    return is_symmetric(matrix) and is_definite(as_integers(matrix)[0], strict=True)


def negative_direction(matrix: Matrix) -> Vector | None:
    """A vector x with xᵀSx < 0 for a symmetric S that is not semidefinite; None where S ⪰ 0.

    Elimination as a change of basis: the pivot that fails names the vector.
    """
    size = len(matrix)
    rows = [list(row) for row in matrix]
    basis = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    for k in range(size):
        pivot = rows[k][k]
        if pivot < 0:
            return tuple(basis[k])
        for i in range(k + 1, size):
            if pivot == 0 and rows[i][k] != 0:  # (a v_k + v_i) has the value 2a S_ik + S_ii, here -1
                a = -(rows[i][i] + 1) / (2 * rows[i][k])
                return tuple(a * x + y for x, y in zip(basis[k], basis[i], strict=True))
        if pivot == 0:
            continue
        for i in range(k + 1, size):
            factor = rows[i][k] / pivot
            basis[i] = [y - factor * x for x, y in zip(basis[k], basis[i], strict=True)]
            for j in range(k + 1, size):
                rows[i][j] -= factor * rows[k][j]
    return None


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest eigenvalue λ of a symmetric matrix: low ≤ λ ≤ high; `exact` where high = λ."""

    matrix: IntMatrix
    bottom: int
    low: Fraction
    high: Fraction
    exact: bool

    def below(self, rho: Fraction) -> bool:
        """Whether λ < ρ, decided exactly."""
        if rho > self.high:
            return True
        if self.exact or rho <= self.low:
            return False
        return is_definite(_shifted(self.matrix, self.bottom, rho), strict=True)


def _shifted(matrix: IntMatrix, bottom: int, rho: Fraction) -> IntMatrix:
    """A positive multiple of ρI − S."""
    top, scale = rho.numerator * bottom, rho.denominator
    return [[(top if i == j else 0) - scale * entry for j, entry in enumerate(row)] for i, row in enumerate(matrix)]


def largest_eigenvalue(matrix: Matrix, *, bits: int = 64) -> Largest:
    """Brackets λ_max of a symmetric semidefinite matrix; rational values of modest size are found exactly.

    The bracket is `bits` bits narrower than the Gershgorin bound; every end is proved by a definiteness test.
    """
    whole, bottom = as_integers(matrix)
    low = max(matrix[i][i] for i in range(len(matrix)))  # a Rayleigh quotient
    if len(matrix) == 1:
        return Largest(whole, bottom, low, low, exact=True)

    def at_least(rho: Fraction) -> bool:
        return is_definite(_shifted(whole, bottom, rho), strict=False)

    if at_least(low):
        return Largest(whole, bottom, low, low, exact=True)
    high = max(sum(map(abs, row), Fraction(0)) for row in matrix)
    goal = high / 2**bits
    while high - low > goal:
        middle = (low + high) / 2
        low, high = (low, middle) if at_least(middle) else (middle, high)
    guess = simplest_between(low, high)
    if at_least(guess) and not is_definite(_shifted(whole, bottom, guess), strict=True):
        return Largest(whole, bottom, guess, guess, exact=True)
    return Largest(whole, bottom, low, high, exact=False)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The rational with the smallest denominator in [low, high], 0 ≤ low ≤ high (Stern–Brocot)."""
    whole = low.numerator // low.denominator
    if low == whole:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))
