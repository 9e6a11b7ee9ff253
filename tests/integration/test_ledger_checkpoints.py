"""`verifier ledger keygen|checkpoint|witness|prove|verify --key`: trust that comes from outside the ledger."""

import json
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Verifier
from tests.oracles import signed_note
from verifier.ledger import Ledger, bundle_checker
from verifier.ledger.checkpoints import sign_checkpoint
from verifier.ledger.keys import load_private

REGISTRATION = "ab" * 32


def grow(folder: Path, count: int, *, name: str = "verifier.db", said: str = "as it was") -> None:
    with Ledger.open(folder / name, create=True) as ledger, ledger.transaction() as transaction:
        last = [entry.leaf for entry in transaction.entries()][-1:]
        for _ in range(count):
            size = sum(1 for _ in transaction.entries())
            entry = transaction.append(
                kind="evidence" if last else "registration",
                content={"registration": REGISTRATION, "number": size, "said": said},
                refs=last,
                by="engine",
            ).entry
            last = [entry.leaf]


@dataclass
class Desk:
    """A ledger with a log's key and a witness's key, in a folder of its own."""

    folder: Path
    verifier: Verifier
    log: str
    witness: str

    def ledger(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        said = self.verifier("ledger", *arguments, "--json")
        assert said.code == code, said
        return said.document

    def checkpoint(self) -> dict[str, Any]:
        return self.ledger("checkpoint", "--sign", "log.key")

    def cosign(self, size: int, *flags: str, code: int = 0) -> dict[str, Any]:
        file = f"verifier-checkpoints/{size}.txt"
        return self.ledger("witness", file, "--sign", "w.key", "--key", self.log, *flags, code=code)

    def verify(self, *sizes: int, witnessed: bool = True, code: int = 0) -> dict[str, Any]:
        files = [word for size in sizes for word in ("--checkpoint", f"verifier-checkpoints/{size}.txt")]
        witness = ["--witness", self.witness] if witnessed else []
        return self.ledger("verify", "--key", self.log, *files, *witness, code=code)


@pytest.fixture
def desk(tmp_path: Path, verifier: Verifier) -> Desk:
    grow(tmp_path, 4)
    made = Desk(tmp_path, verifier, "", "")
    made.log = made.ledger("keygen", "--name", "example.org/ledger", "--out", "log.key")["vkey"]
    made.witness = made.ledger("keygen", "--witness", "--name", "w.example/one", "--out", "w.key")["vkey"]
    return made


def test_keygen_makes_keys_for_three_roles(desk: Desk) -> None:
    person = desk.ledger("keygen", "--person")
    assert person["file"] == "verifier-person.key"
    assert person["name"].startswith("person-")
    assert stat.S_IMODE((desk.folder / "verifier-person.key").stat().st_mode) == 0o600
    assert person["vkey"].split("+")[0] == person["name"]
    assert len(person["fingerprint"]) == 64
    assert "PRIVATE" not in json.dumps(person)
    assert "never overwritten" in desk.ledger("keygen", "--person", code=2)["sentence"]
    assert desk.ledger("keygen", "--person", "--witness", code=2)["error"]["where"] == "--person, --witness"
    assert desk.ledger("keygen", "--name", "a b", code=2)["error"]["where"] == "--name"


def test_a_ledger_is_signed_cosigned_and_vouched_for_up_to_its_checkpoint(desk: Desk) -> None:
    assert desk.checkpoint()["size"] == 4
    assert "not here" in desk.cosign(4, code=2)["sentence"]
    assert desk.cosign(4, "--first")["size"] == 4
    grow(desk.folder, 3)
    note = desk.checkpoint()["checkpoint"]
    cosigned = desk.cosign(7)["checkpoint"]
    assert cosigned.startswith(note)
    text, signed = signed_note.open_note(cosigned, [desk.log, desk.witness])
    assert set(signed) == {desk.log, desk.witness}
    origin, size, root, extensions = signed_note.read_checkpoint(text)
    assert (origin, size, extensions) == ("example.org/ledger", 7, [])
    grow(desk.folder, 2)
    found = desk.verify(4, 7)
    assert (found["size"], found["vouched"]) == (9, 7)
    assert found["checkpoints"][1]["root"] == root.hex()
    assert found["checkpoints"][1]["cosigned"] == [{"witness": desk.witness, "second": signed[desk.witness]}]
    assert "cosigned by w.example/one vouches for entries 1 to 7" in found["sentence"]
    assert "Nothing outside this ledger vouches for entries 8 to 9." in found["sentence"]
    assert found["witnessed"] == {REGISTRATION: False}  # the first checkpoint covers the first evidence already
    assert found["sentence"].endswith("Of the registrations with evidence 0 are witnessed, 1 not.")
    assert "not witnessed" in desk.verify(7, witnessed=False)["sentence"]
    assert "nothing vouches that it was not rewritten" in desk.ledger("verify")["sentence"]


def test_a_checkpoint_between_registration_and_evidence_makes_it_witnessed(
    tmp_path: Path, verifier: Verifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    grow(tmp_path, 1)
    desk = Desk(tmp_path, verifier, "", "")
    desk.log = desk.ledger("keygen", "--name", "example.org/ledger", "--out", "log.key")["vkey"]
    desk.witness = desk.ledger("keygen", "--witness", "--out", "w.key")["vkey"]
    desk.checkpoint()
    desk.cosign(1, "--first")
    grow(desk.folder, 2)
    found = desk.verify(1)
    assert found["witnessed"] == {REGISTRATION: True}
    assert found["sentence"].endswith("Of the registrations with evidence 1 is witnessed, 0 not.")


def test_signing_again_keeps_the_cosignatures(desk: Desk) -> None:
    desk.checkpoint()
    cosigned = desk.cosign(4, "--first")["checkpoint"]
    assert desk.checkpoint()["checkpoint"].count("\u2014") == 2
    assert set(signed_note.open_note(cosigned, [desk.log, desk.witness])[1]) == {desk.log, desk.witness}
    desk.verify(4)


def rewritten(desk: Desk, count: int) -> None:
    for leftover in desk.folder.glob("verifier.db*"):
        leftover.unlink()
    grow(desk.folder, count, said="otherwise")


def test_a_rewritten_ledger_is_located_between_checkpoints_and_neither_signed_nor_cosigned(desk: Desk) -> None:
    desk.checkpoint()
    desk.cosign(4, "--first")
    shutil.copytree(desk.folder / "verifier-checkpoints", desk.folder / "outside")
    grow(desk.folder, 3)
    desk.checkpoint()
    rewritten(desk, 9)
    assert desk.verify(4, code=4)["error"]["where"] == "ledger entries 1 to 4"
    assert desk.verify(7, witnessed=False, code=4)["error"]["where"] == "ledger entries 1 to 7"
    assert desk.ledger("checkpoint", "--sign", "log.key", code=4)["error"]["where"].startswith("ledger entries 1 to")
    # whoever holds the log's key forgets what it signed before; the witness does not
    shutil.rmtree(desk.folder / "verifier-checkpoints")
    assert desk.checkpoint()["size"] == 9
    assert "not the beginning" in desk.cosign(9, code=4)["sentence"]
    assert desk.verify(9, code=4)["sentence"].startswith("verifier-checkpoints/9.txt: the witness")
    assert desk.verify(9, witnessed=False)["vouched"] == 9  # an expected miss: the log's own word alone


def test_another_file_of_what_was_seen_does_not_undo_the_one_beside_the_key(desk: Desk) -> None:
    desk.checkpoint()
    desk.cosign(4, "--first")
    grow(desk.folder, 3)
    desk.checkpoint()
    desk.cosign(7, "--first", "--seen", "fresh.seen")  # it continues what the key saw, and that is kept for both
    assert (desk.folder / "fresh.seen").read_text() == (desk.folder / "w.key.seen").read_text()
    shutil.rmtree(desk.folder / "verifier-checkpoints")
    rewritten(desk, 9)
    desk.checkpoint()
    assert "not the beginning" in desk.cosign(9, "--first", "--seen", "fork.seen", code=4)["sentence"]
    assert not (desk.folder / "fork.seen").exists()
    assert "w.example" not in (desk.folder / "verifier-checkpoints/9.txt").read_text()
    # what the key saw of another log stands in nobody's way
    desk.log = desk.ledger("keygen", "--name", "example.org/other", "--out", "other.key")["vkey"]
    shutil.rmtree(desk.folder / "verifier-checkpoints")
    desk.ledger("checkpoint", "--sign", "other.key")
    seen = (desk.folder / "w.key.seen").read_text()
    assert desk.cosign(9, "--first", "--seen", "other.seen")["size"] == 9
    assert (desk.folder / "w.key.seen").read_text() == seen


def test_a_truncated_ledger_is_caught(desk: Desk) -> None:
    desk.checkpoint()
    rewritten(desk, 2)
    assert desk.verify(4, witnessed=False, code=4)["error"]["where"] == "ledger entries 3 to 4"


def test_keys_and_files_that_do_not_fit_are_refused(desk: Desk) -> None:
    desk.checkpoint()
    file = "verifier-checkpoints/4.txt"
    other = desk.ledger("keygen", "--name", "example.org/ledger", "--out", "other.key")["vkey"]
    assert "has not signed" in desk.ledger("verify", "--key", other, "--checkpoint", file, code=4)["sentence"]
    assert desk.ledger("verify", "--key", desk.log, code=2)["error"]["where"] == "--key, --checkpoint"
    assert desk.ledger("verify", "--checkpoint", file, code=2)["error"]["where"] == "--key, --checkpoint"
    assert desk.ledger("verify", "--witness", desk.witness, code=2)["error"]["where"] == "--key, --checkpoint"
    both = ("verify", "--root", "ab" * 32, "--key", desk.log, "--checkpoint", file)
    assert desk.ledger(*both, code=2)["error"]["where"] == "--root, --checkpoint"
    assert desk.ledger("verify", "--key", desk.log, "--checkpoint", "none.txt", code=2)["error"]["where"] == "none.txt"
    assert "witness's key" in desk.ledger("checkpoint", "--sign", "w.key", code=2)["sentence"]
    (desk.folder / "log.key").chmod(0o644)
    assert "chmod 600" in desk.ledger("checkpoint", "--sign", "log.key", code=2)["sentence"]


def test_a_bundle_is_checked_by_the_file_that_stands_alone(desk: Desk, tmp_path: Path) -> None:
    assert "no checkpoint" in desk.ledger("prove", "3", "--out", "b.json", code=2)["sentence"]
    desk.checkpoint()
    desk.cosign(4, "--first")
    made = desk.ledger("prove", "3", "--out", "b.json")
    assert (made["entries"], made["size"]) == ([1, 2, 3], 4)
    assert made["checker"] == bundle_checker.__file__
    command = [sys.executable, "-I", "-S", made["checker"], "b.json", "--key", desk.log, "--witness", desk.witness]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("ACCEPTED: entry 3")
    grow(desk.folder, 1)
    assert "newer than the checkpoint" in desk.ledger("prove", "5", "--out", "c.json", code=2)["sentence"]


def test_what_a_person_sees_is_the_note_itself(desk: Desk) -> None:
    said = desk.verifier("ledger", "checkpoint", "--sign", "log.key")
    written = (desk.folder / "verifier-checkpoints/4.txt").read_text()
    assert said.out.startswith(written)
    assert (said.code, said.err) == (0, "")


def rotated(desk: Desk, new: str = "new.key", code: int = 0) -> dict[str, Any]:
    """The log's key gives way to a new one."""
    return desk.ledger("rotate", "--log", "--key", "log.key", "--new", new, code=code)


def test_the_logs_key_gives_way_to_another_and_both_keys_checkpoints_hold(desk: Desk) -> None:
    """Whoever has the old verifier key alone reads on; whoever has the new one reads what was signed before."""
    old = desk.checkpoint()["file"]
    desk.cosign(4, "--first")
    new_key = desk.ledger("keygen", "--name", "example.org/ledger", "--out", "new.key")["vkey"]
    assert rotated(desk)["n"] == 5
    refused = desk.ledger("checkpoint", "--sign", "log.key", code=2)
    assert "entry 5 records that another key has taken this one's place" in refused["sentence"]
    grow(desk.folder, 2)
    new = desk.ledger("checkpoint", "--sign", "new.key")["file"]
    desk.ledger("witness", new, "--sign", "w.key", "--key", new_key)
    both = ["--checkpoint", old, "--checkpoint", new, "--witness", desk.witness]
    for key in (desk.log, new_key):
        found = desk.ledger("verify", "--key", key, *both)
        assert (found["vouched"], found["size"]) == (7, 7)
        assert [one["size"] for one in found["checkpoints"]] == [4, 7]
        assert desk.ledger("verify", "--key", key, "--checkpoint", new)["vouched"] == 7
    assert desk.ledger("verify", "--key", desk.log, "--checkpoint", old)["vouched"] == 4
    # the new key says nothing of the old one's checkpoint alone: a thief of the old one could have written all of it
    alone = desk.ledger("verify", "--key", new_key, "--checkpoint", old, code=2)
    assert "nothing signed by the key given covers the rotation" in alone["sentence"]


def test_a_replaced_key_vouches_for_nothing_after_its_end(desk: Desk) -> None:
    desk.ledger("keygen", "--name", "example.org/ledger", "--out", "new.key")
    rotated(desk)
    grow(desk.folder, 1)
    with Ledger.open(desk.folder / "verifier.db", create=False) as book:
        old = load_private(desk.folder / "log.key")
        note = sign_checkpoint(old, size=6, root=bytes.fromhex(book.root))
    (desk.folder / "late.txt").write_text(str(note))
    late = desk.ledger("verify", "--key", desk.log, "--checkpoint", "late.txt", code=4)
    assert "a key that was the log's only before entry 5" in late["sentence"]
    early = sign_checkpoint(load_private(desk.folder / "new.key"), size=4, root=bytes(32))
    (desk.folder / "early.txt").write_text(str(early))
    found = desk.ledger("verify", "--key", desk.log, "--checkpoint", "early.txt", code=4)
    assert "a key that was the log's only from entry 5 on" in found["sentence"]


def test_a_rotation_needs_both_keys_one_name_and_happens_once(desk: Desk) -> None:
    for name, key in (("other.org/ledger", "other.key"), ("example.org/ledger", "new.key")):
        desk.ledger("keygen", "--name", name, "--out", key)
    assert "a log keeps its name" in rotated(desk, "other.key", code=2)["sentence"]
    assert "not a log's" in rotated(desk, "w.key", code=2)["sentence"]
    assert "was replaced by another" in rotated(desk, "log.key", code=2)["sentence"]
    rotated(desk)
    desk.ledger("keygen", "--name", "example.org/ledger", "--out", "third.key")
    assert "was replaced by another" in rotated(desk, "third.key", code=2)["sentence"]
    with Ledger.open(desk.folder / "verifier.db", create=False) as book:
        assert book.size == 5


def test_a_rotation_that_the_trusted_key_did_not_sign_is_passed_over(desk: Desk) -> None:
    """Somebody else's rotation, in a ledger they can append to, makes nobody trust their key."""
    for key in ("thief.key", "second.key"):
        desk.ledger("keygen", "--name", "example.org/ledger", "--out", key)
    desk.ledger("rotate", "--log", "--key", "thief.key", "--new", "second.key")
    note = desk.ledger("checkpoint", "--sign", "second.key")["file"]
    found = desk.ledger("verify", "--key", desk.log, "--checkpoint", note, code=4)
    assert "has not signed this note" in found["sentence"]
