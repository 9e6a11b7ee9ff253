"""What float64 says of the same orbit: the first step at which it takes another branch, or finds none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from verifier.exact.linear import dot
from verifier.exact.piecewise.maps import orbit
from verifier.exact.piecewise.problem import MapProblem

MOST_STEPS = 200
CLASSES = ("agree", "same answer, details differ", "different step", "different answer")


def _direct(a: Sequence[float], z: Sequence[float]) -> float:
    total = 0.0
    for x, y in zip(a, z, strict=True):
        total += x * y
    return total


def _from_total(a: Sequence[float], z: Sequence[float]) -> float:
    """k·(sum of z) − Σ (k − a_j) z_j with k the largest coefficient: "all the others" as the total minus one's own."""
    if sum(x != 0 for x in a) < 2:
        return _direct(a, z)
    k = max(a, key=abs)
    total = 0.0
    for y in z:
        total += y
    value = k * total
    for x, y in zip(a, z, strict=True):
        if x != k:
            value -= (k - x) * y
    return value


FORMS: dict[str, Callable[[Sequence[float], Sequence[float]], float]] = {
    "sum of the products": _direct,
    "total minus the rest": _from_total,
}


def float_report(problem: MapProblem, *, horizon: int) -> dict[str, Any]:
    """Float64 against exact for both ways to evaluate a product aᵀz: where the branches part, and the gap there."""
    steps = min(horizon, MOST_STEPS)
    return {"steps": steps, "forms": [_compare(problem, form, steps) for form in FORMS]}


def _compare(problem: MapProblem, form: str, steps: int) -> dict[str, Any]:
    product = FORMS[form]
    z = [float(x) for x in problem.z]
    found: dict[str, Any] = {"form": form, "first_branch": None}
    for t, (exact, taken) in enumerate(orbit(problem.map, problem.z)):
        if t >= steps or taken is None or max(x.denominator.bit_length() for x in exact) > 6_000:
            break
        phase = problem.map[t % len(problem.map)]
        picked = None
        for index, branch in enumerate(phase):
            values = [product([float(x) for x in g.a], z) + float(g.b) for g in branch.guards]
            if all(v > 0 or (v == 0 and not g.strict) for v, g in zip(values, branch.guards, strict=True)):
                picked = index
                break
        if picked != taken:
            guard = phase[taken].guards[0]
            value = dot(guard.a, exact) + guard.b
            there = product([float(x) for x in guard.a], z) + float(guard.b)
            gap, error = float(value), float(Fraction(there) - value)
            found["first_branch"] = {"t": t, "float": picked, "exact": taken, "gap": gap, "error": error}
            break
        branch = phase[taken]
        rows = [[float(x) for x in row] for row in branch.M]
        z = [product(row, z) + float(c) for row, c in zip(rows, branch.c, strict=True)]
    found["class"] = CLASSES[0] if found["first_branch"] is None else CLASSES[3]
    return found
