"""A table of runs as the arrays that a margin rule takes: the complete prefix of each arm, in order."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from verifier.model.complaints import listed
from verifier.model.errors import BadInput
from verifier.stats.bounded_design import CountRule, ProportionRule
from verifier.stats.laws import Floats
from verifier.stats.margin_data import may_be, read_arms
from verifier.stats.margin_design import DifferenceRule, RatioRule
from verifier.stats.margin_kinds import AnyMarginRule
from verifier.stats.proportion import binary
from verifier.stats.run_csv import parse_runs
from verifier.stats.run_table import ARMS, Grid, RunTable


@dataclass(frozen=True, kw_only=True, eq=False)
class ArmRuns:
    """What a margin rule is applied to. Nothing is imputed.

    left, right: float64 (n,) or (n, items), the replicates before the first that lacks a cell, at most the registered
    maximum; `right` is None where the table has no arms. replicates: all that the table names, of either arm.
    """

    table: RunTable
    left: Floats
    right: Floats | None
    replicates: int

    def first(self, n: int) -> tuple[Floats, Floats | None]:
        """The first n replicates of either arm."""
        return self.left[:n], None if self.right is None else self.right[:n]

    def unused(self, n: int) -> int:
        """Replicates of either arm that are not among the first n."""
        return self.replicates - n * (1 if self.right is None else 2)

    @property
    def n(self) -> int:
        """Replicates there are in every arm."""
        return len(self.left) if self.right is None else min(len(self.left), len(self.right))


def read_arm_runs(rule: AnyMarginRule, content: bytes, *, name: str) -> ArmRuns:
    """The runs that a CSV holds, as `parse_runs` reads it, without scales and of one team.

    Replicates are taken in the order of their numbers; a paired rule counts those that both arms have. Raises BadInput,
    naming the file, for a table that is none, and for one that the rule cannot be applied to.
    """
    arms = ("arm",) if isinstance(rule, RatioRule) else ()
    table = parse_runs(content, name=name, axes=(), needs=arms)
    try:
        return arm_runs(rule, table)
    except BadInput as error:
        raise BadInput(error.what, where=name, mend=error.mend) from error


def arm_runs(rule: AnyMarginRule, table: RunTable) -> ArmRuns:
    """The arrays of a table of one team and no scale. Raises BadInput where the rule cannot be applied to it."""
    if not len(table):
        raise BadInput("there is no row below the header", mend="give one row for each replicate")
    has_arms = table.arms != ("",)
    if has_arms and set(table.arms) != set(ARMS):
        raise BadInput(f"there is only the arm {listed(table.arms)}", mend="give both arms, left and right")
    if has_arms and isinstance(rule, ProportionRule | CountRule):
        raise BadInput(f"a {rule.kind} has no arms", mend="leave out the column arm")
    paired = isinstance(rule, DifferenceRule | RatioRule) and rule.noise == "paired"
    if not has_arms or paired:
        grid = table.grid()  # a pair counts where both its cells are there
        arms, replicates = _complete(grid), len(grid.arms) * len(grid.replicates)
    else:
        grids = [table.view(arm=arm).grid() for arm in ARMS]
        if grids[0].items != grids[1].items:
            raise BadInput("the two arms do not have the same items", mend="give every item in both arms")
        arms, replicates = [_complete(grid)[0] for grid in grids], sum(len(grid.replicates) for grid in grids)
    left, right = arms[0], arms[1] if has_arms else None
    left, right = left[: rule.maximum], None if right is None else right[: rule.maximum]
    _check(rule, left, right)
    return ArmRuns(table=table, left=left, right=right, replicates=replicates)


def impossible_line(rule: AnyMarginRule, table: RunTable) -> int | None:
    """The first line whose value the rule cannot judge (`may_be`), None where there is none."""
    if not isinstance(rule, DifferenceRule | RatioRule):
        return None
    both = table.arms != ("",)
    rows = zip(table.line.tolist(), table.value.tolist(), strict=True)
    lines = [line for line, value in rows if not math.isnan(value) and not may_be(rule, value, both=both)]
    return min(lines, default=None)


def _complete(grid: Grid) -> list[Floats]:
    """The replicates before the first that lacks a cell, of each arm, (n,) or (n, items)."""
    values = grid.values[:, 0, : grid.prefix]
    return [np.ascontiguousarray(arm[:, 0] if grid.items == ("",) else arm) for arm in values]


def _check(rule: AnyMarginRule, left: Floats, right: Floats | None) -> None:
    """Raises BadInput for what the rule would refuse whatever n is looked at."""
    if isinstance(rule, DifferenceRule | RatioRule):
        items = isinstance(rule, DifferenceRule)
        read_arms(rule, left, right, paired=rule.noise == "paired", noun=rule.unit, items=items)
        if isinstance(rule, DifferenceRule):
            with_items = left.ndim == 2
            if with_items and not rule.population:
                raise BadInput(
                    "the rows have items, and the rule does not say what they stand for",
                    mend='register population = "this-test-set" or "items-drawn"',
                )
            if not with_items and rule.population == "items-drawn":
                raise BadInput("items are drawn, but the rows have none", mend="add the column item")
            if right is None and rule.noise == "pooled":
                raise BadInput("a pooled standard deviation needs both arms", mend="add the column arm")
        return
    if left.ndim == 2:
        raise BadInput(f"a {rule.kind} has no items", mend="leave out the column item, and number the trials")
    binary(left)
