"""Entries that people sign: what the signature covers, and whether it holds."""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from verifier.ledger.content import SALT_BYTES, Content, FreeText, parse_canonical, seal
from verifier.ledger.entry import KINDS, Entry
from verifier.ledger.keys import KEY_BYTES, PrivateKey, PublicKey, fingerprint, is_small_order, sign, verify
from verifier.model.canonical import canonical_bytes

_OUTSIDE = ("key", "signature")


def signed_content(content: Mapping[str, Content], private: PrivateKey) -> dict[str, Content]:
    """`content` with the key and the signature of whoever says it, both in base64.

    The signature is over the canonical bytes of the stored content without these two: a free text counts by its
    commitment, so that the signature still holds where the text is withheld. Free texts get their salts here.
    """
    fixed = {name: _salted(value) for name, value in content.items()}
    public = private.public
    return {
        **fixed,
        "key": base64.b64encode(public.raw).decode(),
        "signature": base64.b64encode(sign(private, signed_bytes(fixed))).decode(),
    }


def signed_bytes(content: Mapping[str, Content]) -> bytes:
    """What the signature of this content is over. Every free text in it has its salt already."""
    sealed, _ = seal({name: value for name, value in content.items() if name not in _OUTSIDE}, _no_salt)
    return sealed


def _no_salt(pointer: str) -> bytes:
    raise AssertionError(f"the text at {pointer} has no salt yet")


def _salted(value: Content) -> Content:
    if isinstance(value, FreeText):
        return value if value.salt is not None else FreeText(value.text, secrets.token_bytes(SALT_BYTES))
    if isinstance(value, Mapping):
        return {name: _salted(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_salted(item) for item in value]
    return value


def read_key(encoded: Any) -> PublicKey | None:
    """The key of 32 bytes in base64, without a name; None for anything else, and for a key of small order."""
    raw = _bytes(encoded, KEY_BYTES)
    return None if raw is None or is_small_order(raw) else PublicKey("", raw)


def _bytes(encoded: Any, size: int) -> bytes | None:
    if not isinstance(encoded, str) or len(encoded) > 2 * size:
        return None
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if len(data) == size and base64.b64encode(data).decode() == encoded else None


def unsigned_because(entry: Entry) -> str:
    """Why the entry is not signed by whom it says, as a clause; empty where it is, or where its kind needs none."""
    if not KINDS[entry.kind].signed:
        return ""
    sealed = parse_canonical(entry.content_bytes)
    if not isinstance(sealed, dict):
        return "its content is withheld"
    public = read_key(sealed.get("key"))
    if public is None:
        return "it carries no key that could be anybody's"
    if entry.by != fingerprint(public):
        return "it stands under another name than that of its key"
    if sealed.get("kind") != entry.kind or sealed.get("group") != entry.group:
        return "kind and group are not the ones that were signed"
    rest = canonical_bytes({name: value for name, value in sealed.items() if name not in _OUTSIDE})
    if not holds(public, sealed.get("signature"), rest):
        return "its signature does not hold"
    return ""


def holds(public: PublicKey, signature: Any, data: bytes) -> bool:
    """Whether a signature in base64 is the key's over `data`."""
    raw = _bytes(signature, 64)
    return raw is not None and verify(public, raw, data)
