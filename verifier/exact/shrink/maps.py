"""Starts of maps: smaller numbers in the state, then in a method's own parameters; forms up to exact scaling.

The map of a linear iteration, or one given branch by branch, is the method itself and stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from verifier.exact.piecewise.problem import LONG_FORM, MapProblem
from verifier.exact.shrink.driver import Document, Moves, Taken
from verifier.exact.shrink.numbers import nearer


def short_form(problem: MapProblem) -> Document:
    """The problem by the method's parameters where one derives the map, else in its long form."""
    document, deriving = problem.document, problem.deriving
    entries = document["parameters"]["hypotheses"]
    if deriving is None or deriving.system.kind is None or len(entries) != 1:
        return document
    parameters = {key: value for key, value in entries[0].items() if key != "kind"}
    return {**document, "system": deriving.system.kind, "parameters": parameters}


def moves_of(problem: MapProblem, *, keep_parameters: bool) -> Moves:
    """The steps, and scaling where the map and the claim allow it; by −1 too where there are no guards."""
    steps = (_state,) if keep_parameters else (_state, _parameters)
    if not _scales(problem):
        return Moves(steps=steps, changes=_changes)
    odd = problem.claim.name != "stays-below" and not any(b.guards for phase in problem.map for b in phase)
    return Moves(steps=steps, forms=(_coprime, _positive) if odd else (_coprime,), changes=_changes)


def _changes(given: Document, small: Document, taken: Taken) -> tuple[str, ...]:  # noqa: ARG001  # the documents tell
    """The method's parameters that differ, old and new."""
    before, after = given["parameters"], small["parameters"]
    names = [name for name in before if before[name] != after[name]]
    shown = [f"{name} from {_text(before[name])} to {_text(after[name])}" for name in names]
    return (f"the method's parameters were changed: {', '.join(shown)}",) if names else ()


def _text(value: Any) -> str:
    """A parameter as it stands in files, without quotes."""
    return f"[{', '.join(map(_text, value))}]" if isinstance(value, list) else str(value)


def _state(document: Document) -> Iterator[Document]:
    for state in nearer(document["state"]):
        yield {**document, "state": state}


def _parameters(document: Document) -> Iterator[Document]:
    if document["system"] == LONG_FORM:
        return
    for parameters in nearer(document["parameters"], zero=False):  # a method without one of its terms is another one
        yield {**document, "parameters": parameters}


def _scales(problem: MapProblem) -> bool:
    """Whether with z also every positive multiple of z is a start with the same answer."""
    claim = problem.claim
    branches = [branch for phase in problem.map for branch in phase]
    homogeneous = not any(any(b.c) or any(guard.b for guard in b.guards) for b in branches)
    match claim.name:
        case "converges-to":
            assert claim.point is not None
            return homogeneous and not any(claim.point)
        case "stays-below":
            return homogeneous and not claim.g
        case "converges" | "bounded":
            return homogeneous
        case _:
            return False


def _coprime(document: Document) -> Document:
    z = [Fraction(x) for x in document["state"]["z"]]
    bottom = lcm(*(x.denominator for x in z))
    content = gcd(*(int(x * bottom) for x in z)) or 1
    return {**document, "state": {"z": [str(x * bottom / content) for x in z]}}


def _positive(document: Document) -> Document:
    """The first entry that is not 0 is positive."""
    z = [Fraction(x) for x in document["state"]["z"]]
    sign = -1 if next((x for x in z if x), 0) < 0 else 1
    return {**document, "state": {"z": [str(sign * x) for x in z]}}
