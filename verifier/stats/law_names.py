"""The growth laws by name: which there are, which are fast, and what a slope is measured in.

A law is named by a text: "log" (ln k), "loglog" (ln ln k), "sqrt", "linear", or "power a" with an exact exponent (k^a;
"power 1/2" is "sqrt"). Its values are in `laws`; this module loads no numpy, for it serves the reading of case files.
"""

from __future__ import annotations

from fractions import Fraction

from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational

LAWS = ("log", "loglog", "sqrt", "linear", "power")
"""The laws by name; "power" stands with an exponent."""

LARGEST_EXPONENT = 4
POWERS = {"sqrt": Fraction(1, 2), "linear": Fraction(1)}
LEAST_SCALE = {"loglog": 3}  # ln ln 2 is negative: a positive slope would start below the constant


def power_law(exponent: Fraction) -> str:
    """The name of the law k^exponent. Raises BadInput unless 0 < exponent ≤ 4."""
    if not 0 < exponent <= LARGEST_EXPONENT:
        raise BadInput(
            f"the exponent {exponent} of a power law is not between 0 and {LARGEST_EXPONENT}",
            mend='"1/2" is the square root, "1" is linear',
        )
    return next((name for name, power in POWERS.items() if power == exponent), f"power {exponent}")


def exponent_of(law: str) -> Fraction | None:
    """The exponent of a power law, or None for log and loglog. Raises BadInput for a law that there is not."""
    name, _, text = law.partition(" ")
    if law in ("log", "loglog"):
        return None
    if law in POWERS:
        return POWERS[law]
    if name != "power" or not text:
        raise BadInput(f"there is no law {law!r}", mend=f"use one of: {', '.join(LAWS[:-1])}, power with an exponent")
    exponent = parse_rational(text)
    power_law(exponent)
    return exponent


def is_fast(law: str) -> bool:
    """Whether the law outgrows every multiple of ln k, as powers do: a small slope under it leaves room for ln k."""
    return exponent_of(law) is not None


def law_unit(law: str, axis: str) -> str:
    """What a slope is measured in: "ln k", "ln ln k", "sqrt k", "k" or "k^3/4"."""
    exponent = exponent_of(law)
    if exponent is not None:
        return {"sqrt": f"sqrt {axis}", "linear": axis}.get(law, f"{axis}^{exponent}")
    return {"log": f"ln {axis}", "loglog": f"ln ln {axis}"}[law]
