"""What float64 says of the same start, beside the exact orbit: where they part, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from verifier.exact.divergence import Comparison, Divergence, FloatSeries, Predicate, Selection, classified
from verifier.exact.hardmax.bound import Bound
from verifier.exact.hardmax.orbit import Orbit, State, chosen, classes_of, minimisers
from verifier.exact.hardmax.problem import HardmaxProblem
from verifier.exact.linear import identity
from verifier.exact.rounding import LARGEST, UNIT, UP, Rounded, finite, nearest_double, ratio_double, rounded

MOST_STEPS = 1_000
MOST_STEPS_TO_FIRST = 20_000
BEYOND = 64
"""Steps compared after a known first violation."""
MOST_BOUNDED = 2_000
"""Steps whose margins have a bound in a picture."""
MOST_WORK = 10_000_000
MOST_WORK_TO_FIRST = 20_000_000
"""Multiplications of machine words in the exact run: without a known first violation, and to reach one."""

FORMS: dict[str, Callable[[Any, Any, Any, tuple[Any, Any]], Any]] = {
    "(1-g)x + gy": lambda g, x, y, _: (1.0 - g) * x + g * y,
    "x + g(y-x)": lambda g, x, y, _: x + g * (y - x),
    "((b-a)x + ay)/b": lambda _, x, y, ab: ((ab[1] - ab[0]) * x + ab[0] * y) / ab[1],
}
"""The update with g = a/b the step, over float64 arrays or `Rounded` ones."""


@dataclass(slots=True)
class _Exact:
    """One exact step: the state at t, choices and selection there, energies 2J of the next one over `over`."""

    state: State
    names: list[int]
    choices: list[list[int]]
    targets: tuple[int, ...]
    energies: list[int]
    over: int
    mask: int


def compare_hardmax(
    problem: HardmaxProblem, first: int | None, *, horizon: int, ends: int | None = None, bounds: bool = False
) -> Comparison:
    """The exact orbit and every form side by side, to beyond the first violation at step `first` if there is one.

    Under any-selection both sides take the lowest index at ties. The margin is left/right − 1 at its largest token, 0
    where both sides are 0. Otherwise the range ends at `horizon` or at 1,000 steps; in any case where the exact run has
    cost too much, and at step `ends`, the last of which the claim speaks. `bounds` asks for the series' bounds, for a
    picture; without it only the differences have theirs.
    """
    exact, bound = Orbit(problem), Bound(problem)
    runs = [_Run(problem, bound, form) for form in FORMS]
    last = min(horizon, MOST_STEPS)
    if first is not None:
        last = first + BEYOND if first <= MOST_STEPS_TO_FIRST else MOST_STEPS
    if ends is not None:
        last = min(last, ends)
    most = MOST_WORK if first is None else MOST_WORK_TO_FIRST
    size = len(problem.tokens) ** 2 * len(problem.tokens[0])
    seen: tuple[int, int] | None = None
    t: list[int] = []
    margins: list[float] = []
    components: list[int] = []
    work = 0
    state = exact.start
    while not t or (t[-1] < last and work < most):
        names = classes_of(state)
        choices = minimisers(state, names)
        targets = chosen(choices, problem.ties)
        following, energies, over = exact.advance(state, targets)
        mask = bound.mask(state.t, energies, over)
        step = _Exact(state, names, choices, targets, energies, over, mask)
        if mask and seen is None:
            seen = (state.t, (mask & -mask).bit_length() - 1)
        for run in runs:
            run.step(step, exact)
        t.append(state.t)
        component = max(range(len(energies)), key=energies.__getitem__)
        components.append(component)
        margins.append(_margin(bound, state.t, energies[component], over))
        state, work = following, work + size * (1 + state.bottom.bit_length() // 64)
    return Comparison(
        quantity="left side / right side - 1",
        asks="this never exceeds 0",
        threshold=0.0,
        rule="highest-index" if problem.ties == "highest-index" else "lowest-index",
        first=seen,
        t=tuple(t),
        exact=tuple(margins),
        component=tuple(components),
        floats=tuple(run.series(margins, bounds=bounds) for run in runs),
        divergences=tuple(
            classified(run.found(), seen, short_of=t[-1] if first is not None and first > t[-1] else None)
            for run in runs
        ),
    )


def _margin(bound: Bound, t: int, top: int, over: int) -> float:
    """Left/right − 1 for a token with 2J = top/over, rounded once."""
    right = bound.theta.numerator * over
    return ratio_double((t + 1) * top * bound.theta.denominator - right, right) if right else 0.0


class _Run:
    """One form's float64 run. It is plain; where the two runs differ it is repeated with bounds on its rounding."""

    def __init__(self, problem: HardmaxProblem, bound: Bound, form: str) -> None:
        self.problem, self.bound, self.form = problem, bound, form
        self.margins: list[float | None] = []
        self.violation: tuple[int, tuple[int, ...]] | None = None
        self.selection: Selection | None = None
        self.predicate: Predicate | None = None
        self.stopped = ""
        self._running = Running(problem, bound, form)
        self._tokens = self._running.tokens.value
        self._picked: list[Any] = []

    def found(self) -> Divergence:
        """What came out, its class still open."""
        return Divergence(self.form, "", "token", self.violation, self.selection, self.predicate, self.stopped)

    def series(self, exact: list[float], *, bounds: bool) -> FloatSeries:
        """Its margins beside the exact ones; bounds where asked, until it selects otherwise or `MOST_BOUNDED` ends."""
        apart = tuple(None if x is None else abs(x - y) for x, y in zip(self.margins, exact, strict=True))
        spreads: list[float | None] = [None] * len(exact)
        if bounds:
            same = self._picked if self.selection is None else self._picked[: self.selection.t - self.problem.t0]
            running = Running(self.problem, self.bound, self.form)
            for index, picked in enumerate(same[:MOST_BOUNDED]):
                spreads[index] = running.step(picked).spread(running.left)
        return FloatSeries(self.form, tuple(self.margins), apart, tuple(spreads))

    def step(self, exact: _Exact, orbit: Orbit) -> None:
        """One step of both runs compared."""
        if self.stopped:
            self.margins.append(None)
            return
        with np.errstate(all="ignore"):
            self._step(exact, orbit)
        if not np.isfinite(self._tokens).all():
            self.stopped = f"its numbers overflow at t = {exact.state.t}"

    def _step(self, exact: _Exact, orbit: Orbit) -> None:
        t, running = exact.state.t, self._running
        matrix = running.matrix(t)
        plain = None if matrix is None else matrix.value
        scores = _scores(plain, self._tokens)
        if self.problem.ties == "highest-index":
            picked = len(exact.targets) - 1 - scores[:, ::-1].argmin(axis=1)
        else:
            picked = scores.argmin(axis=1)
        if self.selection is None:
            self._select(exact, orbit, picked.tolist())
        self._picked.append(picked)
        a, b = orbit.gamma_at(t)
        x = self._tokens
        self._tokens = FORMS[self.form](a / b, x, x[picked], (float(a), float(b)))
        left = _energies(plain, self._tokens)
        right = running.level.value / (t + 1)
        largest = float(left.max())
        margin = largest / right - 1.0 if right else 0.0
        self.margins.append(margin if isfinite(margin) else None)
        if exact.mask or not largest <= right:
            self._predicate(exact, left, right)

    def _repeated(self) -> Running:
        """The run so far with bounds."""
        running = Running(self.problem, self.bound, self.form)
        for picked in self._picked:
            running.step(picked)
        return running

    def _select(self, exact: _Exact, orbit: Orbit, picked: list[int]) -> None:
        for i, (k, target) in enumerate(zip(picked, exact.targets, strict=True)):
            if exact.names[k] != target:
                t, row = exact.state.t, exact.state.scores[i]
                over = orbit.B_bottom * exact.state.bottom**2
                running = self._repeated()
                errors = _scores(running.matrix(t), running.tokens).bound[i]
                self.selection = Selection(
                    t=t,
                    token=i,
                    taken=k,
                    exact=(target, *(c for c in exact.choices[i] if c != target)),
                    gap=ratio_double(row[k] - min(row), over),
                    error=None,
                    error_bound=finite(float((errors[k] + errors[target]) * UP)),
                )
                return

    def _predicate(self, exact: _Exact, left: Any, right: float) -> None:
        t = exact.state.t
        components = tuple(i for i, failing in enumerate((left > right).tolist()) if failing)
        if components and self.violation is None:
            self.violation = (t, components)
        really = {i for i in range(len(exact.energies)) if exact.mask >> i & 1}
        if self.predicate is not None or set(components) == really:
            return
        i = min(set(components) ^ really)
        side, value = Fraction(exact.energies[i], 2 * exact.over), float(left[i])
        error_bound = None
        if self.selection is None:
            running = self._repeated()
            error_bound = finite(float((running.left.bound[i] + running.right.bound) * UP))
        self.predicate = Predicate(
            t=t,
            what="claim",
            component=i,
            holds=i in components,
            gap=nearest_double(side - self.bound.rhs(t)),
            excess=finite(value - right),
            error=nearest_double(Fraction(value) - side) if isfinite(value) else LARGEST,
            error_bound=error_bound,
            parted=self.selection is not None,
        )


