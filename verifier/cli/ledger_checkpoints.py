"""`verifier ledger checkpoint|witness`: signing the head, and cosigning what somebody else signed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verifier.cli.options import beside, ledger_command, ledger_option
from verifier.cli.output import Output, with_output
from verifier.model.errors import BadInput, InfrastructureFailed

if TYPE_CHECKING:
    from verifier.ledger import Ledger
    from verifier.ledger.checkpoints import Trusted
    from verifier.ledger.keys import PublicKey
    from verifier.ledger.notes import Note

_KEPT = 10_000  # checkpoints looked at in a folder
_MEND = "free space, or choose another place"


def read_note_file(path: Path, *, missing: str = "make one with `verifier ledger checkpoint`") -> bytes:
    """The bytes of a checkpoint's file, at most a little more than a note may have. Raises BadInput."""
    from verifier.ledger.notes import MAX_NOTE_BYTES

    try:
        with path.open("rb") as file:
            return file.read(MAX_NOTE_BYTES + 1)
    except OSError as error:
        raise BadInput(f"the file cannot be read ({error.strerror})", where=str(path), mend=missing) from error


def checkpoints_folder(book: Ledger) -> Path:
    """Where the checkpoints of a ledger are kept: beside it."""
    return beside(book.path, "checkpoints")


def kept_checkpoints(folder: Path) -> list[Path]:
    """The checkpoint files of a folder, the largest size first."""
    if not folder.is_dir():
        return []
    found = [path for path in folder.glob("*.txt") if path.stem.isdecimal() and len(path.stem) <= 19]
    return sorted(found, key=lambda path: int(path.stem), reverse=True)[:_KEPT]


@click.command()
@click.option("--sign", "key_file", metavar="KEYFILE", required=True, help="The log's private key.")
@click.option("--out", "out_name", metavar="FILE", help="Write it there, not into the folder beside the ledger.")
@ledger_option
@with_output
def checkpoint(output: Output, key_file: str, out_name: str | None, ledger_url: str) -> None:
    """Sign size and root of the ledger, after recomputing all of it, and show the note to hand on."""
    from verifier.ledger import Ledger
    from verifier.ledger.checkpoints import sign_checkpoint
    from verifier.ledger.keys import load_private
    from verifier.ledger.proofs import anchors_of
    from verifier.report.files import write_whole

    private = load_private(key_file)
    with Ledger.open(ledger_url, create=False) as book:
        folder = checkpoints_folder(book)
        # a log never signs what does not continue everything it signed before
        found = book.verify(anchors=anchors_of(_signed_before(folder, private.public)))
        note = sign_checkpoint(private, size=found.size, root=bytes.fromhex(found.root))
    path = Path(out_name) if out_name else folder / f"{found.size}.txt"
    if path.exists():
        note = _kept(path, note)
    write_whole({path: str(note).encode()}, what="the checkpoint", mend=_MEND)
    _show(output, note)
    output.result(
        "verifier/ledger-checkpoint/1",
        f"The checkpoint of {found.size} entries is signed by {private.name} and stands in {path}; keep a copy where "
        "the ledger's keeper cannot write, and have it cosigned.",
        next_=[ledger_command("verify", ledger_url, "--key", private.public.vkey, "--checkpoint", str(path))],
        file=str(path),
        size=found.size,
        root=found.root,
        vkey=private.public.vkey,
        checkpoint=str(note),
    )


def _signed_before(folder: Path, key: PublicKey) -> Iterator[Trusted]:
    """The kept checkpoints that this key signed; files of other keys are not its promises."""
    from verifier.ledger.checkpoints import open_checkpoint
    from verifier.ledger.notes import parse_note

    for path in kept_checkpoints(folder):
        data = read_note_file(path)
        if parse_note(data, where=str(path)).of(key):
            yield open_checkpoint(data, key=key, where=str(path))


def _kept(path: Path, note: Note) -> Note:
    """The note with the signatures that stand in the file already. Raises BadInput where it holds something else."""
    from verifier.ledger.notes import parse_note, with_signatures

    before = parse_note(read_note_file(path), where=str(path))
    if before.text != note.text:
        raise BadInput("another checkpoint stands here", where=str(path), mend="name another file with --out")
    return with_signatures(before, note.signatures)


def _show(output: Output, note: Note) -> None:
    for line in str(note)[:-1].split("\n"):
        output.show(line)


@click.command()
@click.argument("checkpoint_file", metavar="CHECKPOINT")
@click.option("--sign", "key_file", metavar="KEYFILE", required=True, help="The witness's private key.")
@click.option("--key", "vkey", metavar="VKEY", required=True, help="The log's verifier key, from outside.")
@click.option("--seen", "seen_name", metavar="FILE", help="Where the witness keeps what it cosigned last.")
@click.option("--first", is_flag=True, help="This witness never saw this log before.")
@ledger_option
@with_output
def witness(
    output: Output,
    checkpoint_file: str,
    key_file: str,
    vkey: str,
    seen_name: str | None,
    first: bool,
    ledger_url: str,
) -> None:
    """Cosign CHECKPOINT, once the ledger proves that it continues the one cosigned last."""
    from verifier.ledger import Ledger
    from verifier.ledger.keys import load_private, parse_vkey
    from verifier.ledger.times import system_now
    from verifier.ledger.witness import cosign_next
    from verifier.report.files import write_whole

    private, log = load_private(key_file), parse_vkey(vkey)
    path, seen = Path(checkpoint_file), Path(seen_name or f"{key_file}.seen")
    with Ledger.open(ledger_url, create=False) as book, _alone(seen):
        before = _seen(seen, first=first)
        note = cosign_next(
            read_note_file(path),
            log=log,
            private=private,
            seen=before,
            prove=book.tree().consistency_proof,
            second=system_now(),
            where=str(path),
        )
        # kept before it is handed out: a crash in between costs a signature, never a promise
        write_whole({seen: str(note).encode()}, what="what this witness saw last", mend=_MEND)
        write_whole({path: str(note).encode()}, what="the checkpoint", mend=_MEND)
    _show(output, note)
    output.result(
        "verifier/ledger-witness/1",
        f"{private.name} has cosigned the checkpoint of {note.text.splitlines()[1]} entries of {log.name}"
        f"{', the first it saw' if before is None else ', which continues the one it cosigned last'}.",
        next_=[
            ledger_command(
                "verify", ledger_url, "--key", log.vkey, "--checkpoint", str(path), "--witness", private.public.vkey
            )
        ],
        file=str(path),
        seen=str(seen),
        size=int(note.text.splitlines()[1]),
        vkey=private.public.vkey,
        checkpoint=str(note),
    )


def _seen(path: Path, *, first: bool) -> bytes | None:
    """What the witness kept. Raises BadInput where nothing is there and this is not said to be the first time."""
    if path.exists():
        return read_note_file(path)
    if not first:
        raise BadInput(
            "what this witness cosigned last is not here",
            where=str(path),
            mend="name its file with --seen, or say --first where it never saw this log",
        )
    return None


@contextlib.contextmanager
def _alone(seen: Path) -> Iterator[None]:
    """Holds the witness's lock, so that two runs of it cannot cosign two continuations of one checkpoint."""
    import fcntl

    lock = seen.with_name(f"{seen.name}.lock")
    try:
        with lock.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise InfrastructureFailed(
            f"the witness's lock cannot be taken ({error.strerror})", where=str(lock), mend="choose a place with --seen"
        ) from error
