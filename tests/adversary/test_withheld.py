"""Content that is absent because its attacker made itself an administrator, and content that one truly withheld."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from verifier.ledger import FreeText, Ledger
from verifier.ledger.bundle import make_bundle
from verifier.ledger.checkpoints import Checkpoint, sign_checkpoint
from verifier.ledger.erase import erase
from verifier.ledger.keys import PrivateKey, generate
from verifier.ledger.speak import speak
from verifier.model.errors import TamperingDetected

REGISTRATION = "ab" * 32


def admit(ledger: Ledger, private: PrivateKey) -> None:
    """Makes the key's owner an administrator, by its own word."""
    public = base64.b64encode(private.public.raw).decode()
    speak(
        ledger,
        private=private,
        kind="key",
        fields=lambda _read: {
            "role": "administrator",
            "public": public,
            "pseudonym": "admin",
            "replaces": "",
            "proof": "",
        },
    )


def withhold(ledger: Ledger, private: PrivateKey, n: int) -> None:
    target = ledger.entry(n).leaf
    speak(
        ledger,
        private=private,
        kind="withheld",
        fields=lambda _read: {"target": target, "texts": [], "text": FreeText("asked to")},
    )
    with ledger.transaction() as transaction:
        erase(transaction.begin(), n, None)


def evidence(ledger: Ledger, count: int) -> None:
    with ledger.transaction() as transaction:
        for number in range(count):
            transaction.append(
                kind="evidence", content={"registration": REGISTRATION, "said": FreeText(f"{number}")}, by="engine"
            )


def anchor(ledger: Ledger) -> dict[int, bytes]:
    """What a checkpoint taken now states."""
    return {ledger.size: bytes.fromhex(ledger.root)}


def test_who_admits_itself_after_the_checkpoint_withholds_nothing_below_it(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "verifier.db", create=True) as ledger:
        evidence(ledger, 3)
        kept = anchor(ledger)
        attacker = generate("somebody")
        admit(ledger, attacker)
        withhold(ledger, attacker, 2)
        with pytest.raises(TamperingDetected) as caught:
            ledger.verify(anchors=kept)
        assert caught.value.where == "ledger entry 2"


def test_an_administrator_from_below_the_checkpoint_withholds_and_the_checkpoint_still_vouches(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "verifier.db", create=True) as ledger:
        administrator = generate("admin")
        admit(ledger, administrator)
        evidence(ledger, 3)
        kept = anchor(ledger)
        withhold(ledger, administrator, 3)
        found = ledger.verify(anchors=kept)
        assert (found.size, found.vouched) == (5, 4)
        log, (size, root) = generate("log"), next(iter(kept.items()))
        bundle = make_bundle(
            entry=ledger.entry(3),
            find=ledger.entry,
            tree=ledger.tree(),
            checkpoint=Checkpoint("log", size, root),
            note=sign_checkpoint(log, size=size, root=root),
        )
        assert bundle["entries"][0]["content"] is None


def test_who_admits_itself_above_the_checkpoint_withholds_above_it(tmp_path: Path) -> None:
    """An expected miss: above the newest checkpoint the store's word is all there is."""
    with Ledger.open(tmp_path / "verifier.db", create=True) as ledger:
        evidence(ledger, 1)
        kept = anchor(ledger)
        evidence(ledger, 3)
        first = generate("admin")
        admit(ledger, first)
        withhold(ledger, first, 3)
        assert ledger.verify(anchors=kept).vouched == 1