class Running:
    """A form's run with bounds: `tokens` after each step, and both sides of the claim, `left` and `right`."""

    def __init__(self, problem: HardmaxProblem, bound: Bound, form: str) -> None:
        self._orbit, self._form, self.t = Orbit(problem), FORMS[form], problem.t0
        self.tokens = _array(problem.tokens)
        self._matrices = [None if matrix == identity(len(matrix)) else _array(matrix) for matrix in problem.B]
        self.level = 2.0 * rounded(bound.ell) * rounded(problem.diameter_squared)
        self.left = self.right = Rounded(0.0)

    def matrix(self, t: int) -> Rounded | None:
        """B at time t; None for the identity, which changes nothing."""
        return self._matrices[min(t - self._orbit.t0, len(self._matrices) - 1)]

    def step(self, picked: Any) -> Running:
        """One step with the selection `picked`; returns itself."""
        a, b = self._orbit.gamma_at(self.t)
        gamma, parts = rounded(Fraction(a, b)), (rounded(Fraction(a)), rounded(Fraction(b)))
        x, y = self.tokens, self.tokens[picked]
        with np.errstate(all="ignore"):
            new = self._form(gamma, x.fresh(), y.fresh(), parts)
            carried = abs(1.0 - gamma.value) * x.bound + gamma.value * y.bound + gamma.bound * (x.bound + y.bound)
            self.tokens = Rounded(new.value, (new.bound + carried) * UP)
            self.left = _energies(self.matrix(self.t), self.tokens)
            self.right = self.level / Rounded(float(self.t + 1))
        self.t += 1
        return self

    def spread(self, left: Rounded) -> float | None:
        """A bound on the error of the margin; None where the right side is 0."""
        if not self.right.value:
            return None
        margin = Rounded(float(left.value.max()), float(left.bound.max())) / self.right - Rounded(1.0)
        return finite(margin.bound + 2.0 * UNIT * abs(margin.value))  # the exact margin is rounded too


