"""Proof bundles: one JSON file with entries, their proofs and the checkpoint they stand under, checked offline."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from verifier.ledger.checkpoints import Checkpoint
from verifier.ledger.entry import Entry
from verifier.ledger.merkle import Tree
from verifier.ledger.notes import Note
from verifier.ledger.proofs import states_root
from verifier.model.errors import BadInput, TamperingDetected

SCHEMA = "verifier/proof-bundle/1"
MAX_ENTRIES = 10_000
MAX_BYTES = 64 * 2**20
SAYS = (
    "Shows that these entries stand in the log under the checkpoint, in this order and with this content. Does not "
    "show that nothing newer exists. The keys to check it with come from outside this file."
)


def make_bundle(
    *, entry: Entry, find: Callable[[str], Entry], tree: Tree, checkpoint: Checkpoint, note: Note
) -> dict[str, Any]:
    """The bundle of an entry and of everything it refers to, directly or through others, in the log's order.

    `find` gives the entry of a leaf hash, `checkpoint` is what `note` states. Raises TamperingDetected where the
    stored leaves have not the checkpoint's root, BadInput where the checkpoint is older than the entry or the bundle
    would exceed 10,000 entries or 64 MiB.
    """
    if not states_root(tree, checkpoint):
        raise TamperingDetected(
            f"the stored entries have not the root of the checkpoint of {checkpoint.size} entries", where="ledger"
        )
    if entry.n > checkpoint.size:
        raise BadInput(
            f"entry {entry.n} is newer than the checkpoint of {checkpoint.size} entries",
            mend="make a new one with `verifier ledger checkpoint`",
        )
    bundle = {
        "schema": SCHEMA,
        "says": SAYS,
        "checkpoint": str(note),
        "subject": entry.leaf,
        "entries": [_one(one, tree, checkpoint.size) for one in _closure(entry, find)],
    }
    if len(json.dumps(bundle, ensure_ascii=False).encode()) > MAX_BYTES:
        raise BadInput(f"the bundle would exceed {MAX_BYTES} bytes", where=f"entry {entry.n}")
    return bundle


def _closure(entry: Entry, find: Callable[[str], Entry]) -> list[Entry]:
    found = {entry.leaf: entry}
    waiting = [entry]
    while waiting:
        one = waiting.pop()
        for leaf in (*one.refs, *([one.supersedes] if one.supersedes else [])):
            if leaf not in found:
                found[leaf] = find(leaf)
                waiting.append(found[leaf])
        if len(found) > MAX_ENTRIES:
            raise BadInput(f"it refers to more than {MAX_ENTRIES} entries", where=f"entry {entry.n}")
    return sorted(found.values(), key=lambda one: one.n)


def _one(entry: Entry, tree: Tree, size: int) -> dict[str, Any]:
    withheld = not entry.content_bytes
    return {
        "n": entry.n,
        "envelope": entry.envelope_bytes.decode(),
        "content": None if withheld else entry.content_bytes.decode(),
        "salt": "" if withheld else entry.salt.hex(),
        "texts": [{"salt": text.salt.hex(), "text": text.text} for text in entry.texts],
        "proof": [node.hex() for node in tree.inclusion_proof(entry.n - 1, size)],
    }
