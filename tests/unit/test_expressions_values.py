"""The finder's evaluator against Python's own reading of the same text, in rationals and in decimals."""

from __future__ import annotations

import decimal
import re
from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.expressions import VARIABLES, Written, assignment, decimally, exactly, seeded
from verifier.exact.expressions.arithmetic import NotSeparatedError, OutsideDomainError
from verifier.exact.expressions.balls import Balls, precision
from verifier.exact.expressions.evaluate import Evaluator, Instance, Sides
from verifier.exact.expressions.grid import Grid, Interval
from verifier.exact.expressions.meter import Meter
from verifier.exact.expressions.parser import Shape, parse_formula
from verifier.exact.expressions.problem import read_expression_problem
from verifier.exact.reading import Reader
from verifier.model.errors import BadInput

SHAPES = {"x": Shape(()), "y": Shape(()), "v": Shape((3,)), "A": Shape((2, 2))}


def document(conclusion: str, values: dict[str, Any], hypotheses: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "schema": "verifier/problem/1",
        "system": "expressions",
        "parameters": {"variables": VARIABLES, "hypotheses": list(hypotheses), "conclusion": conclusion},
        "state": {"assignment": values},
        "claim": "conclusion",
    }


def values_of(formula: str, values: dict[str, Any], reals: Any) -> list[Instance[Any]]:
    problem = read_expression_problem(Reader(document(formula, values), "test"))
    return list(Evaluator(problem.assignment, reals, Meter()).instances(problem.statement.conclusion.formula))


def left_side(formula: str, values: dict[str, Any], reals: Any) -> Any:
    (instance,) = values_of(formula, values, reals)
    if instance.found is None:
        raise NotSeparatedError
    assert isinstance(instance.found, Sides)
    return instance.found.left


def outcome(compute: Any, errors: tuple[type[Exception], ...]) -> Any:
    try:
        return compute()
    except errors:
        return "no value"


@pytest.mark.parametrize("seed", range(8))
def test_rational_expressions_have_pythons_value(seed: int) -> None:
    rng = seeded(seed)
    compared = 0
    for _ in range(100):
        text, python = Written(rng).expression(rng.randrange(1, 5))
        values = assignment(rng)
        expected = outcome(lambda p=python, v=values: exactly(p, v), (ZeroDivisionError, IndexError))
        found = outcome(lambda t=text, v=values: left_side(f"{t} = 0", v, Balls()), (OutsideDomainError,))
        assert found == expected, text
        compared += expected != "no value"
    assert compared > 60


@pytest.mark.parametrize("seed", range(4))
def test_formulas_have_pythons_truth(seed: int) -> None:
    rng = seeded(100 + seed)
    truths = set()
    for _ in range(100):
        text, python = Written(rng).formula(rng.randrange(1, 4))
        values = assignment(rng)
        expected = outcome(lambda p=python, v=values: exactly(p, v), (ZeroDivisionError, IndexError))
        found = outcome(lambda t=text, v=values: all(i.truth for i in values_of(t, v, Balls())), (OutsideDomainError,))
        assert found == expected, text
        truths.add(found)
    assert truths == {True, False, "no value"}


NO_DECIMAL = (decimal.DecimalException, ZeroDivisionError, IndexError)


@pytest.mark.parametrize("seed", range(4))
def test_enclosures_contain_the_decimal_value(seed: int) -> None:
    rng = seeded(200 + seed)
    compared = missing = 0
    for _ in range(150):
        text, python = Written(rng, real=True).expression(rng.randrange(2, 5))
        values = assignment(rng)
        if not any(word in text for word in ("sqrt", "exp", "log")):
            continue
        try:
            with precision(200):
                ball = left_side(f"{text} < 0", values, Balls())
            grid = left_side(f"{text} < 0", values, Grid(200))
        except BadInput:
            continue  # exp beyond ±1,000
        except NotSeparatedError:
            continue  # an argument that is exactly at the edge of a domain
        except OutsideDomainError:
            with pytest.raises(NO_DECIMAL):
                decimally(python, values, digits=90)
            missing += 1
            continue
        value = decimally(python, values, digits=90)
        exact = Fraction(value)
        tiny = (1 + abs(exact)) * Fraction(1, 10**50)
        assert isinstance(ball, arb)
        low, high = (
            Fraction(int(m)) * Fraction(2) ** int(e) for m, e in (ball.lower().man_exp(), ball.upper().man_exp())
        )
        assert low - tiny <= exact <= high + tiny, text
        assert isinstance(grid, Interval)
        assert grid.low <= (exact + tiny) * 2**200, text
        assert grid.high >= (exact - tiny) * 2**200, text
        compared += 1
    assert compared > 20
    assert missing > 3


@pytest.mark.parametrize("p", [64, 128])
@pytest.mark.parametrize("x", ["0", "1", "-1/3", "7/2", "-40", "300"])
def test_the_grid_is_as_wide_as_the_page_allows_and_no_wider(p: int, x: str) -> None:
    grid = Grid(p)
    point = grid.lift(Fraction(Fraction(x).numerator))
    found = grid.call("exp", [point])
    true = Fraction(decimally("exp(x)", {"x": str(Fraction(x).numerator)}, digits=400))
    allowed = 16 * max(1, true)
    assert found.low <= true * 2**p - allowed
    assert true * 2**p + allowed <= found.high
    assert found.high - found.low <= 2 * (allowed + 18)


PIECES = [*"xyvAij0127 +-*/^()[],:.<=!", " in ", "sum(", "forall(", "if(", "..", "psd(", "v[", "A["]
TEXTS = st.lists(st.sampled_from(PIECES)).map("".join) | st.text()


@given(TEXTS)
def test_any_text_is_read_or_refused_with_a_sentence(text: str) -> None:
    try:
        parse_formula(text, SHAPES)
    except BadInput as error:
        said = error
    else:
        return
    assert said.where.startswith("formula")
    assert said.what
    assert said.mend


@given(st.integers(0, 10**6))
def test_spaces_mean_nothing(seed: int) -> None:
    text, _ = Written(seeded(seed), real=True).formula(3)
    spaced = text.replace(" ", "  ").replace("(", "( ")
    first, second = (re.sub(r"\bat=\d+", "", repr(parse_formula(t, SHAPES))) for t in (text, spaced))
    assert first == second
