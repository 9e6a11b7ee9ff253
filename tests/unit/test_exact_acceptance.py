"""No certificate is handed out that the checker does not accept, and late freezes get one that it does."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from verifier.exact import Refutation, accepted, parse_problem, read_problem, refute
from verifier.exact.checker import check
from verifier.model.answers import ExactAnswer
from verifier.model.errors import InfrastructureFailed

PROBLEMS = Path(__file__).parents[2] / "problems"


@cache
def frozen() -> Refutation:
    return refute(read_problem(PROBLEMS / "frank-wolfe-4-1.json"))


def spoilt(found: Refutation, **fields: Any) -> Refutation:
    assert found.certificate is not None
    return replace(found, certificate={**found.certificate, **fields})


def test_an_accepted_certificate_is_handed_on_as_it_is() -> None:
    checked = accepted(frozen())
    assert checked.found is frozen()
    assert checked.text is not None
    assert json.loads(checked.text) == frozen().certificate
    assert (checked.said, checked.refused) == (check(checked.text.encode()).text, "")


def test_an_answer_without_certificate_is_left_alone() -> None:
    bare = replace(frozen(), certificate=None, no_certificate="none")
    checked = accepted(bare)
    assert (checked.found, checked.text, checked.said, checked.refused) == (bare, None, None, "")


def test_a_proof_for_good_that_is_rejected_leaves_the_violation() -> None:
    checked = accepted(spoilt(frozen(), fails_from=223))
    left = checked.found
    assert (left.answer, left.certificate, left.fails_from) == (ExactAnswer.VIOLATED, None, None)
    assert left.first_violation == frozen().first_violation
    assert left.no_certificate == f"the checker says {checked.refused}: report this file"
    assert checked.refused.startswith("REJECTED: fails-from: ")
    assert checked.text is None


def test_a_rejected_proof_with_no_violation_to_show_is_no_answer() -> None:
    with pytest.raises(InfrastructureFailed, match="the finder says VIOLATED_FOR_ALL, the checker REJECTED"):
        accepted(spoilt(replace(frozen(), first_violation=None), fails_from=223))


def test_a_proof_too_large_for_the_format_stays_an_answer() -> None:
    checked = accepted(spoilt(frozen(), weights=["1/5", f"1/{10**4_100}"]))
    assert checked.found.answer is ExactAnswer.VIOLATED_FOR_ALL
    assert checked.found.certificate is None
    assert "MALFORMED: too-large" in checked.found.no_certificate


def test_a_violation_stays_where_its_certificate_is_rejected() -> None:
    document = {
        "schema": "verifier/problem/1",
        "system": "linear-iteration",
        "parameters": {"M": [["2"]], "c": ["0"]},
        "state": {"z": ["1"]},
        "claim": {"name": "stays-below", "h": ["1"], "g": "5"},
    }
    found = refute(parse_problem(document))
    assert (found.answer, found.certificate is None) == (ExactAnswer.VIOLATED, False)
    left = accepted(spoilt(found, lhs="9")).found
    assert (left.answer, left.certificate) == (ExactAnswer.VIOLATED, None)
    assert left.first_violation == found.first_violation


@pytest.mark.parametrize(
    ("size", "step", "scale", "kept"),
    [
        (2, "1/2", "1/8", "freeze"),
        (3, "1/2", "1/8", "freeze"),
        (3, "2/3", "1", "freeze"),
        (4, "2/3", "1", "separation"),
        (4, "1/3", "1", "separation"),
    ],
)
def test_late_freezes_of_a_constant_step_are_certified_in_every_dimension(
    size: int, step: str, scale: str, kept: str
) -> None:
    """λ_max is irrational, so the checker eliminates in ρI − B, whose pivots are as many times longer as B is wide."""
    B = [[str(2 + i if i == j else 1) for j in range(size)] for i in range(size)]
    flat = [[scale if i == j == 0 else "0" for j in range(size)] for i in range(size)]
    zeros = ["0"] * (size - 1)
    document = {
        "schema": "verifier/problem/1",
        "system": "hardmax-frank-wolfe",
        "parameters": {"B": [B, flat], "step": step},
        "state": {"tokens": [["3/4", *zeros], ["-3", *zeros]]},
        "claim": "energy-bound-any-step",
        "ties": "any-selection",
    }
    found = refute(parse_problem(document))
    assert found.answer is ExactAnswer.VIOLATED_FOR_ALL
    assert found.first_violation is not None
    assert found.first_violation.t > 1_000
    assert found.certificate is not None
    (branch,) = found.certificate["branches"]
    assert kept in branch
    assert found.fails_from == found.certificate["fails_from"]
    assert accepted(found).refused == ""
