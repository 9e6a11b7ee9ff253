"""`verifier ledger` as a person and as a program see it."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from verifier.ledger import FreeText, Ledger

REGISTRATION = hashlib.sha256(b"a case").hexdigest()
MAIN = "from verifier.cli.main import main; main()"
HOSTILE = "fine\x1b[2J\u202e\u200bgnp\r\n\u2028{]\x9b\t[bold]end[/bold]"


def verifier(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "SOURCE_DATE_EPOCH"}
    return subprocess.run(
        [sys.executable, "-c", MAIN, "ledger", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=environment | {"COLUMNS": "80"},
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    ledger = Ledger.open(folder / "verifier.db", create=True, now=lambda: 1_700_000_000)
    with ledger, ledger.transaction() as transaction:
        first = transaction.append(
            kind="registration",
            content={"registration": REGISTRATION, "paper": "arxiv:1", "quote": FreeText(HOSTILE), HOSTILE: 1},
            by="engine",
        ).entry
        transaction.append(
            kind="ruling",
            content={"registration": REGISTRATION, "ruling": "UPHELD", "sentence": HOSTILE},
            refs=[first.leaf],
            by="engine",
            group="one",
        )
        transaction.note(2, {"seconds": 1.5, "host": HOSTILE})
    return folder


def lines(done: subprocess.CompletedProcess[str]) -> list[dict]:
    documents = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
    for document in documents:
        assert {"schema", "ok", "sentence", "next"} <= document.keys()
        assert HOSTILE[:8] not in json.dumps({**document, "quoted": None}, ensure_ascii=False)
    return documents


def entries(folder: Path) -> list:
    with Ledger.open(folder / "verifier.db", create=False) as ledger:
        return list(ledger.entries())


def assert_harmless(text: str) -> None:
    assert all(character.isprintable() or character == "\n" for character in text)


def test_log_lists_entries_newest_last(folder: Path) -> None:
    done = verifier("log", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert_harmless(done.stdout)
    first, second = entries(folder)
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["entry", "time", "kind", "leaf", "registration", "says"]
    assert len(rows) == 2
    for row, entry in zip(rows, (first, second), strict=True):
        assert row.split()[:5] == [str(entry.n), entry.time, entry.kind, entry.leaf[:12], REGISTRATION[:12]]
    assert rows[0].endswith("paper arxiv:1")
    assert "fine\\x1b[2J\\u202e\\u200bgnp\\x0d\\x0a\\u2028" in rows[1]
    assert "[bold]end[/bold]" in rows[1]


def test_log_gives_machines_one_object_an_entry(folder: Path) -> None:
    done = verifier("log", "--json", cwd=folder)
    documents = lines(done)
    assert done.stderr == ""
    assert [document["schema"] for document in documents] == ["verifier/ledger-log/1"] * 2
    assert [document["leaf"] for document in documents] == [entry.leaf for entry in entries(folder)]
    assert documents[1]["refs"] == [documents[0]["leaf"]]
    assert documents[1]["quoted"] == {"says": HOSTILE, "by": "engine", "group": "one"}


def test_show_gives_what_a_reader_needs_to_hash_it_again(folder: Path) -> None:
    first = entries(folder)[0]
    by_number, by_leaf = (verifier("show", which, "--json", cwd=folder) for which in ("1", first.leaf[:8]))
    assert by_number.stdout == by_leaf.stdout
    (document,) = lines(by_number)
    quoted = document["quoted"]
    envelope = json.loads(quoted["envelope"])
    assert document["leaf"] == hashlib.sha256(b"\0" + quoted["envelope"].encode()).hexdigest() == document["root"]
    salted = bytes.fromhex(document["salt"]) + quoted["stored_content"].encode()
    assert envelope["content_commitment"] == document["content_commitment"] == hashlib.sha256(salted).hexdigest()
    (text,) = quoted["texts"]
    assert text["commitment"] == hashlib.sha256(bytes.fromhex(text["salt"]) + HOSTILE.encode()).hexdigest()
    assert json.loads(quoted["stored_content"])["quote"] == {"text_commitment": text["commitment"]}
    assert quoted["content"] == {"registration": REGISTRATION, "paper": "arxiv:1", "quote": HOSTILE, HOSTILE: 1}


def test_show_is_harmless_on_a_terminal(folder: Path) -> None:
    done = verifier("show", "2", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert_harmless(done.stdout)
    second = entries(folder)[1]
    for part in (second.leaf, second.refs[0], second.content_commitment, "UPHELD", "never hashed", "1.5"):
        assert part in done.stdout


@pytest.mark.parametrize("which", ["0", "99999999999999999999", "abcdef", "²"])
def test_show_refuses_what_names_no_entry(folder: Path, which: str) -> None:
    done = verifier("show", which, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1


def test_verify_says_what_vouches_for_it(folder: Path) -> None:
    first, second = entries(folder)
    done = verifier("verify", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    sentence = done.stdout.splitlines()[0]
    assert second.root in sentence
    assert "2 entries" in sentence
    assert "nothing vouches" in sentence
    part = verifier("verify", "--root", first.root, cwd=folder)
    assert "vouches for entry 1:" in part.stdout
    assert "vouches for entry 2." in part.stdout.splitlines()[0]
    (whole,) = lines(verifier("verify", "--root", second.root, "--json", cwd=folder))
    assert whole["schema"] == "verifier/ledger-verify/1"
    assert (whole["size"], whole["vouched"], whole["root"]) == (2, 2, second.root)
    assert (whole["first_time"], whole["reproducible"]) == ("2023-11-14T22:13:20Z", False)


def test_verify_refuses_a_root_that_is_none_and_catches_one_of_another_ledger(folder: Path) -> None:
    assert verifier("verify", "--root", "abc", cwd=folder).returncode == 2
    done = verifier("verify", "--root", "ab" * 32, cwd=folder)
    assert (done.returncode, done.stdout) == (4, "")


@pytest.mark.parametrize(
    ("command", "name"),
    [(["verify"], "text.db"), (["verify"], "."), (["log"], "missing.db"), (["show", "1"], "missing.db")],
)
def test_a_ledger_that_is_none_gets_one_sentence(tmp_path: Path, command: list[str], name: str) -> None:
    (tmp_path / "text.db").write_text("x" * 5000)
    done = verifier(*command, "--ledger", name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {name}: ")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["text.db"]


def test_an_error_is_one_object_for_a_program(tmp_path: Path) -> None:
    done = verifier("log", "--ledger", "missing.db", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert (done.returncode, done.stderr, document["ok"]) == (2, "", False)
    assert document["error"]["where"] == "missing.db"


def test_the_commands_offered_next_work(folder: Path, tmp_path: Path) -> None:
    path = folder / "verifier.db"
    (document, _) = lines(verifier("log", "--json", "--ledger", str(path), cwd=tmp_path))
    for _ in range(2):
        name, ledger, *arguments = document["next"][0].split()
        assert (name, ledger) == ("verifier", "ledger")
        document = lines(verifier(*arguments, "--json", cwd=tmp_path))[0]
        assert document["ok"]
