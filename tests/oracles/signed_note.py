"""A reader of signed notes, checkpoints and cosignatures, written from the C2SP pages alone.

It shares nothing with the package: the pages signed-note, tlog-checkpoint and tlog-cosignature, and an Ed25519 library.
"""

import base64
import hashlib
import struct

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


class NotRead(Exception):
    """The page says that a reader does not take this note."""


def read_vkey(vkey: str) -> tuple[str, int, bytes, bytes]:
    """Name, type, key and key ID. The ID is as the page recommends for types 0x01 and 0x04."""
    name, hexadecimal, encoded = vkey.split("+", 2)
    kind, key = base64.b64decode(encoded)[0], base64.b64decode(encoded)[1:]
    key_id = hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + key).digest()[:4]
    if key_id != bytes.fromhex(hexadecimal) or len(key) != 32:
        raise NotRead("key ID")
    return name, kind, key, key_id


def open_note(note: str, vkeys: list[str]) -> tuple[str, dict[str, int | None]]:
    """The text, and for each verifier key that signed it the time of its cosignature, None for type 0x01.

    The text ends at the last empty line. Lines of unknown keys are passed over; one of a known key must verify; at
    least one must.
    """
    if any(ord(character) < 0x20 and character != "\n" for character in note):
        raise NotRead("control characters")
    at = note.rindex("\n\n")
    text, lines = note[: at + 1], note[at + 2 :].splitlines()
    known = {vkey: read_vkey(vkey) for vkey in vkeys}
    signed: dict[str, int | None] = {}
    for line in lines:
        dash, name, encoded = line.split(" ")
        if dash != "\u2014":
            raise NotRead("em dash")
        blob = base64.b64decode(encoded, validate=True)
        for vkey, (key_name, kind, key, key_id) in known.items():
            if (name, blob[:4]) != (key_name, key_id):
                continue
            signed[vkey] = check(kind, key, blob[4:], text)
    if not signed:
        raise NotRead("no signature from a known key")
    return text, signed


def check(kind: int, key: bytes, signature: bytes, text: str) -> int | None:
    """Verifies one signature. Type 0x04 carries a big-endian u64 of seconds before its 64 bytes."""
    message, second = text.encode(), None
    if kind == 4:
        (second,) = struct.unpack(">Q", signature[:8])
        if second > 2**63 - 1:
            raise NotRead("timestamp")
        message = b"cosignature/v1\ntime " + str(second).encode() + b"\n" + message
        signature = signature[8:]
    elif kind != 1:
        raise NotRead("type")
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except InvalidSignature as error:
        raise NotRead("signature") from error
    return second


def read_checkpoint(text: str) -> tuple[str, int, bytes, list[str]]:
    """Origin, tree size, root hash, extension lines."""
    origin, size, root, *extensions = text.removesuffix("\n").split("\n")
    if not origin or str(int(size)) != size or not all(extensions):
        raise NotRead("checkpoint")
    return origin, int(size), base64.b64decode(root, validate=True), extensions
