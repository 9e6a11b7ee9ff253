"""The page on basis audits is a test: its examples print what it shows, its tables are the code's."""

from __future__ import annotations

import doctest
import itertools
import json
import os
import random
import re
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from click.testing import CliRunner

from tests.oracles.table_evaluators import TABLE
from verifier import audits
from verifier.audits import fingerprint
from verifier.audits.catalogues import CATALOGUES
from verifier.audits.fingerprint.relations import BUILDERS
from verifier.cli.audit import CLEAR
from verifier.cli.main import verifier as command
from verifier.model.answers import About, AuditAnswer, AuditContext, Corrected, audit_outcome
from verifier.model.basis import BasisClass

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "audits.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
EXITS = dict.fromkeys(AuditAnswer, "10") | dict.fromkeys(CLEAR, "0") | {AuditAnswer.INSUFFICIENT: "3"}


def rows_after(heading: str, text: str = TEXT) -> list[list[str]]:
    """The cells of the first table after a heading, its two head lines left out."""
    section = re.split(rf"^##+ {heading}", text, flags=re.MULTILINE)[1]
    lines = itertools.takewhile(lambda line: line.startswith("|"), section[section.index("\n|") + 1 :].splitlines())
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in list(lines)[2:]]


def test_the_examples_print_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks share their names, as they do for a reader who types them one after another."""
    monkeypatch.chdir(ROOT)
    test = doctest.DocTestParser().get_doctest("\n".join(BLOCKS), {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 30
    said: list[str] = []
    failed, tried = doctest.DocTestRunner().run(test, out=said.append)
    assert not failed, "".join(said)
    assert tried == len(test.examples)


def test_every_function_of_the_package_is_in_an_example_or_named() -> None:
    from_python = TEXT.partition("## From Python")[2]
    for name in ("compare", "reconcile", "dilution", "closure", "granularity", "speed", "selection", "aggregate",
                 "fingerprint", "identify", "witness", "audit_file"):  # fmt: skip
        assert name in audits.__all__
        assert name in from_python, name


def test_the_table_of_classes_is_the_codes() -> None:
    assert [row[:2] for row in rows_after("What can differ")] == [[f"`{each}`", each.sentence] for each in BasisClass]


def test_the_table_of_findings_is_the_codes() -> None:
    assert rows_after("What is found") == [[f"`{each}`", each.sentence, EXITS[each]] for each in AuditAnswer]


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "audits").glob("*.toml")), ids=lambda path: path.stem)
def test_every_shipped_file_is_on_the_page_with_its_exit_code(path: Path) -> None:
    finding = re.search(rf"verifier audit docs/audits/{path.name} --expect (\w+)", TEXT)
    assert finding
    done = CliRunner().invoke(command, ["audit", os.fspath(path), "--json"])
    assert str(done.exit_code) == EXITS[AuditAnswer[finding[1]]]
    document: dict[str, Any] = json.loads(done.stdout)
    fields = re.findall(r"^\| (`.*?) \|", TEXT.partition("| field | holds |")[2].partition("\n\n")[0], re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(fields))) == set(document["audits"][0])


def test_the_table_of_catalogues_is_the_codes() -> None:
    assert rows_after("Catalogues") == [
        [f"`{name}`", each.takes, str(len(each.entries)), str(len(each.families))] for name, each in CATALOGUES.items()
    ]


MISMATCH = (AuditAnswer.MISMATCH_PROVEN, AuditAnswer.RECONCILED)
WEAK = (AuditAnswer.RECONCILED_WEAK, AuditAnswer.JOINTLY_INCONSISTENT)
ROWS: dict[str, Callable[[AuditAnswer, AuditContext], bool]] = {
    "`RECONCILED_WEAK` or `JOINTLY_INCONSISTENT`, or a factor left unexplained": lambda answer, said: (
        answer in WEAK or said.residual_excludes_one
    ),
    "code against a text, not known to have made the result": lambda _, said: (
        said.code_against_text and said.produced_by != "released"
    ),
    "about the claim: `MISMATCH_PROVEN` or `RECONCILED`, material over its whole range": lambda answer, said: (
        answer in MISMATCH and said.about == "claim" and said.material
    ),
    "about the claim: the same, not material over its whole range": lambda answer, said: (
        answer in MISMATCH and said.about == "claim" and not said.material
    ),
    "about the dispute: `MISMATCH_PROVEN` or `RECONCILED`, all of it on the other side": lambda answer, said: (
        answer in MISMATCH and said.about == "dispute" and said.corrected is Corrected.OTHER_SIDE
    ),
    "about the dispute: the same, equality possible or the threshold missed": lambda answer, said: (
        answer in MISMATCH
        and said.about == "dispute"
        and said.corrected in (Corrected.CONTAINS_ONE, Corrected.BELOW_THRESHOLD)
    ),
    "about the dispute: the same, direction and support kept": lambda answer, said: (
        answer in MISMATCH and said.about == "dispute" and said.corrected is Corrected.KEPT
    ),
    '`SAME_BASIS` or `NOT_MATERIAL`, and `alleges = "mismatch"`': lambda answer, said: (
        answer in CLEAR and said.alleges_mismatch
    ),
    '`SAME_BASIS` or `NOT_MATERIAL`, and `alleges = "size"`': lambda answer, said: (
        answer in CLEAR and not said.alleges_mismatch
    ),
    "`INSUFFICIENT`": lambda answer, _: answer is AuditAnswer.INSUFFICIENT,
}


def test_the_table_of_outcomes_is_the_codes_for_every_combination() -> None:
    rows = rows_after("9. The basis of a number: audits", (ROOT / "docs" / "writing-a-case.md").read_text("utf-8"))
    assert [row[0] for row in rows] == list(ROWS)
    yes = (False, True)
    abouts: tuple[About, ...] = typing.get_args(About)
    codes: tuple[Literal["released", "private", "unknown"], ...] = ("released", "private", "unknown")
    for answer, about, alleges, residual, against, made, material, corrected in itertools.product(
        AuditAnswer, abouts, yes, yes, yes, codes, yes, Corrected
    ):
        said = AuditContext(about, alleges, residual, against, made, material, corrected)
        found = audit_outcome(answer, said)
        stated = next(outcome for words, outcome in rows if ROWS[words](answer, said))
        assert stated == f"`{found.outcome}{f': {found.reason}' if found.reason else ''}`", (answer, said)


def noisy() -> Callable[[Any, Any, int], float]:
    """The token mean with noise on every call."""
    draws = random.Random(5)  # noqa: S311  # reproducible, not secret
    exact = next(evaluator for name, evaluator, _ in TABLE if name == "correct")
    return lambda losses, mask, batch_size: exact(losses, mask, batch_size) * (1 + draws.random() / 10)


def test_the_table_of_faults_is_what_fingerprints_say() -> None:
    head = re.search(r"^\| evaluator \| (.*) \|$", TEXT, re.MULTILINE)
    assert head
    relations = head[1].split(" | ")
    evaluators = {name: evaluator for name, evaluator, _ in TABLE} | {"not deterministic": noisy()}
    rows = rows_after("Faults of evaluators")
    assert [row[0].strip("`") for row in rows] == list(evaluators)
    for name, *cells in rows:
        found = fingerprint(evaluators[name.strip("`")])
        assert found.diagnosis == name.strip("`")
        assert [relation for relation, cell in zip(relations, cells, strict=True) if cell == "V"] == [
            relation for relation in relations if relation in found.violated
        ], name
    more = re.search(r"Seven more relations.*?: (.*?)\. `twice`", TEXT, re.DOTALL)
    assert more
    assert {*re.findall(r"`(\w+)`", more[1]), *relations} == {*BUILDERS, "twice"}
