"""Ed25519 keys: in files that only their owner reads, and in the text form by which others name them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import stat
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from verifier.model.errors import BadInput, InfrastructureFailed

KEY_BYTES = 32
SIGNATURE_BYTES = 64
MAX_KEY_NAME = 200  # characters
_MAX_FILE = 4096
_FIELD = 2**255 - 19  # the prime of Ed25519's field (RFC 8032, 5.1)
# y of two of the four points of order 8; the others have y = -y8, and orders 4, 1 and 2 have y = 0, 1 and -1
_Y8 = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL = frozenset({0, 1, _FIELD - 1, _Y8, _FIELD - _Y8})
_PRIVATE = "PRIVATE+KEY+"


class KeyType(IntEnum):
    """What a key signs with: the signature type bytes of C2SP signed-note."""

    NOTE = 1
    COSIGNATURE = 4


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A public key under its name; `raw` is its 32 bytes (RFC 8032)."""

    name: str
    raw: bytes
    type: KeyType = KeyType.NOTE

    @property
    def id(self) -> bytes:
        """The four bytes by which a signature line names its key (C2SP signed-note)."""
        return key_id(self.name, bytes([self.type]) + self.raw)

    @property
    def vkey(self) -> str:
        """The verifier key, `name+id+base64(type ‖ key)`, as tools for signed notes are given it."""
        encoded = base64.b64encode(bytes([self.type]) + self.raw).decode()
        return f"{self.name}+{self.id.hex()}+{encoded}"


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """A private key under its name; `seed` is its 32 bytes (RFC 8032) and is never printed."""

    name: str
    seed: bytes = field(repr=False)
    type: KeyType = KeyType.NOTE

    @property
    def public(self) -> PublicKey:
        """The key that others check its signatures with."""
        raw = Ed25519PrivateKey.from_private_bytes(self.seed).public_key().public_bytes_raw()
        return PublicKey(self.name, raw, self.type)


def key_id(name: str, key: bytes) -> bytes:
    """The first four bytes of SHA-256(name ‖ newline ‖ type ‖ key); `key` begins with its type byte."""
    return hashlib.sha256(name.encode() + b"\n" + key).digest()[:4]


def check_key_name(name: str, *, where: str) -> str:
    """The name itself. Raises BadInput where it is empty, too long, or has a space, a plus or a control character."""
    plain = name and len(name) <= MAX_KEY_NAME and name.isprintable() and "+" not in name
    if not plain or any(character.isspace() for character in name):
        raise BadInput(
            f"{name[:80]!r} cannot be the name of a key",
            where=where,
            mend=f"use 1 to {MAX_KEY_NAME} characters without spaces or +, such as example.org/ledger",
        )
    return name


def generate(name: str, type_: KeyType = KeyType.NOTE) -> PrivateKey:
    """A new key from the system's randomness. Raises BadInput for a name that no key can have."""
    return PrivateKey(check_key_name(name, where="--name"), os.urandom(KEY_BYTES), type_)


def fingerprint(public: PublicKey) -> str:
    """SHA-256 of the 32 bytes of a key, 64 hexadecimal digits; what people's entries carry as `by`."""
    return hashlib.sha256(public.raw).hexdigest()


def sign(private: PrivateKey, data: bytes) -> bytes:
    """The Ed25519 signature over `data`, 64 bytes (RFC 8032, 5.1.6)."""
    return Ed25519PrivateKey.from_private_bytes(private.seed).sign(data)


def is_small_order(raw: bytes) -> bool:
    """Whether 32 bytes encode, canonically or not, a point of order 1, 2, 4 or 8.

    Such a key is nobody's: for each there are signatures that hold over many messages (RFC 8032, 8.4; Chalkias,
    Garillot and Nikolaenko, "Taming the many EdDSAs", 2020).
    """
    return (int.from_bytes(raw, "little") & (2**255 - 1)) % _FIELD in _SMALL


