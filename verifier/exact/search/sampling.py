"""What every sampler builds on: whole numbers asked for one at a time, from a generator or from hypothesis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

T = TypeVar("T")

Draw = Callable[[int], int]
"""`draw(m)` is a whole number from 0 to m − 1; smaller ones make simpler starts."""


@dataclass(frozen=True, slots=True)
class Start:
    """A state as it stands in files, the structure it has, and for hardmax the weights that give the origin."""

    state: dict[str, Any]
    structure: str
    weights: tuple[Fraction, ...] | None = None


def signed(draw: Draw, most: int) -> int:
    """A whole number from −most to most: 0, 1, −1, 2, … in the order of the draws."""
    value = draw(2 * most + 1)
    return (value + 1) // 2 if value % 2 else -(value // 2)


def pick(draw: Draw, some: Sequence[T]) -> T:
    """One of some."""
    return some[draw(len(some))]


def shuffled(draw: Draw, some: Sequence[T]) -> list[T]:
    """The same entries in another order; draws of 0 leave it as it is."""
    found = list(some)
    for i in range(len(found) - 1):
        j = i + draw(len(found) - i)
        found[i], found[j] = found[j], found[i]
    return found
