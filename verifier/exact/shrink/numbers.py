"""Numbers nearer to 0 or with a smaller denominator, one at a time, anywhere in a JSON value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?", re.ASCII)


def size(x: Fraction) -> tuple[int, int]:
    """What counts as small: the denominator, then the numerator."""
    return x.denominator, abs(x.numerator)


def simpler(x: Fraction) -> list[Fraction]:
    """Smaller numbers to try in the place of x, the smallest first."""
    sign = 1 if x > 0 else -1
    near = sign * (abs(x.numerator) // x.denominator)
    found = {Fraction(0), Fraction(sign), Fraction(near), Fraction(near + sign), Fraction(near // 2)}
    if x.denominator == 1:
        found.add(x - sign)
    else:
        found.update(x.limit_denominator(n) for n in (2, 10, 100))
    return sorted((y for y in found if size(y) < size(x)), key=lambda y: (size(y), y))


def nearer(value: Any, *, zero: bool = True) -> Iterator[Any]:
    """The same value with one of the exact numbers in it, written as text, replaced by a simpler one.

    `value` is a text or an array or object of such values; texts that are no numbers stay. Without `zero` no number
    becomes 0.
    """
    if isinstance(value, str):
        if _NUMBER.fullmatch(value):
            yield from (str(y) for y in simpler(Fraction(value)) if y or zero)
        return
    if not isinstance(value, dict | list):
        return
    for key in value if isinstance(value, dict) else range(len(value)):
        for changed in nearer(value[key], zero=zero):
            copy = dict(value) if isinstance(value, dict) else list(value)
            copy[key] = changed
            yield copy
