"""Finder and checker agree: what one calls violated the other accepts, what it calls anything else is not accepted."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.oracles.expressions import Written, assignment, seeded
from tests.unit.test_expressions_values import document
from verifier.exact import checker, parse_problem, refute
from verifier.model.answers import ExactAnswer
from verifier.model.errors import BadInput

PROBLEMS = Path(__file__).parents[2] / "problems"
SHIPPED = [path for path in sorted(PROBLEMS.glob("*.json")) if json.loads(path.read_text())["system"] == "expressions"]
CODES = {
    ExactAnswer.HOLDS_FOR_ALL: {"inequality", "not-separated"},
    ExactAnswer.AMBIGUOUS: {"not-separated"},
    ExactAnswer.UNSUPPORTED_HYPOTHESIS: {"hypothesis", "domain", "not-separated"},
}


def packed(problem: dict[str, Any], *, real: bool) -> dict[str, Any]:
    """A certificate as somebody would write it who believes that the conclusion fails."""
    head = {"schema": "verifier/certificate/1", "kind": "ball" if real else "witness", "problem": problem}
    return {**head, "precision": 256} if real else head


def verdict(certificate: dict[str, Any], folder: Path) -> str:
    path = folder / "certificate.json"
    path.write_text(json.dumps(certificate))
    result = checker.check_file(str(path))
    return result.word if result.word != "REJECTED" else f"REJECTED: {result.code}"


@pytest.mark.parametrize("real", [False, True], ids=["witness", "ball"])
@pytest.mark.parametrize("seed", range(6))
def test_random_problems(seed: int, real: bool, tmp_path: Path) -> None:  # noqa: FBT001  # pytest passes it by name
    rng = seeded(1_000 * real + seed)
    answers: Counter[str] = Counter()
    for _ in range(60):
        formulas = [Written(rng, real=real).formula(rng.randrange(1, 4))[0] for _ in range(1 + rng.randrange(3))]
        hypotheses = [*formulas[1:], *(["psd(A)"] if rng.randrange(5) == 0 else [])]
        problem = document(formulas[0], assignment(rng), tuple(hypotheses))
        try:
            found = refute(parse_problem(problem))
        except BadInput:
            answers["too large"] += 1
            assert verdict(packed(problem, real=real), tmp_path) != "ACCEPTED", problem
            continue
        answers[found.answer] += 1
        if found.answer is ExactAnswer.VIOLATED:
            if found.certificate is None:  # sides that touch through exp(0) or log(1), which a checker need not know
                assert "too close" in found.no_certificate, problem
                answers["not certified"] += 1
                continue
            assert verdict(found.certificate, tmp_path) == "ACCEPTED", problem
        else:
            inside = packed(problem, real=parse_problem(problem).statement.real)
            word, _, code = verdict(inside, tmp_path).partition(": ")
            assert word == "REJECTED", (problem, found.sentence)
            assert code in CODES[found.answer], (problem, found.sentence)
    assert answers["not certified"] <= real
    assert answers[ExactAnswer.VIOLATED] > 3
    assert answers[ExactAnswer.HOLDS_FOR_ALL] > 3
    assert answers[ExactAnswer.UNSUPPORTED_HYPOTHESIS] > 3


NEAR_THE_BOUND = [
    "sum(i in 1..66600: x*x) < 0",
    "forall(i in 1..39900: i*1 < 39900)",
    "0 < -sum(i in 1..24900: if(0 < i, x^2, 1)*1)",
    "0 < -sum(i in 1..28500: 1 + v[i - i]^2)",
    "sum(i in 1..33300: sqrt(i)*i/1) < 0",
    "sum(i in 1..99, j in 1..99: exp(1/(i + j))) < 0",
    "0 < -sum(i in 1..33300: abs(min(1, -2, x)))",
]


@pytest.mark.slow  # each evaluates some 200,000 nodes twice
@pytest.mark.parametrize("conclusion", NEAR_THE_BOUND)
def test_what_the_finder_still_certifies_is_within_the_checkers_bounds(conclusion: str, tmp_path: Path) -> None:
    values = {"x": "2", "y": "1", "v": ["1", "2", "3"], "A": [["1", "0"], ["0", "1"]]}
    problem = document(conclusion, values)
    found = refute(parse_problem(problem))
    assert found.answer is ExactAnswer.VIOLATED
    assert found.certificate is not None
    assert verdict(found.certificate, tmp_path) == "ACCEPTED"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_problems_are_accepted_by_the_checker_alone(path: Path, tmp_path: Path) -> None:
    found = refute(parse_problem(json.loads(path.read_text())))
    certificate = tmp_path / "certificate.json"
    certificate.write_text(json.dumps(found.certificate))
    command = [sys.executable, "-I", checker.__file__, str(certificate)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stdout
    assert run.stdout.splitlines()[-1].startswith("ACCEPTED: the hypotheses above hold and the conclusion fails")
