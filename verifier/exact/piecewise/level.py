"""A quadratic that every phase of an affine map keeps, and that tells the orbit from a point."""

from __future__ import annotations

from fractions import Fraction

from verifier.exact.clock import Clock
from verifier.exact.linear import (
    identity,
    minus,
    null_space,
    product,
    quadratic,
    solve,
    subtracted,
    transposed,
)
from verifier.exact.piecewise.maps import Map
from verifier.exact.reading import Matrix, Vector


def find_level(map_: Map, z: Vector, point: Vector, clock: Clock) -> tuple[Matrix, Vector] | None:
    """Q and w with MᵀQM = Q and Mw + c = w for every phase, and a level that separates z from `point`."""
    if any(len(phase) != 1 or phase[0].guards for phase in map_):
        return None
    size = len(z)
    branches = [phase[0] for phase in map_]
    for w in _centres(map_, point):
        pairs = [(i, j) for i in range(size) for j in range(i, size)]
        columns = []
        for i, j in pairs:
            clock.tick(0, "looking for a quadratic that is kept")
            E = tuple(tuple(Fraction(int((r, s) in ((i, j), (j, i)))) for s in range(size)) for r in range(size))
            changes = [subtracted(product(transposed(b.M), product(E, b.M)), E) for b in branches]
            columns.append([change[r][s] for change in changes for r, s in pairs])
        for solution in null_space(transposed(tuple(tuple(column) for column in columns))):
            entries = dict(zip(pairs, solution, strict=True))
            Q = tuple(tuple(entries[min(r, s), max(r, s)] for s in range(size)) for r in range(size))
            if quadratic(Q, minus(point, w)) != quadratic(Q, minus(z, w)):
                return Q, w
    return None


def _centres(map_: Map, point: Vector) -> list[Vector]:
    """Fixed points common to all phases: the point itself where it is one, else one solution, else none."""
    branches = [phase[0] for phase in map_]
    if all(b(point) == point for b in branches):
        return [point]
    rows = [row for b in branches for row in subtracted(b.M, identity(len(point)))]
    found = solve(tuple(rows), tuple(-x for b in branches for x in b.c))
    return [] if found is None else [found]
