"""The exact answer to a claim about the orbit of a piecewise affine map."""

from __future__ import annotations

from collections.abc import Iterator

from verifier.exact.answer import Refutation
from verifier.exact.clock import Clock, Progress, TimeUp
from verifier.exact.piecewise.affine import decide_affine
from verifier.exact.piecewise.answers import (
    NOT_CERTIFIED,
    above,
    stays_where_false,
    stays_where_true,
    undefined,
    unmet,
)
from verifier.exact.piecewise.boxes import find_boxes
from verifier.exact.piecewise.ellipsoids import find_ellipsoids
from verifier.exact.piecewise.horizon import Watch, reached
from verifier.exact.piecewise.problem import ONE_VALUE, MapProblem
from verifier.exact.piecewise.rays import find_points, find_ray, fits
from verifier.exact.piecewise.regimes import Known, Regime, regimes
from verifier.exact.piecewise.stays import Stay
from verifier.exact.piecewise.trace import MOST_STEPS, begin
from verifier.model.answers import ExactAnswer

PREFIXES = (60, 240, 960, MOST_STEPS)
"""Steps after which a set is sought; beyond the last, exact returns and broken inequalities alone."""
STRIDE = 1_000


def refute_map(
    problem: MapProblem, *, horizon: int, time_limit: float | None = None, progress: Progress | None = None
) -> Refutation:
    """Decides a claim for one start: by exact returns, invariant sets and the modes that the start excites.

    `horizon` bounds the steps taken, `time_limit` is in seconds; where either ends first the answer is
    VERIFIED_TO_HORIZON. Floating point takes no part.
    """
    failed = [hypothesis for hypothesis in problem.hypotheses if not hypothesis.holds]
    if failed:
        first = failed[0]
        sentence = f"The start is outside the hypotheses: not shown that {first.name}; {first.sentence}."
        if first.name == ONE_VALUE:
            sentence = f"It is the map, not the start, that is not shown to have one value: {first.sentence}."
        return unmet(problem.hypotheses, sentence)
    search = _Search(problem, Clock(time_limit, progress))
    timed_out = False
    try:
        found = search.run(horizon)
    except TimeUp:
        found, timed_out = search.in_time(), True
    return found or search.to_horizon(timed_out=timed_out)


class _Search:
    def __init__(self, problem: MapProblem, clock: Clock) -> None:
        self.problem, self.clock = problem, clock
        self.trace = begin(problem.map, problem.z)
        claim = problem.claim
        self.watch = Watch(claim.h, claim.g) if claim.h is not None and claim.g is not None else None
        self.known: Known = {}
        self.notes: tuple[str, ...] = ()

    def run(self, horizon: int) -> Refutation | None:
        """Steps on until something decides or the horizon is reached. Raises TimeUp."""
        trace = self.trace
        for steps in _stops(horizon):
            trace.extend(steps, self.clock)
            found = self.in_time() or self._by_return()
            if found is None and steps == _first(horizon):
                found, self.notes = decide_affine(self.problem, self.clock)
            if found is None and steps <= MOST_STEPS:
                found = self._by_sets()
            if found is not None or trace.ended or trace.repeat is not None:
                return found
        return None

    def in_time(self) -> Refutation | None:
        """What the steps taken so far decide by themselves: a broken inequality, a state without a branch."""
        failure = self.watch.look(self.trace) if self.watch is not None else None
        if failure is not None:
            return above(self.problem, failure, certified=failure.t <= self.trace.certified)
        if self.trace.ended == "undefined":
            return undefined(self.problem, self.trace.last, self.trace.state(self.trace.last))
        return None

    def _by_return(self) -> Refutation | None:
        stay = find_points(self.trace)
        if stay is None:
            return None
        found = stays_where_false(self.problem, stay, certified=fits(self.trace, stay))
        return found or stays_where_true(self.problem, stay)

    def _by_sets(self) -> Refutation | None:
        for regime in regimes(self.trace, self.known, self.clock):
            for stay in self._stays(regime):
                found = stays_where_false(self.problem, stay) or stays_where_true(self.problem, stay)
                if found is not None:
                    return found
        return None

    def _stays(self, regime: Regime) -> Iterator[Stay]:
        ray = find_ray(self.trace, regime)
        if ray is not None:
            yield ray
        yield from find_ellipsoids(self.trace, regime, self.clock)
        yield from find_boxes(self.trace, regime, self.clock)

    def to_horizon(self, *, timed_out: bool) -> Refutation:
        """No answer: how far the orbit was stepped."""
        horizon = reached(self.problem, self.trace, self.watch, timed_out=timed_out)
        what = (
            f"h.z stays at most g up to t = {horizon.t}; nothing is known beyond."
            if self.watch is not None
            else f"Nothing found: {horizon.t} exact steps show no invariant set that decides the claim."
        )
        return Refutation(
            ExactAnswer.VERIFIED_TO_HORIZON,
            what,
            self.problem.hypotheses,
            no_certificate=NOT_CERTIFIED,
            horizon=horizon,
            notes=self.notes,
        )


def _first(horizon: int) -> int:
    return min(PREFIXES[0], horizon)


def _stops(horizon: int) -> Iterator[int]:
    """Where to look up from stepping: the prefixes, then every thousand steps, the horizon last."""
    yield from (steps for steps in PREFIXES if steps < horizon)
    yield from range(MOST_STEPS + STRIDE, horizon, STRIDE)
    yield horizon
