"""Orbits with the origin in the hull: where 0 ∈ K^t is shown by weights, and the step at which it leaves.

Every x_i^{t+1} is a convex combination of the x_k^t (0 ≤ γ ≤ 1), so hulls are nested: weights at one step answer for
all earlier ones, a separating vector for all later ones. Early steps are tested each, later ones in blocks, and a
block that ends outside is searched by halving.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod

from verifier.exact.answer import Failure
from verifier.exact.hardmax.branches import MOST_BRANCHES
from verifier.exact.hardmax.orbit import State, chosen, classes_of, exact_points, minimisers
from verifier.exact.hardmax.problem import Ties
from verifier.exact.hardmax.tail import CONVEX, Tail, zero_tail_first
from verifier.exact.hardmax.walk import Follower, Walk
from verifier.exact.hull import Hull, origin_in_hull
from verifier.exact.reading import Vector

STEP_BY_STEP = 64
"""Steps whose hull is tested one by one."""
BLOCK = 64
"""Afterwards, steps between two tests of the hull."""
GRACE = 1.0
"""Seconds after a time limit that the last test of a hull may take."""
MOST_LISTED = 8
"""Steps whose weights are kept as witnesses, besides the last ones."""


@dataclass(slots=True)
class Path:
    """One selection with its hulls. `exit` is the first step outside with a separating vector; None while inside.

    `weights` holds (t, w) with w ≥ 0, Σw = 1, Σ w_k x_k^t = 0 for the first steps, `latest` the same for the last step
    tested inside. `ending`: left (outside from `exit` on) | still (inside for ever, and no inequality fails any more) |
    quiet (no inequality fails any more) | violated | horizon | time | tie.
    """

    walk: Walk
    weights: list[tuple[int, Vector]] = field(default_factory=list)
    latest: tuple[int, Vector] | None = None
    exit: tuple[int, Vector] | None = None
    untested: list[State] = field(default_factory=list)
    ending: str = ""

    def copy(self) -> Path:
        """A path that shares the past and nothing of the future."""
        return Path(self.walk.copy(), list(self.weights), self.latest, None, list(self.untested))

    @property
    def first(self) -> Failure | None:
        """The first failure at a step t with 0 ∈ K^t shown; hulls are nested, so a later step inside shows it."""
        found = self.walk.first
        return found if found is not None and self.latest is not None and found.t <= self.latest[0] else None


@dataclass(frozen=True, slots=True)
class Paths:
    """Every path that the tie policy admits, in order; not `complete` where more than 64 would be needed.

    Some of them are then beginnings only, of `ending` tie or none.
    """

    paths: tuple[Path, ...]
    complete: bool = True


class _Late(Exception):
    """The clock ran out inside a test of a hull."""


class InsideFollower:
    """Follows the paths of one problem. `whole`: each to where the origin leaves, also after a failure.

    `weights` are those that show 0 ∈ K^{t0}, where they are known.
    """

    def __init__(self, follower: Follower, *, whole: bool, weights: Vector | None = None) -> None:
        self.follower, self.whole, self._weights = follower, whole, weights
        orbit = follower.orbit
        self._freeze_from = max(orbit.constant_from, orbit.t0 + (follower.problem.step in CONVEX))

    def under(self, ties: Ties) -> Path:
        """The path of an index rule; under any-selection up to the first tie at most."""
        path = Path(self.follower.start())
        self.follow(path, ties)
        return path

    def explore(self) -> Paths:
        """All paths under any-selection, at most 64."""
        pending, done = [Path(self.follower.start())], list[Path]()
        while pending:
            path = pending.pop()
            choices = self.follow(path, "any-selection")
            if path.ending != "tie":
                done.append(path)
                continue
            if len(done) + len(pending) + prod(map(len, choices)) > MOST_BRANCHES:
                return Paths((*done, path, *reversed(pending)), complete=False)
            for targets in reversed(list(product(*choices))):
                branch = path.copy()
                self._step(branch, targets)
                pending.append(branch)
        return Paths(tuple(done))

    def follow(self, path: Path, ties: Ties) -> list[list[int]]:
        """Steps until the path ends; sets `ending`. At a tie under any-selection it returns each token's choices.

        There a tie is an equal least score at different points: unlike the energies, the hull can depend on the
        choice between points that are equal modulo ker B.
        """
        try:
            return self._follow(path, ties)
        except _Late:
            path.ending = "time"
            return []

    def _follow(self, path: Path, ties: Ties) -> list[list[int]]:
        walk = path.walk
        while not path.ending:
            state = walk.state
            if not path.untested or path.untested[-1] is not state:
                path.untested.append(state)
            taken = len(walk.masks)
            if (taken <= STEP_BY_STEP or taken % BLOCK == 0) and self._left(path):
                break
            names = _points_of(state) if ties == "any-selection" else classes_of(state)
            choices = minimisers(state, names)
            tied = next((i for i, choice in enumerate(choices) if len(choice) > 1), None)
            if tied is not None:
                walk.first_tie = walk.first_tie or (state.t, tied, tuple(choices[tied]))
            free = tied is not None and ties == "any-selection"
            targets = chosen(choices, ties)
            if not self.whole and not any(any(image) for image in state.images):
                # J = 0 from here on, whatever is selected
                path.ending = "quiet" if any(any(point) for point in state.points) else "still"
            elif self._ends(path, targets, free=free):
                break
            elif free:
                if not self._left(path):
                    path.ending = "tie"
                return choices
            else:
                self._step(path, targets)
        return []

    def _step(self, path: Path, targets: tuple[int, ...]) -> None:
        """One step; a first failure counts only where the origin is in the hull of its own step."""
        failed = path.walk.first
        self.follower.step(path.walk, targets)
        if path.walk.first is not failed and not self._left(path) and not self.whole:
            path.ending = "violated"

    def _ends(self, path: Path, targets: tuple[int, ...], *, free: bool) -> bool:
        """Whether a freeze, the horizon or the clock ends the path before its next step."""
        same = len(set(targets)) == 1 and path.walk.state.t >= self._freeze_from and not free
        return (same and self._frozen(path, targets[0])) or self._out_of_time(path)

    def _out_of_time(self, path: Path) -> bool:
        """Whether the horizon or the clock ends the path before its next step."""
        limits, walk = self.follower.limits, path.walk
        late = limits.deadline is not None and time.monotonic() > limits.deadline
        if not late and len(walk.masks) < limits.horizon:
            inside = path.latest[0] if path.latest else walk.state.t
            self.follower.say(walk.state.t, f"the origin is inside up to t = {inside} at least")
            return False
        if not self._left(path):
            path.ending = "time" if late else "horizon"
        return True

    def _left(self, path: Path) -> bool:
        """Tests the hull of the last untested state, and where it is outside finds the first such state."""
        if path.exit is not None or not path.untested:
            return path.exit is not None
        states = path.untested
        hull = self._hull(states[-1])
        if hull.weights is not None:
            self._inside(path, states[-1].t, hull.weights)
            path.untested = []
            return False
        inside, outside = -1, len(states) - 1
        while outside - inside > 1:
            middle = (inside + outside) // 2
            tested = self._hull(states[middle])
            if tested.weights is not None:
                inside = middle
                self._inside(path, states[middle].t, tested.weights)
            else:
                outside, hull = middle, tested
        assert hull.separator is not None
        path.exit = (states[outside].t, shortened(hull.separator, exact_points(states[outside])))
        path.ending = "left"
        return True

    def _hull(self, state: State) -> Hull:
        if state.t == self.follower.orbit.t0 and self._weights is not None:
            return Hull(self._weights, None)
        remark, deadline = f"testing a hull, numbers of {state.bottom.bit_length()} bits", self.follower.limits.deadline

        def tick() -> None:
            self.follower.say(state.t, remark)
            if deadline is not None and time.monotonic() > deadline + GRACE:
                raise _Late

        return origin_in_hull(exact_points(state), tick=tick)

    @staticmethod
    def _inside(path: Path, t: int, weights: Vector) -> None:
        path.latest = (t, weights)
        if len(path.weights) < MOST_LISTED:
            path.weights.append((t, weights))

    def _frozen(self, path: Path, v: int) -> bool:
        """Whether a freeze on token v ends the path.

        A freeze with |x_v|_B > 0 separates, so the origin has left by then. With B x_v = 0 the tail is in closed form.
        """
        state = path.walk.state
        if self._left(path):
            return True
        tail = Tail(self.follower.problem, self.follower.orbit, state=state, v=v, bound=self.follower.bound)
        assert tail.c0 == 0
        if zero_tail_first(tail) is not None:
            return False
        if not any(state.points[v]):
            path.ending = "still"  # x_v = 0 is a token for ever
        elif self.whole:
            self._leaves(path, tail, exact_points(state))
        else:
            path.ending = "quiet"
        return True

    def _leaves(self, path: Path, tail: Tail, points: list[Vector]) -> None:
        """The exit of a freeze on a point x_v ≠ 0 with B x_v = 0: the hull shrinks to x_v; found by doubling."""

        def at(t: int) -> tuple[Hull, list[Vector]]:
            r = Fraction(*tail.ratio(t - 1))
            v = points[tail.v]
            moved = [tuple(a + r * (b - a) for a, b in zip(v, x, strict=True)) for x in points]
            return origin_in_hull(moved), moved

        inside, width = tail.s, 1
        while (found := at(inside + width))[0].weights is not None:
            self._inside(path, inside + width, found[0].weights)
            inside, width = inside + width, 2 * width
        outside = inside + width
        while outside - inside > 1:
            middle = (inside + outside) // 2
            tested = at(middle)
            if tested[0].weights is not None:
                inside = middle
                self._inside(path, middle, tested[0].weights)
            else:
                outside, found = middle, tested
        assert found[0].separator is not None
        path.exit = (outside, shortened(found[0].separator, found[1]))
        path.ending = "left"


def _points_of(state: State) -> list[int]:
    """The lowest index at the same point, for each token."""
    names: dict[tuple[int, ...], int] = {}
    return [names.setdefault(tuple(point), k) for k, point in enumerate(state.points)]


def shortened(u: Vector, points: Sequence[Vector]) -> Vector:
    """A separating vector of small integers: u scaled and rounded, as coarsely as ⟨u, x⟩ > 0 for every point allows."""
    largest, bits = max(abs(x) for x in u), 0
    while True:
        rounded = tuple(Fraction(round(x / largest * 2**bits)) for x in u)
        if all(sum((a * b for a, b in zip(rounded, x, strict=True)), Fraction(0)) > 0 for x in points):
            return rounded
        bits = 2 * bits + 1
