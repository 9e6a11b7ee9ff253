"""Intervals with ends on a grid of 2^−p: what any checker of a `ball` certificate can be relied on to separate.

Everything but exp and log follows docs/certificates.md, section 8, to the letter. There the page allows any method up
to a width, so these ends are as wide as the page allows: a checker's own interval lies inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from flint import arb, fmpz

from verifier.exact.expressions.arithmetic import NotSeparatedError, OutsideDomainError
from verifier.exact.expressions.balls import MOST_EXPONENT, precision
from verifier.exact.expressions.meter import MOST_BITS, too_large
from verifier.exact.expressions.nodes import Function, Operator, Relation

SLACK = 16
"""The width that the page allows exp and log is 2^(4−p): 16 units of the grid."""
MARGIN = 2**16
"""Sides count as well separated when they differ by more than 2^(16−p)(1 + |left| + |right|)."""


@dataclass(frozen=True, slots=True)
class Interval:
    """[low, high] in units of 2^−p."""

    low: int
    high: int


class Grid:
    """Arithmetic on intervals in units of 2^−p, rounded outward."""

    leaves = False

    def __init__(self, p: int) -> None:
        self.p = p
        self.one = 1 << p

    def _kept(self, low: int, high: int) -> Interval:
        if max(low.bit_length(), high.bit_length()) > MOST_BITS:
            raise too_large(f"a number has more than {MOST_BITS:,} bits")
        return Interval(low, high)

    def lift(self, x: Fraction) -> Interval:
        """The grid interval around a rational."""
        scaled = x.numerator << self.p
        return self._kept(scaled // x.denominator, -(-scaled // x.denominator))

    def bits(self, x: Interval) -> int:
        """The bit length of the longer end."""
        return max(x.low.bit_length(), x.high.bit_length(), self.p)

    def operate(self, operator: Operator, left: Interval, right: Interval) -> Interval:
        """Left + − · / right."""
        match operator:
            case "+":
                return self._kept(left.low + right.low, left.high + right.high)
            case "-":
                return self._kept(left.low - right.high, left.high - right.low)
            case "*":
                return self._times(left, right)
            case _:
                return self._over(left, right)

    def _times(self, left: Interval, right: Interval) -> Interval:
        products = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
        return self._kept(min(products) >> self.p, -(-max(products) >> self.p))

    def _over(self, left: Interval, right: Interval) -> Interval:
        if right.low == right.high == 0:
            raise OutsideDomainError("a division by zero")
        if right.low <= 0 <= right.high:
            raise NotSeparatedError
        pairs = [(a << self.p, b) for a in (left.low, left.high) for b in (right.low, right.high)]
        return self._kept(min(a // b for a, b in pairs), max(-(-a // b) for a, b in pairs))

    def power(self, base: Interval, exponent: int) -> Interval:
        """Base^exponent, rounded outward after every factor."""
        if exponent % 2 == 0 and base.low < 0 < base.high:
            return Interval(0, self._raised(Interval(0, max(-base.low, base.high)), exponent).high)
        if exponent % 2 == 0 and base.high <= 0:
            base = self.negative(base)
        return self._raised(base, exponent)

    def _raised(self, base: Interval, exponent: int) -> Interval:
        found = base
        for _ in range(exponent - 1):
            found = self._times(found, base)
        return found

    def negative(self, x: Interval) -> Interval:
        """−x."""
        return Interval(-x.high, -x.low)

    def call(self, function: Function, arguments: Sequence[Interval]) -> Interval:
        """A function of its arguments."""
        x = arguments[0]
        match function:
            case "min":
                return Interval(min(y.low for y in arguments), min(y.high for y in arguments))
            case "max":
                return Interval(max(y.low for y in arguments), max(y.high for y in arguments))
            case "abs":
                if x.low >= 0:
                    return x
                return self.negative(x) if x.high <= 0 else Interval(0, max(-x.low, x.high))
            case "sqrt":
                return self._sqrt(x)
            case "exp":
                return self._exp(x)
            case "log":
                return self._log(x)

    def _sqrt(self, x: Interval) -> Interval:
        if x.high < 0:
            raise OutsideDomainError("sqrt of a negative number")
        if x.low < 0:
            raise NotSeparatedError
        above = x.high << self.p
        root = isqrt(above)
        return Interval(isqrt(x.low << self.p), root + (root * root < above))

    def _exp(self, x: Interval) -> Interval:
        if max(-x.low, x.high) > MOST_EXPONENT << self.p:
            raise too_large(f"exp of a number beyond ±{MOST_EXPONENT:,}")
        with precision(self.p + 2 * MOST_EXPONENT):
            below, above = self._ball(x.low).exp(), self._ball(x.high).exp()
            low = _floor(below * self.one) - SLACK * max(1, -_floor(-below))
            high = -_floor(-(above * self.one)) + SLACK * max(1, -_floor(-above))
        return self._kept(low, high)

    def _log(self, x: Interval) -> Interval:
        if x.high <= 0:
            raise OutsideDomainError("log of a number that is not positive")
        if x.low <= 0:
            raise NotSeparatedError
        with precision(self.p + 64):
            below, above = self._ball(x.low).log(), self._ball(x.high).log()
            return self._kept(_floor(below * self.one) - SLACK, -_floor(-(above * self.one)) + SLACK)

    def _ball(self, end: int) -> arb:
        return arb(fmpz(end)) / self.one

    def total(self, terms: Sequence[Interval]) -> Interval:
        """The sum."""
        return self._kept(sum(term.low for term in terms), sum(term.high for term in terms))

    def holds(self, left: Interval, relation: Relation, right: Interval) -> bool | None:
        """Whether left < right or left ≤ right; None where the intervals do not tell."""
        assert relation in ("<", "<=")
        if relation == "<":
            return True if left.high < right.low else False if left.low >= right.high else None
        return True if left.high <= right.low else False if left.low > right.high else None

    def apart(self, left: Interval, right: Interval) -> bool:
        """Whether two sides differ by more than the margin that a finder leaves."""
        size = self.one + sum(max(abs(side.low), abs(side.high)) for side in (left, right))
        gap = max(right.low - left.high, left.low - right.high)
        return gap * self.one > MARGIN * size


def _floor(x: arb) -> int:
    """An integer at most x and, for a narrow ball, next to it."""
    mantissa, exponent = x.lower().man_exp()
    top, shift = int(mantissa), int(exponent)
    return top << shift if shift >= 0 else top >> -shift
