"""What float64 says of the same start, beside the exact orbit: where they part, and by how much."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from verifier.exact.hardmax.bound import Bound
from verifier.exact.hardmax.orbit import Orbit, chosen, classes_of, minimisers
from verifier.exact.hardmax.problem import HardmaxProblem

MOST_STEPS = 2_000
FORMS: dict[str, Callable[[float, float, float], float]] = {
    "(1-g)x + gy": lambda g, x, y: (1.0 - g) * x + g * y,
    "x + g(y-x)": lambda g, x, y: x + g * (y - x),
}
CLASSES = ("agree", "same answer, details differ", "different step", "different answer")


def float_report(problem: HardmaxProblem, first: tuple[int, int] | None, *, horizon: int) -> dict[str, Any]:
    """Float64 against exact, for both forms of the update: to just after the first exact violation, else the horizon.

    `first` is the exact first violation (t, component). Under any-selection both sides take the lowest index at ties.
    A gap is exact (right choice against wrong one, left side minus right side); `error` is the float's left side minus
    the exact one. All are given as doubles.
    """
    last = min(horizon, MOST_STEPS) if first is None else min(first[0] + 1, MOST_STEPS)
    return {"steps": last, "forms": [_compare(problem, first, form, last) for form in FORMS]}


def _compare(problem: HardmaxProblem, first: tuple[int, int] | None, form: str, last: int) -> dict[str, Any]:
    update, orbit, bound = FORMS[form], Orbit(problem), Bound(problem)
    state = orbit.start
    tokens = [[float(x) for x in token] for token in problem.tokens]
    matrices = [[[float(x) for x in row] for row in matrix] for matrix in problem.B]
    level = 2.0 * float(bound.ell) * float(problem.diameter_squared)
    found: dict[str, Any] = {"form": form, "first_violation": None, "first_selection": None, "first_predicate": None}
    parted = False
    for t in range(orbit.t0, last + 1):
        matrix = matrices[min(t - orbit.t0, len(matrices) - 1)]
        images = [[_dot(row, x) for row in matrix] for x in tokens]
        scores = [[_dot(image, x) for x in tokens] for image in images]
        picked = [min(range(len(row)), key=row.__getitem__) for row in scores]
        names = classes_of(state)
        choices = minimisers(state, names)
        if not parted:
            for i, k in enumerate(picked):
                if names[k] not in choices[i]:
                    parted = True
                    over = orbit.B_bottom * state.bottom**2
                    gap = float(Fraction(state.scores[i][k] - min(state.scores[i]), over))
                    found["first_selection"] = {"t": t, "token": i, "float": k, "exact": choices[i], "gap": gap}
                    break
        gamma = float(Fraction(*orbit.gamma_at(t)))
        tokens = [
            [update(gamma, a, b) for a, b in zip(x, tokens[k], strict=True)]
            for x, k in zip(tokens, picked, strict=True)
        ]
        left = [0.5 * _dot([_dot(row, x) for row in matrix], x) for x in tokens]
        right = level / (t + 1)
        float_fails = [i for i, value in enumerate(left) if value > right]
        state, energies, over = orbit.advance(state, chosen(choices, problem.ties))
        mask = bound.mask(t, energies, over)
        fails = [i for i in range(len(tokens)) if mask >> i & 1]
        if float_fails and found["first_violation"] is None:
            found["first_violation"] = {"t": t, "components": float_fails}
        if float_fails != fails and found["first_predicate"] is None:
            i = min(set(float_fails) ^ set(fails))
            exact = Fraction(energies[i], 2 * over)
            gap, error = float(exact - bound.rhs(t)), float(Fraction(left[i]) - exact)
            found["first_predicate"] = {"t": t, "component": i, "float": i in float_fails, "gap": gap, "error": error}
    found["class"] = _class(found, first)
    return found


def _class(found: dict[str, Any], first: tuple[int, int] | None) -> str:
    seen = found["first_violation"]
    if (seen is None) != (first is None):
        return CLASSES[3]
    if seen is not None and first is not None and seen["t"] != first[0]:
        return CLASSES[2]
    same = found["first_selection"] is None and found["first_predicate"] is None
    return CLASSES[0] if same else CLASSES[1]


def _dot(x: list[float], y: list[float]) -> float:
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += a * b
    return total
