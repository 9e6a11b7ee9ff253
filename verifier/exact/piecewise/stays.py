"""A set that an orbit stays in, phase by phase: its fields in a certificate, and what a linear form does on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verifier.exact.linear import apply, dot, solve
from verifier.exact.piecewise.maps import Branch, Map
from verifier.exact.reading import Matrix, Vector

MOST_PHASES = 64
"""Phases of a cycle in a certificate."""


@dataclass(frozen=True, slots=True)
class Stay:
    """From step `start` the orbit stays: `centres` are the points, ellipsoid centres or ray ends, phase by phase.

    Unless `tends` is false the orbit tends to the cycle of the centres.
    `kind` is points, ray (with `u`, `epsilon`, `ratio`), ellipsoid (`P`, `R`) or box (`low`, `high`, phase by phase).
    """

    start: int
    cycle: tuple[int, ...]
    kind: str
    centres: tuple[Vector, ...]
    P: Matrix | None = None
    R: Fraction | None = None
    u: Vector | None = None
    epsilon: Fraction | None = None
    ratio: Fraction | None = None
    low: tuple[Vector, ...] = ()
    high: tuple[Vector, ...] = ()
    tends: bool = True

    def branches(self, map_: Map) -> Iterator[Branch]:
        """The branch of each phase."""
        for k, index in enumerate(self.cycle):
            yield map_[(self.start + k) % len(map_)][index]


def texts(x: Vector) -> list[str]:
    """A vector as it stands in files."""
    return [str(a) for a in x]


def shape_text(stay: Stay) -> dict[str, Any]:
    """`shape` of a certificate."""
    match stay.kind:
        case "points":
            return {"type": "points", "points": [texts(z) for z in stay.centres]}
        case "ray":
            assert stay.u is not None
            ends = {"c": texts(stay.centres[0]), "u": texts(stay.u)}
            return {"type": "ray", **ends, "lambda": str(stay.ratio), "epsilon": str(stay.epsilon)}
        case "box":
            return {"type": "box", "low": [texts(x) for x in stay.low], "high": [texts(x) for x in stay.high]}
        case _:
            assert stay.P is not None
            centres = [texts(z) for z in stay.centres]
            return {"type": "ellipsoid", "centres": centres, "P": [texts(row) for row in stay.P], "R": str(stay.R)}


def at_most(stay: Stay, map_: Map, h: Vector, g: Fraction) -> bool:
    """Whether hᵀz ≤ g on every S_k, decided exactly."""
    if stay.kind == "box":
        pairs = zip(stay.low, stay.high, strict=True)
        return all(highest(h, low, high) <= g for low, high in pairs)
    room = [g - dot(h, centre) for centre in stay.centres]
    if min(room) < 0:
        return False
    match stay.kind:
        case "points":
            return True
        case "ray":
            assert stay.u is not None
            assert stay.epsilon is not None
            u = tuple(stay.epsilon * x for x in stay.u)
            for gap, branch in zip(room, stay.branches(map_), strict=True):
                if dot(h, u) > gap:
                    return False
                u = apply(branch.M, u)
            return True
        case _:
            assert stay.P is not None
            assert stay.R is not None
            return min(room) ** 2 >= stay.R * dual_square(stay.P, h)


def highest(h: Vector, low: Vector, high: Vector) -> Fraction:
    """The maximum of hᵀz over a box, term by term."""
    return sum((max(a * x, a * y) for a, x, y in zip(h, low, high, strict=True)), Fraction(0))


def lowest(h: Vector, low: Vector, high: Vector) -> Fraction:
    """The minimum of hᵀz over a box, term by term."""
    return sum((min(a * x, a * y) for a, x, y in zip(h, low, high, strict=True)), Fraction(0))


def dual_square(P: Matrix, a: Vector) -> Fraction:
    """aᵀP⁻¹a for P ≻ 0."""
    y = solve(P, a)
    assert y is not None
    return dot(a, y)


def bits(numbers: Iterator[Fraction]) -> int:
    """The largest bit length of a numerator or denominator."""
    return max(max(abs(x.numerator).bit_length(), x.denominator.bit_length()) for x in numbers)
