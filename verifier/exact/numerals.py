"""Exact numbers as a person reads them: short ones exactly and as decimals, long ones as decimals alone."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_DOWN, Context, Decimal, Inexact
from fractions import Fraction

SHORT = 40
"""A rational of at most so many characters is shown exactly."""
DIGITS = 12
"""Significant digits of a decimal; more are cut off, never rounded."""
_LARGEST = 10**SHORT


def decimal(x: Fraction) -> str:
    """The first 12 significant digits of x, with … where more follow."""
    context = Context(prec=DIGITS, rounding=ROUND_DOWN, Emin=-999_999, Emax=999_999)
    wide = Context(prec=DIGITS + 30, Emin=-999_999, Emax=999_999)
    exact = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    dots = "…" if context.flags[Inexact] else ""
    small = exact == 0 or -6 <= exact.adjusted() < DIGITS
    return f"{wide.normalize(exact):{'f' if small else 'e'}}{dots}"


def is_short(x: Fraction) -> bool:
    """Whether x in lowest terms has at most 40 characters."""
    return max(abs(x.numerator), x.denominator) < _LARGEST and len(str(x)) <= SHORT


def number(x: Fraction) -> str:
    """`2/9 = 0.222222222222…`, `4`, or the decimal alone where x is long."""
    if not is_short(x):
        return decimal(x)
    return str(x) if x.denominator == 1 else f"{x} = {decimal(x)}"


def point(entries: Sequence[str]) -> str:
    """`(4, -1/2)` from numbers as they stand in files."""
    return "(" + ", ".join(entries) + ")"
