"""Exact numbers as text: what a case file, a certificate or an audit file may hold."""

from __future__ import annotations

import re
from fractions import Fraction

from verifier.model.errors import BadInput

_NUMBER = re.compile(r"[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,3})?|[+-]?\d{1,400}/\d{1,400}")


def parse_rational(text: str) -> Fraction:
    """The exact value of `"0.38"`, `"1e4"`, `"-7/3"`.

    Raises BadInput for anything else, for a zero denominator and beyond 400 digits or a three-digit exponent.
    """
    if not _NUMBER.fullmatch(text):
        raise BadInput(f"{text[:40]!r} is not a number", mend='write it like "0.38", "1e4" or "-7/3"')
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise BadInput(f"{text[:40]!r} divides by zero") from None
