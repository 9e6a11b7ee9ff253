"""Ties: AMBIGUOUS is a fact about two selections, never a word for what has not been decided."""

from __future__ import annotations

import random
from typing import Any

import pytest

from verifier.exact import Refutation, out_of_time, parse_problem, refute
from verifier.exact.hardmax.selections import depends
from verifier.exact.spoken import refutation_lines
from verifier.model.answers import ExactAnswer

LATE = [["-1", "-2"], ["-1", "0"], ["2", "2"]]  # at γ = 1/2 every selection fails, the last from t = 1,700 on
FAR = [["3", "0"], ["0", "2"], ["3", "-1"], ["-6", "-1"]]  # under 1/(t+2) one selection fails at 128, one at 48,512
RULES = ("lowest-index", "highest-index")


def problem(tokens: list[list[str]], step: str = "2/(t+2)", **fields: Any) -> dict[str, Any]:
    size = len(tokens[0])
    return {
        "schema": "verifier/problem/1",
        "system": "hardmax-frank-wolfe",
        "parameters": {"B": [[str(int(i == j)) for j in range(size)] for i in range(size)], "step": step},
        "state": {"tokens": tokens},
        "claim": "energy-bound-any-step",
        "ties": "any-selection",
        **fields,
    }


def answer(document: dict[str, Any], **limits: Any) -> Refutation:
    return refute(parse_problem(document), **{"horizon": 10_000, **limits})


@pytest.mark.parametrize(("tokens", "step", "open_from"), [(LATE, "1/2", 3), (FAR, "1/(t+2)", 3)])
def test_selections_still_open_do_not_make_the_answer_ambiguous(
    tokens: list[list[str]], step: str, open_from: int
) -> None:
    document = problem(tokens, step)
    found = answer(document, horizon=3)
    assert found.answer is ExactAnswer.VERIFIED_TO_HORIZON
    assert (found.horizon.t, found.horizon.stopped_by, found.horizon.partly) == (open_from - 1, "horizon", True)
    assert found.sentence.startswith("Decided for some selections only: ")
    assert f"from t = {open_from} on" in found.sentence
    assert "break the bound, first at t = " in found.sentence
    lines = list(refutation_lines(parse_problem(document), found, None))
    assert not any("holds up to" in line for line in (*lines, found.sentence))
    for rule in RULES:  # what is said of a rule is what the rule alone gives
        alone = answer({**document, "ties": rule}, horizon=3)
        first = alone.first_violation.t if alone.first_violation else None
        assert found.ties.answers[rule] == (alone.answer, first)
    assert answer(document, horizon=50_000).answer is ExactAnswer.VIOLATED_FOR_ALL


def test_a_time_limit_that_leaves_selections_open_says_so() -> None:
    found = answer(problem(FAR, "1/(t+2)"), time_limit=0.0)
    assert found.answer is ExactAnswer.VERIFIED_TO_HORIZON
    assert found.horizon.stopped_by == "time limit"
    assert out_of_time(found)


def test_ambiguous_stays_where_longer_runs_look_and_open_never_hides_it() -> None:
    """Tie-rich random starts, cut off early: what is said then is borne out by a run a hundred times as long."""
    rng = random.Random(20260211)  # noqa: S311  # reproducible, not secret
    seen: dict[str, int] = {"ambiguous": 0, "partly": 0}
    for _ in range(60):
        tokens = [[str(rng.randint(-2, 2)) for _ in range(2)] for _ in range(3)]
        document = problem(tokens, rng.choice(["1/2", "2/(t+2)", "1/(t+2)"]))
        early, late = answer(document, horizon=4), answer(document, horizon=400)
        if early.answer is ExactAnswer.AMBIGUOUS:
            seen["ambiguous"] += 1
            # a longer run may meet more selections than it follows, and then not come to those that differ
            assert late.answer is ExactAnswer.AMBIGUOUS or (late.horizon is not None and late.horizon.partly)
        if early.horizon is not None and early.horizon.partly:
            seen["partly"] += 1
            assert "The bound holds" not in early.sentence
            assert early.certificate is None
    assert min(seen.values()) > 0, seen


def test_a_genuine_tie_is_ambiguous_at_any_horizon() -> None:
    found = answer(problem([["2"], ["-1"]], claim="energy-bound"), horizon=5)
    assert found.answer is ExactAnswer.AMBIGUOUS
    assert (found.ties.t, found.ties.token) == (2, 1)
    assert found.ties.answers == {
        "lowest-index": (ExactAnswer.VIOLATED_FOR_ALL, 144),
        "highest-index": (ExactAnswer.HOLDS_FOR_ALL, None),
    }


@pytest.mark.parametrize(
    ("tokens", "rules"),
    [
        ([["1", "1"], ["1", "-1"], ["-1", "1"], ["-1", "-1"], *[["0", "0"]] * 3], ExactAnswer.HOLDS_FOR_ALL),
        ([["3", "1"], ["-1", "3"], *[["0", "0"]] * 7, ["-2", "-4"]], ExactAnswer.VIOLATED_FOR_ALL),
    ],
)
def test_more_selections_than_are_followed_is_said_in_its_own_words(
    tokens: list[list[str]], rules: ExactAnswer
) -> None:
    found = answer(problem(tokens), horizon=50)
    assert found.answer is ExactAnswer.VERIFIED_TO_HORIZON
    assert found.sentence.startswith("More than 64 selections would have to be followed. ")
    assert {said for said, _ in found.ties.answers.values()} == {rules}
    assert (found.horizon.t, found.horizon.margin, found.horizon.stopped_by) == (-1, None, "number of selections")
    assert not out_of_time(found)


def test_too_many_selections_are_ambiguous_where_the_rules_differ() -> None:
    found = answer(problem([["4"], ["-2"], *[["0"]] * 6]), horizon=50)
    assert found.answer is ExactAnswer.AMBIGUOUS


def test_only_decided_answers_differ() -> None:
    violated, for_all, holds, open_, outside = (
        ExactAnswer.VIOLATED,
        ExactAnswer.VIOLATED_FOR_ALL,
        ExactAnswer.HOLDS_FOR_ALL,
        ExactAnswer.VERIFIED_TO_HORIZON,
        ExactAnswer.UNSUPPORTED_HYPOTHESIS,
    )
    assert depends((for_all, holds))
    assert depends((outside, holds, open_))
    assert not depends((violated, for_all, open_))
    assert not depends((holds, open_))
    assert not depends((outside, open_))
