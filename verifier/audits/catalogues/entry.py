"""What a catalogue holds: formulas with their names, aliases and sources, and inputs that tell them apart."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verifier.audits.space import Space

Floats = NDArray[np.float64]
Arguments = tuple[Any, ...]
"""One input: the arguments of a call, in order."""

Formula = Callable[..., Any]
"""Returns a number, or an array where the catalogue's formulas return arrays."""

INPUTS = 8
"""Generic inputs of a catalogue: of 2,400 pairs of formulas none stayed ambiguous from four inputs on."""

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Entry:
    """A formula, up to a constant.

    `name`: with the order of its arguments, `KL({p}||{q})`, where {p} and {q} stand for the caller's letters.
    `formula`: as the field writes it. `source`: author and year. `aliases`: name -> factor of proportional formulas
    (alias = factor × this formula; where the factor hangs on the number of classes, for the catalogue's own inputs).
    `order`: which argument comes first, (0, 1) or (1, 0); None where the order does
    not matter or there is one argument. `objective`: another entry's name -> the letter of the argument in which it
    is the same objective.
    """

    name: str
    formula: str
    source: str
    function: Formula
    aliases: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    order: tuple[int, int] | None = None
    objective: Mapping[str, str] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Family:
    """Formulas with one free parameter alpha, fitted in [low, high].

    `name` has {alpha} beside the letters; `function` takes alpha as its keyword. Aliases may have {beta} = 1 − alpha.
    The rest is as in Entry.
    """

    name: str
    formula: str
    source: str
    function: Formula
    low: float
    high: float
    aliases: tuple[str, ...] = ()
    order: tuple[int, int] | None = None


def as_given(arguments: Arguments) -> Arguments:
    """Lists of numbers become arrays, lists of lists lists of arrays; everything else stays as it is."""
    return tuple(_array(each) for each in arguments)


def _array(given: Any) -> Any:
    if not isinstance(given, list | tuple):
        return given
    if given and all(isinstance(entry, int | float | np.number) for entry in given):
        return np.array(given)
    return [_array(entry) for entry in given]


def no_complaint(_arguments: Arguments) -> str | None:
    """Finds nothing wrong."""
    return None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Formulas of one kind.

    `takes`: the arguments of every formula, in words. `generic`: the eight inputs that tell the entries apart, made
    afresh at each call. `space`: small inputs to search for a witness in. `arrays`: whether the formulas return arrays.
    `complaint`: what is wrong with a caller's own input, None where nothing is. `ambiguous`: names that stand for
    several entries -> what to write instead. `logarithms`: whether inputs may be declared as log-probabilities.
    `objective`: whether the formulas are minimised, so that a positive constant changes nothing. `share`: whether they
    are shares, which may be written in per cent.
    """

    name: str
    takes: str
    entries: tuple[Entry, ...]
    generic: Callable[[], tuple[Arguments, ...]]
    space: Space
    families: tuple[Family, ...] = ()
    arrays: bool = False
    complaint: Callable[[Arguments], str | None] = no_complaint
    ambiguous: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    logarithms: bool = False
    objective: bool = False
    share: bool = False


def generator(name: str) -> random.Random:
    """The same pseudo-random numbers for every user of a catalogue's name (`random()` of Python is reproducible)."""
    return random.Random(f"verifier/catalogue/{name}/1")  # noqa: S311  # reproducible, not secret


def whole(rng: random.Random, low: int, high: int) -> int:
    """A whole number from low to high, both included, from one `random()`."""
    return low + int(rng.random() * (high - low + 1))


def uniform(rng: random.Random, low: float, high: float, *, count: int) -> Floats:
    """`count` numbers from [low, high)."""
    return np.array([low + (high - low) * rng.random() for _ in range(count)], dtype=np.float64)


def concatenated(rows: Sequence[Floats]) -> Floats:
    """All entries of all rows, float64."""
    return np.concatenate(rows)
