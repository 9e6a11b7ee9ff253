"""What `refute` prints: the start, both sides at the first violation, and what is only a bound."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pytest

from tests.oracles.configurations import problem
from verifier.exact import Failure, parse_problem, read_problem, refutation_document, refute
from verifier.exact.numerals import decimal, number
from verifier.exact.spoken import refutation_lines, sides_line

PROBLEMS = Path(__file__).parents[2] / "problems"
GOLDEN = [["2", "1"], ["1", "1"]]
"""Its largest eigenvalue is (3 + √5)/2."""


def lines(document: dict) -> list[str]:
    given = parse_problem(document)
    return list(refutation_lines(given, refute(given), None))


@pytest.mark.parametrize(("B", "rhs_is"), [(GOLDEN, "bound"), ([["1", "0"], ["0", "1"]], "exact")])
def test_an_irrational_right_side_is_called_a_bound(B: list[list[str]], rhs_is: str) -> None:
    document = problem([["4", "0"], ["-1", "0"]])
    document["parameters"]["B"] = B
    found = refute(parse_problem(document))
    first = found.first_violation
    assert first is not None
    said = refutation_document(found, certificate=None, floats=None)
    assert said["rhs_is"] == rhs_is
    assert set(said["first_violation"]) == {"t", "component", "lhs", "rhs"}
    (line,) = (line for line in lines(document) if "first violation" in line)
    assert ("right side at most" in line) == (rhs_is == "bound")
    if rhs_is == "bound":  # above the paper's own right side, 2/(t+1) · λ · 25, and not by much
        with localcontext() as context:
            context.prec = 60
            true = Decimal(50) / (first.t + 1) * (3 + Decimal(5).sqrt()) / 2
            over = Decimal(first.rhs.numerator) / first.rhs.denominator - true
        assert 0 < over < Decimal("1e-9")


def test_the_start_the_weights_and_both_sides_are_shown() -> None:
    said = "\n".join(lines(problem([["4"], ["-1"]])))
    for words in (
        "start: 2 tokens of dimension 1: (4), (-1)",
        "weights = (1/5, 4/5)",
        "at t = 224, component 0: left side 11498881/51714450 = 0.222353346115…, right side 2/9 = 0.222222222222…",
        "fails from: t = 224; by component: 224, 225",
    ):
        assert words in said, said


def test_the_start_of_a_map_is_shown_and_the_witness_of_a_matrix_has_a_name() -> None:
    powell, squares = (read_problem(PROBLEMS / f"{name}.json") for name in ("powell", "squares-of-ordered-matrices"))
    assert "  start: z = (-101/100, 201/200, -401/400)" in list(refutation_lines(powell, refute(powell), None))
    said = list(refutation_lines(squares, refute(squares), None))
    assert "  note: witness vector x: -3/4, 1" in said
    assert not any(line.startswith("  note: x") for line in said)


def test_long_starts_are_their_size_alone() -> None:
    some = [[str(7**40 + i), str(-(9**30))] for i in range(5)]
    said = lines(problem([*some, [str(-sum(int(x[0]) for x in some)), str(5 * 9**30)]]))
    assert "  start: 6 tokens of dimension 2" in said


@pytest.mark.parametrize(
    ("x", "text"),
    [
        ("2/9", "2/9 = 0.222222222222…"),
        ("-1/4", "-1/4 = -0.25"),
        ("7", "7"),
        ("0", "0"),
        ("1/3000000000", "1/3000000000 = 3.33333333333e-10…"),
        (f"{10**50 + 1}/3", "3.33333333333e+49…"),
        ("2999999999999/1000000000000", "2999999999999/1000000000000 = 2.99999999999…"),
    ],
)
def test_numbers_are_cut_and_never_rounded(x: str, text: str) -> None:
    assert number(Fraction(x)) == text


def test_numbers_of_thousands_of_digits_have_a_decimal() -> None:
    assert decimal(Fraction(2 * 10**6000, 3 * 10**6000 + 1)) == "0.666666666666…"
    assert number(Fraction(1, 7**6000)).endswith("…")


def test_sides_that_look_alike_are_followed_by_their_difference() -> None:
    near = Failure(5, 0, Fraction(1, 3) + Fraction(1, 10**20), Fraction(1, 3))
    assert sides_line(near).endswith("left - right 1/100000000000000000000 = 1e-20")
    assert "left - right" not in sides_line(Failure(5, 0, Fraction(1, 2), Fraction(1, 3)))
    bounded = Failure(5, 0, Fraction(1, 3) + Fraction(1, 10**20), Fraction(1, 3), "bound")
    assert "left - right at least 1/1" in sides_line(bounded)
