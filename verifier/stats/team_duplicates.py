"""Teams whose data are another team's data: found by content and removed before anybody is counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.stats.run_table import Ints, RunTable
from verifier.stats.team_copies import SURELY, near, reordered

LEAST_NEAR = 4  # cells: in fewer, spread and closeness say nothing

Cells: TypeAlias = dict[str, tuple[Ints, Ints]]
"""Of each team the keys of its cells, and their rows in the table."""


@dataclass(frozen=True, kw_only=True)
class Duplicate:
    """A team that was dropped, and whose data its own repeat.

    common: keys (scale, arm, replicate, item) at which both have a number. equal: those at which it is the same
    number. distinct: different numbers among the equal ones; few of them may be chance, as with values 0 and 1. how:
    the same numbers, numbers that are near (`team_copies.near`), or the same values in another order; then common and
    equal count values, of one scale and arm each.
    """

    team: str
    of: str
    common: int
    equal: int
    distinct: int
    how: Literal["same", "near", "reordered"] = "same"

    @property
    def sentence(self) -> str:
        """What a person reads."""
        if self.how == "reordered":
            return (
                f"{shown(self.team)} has the values of {shown(self.of)} in another order, {self.equal} of {self.common}"
            )
        if self.how == "near":
            where = f"in {self.equal} of {self.common} common cells"
            return f"{shown(self.team)} has the numbers of {shown(self.of)} to a millionth of their spread {where}"
        text = f"{shown(self.team)} has the numbers of {shown(self.of)} in {self.equal} of {self.common} common cells"
        if self.distinct < min(self.equal, 10):
            return f"{text}, of only {self.distinct} different numbers, which may be chance"
        return text


def without_duplicates(
    table: RunTable, *, order: Sequence[str] | None = None
) -> tuple[RunTable, tuple[Duplicate, ...]]:
    """The table without the teams that repeat an earlier one, and those teams.

    order: the teams, earliest first; default: in alphabetical order, as no file says who was first. A team is dropped
    if in at least half of the keys (scale, arm, replicate, item) that it shares with a kept earlier team the exact
    values are equal, too, and in more than two honest teams would share by chance: with values 0 and 1 half is nothing.
    So it is if they are near, to a millionth of their spread, or if the team has the earlier one's values in another
    order. Missing cells are no part of it. Seeds that only share a random stream are not found.

    Raises BadInput unless `order` names every team of the table once.
    """
    names = [table.teams[i] for i in np.unique(table.team)]
    ordered = names if order is None else list(order)
    if sorted(ordered) != names:
        raise BadInput("the order of the teams does not name each team of the table once", mend=f"they are {names}")
    cells, groups = _cells(table), _groups(table)
    kept: list[str] = []
    dropped: list[Duplicate] = []
    for name in ordered:
        for earlier in kept:
            found = _same(table, cells, name, earlier) or _alike(table, cells, groups, name, earlier)
            if found is not None:
                dropped.append(found)
                break
        else:
            kept.append(name)
    keep = np.isin(table.team, [table.teams.index(name) for name in kept])
    return table.rows(keep), tuple(dropped)


def _same(table: RunTable, cells: Cells, name: str, earlier: str) -> Duplicate | None:
    (keys, rows), (others, their_rows) = cells[name], cells[earlier]
    common, at, there = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    mine, theirs = table.value_codes[rows[at]], table.value_codes[their_rows[there]]
    same = mine == theirs
    equal = int(same.sum())
    if not len(common) or 2 * equal < len(common) or equal <= _by_chance(mine, theirs):
        return None
    return Duplicate(team=name, of=earlier, common=len(common), equal=equal, distinct=len(np.unique(mine[same])))


def _alike(table: RunTable, cells: Cells, groups: Ints, name: str, earlier: str) -> Duplicate | None:
    """A copy whose numbers are near the earlier ones', or in another order."""
    (keys, rows), (others, their_rows) = cells[name], cells[earlier]
    group, other_group = groups[rows], groups[their_rows]
    common, at, there = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    close, by_chance = np.zeros(len(common), bool), 0.0
    for one in np.unique(group[at]):
        here = group[at] == one
        which, chance = near(table.value[rows[at][here]], table.value[their_rows[there][here]])
        close[here], by_chance = which, by_chance + chance
    count = int(close.sum())
    if 2 * count >= len(common) and count > by_chance + SURELY * math.sqrt(by_chance) and count >= LEAST_NEAR:
        distinct = len(np.unique(table.value_codes[rows[at][close]]))
        return Duplicate(team=name, of=earlier, common=len(common), equal=count, distinct=distinct, how="near")
    both = np.intersect1d(group, other_group)
    found = reordered([(table.value[rows[group == x]], table.value[their_rows[other_group == x]]) for x in both])
    if found is None:
        return None
    distinct = len(np.unique(table.value_codes[rows]))
    return Duplicate(team=name, of=earlier, common=found[1], equal=found[0], distinct=distinct, how="reordered")


def _by_chance(mine: Ints, theirs: Ints) -> float:
    """The most equal values that two independent teams with these frequencies would show: mean and six sds.

    The sd is the binomial one. 0 where most of a team's values are different numbers, as measured ones are; infinite
    where every value of both is the same, which says nothing.
    """
    n = len(mine)
    found, counts = np.unique(mine, return_counts=True)
    if 2 * len(found) > n:
        return 0.0
    others, other_counts = np.unique(theirs, return_counts=True)
    _, left, right = np.intersect1d(found, others, assume_unique=True, return_indices=True)
    share = float(counts[left] @ other_counts[right]) / max(n, 1) ** 2
    if share == 1:
        return math.inf
    return n * share + 6 * math.sqrt(n * share * (1 - share))


def _cells(table: RunTable) -> Cells:
    """Each team's keys as whole numbers that mean the same for every team, and the rows of its numbers."""
    parts = np.column_stack([table.scale, table.arm, table.replicate, table.item])
    _, key = np.unique(parts, axis=0, return_inverse=True)
    key = np.asarray(key.ravel(), np.int64)
    rows = {i: np.flatnonzero((table.team == i) & table.present) for i in np.unique(table.team)}
    return {table.teams[i]: (key[own], own) for i, own in rows.items()}


def _groups(table: RunTable) -> Ints:
    """A whole number for each row's scale and arm."""
    _, group = np.unique(np.column_stack([table.scale, table.arm]), axis=0, return_inverse=True)
    return np.asarray(group.ravel(), np.int64)
