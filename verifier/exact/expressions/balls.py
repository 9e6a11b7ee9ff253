"""Real numbers as midpoint and radius (Arb, Johansson 2017): what decides a claim with sqrt, exp or log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

from flint import arb, ctx, fmpz

from verifier.exact.expressions.arithmetic import NotSeparatedError, OutsideDomainError
from verifier.exact.expressions.meter import too_large
from verifier.exact.expressions.nodes import Function, Operator, Relation

MOST_EXPONENT = 1_000
"""exp is asked only between −1,000 and 1,000."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Runs what is inside with balls of `bits` bits."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


class Balls:
    """Arithmetic on balls at the precision in force; every result contains the exact value."""

    leaves = False

    def lift(self, x: Fraction) -> arb:
        """A ball around a rational."""
        return arb(fmpz(x.numerator)) / fmpz(x.denominator)

    def bits(self, x: arb) -> int:  # noqa: ARG002  # an operation on balls costs the same for all of them
        """0: the size of a ball is that of its precision."""
        return 0

    def operate(self, operator: Operator, left: arb, right: arb) -> arb:
        """Left + − · / right."""
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case _:
                if right.is_zero():
                    raise OutsideDomainError("a division by zero")
                if right.contains(0):
                    raise NotSeparatedError
                return left / right

    def power(self, base: arb, exponent: int) -> arb:
        """Base^exponent."""
        return base**exponent

    def negative(self, x: arb) -> arb:
        """−x."""
        return -x

    def call(self, function: Function, arguments: Sequence[arb]) -> arb:
        """A function of its arguments."""
        x = arguments[0]
        match function:
            case "min" | "max":
                for y in arguments[1:]:
                    x = x.min(y) if function == "min" else x.max(y)
                return x
            case "abs":
                return abs(x)
            case "sqrt":
                return _sqrt(x)
            case "exp":
                return _exp(x)
            case "log":
                return _log(x)

    def total(self, terms: Sequence[arb]) -> arb:
        """The sum."""
        total = terms[0]
        for term in terms[1:]:
            total += term
        return total

    def holds(self, left: arb, relation: Relation, right: arb) -> bool | None:
        """Whether left < right or left ≤ right; None where the balls overlap."""
        assert relation in ("<", "<=")
        if relation == "<":
            return True if left < right else False if left >= right else None
        return True if left <= right else False if left > right else None


def _sqrt(x: arb) -> arb:
    if x < 0:
        raise OutsideDomainError("sqrt of a negative number")
    if not x >= 0:
        raise NotSeparatedError
    return x.sqrt()


def _exp(x: arb) -> arb:
    if abs(x) > MOST_EXPONENT:
        raise too_large(f"exp of a number beyond ±{MOST_EXPONENT:,}")
    if not abs(x) <= MOST_EXPONENT:
        raise NotSeparatedError
    return x.exp()


def _log(x: arb) -> arb:
    if x <= 0:
        raise OutsideDomainError("log of a number that is not positive")
    if not x > 0:
        raise NotSeparatedError
    return x.log()
