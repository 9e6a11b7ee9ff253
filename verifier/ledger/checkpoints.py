"""Checkpoints (C2SP tlog-checkpoint): the size and root of the tree, signed by the log and cosigned by witnesses."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import NamedTuple

from verifier.ledger.cosign import check_cosigned
from verifier.ledger.keys import KeyType, PrivateKey, PublicKey, check_key_name
from verifier.ledger.merkle import HASH_BYTES
from verifier.ledger.notes import Note, check_signed, parse_note, sign_note
from verifier.model.errors import BadInput, TamperingDetected

_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")


class Checkpoint(NamedTuple):
    """What a checkpoint states: the log's name, how many entries it holds, and the root over them, 32 bytes."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The three lines that are signed."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


class Cosigned(NamedTuple):
    """That a witness saw a checkpoint: its key, and by its own clock when, in seconds since 1970."""

    witness: PublicKey
    second: int


class Trusted(NamedTuple):
    """A checkpoint whose signatures were checked against keys from outside."""

    checkpoint: Checkpoint
    note: Note
    cosigned: tuple[Cosigned, ...]


def parse_checkpoint(text: str, *, where: str) -> Checkpoint:
    """The checkpoint that a note's text states; extension lines are refused.

    Raises BadInput where it is none.
    """
    lines = text.split("\n")
    if len(lines) == 4 and not lines[3] and _SIZE.fullmatch(lines[1]):
        try:
            root = base64.b64decode(lines[2], validate=True)
        except (binascii.Error, ValueError):
            root = b""
        if len(root) == HASH_BYTES and base64.b64encode(root).decode() == lines[2]:
            return Checkpoint(check_key_name(lines[0], where=where), int(lines[1]), root)
    raise BadInput(
        "this note is not a checkpoint of three lines: name, size, root",
        where=where,
        mend="give a file that `verifier ledger checkpoint` wrote",
    )


def sign_checkpoint(private: PrivateKey, *, size: int, root: bytes) -> Note:
    """The signed checkpoint of a tree; its origin is the key's name. Raises BadInput for a witness's key."""
    text = Checkpoint(private.name, size, root).text
    return Note(text, (sign_note(text, private),))


def open_checkpoint(data: bytes, *, key: PublicKey, witnesses: Sequence[PublicKey] = (), where: str) -> Trusted:
    """The checkpoint in these bytes, once the log's key and every witness named have been found to have signed it.

    The keys come from outside. Raises BadInput for bytes that are no checkpoint, for keys of the wrong type and for a
    witness whose key is the log's; TamperingDetected for a signature that is missing or does not fit, or an origin
    that is not the key's name.
    """
    check_roles(key, witnesses)
    note = parse_note(data, where=where)
    checkpoint = parse_checkpoint(note.text, where=where)
    check_signed(note, key, where=where)
    if checkpoint.origin != key.name:
        raise TamperingDetected(f"this is a checkpoint of {checkpoint.origin}, not of {key.name}", where=where)
    cosigned = tuple(Cosigned(one, check_cosigned(note, one, where=where)) for one in witnesses)
    return Trusted(checkpoint, note, cosigned)


def check_roles(key: PublicKey, witnesses: Sequence[PublicKey]) -> None:
    """Raises BadInput where the log's key is a witness's, a witness's is not, or one key does both."""
    if key.type is not KeyType.NOTE:
        raise BadInput("this is a witness's key, not a log's", where="--key", mend="give the log's verifier key")
    for witness in witnesses:
        if witness.type is not KeyType.COSIGNATURE:
            raise BadInput(
                f"the key of {witness.name} does not sign cosignatures",
                where="--witness",
                mend="make a witness's key with `verifier ledger keygen --witness`",
            )
        if witness.raw == key.raw:
            raise BadInput("the witness's key is the log's own, so it witnesses nothing", where="--witness")
