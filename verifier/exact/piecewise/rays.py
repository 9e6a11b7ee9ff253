"""Exact cycles of points, and rays: returns of the orbit on one line that approach a point by an exact factor."""

from __future__ import annotations

from fractions import Fraction

from verifier.exact.linear import apply, dot, minus
from verifier.exact.piecewise.regimes import Regime
from verifier.exact.piecewise.stays import MOST_PHASES, Stay
from verifier.exact.piecewise.trace import Trace
from verifier.exact.reading import Vector


def find_points(trace: Trace) -> Stay | None:
    """The exact cycle that the orbit has entered, whatever its length; None where it has not returned."""
    if trace.repeat is None:
        return None
    start, end = trace.repeat
    states = tuple(trace.state(t) for t in range(start, end))
    return Stay(start, tuple(trace.taken[start:end]), "points", states)


def fits(trace: Trace, stay: Stay) -> bool:
    """Whether a certificate can hold this cycle and step to it."""
    return len(stay.cycle) <= MOST_PHASES and stay.start <= trace.certified


def find_ray(trace: Trace, regime: Regime) -> Stay | None:
    """{c + εu}, from the first return at which the orbit is on it; None where the returns are not on one line."""
    p, latest = regime.p, regime.last - 2 * regime.p
    found = _line(trace, latest, p)
    if found is None:
        return None
    start, (c, ratio) = latest, found
    while start > regime.start and (before := _line(trace, start - 1, p)) is not None:
        start, (c, ratio) = start - 1, before
    return _ray(trace, start, p, c, ratio)


def _line(trace: Trace, t: int, p: int) -> tuple[Vector, Fraction] | None:
    """The point c and the factor λ, 0 < λ < 1, with z_{t+p} − c = λ(z_t − c) and z_{t+2p} − c = λ²(z_t − c)."""
    z, back, again = (trace.state(t + k * p) for k in range(3))
    one, two = minus(back, z), minus(again, back)
    k = next((i for i, x in enumerate(one) if x), None)
    if k is None or not 0 < two[k] / one[k] < 1:
        return None
    ratio = two[k] / one[k]
    if any(y != ratio * x for x, y in zip(one, two, strict=True)):
        return None
    return tuple(x + d / (1 - ratio) for x, d in zip(z, one, strict=True)), ratio


def _ray(trace: Trace, start: int, p: int, c: Vector, ratio: Fraction) -> Stay | None:
    u = minus(trace.state(start), c)
    centres, centre, direction = [], c, u
    for k in range(p):
        branch = trace.branch(start + k)
        for guard in branch.guards:
            alpha, beta = dot(guard.a, centre) + guard.b, dot(guard.a, direction)
            if alpha < 0 or alpha + beta < 0 or (guard.strict and alpha + beta == 0):
                return None
        centres.append(centre)
        centre, direction = branch(centre), apply(branch.M, direction)
    if centre != c or direction != tuple(ratio * x for x in u):
        return None
    cycle = tuple(trace.taken[start : start + p])
    return Stay(start, cycle, "ray", tuple(centres), u=u, epsilon=Fraction(1), ratio=ratio)
