"""The object of `run --json`: complete, exact, and what its schema says."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from tests.unit import report_factory as made
from verifier.cli.output import print_error
from verifier.model.errors import BadInput, InfrastructureFailed
from verifier.model.outcomes import Reason
from verifier.model.results import Adequacy, CaseResult, Evidence, UnitsRecord
from verifier.report import load_schema, run_document, run_schema
from verifier.report.schema import NAMES, error_schema, result_schema
from verifier.report.values import json_value

EVERY = {**made.ALL, "hostile": made.hostile, "undecided": lambda: made.open_for(Reason.MISFIT)}
VALIDATOR = Draft202012Validator(run_schema())

# the contract of the command line: top-level fields, then those of a probe, a control and the ledger
TOP = [
    "schema",
    "ok",
    "sentence",
    "next",
    "state",
    "paper",
    "claim",
    "dispute",
    "ruling",
    "parts",
    "verdict",
    "because",
    "premises",
    "registrations_of_this_claim",
    "exploratory",
    "registered_scale",
    "scale_reached",
    "residual_class",
    "adequacy",
    "probes",
    "controls",
    "ledger",
    "seconds",
]
PROBE = [
    "name",
    "kind",
    "part",
    "about",
    "required",
    "answer",
    "outcome",
    "reason",
    "summary",
    "so_far",
    "statistics",
    "points",
    "certificate",
    "audits",
]
CONTROL = ["probe", "target", "expect", "answer", "outcome", "passed"]
LEDGER = ["registration", "evidence", "ruling", "size", "root"]


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(load_schema(name))


@pytest.mark.parametrize("name", EVERY)
def test_every_document_keeps_to_the_schema_and_is_json(name: str) -> None:
    document = run_document(EVERY[name](), report="reports/paging.html")
    VALIDATOR.validate(document)
    Draft202012Validator(result_schema()).validate(document)
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_the_contract_s_fields_are_there() -> None:
    document = run_document(made.upheld())
    assert set(TOP) <= set(document)
    assert set(PROBE) <= set(document["probes"][0])
    assert set(CONTROL) <= set(document["controls"][0])
    assert set(LEDGER) <= set(document["ledger"])
    assert set(document["claim"]) >= {"sha256", "text", "quote", "paraphrase", "locator", "kind", "parts"}
    assert set(document["probes"][0]["points"][0]) >= {"at", "estimate", "stderr", "n"}


@pytest.mark.parametrize("field", TOP)
def test_the_schema_misses_an_absent_field(field: str) -> None:
    document = run_document(made.upheld())
    del document[field]
    assert not VALIDATOR.is_valid(document)


def _set(document: dict[str, Any], path: str, value: Any) -> None:
    *steps, last = path.split(".")
    for step in steps:
        document = document[int(step)] if step.isdigit() else document[step]  # type: ignore[index]  # lists on the way
    document[last] = value


@pytest.mark.parametrize(
    ("make", "path", "value"),
    [
        (made.upheld, "ruling", "UPHOLD"),
        (made.upheld, "state", "done"),
        (made.upheld, "verdict", "refuted"),
        (made.upheld, "verdict", None),
        (made.silent, "verdict", "inconclusive"),
        (made.silent, "ok", True),
        (made.upheld, "claim.note", "x"),
        (made.upheld, "claim.sha256", "3" * 63),
        (made.upheld, "probes.0.outcome", "UPHELD"),
        (made.upheld, "probes.0.reason", "misfit"),
        (made.short, "probes.0.reason", None),
        (made.upheld, "probes.0.points.0.exact", 1.2975),
        (made.upheld, "probes.0.points.0.stderr", -1),
        (made.upheld, "probes.0.points.0.at.k", "32"),
        (made.upheld, "probes.0.statistics.discount", 1.5),
        (made.upheld, "probes.0.statistics.slope_full.interval", [0.1]),
        (made.upheld, "probes.0.statistics.e_grow", 5.0),
        (made.upheld, "probes.0.statistics", {"n": 1}),
        (made.upheld, "controls.0.passed", "yes"),
        (made.upheld, "premises.0.checked", "by us"),
        (made.upheld, "adequacy.needed.replicates", 57.5),
        (made.upheld, "ledger.root", "0x12"),
        (made.upheld, "registrations_of_this_claim.n", 0),
    ],
)
def test_the_schema_refuses(make: Callable[[], CaseResult], path: str, value: object) -> None:
    document = run_document(make())
    changed = copy.deepcopy(document)
    _set(changed, path, value)
    assert changed != document
    assert not VALIDATOR.is_valid(changed)


def test_a_partial_run_is_an_object_of_its_own() -> None:
    partial = {"schema": "verifier/run/1", "ok": False, "sentence": "the time limit came", "next": ["verifier run x"]}
    VALIDATOR.validate({**partial, "state": "partial", "because": "time-limit"})
    assert not VALIDATOR.is_valid({**partial, "state": "partial", "because": "time-limit", "ruling": "UPHELD"})
    assert not VALIDATOR.is_valid(partial)


def test_an_error_object_keeps_to_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(BadInput("the key delta is missing", where="case.toml:12", mend="add it"), as_json=True)
    document = json.loads(capsys.readouterr().out)
    Draft202012Validator(error_schema()).validate(document)
    Draft202012Validator(result_schema()).validate(document)
    assert not Draft202012Validator(error_schema()).is_valid({**document, "error": {"what": "x"}})
    assert not Draft202012Validator(result_schema()).is_valid({k: v for k, v in document.items() if k != "error"})


@pytest.mark.parametrize(
    ("make", "ruling", "verdict", "because"),
    [
        (made.upheld, "UPHELD", "falsified", "part a"),
        (made.toy, "UPHELD", "toy", "below the registered scale or on synthetic data"),
        (made.dismissed, "DISMISSED", "verified", "part a"),
        (lambda: made.dismissed(reproduces=False), "DISMISSED", "inconclusive", "dispute-dismissed"),
        (made.short, "UNDERPOWERED", "inconclusive", "horizon"),
        (made.silent, "NO_ANSWER", None, "no answer"),
        (made.control_failed, "INVALID", "inconclusive", "control-failed"),
        (made.conflict, "UNDECIDED", "inconclusive", "conflict"),
    ],
)
def test_ruling_and_verdict(make: Callable[[], CaseResult], ruling: str, verdict: str | None, because: str) -> None:
    document = run_document(make())
    assert (document["ruling"], document["verdict"], document["because"]) == (ruling, verdict, because)
    assert document["ok"] == (ruling != "NO_ANSWER")


def test_exact_values_are_rationals_as_text() -> None:
    point = run_document(made.upheld())["probes"][0]["points"][0]
    assert point["exact"] == "112417351/86643648"
    assert Fraction(point["exact"]) == made.EXACT
    assert run_document(made.short())["probes"][0]["points"][0]["exact"] is None


def test_scales_adequacy_and_registrations() -> None:
    document = run_document(made.short())
    assert document["registered_scale"] == {"k": 1024}
    assert document["scale_reached"] == {"k": 10}
    assert document["adequacy"] == {"adequate": False, "needed": {"k": 1024, "replicates": 57, "phases": 5700}}
    registrations = document["registrations_of_this_claim"]
    assert (registrations["n"], registrations["of"]) == (2, 2)
    assert [each["ended"] for each in registrations["registrations"]] == ["UPHELD", "UNDERPOWERED"]
    assert document["exploratory"]
    assert document["probes"][0]["so_far"]["note"] == "not a ruling"


def test_the_deciding_probe_gives_class_and_adequacy() -> None:
    useless = made.probe(
        name="first",
        own=made.undecided(Reason.MISFIT),
        finding=made.undecided(Reason.MISFIT),
        residual_class="another",
        adequacy=Adequacy(adequate=False, needed={}),
    )
    document = run_document(made.result(useless, made.probe()))
    assert document["residual_class"] == made.RESIDUAL_CLASS
    assert document["adequacy"]["adequate"]


def test_a_check_that_agrees_has_no_outcome() -> None:
    by_target = {each["target"]: each for each in run_document(made.upheld())["controls"]}
    check = by_target["reimplementation:refresh_every_request"]
    assert (check["expect"], check["answer"], check["outcome"], check["passed"]) == (
        "equals reimplementation:no_gate",
        "AGREES",
        None,
        True,
    )


def test_part_is_written_as_in_the_case_file() -> None:
    both = made.probe(parts=("a", "b"))
    claim = replace(made.CLAIM, parts=(*made.CLAIM.parts, made.Part("b", "another")))
    assert run_document(made.upheld())["probes"][0]["part"] == "a"
    document = run_document(made.result(both, claim=claim))
    assert document["probes"][0]["part"] == ["a", "b"]
    VALIDATOR.validate(document)


def test_the_latest_evidence_is_shown_and_both_are_kept() -> None:
    later = made.statistics(n=80, stopped_by="decision")
    more = Evidence("maximum", later, made.growing_points(n=80), UnitsRecord(480, "e" * 64))
    probe = run_document(made.result(made.probe(evidence=(*made.probe().evidence, more))))["probes"][0]
    assert probe["statistics"]["n"] == 80
    assert {point["n"] for point in probe["points"]} == {80}
    assert [(each["stage"], each["statistics"]["n"]) for each in probe["evidence"]] == [
        ("decision", 40),
        ("maximum", 80),
    ]


def test_a_traceback_stands_under_quoted() -> None:
    document = run_document(made.silent())
    assert document["probes"][0]["failure"] == {"quoted": made.TRACEBACK}
    assert "ZeroDivisionError: 1/0" not in document["sentence"]


@pytest.mark.parametrize(
    ("make", "first"),
    [
        (made.upheld, "verifier run cases/paging --ledger demo/verifier.db --to-maximum"),
        (made.short, "verifier plan cases/paging"),
        (made.silent, "verifier run cases/paging --ledger demo/verifier.db"),
        (made.toy, "verifier run cases/paging --ledger demo/verifier.db"),
        (made.control_failed, "verifier status cases/paging --ledger demo/verifier.db"),
    ],
)
def test_what_to_do_next(make: Callable[[], CaseResult], first: str) -> None:
    commands = run_document(make())["next"]
    assert commands[0] == first
    assert commands[-1].endswith("--root " + "9" * 64)


def test_next_quotes_for_the_shell_and_leaves_out_the_default_ledger() -> None:
    result = made.upheld(folder="my cases/it's", command="verifier run x")
    commands = run_document(result)["next"]
    assert "verifier status 'my cases/it'\"'\"'s'" in commands
    assert not any("--ledger" in command for command in commands)


def test_numbers_of_every_type_become_json() -> None:
    value = {"a": np.float64(0.5), "b": np.int64(3), "c": (Fraction(-7, 3), True, None)}
    assert json_value(value) == {"a": 0.5, "b": 3, "c": ["-7/3", True, None]}
    assert math.isfinite(json_value(math.inf))
    assert json_value(-math.inf) < -1e308


@pytest.mark.parametrize("field", ["discount", "inflation", "sigma_anytime"])
def test_not_a_number_is_never_written(field: str) -> None:
    probe = made.probe(
        evidence=(
            Evidence("decision", made.statistics(**{field: math.nan}), made.growing_points(), UnitsRecord(1, "d")),
        )
    )
    with pytest.raises(InfrastructureFailed, match="not a number"):
        run_document(made.result(probe))


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(InfrastructureFailed, match="set"):
        json_value({"a": {1, 2}})
