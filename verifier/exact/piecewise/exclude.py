"""Why a claim is false on the set where an orbit stays: the field `excluded` of a certificate, or None."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

from verifier.exact.linear import apply, dot, minus, quadratic, unit
from verifier.exact.piecewise.problem import MapProblem
from verifier.exact.piecewise.stays import Stay, texts
from verifier.exact.reading import Matrix, Vector


def excluded(problem: MapProblem, stay: Stay) -> dict[str, Any] | None:
    """The phase, and for full-dimensional sets the half-spaces, that show the claim false."""
    claim = problem.claim
    match claim.name:
        case "converges-to":
            assert claim.point is not None
            point = claim.point
            tries = (_off(stay, k, point) for k in range(len(stay.centres)))
        case "converges":
            tries = (_differ(stay, j, k) for j, k in combinations(range(len(stay.centres)), 2))
        case "limit-points-stationary" if stay.kind in ("points", "ray"):
            assert problem.deriving is not None
            gradient = problem.deriving.system.gradient
            assert gradient is not None
            data = problem.deriving.data
            tries = ({"phase": k} if any(gradient(data, z)) else None for k, z in enumerate(stay.centres))
        case _:
            return None
    return next((found for found in tries if found is not None), None)


def _off(stay: Stay, k: int, q: Vector) -> dict[str, Any] | None:
    """Phase k does not have q as a limit point."""
    if stay.kind == "ellipsoid":
        return _away(stay, k, q)
    if stay.kind == "box":
        return _beside(stay, k, q)
    return {"phase": k} if stay.centres[k] != q else None


def _differ(stay: Stay, k: int, j: int) -> dict[str, Any] | None:
    """Phases k and j have no limit point in common."""
    if stay.centres[k] == stay.centres[j]:
        return None
    if stay.kind == "ellipsoid":
        return _apart(stay, k, j)
    if stay.kind == "box":
        return _disjoint(stay, k, j)
    return {"phase": k, "other_phase": j}


def _away(stay: Stay, k: int, q: Vector) -> dict[str, Any] | None:
    """hᵀz ≥ g on S_k and hᵀq < g, with h = P(e_k − q): possible iff q is outside S_k."""
    assert stay.P is not None
    assert stay.R is not None
    away = minus(stay.centres[k], q)
    distance = quadratic(stay.P, away)  # |e_k − q|²_P
    h, gap = _margins(stay.P, away, stay.R, distance)
    if gap is None:
        return None
    g = dot(h, stay.centres[k]) - gap
    return {"phase": k, "h": texts(h), "g": str(g)}


def _apart(stay: Stay, k: int, j: int) -> dict[str, Any] | None:
    """hᵀz ≥ g on S_k and ≤ g' < g on S_j."""
    assert stay.P is not None
    assert stay.R is not None
    away = minus(stay.centres[k], stay.centres[j])
    distance = quadratic(stay.P, away)
    h, gap = _margins(stay.P, away, stay.R, distance)
    if gap is None or 2 * gap >= distance:
        return None
    g, other = dot(h, stay.centres[k]) - gap, dot(h, stay.centres[j]) + gap
    return {"phase": k, "h": texts(h), "g": str(g), "other_phase": j, "other_g": str(other)}


def _beside(stay: Stay, k: int, q: Vector) -> dict[str, Any] | None:
    """A side of box k with q strictly beyond it: h = ± a unit vector."""
    for i, x in enumerate(q):
        for sign, side in ((1, stay.low[k][i]), (-1, -stay.high[k][i])):
            if sign * x < side:
                return {"phase": k, "h": texts(tuple(sign * e for e in unit(len(q), i))), "g": str(side)}
    return None


def _disjoint(stay: Stay, k: int, j: int) -> dict[str, Any] | None:
    """A coordinate in which box k lies wholly above box j, or below."""
    size = len(stay.low[k])
    for i in range(size):
        for sign, low, high in (
            (1, stay.low[k][i], stay.high[j][i]),
            (-1, -stay.high[k][i], -stay.low[j][i]),
        ):
            if high < low:
                h = texts(tuple(sign * e for e in unit(size, i)))
                return {"phase": k, "h": h, "g": str(low), "other_phase": j, "other_g": str(high)}
    return None


def _margins(P: Matrix, away: Vector, R: Fraction, distance: Fraction) -> tuple[Vector, Fraction | None]:
    """The normal h = P·away, and a rational gap < distance with gap² ≥ R·hᵀP⁻¹h = R·distance, or None."""
    h = apply(P, away)
    if distance <= R:
        return h, None
    low, high = Fraction(0), distance  # √(R·distance) lies between
    for _ in range(60):
        if high < distance:
            break
        middle = (low + high) / 2
        low, high = (low, middle) if middle * middle >= R * distance else (middle, high)
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (low, middle) if middle * middle >= R * distance else (middle, high)
    return h, high if high < distance else None
