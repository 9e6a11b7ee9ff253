"""Signing a ledger's head and cosigning it, in files: what `ledger checkpoint|witness` and `run --witness` share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from verifier.cli.options import beside
from verifier.model.errors import BadInput, InfrastructureFailed

if TYPE_CHECKING:
    from verifier.ledger import Ledger
    from verifier.ledger.checkpoints import Trusted
    from verifier.ledger.keys import PrivateKey, PublicKey
    from verifier.ledger.log_keys import LogKey
    from verifier.ledger.notes import Note

_MEND = "free space, or choose another place"


def checkpoints_folder(book: Ledger) -> Path:
    """Where the checkpoints of a ledger are kept: beside it."""
    return beside(book.path, "checkpoints")


def sign_head(book: Ledger, private: PrivateKey, out: Path | None = None) -> tuple[Path, Note]:
    """Signs size and root of the ledger, after recomputing all of it; returns the file it is written to, and the note.

    Raises TamperingDetected where the ledger does not continue what its log signed before, BadInput where another key
    has taken this one's place, or where something else stands in the file.
    """
    from verifier.ledger.checkpoints import sign_checkpoint
    from verifier.ledger.log_keys import log_keys
    from verifier.ledger.proofs import anchors_of
    from verifier.report.files import write_whole

    folder = checkpoints_folder(book)
    keys = log_keys(book.entries("key"), private.public)
    if own := next((one for one in keys if one.key.raw == private.public.raw and one.replaced), None):
        raise BadInput(
            f"entry {own.until} records that another key has taken this one's place",
            where=private.name,
            mend="sign with the key that replaced it",
        )
    # a log never signs what does not continue everything it signed before
    found = book.verify(anchors=anchors_of(_signed_before(folder, keys)))
    note = sign_checkpoint(private, size=found.size, root=bytes.fromhex(found.root))
    path = out or folder / f"{found.size}.txt"
    if path.exists():
        note = _kept(path, note)
    write_whole({path: str(note).encode()}, what="the checkpoint", mend=_MEND)
    return path, note


def _signed_before(folder: Path, keys: list[LogKey]) -> Iterator[Trusted]:
    """The kept checkpoints that the log's keys signed; files of other keys are not its promises."""
    from verifier.ledger.checkpoints import open_checkpoint
    from verifier.ledger.kept import kept_checkpoints, read_note_file
    from verifier.ledger.notes import parse_note

    for path in kept_checkpoints(folder):
        data = read_note_file(path)
        note = parse_note(data, where=str(path))
        for one in keys:
            if note.of(one.key):
                yield open_checkpoint(data, key=one.key, where=str(path))


def _kept(path: Path, note: Note) -> Note:
    """The note with the signatures that stand in the file already. Raises BadInput where it holds something else."""
    from verifier.ledger.kept import read_note_file
    from verifier.ledger.notes import parse_note, with_signatures

    before = parse_note(read_note_file(path), where=str(path))
    if before.text != note.text:
        raise BadInput("another checkpoint stands here", where=str(path), mend="name another file with --out")
    return with_signatures(before, note.signatures)


def cosign_file(
    book: Ledger, path: Path, *, private: PrivateKey, log: PublicKey, seen: Path, first: bool, own: Path | None = None
) -> tuple[Note, bool]:
    """Cosigns the checkpoint in a file, and keeps what was seen; returns the note, and whether it was the first.

    `seen` is the witness's own file, and `own` the one beside its key: where that speaks of this log too, it is
    continued as well, whatever `seen` and `first` say. Raises BadInput where `seen` is not there and `first` does not
    say that this witness never saw the log, and as `cosign_next`.
    """
    from verifier.ledger.kept import read_note_file
    from verifier.ledger.times import system_now
    from verifier.ledger.witness import cosign_next
    from verifier.report.files import write_whole

    with contextlib.ExitStack() as locks:
        for file in sorted({seen.resolve(), *([own.resolve()] if own is not None and own.exists() else [])}):
            locks.enter_context(_alone(file))
        before = {seen: _seen(seen, first=first)}
        if own is not None and own.resolve() != seen.resolve() and _speaks_of(own, log):
            before[own] = read_note_file(own)
        data, prove, second = read_note_file(path), book.tree().consistency_proof, system_now()
        note, *_ = [  # all of them, or none
            cosign_next(data, log=log, private=private, seen=one, prove=prove, second=second, where=str(path))
            for one in before.values()
        ]
        # kept before it is handed out: a crash in between costs a signature, never a promise
        write_whole(dict.fromkeys(before, str(note).encode()), what="what this witness saw last", mend=_MEND)
        write_whole({path: str(note).encode()}, what="the checkpoint", mend=_MEND)
    return note, not any(before.values())


def _speaks_of(path: Path, log: PublicKey) -> bool:
    """Whether what a witness kept there is of this log."""
    from verifier.ledger.checkpoints import parse_checkpoint
    from verifier.ledger.kept import read_note_file
    from verifier.ledger.notes import parse_note

    where = str(path)
    return path.exists() and parse_checkpoint(
        parse_note(read_note_file(path), where=where).text, where=where
    ).origin == (log.name)


def _seen(path: Path, *, first: bool) -> bytes | None:
    """What the witness kept. Raises BadInput where nothing is there and this is not said to be the first time."""
    from verifier.ledger.kept import read_note_file

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
