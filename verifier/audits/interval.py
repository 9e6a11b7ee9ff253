"""Closed intervals of rationals: what rounding leaves open, carried through a calculation exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product


@dataclass(frozen=True, slots=True)
class Interval:
    """Every value from `low` to `high`, both included."""

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        assert self.low <= self.high, (self.low, self.high)

    def __contains__(self, value: Fraction | int) -> bool:
        return self.low <= value <= self.high

    def meets(self, other: Interval) -> bool:
        """Whether some value lies in both."""
        return self.low <= other.high and other.low <= self.high

    def above(self, value: Fraction | int) -> bool:
        """Whether every value is larger than `value`."""
        return self.low > value

    def below(self, value: Fraction | int) -> bool:
        """Whether every value is smaller than `value`."""
        return self.high < value

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.high - other.low)

    def __mul__(self, other: Interval) -> Interval:
        return _hull(lambda a, b: a * b, self, other)

    def __truediv__(self, other: Interval) -> Interval:
        """Raises ZeroDivisionError where `other` contains 0."""
        if 0 in other:
            raise ZeroDivisionError("the divisor's interval contains 0")
        return _hull(lambda a, b: a / b, self, other)


def exactly(value: Fraction | int) -> Interval:
    """The interval that holds `value` alone."""
    return Interval(Fraction(value), Fraction(value))


def _hull(operation: Callable[[Fraction, Fraction], Fraction], left: Interval, right: Interval) -> Interval:
    corners = [operation(a, b) for a, b in product((left.low, left.high), (right.low, right.high))]
    return Interval(min(corners), max(corners))
