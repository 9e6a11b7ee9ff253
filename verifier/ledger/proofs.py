"""The tree over a stored ledger, for proofs; and what trusted checkpoints say about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, select

from verifier.ledger.checkpoints import Checkpoint, Trusted
from verifier.ledger.merkle import HASH_BYTES, Tree
from verifier.ledger.store import ENTRIES
from verifier.model.errors import TamperingDetected


def read_tree(connection: Connection) -> Tree:
    """The tree over the stored leaf hashes, whatever the entries say: proofs from it are checked against a checkpoint.

    About 100 bytes of memory an entry. Raises TamperingDetected for a leaf that is none, or a gap.
    """
    tree = Tree()
    for n, leaf in connection.execute(select(ENTRIES.c.n, ENTRIES.c.leaf).order_by(ENTRIES.c.n)):
        if n != len(tree) + 1 or not isinstance(leaf, bytes) or len(leaf) != HASH_BYTES:
            raise TamperingDetected("its leaf hash is missing", where=f"ledger entry {len(tree) + 1}")
        tree.append(leaf)
    return tree


def anchors_of(trusted: Iterable[Trusted]) -> dict[int, bytes]:
    """Size -> root, as `Ledger.verify` takes them. Raises TamperingDetected where the log signed two of one size."""
    anchors: dict[int, bytes] = {}
    for one in trusted:
        checkpoint = one.checkpoint
        if anchors.setdefault(checkpoint.size, checkpoint.root) != checkpoint.root:
            raise TamperingDetected(
                f"{checkpoint.origin} signed two different checkpoints of {checkpoint.size} entries",
                where="--checkpoint",
            )
    return anchors


def check_anchor(anchors: Mapping[int, bytes], size: int, root: bytes) -> None:
    """Raises TamperingDetected, naming the interval since the last anchor, where the root at `size` is another."""
    if size in anchors and anchors[size] != root:
        before = max((other for other in anchors if other < size), default=0)
        raise TamperingDetected(
            f"the checkpoint of {size} entries has another root: these were changed, dropped, inserted or reordered "
            "since, or it is a checkpoint of another ledger",
            where=f"ledger entries {before + 1} to {size}",
        )


def check_length(anchors: Mapping[int, bytes], size: int) -> None:
    """Raises TamperingDetected where an anchor speaks of more entries than there are."""
    newest = max(anchors, default=0)
    if newest > size:
        raise TamperingDetected(
            f"a checkpoint was signed over {newest} entries and only {size} are here",
            where=f"ledger entries {size + 1} to {newest}",
        )


def states_root(tree: Tree, checkpoint: Checkpoint) -> bool:
    """Whether the checkpoint's root is the tree's at its size."""
    return checkpoint.size <= len(tree) and tree.root(checkpoint.size) == checkpoint.root
