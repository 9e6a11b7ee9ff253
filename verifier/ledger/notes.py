"""Signed notes (C2SP signed-note): a text, a blank line, and signature lines under it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import NamedTuple

from verifier.ledger import keys
from verifier.ledger.keys import KeyType, PrivateKey, PublicKey
from verifier.model.errors import BadInput, TamperingDetected

MAX_NOTE_BYTES = 2**16
MAX_SIGNATURES = 100
_DASH = "\N{EM DASH} "


class Signature(NamedTuple):
    """One signature line: the key's name, its four-byte id, and the bytes its type defines."""

    name: str
    id: bytes
    data: bytes

    @property
    def line(self) -> str:
        """The line as it stands under a note."""
        return f"{_DASH}{self.name} {base64.b64encode(self.id + self.data).decode()}\n"

    def names(self, key: PublicKey) -> bool:
        """Whether it claims to be this key's: name and id agree."""
        return self.name == key.name and self.id == key.id


class Note(NamedTuple):
    """A note as parsed, its signatures unchecked. `text` ends with a newline."""

    text: str
    signatures: tuple[Signature, ...]

    def __str__(self) -> str:
        """The note as it is written and handed on."""
        return f"{self.text}\n{''.join(one.line for one in self.signatures)}"

    def of(self, key: PublicKey) -> list[Signature]:
        """The signatures that claim to be this key's."""
        return [one for one in self.signatures if one.names(key)]


def parse_note(data: bytes, *, where: str) -> Note:
    """The note that these bytes are. Raises BadInput where they are none, or exceed 64 KiB or 100 signatures."""
    try:
        whole = data.decode() if len(data) <= MAX_NOTE_BYTES else ""
    except UnicodeDecodeError:
        whole = ""
    text, separator, lines = whole.rpartition("\n\n")
    controls = any(character < " " and character != "\n" for character in whole)
    if not separator or not text or controls or not lines.endswith("\n"):
        raise _malformed("this is not a signed note", where)
    signed = lines[:-1].split("\n")
    if len(signed) > MAX_SIGNATURES:
        raise _malformed(f"this note has more than {MAX_SIGNATURES} signatures", where)
    return Note(f"{text}\n", tuple(_signature(line, where) for line in signed))


def _signature(line: str, where: str) -> Signature:
    name, separator, encoded = line.removeprefix(_DASH).partition(" ")
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    canonical = base64.b64encode(data).decode() == encoded
    named = bool(name) and "+" not in name and not any(character.isspace() for character in name)
    if not line.startswith(_DASH) or not separator or not named or not canonical or len(data) < 5:
        raise _malformed("a line under this note is no signature", where)
    return Signature(name, data[:4], data[4:])


def _malformed(what: str, where: str) -> BadInput:
    return BadInput(what, where=where, mend="give the file as `verifier ledger checkpoint` wrote it")


def sign_note(text: str, private: PrivateKey) -> Signature:
    """The Ed25519 signature of type 0x01 over the text. Raises BadInput for a key of another type."""
    if private.type is not KeyType.NOTE:
        raise BadInput("a witness's key signs cosignatures only", where=private.name, mend="use the log's key")
    return Signature(private.name, private.public.id, keys.sign(private, text.encode()))


def check_signed(note: Note, key: PublicKey, *, where: str) -> None:
    """Raises TamperingDetected where the note has no signature of this key, or one that does not fit its text."""
    found = note.of(key)
    if not found:
        raise TamperingDetected(f"the key {key.name}+{key.id.hex()} has not signed this note", where=where)
    if not all(keys.verify(key, one.data, note.text.encode()) for one in found):
        raise TamperingDetected(f"the signature of {key.name}+{key.id.hex()} does not fit this note", where=where)


def with_signatures(note: Note, added: Sequence[Signature]) -> Note:
    """The note with further signatures, each of which replaces an older one of the same key."""
    replaced = {(one.name, one.id) for one in added}
    kept = [one for one in note.signatures if (one.name, one.id) not in replaced]
    return Note(note.text, (*kept, *added))
