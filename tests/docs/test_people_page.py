"""docs/people.md: its commands run in order on a ledger with a ruling, and its table is the one in code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.test_docs import ROOT, Desk, reader
from verifier.casefile import load
from verifier.engine.entries import registration_content
from verifier.ledger import KINDS, Ledger
from verifier.model.dispute_status import Tie

__all__ = ["reader"]  # a fixture

PAGE = ROOT / "docs/people.md"


@pytest.fixture
def with_a_ruling(reader: Desk, tmp_path: Path) -> Desk:
    """The desk, with a ledger in which the case of the page was ruled on."""
    case = load(tmp_path / "cases/paging")
    with Ledger.open(tmp_path / "verifier.db", create=True) as book, book.transaction() as transaction:
        registered = transaction.append(kind="registration", content=registration_content(case), by="engine").entry
        content = {"registration": case.registration, "ruling": "UPHELD", "exploratory": False}
        transaction.append(kind="ruling", content=content, refs=[registered.leaf], by="engine")
    return reader


def test_the_commands_of_the_page_run(with_a_ruling: Desk) -> None:
    with_a_ruling.follow(PAGE)


def test_the_page_names_every_kind_that_people_write_and_every_tie() -> None:
    text = PAGE.read_text()
    table = text.partition("## The table")[2].partition("\n## ")[0]
    named = set(re.findall(r"[a-z-]+", " ".join(line.split("|")[1] for line in table.splitlines() if line[:1] == "|")))
    assert {kind for kind, rules in KINDS.items() if rules.signed} <= named
    assert all(f"`{tie}`" in text for tie in Tie)
