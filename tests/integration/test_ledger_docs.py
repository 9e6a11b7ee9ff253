"""docs/ledger.md is exact: its example is recomputed, and a verifier written from the page alone reads a ledger."""

import hashlib
import json
import re
import sqlite3
from pathlib import Path

import pytest
import rfc8785

from verifier.ledger import FreeText, Ledger

PAGE = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text()
REGISTRATION = hashlib.sha256(b"example").hexdigest()


def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    return found


@pytest.fixture
def reproducible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    path = tmp_path / "verifier.db"
    with Ledger.open(path, create=True) as ledger, ledger.transaction() as transaction:
        first = transaction.append(
            kind="registration",
            content={"registration": REGISTRATION, "quote": FreeText("H_k + O(1)")},
            by="engine",
        ).entry
        transaction.append(
            kind="evidence",
            content={"registration": REGISTRATION, "probe": "additive-term", "n": 80},
            refs=[first.leaf],
            by="engine",
        )
    return path


def test_the_example_is_what_the_program_writes(reproducible: Path) -> None:
    with Ledger.open(reproducible, create=False) as ledger:
        entries = list(ledger.entries())
    for shown, entry in zip(json.loads(block("json")), entries, strict=True):
        assert shown == {
            "n": entry.n,
            "salt": entry.salt.hex(),
            "content": entry.content_bytes.decode(),
            "texts": [
                {"pointer": text.pointer, "salt": text.salt.hex(), "text": text.text, "commitment": text.commitment}
                for text in entry.texts
            ],
            "content_commitment": entry.content_commitment,
            "envelope": entry.envelope_bytes.decode(),
            "leaf": entry.leaf,
            "root": entry.root,
        }


def test_the_examples_numbers_follow_from_the_page() -> None:
    first, second = json.loads(block("json"))
    for entry, kind in ((first, "registration"), (second, "evidence")):
        salt = sha256(bytes.fromhex(REGISTRATION), kind.encode(), b"1")
        assert entry["salt"] == salt.hex()
        for text in entry["texts"]:
            text_salt = sha256(salt, text["pointer"].encode())
            assert text["salt"] == text_salt.hex()
            assert text["commitment"] == sha256(text_salt, text["text"].encode()).hex()
            assert json.loads(entry["content"])["quote"] == {"text_commitment": text["commitment"]}
        assert entry["content_commitment"] == sha256(salt, entry["content"].encode()).hex()
        envelope = json.loads(entry["envelope"])
        assert envelope["content_commitment"] == entry["content_commitment"]
        assert envelope["time"] == "2023-11-14T22:13:20Z"
        assert entry["leaf"] == sha256(b"\0", entry["envelope"].encode()).hex()
    assert first["root"] == first["leaf"]
    assert second["root"] == sha256(b"\1", bytes.fromhex(first["leaf"]), bytes.fromhex(second["leaf"])).hex()
    assert json.loads(second["envelope"])["refs"] == [first["leaf"]]


def tree_root(leaves: list[bytes]) -> bytes:
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256()
    half = 1
    while 2 * half < len(leaves):
        half *= 2
    return sha256(b"\1", tree_root(leaves[:half]), tree_root(leaves[half:]))


def commitments_in(value: object) -> list[str]:
    if isinstance(value, dict):
        if "text_commitment" in value:
            return [value["text_commitment"]]
        value = list(value.values())
    return [found for item in value for found in commitments_in(item)] if isinstance(value, list) else []


def put_back(value: object, texts: dict[str, str]) -> object:
    if isinstance(value, dict):
        if "text_commitment" in value:
            return texts[value["text_commitment"]]
        return {key: put_back(item, texts) for key, item in value.items()}
    return [put_back(item, texts) for item in value] if isinstance(value, list) else value


def verified_from_the_page(path: Path) -> str:
    """The root of a ledger, by the standard library and the page's section on verifying."""
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (0x76726C67,)
    leaves: list[bytes] = []
    index: list[tuple[int, bytes]] = []
    last = ""
    rows = connection.execute(
        "SELECT n, leaf, kind, registration, envelope, content, salt, root FROM ledger_entries ORDER BY n"
    ).fetchall()
    for number, (n, leaf, kind, registration, envelope, content, salt, root) in enumerate(rows, 1):
        fields, said = json.loads(envelope), json.loads(content)
        assert n == number
        assert leaf == sha256(b"\0", envelope)
        assert fields["content_commitment"] == sha256(salt, content).hex()
        assert (fields["kind"], said["registration"]) == (kind, registration)
        texts = connection.execute("SELECT commitment, salt, text FROM ledger_texts WHERE n = ?", (n,)).fetchall()
        assert sorted(commitments_in(said)) == sorted(commitment.hex() for commitment, _, _ in texts)
        assert all(commitment == sha256(text_salt, text) for commitment, text_salt, text in texts)
        assert fields["time"] >= last
        earlier = {made.hex() for made in leaves}
        assert earlier >= {*fields["refs"], *([fields["supersedes"]] if fields["supersedes"] else [])}
        leaves.append(leaf)
        last = fields["time"]
        spoken = {commitment.hex(): text.decode() for commitment, _, text in texts}
        lines = f"{fields['kind']}\n{' '.join(fields['refs'])}\n{fields['supersedes'] or ''}\n"
        index.append((n, sha256(lines.encode(), rfc8785.dumps(put_back(said, spoken)))))
        assert root == tree_root(leaves)
    assert connection.execute("SELECT n, same FROM ledger_index ORDER BY n").fetchall() == index
    (head,) = connection.execute("SELECT format, size, root FROM ledger_head").fetchall()
    connection.close()
    assert head == (2, len(leaves), tree_root(leaves))
    return head[2].hex()


def test_a_verifier_written_from_the_page_agrees(reproducible: Path) -> None:
    with Ledger.open(reproducible, create=False) as ledger:
        assert verified_from_the_page(reproducible) == ledger.verify().root


def test_a_verifier_written_from_the_page_agrees_on_a_longer_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    path = tmp_path / "verifier.db"
    with Ledger.open(path, create=True) as ledger:
        for number in range(13):
            with ledger.transaction() as transaction:
                refs = [entry.leaf for entry in transaction.entries()][::3]
                transaction.append(
                    kind="evidence",
                    content={"registration": REGISTRATION, "n": number, "said": [FreeText("ü"), FreeText("ü")]},
                    refs=refs,
                    supersedes=refs[-1] if refs else None,
                    by="engine",
                )
        root = ledger.verify().root
    assert verified_from_the_page(path) == root


def test_the_pages_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    monkeypatch.chdir(tmp_path)
    exec(compile(block("python"), "docs/ledger.md", "exec"), {})  # noqa: S102  # our own page
    size, root, leaf, found = capsys.readouterr().out.split()
    assert (size, found) == ("1", "False")
    assert root == leaf == verified_from_the_page(tmp_path / "verifier.db")
