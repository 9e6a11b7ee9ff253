"""After a freeze: every later energy in closed form, and the steps from which the bound fails for good.

All tokens move towards x_v, so x_i^{t+1} = x_v + r(x_i^s − x_v) and 2J = c0 + c1 r + c2 r² with c0, c1, c2 ≥ 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2

from verifier.exact.hardmax.bound import Bound
from verifier.exact.hardmax.orbit import Orbit, State
from verifier.exact.hardmax.powers import power_bounds
from verifier.exact.hardmax.problem import HardmaxProblem

MOST_SCANNED = 2_000
"""Steps walked back one by one; the certificate's own limit on tail times."""

MOST_BITS_IN_FILE = 6_000
"""Powers of 1 − γ up to this length are written out and squared; longer ones are enclosed."""
MOST_BITS_COMPUTED = 13_300
"""The format's bound on any number that a checker computes."""
TOO_MANY_TIMES = 10**6
"""More single times than any certificate holds."""

CONVEX = ("2/(t+2)", "2/(t+1)")


class Tail:
    """The energies after a freeze at `s` on token `v`: integers c0, c1, c2 over one denominator."""

    def __init__(self, problem: HardmaxProblem, orbit: Orbit, *, state: State, v: int, bound: Bound) -> None:
        self.s, self.v, self.bound, self.step = state.t, v, bound, problem.step
        self.count, self._dimension = len(state.points), len(problem.tokens[0])
        scores = state.scores
        self.over = orbit.B_bottom * state.bottom**2
        self.c0 = scores[v][v]
        self.c1 = [2 * (scores[v][i] - self.c0) for i in range(self.count)]
        self.c2 = [scores[i][i] - 2 * scores[v][i] + self.c0 for i in range(self.count)]
        s = self.s
        self.kappa = {"2/(t+2)": s * (s + 1), "2/(t+1)": s * (s - 1), "1/(t+2)": s + 1}.get(problem.step, 0)
        self.keep = None if problem.gamma is None else 1 - problem.gamma
        self._keep_bits = 0 if self.keep is None else self.keep.denominator.bit_length()
        theta = bound.theta
        self.certain = s if self.c0 == 0 else max(s, theta.numerator * self.over // (theta.denominator * self.c0))
        """The smallest t ≥ s with (t+1)·c0 > θ: from there every component fails, since c1, c2, r ≥ 0. For c0 > 0."""

    def ratio(self, t: int) -> tuple[int, int]:
        """r(t+1) as numerator and denominator."""
        match self.step:
            case "2/(t+2)":
                return self.kappa, (t + 1) * (t + 2)
            case "2/(t+1)":
                return self.kappa, t * (t + 1)
            case "1/(t+2)":
                return self.kappa, t + 2
            case _:
                assert self.keep is not None
                power = t + 1 - self.s
                return self.keep.numerator**power, self.keep.denominator**power

    def energy(self, i: int, t: int) -> tuple[int, int]:
        """2·J(x_i^{t+1}) for t ≥ s as numerator and denominator."""
        a, b = self.ratio(t)
        return self.c0 * b * b + self.c1[i] * a * b + self.c2[i] * a * a, self.over * b * b

    def fails(self, i: int, t: int) -> bool:
        """Whether component i breaks the bound at t ≥ s."""
        if self.exact_at(t):
            return self.bound.fails(t, *self.energy(i, t))
        theta, gap_bits = self.bound.theta, 0
        if self.bound.largest.exact and (t + 1) * self.c0 * theta.denominator == theta.numerator * self.over:
            return self.c1[i] > 0 or self.c2[i] > 0  # equality with c0 alone, and r > 0
        while True:
            low, high, over = self._enclosed(i, t, extra=gap_bits)
            if self.bound.fails(t, low, over):
                return True
            if not self.bound.fails(t, high, over):
                return False
            gap_bits = 2 * gap_bits + 256

    def exact_at(self, t: int) -> bool:
        """Whether r(t+1) is short enough to be written out; always for the named steps and for γ = 1."""
        return not self.keep or (t + 1 - self.s) * self._keep_bits <= MOST_BITS_IN_FILE

    def checkable_at(self, t: int) -> bool:
        """Whether a checker can decide at t, within the format's bound on computed numbers, who fails.

        Where no diagonal entry of B is λ_max it eliminates in ρI − B: its pivots are ratios of minors, so d times
        as long as ρ.
        """
        if not self.keep:
            return True
        if self.bound.on_diagonal or not self.exact_at(t):
            return self.exact_at(t)
        theta = self.bound.theta
        parts = (self.over, self.c0, *self.c1, *self.c2, theta.numerator, theta.denominator, t)
        shared = self.over.bit_length() + theta.denominator.bit_length() + max(map(int.bit_length, parts))
        square = 2 * ceil((t + 1 - self.s) * log2(self.keep.denominator))
        return self._dimension * (square + shared) <= MOST_BITS_COMPUTED

    def _enclosed(self, i: int, t: int, *, extra: int) -> tuple[int, int, int]:
        """Bounds of 2·J(x_i^{t+1}) over one denominator, fine enough to tell it from most integers beside it."""
        assert self.keep is not None
        bits = 64 + extra + 2 * t.bit_length() + (self.c1[i] + self.c2[i]).bit_length()
        bits += self.bound.theta.denominator.bit_length()
        low, high = power_bounds(self.keep, t + 1 - self.s, bits=bits)
        c0, c1, c2 = self.c0 << 2 * bits, self.c1[i] << bits, self.c2[i]
        return c0 + c1 * low + c2 * low * low, c0 + c1 * high + c2 * high * high, self.over << 2 * bits

    def bounds(self, i: int, t: int) -> tuple[int, int, int]:
        """2·J(x_i^{t+1}) from below and from above over one denominator; equal where r(t+1) is short."""
        if not self.exact_at(t):
            return self._enclosed(i, t, extra=0)
        top, over = self.energy(i, t)
        return top, top, over

    def grows(self, i: int, t: int) -> bool:
        """Whether (t+1)·2J does not decrease from t to t+1."""
        now, over = self.energy(i, t)
        later, later_over = self.energy(i, t + 1)
        return (t + 2) * later * over >= (t + 1) * now * later_over

    def polynomial(self, i: int, m: int) -> list[int]:
        """Coefficients of a positive multiple of P_i(m + z), constant first, for the three named steps.

        P_i as in docs/certificates.md, section 4.
        """
        first, second = [m + 1, 1], [m + 2, 1] if self.step != "2/(t+1)" else [m, 1]
        theta = self.bound.theta
        top, k = theta.denominator, self.kappa
        c0, c1, c2 = top * self.c0, top * k * self.c1[i], top * k * k * self.c2[i]
        both = _times(first, second)
        if self.step == "1/(t+2)":
            leading, middle, last, bound = _times(both, second), both, first, _times(second, second)
        else:
            leading, middle, last, bound = _times(both, both), both, [1], _times(both, second)
        level = theta.numerator * self.over
        found = [c0 * x for x in leading]
        for factor, terms in ((c1, middle), (c2, last), (-level, bound)):
            for j, x in enumerate(terms):
                found[j] += factor * x
        return found

    def cut(self, i: int, m: int) -> int:
        """The smallest m' ≥ m from which the proof needs no single times: P_i's coefficients, or `certain`."""
        if self.keep is not None:
            return max(m, self.certain)

        def proved(at: int) -> bool:
            coefficients = self.polynomial(i, at)
            return coefficients[0] > 0 and min(coefficients) >= 0

        return _first(proved, m)


def _times(left: list[int], right: list[int]) -> list[int]:
    product = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] += a * b
    return product


