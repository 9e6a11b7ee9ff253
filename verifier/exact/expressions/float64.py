"""Formulas in float64, each value with a bound on its own rounding error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from verifier.exact.expressions.arithmetic import OutsideDomainError
from verifier.exact.expressions.nodes import Function, Operator, Relation
from verifier.exact.rounding import TINY, UNIT, UP, Rounded, rounded, total

_LIBRARY = 2 * UNIT
"""exp and log of the C library are taken to be within one unit in the last place."""


def _rounded_once(terms: Sequence[Rounded]) -> Rounded:
    """The sum rounded once (Shewchuk 1997)."""
    value = math.fsum(term.value for term in terms)
    return Rounded(value, (sum(term.bound for term in terms) + UNIT * abs(value)) * UP)


FORMS: dict[str, Callable[[Sequence[Rounded]], Rounded]] = {
    "sums from left to right": total,
    "sums rounded once": _rounded_once,
}


class Float64:
    """Float64 in place of every rational and real number; what overflows or is not a number is outside the domain.

    Bounds follow the running error analysis of `rounding`; they hold while every guard is decided as in exact numbers.
    """

    leaves = True

    def __init__(self, form: Callable[[Sequence[Rounded]], Rounded]) -> None:
        self._form = form

    def lift(self, x: Fraction) -> Rounded:
        """The nearest float."""
        return rounded(x)

    def bits(self, x: Rounded) -> int:  # noqa: ARG002  # every float has the same size
        """0: floats cost the same."""
        return 0

    def operate(self, operator: Operator, left: Rounded, right: Rounded) -> Rounded:
        """Left + − · / right."""
        match operator:
            case "+":
                return _defined(lambda: left + right)
            case "-":
                return _defined(lambda: left - right)
            case "*":
                return _defined(lambda: left * right)
            case _:
                return _defined(lambda: _quotient(left, right))

    def power(self, base: Rounded, exponent: int) -> Rounded:
        """Base^exponent: |(b ± e)^n − b^n| ≤ (|b| + e)^n − |b|^n."""
        size, error = abs(base.value), base.bound

        def compute() -> Rounded:
            value = base.value**exponent
            carried = ((size + error) ** exponent - size**exponent) * UP + size**exponent * 64 * UNIT * (error != 0.0)
            return Rounded(value, (carried + _LIBRARY * abs(value) + TINY) * UP)

        return base if exponent == 1 else _defined(compute)

    def negative(self, x: Rounded) -> Rounded:
        """−x."""
        return -x

    def call(self, function: Function, arguments: Sequence[Rounded]) -> Rounded:
        """A function of its arguments."""
        x = arguments[0]
        match function:
            case "min" | "max":
                values = [y.value for y in arguments]
                value = min(values) if function == "min" else max(values)
                return Rounded(value, max(y.bound for y in arguments))
            case "abs":
                return Rounded(abs(x.value), x.bound)
            case "sqrt":
                return _defined(lambda: _sqrt(x))
            case "exp":
                return _defined(lambda: _exp(x))
            case "log":
                return _defined(lambda: _log(x))

    def total(self, terms: Sequence[Rounded]) -> Rounded:
        """The sum, in this form."""
        return _defined(lambda: self._form(terms))

    def holds(self, left: Rounded, relation: Relation, right: Rounded) -> bool:
        """Whether the comparison is true."""
        x, y = left.value, right.value
        match relation:
            case "<":
                return bool(x < y)
            case "<=":
                return bool(x <= y)
            case "=":
                return bool(x == y)
            case _:
                return bool(x != y)


def _defined(compute: Callable[[], Rounded]) -> Rounded:
    try:
        found = compute()
    except (ArithmeticError, ValueError) as error:
        raise OutsideDomainError(f"float64: {error}") from error
    if not math.isfinite(found.value):
        raise OutsideDomainError("float64: no finite number")
    return found


def _quotient(left: Rounded, right: Rounded) -> Rounded:
    if abs(right.value) <= right.bound:  # the exact divisor may be 0
        return Rounded(left.value / right.value, math.inf)
    return left / right


def _sqrt(x: Rounded) -> Rounded:
    """|√(x ± e) − √x| ≤ min(√e, e/√x)."""
    value = math.sqrt(x.value)
    carried = math.sqrt(x.bound) if x.value <= x.bound else x.bound / value
    return Rounded(value, (carried + UNIT * value) * UP)


def _exp(x: Rounded) -> Rounded:
    value = math.exp(x.value)
    carried = value * math.expm1(x.bound) if x.bound < 1 else math.inf
    return Rounded(value, (carried * (1 + _LIBRARY) + _LIBRARY * value + TINY) * UP)


def _log(x: Rounded) -> Rounded:
    """|log(x ± e) − log x| ≤ e/(x − e)."""
    value = math.log(x.value)
    carried = x.bound / (x.value - x.bound) if x.value > x.bound else math.inf
    return Rounded(value, (carried + _LIBRARY * abs(value)) * UP)
