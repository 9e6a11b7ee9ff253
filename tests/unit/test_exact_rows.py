"""Stored rows of exact work: believed where the certificate attacks the problem asked about and shows the answer."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from verifier.engine.exact_probe import ExactRun, _decided
from verifier.exact.checker import check
from verifier.model.results import Evidence
from verifier.sweeps.exact_work import exact_work
from verifier.sweeps.jobs import ExactCall, Failure, Row

PROBLEMS = Path(__file__).parents[2] / "problems"
PAIR, CYCLE = "frank-wolfe-4-1.json", "heavy-ball.json"


def call(name: str, **changes: Any) -> ExactCall:
    document = {**json.loads((PROBLEMS / name).read_text()), **changes}
    return ExactCall("a" * 64, name, json.dumps(document).encode(), 1_000, "f" * 64)


@cache
def row_of(name: str) -> Row:
    row = exact_work(call(name))
    assert not isinstance(row, Failure)
    return row


def believed(job: ExactCall, row: Row) -> ExactRun:
    """What the engine makes of a row that the store returns for a job."""
    asking = _decided(job)
    assert list(next(asking)) == [job]
    with pytest.raises(StopIteration) as ended:
        asking.send({job.key: row})
    result: ExactRun = ended.value.value
    return result


def with_document(row: Row, **fields: Any) -> Row:
    return {**row, "document": json.dumps({**json.loads(row["document"]), **fields}, sort_keys=True)}


def with_certificate(row: Row, **fields: Any) -> Row:
    text = json.dumps({**json.loads(row["certificate"]), **fields})
    return {**row, "certificate": text, "checked": check(text.encode()).text}


@pytest.mark.parametrize(
    "name", [PAIR, CYCLE, "powell.json", "frank-wolfe-search.json", "squares-of-ordered-matrices.json"]
)
def test_a_row_as_it_was_written_is_believed(name: str) -> None:
    """Short forms are written out in certificates, and a search's start and its identity matrix."""
    run = believed(call(name), row_of(name))
    assert isinstance(run, Evidence), run
    assert run.exact is not None
    assert run.exact.certificate is not None


def refused(job: ExactCall, row: Row) -> str:
    run = believed(job, row)
    assert isinstance(run, Failure)
    assert run.what.endswith("; move the store of units away")
    return run.what


def test_a_row_of_another_problem_is_not_believed() -> None:
    assert "the stored answer is about another problem" in refused(call(PAIR), row_of(CYCLE))
    renamed = with_document(row_of(CYCLE), problem=json.loads(call(PAIR).text))
    assert "the stored certificate is about another problem" in refused(call(PAIR), renamed)


def test_another_start_of_the_same_system_is_another_problem() -> None:
    other = call(PAIR, state={"tokens": [["8"], ["-2"]]})
    renamed = with_document(row_of(PAIR), problem=json.loads(other.text))
    assert "the stored certificate is about another problem" in refused(other, renamed)


def test_a_search_is_about_its_own_statement() -> None:
    other = call("frank-wolfe-search.json", claim="energy-bound-any-step")
    renamed = with_document(row_of("frank-wolfe-search.json"), problem=json.loads(other.text))
    assert "the stored certificate is about another problem" in refused(other, renamed)


@pytest.mark.parametrize("answer", ["VIOLATED", "HOLDS_FOR_ALL", "AMBIGUOUS"])
def test_a_certificate_shows_one_answer(answer: str) -> None:
    assert f'the stored answer "{answer}" is not' in refused(call(PAIR), with_document(row_of(PAIR), answer=answer))


def test_a_certificate_is_checked_again() -> None:
    spoilt = with_certificate(row_of(PAIR), fails_from=223)
    assert "is not the one that was checked (REJECTED: fails-from" in refused(call(PAIR), spoilt)
    assert "is not the one that was checked (ACCEPTED" in refused(call(PAIR), {**row_of(PAIR), "checked": "ACCEPTED"})
