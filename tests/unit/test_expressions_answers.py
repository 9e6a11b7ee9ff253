"""Answers about one assignment: hypotheses first, domains, precision, floats, and assignments left to be found."""

from __future__ import annotations

import copy
import itertools
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from tests.unit.test_expressions_parser import VALUES
from tests.unit.test_expressions_values import document
from verifier.exact import Refutation, float_report, parse_problem, refute
from verifier.exact.definite import is_semidefinite
from verifier.exact.expressions.candidates import batches, strategy
from verifier.model.answers import ExactAnswer


def answer(conclusion: str, *hypotheses: str, **values: Any) -> Refutation:
    return refute(parse_problem(document(conclusion, VALUES | values, hypotheses)))


def test_a_false_forall_names_its_first_indices_and_both_sides() -> None:
    found = answer("x < 0", "forall(i in 0..2: v[i] <= 2)", "0 < x")
    assert found.answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS
    first, second = found.hypotheses
    assert not first.holds
    assert first.witness == {"at": {"i": 2}, "left": "3", "relation": "<=", "right": "2"}
    assert second.holds
    assert found.certificate is None
    assert "v[i] <= 2" in found.sentence


@pytest.mark.parametrize("matrix", [[["1", "2"], ["2", "1"]], [["0", "1"], ["1", "5"]], [["-1", "0"], ["0", "1"]]])
def test_an_indefinite_matrix_comes_with_a_vector(matrix: list[list[str]]) -> None:
    found = answer("x < 0", "psd(A)", A=matrix)
    witness = found.hypotheses[0].witness
    x = [Fraction(entry) for entry in witness["x"]]
    value = sum(x[i] * Fraction(matrix[i][j]) * x[j] for i in range(2) for j in range(2))
    assert value == Fraction(witness["value"]) < 0


def test_a_matrix_that_is_not_symmetric_comes_with_the_entries() -> None:
    found = answer("x < 0", "psd(i, j in 1..2: i + 2*j)")
    assert found.hypotheses[0].witness == {"entries": [2, 1], "values": ["4", "5"]}


@pytest.mark.parametrize(
    ("formula", "why"),
    [
        ("0 < 1/(x - 2)", "a division by zero"),
        ("0 < sqrt(y)", "sqrt of a negative number"),
        ("0 < log(y)", "log of a number that is not positive"),
        ("0 < log(x - 2)", "log of a number that is not positive"),
        ("0 < v[3]", "the entry 3 of v"),
        ("0 < v[x/4]", "not an integer"),
        ("0 < sum(i in 0..1/2: 1)", "not an integer"),
        ("psd(i, j in 1..0: 1)", "an empty matrix"),
        ("0 < 1/sqrt(x - 2)", "a division by zero"),
    ],
)
def test_outside_a_domain_nothing_is_claimed(formula: str, why: str) -> None:
    for found in (answer("x < 0", formula), answer(formula, "0 < x")):
        assert found.answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS
        assert why in found.sentence
        assert not found.hypotheses[-1].holds


def test_a_false_instance_counts_although_a_later_one_has_no_value() -> None:
    assert answer("forall(i in 0..3: v[i] < 1)").answer is ExactAnswer.VIOLATED
    assert answer("forall(i in 0..3: v[3 - i] < 1)").answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS


def test_holding_here_is_not_holding_everywhere() -> None:
    found = answer("x <= 2", "0 < x")
    assert found.answer is ExactAnswer.HOLDS_FOR_ALL
    assert "Of other assignments this says nothing" in found.sentence


def test_no_precision_separates_equal_sides() -> None:
    found = answer("sqrt(2)*sqrt(3) < sqrt(6)")
    assert found.answer is ExactAnswer.AMBIGUOUS
    assert "the sides agree to 4,000 bits and may be equal; not decided" in found.sentence
    unmet = answer("x < 0", "sqrt(2)*sqrt(3) <= sqrt(6)")
    assert unmet.answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS


@pytest.mark.parametrize(
    ("formula", "gap"),
    [
        ("x + (1/10)^20 <= x", "1/100000000000000000000"),
        ("x <= x - 1/7^60", "1.96841923012e-51..."),
        ("x + (1/10)^20 != x + (1/10)^20", "0"),
    ],
)
def test_rational_sides_that_are_close_come_with_their_difference(formula: str, gap: str) -> None:
    found = answer(formula)
    assert f"is false, left - right = {gap}" in found.sentence
    assert found.notes[-1] == f"left - right = {gap}"


def test_enclosed_sides_that_are_close_come_with_an_enclosed_difference() -> None:
    (said,) = re.findall(r"left - right = \[(\S+) \+/- (\S+)\]", answer("sqrt(2) + 1/10^30 <= sqrt(2)").sentence)
    middle, radius = map(Fraction, said)
    assert abs(middle - Fraction(1, 10**30)) <= radius < Fraction(1, 10**36)


