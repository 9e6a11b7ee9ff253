"""Every known counterexample is run: it fails, and at the step that its entry names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from verifier.exact import parse_problem, refute
from verifier.exact.known import KNOWN_STEPS, Known, explicit_steps, known_counterexamples, would_catch
from verifier.exact.systems import systems
from verifier.model.answers import ExactAnswer

PROBLEMS = Path(__file__).parents[2] / "problems"
NAMES = ("hardmax-frank-wolfe", *systems())
ALL = [known for name in NAMES for known in known_counterexamples(name)]


@pytest.mark.parametrize("known", ALL, ids=lambda known: known.name)
def test_it_fails_and_its_step_is_counted_again(known: Known) -> None:
    found = refute(parse_problem(known.document))
    assert found.answer is ExactAnswer.VIOLATED_FOR_ALL
    if found.first_violation is not None:
        assert found.first_violation.t == known.step
    else:
        assert explicit_steps(found.certificate) == known.step


def test_each_is_a_shipped_problem() -> None:
    keys = ("schema", "system", "parameters", "state", "claim", "ties")
    shipped = [json.loads(path.read_text(encoding="utf-8")) for path in PROBLEMS.glob("*.json")]
    bare = [{key: document[key] for key in keys if key in document} for document in shipped]
    assert len(ALL) >= 7
    for known in ALL:
        assert known.document in bare


def test_a_known_hardmax_start_is_not_seen_one_step_before() -> None:
    (known,) = known_counterexamples("hardmax-frank-wolfe")
    from tests.oracles.hardmax import Brute

    orbit, _ = Brute(known.document).orbit(known.step)
    assert [t for t, failing in orbit if failing] == [known.step]


@pytest.mark.parametrize(
    ("last", "reached"),
    [(223, (False, False, False)), (224, (True, False, False)), (3_800, (True, True, False)), (6_416, (True,) * 3)],
)
def test_what_a_horizon_reaches(last: int, reached: tuple[bool, ...]) -> None:
    entries = would_catch("hardmax-frank-wolfe", last)
    assert tuple(step for _, step, _ in entries) == (224, 3_800, 6_416)
    assert tuple(caught for _, _, caught in entries) == reached


def test_unknown_systems_have_none_and_documents_are_fresh() -> None:
    assert known_counterexamples("linear-iteration") == would_catch("no such system", 10) == ()
    assert set(KNOWN_STEPS) <= set(NAMES)
    known_counterexamples("heavy-ball")[0].document["parameters"]["L"] = "16"
    assert known_counterexamples("heavy-ball")[0].document["parameters"]["L"] == "25"
