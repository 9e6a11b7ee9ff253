"""An exact orbit, stepped in integers over one common denominator, and how much of it a certificate may step."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Literal

from verifier.exact.clock import Clock
from verifier.exact.piecewise.maps import Branch, Map
from verifier.exact.reading import Vector

MOST_BITS = 6_000
"""Bits of a state: products of two stay below the 13,300 of the format."""
MOST_STEPS = 2_000
"""Explicit steps of a certificate."""
MOST_UNITS = 1_000_000
"""Work units spent on explicit steps, a quarter of what the format allows."""

End = Literal["", "undefined", "size"]


@dataclass(frozen=True, slots=True)
class _Whole:
    """A branch in integers: z = y/e goes to (N y + k e)/(d e)."""

    guards: tuple[tuple[tuple[int, ...], int, bool], ...]
    N: tuple[tuple[int, ...], ...]
    k: tuple[int, ...]
    d: int


def _whole(branch: Branch) -> _Whole:
    guards = []
    for guard in branch.guards:
        bottom = lcm(guard.b.denominator, *(x.denominator for x in guard.a))
        guards.append((tuple(int(x * bottom) for x in guard.a), int(guard.b * bottom), guard.strict))
    d = lcm(*(x.denominator for row in (*branch.M, branch.c) for x in row))
    rows = tuple(tuple(int(x * d) for x in row) for row in branch.M)
    return _Whole(tuple(guards), rows, tuple(int(x * d) for x in branch.c), d)


@dataclass(slots=True)
class Trace:
    """z_0, z_1, … as integers over common denominators, and the branch taken from each but the last.

    `ended` is "undefined" where the last state has no admissible branch, "size" where its numbers have more than
    MOST_BITS bits, "" where more steps may be taken. `certified` is the number of steps that a certificate may take.
    """

    map: Map
    tops: list[tuple[int, ...]]
    bottoms: list[int]
    taken: list[int] = field(default_factory=list)
    ended: End = ""
    certified: int = 0
    repeat: tuple[int, int] | None = None
    """s < t with z_s = z_t at the same phase of the map, for the smallest such t."""
    _units: int = 0
    _wholes: tuple[tuple[_Whole, ...], ...] = ()
    _seen: dict[tuple[int, int, tuple[int, ...]], int] = field(default_factory=dict)

    @property
    def last(self) -> int:
        """The time of the last state."""
        return len(self.tops) - 1

    def state(self, t: int) -> Vector:
        """z_t."""
        bottom = self.bottoms[t]
        return tuple(Fraction(y, bottom) for y in self.tops[t])

    def branch(self, t: int) -> Branch:
        """The branch taken at time t."""
        return self.map[t % len(self.map)][self.taken[t]]

    def extend(self, to: int, clock: Clock) -> None:
        """Steps on until z_to is known, the orbit ends, or it repeats. Raises TimeUp."""
        while not self.ended and self.repeat is None and self.last < to:
            clock.tick(self.last, "stepping exactly")
            self._step()

    def _step(self) -> None:
        t, y, e = self.last, self.tops[-1], self.bottoms[-1]
        phase = self._wholes[t % len(self.map)]
        index = next((i for i, branch in enumerate(phase) if _admits(branch, y, e)), None)
        if index is None:
            self.ended = "undefined"
            return
        branch = phase[index]
        image = [
            sum(n * x for n, x in zip(row, y, strict=True) if n) + k * e
            for row, k in zip(branch.N, branch.k, strict=True)
        ]
        bottom = branch.d * e
        content = gcd(bottom, *image)
        self.tops.append(tuple(x // content for x in image))
        self.bottoms.append(bottom // content)
        self.taken.append(index)
        bits = max(e.bit_length(), *(abs(x).bit_length() for x in y))
        size, guards = len(y), sum(len(b.guards) for b in phase)
        self._units += size * (size + guards) * (1 + bits // 500)
        if self._units <= MOST_UNITS and t < MOST_STEPS:
            self.certified = t + 1
        if max(self.bottoms[-1].bit_length(), *(abs(x).bit_length() for x in self.tops[-1])) > MOST_BITS:
            self.ended = "size"
        self._remember()

    def _remember(self) -> None:
        t = self.last
        before = self._seen.setdefault((t % len(self.map), self.bottoms[-1], self.tops[-1]), t)
        if before < t:
            self.repeat = (before, t)


def _admits(branch: _Whole, y: tuple[int, ...], e: int) -> bool:
    for a, b, strict in branch.guards:
        value = sum(n * x for n, x in zip(a, y, strict=True) if n) + b * e
        if value < 0 or (strict and value == 0):
            return False
    return True


def begin(map_: Map, z: Vector) -> Trace:
    """The trace that holds z_0 alone."""
    bottom = lcm(*(x.denominator for x in z))
    wholes = tuple(tuple(_whole(branch) for branch in phase) for phase in map_)
    trace = Trace(map_, [tuple(int(x * bottom) for x in z)], [bottom], _wholes=wholes)
    trace._remember()  # noqa: SLF001  # the constructor of this very class
    return trace
