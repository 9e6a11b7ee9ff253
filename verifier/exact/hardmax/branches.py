"""All selections that ties admit, as a list of closed branches in lexicographic order; at most 64."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Literal

from verifier.exact.answer import Failure
from verifier.exact.hardmax.tail import Settled, settle, zero_tail_first
from verifier.exact.hardmax.walk import Follower, Walk
from verifier.model.answers import ExactAnswer

MOST_BRANCHES = 64

IndexRule = Literal["lowest-index", "highest-index"]


@dataclass(frozen=True, slots=True)
class Branch:
    """One closed selection and its answer. `settled` stands for a freeze whose steps are exact."""

    walk: Walk
    answer: ExactAnswer
    first: Failure | None
    settled: Settled | None

    @property
    def violated(self) -> bool:
        """Whether the bound fails somewhere on this branch."""
        return self.answer in (ExactAnswer.VIOLATED, ExactAnswer.VIOLATED_FOR_ALL)


def closed(follower: Follower, walk: Walk) -> Branch:
    """The answer of a walk that has ended."""
    t0 = follower.orbit.t0
    if walk.ending == "freeze":
        assert walk.tail is not None
        settled = settle(walk.tail, walk.masks, t0)
        if settled is None:
            walk.separation = follower.separation_by_target(walk)
            return Branch(walk, ExactAnswer.VIOLATED_FOR_ALL, walk.first, None)
        return Branch(walk, ExactAnswer.VIOLATED_FOR_ALL, _first_of(follower, walk, settled.first), settled)
    if walk.ending == "separation":
        return Branch(walk, ExactAnswer.VIOLATED_FOR_ALL, walk.first, None)
    if walk.first is not None:
        return Branch(walk, ExactAnswer.VIOLATED, walk.first, None)
    if walk.ending == "zero":
        late = zero_tail_first(walk.tail) if walk.tail is not None else None
        if late is None:
            return Branch(walk, ExactAnswer.HOLDS_FOR_ALL, None, None)
        if late is not False:
            assert late is not True
            return Branch(walk, ExactAnswer.VIOLATED, _first_of(follower, walk, late), None)
    return Branch(walk, ExactAnswer.VERIFIED_TO_HORIZON, None, None)


def _first_of(follower: Follower, walk: Walk, place: tuple[int, int]) -> Failure:
    t, i = place
    if walk.first is not None:
        return walk.first
    tail = walk.tail
    assert tail is not None
    if not tail.exact_at(t):
        return Failure(t, i, None, follower.bound.rhs(t), follower.bound.rhs_is)
    top, over = tail.energy(i, t)
    return Failure(t, i, Fraction(top, 2 * over), follower.bound.rhs(t), follower.bound.rhs_is)


def under(follower: Follower, rule: IndexRule) -> Branch:
    """The one branch of an index rule."""
    walk = follower.start()
    follower.follow(walk, rule)
    return closed(follower, walk)


@dataclass(frozen=True, slots=True)
class Explored:
    """Every branch, in order; `complete` is False where more than 64 would be needed: some are then beginnings only."""

    branches: tuple[Branch, ...]
    complete: bool


def explore(follower: Follower, *, separate_at_tie: bool = False) -> Explored:
    """All branches under any-selection."""
    pending = [follower.start()]
    done: list[Branch] = []
    while pending:
        walk = pending.pop()
        choices = follower.follow(walk, "any-selection", separate_at_tie=separate_at_tie)
        if walk.ending != "tie":
            done.append(closed(follower, walk))
            continue
        if len(done) + len(pending) + prod(map(len, choices)) > MOST_BRANCHES:
            beginnings = (closed(follower, begun) for begun in (walk, *reversed(pending)))
            return Explored((*done, *beginnings), complete=False)
        for targets in reversed(list(product(*choices))):
            branch = walk.copy()
            follower.step(branch, targets)
            pending.append(branch)
    return Explored(tuple(done), complete=True)