def _first(true_at: Callable[[int], bool], low: int) -> int:
    """The smallest t ≥ low where a predicate holds that stays true once it is."""
    if true_at(low):
        return low
    width = 1
    while not true_at(low + width):
        width *= 2
    return _between(true_at, low + width // 2 if width > 1 else low, low + width)


def _between(true_at: Callable[[int], bool], false: int, true: int) -> int:
    """The smallest t with the predicate, known false at `false` and true at `true`, changing once between."""
    while true - false > 1:
        middle = (false + true) // 2
        false, true = (false, middle) if true_at(middle) else (middle, true)
    return true


@dataclass(frozen=True, slots=True)
class Settled:
    """From where a frozen branch fails: the first failure (t, component), T, T_i; `tail_times` counts single checks."""

    first: tuple[int, int]
    fails_from: int
    by_component: tuple[int, ...]
    tail_times: int


def settle(tail: Tail, masks: list[int], t0: int) -> Settled | None:
    """The exact steps of a freeze with c0 > 0; `masks` are the failing components at t0, …, s − 1.

    None where more than 2,000 steps would have to be walked back one by one.
    """
    last_safe = _last_safe if tail.step in CONVEX else _last_safe_by_blocks
    starts = [last_safe(tail, i) for i in range(tail.count)]
    by_component = [_back(start, masks, tail.s, t0, 1 << i) for i, start in enumerate(starts)]

    def some_fails(t: int) -> bool:
        return bool(masks[t - t0]) if t < tail.s else any(tail.fails(i, t) for i in range(tail.count))

    star = min(by_component)
    fails_from = star
    while fails_from > t0 and some_fails(fails_from - 1):
        fails_from -= 1
        if star - fails_from > MOST_SCANNED:
            return None
    first, component = _first_failure(tail, masks, t0, star)
    starts = [max(start, tail.s) for start in by_component]
    times = sum(tail.cut(i, m) - m for i, m in enumerate(starts)) + max(0, star - max(fails_from, tail.s))
    if tail.step not in CONVEX:
        times += max(0, first - tail.s)
    if not tail.checkable_at(max(first, star, *by_component, tail.s)):
        times = TOO_MANY_TIMES
    return Settled((first, component), fails_from, tuple(by_component), times)


def _first_failure(tail: Tail, masks: list[int], t0: int, star: int) -> tuple[int, int]:
    """The first failing step and its lowest component; `star` is a step that surely fails."""
    for t, mask in enumerate(masks, t0):
        if mask:
            return t, (mask & -mask).bit_length() - 1
    t = tail.s
    if not any(tail.fails(i, t) for i in range(tail.count)):
        # with convexity and safe at s, each component's failures in the tail are one final interval
        convex = tail.step in CONVEX
        t = star if convex else min(_first_failing_by_blocks(tail, i, star) for i in range(tail.count))
    return t, next(i for i in range(tail.count) if tail.fails(i, t))


def _last_safe(tail: Tail, i: int) -> int:
    """One more than the last t ≥ s at which component i does not fail; s where there is none. For convex (t+1)·2J."""
    safe, certain = tail.s, tail.certain
    if tail.fails(i, safe):
        safe = _between(
            lambda t: tail.grows(i, t), safe - 1, max(certain, safe)
        )  # the minimum, if it is before `certain`
        if tail.fails(i, safe):
            return tail.s
    return _between(lambda t: tail.fails(i, t), safe, certain)


def _level(tail: Tail, i: int, t: int) -> int:
    """The largest t' at which a component with the energy of t would not yet surely fail: ⌊4·ell·D²/2e⌋ − 1."""
    top, _, over = tail.bounds(i, t)
    theta = tail.bound.theta
    return theta.numerator * over // (theta.denominator * top) - 1


def _last_safe_by_blocks(tail: Tail, i: int) -> int:
    """As `_last_safe` for any step: energies do not increase, so every t' < t with (t'+1)·2e(t) > θ fails too."""
    t = tail.certain
    while t > tail.s:
        if not tail.fails(i, t - 1):
            return t
        t = max(tail.s, min(t - 1, _level(tail, i, t - 1) + 1))
    return tail.s


def _first_failing_by_blocks(tail: Tail, i: int, last: int) -> int:
    """The first t ≥ s, at most `last`, at which component i fails; it skips the steps that e(t) proves safe."""
    t = tail.s
    while t < last and not tail.fails(i, t):
        _, top, over = tail.bounds(i, t)
        t = max(t + 1, tail.bound.safe_until(top, over) + 1)
    return min(t, last)


def _back(start: int, masks: list[int], s: int, t0: int, bit: int) -> int:
    """Walks back through the explicit steps while the component fails there."""
    if start > s:
        return start
    while start > t0 and masks[start - 1 - t0] & bit:
        start -= 1
    return start


def zero_tail_first(tail: Tail) -> tuple[int, int] | bool | None:
    """A freeze with Bx_v = 0: the first failing (t, component) after s, None where none ever fails.

    (t+1)r² decreases for the named steps, so s decides; for a constant it first grows up to a known peak.
    False where that peak lies more than 2,000 steps away.
    """
    peak = tail.s
    if tail.keep is not None:
        square = tail.keep**2
        rest = 1 - square
        peak = max(tail.s, -(-(square / rest).numerator // (square / rest).denominator)) if rest else tail.s
        if peak - tail.s > MOST_SCANNED:
            return False
    for t in range(tail.s, peak + 1):
        for i in range(tail.count):
            if tail.fails(i, t):
                return t, i
    return None
