"""Ellipsoids around an attracting cycle: a norm that no branch of it stretches, radii that the guards allow."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verifier.exact.clock import Clock
from verifier.exact.linear import dot, minus, quadratic
from verifier.exact.piecewise.norms import common_norm
from verifier.exact.piecewise.regimes import Regime
from verifier.exact.piecewise.stays import Stay, bits, dual_square
from verifier.exact.piecewise.trace import Trace
from verifier.exact.reading import Matrix, Vector

MOST_HALVINGS = 24
MOST_UNITS = 1_000_000
"""Work units that the conditions of a set may take in the checker, a quarter of what the format allows."""


def find_ellipsoids(trace: Trace, regime: Regime, clock: Clock) -> Iterator[Stay]:
    """`Stay`s around the regime's cycle with smaller and smaller R, each entered by the orbit, largest first."""
    centres = regime.centres
    if centres is None or _cost(regime, centres) > MOST_UNITS:
        return
    P = common_norm(tuple(b.M for b in regime.branches), regime.p)
    clock.tick(trace.last, "looking for ellipsoids")
    largest = None if P is None else _room(P, regime, centres)
    if P is None or largest is None:
        return
    far = quadratic(P, minus(trace.state(regime.start), centres[0]))
    largest = min(largest, Fraction(far.numerator // far.denominator + 1))  # the whole regime is inside
    before: tuple[int, Fraction] | None = None
    for halving in range(MOST_HALVINGS):
        clock.tick(trace.last, "looking for ellipsoids")
        R = _rounded_down(largest / 2**halving)
        start = _entered(trace, regime, P, R)
        if start is None:
            return
        if before != (start, R):
            before = start, R
            k = (start - regime.start) % regime.p
            names = regime.names[k:] + regime.names[:k]
            yield Stay(start, names, "ellipsoid", centres[k:] + centres[:k], P=P, R=R, tends=regime.tends)


def _cost(regime: Regime, centres: tuple[Vector, ...]) -> int:
    size = len(centres[0])
    b = max(bits(x for centre in centres for x in centre), bits(x for br in regime.branches for r in br.M for x in r))
    guards = sum(len(branch.guards) for branch in regime.branches)
    distinct = len(set(regime.branches))
    return distinct * 4 * size**3 * (1 + size * b // 500) + (guards + regime.p) * size**2 * (1 + b // 100)


def _room(P: Matrix, regime: Regime, centres: tuple[Vector, ...]) -> Fraction | None:
    """Nine tenths of the largest R with which the guards hold on every ellipsoid; None where a centre breaks one."""
    room = []
    for branch, centre in zip(regime.branches, centres, strict=True):
        for guard in branch.guards:
            alpha = dot(guard.a, centre) + guard.b
            width = dual_square(P, guard.a)
            if alpha < 0 or (alpha == 0 and (guard.strict or width)):
                return None
            if width:
                room.append(alpha * alpha / width)
    return min(room, default=Fraction(10**6)) * Fraction(9, 10)


def _entered(trace: Trace, regime: Regime, P: Matrix, R: Fraction) -> int | None:
    """The first step of the regime at which the orbit is in its ellipsoid: the distances do not increase."""
    assert regime.centres is not None
    centres = regime.centres

    def far(t: int) -> bool:
        return quadratic(P, minus(trace.state(t), centres[(t - regime.start) % regime.p])) > R

    low, high = regime.start, regime.last
    if far(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if far(middle) else (low, middle)
    return low


def _rounded_down(x: Fraction) -> Fraction:
    """A rational with few digits, in (x/2, x]; 0 for 0."""
    if x >= 1 or not x:
        return Fraction(x.numerator // x.denominator)
    return Fraction(1, -(-x.denominator // x.numerator))
