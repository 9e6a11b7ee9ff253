"""Logarithm and exponential of intervals, rounded outward, so that what follows stays exact rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import product

from flint import arb, ctx, fmpq

from verifier.audits.interval import Interval

BITS = 128
"""Of the balls (Arb, Johansson 2017): every enclosure is wider than the truth by a few units in 1e-38."""


def ln(x: Interval) -> Interval:
    """Every logarithm of a value in `x`, which lies above 0, and a little more.

    The logarithm increases: its range on an interval is that between the ends.
    """
    assert x.low > 0, x
    return _increasing(arb.log, x)


def exp(x: Interval) -> Interval:
    """Every exponential of a value in `x`, and a little more; as `ln`."""
    return _increasing(arb.exp, x)


def hull(function: Callable[..., Fraction], *box: Interval) -> Interval:
    """The range of `function` over a box, exactly.

    Only for a function that is continuous and, with all other arguments fixed, monotone in each: its extremes then lie
    at corners (move one coordinate after the other to the better end), and by continuity every value between is taken.
    """
    values = [function(*corner) for corner in product(*((side.low, side.high) for side in box))]
    return Interval(min(values), max(values))


def middle(x: Interval) -> float:
    """The middle of an enclosure as a float: of a point's own enclosure, the point."""
    return float((x.low + x.high) / 2)


def _increasing(function: Callable[[arb], arb], x: Interval) -> Interval:
    with _precision():
        low, high = (function(arb(fmpq(end.numerator, end.denominator))) for end in (x.low, x.high))
        return Interval(_fraction(low.lower()), _fraction(high.upper()))


def _fraction(exact: arb) -> Fraction:
    value = exact.fmpq()
    return Fraction(int(value.p), int(value.q))


@contextmanager
def _precision() -> Iterator[None]:
    before = ctx.prec
    ctx.prec = BITS
    try:
        yield
    finally:
        ctx.prec = before
