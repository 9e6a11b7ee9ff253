"""Whether a computed number is a printed one."""

from __future__ import annotations

from fractions import Fraction

from verifier.audits.interval import Interval
from verifier.audits.printed import Printed

SLACK = Fraction(1, 10**12)
"""Relative: what the rounding of doubles may move a mean by."""


def rounds_to(value: float, number: Printed) -> bool:
    """Whether the finite `value` lies in the rounding interval of `number`, up to the rounding of doubles."""
    return _within(value, number.interval)


def may_print_as(value: float, number: Printed) -> bool:
    """Whether the finite `value` is `number` once it is rounded or further digits are cut off."""
    return _within(value, number.loose)


def _within(value: float, interval: Interval) -> bool:
    slack = SLACK * max(Fraction(1), abs(Fraction(value)))
    return interval.low - slack <= Fraction(value) <= interval.high + slack
