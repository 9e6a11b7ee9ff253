"""The log's own keys: which one signed checkpoints of which sizes, by the rotations that the log itself records."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from verifier.ledger.checkpoints import Trusted, open_checkpoint
from verifier.ledger.content import Content
from verifier.ledger.entry import Entry
from verifier.ledger.keys import KeyType, PrivateKey, PublicKey, fingerprint, sign
from verifier.ledger.notes import parse_note
from verifier.model.errors import BadInput, TamperingDetected


class LogKey(NamedTuple):
    """A key of a log: it signs checkpoints of `since` entries and more, and of fewer than `until`, where that is set.

    `since` is the number of the entry by which it took the place of the one before it, 0 for the first of a log.
    """

    key: PublicKey
    since: int
    until: int | None

    @property
    def replaced(self) -> bool:
        """Whether another key took its place."""
        return self.until is not None

    def signs(self, size: int) -> bool:
        """Whether a checkpoint of this size may be signed by it."""
        return self.since <= size and (self.until is None or size < self.until)


def rotation_content(old: PrivateKey, new: PrivateKey) -> Mapping[str, Content]:
    """What the entry says by which `new` takes the place of `old`; the entry itself is signed by `old`.

    Raises BadInput for keys that are not a log's, or of two names: the name is the log's own, and stays.
    """
    from verifier.ledger.roster import rotation_bytes  # noqa: PLC0415  # pydantic is loaded where keys change

    if KeyType.COSIGNATURE in (old.type, new.type):
        raise BadInput("a witness's key is not a log's", where="--log", mend="give two keys of `ledger keygen`")
    if old.name != new.name:
        raise BadInput(
            f"the new key is named {new.name}, and the log {old.name}",
            where="--new",
            mend=f"make it with `verifier ledger keygen --name {old.name}`: a log keeps its name",
        )
    return {
        "role": "log",
        "public": base64.b64encode(new.public.raw).decode(),
        "pseudonym": "",
        "replaces": fingerprint(old.public),
        "proof": base64.b64encode(sign(new, rotation_bytes(new.public, old.public))).decode(),
    }


def log_keys(entries: Iterable[Entry], key: PublicKey) -> list[LogKey]:
    """The keys of the log that `key` is one of, in order, by the `key` entries of its ledger; `key` alone without any.

    Every link is signed by the key that was replaced and by the one that took its place; what is not is passed over,
    as is a second successor of one key, and a key that comes back.
    """
    after: dict[bytes, tuple[bytes, int]] = {}
    before: dict[bytes, tuple[bytes, int]] = {}
    for entry in entries:
        link = _link(entry)
        if link is None:
            continue
        old, new = link
        if old not in after and new not in before and new not in after and new != old:
            after[old], before[new] = (new, entry.n), (old, entry.n)
    first = key.raw
    while first in before:
        first = before[first][0]
    chain, since = [], 0
    raw: bytes | None = first
    while raw is not None:
        following, until = after.get(raw, (None, None))
        chain.append(LogKey(PublicKey(key.name, raw, key.type), since, until))
        raw, since = following, until or 0
    return chain


def _link(entry: Entry) -> tuple[bytes, bytes] | None:
    """(old key, new key) where the entry records that a log's key was replaced and both signed that."""
    if entry.kind != "key" or entry.content.get("role") != "log":
        return None
    from verifier.ledger.roster import log_rotation  # noqa: PLC0415  # pydantic is loaded where keys change

    return log_rotation(entry)


def open_checkpoints(
    notes: Sequence[tuple[str, bytes]],
    *,
    key: PublicKey,
    keys: Sequence[LogKey],
    witnesses: Sequence[PublicKey] = (),
) -> list[Trusted]:
    """The checkpoints in these (where, bytes), by rising size, once log and witnesses are found to have signed each.

    `key` is the one from outside, `keys` are those of its log. One signed by a later key is as good as the rotations,
    which `key` signed. One signed by an earlier key stands only beside one that covers the rotation to `key`: whoever
    stole the earlier key could sign anything. Raises TamperingDetected for a signature that is missing, does not fit,
    or is of a key that was not the log's at that size; BadInput where an earlier key's checkpoint stands alone, and as
    `open_checkpoint`.
    """
    own = next(one for one in keys if one.key.raw == key.raw)
    opened: list[tuple[LogKey, Trusted, str]] = []
    for where, data in notes:
        note = parse_note(data, where=where)
        signer = next((one for one in keys if note.of(one.key)), own)
        trusted = open_checkpoint(data, key=signer.key, witnesses=witnesses, where=where)
        size = trusted.checkpoint.size
        if not signer.signs(size):
            when = f"before entry {signer.until}" if size >= signer.since else f"from entry {signer.since} on"
            raise TamperingDetected(
                f"this checkpoint of {size} entries is signed by a key that was the log's only {when}", where=where
            )
        opened.append((signer, trusted, where))
    newest = max((one.checkpoint.size for signer, one, _ in opened if signer.since >= own.since), default=0)
    for signer, _, where in opened:
        if signer.since < own.since and newest < own.since:
            raise BadInput(
                "it is signed by an earlier key of the log, and nothing signed by the key given covers the rotation",
                where=where,
                mend="give a checkpoint signed by that key as well",
            )
    return sorted((one for _, one, _ in opened), key=lambda one: one.checkpoint.size)
