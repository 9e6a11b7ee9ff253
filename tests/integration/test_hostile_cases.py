"""Cases, stores and terminals that mean no good: no wrong ruling, no lost data, no traceback, no exit 1."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Said, Verifier, edit, files_in, start
from tests.integration.test_cli_errors import one_sentence

GROWING = "def growing("


def no_answer(said: Said, words: str) -> None:
    """A ruling NO_ANSWER, in evidence and all, whose summary says `words`."""
    assert said.code == 3, said.out + said.err
    document = said.document
    assert document["ruling"] == "NO_ANSWER", document["sentence"]
    assert document["verdict"] is None
    assert words in document["probes"][0]["summary"], document["probes"][0]["summary"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('\\ud800')", "ValueError: \\ud800"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise type('Odd', (BaseException,), {'__str__': lambda self: 1 / 0})", "its text cannot be read"),
        ("return np.ma.masked_array([1.0, 2.0], mask=[True, False])", "masked"),
        ("return [1, 2]", "returned 2 values at k = 1024, where draws = 1000 is registered"),
        ("import os; os._exit(1)", "3 workers died"),
        ('import json; json.dumps = lambda *a, **k: \'{"row": [1], "seconds": 1}\'; return [1]', "3 workers died"),
        ("import json; json.dumps = lambda *a, **k: '[' * 100000; return [1]", "3 workers died"),
    ],
)
def test_a_target_that_misbehaves_has_no_answer(verifier: Verifier, toy: Path, body: str, words: str) -> None:
    edit(toy / "quantity.py", GROWING, f"def growing(k, *, stream, draws, percent=38):\n    {body}\n\n\ndef unused(")
    edit(toy / "case.toml", '  { target = "quantity:bounded", expect = "AGAINST_DISPUTE" },\n', "")
    edit(toy / "case.toml", "looks = [10, 20, 30]", "looks = [10]")
    no_answer(verifier("run", "toy", "--trust", "--json", "--executor", "local=1"), words)


def test_a_target_that_forks_changes_no_number(verifier: Verifier, toy: Path) -> None:
    plain = verifier("run", "toy", "--trust", "--json", "--ledger", "plain.db").document
    forks = "def growing(k, *, stream, draws, percent=38):\n    import os; os.fork()\n"
    edit(toy / "quantity.py", GROWING, forks + "    return once(k, stream=stream, draws=draws)\n\n\ndef once(")
    forked = verifier("run", "toy", "--trust", "--json", "--ledger", "forked.db")
    assert forked.code == 0, forked.err
    slopes = [d["probes"][0]["statistics"]["slope_full"]["estimate"] for d in (plain, forked.document)]
    assert slopes[1] == pytest.approx(slopes[0], abs=0.1), "other streams, the same law"


def test_a_baseline_beyond_a_double_has_no_answer(verifier: Verifier, toy: Path) -> None:
    edit(toy / "quantity.py", "return Fraction(11, 2)", "return Fraction(10**400)")
    no_answer(verifier("run", "toy", "--trust", "--json"), "too large")


def test_an_edited_store_is_noticed_by_the_evidence_it_belongs_to(
    verifier: Verifier, tmp_path: Path, after_a_run: dict[str, Any]
) -> None:
    store = sqlite3.connect(tmp_path / "verifier-units.db")
    for key, row in store.execute("SELECT key, row FROM rows").fetchall():
        fields = json.loads(row)
        if "sum" in fields:
            fields["sum"] = str(5500 + int(fields["sum"]) % 23)
            data = json.dumps(fields, separators=(",", ":"), sort_keys=True).encode()
            checksum = hashlib.sha256(key.encode() + data).hexdigest()
            store.execute("UPDATE rows SET row = ?, sha256 = ? WHERE key = ?", (data, checksum, key))
    store.commit()
    store.close()
    sentence = one_sentence(verifier("run", "toy", "--json"), 4)
    assert "entry 2" in sentence
    assert verifier("status", "toy", "--json").document["standing"]["ruling"] == "UPHELD"
    assert verifier("ledger", "verify", "--json").document["size"] == after_a_run["ledger"]["size"]

    (tmp_path / "verifier-units.db").unlink()
    again = verifier("run", "toy", "--json")
    assert (again.code, again.document["ledger"]) == (0, after_a_run["ledger"])


@pytest.mark.parametrize("row", ["{}", "[]", "null", "not JSON", '{"n":0}'])
def test_damaged_rows_are_drawn_again(
    verifier: Verifier, tmp_path: Path, after_a_run: dict[str, Any], row: str
) -> None:
    store = sqlite3.connect(tmp_path / "verifier-units.db")
    store.execute("UPDATE rows SET row = ? WHERE key IN (SELECT key FROM rows LIMIT 40)", (row.encode(),))
    store.commit()
    store.close()
    again = verifier("run", "toy", "--json")
    assert (again.code, again.document["ledger"]) == (0, after_a_run["ledger"])


@pytest.mark.usefixtures("toy")
def test_a_ledger_inside_the_case_is_refused(verifier: Verifier, tmp_path: Path) -> None:
    before = files_in(tmp_path)
    for command in ("run", "register"):
        said = verifier(command, "toy", "--trust", "--json", "--ledger", "toy/verifier.db")
        assert "inside the case folder" in one_sentence(said, 2)
    assert files_in(tmp_path) == before


def test_what_a_stranger_wrote_is_shown_not_obeyed(verifier: Verifier, toy: Path) -> None:
    edit(toy / "quantity.py", "import math", 'raise ImportError("\\x1b[31mred\\x1b]0;t\\x07\\nsecond \\u202e")')
    said = verifier("run", "toy", "--trust")
    assert said.code == 2
    assert len(said.err.splitlines()) == 1
    assert not set("\x1b\x07\u202e") & set(said.err)


def test_more_units_than_a_sweep_may_have_are_refused(verifier: Verifier, toy: Path) -> None:
    edit(toy / "case.toml", "looks = [10, 20, 30]", "looks = [100000000]")
    assert "units" in one_sentence(verifier("run", "toy", "--trust", "--json"), 2)


def test_one_bad_case_leaves_the_others_to_run(verifier: Verifier, toy: Path) -> None:
    other = toy.with_name("other")
    other.mkdir()
    for path in toy.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    edit(toy / "quantity.py", "import math", "import mathematics")
    said = verifier("run", "toy", "other", "--trust", "--json")
    first, second = map(json.loads, said.out.splitlines())
    assert said.code == 2
    assert (first["schema"], second["schema"]) == ("verifier/error/1", "verifier/run/1")
    assert second["ruling"] == "UPHELD"


@pytest.mark.parametrize("epoch", ["abc", "-1", "1e9"])
@pytest.mark.usefixtures("toy")
def test_a_bad_epoch_is_said_before_anything_happens(verifier: Verifier, tmp_path: Path, epoch: str) -> None:
    before = files_in(tmp_path)
    said = verifier("run", "toy", "--trust", "--json", env={"SOURCE_DATE_EPOCH": epoch})
    assert "SOURCE_DATE_EPOCH" in one_sentence(said, 2)
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("arguments", [["status", "toy"], ["--help"], ["plan", "toy", "--json"]])
@pytest.mark.usefixtures("toy")
def test_a_reader_that_has_gone_is_no_crash(tmp_path: Path, arguments: list[str]) -> None:
    with start(*arguments, cwd=tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
    assert process.returncode in (0, 3)
    assert errors == ""


@pytest.mark.usefixtures("toy")
def test_a_closed_stdout_is_no_crash(tmp_path: Path) -> None:
    def close_stdout() -> None:
        os.close(1)

    process = start("status", "toy", cwd=tmp_path, preexec_fn=close_stdout)
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 3)
    assert "Traceback" not in errors


@pytest.mark.slow
@pytest.mark.usefixtures("after_a_run")
def test_a_terminal_that_knows_only_ascii_gets_the_ruling(process: Verifier) -> None:
    said = process("run", "toy", env={"PYTHONIOENCODING": "ascii"})
    assert said.code == 0, said.err
    assert "the dispute stands (UPHELD)" in said.out


def test_the_trust_prompt_shows_file_names_harmless(toy: Path, tmp_path: Path) -> None:
    (toy / "b, c.py").touch()
    master, slave = os.openpty()
    with start("run", "toy", cwd=tmp_path, stdin=slave, stderr=slave) as running:
        os.write(master, b"n\n")
    shown = os.read(master, 100_000).decode()
    assert '"b, c.py"' in shown
    assert running.returncode == 2
    os.close(master)
    os.close(slave)
