"""Checkpoints that nobody who should has signed: keys swapped, signatures copied, cosignatures made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.adversary.store import Book
from verifier.ledger.checkpoints import sign_checkpoint
from verifier.ledger.cosign import cosign
from verifier.ledger.keys import KeyType, PrivateKey, generate
from verifier.ledger.notes import Note, Signature, sign_note

Forgery = Callable[[Note, Sequence[Note], PrivateKey, PrivateKey], Note]
"""(the checkpoint B signed, the honest notes, the log's key, the witness's key by its name and id only) -> a note."""


def forged(name: str, honest: Sequence[Note], book: Book, *, log: PrivateKey, witness: PrivateKey) -> Note:
    """A checkpoint over the attacked ledger. The witness's private key is never used for it."""
    return FORGERIES[name](sign_checkpoint(log, size=book.size, root=book.root), honest, log, witness)


def _named(signature: Signature, witness: PrivateKey) -> Signature:
    """A signature under the witness's name and id."""
    return Signature(witness.name, witness.public.id, signature.data)


def _none(fresh: Note, _honest: Sequence[Note], _log: PrivateKey, _witness: PrivateKey) -> Note:
    return fresh


def _copied(fresh: Note, honest: Sequence[Note], _log: PrivateKey, witness: PrivateKey) -> Note:
    """The witness's line from an honest checkpoint, its time one second later."""
    line = honest[-1].of(witness.public)[0]
    later = (int.from_bytes(line.data[:8], "big") + 1).to_bytes(8, "big")
    return Note(fresh.text, (*fresh.signatures, Signature(line.name, line.id, later + line.data[8:])))


def _own_key(fresh: Note, _honest: Sequence[Note], _log: PrivateKey, witness: PrivateKey) -> Note:
    """Another key under the witness's name, with its own id."""
    return Note(fresh.text, (*fresh.signatures, cosign(fresh, generate(witness.name, KeyType.COSIGNATURE), second=5)))


def _own_key_same_id(fresh: Note, _honest: Sequence[Note], _log: PrivateKey, witness: PrivateKey) -> Note:
    """Another key that says it is the witness's."""
    made = cosign(fresh, generate(witness.name, KeyType.COSIGNATURE), second=5)
    return Note(fresh.text, (*fresh.signatures, _named(made, witness)))


def _log_as_witness(fresh: Note, _honest: Sequence[Note], log: PrivateKey, witness: PrivateKey) -> Note:
    """The log's own key in the witness's place."""
    made = cosign(fresh, PrivateKey(witness.name, log.seed, KeyType.COSIGNATURE), second=5)
    return Note(fresh.text, (*fresh.signatures, _named(made, witness)))


def _log_key_swapped(fresh: Note, honest: Sequence[Note], log: PrivateKey, _witness: PrivateKey) -> Note:
    """A key of A's own under the log's name, and an honest cosignature beside it."""
    return Note(fresh.text, (sign_note(fresh.text, generate(log.name)), *honest[-1].signatures[1:]))


def _log_signature_copied(fresh: Note, honest: Sequence[Note], _log: PrivateKey, _witness: PrivateKey) -> Note:
    """Both honest signatures under another root: what A can do without a key."""
    size, text = honest[-1].text.split("\n")[1], fresh.text.split("\n")
    other = "\n".join([text[0], size, text[2][::-1].lstrip("=")[:42] + "A=", ""])
    return Note(other, honest[-1].signatures)


def _note_signature_as_cosignature(fresh: Note, _honest: Sequence[Note], log: PrivateKey, witness: PrivateKey) -> Note:
    """A signature of type 0x01 with a time before it."""
    line = sign_note(fresh.text, PrivateKey(witness.name, log.seed))
    made = Signature(witness.name, witness.public.id, (5).to_bytes(8, "big") + line.data)
    return Note(fresh.text, (*fresh.signatures, made))


FORGERIES: dict[str, Forgery] = {
    "no cosignature": _none,
    "cosignature copied": _copied,
    "witness swapped": _own_key,
    "witness swapped under its id": _own_key_same_id,
    "log as witness": _log_as_witness,
    "log key swapped": _log_key_swapped,
    "log signature copied": _log_signature_copied,
    "note signature as cosignature": _note_signature_as_cosignature,
}
