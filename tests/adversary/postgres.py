"""A PostgreSQL schema that is a ledger, with every constraint in the attacker's way taken out."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg

from tests.adversary.store import TABLES, Book
from verifier.ledger import Ledger

_EVERY = 500  # writes after which the dead rows are swept out, or each write would get slower


class PostgresTarget:
    """As `store.Target`, in the schema that a URL names, in which nothing is yet."""

    def __init__(self, honest: Path, url: str) -> None:
        self.url = url
        with Ledger.open(honest, create=False) as source, Ledger.open(url, create=True) as ledger:
            ledger.import_lines(_lines(source))
        self._connection = psycopg.connect(url.replace("+psycopg", ""), autocommit=True)
        self._connection.execute("SET synchronous_commit = off")
        self._written = 0
        found = self._connection.execute(
            "SELECT conname, conrelid::regclass::text FROM pg_constraint"
            " WHERE connamespace = current_schema()::regnamespace AND contype IN ('p', 'u', 'f') ORDER BY contype = 'p'"
        ).fetchall()
        for name, table in found:
            self._do(f"ALTER TABLE {table} DROP CONSTRAINT {name} CASCADE")
        columns = self._connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND is_nullable = 'NO'"
        ).fetchall()
        for table, column in columns:
            self._do(f"ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL")

    def _do(self, statement: str) -> None:
        self._connection.execute(statement.encode())  # names from the catalogue, put together here

    def write(self, book: Book) -> None:
        """Puts the book in the place of what is there."""
        run = self._connection
        with run.transaction(), run.cursor() as cursor:
            for table in TABLES:
                if table != "ledger_head":
                    self._do(f"DELETE FROM {table}")  # noqa: S608  # a name from above
            with cursor.copy("COPY ledger_entries FROM STDIN") as copy:
                for row in book.rows:
                    copy.write_row(row.columns())
            with cursor.copy("COPY ledger_texts FROM STDIN") as copy:
                for row in book.rows:
                    for text in row.texts:
                        copy.write_row((row.n, *text))
            with cursor.copy("COPY ledger_index FROM STDIN") as copy:
                for one in dict(book.index).items():
                    copy.write_row(one)
            cursor.execute(
                "UPDATE ledger_head SET size = %s, root = %s, peaks = %s", (book.size, book.root, book.peaks)
            )
        self._written += 1
        if self._written % _EVERY == 0:
            for table in TABLES:
                self._do(f"VACUUM {table}")

    def close(self) -> None:
        self._connection.close()


def _lines(source: Ledger) -> list[str]:
    return [json.dumps(line) for line in source.lines()]
