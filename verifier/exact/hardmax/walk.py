"""Following one selection: exact steps until the pattern freezes, the energies vanish, or the origin is separated."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import log

from verifier.exact.answer import Failure
from verifier.exact.clock import TimeUp
from verifier.exact.hardmax.bound import Bound
from verifier.exact.hardmax.enclosure import Enclosed, enclose
from verifier.exact.hardmax.orbit import Orbit, State, Targets, chosen, classes_of, minimisers
from verifier.exact.hardmax.problem import HardmaxProblem, Ties
from verifier.exact.hardmax.tail import CONVEX, Tail
from verifier.exact.hull import origin_in_hull
from verifier.exact.reading import Vector

FIRST_SEPARATION = 64
"""Steps without a freeze before a separating vector is sought; then again at each doubling."""

ENCLOSED_AFTER = (256, 1_024, 4_096)
"""Steps without a freeze, separation or failure after which enclosures are tried for the rest."""

MOST_BITS_AFTER_FAILURE = 20_000
"""Longer numbers end a walk that has failed once: no certificate could hold what comes later."""

Progress = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class Separation:
    """⟨u, x_k⟩_B ≥ δ > 0 for every token at `step`: later energies are ≥ δ²/(2|u|²_B), the bound fails from `since`."""

    step: int
    u: Vector
    delta: Fraction
    since: int


@dataclass(slots=True)
class Walk:
    """A selection so far: run-length targets, failing components at each step as bits, the first failure.

    `worst` is the largest left over right side and its step, `last` the last energy 2J as a ratio, `energies` holds
    (t, ln 2J) after 1, 2, 4, … steps.
    """

    state: State
    runs: list[tuple[int, Targets]] = field(default_factory=list)
    masks: list[int] = field(default_factory=list)
    first: Failure | None = None
    first_bits: int = 0
    worst: tuple[float, int] = (-1.0, 0)
    last: tuple[int, int] = (0, 1)
    energies: list[tuple[int, float]] = field(default_factory=list)
    separation: Separation | None = None
    tail: Tail | None = None
    ending: str = ""  # freeze | zero | separation | horizon | time | tie
    ties: int = 0
    enclosed: Enclosed | None = None
    first_tie: tuple[int, int, tuple[int, ...]] | None = None

    def copy(self) -> Walk:
        """A walk that shares the past and nothing of the future."""
        return Walk(
            self.state, list(self.runs), list(self.masks), self.first, self.first_bits, self.worst, self.last,
            list(self.energies), self.separation, None, "", self.ties, None, self.first_tie,
        )  # fmt: skip

    def select(self, targets: Targets) -> None:
        """Appends one step to the run-length list."""
        if self.runs and self.runs[-1][1] == targets:
            self.runs[-1] = (self.runs[-1][0] + 1, targets)
        else:
            self.runs.append((1, targets))


@dataclass(frozen=True, slots=True)
class Limits:
    """`horizon`: steps to take at most; `deadline`: on the monotonic clock, or None; `progress` hears of long runs."""

    horizon: int
    deadline: float | None = None
    progress: Progress | None = None


class Follower:
    """Follows the selections of one problem with one bound."""

    def __init__(self, problem: HardmaxProblem, bound: Bound, limits: Limits) -> None:
        self.problem, self.bound, self.limits = problem, bound, limits
        self.orbit = Orbit(problem)
        self._said = time.monotonic()

    def start(self) -> Walk:
        """The empty walk."""
        return Walk(self.orbit.start)

    def step(self, walk: Walk, targets: Targets) -> None:
        """Takes one step and records who fails."""
        t = walk.state.t
        walk.select(targets)
        walk.state, energies, over = self.orbit.advance(walk.state, targets)
        mask = self.bound.mask(t, energies, over)
        walk.masks.append(mask)
        if mask and walk.first is None:
            i = (mask & -mask).bit_length() - 1
            walk.first_bits = walk.state.bottom.bit_length()
            walk.first = Failure(t, i, Fraction(energies[i], 2 * over), self.bound.rhs(t), self.bound.rhs_is)
        share = self.bound.share(t, energies, over)
        if share > walk.worst[0]:
            walk.worst = (share, t)
        top, taken = max(energies), len(walk.masks)
        walk.last = (top, over)
        if taken & (taken - 1) == 0 and top > 0:
            walk.energies.append((t, log(top) - log(over)))

    def follow(self, walk: Walk, ties: Ties, *, separate_at_tie: bool = False) -> list[list[int]]:
        """Steps until the walk ends; sets `ending`. At a tie under any-selection it returns each token's choices."""
        orbit = self.orbit
        convex = self.problem.step in CONVEX
        freeze_from = max(orbit.constant_from, orbit.t0 + 1 if convex else orbit.t0)
        while True:
            state = walk.state
            names = classes_of(state)
            choices = minimisers(state, names)
            tied = next((i for i, choice in enumerate(choices) if len(choice) > 1), None)
            if tied is not None:
                walk.ties += 1
                walk.first_tie = walk.first_tie or (state.t, tied, tuple(choices[tied]))
            targets = chosen(choices, ties)
            v = targets[0]
            if not any(any(image) for image in state.images):
                walk.ending = "zero"
                return []
            free = tied is not None and ties == "any-selection"
            if state.t >= freeze_from and not free and all(k == v for k in targets):
                walk.tail = Tail(self.problem, orbit, state=state, v=v, bound=self.bound)
                walk.ending = "freeze" if walk.tail.c0 > 0 else "zero"
                return []
            if self._ends(walk, freeze_from, tied=free and separate_at_tie):
                return []
            if free:
                walk.ending = "tie"
                return choices
            self.step(walk, targets)

    def _ends(self, walk: Walk, freeze_from: int, *, tied: bool) -> bool:
        """Whether separation, the horizon or the clock ends the walk before its next step."""
        limits, taken = self.limits, len(walk.masks)
        at_double = taken >= FIRST_SEPARATION and taken & (taken - 1) == 0
        late = walk.first is not None and taken >= FIRST_SEPARATION
        if (
            walk.separation is None
            and walk.state.t >= freeze_from
            and (at_double or tied or (late and taken % 16 == 0))
        ):
            walk.separation = self.separate(walk.state)
        if walk.separation is not None and (tied or walk.first is not None):
            walk.ending = "separation"
        elif (walk.first is not None and walk.state.bottom.bit_length() > MOST_BITS_AFTER_FAILURE) or (
            taken in ENCLOSED_AFTER and taken < limits.horizon and self._enclosed(walk)
        ):
            walk.ending = "horizon"
        elif taken >= limits.horizon:
            walk.ending = "separation" if walk.separation is not None else "horizon"
        elif limits.deadline is not None and time.monotonic() > limits.deadline:
            walk.ending = "separation" if walk.separation is not None else "time"
        else:
            self._say(walk)
            return False
        return True

    def _enclosed(self, walk: Walk) -> bool:
        """Whether rigorous enclosures take the walk to the horizon: no tie, no freeze and no failure on the way."""
        if walk.first is not None or walk.separation is not None:
            return False
        last = self.orbit.t0 + self.limits.horizon
        found = enclose(self.orbit, self.bound, walk.state, last=last, tick=self._tick)
        if found is None:
            return False
        walk.worst, walk.last = max(walk.worst, found.worst), found.energy
        walk.energies += found.energies
        walk.enclosed = found
        return True

    def say(self, t: int, remark: str) -> None:
        """Tells `progress` where a long run stands, once a second at most."""
        if self.limits.progress is not None and time.monotonic() - self._said > 1.0:
            self._said = time.monotonic()
            self.limits.progress(t, remark)

    def _say(self, walk: Walk) -> None:
        self.say(walk.state.t, f"no freeze yet, numbers of {walk.state.bottom.bit_length()} bits")

    def _tick(self, t: int, bits: int) -> bool:
        """Whether an enclosed run may go on: says where it stands, and looks at the clock."""
        self.say(t, f"no freeze yet, enclosures of {bits} bits")
        return self.limits.deadline is None or time.monotonic() <= self.limits.deadline

    def separate(self, state: State) -> Separation | None:
        """A vector with a positive B-product with every token, or None where B·hull contains 0."""
        over = self.orbit.B_bottom * state.bottom
        images = [[Fraction(y, over) for y in image] for image in state.images]
        remark = f"seeking a separating vector, numbers of {state.bottom.bit_length()} bits"

        def tick() -> None:
            self.say(state.t, remark)
            if self.limits.deadline is not None and time.monotonic() > self.limits.deadline:
                raise TimeUp

        try:
            hull = origin_in_hull(images, tick=tick)
        except TimeUp:
            return None
        if hull.separator is None:
            return None
        return self.separation(state, hull.separator)

    def separation_by_target(self, walk: Walk) -> Separation:
        """The separation that a freeze with c0 > 0 implies: its own target x_v, with δ = |x_v|²_B."""
        assert walk.tail is not None
        point = walk.state.points[walk.tail.v]
        return self.separation(walk.state, tuple(Fraction(x, walk.state.bottom) for x in point))

    def separation(self, state: State, u: Vector) -> Separation:
        """What a separating vector proves at this state."""
        over = self.orbit.B_bottom * state.bottom
        delta = min(sum((a * y for a, y in zip(u, image, strict=True)), Fraction(0)) / over for image in state.images)
        assert delta > 0
        matrix = self.problem.B[-1]
        norm = sum(
            (a * x * b for a, row in zip(u, matrix, strict=True) for x, b in zip(row, u, strict=True)), Fraction(0)
        )
        least = self.bound.theta * norm / delta**2  # (t+1) must exceed this
        return Separation(state.t, u, delta, max(state.t, least.numerator // least.denominator))
