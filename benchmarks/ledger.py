"""The tree of the ledger beside pymerkle's, in memory: leaf bytes to root, and the checking of ready proofs.

Both take the same bytes to the same root; both check proofs of the same leaves and prefixes against that root, made
before the clock starts. The best of several rounds counts, the two taken in turns, so that other load shows least in
the ratios.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import pymerkle

from verifier.ledger.merkle import CompactRange, Tree, leaf_hash, verify_consistency, verify_inclusion

LEAST = {"leaf bytes to root": 3.0, "inclusion proofs checked": 1.5, "consistency proofs checked": 1.5}
"""The ratios that are promised; --check fails below them."""


def root_of(data: list[bytes]) -> bytes:
    """The root over these entries by the range that appending uses."""
    grown = CompactRange()
    for item in data:
        grown.append(leaf_hash(item))
    return grown.root()


def peer_tree(data: list[bytes]) -> Any:
    """The same in pymerkle."""
    tree = pymerkle.InmemoryTree(algorithm="sha256")
    for item in data:
        tree.append_entry(item)
    return tree


def best(ways: tuple[Callable[[], object], Callable[[], object]], rounds: int) -> tuple[float, float]:
    """The least seconds of each way, taken in turns."""
    seconds: list[list[float]] = [[], []]
    for _ in range(rounds):
        for one, way in zip(seconds, ways, strict=True):
            start = time.perf_counter()
            way()
            one.append(time.perf_counter() - start)
    return min(seconds[0]), min(seconds[1])


def measure(size: int, proofs: int, rounds: int) -> dict[str, tuple[float, float, int]]:
    """Name -> (our seconds, pymerkle's, how many things were done). Asserts that both say the same."""
    data = [b"entry %d" % n for n in range(size)]
    found = {"leaf bytes to root": (*best((lambda: root_of(data), lambda: peer_tree(data).get_root()), rounds), size)}
    peer, ours = peer_tree(data), Tree(map(leaf_hash, data))
    root = ours.root()
    assert root == root_of(data) == peer.get_root()
    chosen = [(n * 7919) % size for n in range(proofs)]
    mine = [(leaf_hash(data[n]), n, ours.inclusion_proof(n)) for n in chosen]
    theirs = [(leaf_hash(data[n]), peer.prove_inclusion(n + 1, size)) for n in chosen]

    def inclusion() -> None:
        for leaf, n, proof in mine:
            assert verify_inclusion(leaf=leaf, index=n, size=size, proof=proof, root=root)

    def peer_inclusion() -> None:
        for leaf, proof in theirs:
            pymerkle.verify_inclusion(leaf, root, proof)

    found["inclusion proofs checked"] = (*best((inclusion, peer_inclusion), rounds), proofs)
    older = [(n + 1, ours.root(n + 1), ours.consistency_proof(n + 1)) for n in chosen]
    theirs_older = [(ours.root(n + 1), peer.prove_consistency(n + 1, size)) for n in chosen]

    def consistency() -> None:
        for old, old_root, proof in older:
            assert verify_consistency(old=old, old_root=old_root, size=size, root=root, proof=proof)

    def peer_consistency() -> None:
        for old_root, proof in theirs_older:
            pymerkle.verify_consistency(old_root, root, proof)

    found["consistency proofs checked"] = (*best((consistency, peer_consistency), rounds), proofs)
    return found


def main() -> None:
    """Prints a table; with --check, fails where a promised ratio is not reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leaves", type=int, default=100_000)
    parser.add_argument("--proofs", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="exit 10 where a ratio is below what is promised")
    chosen = parser.parse_args()
    print(f"{chosen.leaves:,} leaves in memory, pymerkle {pymerkle.__version__}")
    print(f"{'':<28}{'here':>12}{'pymerkle':>12}{'ratio':>8}{'promised':>10}")
    low = []
    for name, (ours, theirs, count) in measure(chosen.leaves, chosen.proofs, chosen.rounds).items():
        ratio = theirs / ours
        print(f"{name:<28}{count / ours:>10,.0f}/s{count / theirs:>10,.0f}/s{ratio:>8.1f}{LEAST[name]:>10.1f}")
        low += [name] if ratio < LEAST[name] else []
    if chosen.check and low:
        print(f"below what is promised: {', '.join(low)}")
        raise SystemExit(10)


if __name__ == "__main__":
    main()
