"""What float64 says of the same formulas: the first comparison it decides otherwise, the gap there, and its error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic

from flint import arb

from verifier.exact.answer import Refutation
from verifier.exact.expressions.arithmetic import OutsideDomainError, R, Reals
from verifier.exact.expressions.balls import Balls, precision
from verifier.exact.expressions.evaluate import Evaluator, Instance, Sides, together
from verifier.exact.expressions.meter import Meter
from verifier.exact.expressions.nodes import Function, Operator, Relation
from verifier.exact.expressions.problem import ExpressionProblem
from verifier.exact.reading import Matrix
from verifier.model.answers import ExactAnswer
from verifier.model.errors import BadInput

BITS = 1_000
CLASSES = ("agree", "same answer, details differ", "different step", "different answer")


def _in_order(terms: Sequence[float]) -> float:
    total = 0.0
    for term in terms:
        total += term
    return total


FORMS: dict[str, Callable[[Sequence[float]], float]] = {
    "sums from left to right": _in_order,
    "sums rounded once": math.fsum,
}


class Floats:
    """Float64 in place of every rational and real number; what overflows or has no value is outside the domain."""

    leaves = True

    def __init__(self, form: Callable[[Sequence[float]], float]) -> None:
        self._form = form

    def lift(self, x: Fraction) -> float:
        """The nearest float."""
        return _defined(lambda: float(x))

    def bits(self, x: float) -> int:  # noqa: ARG002  # every float has the same size
        """0: floats cost the same."""
        return 0

    def operate(self, operator: Operator, left: float, right: float) -> float:
        """Left + − · / right."""
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case _:
                return _defined(lambda: left / right)

    def power(self, base: float, exponent: int) -> float:
        """Base^exponent."""
        return _defined(lambda: base**exponent)

    def negative(self, x: float) -> float:
        """−x."""
        return -x

    def call(self, function: Function, arguments: Sequence[float]) -> float:
        """A function of its arguments."""
        if function in ("min", "max"):
            return min(arguments) if function == "min" else max(arguments)
        known: dict[str, Callable[[float], float]] = {
            "abs": abs, "sqrt": math.sqrt, "exp": math.exp, "log": math.log,
        }  # fmt: skip
        return _defined(lambda: known[function](arguments[0]))

    def total(self, terms: Sequence[float]) -> float:
        """The sum, in this form."""
        return _defined(lambda: self._form(terms))

    def holds(self, left: float, relation: Relation, right: float) -> bool:
        """Whether the comparison is true; NaN is outside the domain."""
        if math.isnan(left) or math.isnan(right):
            raise OutsideDomainError("not a number")
        match relation:
            case "<":
                return left < right
            case "<=":
                return left <= right
            case "=":
                return left == right
            case _:
                return left != right


def _defined(compute: Callable[[], float]) -> float:
    try:
        return compute()
    except (ArithmeticError, ValueError) as error:
        raise OutsideDomainError(str(error)) from error


def float_report(problem: ExpressionProblem, found: Refutation) -> dict[str, Any]:
    """Float64 against exact for both ways to form a sum.

    Per form: `answer` (float64's own), `first_predicate` (formula, indices, both words, the exact left minus right
    side as `gap`, the float's error in it), and one of four classes: agree; same answer, details differ; different
    step (the conclusion fails first at other indices); different answer. `steps` counts the exact comparisons.
    """
    with precision(BITS):
        exact = _formulas(problem, Balls(), lambda instance: instance.truth)
        forms = [_compare(problem, exact, form, found) for form in FORMS]
    return {"steps": sum(len(formula.words) for formula in exact), "forms": forms}


@dataclass(frozen=True, slots=True)
class _Said(Generic[R]):
    """A formula's instances with the word on each; `whole` is False where a value was missing."""

    instances: list[Instance[R]]
    words: list[bool | None]
    whole: bool

    @property
    def truth(self) -> bool | None:
        return together(self.words) if self.whole else None

    @property
    def first_false(self) -> tuple[tuple[str, int], ...] | None:
        return next((i.indices for i, word in zip(self.instances, self.words, strict=True) if word is False), None)


def _formulas(
    problem: ExpressionProblem, reals: Reals[R], word: Callable[[Instance[R]], bool | None]
) -> list[_Said[R]]:
    evaluator, found = Evaluator(problem.assignment, reals, Meter()), []
    for stated in problem.statement.formulas:
        instances: list[Instance[R]] = []
        whole = True
        try:
            instances.extend(evaluator.instances(stated.formula))
        except (OutsideDomainError, BadInput):  # floats can take another arm, or overflow
            whole = False
        found.append(_Said(instances, [word(instance) for instance in instances], whole))
    return found


def _compare(problem: ExpressionProblem, exact: list[_Said[arb]], form: str, found: Refutation) -> dict[str, Any]:
    floats = _formulas(problem, Floats(FORMS[form]), _float_word)
    answer = _answer(floats)
    parted = _first_difference(problem, exact, floats)
    if answer is not found.answer:
        name = CLASSES[3]
    elif exact[-1].first_false != floats[-1].first_false:
        name = CLASSES[2]
    else:
        name = CLASSES[0] if parted is None else CLASSES[1]
    return {"form": form, "answer": None if answer is None else str(answer), "first_predicate": parted, "class": name}


def _answer(said: list[_Said[float]]) -> ExactAnswer | None:
    """What float64 would answer; None where it has no value for the conclusion."""
    *premises, conclusion = said
    if any(not premise.truth for premise in premises):
        return ExactAnswer.UNSUPPORTED_HYPOTHESIS
    if conclusion.truth is None:
        return None
    return ExactAnswer.HOLDS_FOR_ALL if conclusion.truth else ExactAnswer.VIOLATED


def _float_word(instance: Instance[float]) -> bool | None:
    """The float's word: a comparison's own; for psd the pivots of an elimination in floats."""
    if instance.found is None or isinstance(instance.found, Sides):
        return instance.truth
    return _pivots(instance.found)


def _pivots(matrix: Matrix) -> bool:
    try:
        rows = [[float(x) for x in row] for row in matrix]
    except OverflowError:
        return False
    if any(rows[i][j] != rows[j][i] for i in range(len(rows)) for j in range(i)):
        return False
    for k, top in enumerate(rows):
        if not top[k] >= 0 or (top[k] == 0 and any(row[k] for row in rows[k + 1 :])):
            return False
        for row in rows[k + 1 :] if top[k] else []:
            factor = row[k] / top[k]
            for j in range(k, len(rows)):
                row[j] -= factor * top[j]
    return True


def _first_difference(
    problem: ExpressionProblem, exact: list[_Said[arb]], floats: list[_Said[float]]
) -> dict[str, Any] | None:
    for stated, known, said in zip(problem.statement.formulas, exact, floats, strict=True):
        for k, (instance, word) in enumerate(zip(known.instances, known.words, strict=True)):
            other = said.words[k] if k < len(said.words) else None
            if word is other:
                continue
            gap = _gap(instance)
            mine = said.instances[k].found if k < len(said.instances) else None
            error = None
            if gap is not None and isinstance(mine, Sides):
                error = _finite(arb(float(mine.left)) - arb(float(mine.right)) - gap)
            return {
                "formula": stated.text,
                "indices": dict(instance.indices),
                "float": other,
                "exact": word,
                "gap": None if gap is None else _finite(gap),
                "error": error,
            }
    return None


def _gap(instance: Instance[arb]) -> arb | None:
    """Left minus right side, exactly or enclosed."""
    if not isinstance(instance.found, Sides):
        return None
    left, right = (
        Balls().lift(x) if isinstance(x, Fraction) else x for x in (instance.found.left, instance.found.right)
    )
    return left - right


def _finite(x: arb) -> float | None:
    """The nearest float, or None where there is none."""
    value = float(x.mid())
    return value if math.isfinite(value) else None
