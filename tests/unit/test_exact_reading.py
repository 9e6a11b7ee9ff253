"""Files at the door, exact algebra and hulls."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.certificate_schema import document
from tests.oracles.configurations import problem
from tests.oracles.hardmax import determinant, exceeds_largest_eigenvalue
from verifier.exact import parse_problem
from verifier.exact.definite import (
    as_integers,
    is_definite,
    is_positive,
    is_semidefinite,
    largest_eigenvalue,
    negative_direction,
    simplest_between,
)
from verifier.exact.hull import origin_in_hull
from verifier.exact.linear import null_space, quadratic, solve
from verifier.exact.reading import parse_json
from verifier.model.errors import BadInput, VerifierError

GOOD = json.dumps(problem([["4"], ["-1"]]))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (GOOD.replace('"4"', "4.0"), "is a float"),
        (GOOD.replace('"4"', "NaN"), "is a float"),
        (GOOD.replace('"4"', "1" * 40), "is not a counter"),
        (GOOD.replace('"4"', '"4","4"', 1)[:-1], "is not JSON"),
        (GOOD.replace('"claim"', '"ties"'), "occurs twice"),
        ("[" * 40 + "]" * 40, "nest deeper"),
        ("\ufeff" + GOOD, "byte-order mark"),
        ("", "is not JSON"),
    ],
)
def test_what_is_not_strict_json_is_refused(text: str, what: str) -> None:
    with pytest.raises(BadInput, match=what) as caught:
        parse_json(text.encode(), where="p.json")
    assert caught.value.where.startswith("p.json")
    assert caught.value.mend


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (GOOD.replace('"4"', "4.0"), "p.json: state.tokens[0][0]"),
        (GOOD.replace('"4"', "-Infinity"), "p.json: state.tokens[0][0]"),
        (GOOD.replace('"4"', "1" * 40), "p.json: state.tokens[0][0]"),
        ("1e5", "p.json"),
        ('{"a b": [1, {"c": 0.5}], "d": 0.25}', 'p.json: "a b"[1].c'),
    ],
)
def test_a_number_that_no_file_may_hold_names_its_path(text: str, where: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_json(text.encode(), where="p.json")
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("fields", "where", "what"),
    [
        ({"quote": "x\ud800y"}, "quote", "half a character is missing"),
        ({"symbols": {"\udc00": "a"}}, "symbols", "half a character is missing"),
        ({"symbols": {"K": ""}}, "symbols.K", "the text is empty"),
        ({"symbols": {"": "a"}}, "symbols", "has no or more than 100 characters"),
        ({"paper": {"title": ""}}, "paper.title", "the text is empty"),
        ({"paper": {"arxiv": ""}}, "paper.arxiv", "the text is empty"),
        ({"paper": {"title": "x" * 401}}, "paper.title", "more than 400 characters"),
        ({"quote": "x" * 2_001}, "quote", "more than 2000 characters"),
    ],
)
def test_texts_have_the_lengths_of_the_schema_and_whole_characters(
    fields: dict[str, Any], where: str, what: str
) -> None:
    text = json.dumps({**problem([["4"], ["-1"]]), **fields})
    with pytest.raises(BadInput, match=what) as caught:
        parse_problem(parse_json(text.encode(), where="p.json"), where="p.json")
    assert caught.value.where == f"p.json: {where}"
    assert caught.value.sentence.encode("utf-8")  # an error that can be printed
    schema = jsonschema.Draft202012Validator(document("problem-1"))
    assert "half" in what or not schema.is_valid(json.loads(text))


def test_a_character_written_as_two_escapes_is_whole() -> None:
    text = json.dumps({**problem([["4"], ["-1"]]), "quote": "\U0001d4a6", "locator": ""})
    assert "\\ud835" in text
    assert parse_problem(parse_json(text.encode(), where="p.json")).document["quote"] == "\U0001d4a6"


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(BadInput, match="UTF-8"):
        parse_json(b'{"a": "\xff"}', where="p.json")


@pytest.mark.parametrize(
    "text", ["04", "+4", "4.0", "8/2", "4/1", "-0", " 4", "4\n", "4/0", "4/-1", "", "1" * 101, "٤"]
)
def test_numbers_that_are_not_in_lowest_terms_are_refused(text: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_problem(problem([[text], ["-1"]]))
    assert caught.value.where == "problem: state.tokens[0][0]"


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (("ties",), "random", "ties"),
        (("claim",), "energy", "claim"),
        (("extra",), "1", ""),
        (("state", "tokens"), [["4"], ["-1", "2"]], "state.tokens[1]"),
        (("state", "tokens"), [], "state.tokens"),
        (("state",), {"find": {}}, "state.find"),
        (("state",), {"find": {"numerator": 9, "denominator": 1, "tokens": 3}}, "state.find"),
        (("state",), {"find": {"numerator": 0, "denominator": 1, "shapes": [[3, 1]]}}, "state.find.numerator"),
        (("state",), {"find": {"numerator": 9, "denominator": 1, "shapes": [[3, 2]]}}, "parameters.B"),
        (("parameters", "B"), [["1", "0"]], "parameters.B[0]"),
        (("parameters", "step"), "3/(t+2)", "parameters.step"),
        (("paper",), {}, "paper"),
        (("quote",), 7, "quote"),
        (("schema",), "verifier/problem/2", "schema"),
    ],
)
def test_wrong_shapes_name_their_place(path: tuple[str, ...], value: Any, where: str) -> None:
    document = problem([["4"], ["-1"]])
    at = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(BadInput) as caught:
        parse_problem(document)
    assert caught.value.where == (f"problem: {where}" if where else "problem")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["1", "-7/3", "energy-bound"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(problem([["1"]]))), inner, max_size=6)
    ),
    max_leaves=20,
)


@given(JSON)
@settings(max_examples=200, deadline=None)
def test_any_document_is_a_problem_or_a_complaint(document: Any) -> None:
    try:
        parse_problem(document)
    except VerifierError as error:
        assert error.sentence  # noqa: PT017  # most documents raise, some do not


SMALL = st.integers(-6, 6)
SYMMETRIC = st.integers(1, 4).flatmap(
    lambda n: st.lists(SMALL, min_size=n * n, max_size=n * n).map(
        lambda e: tuple(tuple(Fraction(e[min(i, j) * n + max(i, j)]) for j in range(n)) for i in range(n))
    )
)


def minors_say_semidefinite(S: tuple[tuple[Fraction, ...], ...]) -> bool:
    """All principal minors, by cofactors."""
    n = len(S)
    subsets = ([i for i in range(n) if bits >> i & 1] for bits in range(1, 1 << n))
    return all(determinant([[S[i][j] for j in some] for i in some]) >= 0 for some in subsets)


@given(SYMMETRIC)
@settings(max_examples=300, deadline=None)
def test_definiteness_against_all_principal_minors(S: tuple[tuple[Fraction, ...], ...]) -> None:
    rows = [list(row) for row in S]
    leading = all(determinant([row[:k] for row in rows[:k]]) > 0 for k in range(1, len(S) + 1))
    assert is_positive(S) == leading
    assert is_semidefinite(S) == minors_say_semidefinite(S)
    direction = negative_direction(S)
    assert (direction is None) == is_semidefinite(S)
    if direction is not None:
        assert quadratic(S, direction) < 0


@pytest.mark.parametrize("seed", range(8))
def test_semidefinite_matrices_of_any_rank(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311  # reproducible, not secret
    n, r = 5, seed % 5 + 1
    A = [[rng.randint(-3, 3) for _ in range(n)] for _ in range(r)]
    S = tuple(tuple(Fraction(sum(a[i] * a[j] for a in A)) for j in range(n)) for i in range(n))
    assert is_semidefinite(S)
    assert is_definite(as_integers(S)[0], strict=True) == (np.linalg.matrix_rank(np.array(A)) == n)
    largest = largest_eigenvalue(S)
    assert float(largest.high) == pytest.approx(np.linalg.eigvalsh(np.array(S, dtype=float)).max())
    rows = [list(row) for row in S]
    assert not exceeds_largest_eigenvalue(largest.low, rows)
    assert largest.exact or exceeds_largest_eigenvalue(largest.high, rows)


def test_a_rational_eigenvalue_is_found_exactly() -> None:
    B = ((Fraction(2), Fraction(1)), (Fraction(1), Fraction(2)))
    largest = largest_eigenvalue(B)
    assert largest.exact
    assert largest.high == 3
    assert not largest.below(Fraction(3))
    golden = largest_eigenvalue(((Fraction(1), Fraction(1)), (Fraction(1), Fraction(0))), bits=20)
    assert not golden.exact
    assert golden.below(Fraction(1618034, 10**6))
    assert not golden.below(Fraction(1618033, 10**6))


@given(st.fractions(0, 5, max_denominator=40), st.fractions(0, 1, max_denominator=40))
def test_simplest_fraction_between(low: Fraction, width: Fraction) -> None:
    found = simplest_between(low, low + width)
    assert low <= found <= low + width
    for denominator in range(1, found.denominator):
        above = -(-low.numerator * denominator // low.denominator)
        assert Fraction(above, denominator) > low + width


POINTS = st.integers(1, 3).flatmap(lambda d: st.lists(st.lists(SMALL, min_size=d, max_size=d), min_size=1, max_size=7))


@given(POINTS)
@settings(max_examples=300, deadline=None)
def test_hull_gives_weights_or_a_separating_vector(points: list[list[int]]) -> None:
    x = [[Fraction(a) for a in point] for point in points]
    hull = origin_in_hull(x)
    assert (hull.weights is None) != (hull.separator is None)
    if hull.weights is not None:
        assert min(hull.weights) >= 0
        assert sum(hull.weights) == 1
        assert all(sum(w * p[k] for w, p in zip(hull.weights, x, strict=True)) == 0 for k in range(len(x[0])))
    else:
        assert hull.separator is not None
        assert all(sum(u * a for u, a in zip(hull.separator, p, strict=True)) > 0 for p in x)


@given(
    st.lists(st.lists(SMALL, min_size=3, max_size=3), min_size=1, max_size=4), st.lists(SMALL, min_size=4, max_size=4)
)
@settings(max_examples=200, deadline=None)
def test_solutions_and_null_space(rows: list[list[int]], right: list[int]) -> None:
    matrix = tuple(tuple(Fraction(a) for a in row) for row in rows)
    b = tuple(Fraction(a) for a in right[: len(rows)])
    x = solve(matrix, b)
    array = np.array(rows, dtype=float)
    solvable = np.linalg.matrix_rank(array) == np.linalg.matrix_rank(np.column_stack([array, right[: len(rows)]]))
    assert (x is not None) == solvable
    if x is not None:
        assert tuple(sum(a * y for a, y in zip(row, x, strict=True)) for row in matrix) == b
    basis = null_space(matrix)
    assert len(basis) == 3 - np.linalg.matrix_rank(array)
    for v in basis:
        assert all(sum(a * y for a, y in zip(row, v, strict=True)) == 0 for row in matrix)
