"""docs/api.md: its commands run, its tables are the code's."""

from __future__ import annotations

import re

from tests.docs.test_docs import ROOT, Desk, reader
from verifier.web.operations import READS
from verifier.web.queries import MAX_LIMIT
from verifier.web.reads import PAGE_BYTES
from verifier.web.writes import MAX_BODY, SCOPES

__all__ = ["reader"]  # a fixture

PAGE = ROOT / "docs/api.md"


def rows(heading: str) -> list[list[str]]:
    section = PAGE.read_text().partition(f"## {heading}")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_its_commands_run(reader: Desk) -> None:  # the fixture imported above
    reader.follow(PAGE)


def test_every_path_is_told_with_what_it_answers() -> None:
    assert [(path.strip("`"), says) for path, says in rows("Reading")] == [(one.path, one.says) for one in READS]


def test_every_scope_is_told_with_its_kinds() -> None:
    told = {scope.strip("`"): re.findall(r"`([a-z-]+)`", kinds) for scope, kinds, _ in rows("Tokens")}
    assert told == {
        scope: [kind for kind in SCOPES if SCOPES[kind] == scope] for scope in dict.fromkeys(SCOPES.values())
    }


def test_its_limits_are_the_codes() -> None:
    text = PAGE.read_text()
    assert f"at most {MAX_LIMIT}" in text
    assert f"ends at {PAGE_BYTES >> 20} MiB" in text
    assert f"more than {MAX_BODY >> 20} MiB" in text
