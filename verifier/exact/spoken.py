"""A refutation as lines for a terminal: start, hypotheses, both sides where the claim first fails, floats, notes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from verifier.exact.answer import Failure, Hypothesis, Refutation
from verifier.exact.hardmax.problem import HardmaxProblem
from verifier.exact.horizons import horizon_sentences
from verifier.exact.numerals import decimal, number, point
from verifier.exact.piecewise.problem import MapProblem
from verifier.exact.refute import Problem
from verifier.exact.search import SearchProblem

SHORT = 100
"""Characters up to which tokens, states and weights are shown in full."""


def refutation_lines(problem: Problem, found: Refutation, floats: dict[str, Any] | None) -> Iterator[str]:
    """What `refute` prints before its sentence; `floats` is what `float_report` says."""
    yield f"{found.answer}: {found.answer.sentence}."
    if start := start_line(problem):
        yield f"  {start}"
    for hypothesis in found.hypotheses:
        yield f"  {'holds' if hypothesis.holds else 'FAILS':<6} {hypothesis.name}: {_witnessed(hypothesis)}"
    yield from (f"  {line}" for line in _found_lines(found))
    energy = problem.document["system"] == "hardmax-frank-wolfe"
    for sentence in horizon_sentences(found.horizon, energy=energy) if found.horizon is not None else []:
        yield f"  {sentence}"
    for form in floats["forms"] if floats else []:
        yield f"  float64, {form.get('sentence') or ': '.join((form['form'], form['class']))}"
    for note in found.notes:
        yield f"  note: {note}"
    if found.certificate is None:
        yield f"  no certificate: {found.no_certificate}"


def _found_lines(found: Refutation) -> Iterator[str]:
    """The start that a search found, the first tie, the first violation, and from where it fails for good."""
    if found.search is not None and found.search.found_start is not None:
        yield f"start found: {json.dumps(found.search.found_start)}"
    if found.ties is not None:
        classes = ", ".join(map(str, found.ties.classes))
        yield f"first tie: t = {found.ties.t}, token {found.ties.token}, classes {classes}"
    if found.first_violation is not None:
        yield sides_line(found.first_violation)
    if found.fails_from is not None and found.fails_from_by_component is not None:
        parts = ", ".join("never" if t is None else str(t) for t in found.fails_from_by_component)
        by_component = f"; by component: {parts}" if len(parts) <= SHORT else ""
        yield f"fails from: t = {found.fails_from}{by_component}"


def start_line(problem: Problem) -> str:
    """The start and its size; empty for assignments, and where it is still to be found."""
    if isinstance(problem, SearchProblem):
        return ""
    state = problem.document["state"]
    if isinstance(problem, HardmaxProblem):
        return f"start: {tokens_text(state['tokens'])}"
    if isinstance(problem, MapProblem):
        return f"start: z = {shortened(point(state['z']))}"
    return ""


def tokens_text(tokens: list[list[str]]) -> str:
    """`2 tokens of dimension 1: (4), (-1)`, the size alone where they are long."""
    size = f"{len(tokens)} token{'s' * (len(tokens) != 1)} of dimension {len(tokens[0])}"
    text = ", ".join(map(point, tokens))
    return f"{size}: {text}" if len(text) <= SHORT else size


def shortened(text: str) -> str:
    """A text of at most 100 characters."""
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"


def _witnessed(hypothesis: Hypothesis) -> str:
    """The sentence, with the vector that it speaks of where that is short."""
    named = {"weights": "weights", "u": "u", "x": "witness vector x"}
    for key, name in named.items():
        if key in hypothesis.witness and len(text := point(hypothesis.witness[key])) <= SHORT:
            return f"{hypothesis.sentence}; {name} = {text}"
    return hypothesis.sentence


def sides_line(failure: Failure) -> str:
    """Both sides of the inequality at its first violation, exactly where short, and as decimals.

    A right side that is only bounded is said to be at most that bound. Sides that agree in all digits shown are
    followed by their difference.
    """
    where = f"first violation at t = {failure.t}, component {failure.component}"
    most = "at most " if failure.rhs_is == "bound" else ""
    right = f"right side {most}{number(failure.rhs)}"
    if failure.lhs is None:
        return f"{where}: the left side is too long to write, {right}"
    return f"{where}: left side {number(failure.lhs)}, {right}{difference(failure.lhs, failure.rhs, most)}"


def difference(left: Fraction, right: Fraction, most: str = "") -> str:
    """`, left - right …` where the first twelve digits of both are the same, else nothing."""
    if left == right or decimal(left) != decimal(right):
        return ""
    return f", left - right {'at least ' if most else ''}{number(left - right)}"
