"""The answers about a map, put into words and into certificates."""

from __future__ import annotations

from typing import Any

from verifier.exact.answer import Failure, Hypothesis, Refutation
from verifier.exact.piecewise.exclude import excluded
from verifier.exact.piecewise.problem import MapProblem
from verifier.exact.piecewise.spectral import Growth
from verifier.exact.piecewise.stays import Stay, at_most, shape_text, texts
from verifier.exact.reading import Vector
from verifier.model.answers import ExactAnswer

NOT_CERTIFIED = "a certificate attacks a claim"
KINDS = {"points": "points", "ray": "rays", "ellipsoid": "ellipsoids", "box": "boxes"}


def unmet(hypotheses: tuple[Hypothesis, ...], sentence: str) -> Refutation:
    """The start is outside what the claim is about."""
    return Refutation(
        ExactAnswer.UNSUPPORTED_HYPOTHESIS,
        sentence,
        hypotheses,
        no_certificate="a certificate attacks a claim inside its hypotheses",
    )


def undefined(problem: MapProblem, t: int, z: Vector) -> Refutation:
    """No branch of the map is admissible at z_t."""
    hypothesis = Hypothesis(
        "the map is defined along the orbit",
        holds=False,
        witness={"t": t, "z": texts(z)},
        sentence=f"no branch is admissible at t = {t}",
    )
    return unmet((*problem.hypotheses, hypothesis), f"The orbit leaves the domain of the map at t = {t}.")


def _head(problem: MapProblem, kind: str) -> dict[str, Any]:
    return {"schema": "verifier/certificate/1", "kind": kind, "problem": problem.document}


def above(problem: MapProblem, failure: Failure, *, certified: bool) -> Refutation:
    """hᵀz > g at a step, for the first time."""
    sides = {"t": failure.t, "lhs": str(failure.lhs), "rhs": str(failure.rhs)}
    return Refutation(
        ExactAnswer.VIOLATED,
        f"h.z exceeds g at t = {failure.t}, for the first time.",
        problem.hypotheses,
        first_violation=failure,
        certificate={**_head(problem, "violation"), **sides} if certified else None,
        no_certificate="" if certified else "the format does not hold as many explicit steps as it takes",
    )


def stays_where_false(problem: MapProblem, stay: Stay, *, certified: bool = True) -> Refutation | None:
    """The claim is false on the set that the orbit stays in, or None where that does not follow."""
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
    return Refutation(
        ExactAnswer.VIOLATED_FOR_ALL,
        f"The claim fails for this start: from t = {stay.start} the orbit stays in a cycle of {KINDS[stay.kind]} "
        f"with {len(stay.cycle)} phases, where it is false.",
        problem.hypotheses,
        certificate=document if certified else None,
        no_certificate="" if certified else "the cycle is longer, or begins later, than the format holds",
    )


def on_level(problem: MapProblem, Q: tuple[Vector, ...], w: Vector) -> Refutation:
    """A quadratic is constant along the orbit and has another value at the point named."""
    shape = {"type": "level", "Q": [texts(row) for row in Q], "centre": texts(w)}
    return Refutation(
        ExactAnswer.VIOLATED_FOR_ALL,
        "The claim fails for this start: a quadratic is constant along the orbit and differs at the point named.",
        problem.hypotheses,
        certificate={**_head(problem, "invariant"), "start": 0, "shape": shape},
    )


def growing(problem: MapProblem, of: str, found: Growth) -> Refutation:
    """The start excites a mode that does not die out."""
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


def holding(problem: MapProblem, why: str) -> Refutation:
    """The claim is proved for this start."""
    return Refutation(
        ExactAnswer.HOLDS_FOR_ALL, f"The claim holds: {why}.", problem.hypotheses, no_certificate=NOT_CERTIFIED
    )


def stays_where_true(problem: MapProblem, stay: Stay) -> Refutation | None:
    """The claim follows from where the orbit stays, or None.

    The centres are what the orbit tends to, phase by phase. For stays-below the steps before `start` are checked by
    whoever calls.
    """
    claim, ends = problem.claim, set(stay.centres)
    if not stay.tends and claim.name not in ("bounded", "stays-below"):
        return None
    match claim.name:
        case "bounded":
            true = True
        case "converges":
            true = len(ends) == 1
        case "converges-to":
            true = ends == {claim.point}
        case "limit-points-stationary":
            assert problem.deriving is not None
            gradient = problem.deriving.system.gradient
            assert gradient is not None
            data = problem.deriving.data
            true = not any(any(gradient(data, z)) for z in ends)
        case _:
            assert claim.h is not None
            assert claim.g is not None
            true = at_most(stay, problem.map, claim.h, claim.g)
    if not true:
        return None
    if stay.kind == "points":
        return holding(problem, f"the orbit repeats exactly from t = {stay.start}")
    phases = len(stay.cycle)
    return holding(
        problem, f"from t = {stay.start} the orbit stays in a cycle of {KINDS[stay.kind]} with {phases} phases"
    )
