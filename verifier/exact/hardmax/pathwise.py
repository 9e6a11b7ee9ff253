"""The two repaired claims: the energy bound with 0 ∈ K^t at every step, and as long as 0 ∈ K^0, …, K^t."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from verifier.exact.answer import Horizon, Hypothesis, Refutation, Ties
from verifier.exact.hardmax.horizon import horizon_of, reached
from verifier.exact.hardmax.inside import InsideFollower, Path, Paths
from verifier.exact.hardmax.problem import INSIDE, texts
from verifier.exact.hardmax.selections import TOO_MANY, Followed, ambiguous, depends, partly_decided
from verifier.exact.hardmax.walk import Follower
from verifier.exact.reading import Vector
from verifier.model.answers import ExactAnswer

MOST_WITNESS_BITS = 3_300
"""Weights with longer numbers were computed and are not printed."""

MOST_SHOWN = 80
"""Characters of a vector that a sentence holds."""

NO_KIND = "the format has no certificate for this claim; the failing step and both sides are in the answer"
NOT_ATTACKED = "a certificate attacks a claim"
OUTSIDE = "a certificate attacks a claim inside its hypotheses"


def refute_pathwise(follower: Follower, hypotheses: tuple[Hypothesis, ...]) -> Refutation:
    """The answer to `energy-bound-inside` or `energy-bound-while-inside`; the other hypotheses are known to hold.

    `energy-bound-inside` asks for 0 ∈ K^t at every t: where the origin leaves, the start is outside the hypotheses.
    `energy-bound-while-inside` says that the inequality of step t holds for all t with 0 ∈ K^0, …, K^t.
    """
    whole = follower.problem.claim == INSIDE
    known = next((h.witness["weights"] for h in hypotheses if h.holds and "weights" in h.witness), None)
    weights = None if known is None else tuple(Fraction(x) for x in known)
    inside = InsideFollower(follower, whole=whole, weights=weights)
    if follower.problem.ties != "any-selection":
        path = inside.under(follower.problem.ties)
        return _together(follower, hypotheses, (path,), _ties({follower.problem.ties: path}, whole=whole))
    single = inside.under("any-selection")
    if single.ending != "tie":
        return _together(follower, hypotheses, (single,), None)
    rules = {rule: inside.under(rule) for rule in ("lowest-index", "highest-index")}
    ties = _ties(rules, whole=whole, others=(single,))
    if depends(_answer(path, whole=whole) for path in rules.values()):
        return ambiguous(hypotheses, ties, "the answers under the lowest and the highest index differ")
    found: Paths = inside.explore()
    answers = [_answer(path, whole=whole) for path in found.paths]
    if depends((*answers, *(_answer(path, whole=whole) for path in rules.values()))):
        return ambiguous(hypotheses, ties, "the answers of the selections differ")
    open_ = ExactAnswer.VERIFIED_TO_HORIZON in answers
    if open_ and (not found.complete or set(answers) & {ExactAnswer.VIOLATED, ExactAnswer.UNSUPPORTED_HYPOTHESIS}):
        followed = [
            Followed(answer, path.first.t if path.first else None, _shown_to(path))
            for answer, path in zip(answers, found.paths, strict=True)
        ]
        horizon = _horizon(follower, found.paths, whole=whole, complete=found.complete)
        return partly_decided(hypotheses, ties, followed, horizon=horizon, complete=found.complete)
    return _together(follower, hypotheses, found.paths, ties)


def _answer(path: Path, *, whole: bool) -> ExactAnswer:
    """One path's answer: the first row that applies."""
    if whole and path.exit is not None:
        return ExactAnswer.UNSUPPORTED_HYPOTHESIS
    if path.first is not None:
        return ExactAnswer.VIOLATED
    if path.ending in ("left", "still", "quiet"):
        return ExactAnswer.HOLDS_FOR_ALL
    return ExactAnswer.VERIFIED_TO_HORIZON


def _ties(rules: dict[Any, Path], *, whole: bool, others: tuple[Path, ...] = ()) -> Ties | None:
    known = [path.walk.first_tie for path in (*rules.values(), *others) if path.walk.first_tie is not None]
    if not known:
        return None
    t, token, classes = min(known)
    answers = {
        str(rule): (_answer(path, whole=whole), path.first.t if path.first else None) for rule, path in rules.items()
    }
    return Ties(t, token, classes, answers)


def _together(
    follower: Follower, hypotheses: tuple[Hypothesis, ...], paths: tuple[Path, ...], ties: Ties | None
) -> Refutation:
    """One answer from paths that agree."""
    whole = follower.problem.claim == INSIDE
    many = len(paths) > 1
    hulls = tuple(_hulls(path, whole=whole, name=f", selection {k}" if many else "") for k, path in enumerate(paths))
    found = (*hypotheses, *hulls)
    exits = [path.exit[0] for path in paths if path.exit is not None]
    exit_step = max(exits) if len(exits) == len(paths) else None
    notes = (f"the origin leaves at the steps {sorted(set(exits))}, by selection",) if len(set(exits)) > 1 else ()
    every = " under every selection" if many else ""
    answers = {_answer(path, whole=whole) for path in paths}
    if ExactAnswer.UNSUPPORTED_HYPOTHESIS in answers:
        return Refutation(
            ExactAnswer.UNSUPPORTED_HYPOTHESIS,
            f"The start is outside the hypotheses{every}: 0 is not in K^{exit_step}; a vector with a positive product "
            "with every token shows it.",
            found,
            ties=ties,
            no_certificate=OUTSIDE,
            notes=notes,
            exit_step=exit_step,
        )
    if ExactAnswer.VIOLATED in answers:
        return _violated(found, paths, ties)
    if answers == {ExactAnswer.HOLDS_FOR_ALL}:
        worst, at = max(path.walk.worst for path in paths)
        known = worst >= 0 and (exit_step is None or at < min(exits))
        return Refutation(
            ExactAnswer.HOLDS_FOR_ALL,
            _holds(paths, exit_step, every=every),
            found,
            ties=ties,
            no_certificate=NOT_ATTACKED,
            smallest_margin=(1 - worst, at) if known else None,
            notes=notes,
            exit_step=exit_step,
        )
    return _to_horizon(follower, found, paths, ties)


