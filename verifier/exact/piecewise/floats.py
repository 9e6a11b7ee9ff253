"""What float64 says of the same orbit of a map: the first step at which it takes another branch, or finds none."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isfinite, sqrt

from verifier.exact.divergence import CLASSES, Comparison, Divergence, FloatSeries, Predicate, Selection, classified
from verifier.exact.linear import dot, minus
from verifier.exact.piecewise.forms import Form, forms_of
from verifier.exact.piecewise.maps import Branch, orbit
from verifier.exact.piecewise.problem import MapProblem
from verifier.exact.reading import Vector
from verifier.exact.rounding import UP, Carried, Rounded, finite, nearest_double, rounded

MOST_STEPS = 240
MOST_STEPS_BELOW = 2_000
MOST_BITS = 6_000
ALIKE = 2.0
"""Claims about the limit: the runs say the same where norm and quantity differ by less than this factor at the end."""

QUANTITIES = {
    "stays-below": ("h.z - g", "this never exceeds 0"),
    "converges-to": ("distance to the claimed point", "this tends to 0"),
    "converges": ("length of the step from z_t to z_{t+1}", "this tends to 0"),
    "bounded": ("norm of the state", "this stays bounded"),
    "limit-points-stationary": ("norm of the gradient", "this is 0 at every limit point"),
}
"""Claim -> what it speaks of, and what it wants of that."""


@dataclass(slots=True)
class _Exact:
    """The exact orbit in the range compared: states, branches taken, the claim's quantity and the first violation."""

    states: list[Vector] = field(default_factory=list)
    taken: list[int | None] = field(default_factory=list)
    quantities: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    first: int | None = None


def compare_map(problem: MapProblem, first: int | None, *, horizon: int) -> Comparison:
    """The exact orbit and every form side by side.

    `first` is a first violation of stays-below: the range then goes well beyond it. Otherwise it ends at `horizon`,
    after 240 steps (stays-below: 2,000), or where exact numbers pass 6,000 bits. For stays-below the class compares
    first violations. For the other claims, about the limit, float64 gives the same answer where over the last quarter
    of the range the largest norm of the state and the largest quantity lie within a factor 2 of the exact ones.
    """
    below = problem.claim.name == "stays-below"
    last = min(horizon, MOST_STEPS_BELOW if below else MOST_STEPS)
    if first is not None:
        last = min(first + 64, MOST_STEPS_BELOW)
    exact = _exact(problem, last)
    runs = [_Run(problem, form, exact) for form in forms_of(problem)]
    return Comparison(
        quantity=QUANTITIES[problem.claim.name][0],
        asks=QUANTITIES[problem.claim.name][1],
        threshold=0.0 if below else None,
        rule="",
        first=None if exact.first is None else (exact.first, 0),
        t=tuple(range(len(exact.states))),
        exact=tuple(exact.quantities),
        component=(0,) * len(exact.states),
        floats=tuple(run.series() for run in runs),
        divergences=tuple(run.found() for run in runs),
    )


def _exact(problem: MapProblem, last: int) -> _Exact:
    found = _Exact()
    for t, (z, taken) in enumerate(orbit(problem.map, problem.z)):
        found.states.append(z)
        found.taken.append(taken)
        found.quantities.append(_quantity(problem, z, _branch(problem, t, taken)))
        found.norms.append(_norm(z))
        if problem.claim.name == "stays-below" and found.first is None and _excess(problem, z) > 0:
            found.first = t
        if t >= last or max(x.denominator.bit_length() for x in z) > MOST_BITS:
            break
    return found


def _branch(problem: MapProblem, t: int, index: int | None) -> Branch | None:
    return None if index is None else problem.map[t % len(problem.map)][index]


def _excess(problem: MapProblem, z: Vector) -> Fraction:
    """Hᵀz − g of stays-below."""
    assert problem.claim.h is not None
    assert problem.claim.g is not None
    return dot(problem.claim.h, z) - problem.claim.g


def _quantity(problem: MapProblem, z: Vector, branch: Branch | None) -> float:
    """What the claim speaks of at the state z, exactly, rounded to a double; `branch` is the one taken from z."""
    claim = problem.claim
    match claim.name:
        case "stays-below":
            return nearest_double(_excess(problem, z))
        case "converges-to":
            assert claim.point is not None
            return _norm(minus(z, claim.point))
        case "converges":
            return _norm(minus(branch(z), z)) if branch is not None else 0.0
        case "limit-points-stationary":
            assert problem.deriving is not None
            gradient = problem.deriving.system.gradient
            assert gradient is not None
            return _norm(gradient(problem.deriving.data, z))
        case _:
            return _norm(z)


def _norm(z: Vector) -> float:
    """The Euclidean norm, as a double."""
    largest = max(abs(x) for x in z)
    if not largest:
        return 0.0
    scaled = sqrt(nearest_double(sum(((x / largest) ** 2 for x in z), Fraction(0))))
    return finite(nearest_double(largest) * scaled)


