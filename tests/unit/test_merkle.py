"""The tree against RFC 6962's recursive definition, pymerkle, and values published for its empty and one-leaf trees."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymerkle import InmemoryTree
from pymerkle import verify_inclusion as peer_verifies_inclusion

from verifier.ledger.merkle import EMPTY_ROOT, CompactRange, Tree, leaf_hash, node_hash, verify_inclusion


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
