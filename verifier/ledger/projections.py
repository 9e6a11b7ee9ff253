"""What is kept beside the log to find things by: made from the entries alone, checked by `verify`, rebuilt at will.

There is one: for each entry that is found and not repeated, a digest of what makes two of them equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import Connection, delete, insert, select, type_coerce
from sqlalchemy.types import NULLTYPE

from verifier.ledger import store
from verifier.ledger.content import checked_bytes
from verifier.ledger.entry import KINDS, Entry
from verifier.ledger.store import INDEX
from verifier.ledger.withheld import decoder
from verifier.model.canonical import Json
from verifier.model.errors import TamperingDetected

SINCE_FORMAT = 2  # of the tables
_AT_ONCE = 500  # rows written by one statement


def sameness(*, kind: str, refs: Sequence[str], supersedes: str | None, content: Json) -> bytes:
    """The digest on which two entries agree that are found and not repeated, 32 bytes.

    SHA-256 over the kind, the refs and what is superseded, in ASCII, a line each, and the canonical bytes of the
    content with its texts put back. It has no salt, so it goes where the content of an entry goes.
    """
    head = f"{kind}\n{' '.join(refs)}\n{supersedes or ''}\n".encode()
    return hashlib.sha256(head + checked_bytes(content)).digest()


def is_found(kind: str, content: Mapping[str, Any]) -> bool:
    """Whether an equal entry is found instead of appended: by its kind, or because it names the request it answers."""
    return KINDS[kind].found_again or "request" in content


def sameness_of(entry: Entry) -> bytes | None:
    """The digest of an entry read back; None for one that is always appended, or whose content is withheld."""
    if entry.withheld or not is_found(entry.kind, entry.content):
        return None
    return sameness(kind=entry.kind, refs=entry.refs, supersedes=entry.supersedes, content=entry.content)


def write_same(connection: Connection, rows: Iterable[tuple[int, bytes]]) -> None:
    """Notes the digests of entries, given as (number, digest)."""
    left = iter(rows)
    while batch := [{"n": n, "same": same} for n, same in islice(left, _AT_ONCE)]:
        connection.execute(insert(INDEX), batch)


def numbers_like(connection: Connection, same: bytes) -> list[Any]:
    """The numbers of the entries noted under a digest, lowest first, a few at most; they may be wrong."""
    found = connection.execute(select(INDEX.c.n).where(INDEX.c.same == same).order_by(INDEX.c.n).limit(4))
    return [n for (n,) in found]


def rebuild(connection: Connection, size: int) -> int:
    """Makes every projection anew from entries 1 to `size`. Returns how many entries it notes.

    Raises TamperingDetected for an entry that is not what its hashes say.
    """
    INDEX.drop(connection, checkfirst=True)
    INDEX.create(connection)
    written = 0
    entries = map(decoder(connection), store.stream(connection, store.up_to(size)))
    rows = ((entry.n, same) for entry in entries if (same := sameness_of(entry)) is not None)
    while batch := list(islice(rows, _AT_ONCE)):
        write_same(connection, batch)
        written += len(batch)
    return written


def drop(connection: Connection, n: int) -> None:
    """Forgets what is kept of entry n, as must be done where its content is withheld."""
    connection.execute(delete(INDEX).where(INDEX.c.n == n))


class Checked:
    """Compares the projections with the entries, which are given in order."""

    def __init__(self, connection: Connection) -> None:
        query = select(type_coerce(INDEX.c.n, NULLTYPE), type_coerce(INDEX.c.same, NULLTYPE)).order_by(INDEX.c.n)
        rows = store.rows_of(connection, query, ahead=_AT_ONCE)
        self._rows: Iterator[tuple[Any, Any]] = ((row[0], row[1]) for row in rows)
        self._waiting = next(self._rows, None)

    def add(self, entry: Entry) -> None:
        """Raises TamperingDetected where what is kept of `entry` is not what follows from it."""
        same = sameness_of(entry)
        if same is None:
            return
        if self._waiting != (entry.n, same):
            raise _wrong(f"ledger entry {entry.n}")
        self._waiting = next(self._rows, None)

    def end(self) -> None:
        """Raises TamperingDetected where something is kept of an entry that is not there."""
        if self._waiting is not None:
            raise _wrong("ledger index")


def _wrong(where: str) -> TamperingDetected:
    return TamperingDetected(
        "the tables that are kept to find entries by do not follow from the entries",
        where=where,
        mend="the entries themselves are looked at apart from these tables: run `verifier ledger rebuild`",
    )
