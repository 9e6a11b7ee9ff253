"""Ranks of tied values: the callable takes one float array and returns an array of ranks of the same length."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from verifier.audits.catalogues.entry import INPUTS, Arguments, Catalogue, Entry, Floats, generator, whole
from verifier.audits.space import Draw, Raw, Space

Ranks = Callable[[Floats], Floats]


def least(x: Floats) -> Floats:
    """1 + how many are smaller: 1 2 2 4."""
    return np.asarray(1.0 + (x[None, :] < x[:, None]).sum(axis=1), dtype=np.float64)


def greatest(x: Floats) -> Floats:
    """How many are no larger: 1 3 3 4."""
    return np.asarray((x[None, :] <= x[:, None]).sum(axis=1), dtype=np.float64)


def average(x: Floats) -> Floats:
    """The mean of least and greatest: 1 2.5 2.5 4."""
    return (least(x) + greatest(x)) / 2


def dense(x: Floats) -> Floats:
    """1 + how many distinct values are smaller: 1 2 2 3."""
    return 1.0 + np.unique(x, return_inverse=True)[1].astype(np.float64)


def ordinal(x: Floats) -> Floats:
    """Ties in order of appearance: 1 2 3 4."""
    ranks = np.empty(x.size, dtype=np.float64)
    ranks[np.argsort(x, kind="stable")] = np.arange(1.0, x.size + 1)
    return ranks


def _descending(rule: Ranks) -> Ranks:
    return lambda x: rule(-np.asarray(x))


RULES: tuple[tuple[str, str, Ranks], ...] = (
    ("average", "1 2.5 2.5 4 (Kendall 1945)", average),
    ("min", "1 2 2 4 (standard competition)", least),
    ("max", "1 3 3 4 (modified competition)", greatest),
    ("dense", "1 2 2 3", dense),
    ("ordinal", "1 2 3 4, ties in order of appearance", ordinal),
)

_SOURCE = "rule for equal values"

ENTRIES = (
    *(Entry(name, shape, _SOURCE, rule) for name, shape, rule in RULES),
    *(Entry(f"{name}, largest first", shape, _SOURCE, _descending(rule)) for name, shape, rule in RULES),
    *(Entry(f"{name}, from 0", shape, _SOURCE, lambda x, rule=rule: rule(x) - 1) for name, shape, rule in RULES),
    *(Entry(f"{name} / n", shape, _SOURCE, lambda x, rule=rule: rule(x) / x.size) for name, shape, rule in RULES),
)


def _generic() -> tuple[Arguments, ...]:
    rng = generator("rank-ties")
    drawn: list[Arguments] = []
    for index in range(INPUTS):
        low, high = 1.0, 9.0  # a tie of two, a tie of three, and single values in between
        rest = [whole(rng, 2, 8) + 0.5 * rng.random() for _ in range(2 + index % 4)]
        values = [high, *rest, low, high, rest[0], high, low]
        turn = whole(rng, 0, len(values) - 1)
        drawn.append((np.array(values[turn:] + values[:turn]),))
    return tuple(drawn)


def _raw(draw: Draw, *, count: int) -> Raw:
    return (tuple(1 + draw(4) for _ in range(count)),)


def _arguments(raw: Raw) -> tuple[Any, ...]:
    return (np.array(raw[0], dtype=np.float64),)


def complaint(arguments: Arguments) -> str | None:
    """What makes an input no values with a tie; None where nothing does."""
    if len(arguments) != 1:
        return "it is not one array"
    x = np.asarray(arguments[0])
    if x.ndim != 1 or x.size < 2 or not np.all(np.isfinite(x)):
        return "it is not one array of at least two finite numbers"
    return "no two of its values are equal, and every rule agrees" if np.unique(x).size == x.size else None


RANK_TIES = Catalogue(
    name="rank-ties",
    takes="one float64 array with equal values in it; it returns one rank for each",
    entries=ENTRIES,
    generic=_generic,
    space=Space(("x",), tuple(partial(_raw, count=count) for count in range(2, 6)), _arguments),
    arrays=True,
    complaint=complaint,
)
