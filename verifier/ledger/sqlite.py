"""SQLite as the ledger's store: looking at a file before opening it, connections, and what its errors mean."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool, QueuePool

from verifier.ledger.backend import BUSY_SECONDS
from verifier.ledger.store import TABLE_NAMES
from verifier.model.errors import BadInput, InfrastructureFailed, TamperingDetected, VerifierError

APPLICATION_ID = 0x76726C67  # "vrlg", in the file's header from the ledger's first transaction on


class SqliteFile:
    """One SQLite file that is, or will be, a ledger. Constructing it touches nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engines: dict[str, Engine] = {}
        self._known = False

    @property
    def name(self) -> str:
        """The path, as text."""
        return os.fspath(self.path)

    def written(self) -> bool:
        """Whether something is written in the file; False where it is absent or empty.

        Raises BadInput for a folder, a device or a file that is no ledger, which is not changed by looking at it;
        InfrastructureFailed where the file cannot be read.
        """
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return False
        except NotADirectoryError as error:
            raise self._not_a_ledger("a file stands where a folder of this path should be") from error
        except OSError as error:
            raise self._failed(f"the ledger cannot be read ({error.strerror})") from error
        if stat.S_ISDIR(found.st_mode):
            raise self._not_a_ledger("this is a folder, not a ledger")
        if not stat.S_ISREG(found.st_mode):
            raise self._not_a_ledger("this is not a regular file, so it is not a ledger")
        if found.st_size and not self._known:
            self._look()
            self._known = True
        return found.st_size > 0

    def _look(self) -> None:
        """Reads the mark in the file's header.

        Always through SQLite: a process that closes a descriptor of its own on the file gives up the locks that SQLite
        holds on it. "immutable" reads without locks, journals or side files; a ledger that is being written just now
        can look damaged that way, and is then read again under a lock.
        """
        for query in ("mode=ro&immutable=1", "mode=ro"):
            try:
                with closing(_connect(self.path, query)) as connection:
                    mark = connection.execute("PRAGMA application_id").fetchone()[0]
                break
            except sqlite3.Error as error:
                if query == "mode=ro" or _name(error).startswith(("SQLITE_NOTADB", "SQLITE_CANTOPEN")):
                    raise self.meaning(error) from error
        if mark != APPLICATION_ID:
            raise self._not_a_ledger("this SQLite database is not a ledger")

    def reader(self) -> Engine:
        """The engine for reading: it can change nothing, and sees one state of the ledger per transaction."""
        return self._engine("reader")

    def writer(self) -> Engine:
        """The engine for appending: its transactions begin with BEGIN IMMEDIATE, and a commit is on the disk.

        Makes the file's folder where it is missing. Raises InfrastructureFailed where that cannot be.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._failed(f"the ledger's folder cannot be made ({error.strerror})") from error
        return self._engine("writer")

    def mark(self, connection: Connection) -> None:
        """Marks the file as a ledger, within the transaction of its first append."""
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")

    def holds_ledger(self, connection: Connection) -> bool:
        """Whether the open database is a ledger; False where nothing is in it yet.

        Raises BadInput where it is something else, or where a view or trigger stands in the way of a ledger's table.
        """
        rows = connection.exec_driver_sql("SELECT type, name, tbl_name FROM sqlite_schema").fetchall()
        mark = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
        if mark != APPLICATION_ID:
            if mark or rows:
                raise self._not_a_ledger("this SQLite database is not a ledger")
            return False
        for kind, name, table in rows:
            if kind in ("view", "trigger") and {name, table} & TABLE_NAMES:
                raise self._not_a_ledger(f"this database has a {kind} in the place of a ledger's table")
        return True

    def holds_ledger_alone(self, connection: Connection) -> bool:
        """As `holds_ledger`: BEGIN IMMEDIATE already keeps every other writer away."""
        return self.holds_ledger(connection)

    def close(self) -> None:
        """Closes every connection; the write-ahead log is then folded into the file."""
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()

    def meaning(self, error: BaseException | None) -> VerifierError:
        """What an error of the database driver means to a person."""
        name = _name(error)
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return self._failed(
                f"another process has held the ledger for {BUSY_SECONDS} seconds", mend="run the command again"
            )
        if name.startswith("SQLITE_FULL"):
            return self._failed("the disk is full; the entries before are kept", mend="free some space and try again")
        if name.startswith(("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_CANTOPEN", "SQLITE_AUTH")):
            return self._failed(
                "the ledger cannot be opened or written here", mend="check the rights of the file and of its folder"
            )
        if name.startswith(("SQLITE_IOERR", "SQLITE_PROTOCOL", "SQLITE_NOMEM", "SQLITE_NOLFS")):
            return self._failed(
                f"the disk refused ({error}, {name}); the entries before are kept", mend="check the disk and try again"
            )
        if name.startswith("SQLITE_NOTADB"):
            return self._not_a_ledger("this file is not an SQLite database, so it is not a ledger")
        return TamperingDetected(f"the ledger's tables are damaged ({error})", where=os.fspath(self.path))

    def _not_a_ledger(self, what: str) -> BadInput:
        return BadInput(what, where=os.fspath(self.path), mend="name a ledger, or a file that does not exist yet")

    def _failed(self, what: str, *, mend: str = "") -> InfrastructureFailed:
        return InfrastructureFailed(what, where=os.fspath(self.path), mend=mend)

    def _engine(self, role: str) -> Engine:
        if role not in self._engines:
            made = _writer(self.path) if role == "writer" else _reader(self.path)
            self._engines[role] = made
        return self._engines[role]


def _name(error: BaseException | None) -> str:
    """The name of SQLite's error, such as SQLITE_FULL; empty for an error that is not SQLite's."""
    return getattr(error, "sqlite_errorname", None) or ""


def _uri(path: Path, query: str) -> str:
    return f"file:{quote(os.fsencode(path.absolute()))}?{query}"


def _connect(path: Path, query: str) -> sqlite3.Connection:
    made = sqlite3.connect(
        _uri(path, query), uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    # somebody may have changed a column to text that is no UTF-8: it is read as it is, and then refused
    made.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    try:
        for pragma in ("trusted_schema = OFF", "foreign_keys = ON", "synchronous = FULL", "cell_size_check = ON"):
            made.execute(f"PRAGMA {pragma}")
    except sqlite3.Error:
        made.close()
        raise
    return made


def _made_engine(creator: Callable[[], sqlite3.Connection], begin: str, **pool: Any) -> Engine:
    # the driver must not begin transactions by itself (isolation_level None above): this event does
    engine = create_engine("sqlite://", creator=creator, **pool)

    @event.listens_for(engine, "begin")
    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _writer(path: Path) -> Engine:
    def connect() -> sqlite3.Connection:
        made = _connect(path, "mode=rwc")
        if path.stat().st_size:
            _prefer_wal(made)
        return made

    return _made_engine(connect, "BEGIN IMMEDIATE", poolclass=QueuePool, pool_size=1, max_overflow=0)


def _prefer_wal(connection: sqlite3.Connection) -> None:
    """Turns on the write-ahead log, so that readers never wait; where that cannot be now, the ledger works without."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if not _name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            connection.close()
            raise


def _reader(path: Path) -> Engine:
    def connect() -> sqlite3.Connection:
        # opened for writing it can fold in a log left by a crash; query_only keeps it from anything else
        writable = _writable(path) and _writable(path.parent)
        made = _connect(path, "mode=rw") if writable else _connect_read_only(path)
        made.execute("PRAGMA query_only = ON")
        return made

    return _made_engine(connect, "BEGIN", poolclass=NullPool)


def _writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _connect_read_only(path: Path) -> sqlite3.Connection:
    try:
        return _connect(path, "mode=ro")
    except sqlite3.OperationalError as error:
        pending = any(_has_bytes(path.with_name(path.name + suffix)) for suffix in ("-wal", "-journal"))
        if pending or not _name(error).startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
            raise
    # a folder we may not write: SQLite's shared memory cannot be made, and with no log pending none is needed
    return _connect(path, "mode=ro&immutable=1")


def _has_bytes(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False
