"""The tree against RFC 6962's recursive definitions, pymerkle, and the published vectors for trees of 0 to 8 leaves."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymerkle import InmemoryTree
from pymerkle import verify_consistency as peer_verifies_consistency
from pymerkle import verify_inclusion as peer_verifies_inclusion

from verifier.ledger import bundle_checker
from verifier.ledger.merkle import (
    EMPTY_ROOT,
    CompactRange,
    Tree,
    leaf_hash,
    node_hash,
    verify_consistency,
    verify_inclusion,
)

# the tests of the reference implementation of RFC 6962: eight leaves, the roots of their prefixes, some proofs
LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
INCLUSION = {  # (index, size) -> path
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
}
CONSISTENCY = {  # (old, size) -> path
    (1, 1): [],
    (6, 8): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 5): [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}


def defined_root(data: list[bytes]) -> bytes:
    """MTH of RFC 6962, 2.1, by its recursion over the data and nothing else."""
    if not data:
        return hashlib.sha256(b"").digest()
    if len(data) == 1:
        return hashlib.sha256(b"\x00" + data[0]).digest()
    k = 1
    while 2 * k < len(data):
        k *= 2
    return hashlib.sha256(b"\x01" + defined_root(data[:k]) + defined_root(data[k:])).digest()


def defined_path(m: int, data: list[bytes]) -> list[bytes]:
    """PATH of RFC 6962, 2.1.1, by its recursion."""
    if len(data) == 1:
        return []
    k = 1
    while 2 * k < len(data):
        k *= 2
    if m < k:
        return [*defined_path(m, data[:k]), defined_root(data[k:])]
    return [*defined_path(m - k, data[k:]), defined_root(data[:k])]


def defined_proof(m: int, data: list[bytes], *, known: bool = True) -> list[bytes]:
    """SUBPROOF of RFC 6962, 2.1.2, by its recursion; PROOF(m, D) where `known` is left alone."""
    if m == len(data):
        return [] if known else [defined_root(data)]
    k = 1
    while 2 * k < len(data):
        k *= 2
    if m <= k:
        return [*defined_proof(m, data[:k], known=known), defined_root(data[k:])]
    return [*defined_proof(m - k, data[k:], known=False), defined_root(data[:k])]


def data_of(size: int) -> list[bytes]:
    return [f"leaf {i}".encode() for i in range(size)]


def test_the_empty_tree_and_an_empty_leaf_have_their_known_hashes() -> None:
    assert EMPTY_ROOT.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert leaf_hash(b"").hex() == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    assert CompactRange().root() == Tree().root() == EMPTY_ROOT


def test_roots_of_every_prefix_follow_the_definition() -> None:
    data = data_of(130)
    tree = Tree(leaf_hash(item) for item in data)
    grown = CompactRange()
    for size in range(len(data) + 1):
        expected = defined_root(data[:size])
        assert tree.root(size) == expected
        assert grown.root() == expected
        assert CompactRange.from_bytes(size, grown.to_bytes()).root() == expected
        if size < len(data):
            grown.append(leaf_hash(data[size]))


def test_pymerkle_has_the_same_roots_and_accepts_the_same_proofs() -> None:
    peer, ours = InmemoryTree(algorithm="sha256"), Tree()
    for item in data_of(77):
        peer.append_entry(item)
        ours.append(leaf_hash(item))
    for size in range(1, 78):
        assert ours.root(size) == peer.get_root(size)
    for index in (0, 1, 31, 32, 63, 64, 75, 76):
        theirs = peer.prove_inclusion(index + 1, 77)
        # pymerkle's path begins with the leaf itself
        assert [bytes.fromhex(node) for node in theirs.serialize()["path"]][1:] == ours.inclusion_proof(index)
        peer_verifies_inclusion(leaf_hash(data_of(77)[index]), ours.root(), theirs)


@pytest.mark.parametrize("size", range(1, 34))
def test_every_inclusion_proof_is_the_defined_path_and_holds(size: int) -> None:
    data = data_of(size)
    tree = Tree(leaf_hash(item) for item in data)
    for index, item in enumerate(data):
        proof = tree.inclusion_proof(index, size)
        assert proof == defined_path(index, data)
        assert verify_inclusion(leaf=leaf_hash(item), index=index, size=size, proof=proof, root=tree.root())


@given(size=st.integers(1, 200), pick=st.data())
def test_a_changed_proof_does_not_hold(size: int, pick: st.DataObject) -> None:
    tree = Tree(leaf_hash(item) for item in data_of(size))
    index = pick.draw(st.integers(0, size - 1))
    proof = tree.inclusion_proof(index)
    leaf, root = leaf_hash(data_of(size)[index]), tree.root()
    changes = ["leaf", "root", "longer"] + (["node", "shorter"] if proof else [])
    match pick.draw(st.sampled_from(changes)):
        case "leaf":
            leaf = node_hash(leaf, leaf)
        case "root":
            root = node_hash(root, root)
        case "longer":
            proof.append(pick.draw(st.binary(min_size=32, max_size=32)))
        case "node":
            i = pick.draw(st.integers(0, len(proof) - 1))
            proof[i] = bytes([proof[i][0] ^ 1]) + proof[i][1:]
        case "shorter":
            proof.pop(pick.draw(st.integers(0, len(proof) - 1)))
    assert not verify_inclusion(leaf=leaf, index=index, size=size, proof=proof, root=root)


def test_an_index_out_of_range_is_no_inclusion() -> None:
    tree = Tree(leaf_hash(item) for item in data_of(5))
    proof = tree.inclusion_proof(4)
    for index in (-1, 5, 6):
        assert not verify_inclusion(leaf=leaf_hash(b"leaf 4"), index=index, size=5, proof=proof, root=tree.root())
    with pytest.raises(IndexError):
        tree.inclusion_proof(5)
    with pytest.raises(IndexError):
        tree.root(6)


@pytest.mark.parametrize(("size", "hashes"), [(3, 1), (0, 1), (4, 2), (-1, 0)])
def test_subtree_hashes_of_the_wrong_number_are_refused(size: int, hashes: int) -> None:
    with pytest.raises(ValueError, match="subtree hashes"):
        CompactRange.from_bytes(size, bytes(32 * hashes))


def test_the_published_vectors() -> None:
    tree = Tree(leaf_hash(bytes.fromhex(leaf)) for leaf in LEAVES)
    assert [tree.root(size).hex() for size in range(1, 9)] == ROOTS
    for (index, size), path in INCLUSION.items():
        proof, root = [bytes.fromhex(one) for one in path], bytes.fromhex(ROOTS[size - 1])
        leaf = leaf_hash(bytes.fromhex(LEAVES[index]))
        assert tree.inclusion_proof(index, size) == proof
        assert verify_inclusion(leaf=leaf, index=index, size=size, proof=proof, root=root)
        assert not verify_inclusion(leaf=leaf, index=index - 1, size=size, proof=proof, root=root)
        assert bundle_checker.root_from(leaf, index, size, proof) == root
    for (old, size), path in CONSISTENCY.items():
        proof, roots = [bytes.fromhex(one) for one in path], [bytes.fromhex(ROOTS[n - 1]) for n in (old, size)]
        assert tree.consistency_proof(old, size) == proof
        assert verify_consistency(old=old, old_root=roots[0], size=size, root=roots[1], proof=proof)
        assert verify_consistency(old=old, old_root=roots[1], size=size, root=roots[1], proof=proof) == (old == size)


@pytest.mark.parametrize("size", range(20))
def test_every_consistency_proof_is_the_defined_one_and_holds(size: int) -> None:
    data = data_of(size)
    tree = Tree(leaf_hash(item) for item in data)
    for old in range(size + 1):
        proof = tree.consistency_proof(old)
        assert proof == (defined_proof(old, data) if old else [])
        assert verify_consistency(old=old, old_root=tree.root(old), size=size, root=tree.root(), proof=proof)
    with pytest.raises(IndexError):
        tree.consistency_proof(size + 1)


def test_pymerkle_proves_consistency_of_the_same_trees() -> None:
    peer, ours = InmemoryTree(algorithm="sha256"), Tree()
    for item in data_of(41):
        peer.append_entry(item)
        ours.append(leaf_hash(item))
    for old, size in ((1, 2), (6, 8), (7, 41), (32, 41), (33, 40), (40, 41)):
        theirs = peer.prove_consistency(old, size)
        peer_verifies_consistency(ours.root(old), ours.root(size), theirs)
        # pymerkle's path begins with all the old tree's peaks, so that nodes of ours are among its nodes or above them
        proof = ours.consistency_proof(old, size)
        assert verify_consistency(
            old=old, old_root=peer.get_root(old), size=size, root=peer.get_root(size), proof=proof
        )


@given(size=st.integers(2, 200), pick=st.data())
def test_a_changed_consistency_proof_does_not_hold(size: int, pick: st.DataObject) -> None:
    tree = Tree(leaf_hash(item) for item in data_of(size))
    old = pick.draw(st.integers(1, size - 1))
    proof = tree.consistency_proof(old)
    roots = {"old": tree.root(old), "new": tree.root()}
    changes = ["old", "new", "longer", "another size", "node", "shorter"]
    change = pick.draw(st.sampled_from(changes))
    if change in roots:
        roots[change] = node_hash(roots[change], roots[change])
    elif change == "longer":
        proof.insert(pick.draw(st.integers(0, len(proof))), pick.draw(st.binary(min_size=32, max_size=32)))
    elif change == "another size":
        old = pick.draw(st.integers(1, size).filter(lambda other: tree.root(other) != roots["old"]))
    elif change == "node":
        i = pick.draw(st.integers(0, len(proof) - 1))
        proof[i] = bytes([proof[i][0] ^ 1]) + proof[i][1:]
    else:
        proof.pop(pick.draw(st.integers(0, len(proof) - 1)))
    assert not verify_consistency(old=old, old_root=roots["old"], size=size, root=roots["new"], proof=proof)


def test_the_empty_tree_begins_every_tree_and_no_other_claims_to() -> None:
    tree = Tree(leaf_hash(item) for item in data_of(3))
    assert verify_consistency(old=0, old_root=EMPTY_ROOT, size=3, root=tree.root(), proof=[])
    assert not verify_consistency(old=0, old_root=tree.root(), size=3, root=tree.root(), proof=[])
    assert not verify_consistency(old=0, old_root=EMPTY_ROOT, size=3, root=tree.root(), proof=[tree.root()])
    for old, size in ((4, 3), (-1, 3)):
        assert not verify_consistency(old=old, old_root=tree.root(), size=size, root=tree.root(), proof=[])


@given(size=st.integers(1, 90), pick=st.data())
def test_the_stand_alone_checker_follows_the_same_paths(size: int, pick: st.DataObject) -> None:
    tree = Tree(leaf_hash(item) for item in data_of(size))
    index = pick.draw(st.integers(0, size - 1))
    leaf, proof = leaf_hash(data_of(size)[index]), tree.inclusion_proof(index)
    assert bundle_checker.root_from(leaf, index, size, proof) == tree.root()
    assert bundle_checker.root_from(leaf, index, size, [*proof, leaf]) is None
    if proof:
        assert bundle_checker.root_from(leaf, index, size, proof[:-1]) != tree.root()
