"""The durable store of finished units: each is kept the moment it finishes, and found again by what it is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from verifier.model.canonical import canonical_bytes, sha256_hex
from verifier.model.errors import BadInput, InfrastructureFailed
from verifier.sweeps.jobs import Failure, Row

_TABLES = """
CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, row BLOB NOT NULL, sha256 TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (key TEXT NOT NULL, what TEXT NOT NULL, traceback TEXT NOT NULL);
"""
_APPLICATION_ID = 0x76667273


def _checksum(key: str, data: object) -> str:
    return sha256_hex(key.encode() + data) if isinstance(data, bytes) else ""


class UnitStore:
    """Rows by key in one SQLite file, made when the first row is kept; several processes may share it.

    A row is committed before `put` returns. WAL with synchronous NORMAL survives a killed process; a power cut may
    lose the last rows, which the next run computes again from the same streams.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        connection = sqlite3.connect(self._path, timeout=30, isolation_level=None)
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application != _APPLICATION_ID and tables:
            raise BadInput(
                "is not a store of units", where=str(self._path), mend="move it away or choose another ledger"
            )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(_TABLES)
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        self._connection = connection
        return connection

    def get(self, keys: Iterable[str]) -> dict[str, Row]:
        """The rows among `keys` that are stored whole; a damaged one counts as absent and is computed again."""
        found: dict[str, Row] = {}
        if self._connection is None and not self._path.exists():
            return found
        try:
            connection = self._open()
            for key in keys:
                stored = connection.execute("SELECT row, sha256 FROM rows WHERE key = ?", (key,)).fetchone()
                if stored is not None and stored[1] == _checksum(key, stored[0]):
                    found[key] = json.loads(stored[0])
        except sqlite3.Error as error:
            raise self._failed(error) from error
        return found

    def put(self, key: str, row: Row) -> None:
        """Keeps a finished row. One of the same key is the same row, or damaged."""
        data = canonical_bytes(row)
        self._execute("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", (key, data, _checksum(key, data)))

    def put_failure(self, key: str, failure: Failure) -> None:
        """Keeps what went wrong; a failure is no row, so the next run tries again."""
        self._execute("INSERT INTO failures VALUES (?, ?, ?)", (key, failure.what, failure.traceback))

    def close(self) -> None:
        """Closes the file."""
        if self._connection is not None:
            self._connection.close()

    def _execute(self, statement: str, values: tuple[object, ...]) -> None:
        try:
            self._open().execute(statement, values)
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> InfrastructureFailed:
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            return InfrastructureFailed(
                f"the store of units is damaged ({error})",
                where=str(self._path),
                mend="move it away; its units will be drawn again",
            )
        return InfrastructureFailed(
            f"units cannot be stored ({error})",
            where=str(self._path),
            mend="check the folder's rights and the free space",
        )
