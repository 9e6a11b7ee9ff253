"""What float64 says of the same formulas: the first comparison it decides otherwise, the gap there, and its error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic

from flint import arb

from verifier.exact.answer import Refutation
from verifier.exact.divergence import CLASSES
from verifier.exact.expressions.arithmetic import OutsideDomainError, R, Reals
from verifier.exact.expressions.balls import Balls, precision
from verifier.exact.expressions.evaluate import Evaluator, Instance, Sides, together
from verifier.exact.expressions.float64 import FORMS, Float64
from verifier.exact.expressions.meter import Meter
from verifier.exact.expressions.problem import ExpressionProblem
from verifier.exact.reading import Matrix
from verifier.exact.rounding import Rounded
from verifier.model.answers import ExactAnswer
from verifier.model.errors import BadInput

BITS = 1_000


def float_report(problem: ExpressionProblem, found: Refutation) -> dict[str, Any] | None:
    """Float64 against exact for both ways to form a sum.

    Per form: `answer` (float64's own), `first_predicate` (formula, indices, both words, the exact left minus right
    side as `gap`, the float's error in it), and one of four classes: agree; same answer, details differ; different
    step (the conclusion fails first at other indices); different answer. `steps` counts the exact comparisons.
    `error_bound` bounds the error beforehand, None where rounding could have left a domain or taken another arm of an
    `if`; `float64_can_tell` says whether the gap exceeds it. None where the time limit came before an answer.
    """
    if found.horizon is not None:
        return None
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
        return together(self.words) if self.whole or False in self.words else None

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
    floats = _formulas(problem, Float64(FORMS[form]), _float_word)
    answer = _answer(floats)
    parted = _first_difference(problem, exact, floats)
    if answer is not found.answer:
        name = CLASSES[3]
    elif exact[-1].first_false != floats[-1].first_false:
        name = CLASSES[2]
    else:
        name = CLASSES[0] if parted is None else CLASSES[1]
    said = None if answer is None else str(answer)
    sentence = f"{form}: {name}{_words(parted)}"
    return {"form": form, "class": name, "sentence": sentence, "answer": said, "first_predicate": parted}


def _words(parted: dict[str, Any] | None) -> str:
    if parted is None:
        return ""
    word = {True: "true", False: "false", None: "of no value"}[parted["float"]]
    indices = "".join(f", {name} = {value}" for name, value in parted["indices"].items())
    text = f"; it calls {parted['formula']}{indices} {word}"
    if parted["gap"] is not None and parted["error_bound"] is not None:
        told = "more than rounding explains" if parted["float64_can_tell"] else "float64 cannot tell"
        text += f": gap {parted['gap']:.2g}, error bound {parted['error_bound']:.2g}, {told}"
    return text


def _answer(said: list[_Said[Rounded]]) -> ExactAnswer | None:
    """What float64 would answer; None where it has no value for the conclusion."""
    *premises, conclusion = said
    if any(not premise.truth for premise in premises):
        return ExactAnswer.UNSUPPORTED_HYPOTHESIS
    if conclusion.truth is None:
        return None
    return ExactAnswer.HOLDS_FOR_ALL if conclusion.truth else ExactAnswer.VIOLATED


def _float_word(instance: Instance[Rounded]) -> bool | None:
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
    problem: ExpressionProblem, exact: list[_Said[arb]], floats: list[_Said[Rounded]]
) -> dict[str, Any] | None:
    for stated, known, said in zip(problem.statement.formulas, exact, floats, strict=True):
        for k, (instance, word) in enumerate(zip(known.instances, known.words, strict=True)):
            other = said.words[k] if k < len(said.words) else None
            if word is not other:
                found = {"formula": stated.text, "indices": dict(instance.indices), "float": other, "exact": word}
                return found | _sizes(instance, said.instances[k] if k < len(said.instances) else None)
    return None


def _sizes(instance: Instance[arb], mine: Instance[Rounded] | None) -> dict[str, Any]:
    """The gap, the float's error in it and the bound on that; None where the formula compares no two numbers."""
    gap = _gap(instance)
    found: dict[str, Any] = {"gap": None if gap is None else _finite(gap), "error": None, "error_bound": None}
    if gap is not None and mine is not None and isinstance(mine.found, Sides):
        left, right = (x for x in (mine.found.left, mine.found.right) if isinstance(x, Rounded))
        bound = float(left.bound + right.bound)
        found["error"] = _finite(arb(float(left.value)) - arb(float(right.value)) - gap)
        found["error_bound"] = bound if math.isfinite(bound) else None
    can_tell = found["gap"] is not None and found["error_bound"] is not None
    found["float64_can_tell"] = abs(found["gap"]) > found["error_bound"] if can_tell else None
    return found


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