class _Run:
    """One form's float64 run beside the exact orbit; its rounding is bounded until it takes another branch."""

    def __init__(self, problem: MapProblem, form: Form, exact: _Exact) -> None:
        self.problem, self.form, self.exact = problem, form, exact
        self.values: list[float | None] = []
        self.apart: list[float | None] = []
        self.bounds: list[float | None] = []
        self.norms: list[float] = []
        self.violation: int | None = None
        self.selection: Selection | None = None
        self.predicate: Predicate | None = None
        self.stopped = ""
        self._follow()

    def series(self) -> FloatSeries:
        """The quantity at each step, None where float64 has no state any more."""
        missing = [None] * (len(self.exact.states) - len(self.values))
        return FloatSeries(self.form.name, (*self.values, *missing), (*self.apart, *missing), (*self.bounds, *missing))

    def found(self) -> Divergence:
        """Where it parts, and its class."""
        first = None if self.violation is None else (self.violation, (0,))
        found = Divergence(self.form.name, "", "branch", first, self.selection, self.predicate, self.stopped)
        if self.problem.claim.name == "stays-below":
            return classified(found, None if self.exact.first is None else (self.exact.first, 0))
        if self.selection is None and not self.stopped:
            return replace(found, cls=CLASSES[0])
        return replace(found, cls=CLASSES[1] if self._ends_alike() else CLASSES[3])

    def _ends_alike(self) -> bool:
        if self.stopped:
            return False
        window = slice(-max(1, len(self.values) // 4), None)
        small = max(self.exact.norms) * 2.0**-26  # half of float64's digits: both have arrived
        pairs = ((self.norms, self.exact.norms), (self.values, self.exact.quantities))
        for ours, theirs in pairs:
            one, other = max(x or 0.0 for x in ours[window]), max(theirs[window])
            if not (max(one, other) <= small or max(one, other) <= ALIKE * min(one, other)):
                return False
        return True

    def _follow(self) -> None:
        z = [rounded(x) for x in self.problem.z]
        carried = Carried([x.bound for x in z])
        for t, (state, taken) in enumerate(zip(self.exact.states, self.exact.taken, strict=True)):
            errors = carried.bounds() if self.selection is None else None
            picked = self._decide(t, z, errors, taken)
            self._record(t, z, state, errors, picked)
            if picked is None or t + 1 == len(self.exact.states):
                break
            fresh = [x.fresh() for x in z]
            z = self.form.step(t, picked, fresh)
            if not all(isfinite(x.value) for x in z):
                self.stopped = f"its numbers overflow at t = {t + 1}"
                break
            if self.selection is None:
                branch = _branch(self.problem, t, picked)
                assert branch is not None
                carried.advance(branch.M, [finite(x.bound) for x in z])

    def _record(self, t: int, z: list[Rounded], state: Vector, errors: list[float] | None, picked: int | None) -> None:
        there = tuple(Fraction(x.value) for x in z)
        self.values.append(_quantity(self.problem, there, _branch(self.problem, t, picked)))
        self.norms.append(_norm(there))
        self.apart.append(nearest_double(max(abs(a - b) for a, b in zip(there, state, strict=True))))
        self.bounds.append(None if errors is None else max(errors))
        if self.problem.claim.name == "stays-below":
            self._below(t, z, state, errors)

    def _below(self, t: int, z: list[Rounded], state: Vector, errors: list[float] | None) -> None:
        claim = self.problem.claim
        assert claim.h is not None
        assert claim.g is not None
        left, right = self.form.product(claim.h, z), rounded(claim.g)
        holds, excess = left.value > right.value, _excess(self.problem, state)
        if holds and self.violation is None:
            self.violation = t
        if self.predicate is None and holds != (excess > 0):
            self.predicate = Predicate(
                t=t,
                what="claim",
                component=0,
                holds=holds,
                gap=nearest_double(excess),
                excess=finite(left.value - right.value),
                error=nearest_double(Fraction(left.value) - dot(claim.h, state)),
                error_bound=None if errors is None else _error(claim.h, z, errors, self.form) + right.bound,
                parted=errors is None,
            )

    def _decide(self, t: int, z: list[Rounded], errors: list[float] | None, taken: int | None) -> int | None:
        """The branch that float64 takes; notes where it is another one than `taken`."""
        phase = self.problem.map[t % len(self.problem.map)]
        truth = [[self._guard(g.a, g.b, z, strict=g.strict) for g in branch.guards] for branch in phase]
        picked = next((index for index, said in enumerate(truth) if all(holds for _, holds in said)), None)
        if picked is None:
            self.stopped = f"it finds no branch at t = {t} and ends there"
        if picked == taken or taken is None or errors is None:
            return picked
        index, which = self._culprit(t, truth, picked, taken)
        guard = phase[index].guards[which]
        value, holds = truth[index][which]
        exact = dot(guard.a, self.exact.states[t]) + guard.b
        gap, error = nearest_double(exact), nearest_double(Fraction(value) - exact)
        bound = finite((_error(guard.a, z, errors, self.form) + rounded(guard.b).bound + abs(value) * 2.0**-53) * UP)
        self.selection = Selection(t, None, picked, (taken,), gap, error, bound)
        if self.predicate is None:
            self.predicate = Predicate(t, "guard", which, holds, gap, value, error, bound, parted=False)
        return picked

    def _guard(self, a: Vector, b: Fraction, z: list[Rounded], *, strict: bool) -> tuple[float, bool]:
        value = (self.form.product(a, z) + rounded(b)).value
        return finite(value), value > 0 or (value == 0 and not strict)

    def _culprit(
        self, t: int, truth: list[list[tuple[float, bool]]], picked: int | None, taken: int
    ) -> tuple[int, int]:
        """Branch and index of the guard on which the two disagree: the exact branch's first, else the picked one's."""
        for index in (taken, picked):
            if index is None:
                continue
            guards = self.problem.map[t % len(self.problem.map)][index].guards
            for which, guard in enumerate(guards):
                if truth[index][which][1] != guard.holds(self.exact.states[t]):
                    return index, which
        raise AssertionError("two runs that agree on every guard of both branches take the same one")


def _error(a: Vector, z: list[Rounded], errors: list[float], form: Form) -> float:
    """A bound on |aᵀz in float64 − aᵀz exactly|: the product's own rounding and the state's errors."""
    own = form.product(a, [x.fresh() for x in z]).bound
    return finite((own + sum(abs(nearest_double(x)) * e for x, e in zip(a, errors, strict=True))) * UP)
