"""Numbers as the sentences of audits print them."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log10


def sentence(*parts: str) -> str:
    """The parts as one sentence, semicolons between them, its first letter a capital."""
    text = "; ".join(part for part in parts if part)
    return f"{text[:1].upper()}{text[1:]}."


def figures(value: float | Fraction, digits: int = 3) -> str:
    """The value to `digits` significant figures, without trailing zeros."""
    return f"{float(value):.{digits}g}"


def nats(value: float | Fraction) -> str:
    """A loss to three decimals; more where those would show nothing of it."""
    number = float(value)
    return f"{number:.3f}" if abs(number) >= 0.0005 or number == 0 else f"{number:.1e}"


def percent(value: float, decimals: int = 1) -> str:
    """A share or a relative gap as a percentage."""
    number = 100 * value
    if abs(number) >= 1e6:
        return f"{number:.2e} %"
    return f"{round(number, decimals) + 0.0:.{decimals}f} %"  # + 0.0: what rounds to zero has no sign


def share(value: float | Fraction) -> str:
    """A share to three figures, or to as many as keep it apart from 1."""
    return figures(value, _share_digits(float(value)))


def share_percent(value: float | Fraction) -> str:
    """The same as a percentage."""
    return f"{figures(100 * value, _share_digits(float(value)))} %"


def _share_digits(number: float) -> int:
    return 3 if number < 0.9 or number >= 1 else 2 - floor(log10(1 - number))


def percent_up(value: float) -> str:
    """A threshold as a percentage of three figures, rounded up: what reads like the threshold has not passed it."""
    if value <= 0:
        return percent(value)
    decimals = max(0, 2 - floor(log10(100 * value)))
    return f"{ceil(100 * value * 10**decimals) / 10**decimals:.{decimals}f} %"
