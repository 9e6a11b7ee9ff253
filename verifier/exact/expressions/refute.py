"""The exact answer to a claim about one assignment: substitute, enclose where roots or logarithms enter, compare."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from flint import arb

from verifier.exact.answer import Horizon, Hypothesis, Refutation
from verifier.exact.expressions.balls import Balls, precision
from verifier.exact.expressions.decide import Decided, certified_precision, decide
from verifier.exact.expressions.evaluate import Sides
from verifier.exact.expressions.meter import CERTIFIED_UNITS, Meter, OutOfTimeError
from verifier.exact.expressions.problem import ExpressionProblem
from verifier.exact.expressions.shown import clause, difference_text, hypothesis_of, witness_of
from verifier.model.answers import ExactAnswer

LADDER = (64, 128, 256, 512, 1_000, 2_000, 4_000)
"""Bits at which a comparison is tried before it counts as not separated."""

Progress = Callable[[int, str], None]
Decisions = tuple[Decided[arb], ...]


def refute_expression(
    problem: ExpressionProblem,
    *,
    horizon: int,  # noqa: ARG001  # every finder takes it; an assignment has no steps
    time_limit: float | None,
    progress: Progress | None = None,
) -> Refutation:
    """Decides the conclusion at the assignment, exactly, with enclosures for sqrt, exp and log.

    `time_limit` is in seconds; `progress` hears each precision that did not separate. Raises BadInput where the
    computation leaves the bounds of docs/certificates.md, sections 1 and 8.
    """
    meter = Meter(None if time_limit is None else time.monotonic() + time_limit)
    try:
        decisions, bits = _decisions(problem, meter, progress)
        return _answer(problem, decisions, bits, meter)
    except OutOfTimeError:
        return Refutation(
            ExactAnswer.VERIFIED_TO_HORIZON,
            "The time limit passed before the formulas were evaluated; nothing is known.",
            (),
            no_certificate="nothing was decided",
            horizon=Horizon(0, 0.0, 0, None, "time limit"),
        )


def _decisions(problem: ExpressionProblem, meter: Meter, progress: Progress | None) -> tuple[Decisions, int]:
    """Every formula decided at the lowest precision that does, and the highest precision used."""
    found: Decisions = ()
    bits = 0
    for bits in LADDER:
        with precision(bits):
            now = decide(problem, Balls(), meter if not found else meter.fresh())
        found = tuple(a if a.settled else b for a, b in zip(found, now, strict=True)) if found else now
        if all(decided.settled for decided in found):
            break
        if progress is not None:
            progress(0, f"not separated at {bits} bits")
    return found, bits


def _answer(problem: ExpressionProblem, decisions: Decisions, bits: int, meter: Meter) -> Refutation:
    *premises, conclusion = decisions
    hypotheses = tuple(hypothesis_of(decided, bits) for decided in premises)
    unmet = [decided for decided in premises if not decided.truth]
    if unmet:
        first = next((decided for decided in unmet if decided.truth is False), unmet[0])
        return _unsupported(
            f"The assignment is outside the hypotheses: {first.stated.text}; {clause(first, bits)}.", hypotheses
        )
    if conclusion.outside:
        defined = hypothesis_of(conclusion, bits, name="the conclusion has a value at this assignment")
        return _unsupported(
            f"The conclusion says nothing at this assignment: {clause(conclusion, bits)}.", (*hypotheses, defined)
        )
    notes = _sides(conclusion, bits)
    if conclusion.truth is None:
        return Refutation(
            ExactAnswer.AMBIGUOUS,
            f"The conclusion is open: {clause(conclusion, bits)}.",
            hypotheses,
            no_certificate="no precision tried separates the sides",
            notes=notes,
        )
    if conclusion.truth:
        return Refutation(
            ExactAnswer.HOLDS_FOR_ALL,
            f"The conclusion holds at this assignment: {clause(conclusion, bits)}. Of other assignments this says "
            "nothing.",
            hypotheses,
            no_certificate="a certificate attacks a claim",
            notes=notes,
        )
    certificate, reason = _certificate(problem, meter)
    return Refutation(
        ExactAnswer.VIOLATED,
        f"The hypotheses hold at this assignment and the conclusion fails: {clause(conclusion, bits)}.",
        hypotheses,
        certificate=certificate,
        no_certificate=reason,
        notes=notes,
    )


def _unsupported(sentence: str, hypotheses: tuple[Hypothesis, ...]) -> Refutation:
    return Refutation(
        ExactAnswer.UNSUPPORTED_HYPOTHESIS,
        sentence,
        hypotheses,
        no_certificate="a certificate attacks a claim inside its hypotheses",
    )


def _sides(conclusion: Decided[arb], bits: int) -> tuple[str, ...]:
    """What the conclusion compares, exactly, and the difference where both sides are close."""
    if conclusion.shows is None:
        return ()
    found = witness_of(conclusion.shows)
    if isinstance(conclusion.shows.found, Sides):
        gap = difference_text(conclusion.shows.found, bits)
        return (f"left side {found['left']}", f"right side {found['right']}", *([gap] if gap else []))
    names = {"x": "witness vector x", "value": "⟨Mx, x⟩"}
    lists = {names.get(name, name): value for name, value in found.items() if name != "at"}
    return tuple(f"{name}: {', '.join(map(str, v)) if isinstance(v, list) else v}" for name, v in lists.items())


def _certificate(problem: ExpressionProblem, meter: Meter) -> tuple[dict[str, Any] | None, str]:
    head = {"schema": "verifier/certificate/1", "kind": "witness", "problem": problem.document}
    if not problem.statement.real:
        if meter.units > CERTIFIED_UNITS:
            return None, "too large: checking would take more than half of a checker's budget"
        return head, ""
    p, reason = certified_precision(problem, meter=meter)
    return (None, reason) if p is None else ({**head, "kind": "ball", "precision": p}, "")
