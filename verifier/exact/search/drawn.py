"""The second part of a search: hypothesis draws starts towards small margins, and makes what it finds simpler."""

from __future__ import annotations

import json
from collections.abc import Callable

import hypothesis
import hypothesis.errors
import hypothesis.strategies as st

from verifier.exact.answer import Refutation
from verifier.exact.drawing import whole
from verifier.exact.expressions.candidates import strategy
from verifier.exact.search.answers import margin_of, violated
from verifier.exact.search.problem import EXPRESSIONS, Document, SearchProblem
from verifier.exact.search.samplers import drawn_start

REJECTIONS = 4

Decide = Callable[[Document], Refutation | None]
"""The answer for one concrete problem; None where there is none."""


class _Found(Exception):
    """Carries a violation through hypothesis, which looks for a simpler one that raises it too."""

    def __init__(self, document: Document, found: Refutation) -> None:
        super().__init__()
        self.document, self.found = document, found


@st.composite
def starts(draw: st.DrawFn, problem: SearchProblem) -> Document:
    """Concrete problems with a start of the problem's own sampler."""
    if problem.system == EXPRESSIONS:
        return {**problem.document, "state": draw(strategy(problem.document))}
    shapes = problem.find.shapes
    shape = shapes[whole(draw, len(shapes))]
    for _ in range(REJECTIONS):
        start = drawn_start(problem, shape, lambda below: whole(draw, below))
        if start is not None:
            return problem.concrete(start)
    return hypothesis.reject()


def search_drawn(problem: SearchProblem, decide: Decide, *, examples: int) -> tuple[Document, Refutation] | None:
    """A start that breaks the claim, as simple as hypothesis makes it, or None after `examples` draws.

    The draws depend on the problem's seed alone: no database, no deadline, every health check off. An answer is
    asked for once a start.
    """
    known: dict[str, Refutation | None] = {}

    @hypothesis.seed(problem.key(-1))
    @hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=(hypothesis.Phase.generate, hypothesis.Phase.target, hypothesis.Phase.shrink),
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(starts(problem))
    def attempt(document: Document) -> None:
        key = json.dumps(document["state"])
        if key not in known:
            known[key] = decide(document)
        found = known[key]
        if found is None:
            return
        if violated(found):
            raise _Found(document, found)
        margin = margin_of(found)
        if margin is not None:
            hypothesis.target(-margin[0], label="left side over right side")

    try:
        attempt()
    except _Found as violation:
        return violation.document, violation.found
    except hypothesis.errors.Unsatisfiable:
        return None
    return None
