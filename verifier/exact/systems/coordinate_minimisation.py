"""Cyclic exact minimisation by coordinates of ½xᵀAx + Σ (max(|x_i| − 1, 0))² (Powell 1973)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verifier.exact.answer import Hypothesis
from verifier.exact.definite import is_symmetric
from verifier.exact.linear import apply, identity
from verifier.exact.piecewise.maps import Branch, Guard, Map
from verifier.exact.reading import Matrix, Reader, Vector
from verifier.exact.systems.base import System

ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class CoordinateMinimisation:
    """The matrix A: symmetric with zero diagonal."""

    A: Matrix


def read(reader: Reader) -> CoordinateMinimisation:
    """The parameters. Raises BadInput."""
    matrix = reader.fields(("A",))["A"].matrix()
    if len(matrix) != len(matrix[0]):
        raise reader.child("A").error("the matrix is not square", mend="give as many columns as rows")
    return CoordinateMinimisation(matrix)


def derive(data: CoordinateMinimisation) -> Map:
    """One phase a coordinate: x_p ← ±1 + σ/2 with σ = −(row p of A)·x, by the sign of σ."""
    size = len(data.A)
    phases = []
    for p, row in enumerate(data.A):
        sigma = tuple(-x for x in row)
        M = tuple(tuple(s / 2 for s in sigma) if i == p else line for i, line in enumerate(identity(size)))
        branches = []
        for sign in (1, -1):
            guard = Guard(tuple(sign * s for s in sigma), ZERO, strict=True)
            c = tuple(Fraction(sign * int(i == p)) for i in range(size))
            branches.append(Branch((guard,), M, c))
        phases.append(tuple(branches))
    return tuple(phases)


def hypotheses(data: CoordinateMinimisation) -> tuple[Hypothesis, ...]:
    """A is symmetric and its diagonal is 0."""
    diagonal = [str(row[i]) for i, row in enumerate(data.A)]
    zero = all(row[i] == 0 for i, row in enumerate(data.A))
    return (
        Hypothesis("A is symmetric", holds=is_symmetric(data.A), witness={}, sentence="entry by entry"),
        Hypothesis("the diagonal of A is 0", holds=zero, witness={"diagonal": diagonal}, sentence="entry by entry"),
    )


def gradient(data: CoordinateMinimisation, x: Vector) -> Vector:
    """∇f(x)_i = (Ax)_i + 2 sign(x_i) max(|x_i| − 1, 0)."""
    pull = (2 * max(abs(a) - 1, ZERO) * (1 if a > 0 else -1) for a in x)
    return tuple(a + b for a, b in zip(apply(data.A, x), pull, strict=True))


def solves(data: CoordinateMinimisation, x: Vector) -> bool:
    """Whether x is stationary."""
    return not any(gradient(data, x))


SYSTEM = System(
    "coordinate-minimisation",
    read,
    derive,
    hypotheses,
    solves=solves,
    gradient=gradient,
    kind="coordinate-minimisation",
)
