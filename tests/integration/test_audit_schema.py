"""What `verifier audit --json` prints, of every mechanism and every finding, against its JSON Schema."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from verifier.audits.schema import AuditFileTable
from verifier.cli.main import verifier as command
from verifier.model.toml import parse_toml
from verifier.report import load_schema

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs/audits", "cases/batch_timing", "cases/three_projections", "cases/self_distillation")
FILES = [
    path
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.toml"))
    if path.name != "case.toml"
]  # fmt: skip
CHECKER = Draft202012Validator(load_schema("audit-1"))


def said(*words: str) -> list[dict[str, Any]]:
    """The documents that the command prints."""
    return [json.loads(line) for line in CliRunner().invoke(command, ["audit", *words, "--json"]).stdout.splitlines()]


@pytest.fixture(scope="module")
def documents() -> dict[Path, dict[str, Any]]:
    return dict(zip(FILES, said(*map(str, FILES)), strict=True))


def test_every_shipped_file_prints_what_the_schema_says(documents: dict[Path, dict[str, Any]]) -> None:
    for path, document in documents.items():
        assert document["file"] == str(path)
        assert not [error.message for error in CHECKER.iter_errors(document)], path
    asked = {key for path in FILES for key in parse_toml(path.read_text(), where=path.name)}
    assert asked == set(AuditFileTable.model_fields)
    found = {audit["finding"] for document in documents.values() for audit in document["audits"]}
    assert found >= {"SAME_BASIS", "MISMATCH_PROVEN", "RECONCILED", "JOINTLY_INCONSISTENT", "NOT_MATERIAL",
                     "INSUFFICIENT"}  # fmt: skip


def test_what_was_expected_and_drawn_is_in_the_schema(tmp_path: Path) -> None:
    drawn = tmp_path / "gap.svg"
    (document,) = said(
        str(ROOT / "docs/audits/padding.toml"), "--expect", "NOT_MATERIAL", "--figure", str(drawn)
    )  # fmt: skip
    CHECKER.validate(document)
    assert document["expected"] == {"finding": "NOT_MATERIAL", "met": False}
    assert document["figure"] == str(drawn)
    assert drawn.exists()


def changed(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The document with each field left out, and with one too many, at the top and in an audit."""
    places: tuple[Callable[[Any], dict[str, Any]], ...] = (lambda one: one, lambda one: one["audits"][0])
    for place in places:
        for key in place(document):
            other = copy.deepcopy(document)
            del place(other)[key]
            yield other
        other = copy.deepcopy(document)
        place(other)["more"] = 1
        yield other
    for key, wrong in (("finding", "FINE"), ("basis_class", "OTHER"), ("coincidence", 1.5), ("corrected", "NO")):
        other = copy.deepcopy(document)
        other["audits"][0][key] = wrong
        yield other


def test_the_schema_refuses_what_is_incomplete_or_unknown(documents: dict[Path, dict[str, Any]]) -> None:
    document = documents[ROOT / "docs/audits/timing.toml"]
    assert CHECKER.is_valid(document)
    assert not [other for other in changed(document) if CHECKER.is_valid(other)]


def test_an_audit_is_the_same_in_a_run() -> None:
    assert load_schema("audit-1")["$defs"]["audit"] == load_schema("run-1")["$defs"]["audit"]
