"""How an E-value and the discount of its registrations are written, in sentences, tables and pages alike."""

from __future__ import annotations

LARGEST_SAID = 1e300
"""From here an E-value may be the largest double, which is how an infinite one is written."""


def scientific(value: float, digits: int = 2) -> str:
    """`1.2e14`: a mantissa of `digits` digits and the power of ten, without padding."""
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa}e{int(power)}"


def e_value(value: float) -> str:
    """An E-value or its threshold: two or three digits are all it has to say."""
    if value >= LARGEST_SAID:
        return "more than 1e300"
    if value >= 1e6 or (value and value < 1e-3):
        return scientific(value)
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def e_text(value: float) -> str:
    """An E-value with its letter: "E = 2.7e7"; "E more than 1e300" beyond what a double tells from infinite."""
    return f"E {'' if value >= LARGEST_SAID else '= '}{e_value(value)}"


def discount_text(discount: float) -> str:
    """The clause that says what each E was multiplied by, after a comma; "" where that is 1."""
    return "" if discount == 1 else f", after the discount of {discount:.2g} for registrations"
