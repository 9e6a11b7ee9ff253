"""Whether the origin lies in a hull: weights or a separating vector, each verified by its own definition."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from verifier.exact.hull import origin_in_hull

Points = list[list[Fraction]]


def points_of(rng: random.Random, n: int, d: int, entries: str) -> Points:
    def entry() -> Fraction:
        if rng.random() < 0.25:
            return Fraction(0)
        if entries == "small":
            return Fraction(rng.randint(-5, 5), rng.choice((1, 1, 2, 3)))
        return Fraction(rng.randint(-(10**30), 10**30), rng.randint(1, 10**30))

    return [[entry() for _ in range(d)] for _ in range(n)]


def verified(points: Points) -> bool:
    """Whether the origin is inside; the witness is verified either way."""
    hull = origin_in_hull(points)
    if hull.weights is None:
        assert hull.separator is not None
        assert all(sum(a * b for a, b in zip(hull.separator, x, strict=True)) > 0 for x in points)
        return False
    assert hull.separator is None
    assert len(hull.weights) == len(points)
    assert min(hull.weights) >= 0
    assert sum(hull.weights) == 1
    for k in range(len(points[0])):
        assert sum(w * x[k] for w, x in zip(hull.weights, points, strict=True)) == 0
    return True


@pytest.mark.parametrize("entries", ["small", "long"])
def test_random_points_get_a_witness(entries: str) -> None:
    rng = random.Random(4)  # noqa: S311  # reproducible, not secret
    inside = sum(verified(points_of(rng, rng.randint(1, 9), rng.randint(1, 5), entries)) for _ in range(400))
    assert 40 < inside < 360


def test_points_through_the_origin_by_construction() -> None:
    rng = random.Random(5)  # noqa: S311  # reproducible, not secret
    for d in (2, 3, 8, 16):
        for n in (d + 1, 64):
            some = points_of(rng, n - 1, d, "small")
            assert verified([*some, [-sum(column) / Fraction(n) for column in zip(*some, strict=True)]])


@pytest.mark.parametrize(
    ("points", "inside"),
    [
        ([[0, 0]], True),
        ([[1, 0], [-1, 0]], True),  # on the segment between two points
        ([[1, 0], [-1, 1]], False),
        ([[1, 1], [1, 1], [1, 1]], False),
        ([[1, 0], [0, 1], [0, 0]], True),  # at a vertex
        ([[3], [-2]], True),
        ([[3], [2]], False),
        ([[0]], True),
    ],
)
def test_degenerate_hulls(points: list[list[int]], inside: bool) -> None:  # noqa: FBT001  # a column of the table
    assert verified([[Fraction(a) for a in x] for x in points]) is inside
