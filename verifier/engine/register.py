"""Registrations: fixed before the data, counted, and what became of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from verifier.casefile import Case
from verifier.engine.entries import BY, changed_paths, registration_content
from verifier.ledger import Entry, Ledger, Transaction
from verifier.model.identity import discount
from verifier.model.results import RegistrationRecord
from verifier.model.rulings import Ruling

Entries = Callable[[str], Iterator[Entry]]


@dataclass(frozen=True)
class Registration:
    """A registration in the ledger, and its place among those of the same claim and dispute, from 1."""

    entry: Entry
    ordinal: int
    found: bool

    @property
    def discount(self) -> float:
        """What its E-values are multiplied by."""
        return discount(self.ordinal)


def register(case: Case, ledger: Ledger) -> Registration:
    """Fixes the case's rule in the ledger, or finds that it is fixed already."""
    with ledger.transaction() as transaction:
        return register_within(case, transaction)


def register_within(case: Case, transaction: Transaction) -> Registration:
    """`register` inside a transaction: the ordinal is decided together with the append."""
    earlier = same_dispute(case, transaction.entries)
    for index, entry in enumerate(earlier):
        if entry.content["registration"] == case.registration:
            return Registration(entry, index + 1, found=True)
    entry = transaction.append(kind="registration", content=registration_content(case), by=BY).entry
    return Registration(entry, len(earlier) + 1, found=False)


def same_dispute(case: Case, entries: Entries) -> list[Entry]:
    """The registrations of this claim and dispute, oldest first."""
    return [
        entry
        for entry in entries("registration")
        if entry.content["claim_sha256"] == case.claim_sha256 and entry.content["dispute"] == case.dispute_id
    ]


def history(case: Case, entries: Entries) -> tuple[RegistrationRecord, ...]:
    """Every registration of this claim and dispute: when, how it ended, and what changed.

    A registration is compared with the last one before it that was not exploratory.
    """
    registrations = same_dispute(case, entries)
    ended: dict[str, str] = {}
    for ruling in entries("ruling"):
        ended[ruling.content["registration"]] = ruling.content["ruling"]
    records = []
    before: Entry | None = None
    for entry in registrations:
        records.append(
            RegistrationRecord(
                leaf=entry.leaf,
                registration=entry.content["registration"],
                time=entry.time,
                exploratory=entry.content["exploratory"],
                changed=() if before is None else tuple(_changes(before.content, entry.content)),
                ended=ended.get(entry.content["registration"], "no ruling"),
            )
        )
        if before is None or not entry.content["exploratory"]:
            before = entry
    return tuple(records)


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [
        *changed_paths(before["case"], after["case"]),
        *(f"--{name}" for name in after["overrides"]),
        *(
            path
            for path in sorted({*before["files"], *after["files"]})
            if before["files"].get(path) != after["files"].get(path)
        ),
    ]


def standing_ruling(case: Case, entries: Entries) -> Entry | None:
    """The last ruling on this claim and dispute that is not exploratory; no answer replaces only no answer."""
    registrations = {entry.content["registration"] for entry in same_dispute(case, entries)}
    standing: Entry | None = None
    for ruling in entries("ruling"):
        if ruling.content["registration"] not in registrations or ruling.content["exploratory"]:
            continue
        if standing is None or replaces(ruling.content["ruling"], standing):
            standing = ruling
    return standing


def replaces(ruling: str, standing: Entry) -> bool:
    """Whether a ruling takes the place of the standing one: `NO_ANSWER` takes only that of `NO_ANSWER`."""
    return ruling != Ruling.NO_ANSWER or standing.content["ruling"] == Ruling.NO_ANSWER
