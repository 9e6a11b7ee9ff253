"""Which smaller starts of maps are not to be taken: those that sit where two branches meet, or on the claimed point.

There an answer hangs on which branch owns the boundary, a convention of whoever wrote the map.
"""

from __future__ import annotations

from collections.abc import Callable

from verifier.exact.clock import Clock
from verifier.exact.piecewise.maps import Map
from verifier.exact.piecewise.problem import MapProblem
from verifier.exact.piecewise.trace import begin
from verifier.exact.reading import Vector


def admits(given: MapProblem, *, steps: int) -> Callable[[MapProblem], bool]:
    """Whether a problem may stand for `given`.

    Not where its start is the point that the claim names, nor where one of its first `steps` states lies on a boundary,
    unless the same is true of `given`.
    """
    at_point, at_boundary = starts_at_point(given), meets_boundary(given, steps=steps)

    def admitted(problem: MapProblem) -> bool:
        return (at_point or not starts_at_point(problem)) and (at_boundary or not meets_boundary(problem, steps=steps))

    return admitted


def starts_at_point(problem: MapProblem) -> bool:
    """Whether z_0 is the point of a claim converges-to."""
    return problem.z == problem.claim.point


def meets_boundary(problem: MapProblem, *, steps: int) -> bool:
    """Whether one of z_0, …, z_steps lies on a boundary; only as far as the orbit is stepped, to its first return."""
    if not any(branch.guards for phase in problem.map for branch in phase):
        return False
    trace = begin(problem.map, problem.z)
    t = 0
    while not on_boundary(problem.map, t, trace.state(t)):
        if t == steps:
            return False
        trace.extend(t + 1, Clock(None, None))
        if trace.last == t or trace.repeat is not None:
            return False
        t += 1
    return True


def on_boundary(map_: Map, t: int, z: Vector) -> bool:
    """Whether z is in the closure of a branch of its phase and on one of its guards' boundaries."""
    for branch in map_[t % len(map_)]:
        values = [guard.value(z) for guard in branch.guards]
        if values and min(values) == 0:
            return True
    return False
