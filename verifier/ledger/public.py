"""A ledger as everybody may have it: public disputes whole, of every other entry its number and leaf hash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from verifier.ledger.audience import Hidden, visible
from verifier.ledger.content import Damaged, parse_canonical
from verifier.ledger.entry import Absent, Entry, RawEntry, decode, read_envelope, registration_of
from verifier.ledger.merkle import CompactRange
from verifier.model.errors import TamperingDetected

SCHEMA = "verifier/ledger-public/1"


def public_lines(entries: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    """The lines of a public export: a head with size and root, then each entry in order.

    `entries` are all of a ledger's. A private entry and a withheld one look the same: `{"n": …, "leaf": …}`. A public
    one has its envelope and content, as the texts that were hashed, its salt, and the free texts that are not withheld.
    """
    shown = visible(entries, "public")
    grown = CompactRange()
    for one in shown:
        grown.append(bytes.fromhex(one.leaf))
    yield {"schema": SCHEMA, "size": grown.size, "root": grown.root().hex()}
    for one in shown:
        yield {"n": one.n, "leaf": one.leaf} if isinstance(one, Hidden) else _whole(one)


def _whole(entry: Entry) -> dict[str, Any]:
    return {
        "n": entry.n,
        "leaf": entry.leaf,
        "envelope": entry.envelope_bytes.decode(),
        "content": entry.content_bytes.decode(),
        "salt": entry.salt.hex(),
        "texts": [{"commitment": text.commitment, "salt": text.salt.hex(), "text": text.text} for text in entry.texts],
    }


def check_public(lines: Iterable[Mapping[str, Any]]) -> str:
    """The root that the lines of a public export have, each public entry checked against its leaf hash.

    Raises TamperingDetected where a line is not what it must be. What the root is worth, a checkpoint says.
    """
    grown = CompactRange()
    stated: tuple[Any, Any] | None = None
    for line in lines:
        if stated is None:
            if line.get("schema") != SCHEMA:
                raise TamperingDetected("its first line is not that of a public export", where="public export")
            stated = (line.get("size"), line.get("root"))
            continue
        where = f"public export, entry {grown.size + 1}"
        try:
            leaf = bytes.fromhex(line["leaf"])
            if line["n"] != grown.size + 1 or len(leaf) != 32:
                raise TamperingDetected("it is not in its place", where=where)
            if "envelope" in line:
                decode(_raw(line), absent=Absent(None, whole=False))
        except (KeyError, TypeError, ValueError, AttributeError, Damaged) as error:
            raise TamperingDetected("a field of it is missing or not what it must be", where=where) from error
        grown.append(leaf)
    if stated != (grown.size, grown.root().hex()):
        raise TamperingDetected("its size or root is not that of its entries", where="public export")
    return grown.root().hex()


def _raw(line: Mapping[str, Any]) -> RawEntry:
    leaf, envelope, content = bytes.fromhex(line["leaf"]), line["envelope"].encode(), line["content"].encode()
    kind = read_envelope(envelope, leaf).kind
    sealed: Any = parse_canonical(content)
    texts = [
        (bytes.fromhex(one["commitment"]), bytes.fromhex(one["salt"]), one["text"].encode()) for one in line["texts"]
    ]
    salt = bytes.fromhex(line["salt"])
    return RawEntry(line["n"], leaf, kind, registration_of(kind, sealed), envelope, content, salt, leaf, texts)
