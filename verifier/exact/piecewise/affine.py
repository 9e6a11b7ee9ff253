"""Maps without guards: the modes that a start excites decide convergence and boundedness exactly."""

from __future__ import annotations

from fractions import Fraction

from verifier.exact.answer import Refutation
from verifier.exact.clock import Clock
from verifier.exact.linear import minus
from verifier.exact.piecewise.answers import growing, holding, on_level
from verifier.exact.piecewise.level import find_level
from verifier.exact.piecewise.maps import Branch
from verifier.exact.piecewise.problem import MapProblem
from verifier.exact.piecewise.regimes import composed, limit_cycle
from verifier.exact.piecewise.roots import at_most_one
from verifier.exact.piecewise.spectral import fits, growth, minimal_polynomial
from verifier.exact.reading import Matrix, Vector

LIMITS = ("converges", "converges-to")
ELSEWHERE = "exactly, the orbit tends to something other than what is claimed; a set that shows it was not found"
EASY = 8
"""Dimension up to which a kept quadratic is sought before the spectrum: its equations have m(m + 1)/2 unknowns."""


def decide_affine(problem: MapProblem, clock: Clock) -> tuple[Refutation | None, tuple[str, ...]]:
    """The answer where each phase is one branch without guards, or None with notes on what is known."""
    if any(len(phase) != 1 or phase[0].guards for phase in problem.map):
        return None, ()
    branches = tuple(phase[0] for phase in problem.map)
    name = problem.claim.name
    if name not in (*LIMITS, "bounded"):
        return None, ()
    z = problem.z
    for branch in branches:
        z = branch(z)
    if name == "bounded":
        if at_most_one(_polynomial(branches, problem.z)):
            return holding(
                problem, "every mode that the start excites has modulus at most 1, those of modulus 1 once"
            ), ()
    else:
        ends, tends = limit_cycle(branches, problem.z, z, clock)
        if ends is not None and tends:
            found = _to_its_limit(problem, ends)
            return found, () if found is not None else (ELSEWHERE,)
    searches = [_by_level, _by_spectrum] if len(z) <= EASY else [_by_spectrum, _by_level]
    for search in searches:
        found = search(problem, clock)
        if found is not None:
            return found, ()
    why = (
        "a mode of modulus 1 occurs more than once, or one above 1"
        if name == "bounded"
        else "a mode of modulus at least 1 is excited"
    )
    return None, (
        f"exact root counts say that the claim fails ({why}); no certificate was found, so this is not claimed",
    )


def _to_its_limit(problem: MapProblem, ends: tuple[Vector, ...]) -> Refutation | None:
    """The orbit tends to `ends`, phase by phase: the claim holds, or a set around them is to be found."""
    if len(set(ends)) > 1 or (problem.claim.point is not None and problem.claim.point != ends[0]):
        return None
    return holding(problem, "every mode that the start excites dies out, and what remains is the limit claimed")


def _polynomial(branches: tuple[Branch, ...], z: Vector) -> tuple[int, ...]:
    """The minimal polynomial of (z, 1) under one round of the phases, written as a linear map."""
    one, none = Fraction(1), Fraction(0)
    A = composed(branches)
    c: Vector = (none,) * len(z)
    for branch in branches:
        c = branch(c)
    M: Matrix = (*((*row, x) for row, x in zip(A, c, strict=True)), (*(none for _ in z), one))
    return minimal_polynomial(M, (*z, one))


def _by_level(problem: MapProblem, clock: Clock) -> Refutation | None:
    if problem.claim.point is None:
        return None
    level = find_level(problem.map, problem.z, problem.claim.point, clock)
    return on_level(problem, *level) if level is not None else None


def _by_spectrum(problem: MapProblem, clock: Clock) -> Refutation | None:
    if not problem.linear:
        return None
    branch = problem.map[0][0]
    polynomials = []
    for of, y in _starts(problem, branch(problem.z)):
        clock.tick(0, "squaring roots")
        if any(y) and fits(found := minimal_polynomial(branch.M, y)):
            polynomials.append((of, found))
    relations = (True,) if problem.claim.name == "bounded" else (True, False)
    for strict in relations:
        for of, polynomial in polynomials:
            if (grown := growth(polynomial, strict=strict)) is not None:
                return growing(problem, of, grown)
    return None


def _starts(problem: MapProblem, following: Vector) -> list[tuple[str, Vector]]:
    """z_0 where the claim and c = 0 allow it, then z_1 − z_0."""
    homogeneous = not any(problem.map[0][0].c)
    to_zero = problem.claim.point is not None and not any(problem.claim.point)
    start = [("start", problem.z)] if homogeneous and (to_zero or problem.claim.name == "bounded") else []
    return [*start, ("difference", minus(following, problem.z))]
