"""The units behind an evidence entry: how many, and the Merkle root that the ledger keeps of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from verifier.ledger.merkle import CompactRange, leaf_hash
from verifier.model.canonical import canonical_bytes
from verifier.model.results import UnitsRecord


def units_record(rows: Iterable[Mapping[str, Any]]) -> UnitsRecord:
    """The number of `rows`, and the Merkle root (RFC 6962) over their canonical bytes in the order given.

    rows: what each unit is and what it returned, as JSON values without doubles.
    """
    tree = CompactRange()
    for row in rows:
        tree.append(leaf_hash(canonical_bytes(row)))
    return UnitsRecord(tree.size, tree.root().hex())
