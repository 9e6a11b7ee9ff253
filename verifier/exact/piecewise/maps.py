"""A piecewise affine map as data: phases, branches with guards, and its text form in files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from verifier.exact.linear import apply, dot, plus
from verifier.exact.reading import Matrix, Reader, Vector

MOST_PARTS = 16


@dataclass(frozen=True, slots=True)
class Guard:
    """aᵀz + b > 0 (`strict`) or ≥ 0."""

    a: Vector
    b: Fraction
    strict: bool

    def holds(self, z: Vector) -> bool:
        """Whether the guard holds at z."""
        value = self.value(z)
        return value > 0 or (value == 0 and not self.strict)

    def value(self, z: Vector) -> Fraction:
        """aᵀz + b."""
        return dot(self.a, z) + self.b


@dataclass(frozen=True, slots=True)
class Branch:
    """z ← Mz + c wherever every guard holds."""

    guards: tuple[Guard, ...]
    M: Matrix
    c: Vector

    def __call__(self, z: Vector) -> Vector:
        """Mz + c."""
        return plus(apply(self.M, z), self.c)


Map = tuple[tuple[Branch, ...], ...]
"""Phases, each a list of branches; at time t the phase is t mod their number."""


def numbers_of(map_: Map) -> Iterator[Fraction]:
    """Every number of a map."""
    for phase in map_:
        for branch in phase:
            for row in (*branch.M, branch.c, *(guard.a for guard in branch.guards)):
                yield from row
            yield from (guard.b for guard in branch.guards)


def branch_at(map_: Map, t: int, z: Vector) -> int | None:
    """The admissible branch at time t, or None where there is none."""
    for index, branch in enumerate(map_[t % len(map_)]):
        if all(guard.holds(z) for guard in branch.guards):
            return index
    return None


def overlapping(map_: Map) -> tuple[int, int, int] | None:
    """The first phase with two branches that no pair of opposite guards separates, with the branches."""
    for p, phase in enumerate(map_):
        for i, j in combinations(range(len(phase)), 2):
            if not any(_excludes(g, h) for g in phase[i].guards for h in phase[j].guards):
                return p, i, j
    return None


def _excludes(one: Guard, other: Guard) -> bool:
    pivot = next((k for k, x in enumerate(one.a) if x), None)
    if pivot is None:
        return False
    kappa = -other.a[pivot] / one.a[pivot]
    if kappa <= 0 or any(y != -kappa * x for x, y in zip(one.a, other.a, strict=True)):
        return False
    total = other.b + kappa * one.b
    return total < 0 or (total == 0 and (one.strict or other.strict))


def read_map(reader: Reader, dimension: int) -> Map:
    """`parameters.map`. Raises BadInput."""
    return tuple(
        tuple(_read_branch(branch, dimension) for branch in phase.items(1, MOST_PARTS))
        for phase in reader.items(1, MOST_PARTS)
    )


def _read_branch(reader: Reader, dimension: int) -> Branch:
    fields = reader.fields(("guards", "M", "c"))
    guards = []
    for entry in fields["guards"].items(0, MOST_PARTS):
        guard = entry.fields(("a", "b", "relation"))
        relation = guard["relation"].word((">", ">="))
        guards.append(Guard(guard["a"].vector(dimension), guard["b"].rational(), relation == ">"))
    return Branch(tuple(guards), fields["M"].matrix(dimension, dimension), fields["c"].vector(dimension))


def map_text(map_: Map) -> list[list[dict[str, Any]]]:
    """The map as it stands in files."""
    return [[_branch_text(branch) for branch in phase] for phase in map_]


def _branch_text(branch: Branch) -> dict[str, Any]:
    guards = [{"a": [str(x) for x in g.a], "b": str(g.b), "relation": ">" if g.strict else ">="} for g in branch.guards]
    return {"guards": guards, "M": [[str(x) for x in row] for row in branch.M], "c": [str(x) for x in branch.c]}


def orbit(map_: Map, z: Vector) -> Iterator[tuple[Vector, int | None]]:
    """z_t and the branch taken from it, t = 0, 1, …; ends after a state without an admissible branch."""
    t = 0
    while True:
        taken = branch_at(map_, t, z)
        yield z, taken
        if taken is None:
            return
        z = map_[t % len(map_)][taken](z)
        t += 1
