"""Exact work in a worker: what finder and checker do not agree on has no answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verifier.exact import acceptance, checker
from verifier.sweeps import exact_work
from verifier.sweeps.code import Code
from verifier.sweeps.jobs import ExactCall, Failure, exact_of
from verifier.sweeps.worker import perform

PROBLEMS = Path(__file__).parents[2] / "problems"
NO_CODE = Code("0" * 64, {})


def call(name: str = "frank-wolfe-4-1.json", horizon: int = 1_000) -> ExactCall:
    return ExactCall("a" * 64, name, (PROBLEMS / name).read_bytes(), horizon, "f" * 64)


def test_a_row_holds_the_finding_the_certificate_and_what_the_checker_said() -> None:
    row = perform(NO_CODE, call())
    assert not isinstance(row, Failure)
    assert all(isinstance(value, str) for value in row.values())
    found = exact_of(row)
    assert found.document["fails_from_by_component"] == [224, 225]
    assert found.certificate is not None
    assert json.loads(found.certificate)["kind"] == "for-all"
    assert found.checked == checker.check(found.certificate.encode()).text


def test_a_certificate_that_the_checker_rejects_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    rejected = checker.Result("REJECTED", "first", "the inequality holds at t = 224", [])
    monkeypatch.setattr(acceptance, "check", lambda _: rejected)
    failure = perform(NO_CODE, call())
    assert isinstance(failure, Failure)
    assert "the finder says VIOLATED_FOR_ALL, the checker REJECTED: first" in failure.what


def test_a_finder_that_breaks_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: Any, **__: Any) -> None:
        raise AssertionError("δ is not positive")

    monkeypatch.setattr(exact_work, "refute", breaks)
    failure = perform(NO_CODE, call())
    assert isinstance(failure, Failure)
    assert failure.what == "frank-wolfe-4-1.json raised AssertionError: δ is not positive"
    assert "Traceback" in failure.traceback


def test_the_key_is_what_is_asked() -> None:
    assert call().key == call().key
    assert len({call().key, call(horizon=999).key, call("powell.json").key}) == 3


@pytest.mark.parametrize(
    "row", [{}, {"document": "{}", "certificate": "", "checked": "", "margins": ""}, {"document": '{"answer": 1}'}]
)
def test_a_row_that_no_worker_wrote_is_refused(row: dict[str, str]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        call().check(row)
