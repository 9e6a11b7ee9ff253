"""The exact answer to a hardmax problem."""

from __future__ import annotations

import time

from verifier.exact.answer import Horizon, Hypothesis, Refutation, Ties
from verifier.exact.clock import Clock, TimeUp
from verifier.exact.hardmax.bound import Bound
from verifier.exact.hardmax.branches import Branch, Explored, explore, under
from verifier.exact.hardmax.certificate import for_all_certificate, violation_certificate
from verifier.exact.hardmax.horizon import horizon_of, reached
from verifier.exact.hardmax.pathwise import refute_pathwise
from verifier.exact.hardmax.problem import INSIDE, WHILE_INSIDE, HardmaxProblem, hypotheses_of
from verifier.exact.hardmax.selections import TOO_MANY, Followed, ambiguous, depends, partly_decided
from verifier.exact.hardmax.walk import Follower, Limits, Progress
from verifier.exact.known import would_catch
from verifier.model.answers import ExactAnswer

_VIOLATED = (ExactAnswer.VIOLATED, ExactAnswer.VIOLATED_FOR_ALL)


def refute_hardmax(
    problem: HardmaxProblem, *, horizon: int, time_limit: float | None, progress: Progress | None
) -> Refutation:
    """Decides the energy bound for one start, for all t where the pattern freezes or the origin is separated."""
    deadline = None if time_limit is None else time.monotonic() + time_limit
    clock = Clock(time_limit, progress)
    try:
        hypotheses = hypotheses_of(problem, tick=lambda: clock.tick(problem.t0, "deciding the hypotheses"))
    except TimeUp:
        return _late(problem)
    failed = [hypothesis for hypothesis in hypotheses if not hypothesis.holds]
    if failed:
        return Refutation(
            ExactAnswer.UNSUPPORTED_HYPOTHESIS,
            f"The start is outside the hypotheses: not shown that {failed[0].name}; {failed[0].sentence}.",
            hypotheses,
            no_certificate="a certificate attacks a claim inside its hypotheses",
        )
    limits = Limits(horizon, deadline, progress)
    bits = 64
    while True:
        follower = Follower(problem, Bound(problem, bits=bits), limits)
        answer = _decide(follower, hypotheses)
        first = answer.first_violation
        if first is None or first.lhs is None or first.lhs > first.rhs or bits > 4_096:
            return answer
        bits *= 4  # an irrational λ_max whose rational bound was not below the left side


def _late(problem: HardmaxProblem) -> Refutation:
    horizon = Horizon(problem.t0 - 1, None, None, predicted_crossing=None, stopped_by="time limit")
    return Refutation(
        ExactAnswer.VERIFIED_TO_HORIZON,
        "The time limit came before the hypotheses were decided; nothing is known.",
        (),
        no_certificate="nothing is known",
        horizon=horizon,
    )


def _decide(follower: Follower, hypotheses: tuple[Hypothesis, ...]) -> Refutation:
    problem = follower.problem
    if problem.claim in (INSIDE, WHILE_INSIDE):
        return refute_pathwise(follower, hypotheses)
    if problem.ties != "any-selection":
        branch = under(follower, problem.ties)
        return _together(follower, hypotheses, (branch,), _ties((branch,), {problem.ties: branch}))
    lowest = under(follower, "lowest-index")
    if lowest.walk.first_tie is None:
        return _together(follower, hypotheses, (lowest,), None)
    highest = under(follower, "highest-index")
    rules = {"lowest-index": lowest, "highest-index": highest}
    ties = _ties((lowest, highest), rules)
    if depends((lowest.answer, highest.answer)):
        return ambiguous(hypotheses, ties, "the answers under the lowest and the highest index differ")
    explored: Explored = explore(follower)
    known = [lowest, highest, *explored.branches]
    if not explored.complete:
        explored = explore(follower, separate_at_tie=True)
        known += explored.branches
    seen = explored.branches
    if depends(branch.answer for branch in known):
        return ambiguous(hypotheses, ties, "some selections break the bound and some do not")
    open_ = any(branch.answer is ExactAnswer.VERIFIED_TO_HORIZON for branch in seen)
    if open_ and (not explored.complete or any(branch.violated for branch in seen)):
        followed = [Followed(b.answer, b.first.t if b.first else None, reached(b.walk)) for b in seen]
        horizon = _horizon(follower, seen, complete=explored.complete)
        return partly_decided(hypotheses, ties, followed, horizon=horizon, complete=explored.complete)
    return _together(follower, hypotheses, seen, ties)


def _ties(branches: tuple[Branch, ...], rules: dict[str, Branch]) -> Ties | None:
    first = min((b.walk.first_tie for b in branches if b.walk.first_tie is not None), default=None)
    if first is None:
        return None
    answers = {rule: (b.answer, b.first.t if b.first else None) for rule, b in rules.items()}
    return Ties(first[0], first[1], first[2], answers)


