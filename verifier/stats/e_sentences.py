"""How a sentence says an E-value and the discount of its registrations."""

from __future__ import annotations

LARGEST_SAID = 1e300
"""From here an E-value may be the largest double, which is how an infinite one is written."""


def e_text(value: float) -> str:
    """An E-value with its letter, two digits; "E more than 1e300" beyond what a double tells from infinite."""
    return "E more than 1e300" if value >= LARGEST_SAID else f"E = {value:.2g}"


def discount_text(discount: float) -> str:
    """The clause that says what each E was multiplied by, after a comma; "" where that is 1."""
    return "" if discount == 1 else f", each counted {discount:.2g} times for the registrations made"