def _array(rows: tuple[tuple[Fraction, ...], ...]) -> Rounded:
    entries = [[rounded(x) for x in row] for row in rows]
    values, bounds = ([[getattr(x, name) for x in row] for row in entries] for name in ("value", "bound"))
    return Rounded(np.array(values), np.array(bounds))


# The three below take float64 arrays or `Rounded` ones; sums run from left to right over the coordinates.


def _images(matrix: Any, tokens: Any) -> Any:
    """Bx for every token; no matrix is the identity."""
    if matrix is None:
        return tokens
    columns = matrix.T
    return _left_to_right(tokens[:, j, None] * columns[j] for j in range(_width(tokens)))


def _scores(matrix: Any, tokens: Any) -> Any:
    """⟨Bx_i, x_k⟩ for all pairs."""
    images = _images(matrix, tokens)
    return _left_to_right(images[:, j, None] * tokens[:, j] for j in range(_width(tokens)))


def _energies(matrix: Any, tokens: Any) -> Any:
    """½⟨Bx, x⟩ for every token."""
    images = _images(matrix, tokens)
    return 0.5 * _left_to_right(images[:, j] * tokens[:, j] for j in range(_width(tokens)))


def _width(tokens: Any) -> int:
    array = tokens.value if isinstance(tokens, Rounded) else tokens
    return int(array.shape[1])


def _left_to_right(terms: Iterator[Any]) -> Any:
    found = next(terms)
    for term in terms:
        found = found + term  # += on an array would change the first term
    return found
