"""The tree of RFC 6962, section 2.1: roots, inclusion and consistency proofs, and their verification.

A leaf is hashed as SHA-256(0x00 ‖ data), an inner node as SHA-256(0x01 ‖ left ‖ right); the tree over n > 1 leaves
splits at the largest power of two below n. Functions here take leaf *hashes*, 32 bytes each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

HASH_BYTES = 32
EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf, SHA-256(0x00 ‖ data), 32 bytes (RFC 6962, 2.1)."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node, SHA-256(0x01 ‖ left ‖ right), 32 bytes (RFC 6962, 2.1)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class CompactRange:
    """The little of a tree that appending needs: the roots of its perfect subtrees, largest first.

    One subtree for each 1 in the binary form of `size`, so at most 64 hashes whatever the size.
    """

    __slots__ = ("peaks", "size")

    def __init__(self) -> None:
        self.size = 0
        self.peaks: list[bytes] = []

    @classmethod
    def from_bytes(cls, size: int, data: bytes) -> CompactRange:
        """The range that `to_bytes` wrote for a tree of `size` leaves. Raises ValueError where the lengths disagree."""
        if size < 0 or len(data) != HASH_BYTES * size.bit_count():
            raise ValueError(f"{len(data)} bytes are not the subtree hashes of {size} leaves")
        made = cls()
        made.size = size
        made.peaks = [data[i : i + HASH_BYTES] for i in range(0, len(data), HASH_BYTES)]
        return made

    def to_bytes(self) -> bytes:
        """The subtree hashes, largest subtree first, one after the other."""
        return b"".join(self.peaks)

    def append(self, leaf: bytes) -> None:
        """Adds one leaf hash; merges subtrees of equal size."""
        node, size = leaf, self.size
        while size & 1:
            node = node_hash(self.peaks.pop(), node)
            size >>= 1
        self.peaks.append(node)
        self.size += 1

    def root(self) -> bytes:
        """The root over all leaves so far; SHA-256 of nothing for an empty tree."""
        if not self.peaks:
            return EMPTY_ROOT
        node = self.peaks[-1]
        for left in reversed(self.peaks[:-1]):
            node = node_hash(left, node)
        return node


class Tree:
    """A whole tree in memory, for roots of prefixes and for proofs, each in O(log² n) hashes at most.

    `_levels[h][i]` is the root of the perfect subtree over leaves i·2^h to (i+1)·2^h − 1.
    """

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        self._levels: list[list[bytes]] = [[]]
        for leaf in leaves:
            self.append(leaf)

    def __len__(self) -> int:
        return len(self._levels[0])

    def append(self, leaf: bytes) -> None:
        """Adds one leaf hash and every perfect subtree that it completes."""
        node, height = leaf, 0
        while True:
            if height == len(self._levels):
                self._levels.append([])
            level = self._levels[height]
            level.append(node)
            if len(level) & 1:
                return
            node = node_hash(level[-2], node)
            height += 1

    def leaf(self, index: int) -> bytes:
        """The leaf hash at `index`, which counts from 0. Raises IndexError where there is none."""
        if not 0 <= index < len(self):
            raise IndexError(f"leaf {index} is not among {len(self)}")
        return self._levels[0][index]

    def root(self, size: int | None = None) -> bytes:
        """The root over the first `size` leaves (all by default). Raises IndexError beyond the tree."""
        size = len(self) if size is None else size
        if not 0 <= size <= len(self):
            raise IndexError(f"a tree of {len(self)} leaves has no prefix of {size}")
        return self._subtree(0, size) if size else EMPTY_ROOT

    def inclusion_proof(self, index: int, size: int | None = None) -> list[bytes]:
        """PATH(index, D[0:size]) of RFC 6962, 2.1.1: the sibling hashes from leaf to root; `index` counts from 0.

        Raises IndexError where the leaf is not among the first `size`.
        """
        size = len(self) if size is None else size
        if not 0 <= index < size <= len(self):
            raise IndexError(f"leaf {index} is not among the first {size} of {len(self)}")
        path: list[bytes] = []
        start, end = 0, size
        while end - start > 1:
            middle = start + _split(end - start)
            if index < middle:
                path.append(self._subtree(middle, end))
                end = middle
            else:
                path.append(self._subtree(start, middle))
                start = middle
        path.reverse()
        return path

    def consistency_proof(self, old: int, size: int | None = None) -> list[bytes]:
        """PROOF(old, D[0:size]) of RFC 6962, 2.1.2: that the first `old` leaves begin the first `size`.

        Empty where `old` is 0 or `size`. Raises IndexError where `old` exceeds `size`, or `size` the tree.
        """
        size = len(self) if size is None else size
        if not 0 <= old <= size <= len(self):
            raise IndexError(f"no tree of {old} leaves begins one of {size} among {len(self)}")
        path: list[bytes] = []
        start, end, whole = 0, size, True  # whole: the old tree is this subtree, whose root the verifier knows
        while 0 < old < end:
            middle = start + _split(end - start)
            if old <= middle:
                path.append(self._subtree(middle, end))
                end = middle
            else:
                path.append(self._subtree(start, middle))
                start, whole = middle, False
        if not whole:
            path.append(self._subtree(start, end))
        path.reverse()
        return path

    def _subtree(self, start: int, end: int) -> bytes:
        """The root over leaves start to end − 1, where `start` is a multiple of the power of two ≥ the width."""
        width = end - start
        if width & (width - 1) == 0:
            height = width.bit_length() - 1
            return self._levels[height][start >> height]
        middle = start + _split(width)
        return node_hash(self._subtree(start, middle), self._subtree(middle, end))


def _split(width: int) -> int:
    """The largest power of two smaller than `width`, for width > 1 (RFC 6962, 2.1)."""
    return 1 << ((width - 1).bit_length() - 1)


def verify_inclusion(*, leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether `proof` shows that `leaf` stands at `index` (from 0) in the tree of `size` leaves with this root.

    The algorithm of RFC 9162, 2.1.3.2; never raises on a wrong proof.
    """
    if not 0 <= index < size:
        return False
    position, last, node = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return False
        if position & 1 or position == last:
            node = node_hash(sibling, node)
            while not position & 1 and position:
                position >>= 1
                last >>= 1
        else:
            node = node_hash(node, sibling)
        position >>= 1
        last >>= 1
    return last == 0 and node == root


def verify_consistency(*, old: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether `proof` shows that the tree of `old` leaves with root `old_root` begins the one of `size` with `root`.

    The algorithm of RFC 9162, 2.1.4.2; the empty tree begins every tree. Never raises on a wrong proof.
    """
    if not 0 <= old <= size or (old == 0 and old_root != EMPTY_ROOT):
        return False
    if old in (0, size):
        return not proof and (old == 0 or old_root == root)
    path = list(proof)
    if old & (old - 1) == 0:
        path.insert(0, old_root)
    if not path:
        return False
    position, last = old - 1, size - 1
    while position & 1:
        position >>= 1
        last >>= 1
    older = newer = path[0]
    for sibling in path[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            older, newer = node_hash(sibling, older), node_hash(sibling, newer)
            while not position & 1 and position:
                position >>= 1
                last >>= 1
        else:
            newer = node_hash(newer, sibling)
        position >>= 1
        last >>= 1
    return last == 0 and older == old_root and newer == root
