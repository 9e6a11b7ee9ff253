"""Boxes around an attracting cycle, by interval arithmetic: where no ellipsoid does, or a centre is on a kink."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verifier.exact.clock import Clock
from verifier.exact.linear import apply, dot, identity, minus, plus, product, solve, subtracted
from verifier.exact.piecewise.maps import Branch
from verifier.exact.piecewise.regimes import Regime
from verifier.exact.piecewise.stays import Stay, highest, lowest
from verifier.exact.piecewise.trace import Trace
from verifier.exact.reading import Matrix, Vector

MOST_HALVINGS = 24
MOST_ROUNDS = 6
HULL_ENTRIES = 4
DIGITS = 3

Interval = tuple[Vector, Vector]


def find_boxes(trace: Trace, regime: Regime, clock: Clock) -> Iterator[Stay]:
    """`Stay`s that the orbit enters: around the cycle, larger ones first; then hulls of the orbit, inflated."""
    if regime.centres is None or not regime.tends:
        return
    yield from _around(trace, regime, regime.centres, clock)
    yield from _hulls(trace, regime, regime.centres, clock)


def _around(trace: Trace, regime: Regime, centres: tuple[Vector, ...], clock: Clock) -> Iterator[Stay]:
    """e_k ± τ r_k with r_{k+1} = |M_k| r_k and |M_{p−1}|…|M_0| r_0 ≤ r_0 (Perron, Frobenius)."""
    widths = _widths([_absolute(branch.M) for branch in regime.branches])
    room = None if widths is None else _room(regime, centres, widths)
    if widths is None or room is None:
        return
    tau = room
    for _ in range(MOST_HALVINGS):
        clock.tick(trace.last, "looking for boxes")
        tau = _round(tau, up=False)
        boxes = [
            (minus(e, scaled), plus(e, scaled))
            for e, r in zip(centres, widths, strict=True)
            for scaled in (tuple(tau * x for x in r),)
        ]
        start = _entered(trace, regime, boxes)
        if start is None:
            return
        yield _stay(regime, boxes, start, centres)
        tau /= 2


def _widths(turns: list[Matrix]) -> list[Vector] | None:
    """r_0, r_1, … > 0 that the moduli carry around without growing; None where the moduli of a round grow."""
    size = len(turns[0])
    A = identity(size)
    for turn in turns:
        A = product(turn, A)
    first = solve(subtracted(identity(size), A), (Fraction(1),) * size)
    if first is None or min(first) <= 0:
        return None
    widths = [_few_digits(first)]
    for turn in turns[:-1]:
        widths.append(apply(turn, widths[-1]))
    back = apply(turns[-1], widths[-1])
    return None if any(x > y for x, y in zip(back, widths[0], strict=True)) else widths


def _room(regime: Regime, centres: tuple[Vector, ...], widths: list[Vector]) -> Fraction | None:
    """Nine tenths of the largest τ with which the guards hold on every box; None where a centre breaks one."""
    room = []
    for branch, centre, width in zip(regime.branches, centres, widths, strict=True):
        for guard in branch.guards:
            alpha = dot(guard.a, centre) + guard.b
            reach = sum((abs(a) * r for a, r in zip(guard.a, width, strict=True)), Fraction(0))
            if alpha < 0 or (alpha == 0 and (guard.strict or reach)):
                return None
            if reach:
                room.append(alpha / reach)
    return min(room, default=Fraction(10**6)) * Fraction(9, 10)


def _hulls(trace: Trace, regime: Regime, centres: tuple[Vector, ...], clock: Clock) -> Iterator[Stay]:
    """Hulls of the orbit's returns and the cycle's states, widened until each box carries into the next."""
    p, span = regime.p, (regime.last - regime.start) // regime.p
    for part in range(HULL_ENTRIES):
        start = regime.start + (span * part // HULL_ENTRIES) * p
        hulls = []
        for k in range(p):
            clock.tick(trace.last, "looking for boxes")
            seen = [centres[k], *(trace.state(t) for t in range(start + k, regime.last, p))][:80]
            columns = list(zip(*seen, strict=True))
            hulls.append((tuple(map(min, columns)), tuple(map(max, columns))))
        boxes = [_outward(box, centre) for box, centre in zip(hulls, centres, strict=True)]
        for _ in range(MOST_ROUNDS):
            clock.tick(trace.last, "looking for boxes")
            changed = False
            for k, branch in enumerate(regime.branches):
                after = (k + 1) % p
                wider = _join(boxes[after], _image(branch, boxes[k]))
                if wider != boxes[after]:
                    boxes[after], changed = _outward(wider, centres[after]), True
            if not changed:
                break
        else:
            continue
        if all(_guarded(branch, box) for branch, box in zip(regime.branches, boxes, strict=True)):
            yield _stay(regime, boxes, start, centres)


def _stay(regime: Regime, boxes: list[Interval], start: int, centres: tuple[Vector, ...]) -> Stay:
    k = (start - regime.start) % regime.p
    turned = boxes[k:] + boxes[:k]
    low, high = tuple(box[0] for box in turned), tuple(box[1] for box in turned)
    names = regime.names[k:] + regime.names[:k]
    return Stay(start, names, "box", centres[k:] + centres[:k], low=low, high=high)


def _entered(trace: Trace, regime: Regime, boxes: list[Interval]) -> int | None:
    """The first step of the regime at which the orbit is in its box: once in, it stays."""

    def inside(t: int) -> bool:
        low, high = boxes[(t - regime.start) % regime.p]
        return all(a <= x <= b for a, x, b in zip(low, trace.state(t), high, strict=True))

    first, last = regime.start, regime.last
    if not inside(last):
        return None
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if inside(middle) else (middle + 1, last)
    return first


def _image(branch: Branch, box: Interval) -> Interval:
    low = tuple(lowest(row, *box) + c for row, c in zip(branch.M, branch.c, strict=True))
    high = tuple(highest(row, *box) + c for row, c in zip(branch.M, branch.c, strict=True))
    return low, high


def _guarded(branch: Branch, box: Interval) -> bool:
    values = [(lowest(guard.a, *box) + guard.b, guard.strict) for guard in branch.guards]
    return all(value > 0 or (value == 0 and not strict) for value, strict in values)


def _join(one: Interval, other: Interval) -> Interval:
    return tuple(map(min, one[0], other[0])), tuple(map(max, one[1], other[1]))


def _outward(box: Interval, centre: Vector) -> Interval:
    """Sides with few digits, measured from the cycle's state: a side at the state itself stays there."""
    low = tuple(e - _round(e - x, up=True) for e, x in zip(centre, box[0], strict=True))
    high = tuple(e + _round(x - e, up=True) for e, x in zip(centre, box[1], strict=True))
    return low, high


def _round(x: Fraction, *, up: bool) -> Fraction:
    """A number of few digits near x ≥ 0, not below (`up`) or not above it."""
    if not x:
        return x
    scale = Fraction(1)
    while x * scale < 10 ** (DIGITS - 1):
        scale *= 10
    while x * scale >= 10**DIGITS:
        scale /= 10
    whole = -(-(x * scale) // 1) if up else (x * scale) // 1
    return Fraction(whole) / scale


def _few_digits(x: Vector) -> Vector:
    """Rounded to the third digit; a proposal, tested afterwards."""
    largest = max(x)
    return tuple(Fraction(round(1_000 * a / largest)) or Fraction(1) for a in x)


def _absolute(M: Matrix) -> Matrix:
    return tuple(tuple(map(abs, row)) for row in M)
