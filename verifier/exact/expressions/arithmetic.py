"""What an evaluator asks of its numbers, and the exact arithmetic that all of them share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol, TypeVar

from verifier.exact.expressions.meter import MOST_BITS, bits_of, bounded, too_large
from verifier.exact.expressions.nodes import Function, Operator, Relation

R = TypeVar("R")


class OutsideDomainError(Exception):
    """The expression has no value: what was asked, and at which character of its formula (−1: not said yet)."""

    def __init__(self, what: str, at: int = -1) -> None:
        self.what, self.at = what, at
        super().__init__(what)


class NotSeparatedError(Exception):
    """The enclosures do not tell whether the expression has a value here."""


class Reals(Protocol[R]):
    """Numbers for expressions with sqrt, exp and log. `leaves`: whether rational subexpressions use them too."""

    leaves: bool

    def lift(self, x: Fraction) -> R:
        """A rational as such a number."""
        ...

    def bits(self, x: R) -> int:
        """The size that work units are charged for."""
        ...

    def operate(self, operator: Operator, left: R, right: R) -> R:
        """Left + − · / right. Raises OutsideDomainError or NotSeparatedError."""
        ...

    def power(self, base: R, exponent: int) -> R:
        """Base^exponent, exponent ≥ 1."""
        ...

    def call(self, function: Function, arguments: Sequence[R]) -> R:
        """A function of its arguments. Raises OutsideDomainError or NotSeparatedError."""
        ...

    def negative(self, x: R) -> R:
        """−x."""
        ...

    def total(self, terms: Sequence[R]) -> R:
        """The sum of at least one term, in order unless the numbers are floats of another form."""
        ...

    def holds(self, left: R, relation: Relation, right: R) -> bool | None:
        """Whether the comparison is true; None where that is not decided."""
        ...


def operate(operator: Operator, left: Fraction, right: Fraction) -> Fraction:
    """Left + − · / right, exactly and bounded; a divisor is not 0."""
    match operator:
        case "+":
            return bounded(left + right)
        case "-":
            return bounded(left - right)
        case "*":
            return bounded(left * right)
        case _:
            return bounded(left / right)


def power(base: Fraction, exponent: int) -> Fraction:
    """Base^exponent; 0^0 = 1. A result that must be too long is not computed."""
    if (bits_of(base) - 1) * exponent > MOST_BITS:
        raise too_large(f"a power has more than {MOST_BITS:,} bits")
    return bounded(base**exponent)


def holds(left: Fraction, relation: Relation, right: Fraction) -> bool:
    """Whether the comparison is true."""
    match relation:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case "=":
            return left == right
        case _:
            return left != right
