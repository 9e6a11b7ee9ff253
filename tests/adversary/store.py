"""A ledger as somebody sees it who writes the file and knows the code: rows to change, and all to recompute."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from verifier.ledger import projections
from verifier.ledger.entry import RawEntry, decode
from verifier.ledger.merkle import CompactRange, leaf_hash
from verifier.model.canonical import canonical_bytes

TABLES = ("ledger_index", "ledger_texts", "ledger_notes", "ledger_entries", "ledger_head")


@dataclass
class Row:
    """One entry as stored. `texts` holds (commitment, salt, text)."""

    n: int
    leaf: bytes
    kind: str
    registration: str | None
    envelope: bytes
    content: bytes
    salt: bytes
    root: bytes
    texts: list[tuple[bytes, bytes, bytes]] = field(default_factory=list)

    @property
    def says(self) -> tuple[object, ...]:
        """What must not change: envelope, content, salt, texts."""
        return (self.envelope, self.content, self.salt, tuple(sorted(self.texts)))

    def columns(self) -> tuple[object, ...]:
        return (self.n, self.leaf, self.kind, self.registration, self.envelope, self.content, self.salt, self.root)


@dataclass
class Book:
    """All of a store: its rows, its index of equal entries, and its head."""

    rows: list[Row]
    index: list[tuple[int, bytes]]
    size: int
    root: bytes
    peaks: bytes
    format: int

    def copy(self) -> Book:
        return replace(self, rows=[replace(row, texts=list(row.texts)) for row in self.rows], index=list(self.index))

    def first_change(self, honest: Book) -> int:
        """The lowest number at which an entry says something else, is missing or is new; 2^62 where none is."""
        for n, (ours, theirs) in enumerate(zip(self.rows, honest.rows, strict=False), start=1):
            if ours.says != theirs.says:
                return n
        shorter = min(len(self.rows), len(honest.rows))
        return 2**62 if len(self.rows) == len(honest.rows) else shorter + 1


def read(path: Path) -> Book:
    connection = sqlite3.connect(path)
    rows = [Row(*columns) for columns in connection.execute("SELECT * FROM ledger_entries ORDER BY n")]
    for n, *text in connection.execute("SELECT n, commitment, salt, text FROM ledger_texts ORDER BY n, commitment"):
        rows[n - 1].texts.append(tuple(text))
    index = connection.execute("SELECT n, same FROM ledger_index ORDER BY n").fetchall()
    ((format_, size, root, peaks),) = connection.execute("SELECT format, size, root, peaks FROM ledger_head")
    connection.close()
    return Book(rows, index, size, root, peaks, format_)


class Target:
    """A file that is a ledger, with every constraint in the attacker's way taken out."""

    def __init__(self, honest: Path, path: Path) -> None:
        self.url = str(path)
        source, self._connection = sqlite3.connect(honest), sqlite3.connect(path)
        source.backup(self._connection)
        source.close()
        self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.execute("PRAGMA synchronous = OFF")
        for table in ("ledger_entries", "ledger_texts"):
            ((sql,),) = self._connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,))
            self._connection.execute(f"DROP TABLE {table}")
            # the same columns, no uniqueness, no keys
            columns = sql[sql.index("(") : sql.index("PRIMARY KEY")].rstrip().rstrip(",")
            self._connection.execute(f"CREATE TABLE {table} {columns})".replace(" NOT NULL", ""))
        self._connection.commit()

    def write(self, book: Book) -> None:
        """Puts the book in the place of what is there."""
        run = self._connection
        with run:
            for table in TABLES:
                if table != "ledger_head":
                    run.execute(f"DELETE FROM {table}")  # noqa: S608  # a name from above
            run.executemany(
                "INSERT INTO ledger_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [r.columns() for r in book.rows]
            )
            texts = [(row.n, *text) for row in book.rows for text in row.texts]
            run.executemany("INSERT INTO ledger_texts VALUES (?, ?, ?, ?)", texts)
            run.executemany("INSERT OR REPLACE INTO ledger_index VALUES (?, ?)", book.index)
            run.execute("UPDATE ledger_head SET size = ?, root = ?, peaks = ?", (book.size, book.root, book.peaks))

    def close(self) -> None:
        self._connection.close()


def envelope_of(row: Row) -> dict[str, Any]:
    return json.loads(row.envelope)  # type: ignore[no-any-return]  # an object, as written


def content_of(row: Row) -> dict[str, Any]:
    return json.loads(row.content)  # type: ignore[no-any-return]  # an object, as written


def with_content(row: Row, content: dict[str, Any]) -> None:
    """Another content, with the commitment and the leaf hash that fit it."""
    row.content = canonical_bytes(content)
    row.registration = content.get("registration")
    commitment = hashlib.sha256(row.salt + row.content).hexdigest()
    with_envelope(row, {**envelope_of(row), "content_commitment": commitment})


def with_envelope(row: Row, envelope: dict[str, Any]) -> None:
    """Another envelope, with the leaf hash that fits it."""
    row.envelope = canonical_bytes(envelope)
    row.kind = envelope["kind"]
    row.leaf = leaf_hash(row.envelope)


def with_text(row: Row, text: bytes) -> None:
    """Another first free text, with its commitment, and all that hangs on that."""
    old, salt, _ = row.texts[0]
    new = hashlib.sha256(salt + text).digest()
    row.texts[0] = (new, salt, text)
    with_content(row, json.loads(row.content.decode().replace(old.hex(), new.hex())))


def recompute(book: Book, old_leaves: Sequence[bytes]) -> None:
    """Makes all stored hashes, references, roots, index and head follow from what the rows say.

    `old_leaves` are the leaf hashes that the rows had, in their present order: references follow the entries they
    named; what names no earlier row is dropped.
    """
    renamed: dict[str, str] = {}
    grown = CompactRange()
    for n, (row, old) in enumerate(zip(book.rows, old_leaves, strict=True), start=1):
        envelope = envelope_of(row)
        refs = [renamed[ref] for ref in envelope["refs"] if ref in renamed]
        supersedes = renamed.get(envelope["supersedes"] or "")
        with_envelope(row, {**envelope, "refs": list(dict.fromkeys(refs)), "supersedes": supersedes})
        renamed[old.hex()] = row.leaf.hex()
        grown.append(row.leaf)
        row.n, row.root = n, grown.root()
    book.size, book.root, book.peaks = grown.size, grown.root(), grown.to_bytes()
    book.index = index_of(book.rows)


def index_of(rows: Sequence[Row]) -> list[tuple[int, bytes]]:
    """What the ledger keeps to find equal entries by."""
    entries = [decode(RawEntry(*row.columns(), row.texts)) for row in rows]  # type: ignore[arg-type]  # as stored
    digests = [(entry.n, projections.sameness_of(entry)) for entry in entries]
    return [(n, same) for n, same in digests if same is not None]
