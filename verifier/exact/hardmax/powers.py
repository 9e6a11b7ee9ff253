"""Long powers of a rational between 0 and 1, enclosed: (1 − γ)^m of a million bits need not be written out."""

from __future__ import annotations

from fractions import Fraction


def power_bounds(base: Fraction, exponent: int, *, bits: int) -> tuple[int, int]:
    """Integers low ≤ 2^bits · base^exponent ≤ high, for 0 ≤ base ≤ 1; by squaring, each product rounded both ways.

    high − low stays of the order of the exponent.
    """
    one = 1 << bits
    low, high = one, one
    factor_low = (base.numerator << bits) // base.denominator
    factor_high = -((-base.numerator << bits) // base.denominator)
    while exponent:
        if exponent & 1:
            low, high = low * factor_low >> bits, -(-high * factor_high >> bits)
        factor_low, factor_high = factor_low * factor_low >> bits, -(-factor_high * factor_high >> bits)
        exponent >>= 1
    return low, high
