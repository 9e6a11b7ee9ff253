"""A number as printed: its exact value, and every value that rounds to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from verifier.audits.interval import Interval
from verifier.model.numbers import parse_rational

_DECIMAL = re.compile(r"[+-]?\d+(?:\.(?P<decimals>\d+))?(?:[eE](?P<exponent>[+-]?\d+))?", re.ASCII)


_OPEN = Fraction(1, 10**9)
"""Of the last digit's unit: how far what is cut off stays below a whole one."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number. `text` is how it stands in the file, `value` what it says exactly."""

    text: str
    value: Fraction

    @property
    def step(self) -> Fraction:
        """One unit of the last printed digit; 0 for a number written as p/q, which is exact."""
        found = _DECIMAL.fullmatch(self.text)
        if found is None:
            return Fraction(0)
        return Fraction(10) ** (int(found["exponent"] or 0) - len(found["decimals"] or ""))

    @property
    def interval(self) -> Interval:
        """Every value that rounds to this number: half a unit of the last digit to either side."""
        return Interval(self.value - self.step / 2, self.value + self.step / 2)

    @property
    def cut(self) -> Interval:
        """Every value of which this number is left once further digits are cut off (towards 0)."""
        step = self.step * (1 - _OPEN)
        return Interval(self.value - (step if self.value <= 0 else 0), self.value + (step if self.value >= 0 else 0))

    @property
    def loose(self) -> Interval:
        """Every value that rounds to this number, or is cut off to it."""
        return Interval(min(self.interval.low, self.cut.low), max(self.interval.high, self.cut.high))

    @property
    def whole(self) -> bool:
        """Whether it is written as a whole number, without decimals or an exponent."""
        return self.text.lstrip("+-").isdecimal()

    @property
    def significant_digits(self) -> int | None:
        """Digits from the first that is not 0, trailing zeros included; None for p/q, at least 1 otherwise."""
        if self.step == 0:
            return None
        mantissa = re.split("[eE]", self.text)[0]
        return max(1, len(mantissa.lstrip("+-").replace(".", "").lstrip("0")))


def printed(text: str) -> Printed:
    """The printed number `text`: decimal, scientific, or p/q. Raises BadInput for anything else."""
    return Printed(text, parse_rational(text))
