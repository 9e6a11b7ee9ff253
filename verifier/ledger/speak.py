"""Appending what a person says: decided in the append's transaction, and rolled back where it is not allowed."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from verifier.ledger import Ledger, Transaction
from verifier.ledger.content import WITHHELD, Content, FreeText
from verifier.ledger.entry import Entry
from verifier.ledger.keys import PrivateKey, fingerprint
from verifier.ledger.signed import signed_content
from verifier.ledger.standing import STILL, Replay
from verifier.model.disputes import DisputeStatus, NotAllowed
from verifier.model.errors import BadInput

Fields = Callable[[Replay], Mapping[str, Content]]


class Spoken(NamedTuple):
    """The entry now in the ledger, where its dispute stands after it, and whether the request was recorded before."""

    entry: Entry
    status: DisputeStatus | None
    found: bool


def speak(
    ledger: Ledger,
    *,
    private: PrivateKey,
    kind: str,
    fields: Fields,
    dispute: str | Callable[[Replay], str] = "",
    group: str = "",
    request: str = "",
) -> Spoken:
    """Signs and appends an entry of a person, if the state table allows it now.

    `fields` gives its content, and `dispute` where it is a function the dispute's id, from what stands in the ledger,
    read in the append's transaction; `request` is a UUID that a retry repeats, drawn where it is empty. Raises
    NotAllowed with the guard that is missing, and nothing is appended.
    """
    with ledger.transaction() as transaction:
        read = Replay()
        for entry in transaction.entries(without=() if kind == "withheld" else STILL):
            read.add(entry)
        about = dispute if isinstance(dispute, str) else dispute(read)
        if about and about not in read.statuses:
            raise NotAllowed(f"no dispute {about[:12]} is registered in this ledger")
        content = signed_content(
            {
                "kind": kind,
                "dispute": about,
                "group": group,
                "request": request or str(uuid.uuid4()),
                **fields(read),
            },
            private,
        )
        return append_signed(transaction, read, kind=kind, content=content, by=fingerprint(private.public))


def append_signed(
    transaction: Transaction, read: Replay, *, kind: str, content: Mapping[str, Content], by: str
) -> Spoken:
    """Appends content that its author signed, after the entries that `read` has taken in, which are all there are.

    `by` is the fingerprint of the key. Raises NotAllowed or TableError where it is not allowed: leave the transaction
    by that exception, so that it is rolled back. A request recorded before is found, if it said the same.
    """
    dispute, group = str(content.get("dispute", "")), str(content.get("group", ""))
    earlier = read.requested(by, str(content.get("request", "")))
    if earlier:
        found = _recorded(transaction, read, earlier, kind=kind, content=content)
        return Spoken(found, read.statuses.get(dispute), found=True)
    status = read.statuses.get(dispute)
    entry, _ = transaction.append(kind=kind, content=content, refs=_refs(read, content, status), by=by, group=group)
    read.require(entry)
    if kind == "withheld":
        texts: list[str] = entry.content["texts"]
        transaction.withhold(read.number_of(entry.content["target"]), texts or None)
    return Spoken(entry, read.statuses.get(dispute), found=False)


def _recorded(transaction: Transaction, read: Replay, leaf: str, *, kind: str, content: Mapping[str, Content]) -> Entry:
    """The entry that this request made before. Raises NotAllowed where it says something else."""
    n, before = read.number_of(leaf), read.kind_of(leaf)
    if before == kind:
        entry = next(entry for entry in transaction.entries(kind) if entry.leaf == leaf)
        # the signature is over commitments with salts of their own, so what it is over is compared instead
        if _same({**content, "signature": ""}, {**entry.content, "signature": ""}):
            return entry
    raise NotAllowed(
        f"another entry was recorded under this request: entry {n}, of kind {before}", mend="draw a new UUID"
    )


def _same(said: Content, recorded: Any) -> bool:
    """Whether a value about to be signed is the one recorded: whatever its salts, and where a text is withheld now."""
    if isinstance(said, FreeText):
        return bool(recorded in (said.text, WITHHELD))
    if isinstance(said, Mapping):
        alike = isinstance(recorded, Mapping) and said.keys() == recorded.keys()
        return alike and all(_same(value, recorded[name]) for name, value in said.items())
    if isinstance(said, Sequence) and not isinstance(said, str):
        alike = isinstance(recorded, list) and len(said) == len(recorded)
        return alike and all(map(_same, said, recorded))
    return bool(said == recorded)


def _refs(read: Replay, content: Mapping[str, Content], status: DisputeStatus | None) -> list[str]:
    """The leaf hashes that an entry refers to: the last of its dispute, its target, what it answers and lists."""
    named: list[object] = [status.last if status else "", content.get("target"), content.get("answers")]
    listed = content.get("notices")
    named += listed if isinstance(listed, Sequence) and not isinstance(listed, str) else []
    leaves = [leaf for leaf in named if isinstance(leaf, str) and leaf]
    for leaf in leaves:
        if not read.kind_of(leaf):
            raise BadInput(f"no entry of this ledger has the leaf hash {leaf[:80]}")
    return list(dict.fromkeys(leaves))
