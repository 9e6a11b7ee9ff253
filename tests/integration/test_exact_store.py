"""The store of units is a file that somebody may edit: what it says of exact work is believed where it is shown."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import REPOSITORY, Verifier, edit

Rows = dict[str, dict[str, Any]]


@pytest.fixture
def cases(tmp_path: Path, verifier: Verifier) -> Path:
    """A case whose problem is proved to hold, with a control that is violated; its run is stored in one-units.db."""
    case = Path(shutil.copytree(REPOSITORY / "cases" / "heavy_ball", tmp_path / "ball"))
    edit(case / "case.toml", 'problem = "cycle.json"', 'problem = "controls/quadratic.json"')
    text = (case / "case.toml").read_text()
    head = text.partition("controls = [")[0]
    control = '  { problem = "cycle.json", expect = "VIOLATED_FOR_ALL", why = "the three-cycle" },\n'
    (case / "case.toml").write_text(f"{head}controls = [\n{control}]\n")
    said = verifier("run", "ball", "--json", "--ledger", "one.db")
    assert (said.code, said.document["ruling"]) == (0, "DISMISSED"), said.err
    return tmp_path


def tampered(folder: Path, change: Callable[[Rows], Rows]) -> None:
    """Edits rows of exact work in the store of another ledger; their checksums are made anew."""
    shutil.copy(folder / "one-units.db", folder / "two-units.db")
    store = sqlite3.connect(folder / "two-units.db")
    keys, rows = {}, {}
    for key, row in store.execute("SELECT key, row FROM rows").fetchall():
        fields = json.loads(row)
        if "certificate" in fields:
            name = "violated" if fields["certificate"] else "holds"
            keys[name], rows[name] = key, fields
    assert set(keys) == {"violated", "holds"}
    for name, fields in change(rows).items():
        data = json.dumps(fields, separators=(",", ":"), sort_keys=True).encode()
        checksum = hashlib.sha256(keys[name].encode() + data).hexdigest()
        store.execute("UPDATE rows SET row = ?, sha256 = ? WHERE key = ?", (data, checksum, keys[name]))
    store.commit()
    store.close()


def swapped(rows: Rows) -> Rows:
    """The row of the problem that holds becomes that of the violated one, with the problem's own name on it."""
    document = {**json.loads(rows["violated"]["document"]), "problem": json.loads(rows["holds"]["document"])["problem"]}
    return {"holds": {**rows["violated"], "document": json.dumps(document, sort_keys=True)}}


@pytest.mark.slow
def test_an_edited_row_is_no_answer(verifier: Verifier, cases: Path) -> None:
    tampered(cases, swapped)
    said = verifier("run", "ball", "--json", "--ledger", "two.db")
    assert (said.code, said.document["ruling"]) == (3, "NO_ANSWER")
    assert "the stored certificate is about another problem; move the store of units away" in said.out
    tampered(cases, dict)  # as they were written
    said = verifier("run", "ball", "--json", "--ledger", "two.db")
    assert (said.code, said.document["ruling"]) == (0, "DISMISSED")


@pytest.mark.slow
def test_sides_too_long_to_print_still_end_in_a_report(verifier: Verifier, tmp_path: Path) -> None:
    case = Path(shutil.copytree(REPOSITORY / "cases" / "frank_wolfe", tmp_path / "tokens"))
    problem = json.loads((case / "tokens-4-1.json").read_text())
    problem["parameters"] = {"B": [["1"]], "step": "99/100"}
    problem |= {"state": {"tokens": [["1000000"], ["-1"]]}, "claim": "energy-bound-any-step", "ties": "lowest-index"}
    (case / "tokens-4-1.json").write_text(json.dumps(problem))
    text = (case / "case.toml").read_text()
    (case / "case.toml").write_text(text.partition("controls = [")[0])
    said = verifier("run", "tokens", "--json")
    assert said.code == 0, said.err
    (probe,) = said.document["probes"]
    first = probe["exact"]["first_violation"]
    assert first["lhs"] is None
    page = (tmp_path / said.document["report"]).read_text()
    assert f"first at t = {first['t']:,}, token {first['component']}; the sides are too long to be written" in page
