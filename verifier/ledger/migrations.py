"""Bringing the tables of an earlier format to the present one: numbered steps, in the transaction of an append.

A step never touches an entry. Reading an earlier format needs no step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import Connection

from verifier.ledger import projections, store


def _to_2(connection: Connection, head: store.Head) -> None:
    """Format 2 has `ledger_index`, and kinds of entry that format 1 did not know."""
    projections.rebuild(connection, head.size)


STEPS: dict[int, Callable[[Connection, store.Head], None]] = {2: _to_2}
"""Format -> what makes it of the one before."""


def migrate(connection: Connection, head: store.Head) -> store.Head:
    """The head after every step that was missing. Raises TamperingDetected for entries that cannot be read."""
    if head.format == store.FORMAT:
        return head
    for number in range(head.format + 1, store.FORMAT + 1):
        STEPS[number](connection, head)
    store.write_format(connection)
    return replace(head, format=store.FORMAT)
