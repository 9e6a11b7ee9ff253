"""Float64 numbers that carry a bound on their own rounding error: running error analysis (Higham 2002, section 3.3).

A formula written once over `Rounded` gives both what float64 computes, operation by operation, and how far that can
lie from the same formula in exact arithmetic. Values are floats or numpy arrays of them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from verifier.exact.reading import Matrix

UNIT = 2.0**-53
"""The unit roundoff u of float64: fl(x op y) = (x op y)(1 + δ), |δ| ≤ u."""
TINY = 5e-324
"""The smallest positive double: what a product that underflows can lose."""
UP = 1.0 + 2.0**-48
"""Covers the rounding of a bound's own few operations, all on numbers ≥ 0."""
LARGEST = sys.float_info.max


class Rounded:
    """A value as float64 computed it and a bound: |value − exact| ≤ bound, entry by entry.

    `value` and `bound` are floats or float64 arrays of one shape; `+ - *` and `/` are the float64 operations.
    """

    __slots__ = ("bound", "value")
    __array_ufunc__ = None  # an array on the left must not take a Rounded apart

    def __init__(self, value: Any, bound: Any = 0.0) -> None:
        self.value, self.bound = value, bound

    def __add__(self, other: Rounded) -> Rounded:
        value = self.value + other.value
        rounds = (self.value != 0.0) & (other.value != 0.0)  # x + 0 is exact
        return Rounded(value, (self.bound + other.bound + UNIT * abs(value) * rounds) * UP)

    def __sub__(self, other: Rounded) -> Rounded:
        return self + -other

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.bound)

    def __mul__(self, other: Rounded) -> Rounded:
        value = self.value * other.value
        rounds = (self.value != 0.0) & (other.value != 0.0)
        own = (UNIT * abs(value) + TINY) * rounds
        carried = abs(self.value) * other.bound + abs(other.value) * self.bound + self.bound * other.bound
        return Rounded(value, (carried + own) * UP)

    def __truediv__(self, other: Rounded) -> Rounded:
        """The quotient by a number, never an array, whose bound keeps it away from 0."""
        value = self.value / other.value
        away = abs(other.value) - other.bound
        carried = (self.bound + abs(value) * other.bound) / away
        return Rounded(value, (carried * UP + (UNIT * abs(value) + TINY) * (self.value != 0.0)) * UP)

    def __rmul__(self, other: float) -> Rounded:
        return Rounded(other) * self

    def __rsub__(self, other: float) -> Rounded:
        return Rounded(other) - self

    def __getitem__(self, key: Any) -> Rounded:
        return Rounded(self.value[key], self.bound[key])

    @property
    def T(self) -> Rounded:  # noqa: N802  # numpy's name
        """The transposed array."""
        return Rounded(self.value.T, self.bound.T)

    def fresh(self) -> Rounded:
        """The same value taken as exact: what is then computed from it bounds the new rounding alone."""
        return Rounded(self.value, self.bound * 0.0)


def nearest_double(x: Fraction) -> float:
    """The double nearest to x, the largest one where x lies beyond."""
    return ratio_double(x.numerator, x.denominator)


def ratio_double(top: int, bottom: int) -> float:
    """The double nearest to top/bottom, the largest one where that lies beyond."""
    try:
        return top / bottom
    except OverflowError:
        return LARGEST if (top > 0) == (bottom > 0) else -LARGEST


def finite(x: float) -> float:
    """X as JSON can hold it: the largest double for an infinity or where float64 computed no number."""
    return max(min(x, LARGEST), -LARGEST) if x == x else LARGEST  # noqa: PLR0124  # NaN differs from itself


def rounded(x: Fraction) -> Rounded:
    """X as float64 reads it; the bound is the exact error of that conversion, rounded up."""
    value = nearest_double(x)
    error = abs(x - Fraction(value))
    return Rounded(value, nearest_double(error) * UP + TINY if error else 0.0)


def total(terms: Sequence[Rounded]) -> Rounded:
    """The sum from left to right; 0 of none."""
    found = Rounded(0.0)
    for term in terms:
        found += term
    return found


class Carried:
    """How errors of single steps add up along z ← M_t z: the sum over s of |M_t ⋯ M_{s+1}| e_s, entry by entry.

    Affine arithmetic (de Figueiredo, Stolfi 2004): one generator an error and entry, so that a rotation's errors add
    and do not multiply, as with |M_t| ⋯ |M_{s+1}|. The oldest generators are merged into their box where many.
    """

    MOST = 2_048

    def __init__(self, errors: Sequence[float]) -> None:
        self._columns: Any = np.diag(np.asarray(errors, dtype=float))

    def advance(self, M: Matrix, errors: Sequence[float]) -> None:
        """One step: what is there goes through M, and the step's own rounding, `errors` ≥ 0, comes on top."""
        matrix = np.array([[nearest_double(x) for x in row] for row in M])
        with np.errstate(all="ignore"):
            own = len(matrix) + 2  # operations a product of doubles can round, and the entries of M themselves
            slack = own * UNIT * UP * (abs(matrix) @ abs(self._columns).sum(axis=1))
            new = np.diag((np.asarray(errors, dtype=float) + slack) * UP)
            columns = np.concatenate([matrix @ self._columns, new], axis=1)
            if columns.shape[1] > self.MOST:
                old = columns[:, : self.MOST // 2]
                columns = np.concatenate([np.diag(abs(old).sum(axis=1) * UP), columns[:, self.MOST // 2 :]], axis=1)
            self._columns = columns

    def bounds(self) -> list[float]:
        """A bound on each entry's error now; the largest double where it has no use any more."""
        with np.errstate(all="ignore"):
            found = abs(self._columns).sum(axis=1) * UP
        return [finite(x) for x in found.tolist()]