@pytest.mark.parametrize("formula", ["x <= 1", "sqrt(x) <= 1", "x != 2", "x < 1999999/1000000"])
def test_other_sides_stand_alone(formula: str) -> None:
    found = answer(formula)
    assert found.answer is ExactAnswer.VIOLATED
    assert "left - right" not in " ".join([found.sentence, *found.notes])


@pytest.mark.parametrize("gap", [2, 12, 30, 70, 150, 290])
def test_the_certificate_has_the_smallest_precision_that_leaves_the_margin(gap: int) -> None:
    found = answer(f"sqrt(2) + (1/10)^{min(gap, 50)}*{'/'.join(['1'] + ['10'] * max(0, gap - 50))} <= sqrt(2)")
    assert found.certificate is not None
    p = found.certificate["precision"]
    needed = Fraction(10) ** -gap
    assert needed > Fraction(2) ** (16 - p) * 3
    smaller = [q for q in (64, 128, 256, 512, 1_000) if q < p]
    assert all(needed < Fraction(2) ** (16 - q) * 4 for q in smaller)


def test_sides_that_touch_are_certified_where_every_checker_must_see_it() -> None:
    found = answer("x < 0", "sqrt(4) <= x")
    assert found.certificate is not None
    assert found.certificate["precision"] == 64


def test_a_gap_below_every_precision_is_found_and_not_certified() -> None:
    found = answer("0 < -exp(0 - 990)")
    assert found.answer is ExactAnswer.VIOLATED
    assert found.certificate is None
    assert "too close" in found.no_certificate


def test_the_kind_is_witness_without_roots_even_in_hypotheses() -> None:
    plain, real = answer("x < 0", "0 < x"), answer("x < 0", "0 < sqrt(x)")
    assert plain.certificate is not None
    assert real.certificate is not None
    assert (plain.certificate["kind"], real.certificate["kind"]) == ("witness", "ball")


def test_a_time_limit_leaves_it_open() -> None:
    long = "0 < sum(i in 1..300, j in 1..100: i*j)"
    found = refute(parse_problem(document(long, VALUES)), time_limit=0.0)
    assert found.horizon is not None
    assert found.horizon.stopped_by == "time limit"
    assert found.certificate is None


@pytest.mark.parametrize(
    ("conclusion", "values", "classes"),
    [
        ("x < 0", {}, ["agree", "agree"]),
        ("x + y != x", {"x": "10000000000000000", "y": "1"}, ["different answer"] * 2),
        ("sum(i in 0..9: x) != 1", {"x": "1/10"}, ["different answer", "agree"]),
        ("forall(i in 0..2: v[i]*3 != 3)", {"v": ["1/3", "1", "1"]}, ["agree", "agree"]),
        ("forall(i in 0..2: v[i] + x != x)", {"x": "10000000000000000", "v": ["1", "0", "0"]}, ["different step"] * 2),
    ],
)
def test_float64_is_classed(conclusion: str, values: dict[str, Any], classes: list[str]) -> None:
    problem = parse_problem(document(conclusion, VALUES | values))
    report = float_report(problem, refute(problem))
    assert report is not None
    assert [form["class"] for form in report["forms"]] == classes
    for form in report["forms"]:
        assert (form["first_predicate"] is None) == (form["class"] == "agree")


def test_a_false_hypothesis_in_float64_is_a_different_answer() -> None:
    problem = parse_problem(document("x < 0", VALUES | {"x": "1/10"}, ("sum(i in 0..9: x) = 1",)))
    report = float_report(problem, refute(problem))
    assert report is not None
    form = report["forms"][0]
    assert form["answer"] == "UNSUPPORTED_HYPOTHESIS"
    assert form["first_predicate"]["gap"] == 0.0
    assert 0.0 < abs(form["first_predicate"]["error"]) <= form["first_predicate"]["error_bound"]


