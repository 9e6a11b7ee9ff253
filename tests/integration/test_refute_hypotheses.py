"""Starts outside the hypotheses, and exact ties, through the command line: a witness each, no certificate stands."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Verifier
from tests.oracles.configurations import problem
from tests.oracles.hardmax import Brute, dot, times

Document = dict[str, Any]
ON_THE_AXIS = [["4", "0"], ["-1", "0"]]
ANY_STEP = "energy-bound-any-step"


def hand_built(document: Document, *, weights: list[str], lambda_bound: str) -> Document:
    """A violation certificate made by stepping alone; nothing about it is wrong but what is wrong with the start."""
    brute = Brute(document)
    x, t = brute.start, brute.t0
    runs: list[Document] = []
    while True:
        (targets,) = brute.admitted(t, x)
        if runs and runs[-1]["targets"] == list(targets):
            runs[-1]["steps"] += 1
        else:
            runs.append({"steps": 1, "targets": list(targets)})
        x = brute.move(t, x, targets)
        if failing := brute.failing(t, x):
            break
        t += 1
    i = min(failing)
    lhs = dot(times(brute.matrix(t), x[i]), x[i]) / 2
    rhs = 2 * Fraction(lambda_bound) * brute.D2 / (t + 1)
    return {
        "schema": "verifier/certificate/1",
        "kind": "violation",
        "problem": document,
        "weights": weights,
        "lambda_bound": lambda_bound,
        "branches": [{"selections": runs, "t": t, "component": i, "lhs": str(lhs), "rhs": str(rhs)}],
    }


def refuted(verifier: Verifier, document: Document) -> Document:
    Path("problem.json").write_text(json.dumps(document))
    said = verifier("refute", "problem.json", "--json", "--out", "found.json")
    assert said.code == 0
    return said.document


def outside(verifier: Verifier, document: Document) -> list[Document]:
    """The hypotheses that fail, where `refute` answers UNSUPPORTED_HYPOTHESIS and writes nothing."""
    said = refuted(verifier, document)
    assert said["answer"] == "UNSUPPORTED_HYPOTHESIS"
    assert said["certificate"] is said["first_violation"] is said["fails_from"] is None
    assert said["no_certificate"]
    assert not Path("found.json").exists()
    return [hypothesis for hypothesis in said["hypotheses"] if not hypothesis["holds"]]


def checked(verifier: Verifier, certificate: Document) -> tuple[int, str]:
    """The exit code of `check` and the checker's last line."""
    Path("built.json").write_text(json.dumps(certificate))
    said = verifier("check", "built.json", "--json")
    return said.code, said.document["quoted"]["lines"][-1]


def rejected(verifier: Verifier, certificate: Document) -> bool:
    code, line = checked(verifier, certificate)
    return code == 10 and line.startswith("REJECTED: hypothesis:")


@pytest.mark.parametrize("document", [problem([["4"], ["-1"]]), problem(ON_THE_AXIS)])
def test_a_hand_built_certificate_inside_the_hypotheses_is_accepted(verifier: Verifier, document: Document) -> None:
    code, line = checked(verifier, hand_built(document, weights=["1/5", "4/5"], lambda_bound="1"))
    assert code == 0
    assert line.startswith("ACCEPTED: the inequality above fails at t = 224.")


@pytest.mark.parametrize(
    "tokens",
    [
        [["4"], ["1"]],
        [["-4"], ["-1/2"]],
        [["1", "0"], ["0", "1"], ["3", "1"]],
        [["1", "2", "0"], ["-2", "3", "0"], ["0", "5", "1"], ["0", "4", "-3"]],
    ],
)
def test_the_origin_outside_the_hull(verifier: Verifier, tokens: list[list[str]]) -> None:
    document = problem(tokens)
    (failed,) = outside(verifier, document)
    u = [Fraction(a) for a in failed["witness"]["u"]]
    assert all(dot(u, [Fraction(a) for a in x]) > 0 for x in tokens)
    n = len(tokens)
    for weights in (["1", *["0"] * (n - 1)], [str(Fraction(1, n))] * n):
        assert rejected(verifier, hand_built(document, weights=weights, lambda_bound="1"))


