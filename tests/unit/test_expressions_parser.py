"""The grammar of docs/certificates.md, section 8: what is read, what is not, and where the complaint points."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.unit.test_expressions_values import SHAPES, document, left_side
from verifier.exact import parse_problem, refute
from verifier.exact.expressions.balls import Balls
from verifier.exact.expressions.parser import parse_formula
from verifier.exact.expressions.problem import read_expression_parameters
from verifier.exact.reading import Reader
from verifier.model.errors import BadInput

VALUES: dict[str, Any] = {"x": "2", "y": "-1/3", "v": ["1", "2", "3"], "A": [["2", "1"], ["1", "2"]]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-x^2", "-4"),
        ("(-x)^2", "4"),
        ("2 - 3 - 4", "-5"),
        ("2/3/4", "1/6"),
        ("2*-x", "-4"),
        ("--x", "2"),
        ("-x*-3", "6"),
        ("7/3*3", "7"),
        ("1+2*3^2", "19"),
        ("0^0", "1"),
        ("(x - 2)^0", "1"),
        ("sum(i in 0..2: v[i])*2", "12"),
        ("sum(i in 0..2, j in i..2: 1)", "6"),
        ("sum(i in 2..1: 1/0)", "0"),
        ("sum(i in 0..1: A[i, 1 - i])", "2"),
        ("if(x < 2, 1/0, y)", "-1/3"),
        ("max(y, min(x, 1), abs(y))", "1"),
        ("sum(i in 0..1: i) + sum(i in 1..2: i)", "4"),
        ("sum(i in v[0]..A[0,0]: i)", "3"),
    ],
)
def test_values(text: str, value: str) -> None:
    assert left_side(f"{text} = 0", VALUES, Balls()) == Fraction(value)


@pytest.mark.parametrize(
    ("text", "at", "what"),
    [
        ("x < 1 < 2", 7, "two comparisons"),
        ("x > 1", 3, "means nothing"),
        ("x + 1", 6, "a comparison is expected"),
        ("x = 1.5", 6, "means nothing"),
        ("x = 1e5", 6, "cannot follow"),
        ("x = 007", 6, "cannot follow"),
        ("x = y^2^2", 8, "two powers"),
        ("x = y^65", 7, "a power is"),
        ("x = y^-1", 7, "a power is"),
        ("x = z", 5, "neither a variable nor an index"),
        ("x = v", 5, "without an index"),
        ("x = v[0, 1]", 6, "takes one index"),
        ("x = A[0]", 6, "takes two indices"),
        ("x = x[0]", 6, "takes no index"),
        ("x = (1", 7, '")" is expected'),
        ("x = )", 5, "is expected"),
        ("x = sum(x in 0..1: 1)", 9, "already a variable"),
        ("x = sum(i in 0..1, i in 0..1: 1)", 20, "already an index"),
        ("x = sum(i in 0..1: sum(i in 0..1: 1))", 24, "already an index"),
        ("x = sum(i in 0..1: i) + i", 25, "neither a variable nor an index"),
        ("x = sum(i in 0..i: 1)", 17, "neither a variable nor an index"),
        ("x = sum(min in 0..1: 1)", 9, "name of an index"),
        ("x = abs(1, 2)", 10, "at most 1"),
        ("x = min()", 9, "is expected"),
        ("sqrt(x) = 1", 9, "only between rational sides"),
        ("x < if(sqrt(x) < 1, 1, 2)", 8, "the guard"),
        ("x < v[sqrt(x)]", 7, "an index contains"),
        ("x < sum(i in 0..exp(0): 1)", 17, "a bound of a range contains"),
        ("psd(i, j in 0..1: sqrt(2))", 19, "an entry of psd contains"),
        ("psd(v)", 5, "square matrix"),
        ("psd(B)", 5, "square matrix"),
        ("psd(A) = 1", 8, "cannot follow"),
        ("x = psd(A)", 5, "inside an expression"),
        ("forall(i in 0..1: i)", 20, "a comparison is expected"),
        ("x\t= 1", 2, "means nothing"),
        ("é = 1", 1, "means nothing"),
        ("x = ١", 5, "means nothing"),
        ("", 1, "is expected"),
    ],
)
def test_complaints_name_the_character(text: str, at: int, what: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_formula(text, SHAPES, where="here")
    place = f"character {at} of the formula" if at <= len(text) else "the end of the formula"
    assert caught.value.where.startswith(f"here: {place}")
    assert what in caught.value.what
    assert caught.value.mend


LIMITS = [
    ("depth", "x = {}1{}".format("(" * 32, ")" * 32), "x = {}1{}".format("(" * 33, ")" * 33)),
    ("depth of signs", "x = " + "-" * 32 + "1", "x = " + "-" * 33 + "1"),
    ("digits", "x = " + "9" * 100, "x = " + "9" * 101),
    ("tokens", "x = " + "+".join("1" * 999), "x = " + "+".join("1" * 1_000)),
    ("characters", "x = 1" + " " * 3_995, "x = 1" + " " * 3_996),
    ("arguments", f"x = min({','.join('1' * 16)})", f"x = min({','.join('1' * 17)})"),
    ("ranges", *(f"x = sum({', '.join(f'i{k} in 0..0' for k in range(n))}: 1)" for n in (8, 9))),
    ("names", *(f"x = sum({'i' * n} in 0..0: 1)" for n in (32, 33))),
]


@pytest.mark.parametrize(("fits", "beyond"), [entry[1:] for entry in LIMITS], ids=[entry[0] for entry in LIMITS])
def test_bounds_are_exact(fits: str, beyond: str) -> None:
    parse_formula(fits, SHAPES)
    with pytest.raises(BadInput):
        parse_formula(beyond, SHAPES)


@pytest.mark.parametrize(
    ("conclusion", "what"),
    [
        ("0 < sum(i in 1..100001: 1)", "values of one index"),
        ("0 < sum(i in 1..400, j in 1..400: 1)", "terms in one sum"),
        ("0 < sum(i in 1..99999, j in 1..99999, k in 1..0: 1)", "node evaluations"),
        ("0 < (((7^64)^64)^64)^64", "bits"),
        ("0 < exp(x*501)", "exp of a number"),
        ("psd(i, j in 0..32: 1)", "rows"),
    ],
)
def test_what_costs_too_much_is_refused(conclusion: str, what: str) -> None:
    with pytest.raises(BadInput, match="too large") as caught:
        refute(parse_problem(document(conclusion, VALUES)))
    assert what in caught.value.what


@pytest.mark.parametrize(
    ("change", "where", "what"),
    [
        ({"x": "1"}, "state.assignment", "the variable y has no value"),
        (VALUES | {"z": "1"}, "state.assignment", "not one of the variables"),
        (VALUES | {"x": ["1"]}, "state.assignment.x", "not a rational"),
        (VALUES | {"x": "2/4"}, "state.assignment.x", "lowest terms"),
        (VALUES | {"v": ["1"]}, "state.assignment.v", "1 entries"),
        (VALUES | {"A": [["1", "2"]]}, "state.assignment.A", "1 rows"),
        (VALUES | {"A": [["1", "2"], ["1"]]}, "state.assignment.A[1]", "1 entries"),
    ],
)
def test_assignments_have_the_shapes_declared(change: dict[str, Any], where: str, what: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_problem(document("0 < x", change))
    assert caught.value.where == f"problem: {where}"
    assert what in caught.value.what


@pytest.mark.parametrize(
    "variables",
    [{}, {"sum": "rational"}, {"1x": "rational"}, {"x y": "rational"}, {"x": "real"}, {"x": {"vector": 257}},
     {"x": {"matrix": [2]}}, {"x": {"vector": 2, "matrix": [1, 1]}}, {"x" * 33: "rational"}, {"x\n": "rational"}],
)  # fmt: skip
def test_variables_are_names_with_shapes(variables: dict[str, Any]) -> None:
    problem = document("0 < 1", {})
    problem["parameters"]["variables"] = variables
    with pytest.raises(BadInput, match=r"^problem: parameters\.variables"):
        parse_problem(problem)


@pytest.mark.parametrize(
    ("formula", "mend"),
    [
        ("z < 1", "the names here are A, v, x and y, the functions abs, exp, if, log, max, min, sqrt and sum"),
        ("xx < 1", "the nearest valid name is x; the names here are A, v, x and y, the functions abs"),
        ("0 < sum(k in 0..1: j)", "the names here are A, k, v, x and y"),
        ("cos(x) < 1", "the functions are abs, exp, if, log, max, min, sqrt and sum"),
        ("sqr(x) < 1", "the nearest valid one is sqrt"),
        ("x^(1/2) < 1", "sqrt(x) for x^(1/2)"),
        ("x^-2 < 1", "1/x^2 for x^-2"),
        ("x >= 1", "swap the sides: write a >= b as b <= a"),
        ("x > 1", "swap the sides: write a > b as b < a"),
    ],
)
def test_a_complaint_says_what_to_write(formula: str, mend: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_formula(formula, SHAPES)
    assert mend in caught.value.mend


def test_a_complaint_about_a_hypothesis_names_it() -> None:
    with pytest.raises(BadInput) as caught:
        parse_problem(document("0 < x", VALUES, ("0 < x", "0 < w")))
    assert caught.value.where.startswith("problem: parameters.hypotheses[1]: character 5 of the formula")


def test_a_statement_is_read_whatever_its_state() -> None:
    problem = document("sqrt(x) < 2", {}, ("psd(A)",)) | {"state": {"find": {"numerator": 3, "denominator": 2}}}
    statement = read_expression_parameters(Reader(problem, "problem"))
    assert statement.real
    assert {name: shape.sizes for name, shape in statement.variables.items()} == {
        "x": (), "y": (), "v": (3,), "A": (2, 2),
    }  # fmt: skip
