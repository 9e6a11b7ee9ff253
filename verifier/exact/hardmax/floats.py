"""What float64 says of the same start, beside the exact orbit: where they part, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from verifier.exact.divergence import Comparison, Divergence, FloatSeries, Predicate, Selection, classified
from verifier.exact.hardmax.bound import Bound
from verifier.exact.hardmax.orbit import Orbit, State, chosen, classes_of, minimisers
from verifier.exact.hardmax.problem import HardmaxProblem
from verifier.exact.rounding import LARGEST, UP, Rounded, finite, nearest_double, ratio_double, rounded

MOST_STEPS = 1_000
MOST_STEPS_TO_FIRST = 20_000
MOST_WORK = 20_000_000
MOST_WORK_TO_FIRST = 100_000_000
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


def compare_hardmax(problem: HardmaxProblem, first: int | None, *, horizon: int, ends: int | None = None) -> Comparison:
    """The exact orbit and every form side by side, to well beyond the first violation at step `first` if there is one.

    Under any-selection both sides take the lowest index at ties. The margin is left/right − 1 at its largest token, 0
    where both sides are 0. The range ends at `horizon`, at 1,000 steps, or where the exact run has cost too much, and
    in any case at step `ends`, the last of which the claim speaks.
    """
    exact, bound = Orbit(problem), Bound(problem)
    runs = [_Run(problem, bound, form) for form in FORMS]
    last = min(horizon, MOST_STEPS)
    if first is not None:
        last = min(first + max(64, first // 2), MOST_STEPS_TO_FIRST)
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
        floats=tuple(run.series(margins) for run in runs),
        divergences=tuple(classified(run.found(), seen) for run in runs),
    )


def _margin(bound: Bound, t: int, top: int, over: int) -> float:
    """Left/right − 1 for a token with 2J = top/over, rounded once."""
    right = bound.theta.numerator * over
    return ratio_double((t + 1) * top * bound.theta.denominator - right, right) if right else 0.0


@dataclass(slots=True)
class _Run:
    """One form's float64 run; its rounding is bounded until it selects otherwise than the exact one."""

    problem: HardmaxProblem
    bound: Bound
    form: str
    margins: list[float | None] = field(default_factory=list)
    bounds: list[float | None] = field(default_factory=list)
    violation: tuple[int, tuple[int, ...]] | None = None
    selection: Selection | None = None
    predicate: Predicate | None = None
    stopped: str = ""
    _tokens: Any = field(init=False)
    _matrices: list[Rounded] = field(init=False)
    _level: Rounded = field(init=False)

    def __post_init__(self) -> None:
        self._tokens = _array(self.problem.tokens)
        self._matrices = [_array(matrix) for matrix in self.problem.B]
        self._level = 2.0 * rounded(self.bound.ell) * rounded(self.problem.diameter_squared)

    def found(self) -> Divergence:
        """What came out, its class still open."""
        return Divergence(self.form, "", "token", self.violation, self.selection, self.predicate, self.stopped)

    def series(self, exact: list[float]) -> FloatSeries:
        """Its margins beside the exact ones."""
        apart = tuple(None if x is None else abs(x - y) for x, y in zip(self.margins, exact, strict=True))
        return FloatSeries(self.form, tuple(self.margins), apart, tuple(self.bounds))

    def step(self, exact: _Exact, orbit: Orbit) -> None:
        """One step of both runs compared."""
        with np.errstate(all="ignore"):
            self._step(exact, orbit)
        if not self.stopped and not np.isfinite(self._tokens.value).all():
            self.stopped = f"its numbers overflow at t = {exact.state.t}"

    def _step(self, exact: _Exact, orbit: Orbit) -> None:
        t, number = exact.state.t, len(exact.targets)
        matrix = self._matrices[min(t - orbit.t0, len(self._matrices) - 1)]
        scores = _scores(matrix.value, self._tokens.value)
        if self.problem.ties == "highest-index":
            picked = number - 1 - scores[:, ::-1].argmin(axis=1)
        else:
            picked = scores.argmin(axis=1)
        if self.selection is None:
            self._select(exact, orbit, matrix, picked.tolist())
        self._update(*orbit.gamma_at(t), picked)
        # after the runs have parted a bound on the rounding says nothing of the exact run, and is left out
        plain = self.selection is not None
        tokens = Rounded(self._tokens.value) if plain else self._tokens
        left = _energies(matrix.value if plain else matrix, tokens.value if plain else tokens)
        left = Rounded(left) if plain else left
        right = self._level / Rounded(float(t + 1))
        self._predicate(exact, left, right)
        largest = int(np.argmax(left.value))
        margin, spread = 0.0, None
        if right.value:
            margin = float(left.value[largest] / right.value - 1.0)
            if not plain:
                top = Rounded(float(left.value[largest]), float(left.bound.max()))
                spread = float((top / right - Rounded(1.0)).bound)
        self.margins.append(margin if isfinite(margin) else None)
        self.bounds.append(spread)

    def _update(self, a: int, b: int, picked: Any) -> None:
        gamma, form = rounded(Fraction(a, b)), FORMS[self.form]
        x, y = self._tokens, self._tokens[picked]
        if self.selection is not None:
            self._tokens = Rounded(form(gamma.value, x.value, y.value, (float(a), float(b))), x.bound)
            return
        parts = rounded(Fraction(a)), rounded(Fraction(b))
        new = form(gamma, x.fresh(), y.fresh(), parts)
        carried = abs(1.0 - gamma.value) * x.bound + gamma.value * y.bound + gamma.bound * (x.bound + y.bound)
        self._tokens = Rounded(new.value, (new.bound + carried) * UP)

    def _select(self, exact: _Exact, orbit: Orbit, matrix: Rounded, picked: list[int]) -> None:
        for i, (k, target) in enumerate(zip(picked, exact.targets, strict=True)):
            if exact.names[k] != target:
                row = exact.state.scores[i]
                over = orbit.B_bottom * exact.state.bottom**2
                errors = _scores(matrix, self._tokens).bound[i]
                self.selection = Selection(
                    t=exact.state.t,
                    token=i,
                    taken=k,
                    exact=(target, *(c for c in exact.choices[i] if c != target)),
                    gap=ratio_double(row[k] - min(row), over),
                    error=None,
                    error_bound=float((errors[k] + errors[target]) * UP),
                )
                return

    def _predicate(self, exact: _Exact, left: Rounded, right: Rounded) -> None:
        t = exact.state.t
        fails = left.value > right.value
        components = tuple(i for i, failing in enumerate(fails.tolist()) if failing)
        if components and self.violation is None:
            self.violation = (t, components)
        really = {i for i in range(len(exact.energies)) if exact.mask >> i & 1}
        if self.predicate is not None or set(components) == really:
            return
        i = min(set(components) ^ really)
        side = Fraction(exact.energies[i], 2 * exact.over)
        value = float(left.value[i])
        bounded = self.selection is None
        self.predicate = Predicate(
            t=t,
            what="claim",
            component=i,
            holds=i in components,
            gap=nearest_double(side - self.bound.rhs(t)),
            excess=finite(value - right.value),
            error=nearest_double(Fraction(value) - side) if isfinite(value) else LARGEST,
            error_bound=finite(float((left.bound[i] + right.bound) * UP)) if bounded else None,
            parted=not bounded,
        )


def _array(rows: tuple[tuple[Fraction, ...], ...]) -> Rounded:
    entries = [[rounded(x) for x in row] for row in rows]
    values, bounds = ([[getattr(x, name) for x in row] for row in entries] for name in ("value", "bound"))
    return Rounded(np.array(values), np.array(bounds))


# The three below take float64 arrays or `Rounded` ones; sums run from left to right over the coordinates.


def _images(matrix: Any, tokens: Any) -> Any:
    """Bx for every token."""
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