def verify(public: PublicKey, signature: bytes, data: bytes) -> bool:
    """Whether `signature` is the key's over `data` (RFC 8032, 5.1.7); False for any bytes that are none.

    False too for every signature of a key of small order.
    """
    if is_small_order(public.raw):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public.raw).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def parse_vkey(text: str, *, where: str = "--key") -> PublicKey:
    """The key that a verifier key names. Raises BadInput where its form, id or type is not what it must be."""
    parts = text.strip().split("+", 2) if len(text) <= _MAX_FILE else []
    if len(parts) == 3:
        name, id_, encoded = parts
        read = _typed_key(encoded)
        if read is not None:
            public = PublicKey(check_key_name(name, where=where), read[1], read[0])
            if is_small_order(public.raw):
                raise BadInput(
                    "this key is of small order, so anybody can sign for it", where=where, mend="make another"
                )
            if public.id.hex() == id_:
                return public
            raise BadInput("the id in this key is not that of its name and bytes", where=where, mend="copy it again")
    raise BadInput(
        f"{text[:80]!r} is not a verifier key",
        where=where,
        mend="give the line that `verifier ledger keygen` printed: NAME+ID+KEY",
    )


def _typed_key(encoded: str) -> tuple[KeyType, bytes] | None:
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(data) != 1 + KEY_BYTES or data[0] not in tuple(KeyType) or base64.b64encode(data).decode() != encoded:
        return None
    return KeyType(data[0]), data[1:]


def private_text(private: PrivateKey) -> str:
    """The line of a key file, `PRIVATE+KEY+name+id+base64(type ‖ seed)`, as Go's signed-note tools write it."""
    encoded = base64.b64encode(bytes([private.type]) + private.seed).decode()
    return f"{_PRIVATE}{private.name}+{private.public.id.hex()}+{encoded}\n"


def parse_private(text: str, *, where: str) -> PrivateKey:
    """The key that a key file's line holds. Raises BadInput, never showing the line, where it holds none."""
    line = text.strip()
    parts = line.removeprefix(_PRIVATE).split("+", 2)
    read = _typed_key(parts[2]) if line.startswith(_PRIVATE) and len(parts) == 3 else None
    if read is None:
        raise BadInput("this is not a private key file", where=where, mend="make one with `verifier ledger keygen`")
    private = PrivateKey(check_key_name(parts[0], where=where), read[1], read[0])
    if private.public.id.hex() != parts[1]:
        raise BadInput("the id in this key file is not that of its key", where=where)
    return private


def save_private(private: PrivateKey, path: str | os.PathLike[str]) -> None:
    """Writes a key file that only its owner can read (mode 0600), durably.

    Raises BadInput where the file exists already: a key is never overwritten; InfrastructureFailed where it cannot be
    written.
    """
    where = os.fspath(path)
    try:
        descriptor = os.open(where, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise BadInput("a file stands here already, and a key is never overwritten", where=where) from error
    except OSError as error:
        raise InfrastructureFailed(f"the key cannot be written ({error.strerror})", where=where) from error
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)  # whatever the umask
            file.write(private_text(private))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        Path(where).unlink(missing_ok=True)
        raise InfrastructureFailed(f"the key cannot be written ({error.strerror})", where=where) from error


def load_private(path: str | os.PathLike[str]) -> PrivateKey:
    """The key in a key file.

    Raises BadInput where there is none, or where anybody but its owner may read or write the file.
    """
    where = os.fspath(path)
    try:
        with Path(where).open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise BadInput("this is not a regular file", where=where)
            if found.st_mode & 0o077:
                raise BadInput(
                    f"others than its owner may use this key file (mode {stat.S_IMODE(found.st_mode):04o})",
                    where=where,
                    mend=f"run `chmod 600 {where}`, and make a new key if somebody may have read it",
                )
            data = file.read(_MAX_FILE + 1)
    except OSError as error:
        raise BadInput(
            f"the key file cannot be read ({error.strerror})",
            where=where,
            mend="make one with `verifier ledger keygen`",
        ) from error
    if len(data) > _MAX_FILE:
        raise BadInput("this is too large for a key file", where=where)
    try:
        return parse_private(data.decode(), where=where)
    except UnicodeDecodeError as error:
        raise BadInput("this is not a private key file", where=where) from error
