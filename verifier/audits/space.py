"""Small inputs to search for a witness in: how they are drawn, which of them can tell two formulas apart, as arrays.

Shapes are tried from the smallest up. A draw is made from single bits, the simplest choice first, so that hypothesis
shrinks towards small numbers, the same way whatever other modules are loaded.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import hypothesis.strategies as st

Raw = tuple[Any, ...]
"""One drawn input: an entry for each argument, of nested tuples of Fractions, whole numbers, truth values or text."""

Draw = Callable[[int], int]
"""draw(n): a whole number from 0 to n − 1, the simplest first."""


def always(_raw: Raw) -> bool:
    """Admits every input."""
    return True


@dataclass(frozen=True, slots=True)
class Space:
    """Inputs of one kind.

    `names`: the arguments, in order. `stages`: makers of one input from choices, one for each shape, the smallest shape
    first. `arguments`: what a callable is called with, freshly made at each call. `admits`: whether an input can tell
    two formulas apart at all.
    """

    names: tuple[str, ...]
    stages: tuple[Callable[[Draw], Raw], ...]
    arguments: Callable[[Raw], tuple[Any, ...]]
    admits: Callable[[Raw], bool] = always

    def strategies(self) -> Iterator[tuple[Callable[[random.Random], Raw], st.SearchStrategy[Raw]]]:
        """For each shape, the smallest first: how to draw any input at random, and the admitted ones for hypothesis."""
        for make in self.stages:
            yield partial(_drawn, make), _strategy(make).filter(self.admits)


def _drawn(make: Callable[[Draw], Raw], rng: random.Random) -> Raw:
    return make(lambda below: int(rng.random() * below))


def _strategy(make: Callable[[Draw], Raw]) -> st.SearchStrategy[Raw]:
    import hypothesis.strategies as st  # noqa: PLC0415  # half a second, which only a search needs to wait for

    @st.composite
    def inputs(draw: st.DrawFn) -> Raw:
        return make(lambda below: _whole(draw, below))

    return inputs()


def _whole(draw: st.DrawFn, below: int) -> int:
    import hypothesis.strategies as st  # noqa: PLC0415  # loaded by then

    bits = (below - 1).bit_length()
    return sum(int(draw(st.booleans())) << k for k in reversed(range(bits))) % below


def _shares(draw: Draw, classes: int, denominator: int) -> tuple[Fraction, ...]:
    """Positive multiples of 1/denominator that sum to 1."""
    left = denominator - classes
    counts = []
    for _ in range(classes - 1):
        extra = draw(left + 1)
        left -= extra
        counts.append(1 + extra)
    return tuple(Fraction(count, denominator) for count in (*counts, 1 + left))


def _probabilities(draw: Draw, *, classes: int, denominator: int) -> Raw:
    return _shares(draw, classes, denominator), _shares(draw, classes, denominator)


def asymmetric(raw: Raw) -> bool:
    """Whether two vectors are no rearrangement of each other: those give both directions of a divergence one value."""
    left, right = raw
    return sorted(left) != sorted(right)


_SIMPLEX = tuple(
    partial(_probabilities, classes=classes, denominator=denominator)
    for denominator, most in ((10, 5), (100, 3))
    for classes in range(2, most + 1)
)

PROBABILITIES = Space(("p", "q"), _SIMPLEX, lambda raw: tuple(np.array(v, dtype=np.float64) for v in raw), asymmetric)
"""Two probability vectors in tenths (2 to 5 classes) or hundredths (2 or 3), no rearrangement of each other."""


def _sequences(draw: Draw, *, lengths: tuple[int, ...]) -> Raw:
    return (tuple(tuple(1 + draw(8) for _ in range(length)) for length in lengths),)


def sequences(raw: Raw) -> tuple[Any, ...]:
    """A list of float64 arrays, one a sequence."""
    return ([np.array(row, dtype=np.float64) for row in raw[0]],)


RAGGED = ((1,), (2,), (1, 1), (1, 2), (3,), (1, 3), (2, 3), (1, 1, 2), (1, 2, 3))

SEQUENCES = Space(("losses",), tuple(partial(_sequences, lengths=lengths) for lengths in RAGGED), sequences)
"""One to three sequences of one to three losses, 1 to 8 nats each."""


def _masked(draw: Draw, *, shape: tuple[int, int]) -> Raw:
    rows, width = shape
    losses = tuple(tuple(draw(8) for _ in range(width)) for _ in range(rows))
    mask = tuple(tuple(draw(2) == 0 for _ in range(width)) for _ in range(rows))
    return losses, mask


SHAPES = ((1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (2, 3), (3, 3))

MASKED_LOSSES = Space(
    ("losses", "mask"),
    tuple(partial(_masked, shape=shape) for shape in SHAPES),
    lambda raw: (np.array(raw[0], dtype=np.float64), np.array(raw[1], dtype=np.bool_)),
    lambda raw: any(any(row) for row in raw[1]),
)
"""Losses in whole nats (sequences, positions) and the mask of real tokens, at least one of them real."""


def labelled(draw: Draw, *, items: int, classes: int) -> Raw:
    """Two tuples of labels, `items` of `classes` each."""
    return tuple(draw(classes) for _ in range(items)), tuple(draw(classes) for _ in range(items))


LABELS = Space(
    ("y_true", "y_pred"),
    tuple(partial(labelled, items=items, classes=classes) for items in range(1, 8) for classes in (2, 3)),
    lambda raw: tuple(np.array(labels, dtype=np.int64) for labels in raw),
)
"""One to seven items with labels of two or three classes."""


def json_values(raw: Any) -> Any:
    """A drawn input as JSON values: Fractions as text in lowest terms, tuples as lists."""
    if isinstance(raw, tuple):
        return [json_values(entry) for entry in raw]
    return str(raw) if isinstance(raw, Fraction) else raw
