"""The ledger: appending within a transaction, and reading back."""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from sqlalchemy import ColumnElement, Connection
from sqlalchemy.exc import DBAPIError

from verifier.ledger import store
from verifier.ledger.content import SALT_BYTES, Content, Damaged, plain
from verifier.ledger.entry import (
    KINDS,
    Entry,
    Prepared,
    check_fields,
    decode,
    derived_salt,
    derived_text_salt,
    prepare,
    read_envelope,
    registration_of,
)
from verifier.ledger.merkle import EMPTY_ROOT, CompactRange, Tree
from verifier.ledger.proofs import read_tree
from verifier.ledger.sqlite import SqliteFile
from verifier.ledger.times import EPOCH_VARIABLE, fixed_epoch, next_time, system_now
from verifier.ledger.verify import Verification, check_root, verify, verify_empty
from verifier.model.canonical import Json, canonical_bytes
from verifier.model.errors import BadInput, InfrastructureFailed, TamperingDetected

DEFAULT_LEDGER = "verifier.db"
_MIN_PREFIX = 6


class Appended(NamedTuple):
    """The entry now in the ledger; `found` where an equal one stood there before."""

    entry: Entry
    found: bool


class Ledger:
    """An append-only log of registrations, evidence and rulings. Made by `Ledger.open`; close it, or use `with`."""

    def __init__(self, file: SqliteFile, *, epoch: int | None, now: Callable[[], int]) -> None:
        self._file = file
        self._epoch = epoch
        self._now = now

    @classmethod
    def open(cls, url: str | os.PathLike[str], *, create: bool, now: Callable[[], int] = system_now) -> Ledger:
        """Opens the ledger at a path or an `sqlite:///` URL; `create` also accepts one that does not exist yet.

        No file is made before a transaction begins, and a file that is no ledger is never changed. `now` is the clock,
        in seconds since 1970; SOURCE_DATE_EPOCH, where it is set, is read here and goes before it. Raises BadInput for
        anything that is not a ledger this program can read, for one that is missing where `create` is false, and with
        `create` for a ledger whose mark does not fit SOURCE_DATE_EPOCH; InfrastructureFailed where it cannot be read.
        """
        file = SqliteFile(ledger_path(url))
        ledger = cls(file, epoch=fixed_epoch(), now=now)
        if not ledger.exists():
            if create:
                return ledger
            raise BadInput(
                "there is no ledger here", where=os.fspath(file.path), mend="name another with --ledger, or run a case"
            )
        with ledger._reading() as connection:
            head = store.read_head(connection)
        if create:
            ledger._check_mark(head)
        return ledger

    @property
    def path(self) -> Path:
        """Where the ledger is stored."""
        return self._file.path

    def exists(self) -> bool:
        """Whether an entry was ever written. Raises BadInput for a file that is no ledger."""
        if not self._file.written():
            return False
        with self._reading() as connection:
            return self._file.holds_ledger(connection)

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

    def entries(self, kind: str | None = None, *, registration: str | None = None) -> Iterator[Entry]:
        """The entries in order, of one kind or registration where named, each checked against its own leaf hash.

        Whether all are there and in their places is `verify`'s question. Raises TamperingDetected.
        """
        if not self.exists():
            return
        with self._reading() as connection:
            for raw in store.stream(connection, store.by_kind(kind, registration)):
                yield decode(raw)

    def entry(self, which: int | str) -> Entry:
        """The entry of a number (from 1), or of a leaf hash or its first digits (at least 6).

        Raises BadInput where there is none, or several begin alike.
        """
        where = self._chosen(which)
        found: list[Entry] = []
        if self.exists():
            with self._reading() as connection:
                for raw in store.stream(connection, where):
                    found.append(decode(raw))
                    if len(found) > 1:
                        raise BadInput("several entries begin with it", where=str(which), mend="give more digits")
        if not found:
            raise BadInput("there is no such entry", where=str(which), mend="see `verifier ledger log`")
        return found[0]

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
            written = self._file.written()
            with ExitStack() as stack:
                transaction = Transaction(self, stack)
                if written:
                    transaction.begin()
                yield transaction
                transaction.finish()
            if transaction.created:
                self._file.close()  # the next connection turns on the write-ahead log

    def close(self) -> None:
        """Closes the connections to the store."""
        self._file.close()

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

    def _check_mark(self, head: store.Head) -> None:
        if head.reproducible and self._epoch is None:
            raise BadInput(
                "this ledger is marked reproducible",
                where=os.fspath(self.path),
                mend=f"set {EPOCH_VARIABLE} as it was when the ledger was begun, or use another ledger",
            )
        if not head.reproducible and self._epoch is not None:
            raise BadInput(
                f"this ledger was begun without {EPOCH_VARIABLE}, which is set now",
                where=os.fspath(self.path),
                mend="unset it, or use another ledger",
            )

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
            raise self._file.meaning(error.orig) from error
        except sqlite3.Error as error:
            raise self._file.meaning(error) from error

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._translated(), self._file.reader().connect() as connection:
            yield connection


