"""A ledger as JSON lines: to move it to another store, or to keep it where no database is needed to read it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from sqlalchemy import Connection

from verifier.ledger import projections, store
from verifier.ledger.backend import Backend
from verifier.ledger.content import MAX_CONTENT, Damaged, parse_canonical
from verifier.ledger.entry import RawEntry, read_envelope, registration_of
from verifier.ledger.merkle import CompactRange
from verifier.ledger.verify import Verification, verify
from verifier.ledger.withheld import decoder
from verifier.model.errors import BadInput, TamperingDetected

SCHEMA = "verifier/ledger/1"
MAX_LINE = 8 * MAX_CONTENT  # characters: a content is escaped once more inside a line
_AT_ONCE = 200
_FIELDS = {"n", "leaf", "envelope", "content", "salt", "texts", "notes"}


def export_lines(connection: Connection) -> Iterator[dict[str, Any]]:
    """The lines of a ledger: a head with its size, root and mark, then each entry in order with its notes.

    Bytes that were hashed stand as the text they are; hashes and salts in hexadecimal. Each entry is checked against
    its leaf hash on the way. Raises TamperingDetected.
    """
    head = store.read_head(connection)
    yield {"schema": SCHEMA, "size": head.size, "root": head.root.hex(), "reproducible": head.reproducible}
    notes = _Notes(connection)
    decoded = decoder(connection)
    for raw in store.stream(connection):
        entry = decoded(raw)
        yield {
            "n": entry.n,
            "leaf": entry.leaf,
            "envelope": entry.envelope_bytes.decode(),
            "content": entry.content_bytes.decode(),
            "salt": entry.salt.hex(),
            "texts": [
                {"commitment": commitment.hex(), "salt": salt.hex(), "text": text.decode()}
                for commitment, salt, text in raw.texts
            ],
            "notes": notes.of(entry.n),
        }


class _Notes:
    """The notes of each entry, asked for in order."""

    def __init__(self, connection: Connection) -> None:
        self._rows = store.all_notes(connection)
        self._waiting = next(self._rows, None)

    def of(self, n: int) -> list[Any]:
        found = []
        while self._waiting is not None and self._waiting[0] == n:
            try:
                found.append(json.loads(self._waiting[1]))
            except (TypeError, ValueError, RecursionError) as error:
                raise TamperingDetected("a note on it is not JSON", where=f"ledger entry {n}") from error
            self._waiting = next(self._rows, None)
        return found


def import_lines(backend: Backend, lines: Iterable[str]) -> Verification:
    """Makes a new ledger of the lines that `export_lines` gave, and verifies it; all of it is kept or nothing.

    Entries, salts and times stay as they were, so the root does. Raises BadInput where a ledger stands here already or
    a line is not what it must be, TamperingDetected where the entries are not those that the head speaks of.
    """
    left = enumerate(lines, 1)
    head = _head(next(left, (1, "")))
    with backend.writer().begin() as connection:
        if backend.holds_ledger_alone(connection):
            raise BadInput(
                "a ledger is here already", where=backend.name, mend="import into one that does not exist yet"
            )
        store.create(connection, reproducible=head["reproducible"])
        backend.mark(connection)
        grown = _fill(connection, left)
        if (grown.size, grown.root().hex()) != (head["size"], head["root"]):
            raise TamperingDetected(
                f"its first line speaks of {head['size']} entries with another root than these {grown.size} have",
                where="the lines to import",
            )
        store.write_head(connection, grown)
        projections.rebuild(connection, grown.size)
        found = verify(connection, root=head["root"])
    backend.close()  # the next connection to an SQLite file turns on the write-ahead log
    return found


def _fill(connection: Connection, lines: Iterator[tuple[int, str]]) -> CompactRange:
    grown = CompactRange()
    while batch := list(islice(lines, _AT_ONCE)):
        raws, notes = [], []
        for number, line in batch:
            fields = _parsed(number, line)
            try:
                raw = _raw(fields, grown)
                notes += [(raw.n, note) for note in fields["notes"] if isinstance(note, Mapping)]
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise _bad(number, "a field is missing or not what it must be") from error
            except Damaged as error:
                raise TamperingDetected(str(error), where=f"line {number}") from error
            raws.append(raw)
        store.write_entries(connection, raws)
        for n, note in notes:
            store.write_note(connection, n, note)
    if not grown.size:
        raise _bad(2, "it holds no entry")
    return grown


def _raw(fields: Mapping[str, Any], grown: CompactRange) -> RawEntry:
    leaf, envelope, content = bytes.fromhex(fields["leaf"]), fields["envelope"].encode(), fields["content"].encode()
    kind = read_envelope(envelope, leaf).kind
    sealed: Any = parse_canonical(content) if content else {}
    texts = [
        (bytes.fromhex(one["commitment"]), bytes.fromhex(one["salt"]), one["text"].encode()) for one in fields["texts"]
    ]
    grown.append(leaf)
    if type(fields["n"]) is not int or fields["n"] != grown.size or len(content) > MAX_CONTENT:
        raise ValueError("not in its place, or too large")
    salt = bytes.fromhex(fields["salt"])
    registration = registration_of(kind, sealed)
    return RawEntry(grown.size, leaf, kind, registration, envelope, content, salt, grown.root(), texts)


def _head(first: tuple[int, str]) -> dict[str, Any]:
    head = _parsed(*first, fields={"schema", "size", "root", "reproducible"})
    whole = type(head["size"]) is int and isinstance(head["root"], str) and isinstance(head["reproducible"], bool)
    if head["schema"] != SCHEMA or not whole:
        raise _bad(first[0], f"it is not the head of a ledger of the form {SCHEMA}")
    return head


def _parsed(number: int, line: str, *, fields: set[str] = _FIELDS) -> dict[str, Any]:
    if len(line) > MAX_LINE:
        raise _bad(number, f"it has more than {MAX_LINE} characters")
    try:
        value = json.loads(line, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise _bad(number, "it is not JSON, or names a key twice") from error
    if not isinstance(value, dict) or value.keys() != fields:
        raise _bad(number, f"its fields are not {', '.join(sorted(fields))}")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _bad(number: int, what: str) -> BadInput:
    return BadInput(what, where=f"line {number}", mend="give a file that `verifier ledger export` wrote")
