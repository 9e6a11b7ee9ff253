"""What the constant between a function and a formula says: nothing, another unit, or the other direction."""

from __future__ import annotations

import math
from fractions import Fraction

from verifier.audits.catalogues import Catalogue
from verifier.audits.identify.fit import MATCH
from verifier.model.basis import BasisClass

PERCENT = 100.0
_NAMED = {
    "ln 2": math.log(2),
    "1/ln 2": 1 / math.log(2),
    "ln 10": math.log(10),
    "1/ln 10": 1 / math.log(10),
    "the normal law's 95 % point": 1.96,
}


def constant_class(constant: float, catalogue: Catalogue) -> BasisClass | None:
    """The class of the mismatch that a function equal to `constant` times the expected formula shows; None for none."""
    if constant < 0:
        return BasisClass.DIR
    accepted = (1.0, PERCENT, 1 / PERCENT) if catalogue.share else (1.0,)
    if catalogue.objective or any(abs(constant / each - 1) <= MATCH for each in accepted):
        return None
    return BasisClass.UNIT


def constant_words(constant: float) -> str:
    """A constant in figures, and by its name where it has one."""
    for name, value in _NAMED.items():
        if abs(abs(constant) / value - 1) <= MATCH:
            return f"{'-' if constant < 0 else ''}{name} ({constant:.6g})"
    return f"{constant:.6g}"


def reading(constant: float) -> str:
    """A constant as exact text where it is a small fraction (`1/17`, `-2`), else its digits."""
    if constant == 0 or not math.isfinite(constant):
        return f"{constant:.6g}"
    near = Fraction(constant).limit_denominator(1000)
    if near != 0 and abs(near) <= 1000 and abs(float(near) / constant - 1) < 1e-9:
        return str(near)
    return f"{constant:.9g}"