class Transaction:
    """What may be done inside `Ledger.transaction`. Of no use after the block."""

    def __init__(self, ledger: Ledger, stack: ExitStack) -> None:
        self._ledger = ledger
        self._stack = stack
        self._open: Connection | None = None
        self._head: store.Head | None = None
        self._last_time: str | None = None
        self._grown = CompactRange()
        self._broken = False
        self.created = False

    def begin(self) -> Connection:
        """Takes the write lock, once, and reads where the ledger stands."""
        if self._open is None:
            file = self._ledger._file  # noqa: SLF001  # one idea in two classes
            connection = self._stack.enter_context(file.writer().begin())
            if file.holds_ledger(connection):
                self._head = store.read_head(connection)
                self._ledger._check_mark(self._head)  # noqa: SLF001  # as above
                self._grown = self._head.compact_range()
                self._last_time = _last_time(connection, self._head)
            self._open = connection
        return self._open

    def finish(self) -> None:
        """Raises InfrastructureFailed where an append failed half-way: then nothing may be committed."""
        if self._broken:
            raise InfrastructureFailed("an append failed earlier in this transaction, so none of it is kept")

    def entries(self, kind: str | None = None, *, registration: str | None = None) -> Iterator[Entry]:
        """As `Ledger.entries`, under the lock; those appended after the call are not among them."""
        connection = self.begin()
        if self._head is None:
            return iter(())
        chosen = (store.by_kind(kind, registration), store.up_to(self._grown.size))
        return (decode(raw) for raw in store.stream(connection, *chosen))

    def append(
        self,
        *,
        kind: str,
        content: Mapping[str, Content],
        by: str,
        group: str = "",
        refs: Sequence[str] = (),
        supersedes: str | None = None,
    ) -> Appended:
        """Appends an entry, or finds the equal one: same kind, refs, supersedes and content, texts compared as strings.

        `refs` and `supersedes` are leaf hashes of entries already in this ledger; `content` carries the hash of its
        registration under "registration". Raises BadInput for a field or content that cannot be recorded,
        InfrastructureFailed for a clock more than 5 minutes behind the last entry or a disk that fails.
        """
        check_fields(kind=kind, content=content, refs=refs, supersedes=supersedes, by=by, group=group)
        wanted = plain(content)
        registration = registration_of(kind, wanted)
        connection = self.begin()
        before = 0
        for entry in self.entries(kind, registration=registration):
            before += 1
            if KINDS[kind].found_again and _same(entry, wanted, refs, supersedes):
                return Appended(entry, found=True)
        for leaf in (*refs, *([supersedes] if supersedes is not None else [])):
            if store.find_leaf(connection, bytes.fromhex(leaf)) is None:
                raise BadInput(f"no entry of this ledger has the leaf hash {leaf}", where="refs and supersedes")
        epoch = self._ledger._epoch  # noqa: SLF001  # one idea in two classes
        now = self._ledger._now() if epoch is None else epoch  # noqa: SLF001  # as above
        salt = self._salt(kind, registration, before + 1)
        prepared = prepare(
            kind=kind,
            content=content,
            refs=refs,
            supersedes=supersedes,
            by=by,
            group=group,
            time=next_time(now, self._last_time),
            salt=salt,
            text_salt=lambda pointer: self._text_salt(salt, pointer),
        )
        return Appended(self._write(connection, prepared, kind, registration), found=False)

    def note(self, n: int, mapping: Mapping[str, Any]) -> None:
        """Keeps what is never hashed beside entry n: durations, executor, workers, versions, tracebacks.

        Raises BadInput where there is no entry n, or JSON cannot hold the note.
        """
        connection = self.begin()
        if not 1 <= n <= self._grown.size:
            raise BadInput("there is no such entry to note something on", where=f"entry {n}")
        store.write_note(connection, n, mapping)

    def _write(self, connection: Connection, prepared: Prepared, kind: str, registration: str | None) -> Entry:
        self._broken = True
        if self._head is None:
            self._create(connection)
        self._grown.append(prepared.leaf)
        raw = prepared.raw(n=self._grown.size, kind=kind, registration=registration, root=self._grown.root())
        store.write_entry(connection, raw)
        store.write_head(connection, self._grown)
        entry = decode(raw)
        self._last_time = entry.time
        self._broken = False
        return entry

    def _create(self, connection: Connection) -> None:
        file, epoch = self._ledger._file, self._ledger._epoch  # noqa: SLF001  # one idea in two classes
        store.create(connection, reproducible=epoch is not None)
        file.mark(connection)
        self.created = True
        self._head = store.Head(epoch is not None, 0, self._grown.root(), b"")

    def _salt(self, kind: str, registration: str | None, number: int) -> bytes:
        if self._ledger._epoch is None:  # noqa: SLF001  # one idea in two classes
            return secrets.token_bytes(SALT_BYTES)
        if registration is None:
            raise BadInput(f"a reproducible ledger takes no {kind}", mend=f"unset {EPOCH_VARIABLE} and use another")
        return derived_salt(registration=registration, kind=kind, number=number)

    def _text_salt(self, salt: bytes, pointer: str) -> bytes:
        if self._ledger._epoch is None:  # noqa: SLF001  # one idea in two classes
            return secrets.token_bytes(SALT_BYTES)
        return derived_text_salt(salt, pointer)


