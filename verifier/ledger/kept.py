"""Checkpoints in files: the folder of a ledger's own, and the bytes of one that somebody names."""

from __future__ import annotations

from pathlib import Path

from verifier.ledger.notes import MAX_NOTE_BYTES
from verifier.model.errors import BadInput

_KEPT = 10_000  # checkpoints looked at in a folder


def read_note_file(path: Path, *, missing: str = "make one with `verifier ledger checkpoint`") -> bytes:
    """The bytes of a checkpoint's file, at most a little more than a note may have. Raises BadInput."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_NOTE_BYTES + 1)
    except OSError as error:
        raise BadInput(f"the file cannot be read ({error.strerror})", where=str(path), mend=missing) from error


def kept_checkpoints(folder: Path) -> list[Path]:
    """The checkpoint files of a folder, the largest size first."""
    if not folder.is_dir():
        return []
    found = [path for path in folder.glob("*.txt") if path.stem.isdecimal() and len(path.stem) <= 19]
    return sorted(found, key=lambda path: int(path.stem), reverse=True)[:_KEPT]
