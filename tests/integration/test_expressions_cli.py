"""`verifier refute` and `check` on witness claims, as typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Verifier
from tests.unit.test_expressions_checker import SHIPPED
from tests.unit.test_expressions_parser import VALUES
from tests.unit.test_expressions_values import document


def write(folder: Path, problem: dict[str, Any]) -> Path:
    path = folder / "problem.json"
    path.write_text(json.dumps(problem))
    return path


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_claims_go_from_problem_to_accepted_certificate(path: Path, verifier: Verifier) -> None:
    said = verifier("refute", str(path), "--json").document
    assert said["answer"] == "VIOLATED"
    assert all(hypothesis["holds"] for hypothesis in said["hypotheses"])
    assert {form["class"] for form in said["float"]["forms"]} == {"agree"}
    checked = verifier("check", said["certificate"], "--json")
    assert checked.code == 0
    assert checked.document["verdict"] == "ACCEPTED"


def test_an_unmet_hypothesis_is_said_with_its_witness(tmp_path: Path, verifier: Verifier) -> None:
    path = write(tmp_path, document("x < 0", VALUES | {"A": [["1", "2"], ["2", "1"]]}, ("psd(A)",)))
    said = verifier("refute", str(path), "--json")
    assert said.code == 0
    assert said.document["answer"] == "UNSUPPORTED_HYPOTHESIS"
    assert said.document["hypotheses"][0]["witness"] == {"x": ["-2", "1"], "value": "-3"}
    assert said.document["certificate"] is None


def test_a_formula_that_does_not_parse_is_one_sentence(tmp_path: Path, verifier: Verifier) -> None:
    said = verifier("refute", str(write(tmp_path, document("x <= 1 <= y", VALUES))))
    assert said.code == 2
    (line,) = said.err.strip().splitlines()
    assert "parameters.conclusion: character 8 of the formula" in line
    assert "write a <= b and b <= c as two formulas" in line


def test_a_time_limit_ends_without_an_answer(tmp_path: Path, verifier: Verifier) -> None:
    problem = document("0 < sum(i in 1..90000: i)", VALUES)
    said = verifier("refute", str(write(tmp_path, problem)), "--json", "--time-limit", "0.001s")
    assert said.code == 3
    assert said.document["state"] == "partial"


def test_an_open_assignment_is_found_and_certified(tmp_path: Path, verifier: Verifier) -> None:
    problem = document(
        "0 <= sum(i in 0..1, j in 0..1: A[i,j]*v[i]*v[2 - j])", {}, ("psd(A)", "0 <= min(v[0], v[1], v[2])")
    )
    problem["state"] = {"find": {"numerator": 3, "denominator": 2}}
    said = verifier("refute", str(write(tmp_path, problem)), "--json").document
    assert said["answer"] == "VIOLATED"
    assert verifier("check", said["certificate"]).code == 0


def test_expect_decides_the_exit_code(verifier: Verifier) -> None:
    path = str(SHIPPED[0])
    assert verifier("refute", path, "--expect", "VIOLATED").code == 0
    said = verifier("refute", path, "--expect", "HOLDS_FOR_ALL")
    assert said.code == 10
    assert "expected was HOLDS_FOR_ALL" in said.out
    said = verifier("refute", path, "--expect", "HOLDS_FOR_ALL", "--json")
    assert said.code == 10
    assert said.document["expected"] == {"answer": "HOLDS_FOR_ALL", "met": False}
    assert verifier("refute", path, "--expect", "WRONG").code == 2