@pytest.mark.parametrize(
    ("B", "bound"),
    [([["1", "0"], ["0", "-1"]], "1"), ([["1", "0"], ["0", "-1/100"]], "1"), ([["1", "2"], ["2", "1"]], "3")],
)
def test_a_matrix_with_a_negative_direction(verifier: Verifier, B: list[list[str]], bound: str) -> None:
    document = problem(ON_THE_AXIS, B=B)
    (failed,) = outside(verifier, document)
    assert failed["name"] == "B is positive semidefinite"
    x = [Fraction(a) for a in failed["witness"]["x"]]
    value = dot(x, times([[Fraction(a) for a in row] for row in B], x))
    assert value == Fraction(failed["witness"]["value"]) < 0
    assert rejected(verifier, hand_built(document, weights=["1/5", "4/5"], lambda_bound=bound))


def test_a_matrix_that_is_not_symmetric(verifier: Verifier) -> None:
    B = [["1", "1"], ["0", "1"]]
    document = problem(ON_THE_AXIS, B=B)
    (failed,) = outside(verifier, document)
    i, j = failed["witness"]["entries"]
    assert failed["witness"]["values"] == [B[i][j], B[j][i]]
    assert B[i][j] != B[j][i]
    assert rejected(verifier, hand_built(document, weights=["1/5", "4/5"], lambda_bound="1"))


@pytest.mark.parametrize(
    ("B", "bound", "k"),
    [
        ([[["1"]], [["2"]]], "1", 0),
        ([[["3"]], [["1"]], [["1001/1000"]]], "3", 1),
    ],
)
def test_a_list_of_matrices_that_increases(verifier: Verifier, B: list[Any], bound: str, k: int) -> None:
    document = problem([["4"], ["-1"]], B=B)
    (failed,) = outside(verifier, document)
    assert failed["name"] == f"B[{k}] - B[{k + 1}] is positive semidefinite"
    (x,) = [Fraction(a) for a in failed["witness"]["x"]]
    assert x * x * (Fraction(B[k][0][0]) - Fraction(B[k + 1][0][0])) == Fraction(failed["witness"]["value"]) < 0
    assert rejected(verifier, hand_built(document, weights=["1/5", "4/5"], lambda_bound=bound))


@pytest.mark.parametrize("step", ["3/2", "0", "-1/2", "1000001/1000000"])
def test_a_step_outside_its_range(verifier: Verifier, step: str) -> None:
    document = problem([["4"], ["-1"]], step=step, claim=ANY_STEP)
    (failed,) = outside(verifier, document)
    assert not 0 < Fraction(failed["witness"]["step"]) <= 1
    assert rejected(verifier, hand_built(document, weights=["1/5", "4/5"], lambda_bound="1"))


@pytest.mark.parametrize("step", ["2/(t+1)", "1/(t+2)", "1/2"])
def test_the_theorem_with_another_step(verifier: Verifier, step: str) -> None:
    document = problem([["4"], ["-1"]], step=step)
    (failed,) = outside(verifier, document)
    assert failed["witness"]["step"] == step != "2/(t+2)"
    certificate = hand_built(document, weights=["1/5", "4/5"], lambda_bound="1")
    assert rejected(verifier, certificate)
    # the same inequality without that hypothesis is another claim, and there the certificate stands
    certificate["problem"]["claim"] = ANY_STEP
    assert checked(verifier, certificate)[0] == 0


HALVES = [("4", "-2"), ("1/5", "-1/10"), ("74", "-37")]


@pytest.mark.parametrize(("p", "q"), HALVES)
@pytest.mark.slow
def test_twice_the_other_is_a_tie(verifier: Verifier, p: str, q: str) -> None:
    for tokens, violated, token in (([[p], [q]], "lowest-index", 1), ([[q], [p]], "highest-index", 0)):
        said = refuted(verifier, problem(tokens))
        assert said["answer"] == "AMBIGUOUS"
        assert said["certificate"] is None
        ties = said["ties"]
        assert (ties["t"], ties["token"], ties["classes"]) == (2, token, [0, 1])
        for rule in ("lowest-index", "highest-index"):
            fails = rule == violated
            expected = {"answer": "VIOLATED_FOR_ALL", "t": 144} if fails else {"answer": "HOLDS_FOR_ALL", "t": None}
            assert ties["answers"][rule] == expected
            alone = refuted(verifier, problem(tokens, ties=rule))
            assert alone["answer"] == expected["answer"]
            if fails:
                assert alone["first_violation"]["t"] == alone["fails_from"] == 144
                assert verifier("check", "found.json").code == 0
                Path("found.json").unlink()
            else:
                assert alone["first_violation"] is None
