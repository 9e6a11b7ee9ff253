"""Taking withheld contents and texts out of a store. Nothing that is hashed into the tree changes."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, update

from verifier.ledger import projections
from verifier.ledger.merkle import HASH_BYTES
from verifier.ledger.store import ENTRIES, NOTES, TEXTS


def erase(connection: Connection, n: int, texts: Iterable[str] | None) -> None:
    """Takes out the texts of entry `n` with these commitments, or for None its content, salts, texts and notes.

    The caller has appended the `withheld` entry that allows it, in the same transaction. SQLite overwrites what is
    deleted; a backup, and a PostgreSQL server's own log, may still have it.
    """
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON")
    chosen = delete(TEXTS).where(TEXTS.c.n == n)
    if texts is None:
        connection.execute(delete(NOTES).where(NOTES.c.n == n))
        connection.execute(update(ENTRIES).where(ENTRIES.c.n == n).values(content=b"", salt=bytes(HASH_BYTES)))
    else:
        chosen = chosen.where(TEXTS.c.commitment.in_([bytes.fromhex(one) for one in texts]))
    connection.execute(chosen)
    projections.drop(connection, n)
