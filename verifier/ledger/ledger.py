"""The ledger: appending within a transaction, and reading back."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection
from sqlalchemy.exc import DBAPIError

from verifier.ledger import projections, store
from verifier.ledger.address import backend_at
from verifier.ledger.backend import Backend
from verifier.ledger.entry import Entry
from verifier.ledger.merkle import EMPTY_ROOT, Tree
from verifier.ledger.proofs import read_tree
from verifier.ledger.times import fixed_epoch, system_now
from verifier.ledger.transaction import Appended, Draft, Transaction, check_mark
from verifier.ledger.transfer import export_lines, import_lines
from verifier.ledger.verify import Verification, check_root, verify, verify_empty
from verifier.ledger.withheld import decoder
from verifier.model.errors import BadInput

DEFAULT_LEDGER = "verifier.db"
_MIN_PREFIX = 6
_TOGETHER = 500  # numbers in one statement


class Ledger:
    """An append-only log of registrations, evidence and rulings. Made by `Ledger.open`; close it, or use `with`."""

    def __init__(self, backend: Backend, *, epoch: int | None, now: Callable[[], int]) -> None:
        self._backend = backend
        self._epoch = epoch
        self._now = now

    @classmethod
    def open(cls, url: str | os.PathLike[str], *, create: bool, now: Callable[[], int] = system_now) -> Ledger:
        """Opens the ledger at a path, an `sqlite:///` or a `postgresql+psycopg://` URL.

        `create` also accepts one that does not exist yet. No file or table is made before a transaction begins, and
        what is no ledger is never changed. `now` is the clock, in seconds since 1970; SOURCE_DATE_EPOCH, where it is
        set, is read here and goes before it. Raises BadInput for anything that is not a ledger this program can read,
        for one that is missing where `create` is false, and with `create` for a ledger whose mark does not fit
        SOURCE_DATE_EPOCH; InfrastructureFailed where it cannot be read.
        """
        ledger = cls(backend_at(url), epoch=fixed_epoch(), now=now)
        try:
            ledger._look(create=create)
        except BaseException:
            ledger.close()
            raise
        return ledger

    def _look(self, *, create: bool) -> None:
        """Reads the head, if there is one. Raises as `open` does."""
        if self.exists():
            with self._reading() as connection:
                head = store.read_head(connection)
            if create:
                check_mark(head, self._epoch, self.name)
        elif not create:
            raise BadInput("there is no ledger here", where=self.name, mend="name another with --ledger, or run a case")

    @property
    def path(self) -> Path:
        """Where the ledger is stored; for a database, what the files that belong to it are named after."""
        return self._backend.path

    @property
    def name(self) -> str:
        """Where the ledger is stored, as it may be printed: a path, or a URL without its password."""
        return self._backend.name

    def exists(self) -> bool:
        """Whether an entry was ever written. Raises BadInput for a file that is no ledger."""
        if not self._backend.written():
            return False
        with self._reading() as connection:
            return self._backend.holds_ledger(connection)

    @property
    def size(self) -> int:
        """How many entries the ledger holds."""
        head = self._head()
        return head.size if head else 0

    @property
    def root(self) -> str:
        """The root over all entries, in hexadecimal."""
        head = self._head()
        return (head.root if head else EMPTY_ROOT).hex()

    def entries(
        self, kind: str | None = None, *, registration: str | None = None, without: Sequence[str] = ()
    ) -> Iterator[Entry]:
        """The entries in order, of one kind or registration where named, each checked against its own leaf hash.

        `without` names kinds that are left out. Whether all are there and in their places is `verify`'s question.
        Raises TamperingDetected.
        """
        if not self.exists():
            return
        with self._reading() as connection:
            decoded = decoder(connection)
            for raw in store.stream(connection, store.by_kind(kind, registration, without)):
                yield decoded(raw)

    def entry(self, which: int | str) -> Entry:
        """The entry of a number (from 1), or of a leaf hash or its first digits (at least 6).

        Raises BadInput where there is none, or several begin alike.
        """
        where = self._chosen(which)
        found: list[Entry] = []
        if self.exists():
            with self._reading() as connection:
                decoded = decoder(connection)
                for raw in store.stream(connection, where):
                    found.append(decoded(raw))
                    if len(found) > 1:
                        raise BadInput("several entries begin with it", where=str(which), mend="give more digits")
        if not found:
            raise BadInput("there is no such entry", where=str(which), mend="see `verifier ledger log`")
        return found[0]

    def numbered(self, numbers: Iterable[int]) -> dict[int, Entry]:
        """The entries of these numbers, read together, each checked against its leaf hash; one not there is absent."""
        wanted = sorted({n for n in numbers if 0 < n <= 2**62})
        found: dict[int, Entry] = {}
        if wanted and self.exists():
            with self._reading() as connection:
                decoded = decoder(connection)
                for start in range(0, len(wanted), _TOGETHER):
                    chosen = store.by_numbers(wanted[start : start + _TOGETHER])
                    found |= {raw.n: decoded(raw) for raw in store.stream(connection, chosen)}
        return found

    def notes(self, n: int) -> list[dict[str, Any]]:
        """What was noted beside entry n and never hashed: durations, executors, versions. Oldest first."""
        if not self.exists():
            return []
        with self._reading() as connection:
            return list(store.read_notes(connection, n))

    def verify(self, root: str | None = None, *, anchors: Mapping[int, bytes] | None = None) -> Verification:
        """Recomputes everything from the stored bytes; with `root`, noted elsewhere earlier, how far it vouches.

        `anchors` maps sizes to the roots that trusted checkpoints state. Raises TamperingDetected naming the first
        entry that is not what it must be, else the interval between two anchors; BadInput for a root that is none.
        """
        check_root(root)
        if not self.exists():
            return verify_empty(root, anchors=anchors or {})
        with self._reading() as connection:
            return verify(connection, root=root, anchors=anchors or {})

    def tree(self) -> Tree:
        """The tree over the stored leaf hashes, for proofs; as `read_tree`."""
        if not self.exists():
            return Tree()
        with self._reading() as connection:
            return read_tree(connection)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Reading and appending decided together: nobody else appends meanwhile, and all of it is kept or none.

        Leaving the block normally commits to the disk; an exception rolls back. Raises BadInput where the ledger's mark
        does not fit SOURCE_DATE_EPOCH, InfrastructureFailed for a disk that is full or cannot be written, or a ledger
        that another process holds for 30 seconds.
        """
        with self._translated():
            written = self._backend.written()
            with ExitStack() as stack:
                transaction = Transaction(self._backend, stack, epoch=self._epoch, now=self._now)
                if written:
                    transaction.begin()
                yield transaction
                transaction.finish()
            if transaction.created:
                self._backend.close()  # the next connection to an SQLite file turns on the write-ahead log

    def append_many(self, drafts: Iterable[Draft]) -> list[Appended]:
        """Appends all drafts in one transaction, or none; equal entries are found, not appended twice."""
        with self.transaction() as transaction:
            return transaction.append_many(drafts)

    def rebuild(self) -> int:
        """Makes anew what is kept beside the log to find entries by; an older format becomes the present one.

        Returns the number of entries. Raises TamperingDetected where an entry is not what its hashes say.
        """
        if not self.exists():
            return 0
        with self.transaction() as transaction:
            projections.rebuild(transaction.begin(), transaction.size)
            return transaction.size

    def lines(self) -> Generator[dict[str, Any], None, None]:
        """The whole ledger as JSON lines, notes included; as `export_lines`. Nothing for an empty one."""
        if self.exists():
            with self._reading() as connection:
                yield from export_lines(connection)

    def import_lines(self, lines: Iterable[str]) -> Verification:
        """Fills a ledger that does not exist yet with exported lines, and verifies it; as `import_lines`."""
        with self._translated():
            self._backend.written()
            return import_lines(self._backend, lines)

    def close(self) -> None:
        """Closes the connections to the store."""
        self._backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _head(self) -> store.Head | None:
        if not self.exists():
            return None
        with self._reading() as connection:
            return store.read_head(connection)

    def _chosen(self, which: int | str) -> ColumnElement[bool]:
        if isinstance(which, int):
            return store.by_number(min(which, 2**62))
        prefix = which.strip().lower()
        if not re.fullmatch(rf"[0-9a-f]{{{_MIN_PREFIX},64}}", prefix):
            raise BadInput(
                f"{which[:80]!r} is neither an entry's number nor a leaf hash",
                mend=f"give a number, or at least {_MIN_PREFIX} hexadecimal digits of the hash",
            )
        return store.by_leaf_prefix(prefix)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Errors of the store become sentences for a person."""
        try:
            yield
        except DBAPIError as error:
            raise self._backend.meaning(error.orig) from error
        except sqlite3.Error as error:
            raise self._backend.meaning(error) from error

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._translated(), self._backend.reader().connect() as connection:
            try:
                yield connection
            finally:
                store.close_rows(connection)
