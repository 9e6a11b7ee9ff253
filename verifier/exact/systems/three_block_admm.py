"""Three-block ADMM on a_1x_1 + a_2x_2 + a_3x_3 = 0 (Chen, He, Ye, Yuan 2016): a linear iteration in (x_2, x_3, λ)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verifier.exact.answer import Hypothesis
from verifier.exact.linear import apply, dot, rank, transposed, unit
from verifier.exact.piecewise.maps import Branch, Map
from verifier.exact.reading import Matrix, Reader, Vector
from verifier.exact.systems.base import System, comparison


@dataclass(frozen=True, slots=True)
class ThreeBlock:
    """Rows of three entries, columns a_1, a_2, a_3, and the penalty β."""

    A: Matrix
    beta: Fraction


def read(reader: Reader) -> ThreeBlock:
    """The parameters. Raises BadInput."""
    fields = reader.fields(("A", "beta"))
    rows = fields["A"].items(3, 14)
    beta = fields["beta"].rational()
    if beta == 0:
        raise fields["beta"].error("beta is 0, the step divides by it", mend="give a positive beta")
    A = tuple(row.vector(3) for row in rows)
    if not all(any(column) for column in transposed(A)):
        raise fields["A"].error("a column is 0, the step divides by its square", mend="give independent columns")
    return ThreeBlock(A, beta)


def derive(data: ThreeBlock) -> Map:
    """The columns of M are the images of the unit vectors: the step is linear."""
    size = 2 + len(data.A)
    images = [_step(data, unit(size, i)) for i in range(size)]
    return ((Branch((), transposed(tuple(images)), (Fraction(0),) * size),),)


def _step(data: ThreeBlock, z: Vector) -> Vector:
    columns = transposed(data.A)
    x = [Fraction(0), z[0], z[1]]
    scaled = tuple(entry / data.beta for entry in z[2:])
    for i, column in enumerate(columns):
        others = tuple(
            s - sum((x[j] * columns[j][r] for j in range(3) if j != i), Fraction(0)) for r, s in enumerate(scaled)
        )
        x[i] = dot(column, others) / dot(column, column)
    residual = (sum((x[j] * columns[j][r] for j in range(3)), Fraction(0)) for r in range(len(data.A)))
    return (x[1], x[2], *(entry - data.beta * r for entry, r in zip(z[2:], residual, strict=True)))


def hypotheses(data: ThreeBlock) -> tuple[Hypothesis, ...]:
    """Independent columns and a positive penalty."""
    return (
        comparison("the columns of A are independent: their rank is 3", rank(data.A), "=", 3),
        comparison("beta is positive", 0, "<", data.beta),
    )


def solves(data: ThreeBlock, z: Vector) -> bool:
    """Whether z = (0, 0, λ) with Aᵀλ = 0."""
    return z[0] == z[1] == 0 and not any(apply(transposed(data.A), z[2:]))


SYSTEM = System("three-block-admm", read, derive, hypotheses, solves=solves, kind="three-block-admm")