@given(st.data())
@settings(max_examples=60)
def test_the_error_bound_bounds_the_error(data: st.DataObject) -> None:
    def number() -> str:
        return str(data.draw(st.fractions(min_value=-3, max_value=3, max_denominator=99)))

    body = data.draw(st.sampled_from([
        "x*y - v[0]*v[1]/(1 + x^2)", "sqrt(abs(x) + v[2]^2)*exp(y)", "log(1 + x^4)/(2 + y^2)",
        "sum(i in 0..2: v[i]*x)^3",
    ]))  # fmt: skip
    values = VALUES | {"x": number(), "y": number(), "v": [number() for _ in range(3)]}
    same = body.replace("x*y", "y*x").replace("v[i]*x", "x*v[i]")
    problem = parse_problem(
        document(f"{body} + 1/3 < {same}", values)
    )  # false by 1/3: float64 sees it or is off by that
    report = float_report(problem, refute(problem))
    assert report is not None
    for form in report["forms"]:
        assert form["class"] == "agree"
    touching = parse_problem(
        document(f"0 < ({body})*10000000000000001 - ({same})*10000000000000000 - ({body})", values)
    )
    found = refute(touching)
    for form in (float_report(touching, found) or {})["forms"]:
        parted = form["first_predicate"]
        if parted is not None and parted["error_bound"] is not None:
            assert abs(parted["error"]) <= parted["error_bound"]
            assert abs(parted["gap"]) <= parted["error_bound"]
            assert parted["float64_can_tell"] is False


OPEN = document(
    "psd(i, j in 0..1: sum(k in 0..1: A[i,k]*B[k,j] + B[i,k]*A[k,j]))", {}, ("psd(A)", "psd(B)", "0 <= w[0]")
) | {"state": {"find": {"numerator": 7, "denominator": 4}}}
OPEN["parameters"]["variables"] = {
    "A": {"matrix": [2, 2]}, "B": {"matrix": [2, 2]}, "w": {"vector": 4}, "s": "rational", "C": {"matrix": [2, 3]},
}  # fmt: skip


def numbers(value: Any) -> list[Fraction]:
    return [x for entry in value for x in numbers(entry)] if isinstance(value, list) else [Fraction(value)]


def check_state(state: dict[str, Any]) -> None:
    problem = parse_problem({**OPEN, "state": state})
    assert refute(problem).hypotheses[0].holds
    for entry in state["assignment"].values():
        assert all(abs(x.numerator) <= 7 and x.denominator <= 4 for x in numbers(entry))
    for name in ("A", "B"):
        assert is_semidefinite(tuple(tuple(Fraction(x) for x in row) for row in state["assignment"][name]))


def test_batches_stay_within_the_bounds_and_repeat() -> None:
    states = list(itertools.islice(batches(OPEN, 3), 200))
    for state in states:
        check_state(state)
    assert states == list(itertools.islice(batches(OPEN, 3), 200))
    assert states != list(itertools.islice(batches(OPEN, 4), 200))
    assert len({str(state) for state in states}) > 190


DRAWN = """
import hypothesis
{imported}
from verifier.exact.expressions.candidates import strategy
seen = []
@hypothesis.seed(1)
@hypothesis.settings(max_examples=60, database=None, derandomize=False, phases=[hypothesis.Phase.generate])
@hypothesis.given(strategy({problem!r}))
def test(state): seen.append(state)
test()
print(seen)
"""


def test_draws_do_not_depend_on_what_is_loaded(tmp_path: Path) -> None:
    """Hypothesis mixes constants of local modules into whole numbers that it draws itself."""
    problem = copy.deepcopy(OPEN)
    problem["state"]["find"] = {"numerator": 1_000, "denominator": 1_000}
    (tmp_path / "constants.py").write_text(f"SOME = {list(range(300, 800))}\n")

    def drawn(imported: str) -> str:
        script = DRAWN.format(imported=imported, problem=problem)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])}
        command = [sys.executable, "-W", "ignore", "-c", script]
        run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return run.stdout

    said = drawn("")
    assert len(said) > 1_000
    assert said == drawn("import constants")


@given(strategy(OPEN))
@settings(max_examples=50)
def test_drawn_states_stay_within_the_bounds(state: dict[str, Any]) -> None:
    check_state(state)


@pytest.mark.slow
def test_a_counterexample_is_drawn_and_made_small() -> None:
    problem = document("0 <= A[0,1]*x + y", {}, ("psd(A)", "1 <= y")) | {"state": OPEN["state"]}
    problem["parameters"]["variables"] = {"A": {"matrix": [2, 2]}, "x": "rational", "y": "rational"}

    def violated(state: dict[str, Any]) -> bool:
        return refute(parse_problem({**problem, "state": state})).answer is ExactAnswer.VIOLATED

    state = find(strategy(problem), violated, settings=settings(derandomize=True, database=None, max_examples=200))
    assert max(abs(x) for x in numbers(list(state["assignment"].values()))) <= 4  # 7 are allowed


def test_symmetric_matrices_where_a_hypothesis_asks_for_them() -> None:
    problem = document("0 <= A[0,0]", {}, ("forall(i in 0..1, j in 0..1: A[i,j] = A[j,i])",)) | {
        "state": {"find": {"numerator": 9, "denominator": 2}}
    }
    for state in itertools.islice(batches(problem, 0), 50):
        assert state["assignment"]["A"][0][1] == state["assignment"]["A"][1][0]
