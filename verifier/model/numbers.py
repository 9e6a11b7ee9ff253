"""Exact numbers as text: what a case file, a certificate or an audit file may hold."""

from __future__ import annotations

import re
from fractions import Fraction

from verifier.model.complaints import shown
from verifier.model.errors import BadInput

MOST_DIGITS = 40
MOST_EXPONENT = 30

_NUMBER = re.compile(r"[+-]?(?:\d+/(?P<bottom>\d+)|\d+(?:\.\d+)?(?:[eE](?P<exponent>[+-]?\d{1,4}))?)", re.ASCII)
_EXAMPLES = 'write one like "0.38", "1e4" or "-7/3"'


def parse_rational(text: str) -> Fraction:
    """The exact value of `"0.38"`, `"1e4"`, `"-7/3"`.

    Raises BadInput for anything else, for a zero denominator, and for more digits or a larger exponent than a
    quantity that people dispute can mean.
    """
    found = _NUMBER.fullmatch(text) if len(text) <= 3 * MOST_DIGITS else None
    if found is None:
        raise BadInput(f"{shown(text)} is not a number", mend=_EXAMPLES)
    if sum(map(str.isdigit, text)) > MOST_DIGITS or abs(int(found["exponent"] or 0)) > MOST_EXPONENT:
        raise BadInput(
            f"{shown(text)} has more than {MOST_DIGITS} digits or an exponent beyond {MOST_EXPONENT}",
            mend="round it to what the paper or the report states",
        )
    if int(found["bottom"] or 1) == 0:
        raise BadInput(f"{shown(text)} divides by zero", mend="mend the denominator")
    return Fraction(text)
