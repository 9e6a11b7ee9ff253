"""What a store of the ledger must offer; SQLite and PostgreSQL do."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine

from verifier.model.errors import VerifierError

BUSY_SECONDS = 30  # how long an append waits for another writer


class Backend(Protocol):
    """One place that is, or will be, a ledger. Constructing it touches nothing."""

    @property
    def name(self) -> str:
        """The place as it may be printed: no password."""

    @property
    def path(self) -> Path:
        """The file, or a path in the working folder that files belonging to the ledger are named after."""

    def written(self) -> bool:
        """Whether something is there that may hold a ledger. Raises BadInput where it cannot be one."""

    def reader(self) -> Engine:
        """The engine for reading: it changes nothing, sees one state per transaction, and waits for no writer."""

    def writer(self) -> Engine:
        """The engine for appending: after COMMIT an entry is on the disk."""

    def holds_ledger(self, connection: Connection) -> bool:
        """Whether the open store is a ledger; False where nothing is in it yet. Raises BadInput for anything else."""

    def holds_ledger_alone(self, connection: Connection) -> bool:
        """`holds_ledger` for a writer: where it is False, nobody else can begin a ledger until this one ends."""

    def mark(self, connection: Connection) -> None:
        """Marks the store as a ledger, within the transaction of its first append."""

    def close(self) -> None:
        """Closes every connection."""

    def meaning(self, error: BaseException | None) -> VerifierError:
        """What an error of the database driver means to a person."""
