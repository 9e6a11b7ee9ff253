"""The starts of a search, by index: start i depends on the statement, the sampler, its seed and i alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

from verifier.exact.expressions.candidates import batches
from verifier.exact.hardmax.orbit import Orbit, chosen, classes_of, minimisers
from verifier.exact.hardmax.problem import HardmaxProblem, read_hardmax
from verifier.exact.reading import Reader
from verifier.exact.search.clouds import balanced, origin_symmetric, structured
from verifier.exact.search.problem import EXPRESSIONS, HARDMAX, Document, SearchProblem, Shape
from verifier.exact.search.sampling import Draw, Start
from verifier.exact.search.states import structured_state
from verifier.model.errors import BadInput

CLOUDS = {"structured": structured, "balanced": balanced, "origin-symmetric": origin_symmetric}

TIE_STEPS = 4
"""Steps within which an origin-symmetric cloud must be free of ties: under 2/(t+2) it is at the origin by then."""

TIE_TRIES = 100


def documents(problem: SearchProblem) -> Iterator[Document]:
    """The concrete problems of the starts 0, 1, …, as many as the problem asks for."""
    if problem.system == EXPRESSIONS:
        states = islice(batches(problem.document, problem.find.seed), problem.find.starts)
        return ({**problem.document, "state": state} for state in states)
    return (problem.concrete(start(problem, index)) for index in range(problem.find.starts))


def example(problem: SearchProblem, index: int) -> Document:
    """The concrete problem of start `index`."""
    return next(islice(documents(problem), index, None))


def start(problem: SearchProblem, index: int) -> Start:
    """Start `index` of a cloud or a map's state. Raises BadInput where the bounds hold no start of this kind."""
    rng = random.Random(problem.key(index))  # noqa: S311  # reproducible, not secret
    for _ in range(TIE_TRIES):
        found = drawn_start(problem, problem.find.shape(index), rng.randrange)
        if found is not None:
            return found
    raise BadInput(
        f"no origin-symmetric cloud without ties was found in {TIE_TRIES} tries",
        where="state.find",
        mend="allow a larger numerator",
    )


def drawn_start(problem: SearchProblem, shape: Shape, draw: Draw) -> Start | None:
    """A start from the numbers that `draw` gives; None where the sampler's condition does not hold for it."""
    find = problem.find
    if problem.system != HARDMAX:
        return structured_state(draw, find, shape[1])
    found = CLOUDS[find.sampler](draw, find, shape)
    if find.sampler == "origin-symmetric" and _tied(problem.concrete(found)):
        return None
    return found


def _tied(document: Any) -> bool:
    """Whether some token has a choice within the first steps: an index rule would then break the symmetry."""
    given: HardmaxProblem = read_hardmax(Reader(document, "problem"))
    orbit = Orbit(given)
    state = orbit.start
    for _ in range(TIE_STEPS):
        if not any(any(image) for image in state.images):
            return False
        choices = minimisers(state, classes_of(state))
        if any(len(choice) > 1 for choice in choices):
            return True
        state, _, _ = orbit.advance(state, chosen(choices, given.ties))
    return False
