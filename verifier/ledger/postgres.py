"""PostgreSQL as the ledger's store: connections, who may begin a ledger, and what its errors mean."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from verifier.ledger.backend import BUSY_SECONDS
from verifier.ledger.store import TABLE_NAMES
from verifier.model.errors import BadInput, InfrastructureFailed, MissingExtra, TamperingDetected, VerifierError

RESTART_SECONDS = 20  # how long a connection is tried again while the server starts or comes back
_BEGINNING = 0x7672_6C67_6265_6769  # the advisory lock under which a ledger is begun: "vrlgbegi"
_TRY_EVERY = 0.2
_COMING_BACK = {"57P01", "57P02", "57P03"}  # the server stops, stopped at once, or does not accept connections yet
_STARTING = ("starting up", "shutting down", "recovery mode", "not yet accepting connections")  # where no code is given


class PostgresDatabase:
    """One database (and its first schema on the search path) that is, or will be, a ledger. Touches nothing when made.

    url: as given, with a password if there is one. name: the same without. path: what files beside it are named after.
    """

    def __init__(self, url: str, *, name: str, path: Path) -> None:
        self.name = name
        self.path = path
        self._url = url
        self._engines: dict[str, Engine] = {}
        self._reached = False

    def written(self) -> bool:
        """True: whether a ledger is there is `holds_ledger`'s question."""
        return True

    def reader(self) -> Engine:
        """The engine for reading: read-only, one snapshot per transaction; it waits for no writer."""
        return self._engine("reader")

    def writer(self) -> Engine:
        """The engine for appending: READ COMMITTED, so that what waited for the head row sees what the other wrote."""
        return self._engine("writer")

    def mark(self, connection: Connection) -> None:
        """Nothing: the head row is the mark."""

    def holds_ledger(self, connection: Connection) -> bool:
        """Whether the schema holds a ledger; False where none of its tables is there.

        Raises BadInput where a view, a rule or a trigger stands in the way of a table, or only some are there.
        """
        rows = connection.execute(_TABLES, {"names": sorted(TABLE_NAMES)}).fetchall()
        for table, kind, rules, triggers, policies in rows:
            if kind != "r" or rules or triggers or policies:
                raise self._not_a_ledger(f"a view, rule, trigger or policy stands on the ledger's table {table}")
        found = {row[0] for row in rows}
        if found and "ledger_head" not in found:
            raise self._not_a_ledger(f"this database has a table {min(found)} that is no ledger's")
        return bool(found)

    def holds_ledger_alone(self, connection: Connection) -> bool:
        """As `holds_ledger`; where none is there, only one writer at a time can begin it."""
        if self.holds_ledger(connection):
            return True
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _BEGINNING})
        return self.holds_ledger(connection)

    def close(self) -> None:
        """Closes every connection."""
        for engine in self._engines.values():
            engine.dispose()
        self._engines.clear()

    def meaning(self, error: BaseException | None) -> VerifierError:
        """What an error of the database driver means to a person."""
        state = getattr(error, "sqlstate", None) or ""
        if state == "55P03":
            return self._failed(
                f"another process has held the ledger for {BUSY_SECONDS} seconds", mend="run the command again"
            )
        said = _line(error)
        if state == "3D000" or (not state and re.search(r'database ".*" does not exist', said)):
            return BadInput("there is no such database", where=self.name, mend="make it with: createdb NAME")
        if state.startswith("28") or (not state and ("authentication failed" in said or "no password" in said)):
            return self._failed("the database refused the login", mend="give the password in PGPASSWORD or .pgpass")
        if state == "42501" or state == "25006":  # noqa: PLR1714  # two reasons, one a line
            return self._failed("the database does not let this user do that", mend="ask its administrator for rights")
        if state.startswith("53"):
            return self._failed(
                f"the database's machine has no room left ({said}); the entries before are kept",
                mend="free some space and try again",
            )
        if state in ("40001", "40P01"):
            return self._failed("the database gave this transaction up for another", mend="run the command again")
        if state.startswith(("22", "23", "42", "XX00")) and state != "XX000":
            return TamperingDetected(f"the ledger's tables are damaged ({said})", where=self.name)
        if said.startswith("connection failed"):
            return self._failed(
                f"the database cannot be reached ({self._without_password(said)})", mend="start it and run this again"
            )
        return self._failed(
            f"the database stopped or gave up ({self._without_password(said)}); an entry whose append did not end may "
            "be kept or not",
            mend="run the command again: entries that are there already are found",
        )

    def _without_password(self, sentence: str) -> str:
        password = make_url(self._url).password
        return sentence.replace(str(password), "…") if password else sentence

    def _not_a_ledger(self, what: str) -> BadInput:
        return BadInput(what, where=self.name, mend="name a ledger, or an empty database")

    def _failed(self, what: str, *, mend: str) -> InfrastructureFailed:
        return InfrastructureFailed(what, where=self.name, mend=mend)

    def _engine(self, role: str) -> Engine:
        if role not in self._engines:
            self._engines[role] = self._made(role)
        return self._engines[role]

    def _made(self, role: str) -> Engine:
        writing = role == "writer"
        try:
            url = make_url(self._url).set(drivername="postgresql+psycopg")
            engine = create_engine(
                url,
                isolation_level="READ COMMITTED" if writing else "REPEATABLE READ",
                execution_options={} if writing else {"postgresql_readonly": True},
                pool_pre_ping=True,  # a connection that a restart ended is replaced
                pool_size=1 if writing else 4,
                max_overflow=0 if writing else -1,
                use_native_hstore=False,
                connect_args={"connect_timeout": BUSY_SECONDS, "application_name": "verifier"},
            )
        except ModuleNotFoundError as error:
            raise MissingExtra("psycopg", where=self.name) from error
        except (ArgumentError, NoSuchModuleError, ValueError) as error:
            raise BadInput("this is not the URL of a database", where=self.name) from error
        event.listen(engine, "do_connect", self._connect)
        event.listen(engine, "connect", _prepare)
        return engine

    def _connect(self, dialect: Any, _record: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Connects; while a server that is starting, or that answered before, does not accept, tries again."""
        return self._patiently(lambda: dialect.loaded_dbapi.connect(*arguments, **keywords))

    def _patiently(self, connect: Callable[[], Any]) -> Any:
        end = time.monotonic() + RESTART_SECONDS
        while True:
            try:
                made = connect()
            except Exception as error:
                state = getattr(error, "sqlstate", None)
                starting = state in _COMING_BACK or any(words in str(error) for words in _STARTING)
                waits = starting or (self._reached and state is None)
                if not waits or time.monotonic() > end:
                    raise
                time.sleep(_TRY_EVERY)
            else:
                self._reached = True
                return made


_TABLES = text(
    "SELECT c.relname, c.relkind::text, c.relhasrules, c.relrowsecurity,"
    " EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)"
    " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = current_schema() AND c.relname = ANY(:names)"
)


def _prepare(connection: Any, _record: Any) -> None:
    """What every connection is told: wait for a lock so long, and a commit is on the disk."""
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{BUSY_SECONDS}s'")
        cursor.execute("SELECT current_setting('synchronous_commit')")
        if cursor.fetchone()[0] == "off":
            cursor.execute("SET synchronous_commit = on")
    connection.autocommit = False


def _line(error: BaseException | None) -> str:
    """The first line of a driver's message, short."""
    return (str(error).strip().splitlines() or ["no reason given"])[0][:300]
