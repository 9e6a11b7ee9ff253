"""A linear iteration x ← Mx + c, given by its matrix; splitting methods are of this form."""

from __future__ import annotations

from dataclasses import dataclass

from verifier.exact.answer import Hypothesis
from verifier.exact.piecewise.maps import Branch, Map
from verifier.exact.reading import Matrix, Reader, Vector
from verifier.exact.systems.base import System


@dataclass(frozen=True, slots=True)
class LinearIteration:
    """The matrix and the constant."""

    M: Matrix
    c: Vector


def read(reader: Reader) -> LinearIteration:
    """The parameters. Raises BadInput."""
    fields = reader.fields(("M", "c"))
    c = fields["c"].vector()
    return LinearIteration(fields["M"].matrix(len(c), len(c)), c)


def derive(data: LinearIteration) -> Map:
    """One branch without guards."""
    return ((Branch((), data.M, data.c),),)


def hypotheses(data: LinearIteration) -> tuple[Hypothesis, ...]:  # noqa: ARG001  # the signature of every system
    """None: the map is what it is."""
    return ()


SYSTEM = System("linear-iteration", read, derive, hypotheses, entries=lambda _: [])
