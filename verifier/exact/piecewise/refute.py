"""The exact answer to a claim about the orbit of a piecewise affine map."""

from __future__ import annotations

import time
from typing import Any

from verifier.exact.answer import Failure, Hypothesis, Refutation
from verifier.exact.linear import dot, minus
from verifier.exact.piecewise.exclude import excluded
from verifier.exact.piecewise.maps import orbit
from verifier.exact.piecewise.problem import MapProblem
from verifier.exact.piecewise.shapes import (
    Stay,
    Trace,
    common_lyapunov,
    find_ellipsoids,
    find_level,
    find_points,
    find_ray,
    shape_text,
    texts,
)
from verifier.exact.piecewise.spectral import Growth, growth, minimal_polynomial
from verifier.exact.reading import Vector
from verifier.model.answers import ExactAnswer

MOST_STEPS = 2_000
MOST_BITS = 6_000
ORBIT_STEPS = 240
"""Exact steps in which a cycle is sought: its phases and approach show early or not at all."""


def refute_map(problem: MapProblem, *, horizon: int, time_limit: float | None) -> Refutation:
    """Looks for an invariant set or a growing mode that makes the claim false for this start."""
    failed = [hypothesis for hypothesis in problem.hypotheses if not hypothesis.holds]
    if failed:
        return Refutation(
            ExactAnswer.UNSUPPORTED_HYPOTHESIS,
            f"The start is outside the hypotheses: not shown that {failed[0].name}; {failed[0].sentence}.",
            problem.hypotheses,
            no_certificate="a certificate attacks a claim inside its hypotheses",
        )
    deadline = None if time_limit is None else time.monotonic() + time_limit
    most = min(horizon, MOST_STEPS if problem.claim.name == "stays-below" else ORBIT_STEPS)
    trace, stopped = _trace(problem, most, deadline)
    if stopped == "undefined":
        return _undefined(problem, trace)
    if problem.claim.name == "stays-below":
        return _stays_below(problem, trace)
    return (
        _by_points(problem, trace)
        or _by_level(problem)
        or _by_spectrum(problem)
        or _by_set(problem, trace)
        or _holds(problem, trace)
        or Refutation(
            ExactAnswer.VERIFIED_TO_HORIZON,
            f"Nothing found: {len(trace.taken)} exact steps show no invariant set that contradicts the claim.",
            problem.hypotheses,
            no_certificate="a certificate attacks a claim",
        )
    )


def _trace(problem: MapProblem, most: int, deadline: float | None) -> tuple[Trace, str]:
    trace = Trace(problem.map, [], [])
    for z, taken in orbit(problem.map, problem.z):
        trace.states.append(z)
        if taken is None:
            return trace, "undefined"
        if len(trace.taken) >= most:
            return trace, "horizon"
        if max(max(abs(x.numerator).bit_length(), x.denominator.bit_length()) for x in z) > MOST_BITS:
            return trace, "size"
        if deadline is not None and time.monotonic() > deadline:
            return trace, "time"
        trace.taken.append(taken)
    raise AssertionError("an orbit ends only without a branch")


def _undefined(problem: MapProblem, trace: Trace) -> Refutation:
    t = len(trace.states) - 1
    hypothesis = Hypothesis(
        "the map is defined along the orbit",
        holds=False,
        witness={"t": t, "z": texts(trace.states[-1])},
        sentence=f"no branch is admissible at t = {t}",
    )
    return Refutation(
        ExactAnswer.UNSUPPORTED_HYPOTHESIS,
        f"The orbit leaves the domain of the map at t = {t}.",
        (*problem.hypotheses, hypothesis),
        no_certificate="a certificate attacks a claim inside its hypotheses",
    )


def _head(problem: MapProblem, kind: str) -> dict[str, Any]:
    return {"schema": "verifier/certificate/1", "kind": kind, "problem": problem.document}


def _stays_below(problem: MapProblem, trace: Trace) -> Refutation:
    h, g = problem.claim.h, problem.claim.g
    assert h is not None
    assert g is not None
    for t, z in enumerate(trace.states):
        value = dot(h, z)
        if value > g:
            sides = {"t": t, "lhs": str(value), "rhs": str(g)}
            return Refutation(
                ExactAnswer.VIOLATED,
                f"h.z exceeds g at t = {t}, for the first time.",
                problem.hypotheses,
                first_violation=Failure(t, 0, value, g),
                certificate={**_head(problem, "violation"), **sides},
            )
    answer = ExactAnswer.HOLDS_FOR_ALL if find_points(trace) else ExactAnswer.VERIFIED_TO_HORIZON
    why = "the orbit repeats exactly" if find_points(trace) else f"checked up to t = {len(trace.states) - 1}"
    return Refutation(
        answer, f"h.z stays at most g: {why}.", problem.hypotheses, no_certificate="a certificate attacks a claim"
    )


