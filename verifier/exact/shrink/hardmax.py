"""Hardmax starts: fewer coordinates, fewer tokens, B = identity, smaller numbers; forms up to scale, sign and order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from verifier.exact.shrink.driver import Document, Moves, Taken
from verifier.exact.shrink.numbers import nearer
from verifier.model.complaints import listed

Tokens = list[list[Fraction]]


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


def _numbers(document: Document) -> Iterator[Document]:
    for tokens in nearer(document["state"]["tokens"]):
        yield {**document, "state": {"tokens": tokens}}


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


def _changes(given: Document, small: Document, taken: Taken) -> tuple[str, ...]:
    """Which coordinates and how many tokens are left, and what became of B."""
    d, n = len(given["state"]["tokens"][0]), len(given["state"]["tokens"])
    kept = list(range(d))
    for step, number in taken:
        if step is _coordinates:
            del kept[number]
    found = []
    given_B, B = given["parameters"]["B"], small["parameters"]["B"]
    is_list = isinstance(given_B[0][0], list)
    cut = [[[row[j] for j in kept] for row in (M[i] for i in kept)] for M in (given_B if is_list else [given_B])]
    if len(kept) < d:
        coordinates = "coordinate" if len(kept) == 1 else "coordinates"
        which = f"{coordinates} {listed(list(map(str, kept)))} of 0 to {d - 1}"
        found.append(f"tokens and B were restricted to {which}")
    if (cut if is_list else cut[0]) != B:
        found.append("B was replaced by the identity")
    left = len(small["state"]["tokens"])
    if left < n:
        found.append(f"{n - left} of {n} tokens {'was' if n - left == 1 else 'were'} left out")
    return tuple(found)


def moves(*, keep_parameters: bool) -> Moves:
    """The steps; those that change B, the restriction to some coordinates included, only where that is allowed."""
    steps = (_tokens, _numbers) if keep_parameters else (_coordinates, _tokens, _identity, _numbers)
    return Moves(steps=steps, forms=(_coprime, _positive, _sorted), changes=_changes)
