"""What a correction leaves unexplained, as a factor of at least 1, and numbers for a sentence."""

from __future__ import annotations

from fractions import Fraction

from verifier.audits.audit import Residual
from verifier.audits.interval import Interval, exactly


def folded(value: Fraction, interval: Interval) -> Residual:
    """The factor `value` within `interval`, all above zero, turned so that it is at least 1."""
    if value < 1:
        value, interval = 1 / value, exactly(1) / interval
    return Residual(float(value), float(interval.low), float(interval.high))


def short(value: Fraction) -> str:
    """Six significant digits."""
    return f"{float(value):.6g}"


def span(interval: Interval) -> str:
    """`[2.35, 4.44]`, or the number alone where it has no roundings."""
    if interval.low == interval.high:
        return short(interval.low)
    return f"[{float(interval.low):.4g}, {float(interval.high):.4g}]"


def exact_text(interval: Interval) -> str:
    """A factor as exact text, `"1/50"`; where it is an enclosure (of a power of ln 2), 15 digits."""
    return str(interval.low) if interval.low == interval.high else f"{float(interval.low):.15g}"
