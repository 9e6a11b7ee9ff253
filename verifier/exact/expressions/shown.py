"""What a reader sees of a decision: hypotheses with their witnesses, sides exactly and in short."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb, fmpz

from verifier.exact.answer import Hypothesis
from verifier.exact.definite import is_symmetric, negative_direction
from verifier.exact.expressions.balls import precision
from verifier.exact.expressions.decide import Decided
from verifier.exact.expressions.evaluate import Instance, Sides
from verifier.exact.linear import quadratic
from verifier.exact.reading import Matrix

DIGITS = 30
"""Decimal digits of an enclosure in a witness; its radius is shown with it."""
CLOSE = 10**9
"""Sides whose difference is smaller by this factor are shown with it."""
SHORT = 24
"""A rational of at most so many characters stands in a sentence as it is."""


def number_text(x: Fraction | arb) -> str:
    """A rational in lowest terms, or an enclosure as midpoint and radius."""
    exact = _exactly(x)
    return str(x) if isinstance(x, Fraction) else exact or x.str(DIGITS)


def _exactly(x: Fraction | arb) -> str:
    """A number known exactly, if that is short; else nothing."""
    if not isinstance(x, Fraction):
        if not x.is_exact() or not -SHORT < (exponent := int(x.man_exp()[1])) < 4 * SHORT:
            return ""
        x = int(x.man_exp()[0]) * Fraction(2) ** exponent
    text = str(x)
    return text if len(text) <= SHORT else ""


def short_text(x: Fraction | arb) -> str:
    """The same for a sentence: a long number as a decimal with dots."""
    if exact := _exactly(x):
        return exact
    if isinstance(x, Fraction):
        x = arb(fmpz(x.numerator)) / fmpz(x.denominator)
    return x.mid().str(12, radius=False) + "..."


def witness_of(instance: Instance[arb]) -> dict[str, Any]:
    """What shows the truth of one instance: its indices, and both sides, or a vector or entries of the matrix."""
    at = {"at": dict(instance.indices)} if instance.indices else {}
    match instance.found:
        case Sides(left, relation, right):
            return {**at, "left": number_text(left), "relation": relation, "right": number_text(right)}
        case None:
            return at
        case matrix:
            return {**at, **({} if instance.truth else _indefinite(matrix, instance.first))}


def _indefinite(matrix: Matrix, first: int) -> dict[str, Any]:
    if not is_symmetric(matrix):
        i, j = next((i, j) for i in range(len(matrix)) for j in range(i) if matrix[i][j] != matrix[j][i])
        return {"entries": [first + i, first + j], "values": [str(matrix[i][j]), str(matrix[j][i])]}
    x = negative_direction(matrix)
    assert x is not None  # a symmetric matrix that is not semidefinite has one
    return {"x": [str(entry) for entry in x], "value": str(quadratic(matrix, x))}


def difference_text(sides: Sides[arb], bits: int) -> str:
    """`left - right = …`, exactly if short, else as an enclosure, where both agree in the first nine digits; else "".

    `bits` is the precision at which the sides were enclosed, or more.
    """
    left, right = sides.left, sides.right
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        gap = left - right
        if abs(gap) * CLOSE >= abs(left) or (not gap and _exactly(left)):
            return ""
        return f"left - right = {short_text(gap)}"
    with precision(bits):
        between = _ball(left) - _ball(right)
        return f"left - right = {between.str(12)}" if abs(between) * CLOSE < abs(_ball(left)) else ""


def _ball(x: Fraction | arb) -> arb:
    return arb(fmpz(x.numerator)) / fmpz(x.denominator) if isinstance(x, Fraction) else x


def instance_text(instance: Instance[arb], bits: int) -> str:
    """The same as a clause: `1 <= 1/2 is false at i = 0`; sides that are close with their difference."""
    place = " at " + ", ".join(f"{name} = {value}" for name, value in instance.indices) if instance.indices else ""
    match instance.found:
        case Sides(left, relation, right) if instance.truth is None:
            compared = f"{short_text(left)} {relation} {short_text(right)}"
            return f"{compared}{place}: the sides agree to {bits:,} bits and may be equal; not decided"
        case Sides(left, relation, right):
            gap = difference_text(instance.found, bits)
            text = f"{short_text(left)} {relation} {short_text(right)} is {str(instance.truth).lower()}{place}"
            return f"{text}, {gap}" if gap else text
        case None:
            return f"whether the sides have a value is not decided{place} at {bits:,} bits"
        case matrix if instance.truth:
            return f"every pivot of the exact elimination of {len(matrix)} rows is ≥ 0{place}"
        case matrix:
            found = _indefinite(matrix, instance.first)
            if "x" in found:
                return f"⟨Mx, x⟩ = {short_text(Fraction(found['value']))} < 0 for the witness vector x{place}"
            i, j = found["entries"]
            return f"the entries ({i}, {j}) and ({j}, {i}) differ{place}"


def clause(decided: Decided[arb], bits: int) -> str:
    """Why the formula is true, false or open. `bits` is the highest precision tried."""
    if decided.outside:
        return f"it has no value: {decided.outside}"
    if decided.truth and decided.shows is None:
        return f"true for all {decided.instances:,} values of the indices"
    assert decided.shows is not None
    return instance_text(decided.shows, bits)


def hypothesis_of(decided: Decided[arb], bits: int, *, name: str = "") -> Hypothesis:
    """The decision as a hypothesis: what is not shown to hold counts as unmet."""
    witness = {} if decided.shows is None else witness_of(decided.shows)
    return Hypothesis(
        name or decided.stated.text, holds=decided.truth is True, witness=witness, sentence=clause(decided, bits)
    )
