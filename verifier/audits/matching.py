"""Whether a computed number is a printed one."""

from __future__ import annotations

from fractions import Fraction

from verifier.audits.printed import Printed

SLACK = Fraction(1, 10**12)
"""Relative: what the rounding of doubles may move a mean by."""


def rounds_to(value: float, number: Printed) -> bool:
    """Whether the finite `value` lies in the rounding interval of `number`, up to the rounding of doubles."""
    slack = SLACK * max(Fraction(1), abs(Fraction(value)))
    return number.interval.low - slack <= Fraction(value) <= number.interval.high + slack
