"""The append-only record: registrations before the data, evidence, rulings, and the proof that nothing moved."""

from verifier.ledger.address import ledger_path
from verifier.ledger.content import Content, FreeText, Text
from verifier.ledger.entry import KINDS, Entry
from verifier.ledger.ledger import DEFAULT_LEDGER, Ledger
from verifier.ledger.times import fixed_epoch
from verifier.ledger.transaction import Appended, Draft, Transaction
from verifier.ledger.verify import Verification

__all__ = [
    "DEFAULT_LEDGER",
    "KINDS",
    "Appended",
    "Content",
    "Draft",
    "Entry",
    "FreeText",
    "Ledger",
    "Text",
    "Transaction",
    "Verification",
    "fixed_epoch",
    "ledger_path",
]
