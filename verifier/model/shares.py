"""How a sentence says a probability, and a number as it was registered."""

from __future__ import annotations

from fractions import Fraction

MOST_DECIMALS = 12


def percent(share: float, *, decimals: int = 0) -> str:
    """A share of runs in per cent, never a bare 0 or 100: "fewer than 0.5 %" and "more than 99.9 %" at the ends.

    decimals: 0 or 1; above 99 % always one, since there the difference is what is asked about.
    """
    if share > 0.999:
        return "more than 99.9 %"
    if share < (0.005 if decimals == 0 else 0.001):
        return f"fewer than {'0.5' if decimals == 0 else '0.1'} %"
    return f"{100 * share:.{decimals if share <= 0.99 else 1}f} %"


def at_least_percent(share: float, *, decimals: int = 0) -> str:
    """As `percent`, "of runs or more"; where it says "more than" already, "of runs" only."""
    said = percent(share, decimals=decimals)
    return f"{said} of runs" if share > 0.999 else f"{said} of runs or more"


def registered(number: Fraction) -> str:
    """A registered number, unrounded: a decimal of up to twelve places where it is one, else p/q."""
    scaled = number * 10**MOST_DECIMALS
    if scaled.denominator != 1:
        return str(number)
    whole, rest = divmod(abs(scaled.numerator), 10**MOST_DECIMALS)
    decimals = f"{rest:0{MOST_DECIMALS}d}".rstrip("0")
    return f"{'-' if number < 0 else ''}{whole}{f'.{decimals}' if decimals else ''}"
