"""A found start made easier to read without leaving its shape: entries nearer to 0, smaller denominators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from verifier.exact.answer import Refutation
from verifier.exact.search.problem import Document, Find

MOST_TRIED = 60
MOST_NUMBERS = 16
"""Starts with more numbers stay as they were found: `verifier shrink` takes its time over them."""

Decide = Callable[[Document], Refutation | None]


def make_smaller(
    document: Document, found: Refutation, decide: Decide, *, find: Find
) -> tuple[Document, Refutation, int]:
    """The start after replacing single entries while the answer and a certificate stay, and how many were tried.

    At most 60 are tried, for starts of at most 16 numbers. The statement stays as it is, and so does the number of
    tokens and their dimension.
    """
    tried, changed = 0, _count(document["state"]) <= MOST_NUMBERS
    while changed and tried < MOST_TRIED:
        changed = False
        for candidate in _candidates(document, find):
            if tried >= MOST_TRIED:
                break
            tried += 1
            answer = decide(candidate)
            if answer is not None and _as_good(answer, found):
                document, found, changed = candidate, answer, True
                break
    return document, found, tried


def _count(value: Any) -> int:
    if isinstance(value, str):
        return 1
    return sum(map(_count, value.values() if isinstance(value, dict) else value))


def _as_good(answer: Refutation, found: Refutation) -> bool:
    """The same answer, with a certificate and a first violation where there were such."""
    return (
        answer.answer is found.answer
        and (answer.certificate is not None or found.certificate is None)
        and (answer.first_violation is not None or found.first_violation is None)
    )


def _candidates(document: Document, find: Find) -> Iterator[Document]:
    """The same problem with one number of its state made simpler."""
    for state in _variants(document["state"], find):
        yield {**document, "state": state}


def _variants(value: Any, find: Find) -> Iterator[Any]:
    if isinstance(value, str):
        for y in _simpler(Fraction(value)):
            if abs(y.numerator) <= find.numerator and y.denominator <= find.denominator:
                yield str(y)
        return
    for key in value if isinstance(value, dict) else range(len(value)):
        for simpler in _variants(value[key], find):
            changed = dict(value) if isinstance(value, dict) else list(value)
            changed[key] = simpler
            yield changed


def _simpler(x: Fraction) -> list[Fraction]:
    """Numbers with a smaller denominator, or the same one and a smaller numerator, simplest first."""
    sign = 1 if x > 0 else -1
    whole = sign * (abs(x.numerator) // x.denominator)
    some = {Fraction(0), Fraction(sign), Fraction(whole), Fraction(whole + sign), Fraction(whole // 2)}
    if x.denominator == 1:
        some.add(x - sign)

    def size(y: Fraction) -> tuple[int, int]:
        return y.denominator, abs(y.numerator)

    return sorted((y for y in some if size(y) < size(x)), key=lambda y: (*size(y), y))