def _holds(paths: tuple[Path, ...], exit_step: int | None, *, every: str) -> str:
    if exit_step is not None:
        return (
            f"The bound holds while the origin is in the hull{every}: it leaves at t = {exit_step}, and no step before "
            "breaks the bound."
        )
    if all(path.ending == "still" for path in paths):
        return f"The bound holds at every step{every}, with the origin in the hull for ever."
    return f"The bound holds at every step at which the origin is in the hull{every}."


def _violated(hypotheses: tuple[Hypothesis, ...], paths: tuple[Path, ...], ties: Ties | None) -> Refutation:
    first = min((path.first for path in paths if path.first is not None), key=lambda found: (found.t, found.component))
    end = min(path.latest[0] for path in paths if path.latest is not None)
    notes = (f"the origin is in the hull up to t = {end} at least; what comes later is not decided",)
    if all(path.ending == "still" for path in paths):
        notes = ("the origin is in the hull for ever",)
    return Refutation(
        ExactAnswer.VIOLATED,
        f"The bound fails at t = {first.t} for component {first.component}, for the first time, with the origin in "
        f"K^0, …, K^{first.t}.",
        hypotheses,
        first_violation=first,
        ties=ties,
        no_certificate=NO_KIND,
        notes=notes,
    )


def _to_horizon(
    follower: Follower, hypotheses: tuple[Hypothesis, ...], paths: tuple[Path, ...], ties: Ties | None
) -> Refutation:
    horizon = _horizon(follower, paths, whole=follower.problem.claim == INSIDE, complete=True)
    margin = (
        "" if horizon.margin is None else f" Its smallest margin is {horizon.margin:.4g}, at t = {horizon.margin_at}."
    )
    return Refutation(
        ExactAnswer.VERIFIED_TO_HORIZON,
        f"The bound holds up to t = {horizon.t}, with the origin in the hull that far; nothing is known beyond."
        f"{margin}",
        hypotheses,
        ties=ties,
        no_certificate=NOT_ATTACKED,
        horizon=horizon,
    )


def _horizon(follower: Follower, paths: tuple[Path, ...], *, whole: bool, complete: bool) -> Horizon:
    """How far the open paths were followed; the margin is over those that hold."""
    answers = [_answer(path, whole=whole) for path in paths]
    holding = {ExactAnswer.VERIFIED_TO_HORIZON, ExactAnswer.HOLDS_FOR_ALL}
    open_ = [path for path, said in zip(paths, answers, strict=True) if said is ExactAnswer.VERIFIED_TO_HORIZON]
    shortest = min(open_, key=_shown_to)
    stopped_by = "horizon" if complete else TOO_MANY
    if any(path.ending == "time" for path in open_):
        stopped_by = "time limit"
    horizon = horizon_of(
        shortest.walk,
        follower.bound,
        worst=max(path.walk.worst for path, said in zip(paths, answers, strict=True) if said in holding),
        stopped_by=stopped_by,
        catches=(),  # no counterexample of these two claims is known
    )
    return replace(horizon, t=_shown_to(shortest))


def _shown_to(path: Path) -> int:
    """The last step whose inequality holds with the origin in the hull that far."""
    return min(reached(path.walk), path.latest[0]) if path.latest is not None else reached(path.walk)


def _hulls(path: Path, *, whole: bool, name: str) -> Hypothesis:
    """What is shown of 0 ∈ K^t along a path: the weights where it holds, the vector where it ends."""
    listed = dict([*path.weights, *([path.latest] if path.latest else [])])
    witness: dict[str, Any] = {
        "inside": [{"t": t, "weights": texts(w)} for t, w in sorted(listed.items()) if _printable(w)]
    }
    if path.exit is None:
        last = path.latest[0] if path.latest else None
        witness["inside_up_to"] = None if path.ending == "still" else last
        reach = "for every t" if path.ending == "still" else f"up to t = {last}"
        sentence = "weights at the steps listed; hulls are nested, so a step inside answers for all before it"
        return Hypothesis(f"the origin lies in K^t {reach}{name}", holds=True, witness=witness, sentence=sentence)
    e, u = path.exit
    witness |= {"t": e, "u": texts(u)}
    vector = f"({', '.join(texts(u))})"
    shown = f"u = {vector}" if len(vector) <= MOST_SHOWN else "u"
    outside = f"0 is not in K^{e}: the vector {shown} has a positive product with every token there"
    if whole:
        return Hypothesis(f"the origin lies in K^t for every t{name}", holds=False, witness=witness, sentence=outside)
    return Hypothesis(f"the origin lies in K^t up to t = {e - 1}{name}", holds=True, witness=witness, sentence=outside)


def _printable(weights: Vector) -> bool:
    return max(max(w.numerator.bit_length(), w.denominator.bit_length()) for w in weights) <= MOST_WITNESS_BITS