def _staying(problem: MapProblem, stay: Stay) -> Refutation | None:
    found = excluded(problem, stay)
    if found is None:
        return None
    document = {
        **_head(problem, "invariant"),
        "start": stay.start,
        "cycle": list(stay.cycle),
        "shape": shape_text(stay),
        "excluded": found,
    }
    kinds = {"points": "a cycle of points", "ray": "a cycle of rays", "ellipsoid": "a cycle of ellipsoids"}
    return Refutation(
        ExactAnswer.VIOLATED_FOR_ALL,
        f"The claim fails for this start: from t = {stay.start} the orbit stays in {kinds[stay.kind]} "
        f"with {len(stay.cycle)} phases, where it is false.",
        problem.hypotheses,
        certificate=document,
    )


def _by_points(problem: MapProblem, trace: Trace) -> Refutation | None:
    stay = find_points(trace)
    return _staying(problem, stay) if stay is not None else None


def _by_set(problem: MapProblem, trace: Trace) -> Refutation | None:
    ray = find_ray(trace)
    if ray is not None and (found := _staying(problem, ray)) is not None:
        return found
    if problem.claim.name == "limit-points-stationary":
        return None
    for stay in find_ellipsoids(trace):
        if (found := _staying(problem, stay)) is not None:
            return found
    return None


def _by_level(problem: MapProblem) -> Refutation | None:
    if problem.claim.point is None:
        return None
    level = find_level(problem.map, problem.z, problem.claim.point)
    if level is None:
        return None
    Q, w = level
    shape = {"type": "level", "Q": [texts(row) for row in Q], "centre": texts(w)}
    return Refutation(
        ExactAnswer.VIOLATED_FOR_ALL,
        "The claim fails for this start: a quadratic is constant along the orbit and differs at the point named.",
        problem.hypotheses,
        certificate={**_head(problem, "invariant"), "start": 0, "shape": shape},
    )


def _by_spectrum(problem: MapProblem) -> Refutation | None:
    if not problem.linear or problem.claim.name not in ("bounded", "converges", "converges-to"):
        return None
    branch = problem.map[0][0]
    for of, y in _starts(problem, branch(problem.z)):
        if not any(y):
            continue
        polynomial = minimal_polynomial(branch.M, y)
        found = growth(polynomial, strict=True)
        if found is None and problem.claim.name != "bounded":
            found = growth(polynomial, strict=False)
        if found is not None:
            return _growing(problem, of, found)
    return None


def _starts(problem: MapProblem, following: Vector) -> list[tuple[str, Vector]]:
    """z_0 where the claim and c = 0 allow it, then z_1 − z_0."""
    homogeneous = not any(problem.map[0][0].c)
    to_zero = problem.claim.point is not None and not any(problem.claim.point)
    start = [("start", problem.z)] if homogeneous and (to_zero or problem.claim.name == "bounded") else []
    return [*start, ("difference", minus(following, problem.z))]


def _growing(problem: MapProblem, of: str, found: Growth) -> Refutation:
    document = {
        **_head(problem, "spectral"),
        "of": of,
        "polynomial": [str(x) for x in found.polynomial],
        "squarings": found.squarings,
        "j": found.j,
        "relation": found.relation,
    }
    size = "> 1" if found.relation == ">" else ">= 1"
    return Refutation(
        ExactAnswer.VIOLATED_FOR_ALL,
        f"The claim fails for this start: it excites an eigenvalue of modulus {size}.",
        problem.hypotheses,
        certificate=document,
    )


def _holds(problem: MapProblem, trace: Trace) -> Refutation | None:
    """Convergence proved: the orbit stops exactly, or a linear map contracts in some norm."""
    claim = problem.claim
    if claim.name not in ("converges-to", "converges", "bounded"):
        return None
    stay = find_points(trace)
    why = ""
    if stay is not None and (claim.name == "bounded" or len(set(stay.centres)) == 1):
        why = f"the orbit repeats exactly from t = {stay.start}"
    elif problem.linear and common_lyapunov([problem.map[0][0].M]) is not None:
        branch = problem.map[0][0]
        if claim.point is None or branch(claim.point) == claim.point:
            why = "the map is a contraction in some norm"
    if not why:
        return None
    return Refutation(
        ExactAnswer.HOLDS_FOR_ALL, f"The claim holds: {why}.", problem.hypotheses,
        no_certificate="a certificate attacks a claim",
    )  # fmt: skip
