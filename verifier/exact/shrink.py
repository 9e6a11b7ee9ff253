"""A smaller start with the same answer: fewer coordinates, fewer tokens, smaller numbers, then a canonical form."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from verifier.exact.answer import Refutation
from verifier.exact.hardmax.problem import HardmaxProblem
from verifier.exact.refute import Problem, parse_problem, refute
from verifier.model.errors import BadInput

HORIZON = 400
"""Steps a candidate may take: a smaller start that needs more is not simpler."""

Document = dict[str, Any]
Tokens = list[list[Fraction]]


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The smallest start found, its answer, and how many candidates were tried."""

    document: Document
    found: Refutation
    tried: int


class _Search:
    def __init__(self, document: Document, found: Refutation, deadline: float | None) -> None:
        self.document, self.found, self.tried, self.deadline = document, found, 0, deadline

    def take(self, candidate: Document) -> bool:
        """Keeps a candidate that is another start with the same answer and a certificate."""
        if candidate == self.document or (self.deadline is not None and time.monotonic() > self.deadline):
            return False
        self.tried += 1
        try:
            found = refute(parse_problem(candidate), horizon=HORIZON)
        except BadInput:  # more digits than the format holds
            return False
        if found.answer is not self.found.answer or found.certificate is None:
            return False
        self.document, self.found = candidate, found
        return True

    def exhaust(self, candidates: Callable[[Document], Iterator[Document]]) -> bool:
        """Takes candidates, each built from the last one taken, until none is taken."""
        changed = False
        while any(self.take(candidate) for candidate in candidates(self.document)):
            changed = True
        return changed


def shrink(problem: Problem, *, time_limit: float | None = None) -> Shrunk:
    """A hardmax start with the same answer that no single step below makes smaller.

    Steps: leave out a coordinate, leave out a token, B = identity, a number nearer to 0 or with a smaller denominator;
    then tokens as coprime integers, the larger side positive and, under any-selection, in descending order. The
    hypotheses are decided anew for each candidate. Raises BadInput for other systems and for starts without a
    certificate.
    """
    if not isinstance(problem, HardmaxProblem):
        raise BadInput("only starts of hardmax-frank-wolfe can be made smaller", mend="give such a certificate")
    found = refute(problem)
    if found.certificate is None:
        raise BadInput(
            f"the answer is {found.answer} and has no certificate", mend="give a start where the claim fails"
        )
    deadline = None if time_limit is None else time.monotonic() + time_limit
    search = _Search(problem.document, found, deadline)
    changed = True
    while changed:
        changed = sum(search.exhaust(step) for step in (_coordinates, _tokens, _identity, _numbers)) > 0
    for form in (_coprime, _positive, _sorted):
        search.take(form(search.document))
    return Shrunk(search.document, search.found, search.tried)


def _read(document: Document) -> Tokens:
    return [[Fraction(x) for x in token] for token in document["state"]["tokens"]]


def _with(document: Document, tokens: Tokens, B: Any = None) -> Document:
    changed = {**document, "state": {"tokens": [[str(x) for x in token] for token in tokens]}}
    if B is not None:
        changed["parameters"] = {**document["parameters"], "B": B}
    return changed


def _coordinates(document: Document) -> Iterator[Document]:
    tokens, B = _read(document), document["parameters"]["B"]
    d = len(tokens[0])
    for k in range(d if d > 1 else 0):

        def without(row: list[Any], k: int = k) -> list[Any]:
            return row[:k] + row[k + 1 :]

        def cut(matrix: list[Any], without: Callable[[list[Any]], list[Any]] = without) -> list[Any]:
            return [without(row) for row in without(matrix)]

        is_list = isinstance(B[0][0], list)
        yield _with(document, [without(x) for x in tokens], [cut(M) for M in B] if is_list else cut(B))


def _tokens(document: Document) -> Iterator[Document]:
    tokens = _read(document)
    for i in range(len(tokens) if len(tokens) > 1 else 0):
        yield _with(document, tokens[:i] + tokens[i + 1 :])


def _identity(document: Document) -> Iterator[Document]:
    d = len(document["state"]["tokens"][0])
    yield _with(document, _read(document), [["1" if i == j else "0" for j in range(d)] for i in range(d)])


def _size(x: Fraction) -> tuple[int, int]:
    return x.denominator, abs(x.numerator)


def _numbers(document: Document) -> Iterator[Document]:
    tokens = _read(document)
    for i, token in enumerate(tokens):
        for k, x in enumerate(token):
            sign = 1 if x > 0 else -1
            near = sign * (abs(x.numerator) // x.denominator)
            smaller = {Fraction(0), Fraction(sign), Fraction(near), Fraction(near + sign), Fraction(near // 2)}
            if x.denominator == 1:
                smaller.add(x - sign)
            for y in sorted((y for y in smaller if _size(y) < _size(x)), key=_size):
                changed = [list(row) for row in tokens]
                changed[i][k] = y
                yield _with(document, changed)


def _coprime(document: Document) -> Document:
    """The claim is unchanged when all tokens are scaled: both sides are quadratic."""
    tokens = _read(document)
    entries = [x for token in tokens for x in token]
    bottom = lcm(*(x.denominator for x in entries))
    content = gcd(*(int(x * bottom) for x in entries)) or 1
    return _with(document, [[x * bottom / content for x in token] for token in tokens])


def _positive(document: Document) -> Document:
    """Each coordinate's entry of largest modulus is positive; only where B is diagonal is this a symmetry."""
    tokens = _read(document)
    signs = [1 if max(column, key=abs) >= 0 else -1 for column in zip(*tokens, strict=True)]
    return _with(document, [[s * x for s, x in zip(signs, token, strict=True)] for token in tokens])


def _sorted(document: Document) -> Document:
    tokens = _read(document)
    return _with(document, sorted(tokens, reverse=True) if document["ties"] == "any-selection" else tokens)