def _together(
    follower: Follower, hypotheses: tuple[Hypothesis, ...], branches: tuple[Branch, ...], ties: Ties | None
) -> Refutation:
    """One answer from branches that agree on whether the bound fails."""
    answers = {branch.answer for branch in branches}
    if answers <= {ExactAnswer.HOLDS_FOR_ALL}:
        sentence = "The bound holds at every step: the energies reach 0 exactly or decrease below it."
        if follower.bound.diameter_squared == 0:
            sentence = "The bound holds at every step: all tokens coincide."
        worst, at = max(branch.walk.worst for branch in branches)
        return Refutation(
            ExactAnswer.HOLDS_FOR_ALL,
            sentence,
            hypotheses,
            ties=ties,
            no_certificate="a certificate attacks a claim",
            smallest_margin=(1 - worst, at) if worst >= 0 else None,
        )
    if not answers <= set(_VIOLATED):
        return _to_horizon(follower, hypotheses, branches, ties)
    known = [branch.first for branch in branches if branch.first is not None]
    first = min(known, key=lambda failure: (failure.t, failure.component)) if len(known) == len(branches) else None
    if answers == {ExactAnswer.VIOLATED_FOR_ALL}:
        return _for_all(follower, hypotheses, branches, ties)
    if first is None:
        return Refutation(
            ExactAnswer.VIOLATED,
            "The bound fails under every selection; under some of them the step at which it first fails is not known.",
            hypotheses,
            ties=ties,
            no_certificate="it would have to name the first failing step of every selection",
        )
    certificate, reason = violation_certificate(follower, hypotheses, branches)
    return Refutation(
        ExactAnswer.VIOLATED,
        f"The bound fails at t = {first.t} for component {first.component}, for the first time.",
        hypotheses,
        first_violation=first,
        ties=ties,
        certificate=certificate,
        no_certificate=reason,
    )


def _for_all(
    follower: Follower, hypotheses: tuple[Hypothesis, ...], branches: tuple[Branch, ...], ties: Ties | None
) -> Refutation:
    document, reason, fails_from, by_component = for_all_certificate(follower, hypotheses, branches)
    known = [branch.first for branch in branches if branch.first is not None]
    first = min(known, key=lambda failure: (failure.t, failure.component)) if len(known) == len(branches) else None
    minimal = all(branch.settled is not None for branch in branches)
    begins = f"first at t = {first.t} for component {first.component}; " if first else ""
    notes = () if minimal else ("fails_from comes from a separating vector and is not shown to be the smallest",)
    if document is not None and document["fails_from"] != fails_from:
        notes = (f"the certificate proves less, the failure from t = {document['fails_from']} on",)
    return Refutation(
        ExactAnswer.VIOLATED_FOR_ALL,
        f"The bound fails, {begins}from t = {fails_from} on some component breaks it at every step.",
        hypotheses,
        first_violation=first,
        fails_from=fails_from,
        fails_from_by_component=by_component,
        ties=ties,
        certificate=document,
        no_certificate=reason,
        notes=notes,
    )


def _to_horizon(
    follower: Follower, hypotheses: tuple[Hypothesis, ...], branches: tuple[Branch, ...], ties: Ties | None
) -> Refutation:
    horizon = _horizon(follower, branches, complete=True)
    sentence = "The time limit came before the first step; the hypotheses hold, and nothing else is known."
    if horizon.margin is not None:
        sentence = (
            f"The bound holds up to t = {horizon.t}; nothing is known beyond. Its smallest margin is "
            f"{horizon.margin:.4g}, at t = {horizon.margin_at}."
        )
    return Refutation(
        ExactAnswer.VERIFIED_TO_HORIZON,
        sentence,
        hypotheses,
        ties=ties,
        no_certificate="a certificate attacks a claim",
        horizon=horizon,
    )


def _horizon(follower: Follower, branches: tuple[Branch, ...], *, complete: bool) -> Horizon:
    """How far the open branches were followed; the margin is over those that do not break the bound."""
    open_ = [branch.walk for branch in branches if branch.answer is ExactAnswer.VERIFIED_TO_HORIZON]
    walk = min(open_, key=reached)
    stopped_by = "horizon" if complete else TOO_MANY
    if any(walk.ending == "time" for walk in open_):
        stopped_by = "time limit"
    return horizon_of(
        walk,
        follower.bound,
        worst=max(branch.walk.worst for branch in branches if not branch.violated),
        stopped_by=stopped_by,
        catches=would_catch("hardmax-frank-wolfe", reached(walk)),
    )
