"""A margin series as JSON values and back: it travels from the worker that computes it to the report that draws it."""

from __future__ import annotations

import dataclasses
from typing import Any

from verifier.exact.answer import Refutation
from verifier.exact.divergence import Divergence, FloatSeries, Predicate, Selection
from verifier.exact.hardmax.problem import HardmaxProblem
from verifier.exact.margin import MarginSeries, comparable, margins
from verifier.exact.piecewise.problem import MapProblem
from verifier.exact.refute import Problem, parse_problem
from verifier.exact.search import SearchProblem
from verifier.model.answers import ExactAnswer


def margins_of(problem: Problem, found: Refutation, *, horizon: int) -> tuple[MarginSeries | None, str]:
    """What there is to draw, of the start found where the problem left it open; or None and why there is nothing."""
    if found.answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS:
        return None, "the start is outside the hypotheses"
    if isinstance(problem, SearchProblem):
        if found.certificate is None:
            return None, "the search found no start"
        problem = parse_problem(found.certificate["problem"])
    if not isinstance(problem, HardmaxProblem | MapProblem):
        return None, "the problem has no steps"
    if not comparable(problem):
        return None, "the numbers of the start are too long to draw"
    return margins(problem, found, horizon=horizon), ""


def margin_document(series: MarginSeries) -> dict[str, Any]:
    """The series as JSON values; doubles may be infinite."""
    return dataclasses.asdict(series)


def margin_series(document: dict[str, Any]) -> MarginSeries:
    """The series that `margin_document` wrote. Raises KeyError or TypeError for anything else."""
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in document.items()
    }
    fields["floats"] = tuple(
        FloatSeries(each["form"], *(tuple(each[key]) for key in ("values", "apart", "bounds")))
        for each in document["floats"]
    )
    fields["divergences"] = tuple(map(_divergence, document["divergences"]))
    return MarginSeries(**fields)


def _divergence(document: dict[str, Any]) -> Divergence:
    first, selection, predicate = (document[key] for key in ("first_violation", "first_selection", "first_predicate"))
    return Divergence(
        **{
            **document,
            "first_violation": None if first is None else (first[0], tuple(first[1])),
            "first_selection": None
            if selection is None
            else Selection(**{**selection, "exact": tuple(selection["exact"])}),
            "first_predicate": None if predicate is None else Predicate(**predicate),
        }
    )
