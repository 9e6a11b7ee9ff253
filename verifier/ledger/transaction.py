"""Appending: what may be done while nobody else appends, kept whole or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection

from verifier.ledger import projections, store
from verifier.ledger.backend import Backend
from verifier.ledger.content import SALT_BYTES, Content, Damaged, plain
from verifier.ledger.entry import (
    Entry,
    Prepared,
    RawEntry,
    check_fields,
    decode,
    derived_salt,
    derived_text_salt,
    prepare,
    read_envelope,
    registration_of,
)
from verifier.ledger.erase import erase
from verifier.ledger.merkle import CompactRange
from verifier.ledger.migrations import migrate
from verifier.ledger.times import EPOCH_VARIABLE, next_time
from verifier.ledger.withheld import decoder
from verifier.model.errors import BadInput, InfrastructureFailed, TamperingDetected

_PENDING_ENTRIES = 256  # held before they are written together
_PENDING_BYTES = 4 * 2**20


class Appended(NamedTuple):
    """The entry now in the ledger; `found` where an equal one stood there before."""

    entry: Entry
    found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An entry to append: the arguments of `Transaction.append`."""

    kind: str
    content: Mapping[str, Content]
    by: str
    group: str = ""
    refs: Sequence[str] = ()
    supersedes: str | None = None


def check_mark(head: store.Head, epoch: int | None, where: str) -> None:
    """Raises BadInput where a ledger's mark does not fit SOURCE_DATE_EPOCH."""
    if head.reproducible and epoch is None:
        raise BadInput(
            "this ledger is marked reproducible",
            where=where,
            mend=f"set {EPOCH_VARIABLE} as it was when the ledger was begun, or use another ledger",
        )
    if not head.reproducible and epoch is not None:
        raise BadInput(
            f"this ledger was begun without {EPOCH_VARIABLE}, which is set now",
            where=where,
            mend="unset it, or use another ledger",
        )


