"""Two teams' values side by side: whether one is the other's in another order, or with a last digit changed.

A group is what may be exchanged: the values at one scale and arm. Every count is compared with what two independent
teams would show by chance, which is estimated from how often values within one team coincide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from scipy import special

from verifier.stats.run_table import Bools, Floats

NEAR = 1e-6  # of the interquartile range: closer values are a copy's, not a measurement's
SURELY = 6.0  # standard deviations above what chance gives
NEVER = math.log(1e-9)  # the chance of one and the same multiset, below which it is a copy
UNSEEN = 3.0  # coincidences that may have been expected where none was seen, at 95 %

Group: TypeAlias = tuple[Floats, Floats]
"""The values of two teams at one scale and arm, float64 (n,) and (n',)."""


def near(mine: Floats, theirs: Floats) -> tuple[Bools, float]:
    """Of two teams' values at common keys of one group, (n,) each: which are near, and how many are so by chance.

    Near is within a millionth of the interquartile range of both, and none where that is zero. By chance: n times the
    share of pairs within a team that are near.
    """
    reach = _reach(mine, theirs)
    if reach == 0:
        return np.zeros(len(mine), bool), 0.0
    pairs = _pairs(mine) + _pairs(theirs)
    by_chance = len(mine) * (_coincidences(mine, reach) + _coincidences(theirs, reach)) / max(pairs, 1)
    return np.abs(mine - theirs) <= reach, by_chance


def reordered(groups: Sequence[Group]) -> tuple[int, int] | None:
    """How many values of two teams match in whatever order, of how many; None where it may be chance.

    It is no chance where half of the values are matched, and more than six standard deviations above the number that
    independent teams match: n n' times the share of pairs that coincide within a team, three pairs granted. Or where
    every value is matched, and two samples of any one distribution are the same with probability below 1e-9 (the
    multinomial at its most likely).
    """
    judged = [group for group in groups if any(len(values) > 1 for values in group)]
    if 2 * sum(_partnered(mine, theirs) for mine, theirs in judged) < sum(max(map(len, group)) for group in judged):
        return None  # too few have a partner at all, which is quick to see
    matched = total = 0
    expected = granted = log_same = 0.0
    for mine, theirs in groups:
        n, other = len(mine), len(theirs)
        pairs = _pairs(mine) + _pairs(theirs)
        if not pairs:
            continue
        reach = _reach(mine, theirs)
        matched += _matched(np.sort(mine), np.sort(theirs), reach)
        total += max(n, other)
        ratio = n * other / pairs
        expected += ratio * (_coincidences(mine, reach) + _coincidences(theirs, reach))
        granted = max(granted, UNSEEN * ratio)
        log_same += _log_same(mine)
    chance = expected + granted
    some = 2 * matched >= total and matched > chance + SURELY * math.sqrt(chance)
    whole = matched == total and log_same < NEVER
    return (matched, total) if total and (some or whole) else None


def _reach(mine: Floats, theirs: Floats) -> float:
    low, high = np.percentile(np.concatenate([mine, theirs]), [25, 75])
    return NEAR * float(high - low)


def _partnered(mine: Floats, theirs: Floats) -> int:
    """How many of `mine` have some value of `theirs` within reach: no fewer than can be matched."""
    if not len(mine) or not len(theirs):
        return 0
    ordered, reach = np.sort(theirs), _reach(mine, theirs)
    first = np.searchsorted(ordered, mine - reach * (1 + 1e-9), side="left")
    last = np.searchsorted(ordered, mine + reach * (1 + 1e-9), side="right")
    return int((last > first).sum())


def _pairs(values: Floats) -> float:
    return len(values) * (len(values) - 1) / 2


def _coincidences(values: Floats, reach: float) -> float:
    """Pairs of values that are within `reach` of each other."""
    ordered = np.sort(values)
    return float((np.searchsorted(ordered, ordered + reach, side="right") - np.arange(1, len(ordered) + 1)).sum())


def _matched(mine: Floats, theirs: Floats, reach: float) -> int:
    """The most pairs, one of each, that are within `reach`; both sorted."""
    i = j = found = 0
    while i < len(mine) and j < len(theirs):
        if abs(mine[i] - theirs[j]) <= reach:
            found, i, j = found + 1, i + 1, j + 1
        elif mine[i] < theirs[j]:
            i += 1
        else:
            j += 1
    return found


def _log_same(values: Floats) -> float:
    """The logarithm of the largest chance, over all distributions, of drawing these values once more, in any order."""
    n = len(values)
    _, counts = np.unique(values, return_counts=True)
    return float(special.gammaln(n + 1) + np.sum(counts * np.log(counts / n) - special.gammaln(counts + 1)))
