"""How far an orbit was stepped without an answer, and how near it came to breaking its claim."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import lcm

from verifier.exact.answer import Failure, Horizon
from verifier.exact.linear import minus
from verifier.exact.piecewise.problem import MapProblem
from verifier.exact.piecewise.trace import Trace
from verifier.exact.reading import Vector

STOPS = {"": "horizon", "size": "size of the numbers"}
TREND = 64
MEASURED = 300
"""States measured from each end of a long trace where the margin needs exact vectors."""


class Watch:
    """hᵀz ≤ g along a trace: the first step that breaks it, and the smallest gap g − hᵀz, exactly."""

    def __init__(self, h: Vector, g: Fraction) -> None:
        bottom = lcm(g.denominator, *(x.denominator for x in h))
        self._h, self._g, self._bottom = tuple(int(x * bottom) for x in h), int(g * bottom), bottom
        self.seen = 0
        self.least: tuple[int, int, int] | None = None
        """Numerator and denominator of the smallest gap, and its time."""

    def gap(self, trace: Trace, t: int) -> tuple[int, int]:
        """The gap g − hᵀz_t as a quotient with a positive denominator, not reduced."""
        e = trace.bottoms[t]
        value = sum(a * y for a, y in zip(self._h, trace.tops[t], strict=True) if a)
        return self._g * e - value, self._bottom * e

    def look(self, trace: Trace) -> Failure | None:
        """The first failure among the steps not looked at before."""
        while self.seen <= trace.last:
            t, (top, bottom) = self.seen, self.gap(trace, self.seen)
            self.seen += 1
            if self.least is None or top * self.least[1] < self.least[0] * bottom:
                self.least = top, bottom, t
            if top < 0:
                g = Fraction(self._g, self._bottom)
                return Failure(t, 0, g - Fraction(top, bottom), g)
        return None

    def crossing(self, trace: Trace) -> int | None:
        """The step at which the gap would close if it went on shrinking as over the last steps; None if it does not."""
        steps = min(TREND, trace.last // 2)
        if not steps:
            return None
        now, then = (Fraction(*self.gap(trace, t)) for t in (trace.last, trace.last - steps))
        return trace.last + int(now * steps / (then - now)) + 1 if then > now else None


def reached(problem: MapProblem, trace: Trace, watch: Watch | None, *, timed_out: bool) -> Horizon:
    """The last step known, the smallest margin and where, what would come next, and what ended the stepping.

    The margin is g − hᵀz for stays-below; the largest entry of z_t − q for converges-to, of z_{t+1} − z_t for
    converges, of ∇f(z_t) for limit-points-stationary; None for bounded, which no finite stretch comes near to breaking.
    """
    stopped = "time limit" if timed_out else STOPS.get(trace.ended, "horizon")
    margin: float | None = None
    at: int | None = None
    crossing = None
    if watch is not None and watch.least is not None:
        top, bottom, at = watch.least
        margin, crossing = _double(Fraction(top, bottom)), watch.crossing(trace)
    elif (measure := _measure(problem)) is not None:
        values = ((_double(measure(trace, t)), t) for t in _measured(trace))
        margin, at = min(values, default=(None, None))
    return Horizon(trace.last, margin, at, crossing, stopped)


def _measured(trace: Trace) -> Iterator[int]:
    known = len(trace.taken)
    yield from (t for t in range(known) if t < MEASURED or t >= known - MEASURED)


def _measure(problem: MapProblem) -> Callable[[Trace, int], Fraction] | None:
    claim = problem.claim
    match claim.name:
        case "converges-to":
            assert claim.point is not None
            point = claim.point
            return lambda trace, t: _largest(minus(trace.state(t), point))
        case "converges":
            return lambda trace, t: _largest(minus(trace.state(t + 1), trace.state(t)))
        case "limit-points-stationary":
            assert problem.deriving is not None
            gradient, data = problem.deriving.system.gradient, problem.deriving.data
            assert gradient is not None
            return lambda trace, t: _largest(gradient(data, trace.state(t)))
        case _:
            return None


def _largest(x: Vector) -> Fraction:
    return max(map(abs, x))


def _double(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return sys.float_info.max if x > 0 else -sys.float_info.max