class Transaction:
    """What may be done inside `Ledger.transaction`. Of no use after the block."""

    def __init__(self, backend: Backend, stack: ExitStack, *, epoch: int | None, now: Callable[[], int]) -> None:
        self._backend = backend
        self._stack = stack
        self._epoch = epoch
        self._now = now
        self._open: Connection | None = None
        self._head: store.Head | None = None
        self._last_time: str | None = None
        self._grown = CompactRange()
        self._pending: list[RawEntry] = []
        self._pending_bytes = 0
        self._pending_same: dict[bytes, Entry] = {}
        self._pending_leaves: set[bytes] = set()
        self._broken = False
        self.created = False

    def begin(self) -> Connection:
        """Takes the write lock, once, and reads where the ledger stands; brings an earlier format to the present."""
        if self._open is None:
            connection = self._stack.enter_context(self._backend.writer().begin())
            if self._backend.holds_ledger_alone(connection):
                head = store.read_head(connection, lock=True)
                check_mark(head, self._epoch, self._backend.name)
                self._grown = head.compact_range()
                self._last_time = _last_time(connection, head)
                self._head = migrate(connection, head)
            self._open = connection
        return self._open

    @property
    def size(self) -> int:
        """How many entries the ledger holds, those appended here among them."""
        return self._grown.size

    def finish(self) -> None:
        """Writes what is pending. Raises InfrastructureFailed where something failed half-way: nothing is kept then."""
        if self._broken:
            raise InfrastructureFailed("an append failed earlier in this transaction, so none of it is kept")
        self._flush()

    def entries(
        self, kind: str | None = None, *, registration: str | None = None, without: Sequence[str] = ()
    ) -> Iterator[Entry]:
        """As `Ledger.entries`, under the lock; those appended after the call are not among them."""
        connection = self.begin()
        if self._head is None:
            return iter(())
        self._flush()
        chosen = (store.by_kind(kind, registration, without), store.up_to(self._grown.size))
        return map(decoder(connection), store.stream(connection, *chosen))

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

        Of kinds that people and models write only a repeated `request` is found. `refs` and `supersedes` are leaf
        hashes of entries already in this ledger; `content` of the engine's kinds carries the hash of its registration
        under "registration". Raises BadInput for a field or content that cannot be recorded, InfrastructureFailed for
        a clock more than 5 minutes behind the last entry or a store that fails.
        """
        check_fields(kind=kind, content=content, refs=refs, supersedes=supersedes, by=by, group=group)
        wanted = plain(content)
        registration = registration_of(kind, wanted)
        connection = self.begin()
        same = None
        if projections.is_found(kind, wanted):
            same = projections.sameness(kind=kind, refs=refs, supersedes=supersedes, content=wanted)
            if (found := self._find(connection, same)) is not None:
                return Appended(found, found=True)
        for leaf in (*refs, *([supersedes] if supersedes is not None else [])):
            wanted_leaf = bytes.fromhex(leaf)
            if wanted_leaf not in self._pending_leaves and not self._stands(connection, wanted_leaf):
                raise BadInput(f"no entry of this ledger has the leaf hash {leaf}", where="refs and supersedes")
        salt = self._salt(connection, kind, registration)
        prepared = prepare(
            kind=kind,
            content=content,
            refs=refs,
            supersedes=supersedes,
            by=by,
            group=group,
            time=next_time(self._now() if self._epoch is None else self._epoch, self._last_time),
            salt=salt,
            text_salt=lambda pointer: self._text_salt(salt, pointer),
        )
        return Appended(self._add(connection, prepared, kind, registration, same), found=False)

    def append_many(self, drafts: Iterable[Draft]) -> list[Appended]:
        """Appends each draft in order, or finds the equal entry, as `append` does."""
        return [
            self.append(
                kind=draft.kind,
                content=draft.content,
                by=draft.by,
                group=draft.group,
                refs=draft.refs,
                supersedes=draft.supersedes,
            )
            for draft in drafts
        ]

    def note(self, n: int, mapping: Mapping[str, Any]) -> None:
        """Keeps what is never hashed beside entry n: durations, executor, workers, versions, tracebacks.

        Raises BadInput where there is no entry n, or JSON cannot hold the note.
        """
        connection = self.begin()
        if not 1 <= n <= self._grown.size:
            raise BadInput("there is no such entry to note something on", where=f"entry {n}")
        self._flush()
        store.write_note(connection, n, mapping)

    def withhold(self, n: int, texts: Iterable[str] | None) -> None:
        """Takes texts of entry n out by their commitments, or for None all its content; as `erase`.

        The `withheld` entry that allows it was appended in this transaction.
        """
        connection = self.begin()
        self._flush()
        erase(connection, n, texts)

    def _stands(self, connection: Connection, leaf: bytes) -> bool:
        return self._head is not None and store.find_leaf(connection, leaf) is not None

    def _find(self, connection: Connection, same: bytes) -> Entry | None:
        """The entry of this digest. What the projection says is compared with the entry itself."""
        if same in self._pending_same:
            return self._pending_same[same]
        if self._head is None:
            return None
        for n in projections.numbers_like(connection, same):
            for raw in store.stream(connection, store.by_number(n)):
                entry = decode(raw)  # what is withheld is not found, and its number is not kept here
                if projections.sameness_of(entry) == same:
                    return entry
        return None

    def _add(
        self, connection: Connection, prepared: Prepared, kind: str, registration: str | None, same: bytes | None
    ) -> Entry:
        self._broken = True
        if self._head is None:
            self._create(connection)
        self._grown.append(prepared.leaf)
        raw = prepared.raw(n=self._grown.size, kind=kind, registration=registration, root=self._grown.root())
        entry = decode(raw)
        self._pending.append(raw)
        self._pending_leaves.add(prepared.leaf)
        self._pending_bytes += len(raw.content) + sum(len(text) for _, _, text in raw.texts)
        if same is not None:
            self._pending_same[same] = entry
        self._last_time = entry.time
        self._broken = False
        if len(self._pending) >= _PENDING_ENTRIES or self._pending_bytes > _PENDING_BYTES:
            self._flush()
        return entry

    def _flush(self) -> None:
        """Writes the pending entries, what they are found by, and the head, in that order."""
        if not self._pending:
            return
        connection = self.begin()
        self._broken = True
        store.write_entries(connection, self._pending)
        projections.write_same(connection, ((entry.n, same) for same, entry in self._pending_same.items()))
        store.write_head(connection, self._grown)
        self._pending, self._pending_bytes = [], 0
        self._pending_same, self._pending_leaves = {}, set()
        self._broken = False

    def _create(self, connection: Connection) -> None:
        store.create(connection, reproducible=self._epoch is not None)
        self._backend.mark(connection)
        self.created = True
        self._head = store.Head(self._epoch is not None, 0, self._grown.root(), b"")

    def _salt(self, connection: Connection, kind: str, registration: str | None) -> bytes:
        if self._epoch is None:
            return secrets.token_bytes(SALT_BYTES)
        if registration is None:
            raise BadInput(f"a reproducible ledger takes no {kind}", mend=f"unset {EPOCH_VARIABLE} and use another")
        self._flush()
        before = store.count(connection, store.by_kind(kind, registration)) if self._head else 0
        return derived_salt(registration=registration, kind=kind, number=before + 1)

    def _text_salt(self, salt: bytes, pointer: str) -> bytes:
        return secrets.token_bytes(SALT_BYTES) if self._epoch is None else derived_text_salt(salt, pointer)


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
