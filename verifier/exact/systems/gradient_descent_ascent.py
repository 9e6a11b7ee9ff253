"""Gradient descent-ascent on the bilinear game xᵀAy, simultaneous or alternating."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verifier.exact.answer import Hypothesis
from verifier.exact.linear import apply, identity, product, transposed
from verifier.exact.piecewise.maps import Branch, Map
from verifier.exact.reading import MOST_DIMENSION, Matrix, Reader, Vector
from verifier.exact.systems.base import System, comparison


@dataclass(frozen=True, slots=True)
class DescentAscent:
    """x' = x − ηAy; y' = y + ηAᵀx (simultaneous) or y + ηAᵀx' (alternating)."""

    A: Matrix
    eta: Fraction
    order: str


def read(reader: Reader) -> DescentAscent:
    """The parameters. Raises BadInput."""
    fields = reader.fields(("A", "eta", "order"))
    A = fields["A"].matrix()
    if len(A) + len(A[0]) > MOST_DIMENSION:
        raise fields["A"].error(
            f"the state has {len(A) + len(A[0])} entries", mend=f"at most {MOST_DIMENSION} are allowed"
        )
    return DescentAscent(A, fields["eta"].rational(), fields["order"].word(("simultaneous", "alternating")))


def derive(data: DescentAscent) -> Map:
    """One affine branch on (x, y)."""
    m, n = len(data.A), len(data.A[0])
    scaled = tuple(tuple(data.eta * a for a in row) for row in data.A)
    back = transposed(scaled)
    x_rows = tuple((*e, *(-a for a in row)) for e, row in zip(identity(m), scaled, strict=True))
    corner = identity(n)
    if data.order == "alternating":
        drop = product(back, scaled)
        corner = tuple(tuple(e - d for e, d in zip(r, s, strict=True)) for r, s in zip(corner, drop, strict=True))
    y_rows = tuple((*row, *line) for row, line in zip(back, corner, strict=True))
    return ((Branch((), x_rows + y_rows, (Fraction(0),) * (m + n)),),)


def hypotheses(data: DescentAscent) -> tuple[Hypothesis, ...]:
    """The step is positive."""
    return (comparison("eta is positive", 0, "<", data.eta),)


def solves(data: DescentAscent, z: Vector) -> bool:
    """Whether z = (x, y) is a saddle point: Ay = 0, Aᵀx = 0."""
    m = len(data.A)
    return not any(apply(data.A, z[m:])) and not any(apply(transposed(data.A), z[:m]))


SYSTEM = System("gradient-descent-ascent", read, derive, hypotheses, solves=solves, kind="gradient-descent-ascent")
