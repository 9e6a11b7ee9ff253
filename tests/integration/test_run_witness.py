"""`run --witness`: the registration is cosigned before there is evidence, or nothing is run."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.integration.conftest import Said, Verifier, edit
from verifier.ledger import Ledger
from verifier.report import run_schema

NOT = "not witnessed: that the rule was registered before its evidence is the word of this ledger alone"


@pytest.fixture(autouse=True)
def _no_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)


@pytest.fixture
def keys(verifier: Verifier) -> dict[str, str]:
    """The verifier keys of a log and of a witness, whose private keys stand in log.key and w.key."""
    made = {
        "log": ("--name", "example.org/ledger", "--out", "log.key"),
        "witness": ("--witness", "--name", "w.example/one", "--out", "w.key"),
    }
    return {name: verifier("ledger", "keygen", *words, "--json").document["vkey"] for name, words in made.items()}


def ran(said: Said, code: int = 0) -> dict[str, Any]:
    assert said.code == code, said
    document = said.document
    if code == 0:
        jsonschema.validate(document, run_schema())
    return document


def kinds(folder: Path) -> list[str]:
    with Ledger.open(folder / "verifier.db", create=False) as book:
        return [entry.kind for entry in book.entries()]


BY_FILE = ("--sign", "log.key", "--witness", "w.key")


def test_a_run_is_witnessed_between_registration_and_evidence(
    verifier: Verifier, toy: Path, tmp_path: Path, keys: dict[str, str]
) -> None:
    assert toy.is_dir()
    document = ran(verifier("run", "toy", "--trust", "--json", *BY_FILE, "--first-seen"))
    assert (document["ledger"]["witnessed"], document["ledger"]["witness"]) == (True, "w.example/one")
    assert "Witnessed: w.example/one cosigned the registration" in (tmp_path / document["report"]).read_text()
    assert sorted(path.name for path in (tmp_path / "verifier-checkpoints").iterdir()) == ["1.txt"]
    words = ["--key", keys["log"], "--witness", keys["witness"], "--checkpoint", "verifier-checkpoints/1.txt"]
    found = verifier("ledger", "verify", *words, "--json").document
    assert found["witnessed"] == {next(iter(found["witnessed"])): True}
    # who names no witness is told that there is none
    plain = verifier("run", "toy").out
    assert NOT in plain.replace("\n", " ")


@pytest.mark.slow
def test_a_witness_remembers_and_nothing_is_signed_twice(
    verifier: Verifier, toy: Path, tmp_path: Path, keys: dict[str, str]
) -> None:
    assert keys
    document = ran(verifier("run", "toy", "--trust", "--json", *BY_FILE, "--first-seen"))
    # run again: nothing is signed or cosigned a second time, and what stands is said
    again = ran(verifier("run", "toy", "--json", *BY_FILE))
    assert again["ledger"] == document["ledger"]
    assert len(list((tmp_path / "verifier-checkpoints").iterdir())) == 1
    # who names no witness is told that there is none
    unnamed = ran(verifier("run", "toy", "--json"))["ledger"]
    assert (unnamed["witnessed"], unnamed["witness"]) == (False, None)
    # another log's or witness's key makes nothing witnessed
    verifier("ledger", "keygen", "--witness", "--name", "w.example/one", "--out", "w2.key")
    other = ran(verifier("run", "toy", "--json", "--sign", "log.key", "--witness", "w2.key"))
    assert other["ledger"]["witnessed"] is False
    # and a second registration is witnessed after the first, by a witness that remembers
    edit(toy / "case.toml", 'alternative = "0.38"', 'alternative = "0.37"')
    second = ran(verifier("run", "toy", "--trust", "--json", *BY_FILE))
    assert second["ledger"]["witnessed"] is True
    assert len(list((tmp_path / "verifier-checkpoints").iterdir())) == 2


@pytest.mark.slow
def test_evidence_that_stands_already_is_never_witnessed(
    verifier: Verifier, toy: Path, tmp_path: Path, keys: dict[str, str]
) -> None:
    assert keys
    assert toy.is_dir()
    ran(verifier("run", "toy", "--trust", "--json"))
    late = ran(verifier("run", "toy", "--json", *BY_FILE, "--first-seen"))
    assert late["ledger"]["witnessed"] is False
    # not by a checkpoint of the right size that was cosigned afterwards either
    with Ledger.open(tmp_path / "verifier.db", create=False) as book:
        root = book.entry(1).root
    from verifier.ledger.checkpoints import sign_checkpoint
    from verifier.ledger.cosign import cosign
    from verifier.ledger.keys import load_private
    from verifier.ledger.notes import with_signatures

    note = sign_checkpoint(load_private(tmp_path / "log.key"), size=1, root=bytes.fromhex(root))
    folder = tmp_path / "verifier-checkpoints"
    folder.mkdir()
    witness = load_private(tmp_path / "w.key")
    for second, expected in ((4_000_000_000, False), (5, True)):  # the witness's word for when is what is believed
        signed = with_signatures(note, [cosign(note, witness, second=second)])
        (folder / "1.txt").write_text(str(signed))
        assert ran(verifier("run", "toy", "--json", *BY_FILE))["ledger"]["witnessed"] is expected
    # a root that is not this ledger's counts for nothing, whoever signed it
    forked = sign_checkpoint(load_private(tmp_path / "log.key"), size=1, root=bytes(32))
    (folder / "1.txt").write_text(str(with_signatures(forked, [cosign(forked, witness, second=5)])))
    assert ran(verifier("run", "toy", "--json", *BY_FILE))["ledger"]["witnessed"] is False


@pytest.mark.usefixtures("toy", "keys")
def test_a_witness_that_refuses_leaves_a_registration_and_nothing_run(verifier: Verifier, tmp_path: Path) -> None:
    said = ran(verifier("run", "toy", "--trust", "--json", *BY_FILE), code=2)
    assert "what this witness cosigned last is not here" in said["sentence"]
    assert kinds(tmp_path) == ["registration"]


@pytest.mark.slow
def test_a_witness_may_be_a_command_whose_cosignature_is_checked(
    verifier: Verifier, toy: Path, tmp_path: Path, keys: dict[str, str]
) -> None:
    assert toy.is_dir()
    command = ["--sign", "log.key", "--witness-key", keys["witness"], "--witness"]
    refusing = f"{shlex.quote(sys.executable)} -c \"import sys; sys.exit('no, not this one')\""
    said = ran(verifier("run", "toy", "--trust", "--json", *command, refusing), code=3)
    assert said["sentence"].count("the witness refused: no, not this one") == 1
    idle = f"{shlex.quote(sys.executable)} -c pass"
    assert "has not cosigned this note" in ran(verifier("run", "toy", "--json", *command, idle), code=4)["sentence"]
    assert "cannot be run" in ran(verifier("run", "toy", "--json", *command, "/no/such/witness"), code=3)["sentence"]
    assert kinds(tmp_path) == ["registration"]
    script = tmp_path / "witness.sh"
    script.write_text(
        "#!/bin/sh\n"
        f'exec {shlex.quote(sys.executable)} -m verifier ledger witness --sign w.key --key "$1" --first "$2"\n'
    )
    script.chmod(0o755)
    done = ran(verifier("run", "toy", "--json", *command, f"./witness.sh {keys['log']}"))
    assert done["ledger"]["witness"] == "w.example/one"
    assert kinds(tmp_path) == ["registration", "evidence", "ruling"]


def test_options_that_do_not_belong_together(
    verifier: Verifier, toy: Path, tmp_path: Path, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert toy.is_dir()
    wrong: list[tuple[list[str], str]] = [
        (["--witness", "w.key"], "--sign, --witness"),
        (["--sign", "log.key"], "--sign, --witness"),
        (["--first-seen"], "--sign, --witness"),
        (["--sign", "log.key", "--witness", "log.key"], "--witness"),
        (["--sign", "w.key", "--witness", "w.key"], "--key"),
        (["--sign", "log.key", "--witness", "  ", "--witness-key", keys["witness"]], "--witness"),
        (["--sign", "log.key", "--witness", "'", "--witness-key", keys["witness"]], "--witness"),
        (["--sign", "log.key", "--witness", "x", "--witness-key", keys["log"]], "--witness"),
        (["--sign", "log.key", "--witness", "x", "--witness-key", keys["witness"], "--first-seen"], "--first-seen"),
    ]
    for words, where in wrong:
        assert ran(verifier("run", "toy", "--trust", "--json", *words), code=2)["error"]["where"] == where, words
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    said = ran(verifier("run", "toy", "--trust", "--json", *BY_FILE), code=2)
    assert "under SOURCE_DATE_EPOCH" in said["sentence"]
    assert not (tmp_path / "verifier.db").exists()
