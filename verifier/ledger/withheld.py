"""What administrators withheld: which contents and texts may be absent without anybody having tampered."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from sqlalchemy import Connection

from verifier.ledger import store
from verifier.ledger.entry import NOTHING_WITHHELD, Absent, Entry, RawEntry, decode
from verifier.model.errors import BadInput

NOTHING: Mapping[str, Absent] = MappingProxyType({})


def read_withheld(connection: Connection, *, vouched: int | None = None) -> Mapping[str, Absent]:
    """Leaf hash -> what of that entry may be absent, by every `withheld` entry that an administrator signed.

    `vouched` is as in `allowed`. Most ledgers have none, and then this is one look into an index. Raises
    TamperingDetected for entries of keys or of what is withheld that are not what their hashes say.
    """
    rows = store.stream(connection, store.by_kind("withheld", None))
    first = next(rows, None)
    if first is None:
        return NOTHING
    # what a `withheld` entry says in words may be withheld by a later one, whatever else it says is needed here
    own = [decode(raw, absent=Absent(None, whole=False)) for raw in itertools.chain([first], rows)]
    keys = [
        decode(raw, absent=Absent(None, whole=False)) for raw in store.stream(connection, store.by_kind("key", None))
    ]
    return allowed(sorted([*own, *keys], key=lambda entry: entry.n), vouched=vouched)


def decoder(connection: Connection, *, vouched: int = 0) -> Callable[[RawEntry], Entry]:
    """`decode` for the entries of this store, which knows what may be absent.

    Entries up to `vouched` stand under a trusted checkpoint: what is absent of them was withheld by an administrator
    whom that checkpoint covers, or who was admitted by one.
    """
    absent = read_withheld(connection)
    if not absent:
        return decode
    below = read_withheld(connection, vouched=vouched) if vouched else absent

    def decoded(raw: RawEntry) -> Entry:
        leaf = raw.leaf.hex() if isinstance(raw.leaf, bytes) else ""
        covered = isinstance(raw.n, int) and raw.n <= vouched
        return decode(raw, absent=(below if covered else absent).get(leaf, NOTHING_WITHHELD))

    return decoded


def allowed(entries: Iterable[Entry], *, vouched: int | None = None) -> Mapping[str, Absent]:
    """The same from the entries of the kinds `withheld` and `key`, in order.

    With `vouched`, nobody admits itself as the first administrator after that many entries: whoever writes the store
    could do so at any time, and then withhold what a checkpoint vouches for.
    """
    from verifier.ledger.happened import table_of  # noqa: PLC0415  # pydantic is loaded where something is withheld
    from verifier.ledger.people_schema import KeyTable, WithheldTable  # noqa: PLC0415  # as above
    from verifier.ledger.roster import Roster  # noqa: PLC0415  # as above
    from verifier.ledger.signed import unsigned_because  # noqa: PLC0415  # as above

    roster = Roster()
    absent: dict[str, Absent] = {}
    for entry in entries:
        try:
            if unsigned_because(entry):
                continue
            roster.heard(entry.by)
            table = table_of(entry)
            if isinstance(table, KeyTable):
                if vouched is None or entry.n <= vouched or roster.administrators:
                    roster.add(table, by=entry.by)
            elif isinstance(table, WithheldTable) and roster.is_administrator(roster.person(entry.by)):
                before = absent.get(table.target, NOTHING_WITHHELD)
                texts = (before.texts or frozenset()) | frozenset(table.texts)
                absent[table.target] = Absent(texts, whole=before.whole or not table.texts)
        except BadInput:
            continue  # an entry that the roster does not allow withholds nothing
    return absent