def _same(entry: Entry, content: Mapping[str, Json], refs: Sequence[str], supersedes: str | None) -> bool:
    """Whether an entry of the same kind says the same in the same place; Python alone takes True for 1."""
    return (
        entry.refs == tuple(refs)
        and entry.supersedes == supersedes
        and entry.content == content
        and canonical_bytes(entry.content) == canonical_bytes(content)
    )


def _last_time(connection: Connection, head: store.Head) -> str:
    """The time of the last entry. Raises TamperingDetected where it is not the one that the head speaks of."""
    row = store.last_row(connection)
    where = f"ledger entry {head.size}"
    if row is None or row[0] != head.size or row[3] != head.root:
        raise TamperingDetected("the last entry is not the one that the head speaks of", where=where)
    try:
        return read_envelope(row[2], row[1]).time
    except Damaged as error:
        raise TamperingDetected(str(error), where=where) from error


def ledger_path(url: str | os.PathLike[str]) -> Path:
    """The file that a path or an `sqlite:///` URL names. Raises BadInput for any other URL."""
    text = os.fspath(url)
    if "\0" in text or not text:
        raise BadInput("the ledger's path is empty or has a zero byte in it", where="--ledger")
    scheme, separator, rest = text.partition("://")
    if not separator or not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        return Path(text)
    if scheme.lower() == "sqlite" and rest.startswith("/") and len(rest) > 1 and rest[1:] != ":memory:":
        return Path(rest[1:])
    raise BadInput(
        f"{text!r} names no ledger this version can open",
        where="--ledger",
        mend="give a path, or a URL such as sqlite:///verifier.db",
    )
