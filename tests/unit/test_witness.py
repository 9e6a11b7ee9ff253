"""A witness cosigns only what continues what it saw; what counts as witnessed."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from verifier.ledger import Ledger
from verifier.ledger.checkpoints import open_checkpoint, sign_checkpoint
from verifier.ledger.cosign import check_cosigned
from verifier.ledger.keys import KeyType, PrivateKey, generate
from verifier.ledger.merkle import Tree, leaf_hash
from verifier.ledger.notes import Note
from verifier.ledger.proofs import anchors_of
from verifier.ledger.witness import cosign_next, registrations_witnessed, witnessed
from verifier.model.errors import BadInput, InfrastructureFailed, TamperingDetected

LOG, WITNESS = generate("example.org/ledger"), generate("w.example/one", KeyType.COSIGNATURE)


def tree_of(size: int, *, differs_at: int | None = None) -> Tree:
    return Tree(leaf_hash(b"other" if i == differs_at else bytes([i])) for i in range(size))


def signed(tree: Tree, size: int | None = None, *, log: PrivateKey = LOG) -> bytes:
    size = len(tree) if size is None else size
    return str(sign_checkpoint(log, size=size, root=tree.root(size))).encode()


def cosigned(
    data: bytes,
    tree: Tree,
    *,
    seen: bytes | Note | None,
    second: int = 100,
    log: PrivateKey = LOG,
    private: PrivateKey = WITNESS,
) -> Note:
    return cosign_next(
        data,
        log=log.public,
        private=private,
        seen=str(seen).encode() if isinstance(seen, Note) else seen,
        prove=tree.consistency_proof,
        second=second,
        where="checkpoint",
    )


def test_a_log_that_grows_is_cosigned_again_and_again() -> None:
    tree, seen = tree_of(40), None
    for second, size in enumerate((1, 2, 2, 7, 31, 40), start=100):
        seen = cosigned(signed(tree, size), tree, seen=seen, second=second)
        assert check_cosigned(seen, WITNESS.public, where="checkpoint") == second
        open_checkpoint(str(seen).encode(), key=LOG.public, witnesses=[WITNESS.public], where="checkpoint")


@pytest.mark.parametrize(("old", "new", "differs_at"), [(5, 9, 0), (5, 9, 4), (9, 9, 8), (8, 9, 3)])
def test_a_fork_is_not_cosigned(old: int, new: int, differs_at: int) -> None:
    seen = cosigned(signed(tree_of(old)), tree_of(old), seen=None)
    fork = tree_of(new, differs_at=differs_at)
    with pytest.raises(TamperingDetected, match="not the beginning"):
        cosigned(signed(fork), fork, seen=seen)
    # nor with any proof the fork's keeper can make
    for prove in (tree_of(new).consistency_proof, lambda _old, _new: [], lambda _old, _new: [bytes(32)]):
        with pytest.raises(TamperingDetected):
            cosign_next(
                signed(fork),
                log=LOG.public,
                private=WITNESS,
                seen=str(seen).encode(),
                prove=prove,
                second=200,
                where="checkpoint",
            )


def test_a_checkpoint_beyond_the_store_an_older_one_and_a_clock_gone_back_are_refused() -> None:
    tree = tree_of(9)
    seen = cosigned(signed(tree), tree, seen=None)
    with pytest.raises(TamperingDetected, match="fewer than the 12"):
        cosigned(signed(tree_of(12)), tree, seen=seen)
    with pytest.raises(BadInput, match="older than"):
        cosigned(signed(tree, 8), tree, seen=seen)
    with pytest.raises(InfrastructureFailed, match="clock"):
        cosigned(signed(tree), tree, seen=seen, second=99)


def test_what_was_seen_must_bear_the_witness_s_own_cosignature() -> None:
    tree = tree_of(9)
    with pytest.raises(TamperingDetected, match="has not cosigned"):
        cosigned(signed(tree), tree, seen=signed(tree, 3))
    by_other = cosigned(signed(tree, 3), tree, seen=None, private=generate("w.example/one", KeyType.COSIGNATURE))
    with pytest.raises(TamperingDetected):
        cosigned(signed(tree), tree, seen=by_other)


def test_another_log_another_key_and_the_log_s_own_key_are_refused() -> None:
    tree, other = tree_of(3), generate("example.org/other")
    seen = cosigned(signed(tree), tree, seen=None)
    with pytest.raises(BadInput, match=r"saw last is of example\.org/ledger"):
        cosigned(signed(tree, log=other), tree, seen=seen, log=other)
    with pytest.raises(TamperingDetected, match="has not signed"):
        cosigned(signed(tree, log=generate("example.org/ledger")), tree, seen=seen)
    with pytest.raises(BadInput, match="witnesses nothing"):
        cosigned(signed(tree), tree, seen=None, private=PrivateKey("w", LOG.seed, KeyType.COSIGNATURE))


def test_a_rotated_log_key_goes_on_under_the_same_name() -> None:
    tree, new = tree_of(6), generate(LOG.name)
    seen = cosigned(signed(tree, 4), tree, seen=None)
    assert cosigned(signed(tree, log=new), tree, seen=seen, log=new).of(WITNESS.public)


def test_two_roots_of_one_size_convict_the_log() -> None:
    notes = [signed(tree_of(5)), signed(tree_of(5, differs_at=2))]
    opened = [open_checkpoint(note, key=LOG.public, where="checkpoint") for note in notes]
    with pytest.raises(TamperingDetected, match="two different"):
        anchors_of(opened)


@pytest.mark.parametrize(
    ("cosignatures", "expected"),
    [
        ([], False),
        ([(3, 100)], True),
        ([(4, 100)], True),
        ([(5, 100)], False),  # covers the evidence too
        ([(2, 100)], False),  # before the registration
        ([(3, 101)], False),  # after the evidence's time
        ([(2, 50), (5, 90), (4, 99)], True),
    ],
)
def test_witnessed_means_between_registration_and_first_evidence(
    cosignatures: Sequence[tuple[int, int]],
    expected: bool,  # noqa: FBT001  # pytest passes it by name
) -> None:
    assert witnessed(registered=3, first_evidence=5, time=100, cosigned=cosignatures) is expected


def test_each_registration_with_evidence_is_witnessed_or_not(tmp_path: Path) -> None:
    second = iter(range(1_700_000_000, 1_800_000_000, 60))
    with Ledger.open(tmp_path / "verifier.db", create=True, now=lambda: next(second)) as ledger:
        with ledger.transaction() as transaction:
            for kind, case in (("registration", "a"), ("registration", "b"), ("evidence", "a"), ("evidence", "b")):
                transaction.append(kind=kind, content={"registration": case * 64, "n": kind}, by="engine")
            transaction.append(kind="registration", content={"registration": "c" * 64}, by="engine")
            transaction.append(kind="evidence", content={"registration": "d" * 64}, by="engine")
        entries = list(ledger.entries())
    times = {entry.n: 1_700_000_000 + 60 * (entry.n - 1) for entry in entries}
    both = {"a" * 64: True, "b" * 64: True, "d" * 64: False}
    assert registrations_witnessed(entries, [(2, times[3])]) == both
    assert registrations_witnessed(entries, [(1, times[1])]) == {**both, "b" * 64: False}
    assert registrations_witnessed(entries, [(3, times[4])]) == {**both, "a" * 64: False}
    assert registrations_witnessed(entries, [(2, times[4] + 1), (6, times[6])]) == dict.fromkeys(both, False)


def test_evidence_that_was_withheld_is_still_the_first(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "verifier.db", create=True, now=lambda: 1_700_000_000) as ledger:
        with ledger.transaction() as transaction:
            registered = transaction.append(kind="registration", content={"registration": "a" * 64}, by="engine").entry
            for number in range(2):
                content = {"registration": "a" * 64, "number": number}
                transaction.append(kind="evidence", content=content, refs=[registered.leaf], by="engine")
        first, withheld, later = ledger.entries()
    withheld = replace(withheld, content={}, content_bytes=b"", withheld=True)
    assert withheld.registration is None
    after_the_first = [(2, 1_700_000_000)]
    assert registrations_witnessed([first, later], after_the_first) == {"a" * 64: True}
    assert registrations_witnessed([first, withheld, later], after_the_first) == {"a" * 64: False}
    assert registrations_witnessed([first, withheld, later], [(1, 1_700_000_000)]) == {"a" * 64: True}
