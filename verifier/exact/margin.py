"""The margin of a claim step by step, exact and in float64: what the picture of `refute --figure` shows."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import lcm

from verifier.exact.answer import Refutation
from verifier.exact.divergence import Comparison, Divergence, FloatSeries
from verifier.exact.hardmax.floats import compare_hardmax
from verifier.exact.hardmax.problem import HardmaxProblem
from verifier.exact.piecewise.floats import compare_map
from verifier.exact.piecewise.problem import MapProblem

MOST_POINTS = 400
MOST_BITS = 8_000
"""Bits of a start's common denominator up to which the exact run is stepped beside the floats."""
NEAR = 40
"""Steps before and after a first violation or difference of which every one is kept."""


@dataclass(frozen=True, slots=True)
class MarginSeries:
    """The claim's quantity at chosen steps, for the exact run and every float64 form.

    `t`, `exact`, `component` and every entry of `floats` have one length. The claim forbids `exact` to exceed
    `threshold`; None: it is about the limit, and `asks` says what it wants. `first` is the exact first violation (step,
    component), `steps` the last step compared, `every` whether no step was left out. `rule` is the tie rule followed,
    "" where there is none.
    """

    quantity: str
    asks: str
    threshold: float | None
    rule: str
    first: tuple[int, int] | None
    steps: int
    every: bool
    t: tuple[int, ...]
    exact: tuple[float, ...]
    component: tuple[int, ...]
    floats: tuple[FloatSeries, ...]
    divergences: tuple[Divergence, ...]
    answer: str


def comparable(problem: object) -> bool:
    """Whether exact steps beside the floats are affordable: not where the start's common denominator is too long."""
    if not isinstance(problem, HardmaxProblem):
        return True
    return lcm(*(x.denominator for token in problem.tokens for x in token)).bit_length() <= MOST_BITS


def compare(
    problem: HardmaxProblem | MapProblem, found: Refutation, *, horizon: int, bounds: bool = False
) -> Comparison:
    """The exact run and every float64 form side by side; `found` says how far they must go to be of use.

    `bounds` asks for a bound on the rounding at every step, which a picture shows.
    """
    first = found.first_violation.t if found.first_violation is not None else None
    if isinstance(problem, MapProblem):
        return compare_map(problem, first, horizon=horizon)
    if first is None and found.ties is not None:
        rule = "highest-index" if problem.ties == "highest-index" else "lowest-index"
        first = found.ties.answers[rule][1] if rule in found.ties.answers else None
    ends = None if found.exit_step is None else max(problem.t0, found.exit_step - 1)  # 0 is outside from then on
    return compare_hardmax(problem, first, horizon=horizon, ends=ends, bounds=bounds)


def margins(problem: HardmaxProblem | MapProblem, found: Refutation, *, horizon: int) -> MarginSeries:
    """The margin against t: at most about 400 steps, evenly in log t, and every step near where something happens.

    For the energy bound it is left/right − 1 at the token where that is largest; for maps the quantity that the claim
    speaks of. Exact values are doubles rounded from the exact ones. `horizon` limits the steps as in `refute`.
    """
    return thinned(compare(problem, found, horizon=horizon, bounds=True), answer=str(found.answer))


def thinned(given: Comparison, *, answer: str) -> MarginSeries:
    """A comparison at the steps that the picture shows."""
    chosen = _chosen(given)
    return MarginSeries(
        quantity=given.quantity,
        asks=given.asks,
        threshold=given.threshold,
        rule=given.rule,
        first=given.first,
        steps=given.steps,
        every=len(chosen) == len(given.t),
        t=tuple(given.t[i] for i in chosen),
        exact=tuple(given.exact[i] for i in chosen),
        component=tuple(given.component[i] for i in chosen),
        floats=tuple(
            FloatSeries(each.form, *(tuple(row[i] for i in chosen) for row in (each.values, each.apart, each.bounds)))
            for each in given.floats
        ),
        divergences=given.divergences,
        answer=answer,
    )


def events(divergences: tuple[Divergence, ...], first: tuple[int, int] | None) -> list[int]:
    """The steps at which something happens, ascending: first violations, first differences."""
    found = {first[0]} if first is not None else set()
    for each in divergences:
        found |= {each.first_violation[0]} if each.first_violation is not None else set()
        found |= {each.first_selection.t} if each.first_selection is not None else set()
        found |= {each.first_predicate.t} if each.first_predicate is not None else set()
    return sorted(found)


def _chosen(given: Comparison) -> list[int]:
    count = len(given.t)
    if count <= MOST_POINTS:
        return list(range(count))
    marks = events(given.divergences, given.first)
    near = min(NEAR, (MOST_POINTS // 2) // (2 * max(1, len(marks))))
    chosen = {0, count - 1}
    for mark in marks:
        at = bisect_left(given.t, mark)
        chosen.update(range(max(0, at - near), min(count, at + near + 1)))
    spaced = MOST_POINTS - len(chosen)
    if spaced > 0:
        chosen.update(min(count - 1, round(count ** (k / spaced))) for k in range(spaced + 1))
    return sorted(chosen)
