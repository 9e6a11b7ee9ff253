"""The ledger's tables and every statement on them, in SQLAlchemy Core for any store."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    and_,
    bindparam,
    case,
    func,
    insert,
    select,
    type_coerce,
    update,
)
from sqlalchemy import Text as TextType
from sqlalchemy.types import NULLTYPE

from verifier.ledger.content import MAX_CONTENT
from verifier.ledger.entry import RawEntry
from verifier.ledger.merkle import HASH_BYTES, CompactRange
from verifier.model.errors import BadInput, TamperingDetected

FORMAT = 2  # of the tables; a new kind of entry raises it too, so that an older program says what is wrong
MAX_ENVELOPE = 2**20
MAX_NOTE = 2**20
_STILL_OPEN = "verifier: cursors of rows being read"
_ROWS_AHEAD = 16  # rows held while streaming; each may hold MAX_CONTENT bytes

_BIG = BigInteger().with_variant(Integer, "sqlite")
_metadata = MetaData()

HEAD = Table(
    "ledger_head",
    _metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("format", Integer, nullable=False),
    Column("reproducible", Integer, nullable=False),
    Column("size", _BIG, nullable=False),
    Column("root", LargeBinary, nullable=False),
    Column("peaks", LargeBinary, nullable=False),
)
ENTRIES = Table(
    "ledger_entries",
    _metadata,
    Column("n", _BIG, primary_key=True, autoincrement=False),
    Column("leaf", LargeBinary, nullable=False, unique=True),
    Column("kind", TextType, nullable=False),
    Column("registration", TextType),
    Column("envelope", LargeBinary, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("salt", LargeBinary, nullable=False),
    Column("root", LargeBinary, nullable=False),
)
Index("ledger_entries_kind", ENTRIES.c.kind, ENTRIES.c.registration)
TEXTS = Table(
    "ledger_texts",
    _metadata,
    Column("n", _BIG, ForeignKey(ENTRIES.c.n), primary_key=True, autoincrement=False),
    Column("commitment", LargeBinary, primary_key=True),
    Column("salt", LargeBinary, nullable=False),
    Column("text", LargeBinary, nullable=False),
)
NOTES = Table(
    "ledger_notes",
    _metadata,
    Column("id", _BIG, primary_key=True),
    Column("n", _BIG, ForeignKey(ENTRIES.c.n), nullable=False, index=True),
    Column("note", LargeBinary, nullable=False),
)
INDEX = Table(  # a projection: `projections` fills it from the entries, and nothing is written to it alone
    "ledger_index",
    _metadata,
    Column("n", _BIG, primary_key=True, autoincrement=False),
    Column("same", LargeBinary, nullable=False),
)
Index("ledger_index_same", INDEX.c.same)
TABLE_NAMES = frozenset(_metadata.tables)


def _raw(column: ColumnElement[Any], limit: int | None = None) -> ColumnElement[Any]:
    """A column as the store holds it, unconverted; None where it is longer than `limit` bytes."""
    value = type_coerce(column, NULLTYPE)
    if limit is None:
        return value
    return case((func.length(value) <= limit, value)).label(column.key)


_TEXT_COLUMNS = (
    _raw(TEXTS.c.n),
    _raw(TEXTS.c.commitment, HASH_BYTES),
    _raw(TEXTS.c.salt, HASH_BYTES),
    _raw(TEXTS.c.text, MAX_CONTENT),
)
_ENTRY_COLUMNS = (
    _raw(ENTRIES.c.n),
    _raw(ENTRIES.c.leaf, HASH_BYTES),
    _raw(ENTRIES.c.kind, 100),
    _raw(ENTRIES.c.registration, 100),
    _raw(ENTRIES.c.envelope, MAX_ENVELOPE),
    _raw(ENTRIES.c.content, MAX_CONTENT),
    _raw(ENTRIES.c.salt, HASH_BYTES),
    _raw(ENTRIES.c.root, HASH_BYTES),
)
_BY_LEAF = select(_ENTRY_COLUMNS[0], _ENTRY_COLUMNS[4]).where(ENTRIES.c.leaf == bindparam("wanted"))


@dataclass(frozen=True, slots=True)
class Head:
    """What the store says of the whole ledger: mark, size, root, and the subtree hashes that appends need."""

    reproducible: bool
    size: int
    root: bytes
    peaks: bytes
    format: int = FORMAT

    def compact_range(self) -> CompactRange:
        """The range to append to. Raises TamperingDetected where it does not give the stored root."""
        try:
            made = CompactRange.from_bytes(self.size, self.peaks)
        except ValueError as error:
            raise TamperingDetected("its subtree hashes do not fit its size", where="ledger head") from error
        if made.root() != self.root:
            raise TamperingDetected("its subtree hashes do not give its root", where="ledger head")
        return made


def create(connection: Connection, *, reproducible: bool) -> None:
    """Makes the tables of an empty ledger, within the transaction of its first append."""
    _metadata.create_all(connection)
    empty = CompactRange()
    connection.execute(
        insert(HEAD).values(
            id=1, format=FORMAT, reproducible=int(reproducible), size=0, root=empty.root(), peaks=empty.to_bytes()
        )
    )


def read_head(connection: Connection, *, lock: bool = False) -> Head:
    """The head row; with `lock`, nobody else appends until the transaction ends (SQLite's writer has seen to that).

    Raises BadInput for a newer format, TamperingDetected for anything else that cannot be.
    """
    query = select(
        _raw(HEAD.c.id),
        _raw(HEAD.c.format),
        _raw(HEAD.c.reproducible),
        _raw(HEAD.c.size),
        _raw(HEAD.c.root, HASH_BYTES),
        _raw(HEAD.c.peaks, 64 * HASH_BYTES),
    )
    rows = connection.execute(query.with_for_update() if lock else query.limit(2)).fetchall()
    if len(rows) != 1:
        raise TamperingDetected(f"there are {len(rows) or 'no'} head rows instead of one", where="ledger head")
    number, format_, reproducible, size, root, peaks = rows[0]
    if isinstance(format_, int) and format_ > FORMAT:
        raise BadInput(
            f"this ledger has format {format_} and this program reads up to {FORMAT}", mend="install a newer version"
        )
    whole = all(isinstance(value, int) for value in (number, format_, reproducible, size))
    hashes = isinstance(root, bytes) and isinstance(peaks, bytes)
    if not whole or not hashes or number != 1 or format_ < 1 or reproducible not in (0, 1) or size < 1:
        raise TamperingDetected("a field of the head is not what it must be", where="ledger head")
    return Head(bool(reproducible), size, root, peaks, format_)


def write_head(connection: Connection, grown: CompactRange) -> None:
    """Replaces size, root and subtree hashes by those of the grown tree."""
    connection.execute(update(HEAD).values(size=grown.size, root=grown.root(), peaks=grown.to_bytes()))


def write_format(connection: Connection) -> None:
    """States that the tables have the present format."""
    connection.execute(update(HEAD).values(format=FORMAT))


def _columns(raw: RawEntry) -> dict[str, Any]:
    columns = raw._asdict()
    del columns["texts"]
    return columns


def write_entries(connection: Connection, raws: Sequence[RawEntry]) -> None:
    """Inserts entries, at least one, and their texts."""
    connection.execute(insert(ENTRIES), [_columns(raw) for raw in raws])
    rows = [
        {"n": raw.n, "commitment": commitment, "salt": salt, "text": text}
        for raw in raws
        for commitment, salt, text in raw.texts
    ]
    if rows:
        connection.execute(insert(TEXTS), rows)


def rows_of(connection: Connection, query: Executable, *, ahead: int) -> Iterator[Any]:
    """The rows of a query, `ahead` of them in memory at a time; the cursor closes after the last or by `close_rows`.

    An error raised elsewhere keeps whoever iterates alive as long as its traceback, and so the cursor and its locks.
    """
    still_open: dict[int, CursorResult[Any]] = connection.info.setdefault(_STILL_OPEN, {})
    with connection.execute(query, execution_options={"yield_per": ahead}) as rows:
        still_open[id(rows)] = rows
        try:
            yield from rows
        finally:
            still_open.pop(id(rows), None)


def close_rows(connection: Connection) -> None:
    """Closes the cursors of rows that nobody read to their end, as must be done before the connection is given back."""
    for rows in connection.info.pop(_STILL_OPEN, {}).values():
        rows.close()


def stream(connection: Connection, *where: ColumnElement[bool]) -> Iterator[RawEntry]:
    """The entries that satisfy all of `where`, in order of n, with their texts, a few rows in memory at a time.

    Raises TamperingDetected for a text that belongs to none of them.
    """
    chosen = select(*_ENTRY_COLUMNS).where(*where).order_by(ENTRIES.c.n)
    theirs = select(*_TEXT_COLUMNS).order_by(TEXTS.c.n, TEXTS.c.commitment)
    if where:
        theirs = theirs.join(ENTRIES, ENTRIES.c.n == TEXTS.c.n).where(*where)
    texts = rows_of(connection, theirs, ahead=_ROWS_AHEAD)
    waiting = next(texts, None)
    for row in rows_of(connection, chosen, ahead=_ROWS_AHEAD):
        own: list[tuple[object, object, object]] = []
        held = 0
        while waiting is not None and waiting[0] == row[0]:
            held += len(waiting[3]) if isinstance(waiting[3], bytes) else 0
            # an entry's texts are bounded together; beyond the bound they are counted as missing
            own.append((waiting[1], waiting[2], waiting[3]) if held <= MAX_CONTENT else (None, None, None))
            waiting = next(texts, None)
            if len(own) > MAX_CONTENT // HASH_BYTES:
                raise TamperingDetected(
                    "more texts are stored with it than it can name", where=f"ledger entry {row[0]}"
                )
        yield RawEntry._make((*row, own))
        if waiting is not None and not (isinstance(waiting[0], int) and waiting[0] > row[0]):
            raise _stray(waiting[0])
    if waiting is not None:
        raise _stray(waiting[0])


def _stray(n: object) -> TamperingDetected:
    return TamperingDetected(
        "a text is stored for an entry that is not there",
        where=f"ledger entry {n}" if isinstance(n, int) else "ledger texts",
    )


def by_number(n: int) -> ColumnElement[bool]:
    """Chooses entry n."""
    return ENTRIES.c.n == n


def by_numbers(numbers: Collection[int]) -> ColumnElement[bool]:
    """Chooses the entries of these numbers: one statement for many."""
    return ENTRIES.c.n.in_(numbers)


def up_to(size: int) -> ColumnElement[bool]:
    """Chooses entries 1 to `size`."""
    return ENTRIES.c.n <= size


def by_kind(kind: str | None, registration: str | None, without: Sequence[str] = ()) -> ColumnElement[bool]:
    """Chooses the entries of a kind, of a registration, or of both; None stands for any. `without` leaves kinds out."""
    chosen = [ENTRIES.c.n >= 1]
    if kind is not None:
        chosen.append(ENTRIES.c.kind == kind)
    if registration is not None:
        chosen.append(ENTRIES.c.registration == registration)
    if without:
        chosen.append(ENTRIES.c.kind.not_in(without))
    return and_(*chosen)


def by_leaf_prefix(prefix: str) -> ColumnElement[bool]:
    """Chooses the entries whose leaf hash begins with these hexadecimal digits, at most 64."""
    return ENTRIES.c.leaf.between(bytes.fromhex(prefix.ljust(64, "0")), bytes.fromhex(prefix.ljust(64, "f")))


def count(connection: Connection, *where: ColumnElement[bool]) -> int:
    """How many entries satisfy all of `where`."""
    return connection.execute(select(func.count()).select_from(ENTRIES).where(*where)).scalar_one()


def find_leaf(connection: Connection, leaf: bytes) -> tuple[Any, Any] | None:
    """The number and envelope of the entry stored under this leaf hash, unchecked, or None."""
    row = connection.execute(_BY_LEAF, {"wanted": leaf}).first()
    return None if row is None else (row[0], row[1])


def last_row(connection: Connection) -> tuple[Any, Any, Any, Any] | None:
    """Number, leaf hash, envelope and root of the last entry, unchecked, or None."""
    row = connection.execute(
        select(_ENTRY_COLUMNS[0], _ENTRY_COLUMNS[1], _ENTRY_COLUMNS[4], _ENTRY_COLUMNS[7])
        .order_by(ENTRIES.c.n.desc())
        .limit(1)
    ).first()
    return None if row is None else (row[0], row[1], row[2], row[3])


def write_note(connection: Connection, n: int, note: Mapping[str, Any]) -> None:
    """Stores a note beside entry n. Raises BadInput where JSON cannot hold it or it exceeds 1 MiB."""
    try:
        data = json.dumps(note, ensure_ascii=False, allow_nan=False, sort_keys=True).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"a note cannot be written as JSON ({error})", where=f"note on entry {n}") from error
    if len(data) > MAX_NOTE:
        raise BadInput(f"a note has {len(data)} bytes, more than {MAX_NOTE}", where=f"note on entry {n}")
    connection.execute(insert(NOTES).values(n=n, note=data))


def all_notes(connection: Connection) -> Iterator[tuple[Any, Any]]:
    """(entry's number, stored bytes) of every note, by entry, oldest first; None for bytes beyond the bound."""
    chosen = select(_raw(NOTES.c.n), _raw(NOTES.c.note, MAX_NOTE)).order_by(NOTES.c.n, NOTES.c.id)
    return ((row[0], row[1]) for row in rows_of(connection, chosen, ahead=_ROWS_AHEAD))


def read_notes(connection: Connection, n: int) -> Iterator[dict[str, Any]]:
    """The notes beside entry n, oldest first. Raises TamperingDetected for one that is no JSON object."""
    rows = connection.execute(select(_raw(NOTES.c.note, MAX_NOTE)).where(NOTES.c.n == n).order_by(NOTES.c.id))
    for (data,) in itertools.islice(rows, 10_000):
        try:
            note = json.loads(data)
        except (TypeError, ValueError, RecursionError) as error:
            raise TamperingDetected("a note on it is not JSON", where=f"ledger entry {n}") from error
        if not isinstance(note, dict):
            raise TamperingDetected("a note on it is not a mapping", where=f"ledger entry {n}")
        yield note
