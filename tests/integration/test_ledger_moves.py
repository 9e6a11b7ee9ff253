"""`verifier ledger export`, `import` and `rebuild` as a person and as a program see them."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.integration.conftest import Verifier
from verifier.ledger import FreeText, Ledger

REGISTRATION = "ab" * 32


@pytest.fixture(autouse=True)
def _no_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)


@pytest.fixture
def root(tmp_path: Path) -> str:
    with Ledger.open(tmp_path / "verifier.db", create=True) as ledger:
        with ledger.transaction() as transaction:
            for number in range(3):
                content = {"registration": REGISTRATION, "n": number, "said": FreeText("größer")}
                transaction.append(kind="evidence", content=content, by="engine")
        return ledger.root


def test_an_exported_ledger_is_imported_with_its_root(verifier: Verifier, tmp_path: Path, root: str) -> None:
    said = verifier("ledger", "export", "--out", "x.jsonl", "--json")
    assert (said.code, said.document["root"], said.document["size"]) == (0, root, 3)
    lines = (tmp_path / "x.jsonl").read_text().splitlines()
    assert [json.loads(line).get("n") for line in lines] == [None, 1, 2, 3]
    said = verifier("ledger", "import", "x.jsonl", "--ledger", "new.db", "--json")
    assert (said.code, said.document["root"]) == (0, root)
    assert verifier("ledger", "verify", "--root", root, "--ledger", "new.db").code == 0
    assert verifier("ledger", "import", "x.jsonl", "--ledger", "new.db").code == 2
    (tmp_path / "x.jsonl").write_text("\n".join([*lines[:2], lines[2][:-4], *lines[3:]]))
    said = verifier("ledger", "import", "x.jsonl", "--ledger", "newer.db", "--json")
    assert (said.code, said.document["error"]["where"]) == (2, "line 3")
    (tmp_path / "x.jsonl").write_text("\n".join(lines[:3]))
    assert verifier("ledger", "import", "x.jsonl", "--ledger", "newer.db").code == 4
    (tmp_path / "x.jsonl").write_bytes(b"\xff")
    assert verifier("ledger", "import", "x.jsonl", "--ledger", "newer.db").code == 2
    assert verifier("ledger", "import", "absent.jsonl", "--ledger", "newer.db").code == 2
    assert verifier("ledger", "export", "--out", "nowhere/x.jsonl").code == 3
    assert verifier("ledger", "export").code == 2


def test_rebuild_mends_what_is_kept_beside_the_log(verifier: Verifier, tmp_path: Path, root: str) -> None:
    connection = sqlite3.connect(tmp_path / "verifier.db")
    connection.execute("DELETE FROM ledger_index")
    connection.commit()
    connection.close()
    said = verifier("ledger", "verify", "--json")
    assert said.code == 4
    assert "ledger rebuild" in said.document["error"]["mend"]
    assert verifier("ledger", "rebuild", "--json").document["size"] == 3
    assert verifier("ledger", "verify", "--root", root).code == 0
