"""Long runs that never freeze, in rigorous enclosures (Arb, Johansson 2017): precision is doubled on any doubt.

An enclosure only ever confirms: each selection is certain, each inequality surely holds. A freeze, a failure, an exact
tie or a doubt at the highest precision leaves the question to exact stepping.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log

from flint import arb, ctx, fmpz

from verifier.exact.hardmax.bound import Bound
from verifier.exact.hardmax.orbit import Orbit, State

PRECISIONS = (128, 256, 512, 1_024)

Tick = Callable[[int, int], bool]
"""Hears the step and the bits of precision now and then; False ends the run."""


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A run confirmed up to step `t`: largest left over right side and where, last energy 2J as a ratio, bits used.

    `energies` holds (t, ln 2J) at the powers of two among the steps.
    """

    t: int
    worst: tuple[float, int]
    energy: tuple[int, int]
    bits: int
    energies: tuple[tuple[int, float], ...]


class _Doubt(Exception):
    """The enclosures do not decide; `final` where more precision cannot help."""

    def __init__(self, *, final: bool) -> None:
        self.final = final
        super().__init__()


def enclose(orbit: Orbit, bound: Bound, state: State, *, last: int, tick: Tick) -> Enclosed | None:
    """Follows the one selection from `state` to step `last`; None where anything but "the bound holds" may happen."""
    distinct = list({tuple(point): point for point in state.points}.values())  # merged tokens stay merged
    if state.t < orbit.constant_from or len({tuple(image) for image in state.images}) < len(distinct):
        return None
    before = ctx.prec
    try:
        for bits in PRECISIONS:
            ctx.prec = bits
            try:
                return _run(orbit, bound, (state.t, distinct, state.bottom), last=last, tick=tick)
            except _Doubt as doubt:
                if doubt.final:
                    return None
    finally:
        ctx.prec = before
    return None


def _run(orbit: Orbit, bound: Bound, start: tuple[int, list[list[int]], int], *, last: int, tick: Tick) -> Enclosed:
    first, points, over = start
    tokens = [[arb(fmpz(x)) / over for x in point] for point in points]
    B = orbit.matrix(first)
    low = 4 * bound.largest.low * bound.diameter_squared
    limit = arb(fmpz(low.numerator)) / fmpz(low.denominator) * orbit.B_bottom  # θ over B's denominator, from below
    worst, energy = (-1.0, 0), arb(0)
    energies: list[tuple[int, float]] = []
    count = range(len(tokens))
    identity = all(entry == (i == j) for i, row in enumerate(B) for j, entry in enumerate(row))
    picked = [_certain(row) for row in _scores(tokens, B, identity=identity)]
    for t in range(first, last):
        if len(set(picked)) == 1:
            raise _Doubt(final=True)  # a freeze: exact stepping proves more
        a, b = orbit.gamma_at(t)
        keep, scale = b - a, arb(1) / b
        tokens = [
            [(x * keep + y * a) * scale for x, y in zip(tokens[i], tokens[picked[i]], strict=True)] for i in count
        ]
        scores = _scores(tokens, B, identity=identity)
        for i in count:
            share = scores[i][i] * (t + 1)
            if not share < limit:
                raise _Doubt(final=share > limit)
        energy = max((scores[i][i] for i in count), key=_middle)
        share_of_bound = _middle(energy) * (t + 1) / _middle(limit)
        if share_of_bound > worst[0]:
            worst = (share_of_bound, t)
        picked = [_certain(row) for row in scores]
        taken = t + 1 - orbit.t0
        if taken & (taken - 1) == 0 and share_of_bound > 0:
            energies.append((t, log(_middle(energy)) - log(orbit.B_bottom)))
        if t % 256 == 0 and not tick(t, ctx.prec):
            raise _Doubt(final=True)
    top, bottom = _middle(energy).as_integer_ratio()
    return Enclosed(last - 1, worst, (top, bottom * orbit.B_bottom), ctx.prec, tuple(energies))


def _scores(tokens: list[list[arb]], B: list[list[int]], *, identity: bool) -> list[list[arb]]:
    count = len(tokens)
    images = tokens if identity else [[_dot([arb(entry) for entry in row], x) for row in B] for x in tokens]
    scores = [[arb(0)] * count for _ in range(count)]
    for i, image in enumerate(images):
        for k in range(i + 1):
            scores[i][k] = scores[k][i] = _dot(image, tokens[k])
    return scores


def _dot(x: list[arb], y: list[arb]) -> arb:
    total = x[0] * y[0]
    for a, b in zip(x[1:], y[1:], strict=True):
        total += a * b
    return total


def _certain(row: list[arb]) -> int:
    """The index of the least score; raises _Doubt where another may be as small."""
    best = min(range(len(row)), key=lambda k: _middle(row[k]))
    least = row[best]
    for k, score in enumerate(row):
        if k != best and not least < score:
            raise _Doubt(final=False)
    return best


def _middle(x: arb) -> float:
    return float(x.mid())
