"""Starts of a map: structured rational states within the bounds."""

from __future__ import annotations

from fractions import Fraction

from verifier.exact.search.problem import Find
from verifier.exact.search.sampling import Draw, Start, pick, shuffled, signed

KINDS = ("integers", "rationals", "one entry", "all equal", "alternating", "near a corner", "few values", "halving")


def structured_state(draw: Draw, find: Find, dimension: int) -> Start:
    """A state a/b with |a| ≤ N and b ≤ D in every entry, with one of several structures."""
    kind = pick(draw, KINDS)
    z = _entries(kind, draw, find, dimension)
    return Start({"z": [str(x) for x in z]}, kind)


def _entries(kind: str, draw: Draw, find: Find, m: int) -> list[Fraction]:
    N, D = find.numerator, find.denominator

    def rational() -> Fraction:
        return Fraction(signed(draw, N), 1 + draw(D))

    match kind:
        case "rationals":
            return [rational() for _ in range(m)]
        case "one entry":
            return shuffled(draw, [rational(), *[Fraction(0)] * (m - 1)])
        case "all equal":
            return [rational()] * m
        case "alternating":
            x = rational()
            return [x if i % 2 == 0 else -x for i in range(m)]
        case "near a corner":
            return [_near_one(draw, N, D) for _ in range(m)]
        case "halving":
            return _halving(draw, N, D, m)
        case "few values":
            values = [rational() for _ in range(2)]
            return [pick(draw, values) for _ in range(m)]
        case _:
            return [Fraction(signed(draw, N)) for _ in range(m)]


def _near_one(draw: Draw, N: int, D: int) -> Fraction:
    """±(1 + 1/q), where the bounds hold it; else ±1."""
    sign = 1 if draw(2) == 0 else -1
    q = 1 + draw(D)
    return sign * (Fraction(q + 1, q) if q + 1 <= N else Fraction(1))


def _halving(draw: Draw, N: int, D: int, m: int) -> list[Fraction]:
    """A corner with entries of alternating signs, approached by halves: ±(1 + e/2^i), e = 1/q."""
    sign = 1 if draw(2) == 0 else -1
    most = min(N - 1, D) >> (m - 1)  # the last denominator is q·2^(m−1)
    if most < 1:
        return [Fraction(sign * (-1) ** i) for i in range(m)]
    q = 1 + draw(most)
    return [sign * (-1) ** i * (1 + Fraction(1, q << i)) for i in range(m)]
