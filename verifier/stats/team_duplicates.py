"""Teams whose data are another team's data: found by content and removed before anybody is counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.stats.run_table import Ints, RunTable


@dataclass(frozen=True, kw_only=True)
class Duplicate:
    """A team that was dropped, and whose data its own repeat.

    common: keys (scale, arm, replicate, item) at which both have a number. equal: those at which it is the same
    number. distinct: different numbers among the equal ones; few of them may be chance, as with values 0 and 1.
    """

    team: str
    of: str
    common: int
    equal: int
    distinct: int

    @property
    def sentence(self) -> str:
        """What a person reads."""
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
    Missing cells are no part of it. Seeds that only share a random stream are not found.

    Raises BadInput unless `order` names every team of the table once.
    """
    names = [table.teams[i] for i in np.unique(table.team)]
    ordered = names if order is None else list(order)
    if sorted(ordered) != names:
        raise BadInput("the order of the teams does not name each team of the table once", mend=f"they are {names}")
    cells = _cells(table)
    kept: list[str] = []
    dropped: list[Duplicate] = []
    for name in ordered:
        keys, values = cells[name]
        for earlier in kept:
            common, mine, theirs = np.intersect1d(keys, cells[earlier][0], assume_unique=True, return_indices=True)
            same = values[mine] == cells[earlier][1][theirs]
            equal = int(same.sum())
            by_chance = _by_chance(values[mine], cells[earlier][1][theirs])
            if len(common) and 2 * equal >= len(common) and equal > by_chance:
                distinct = len(np.unique(values[mine][same]))
                found = Duplicate(team=name, of=earlier, common=len(common), equal=equal, distinct=distinct)
                dropped.append(found)
                break
        else:
            kept.append(name)
    keep = np.isin(table.team, [table.teams.index(name) for name in kept])
    return table.rows(keep), tuple(dropped)


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


def _cells(table: RunTable) -> dict[str, tuple[Ints, Ints]]:
    """Each team's keys as whole numbers that mean the same for every team, and the codes of their values."""
    parts = np.column_stack([table.scale, table.arm, table.replicate, table.item])
    _, key = np.unique(parts, axis=0, return_inverse=True)
    key, codes = np.asarray(key.ravel(), np.int64), table.value_codes
    return {
        table.teams[i]: (key[(table.team == i) & (codes >= 0)], codes[(table.team == i) & (codes >= 0)])
        for i in np.unique(table.team)
    }
