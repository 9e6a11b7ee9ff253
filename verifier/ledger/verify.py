"""Recomputing a whole ledger from its stored bytes."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sqlalchemy import Connection

from verifier.ledger import projections, store
from verifier.ledger.content import Damaged
from verifier.ledger.entry import (
    Entry,
    RawEntry,
    derived_salt,
    derived_text_salt,
    is_hash,
    read_envelope,
)
from verifier.ledger.merkle import EMPTY_ROOT, CompactRange
from verifier.ledger.proofs import check_anchor, check_length
from verifier.ledger.withheld import decoder
from verifier.model.errors import BadInput, TamperingDetected

_NO_ANCHORS: Mapping[int, bytes] = MappingProxyType({})
_RECENT = 1 << 16  # leaf hashes kept in memory while checking references


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What recomputing a ledger established. Hashes are hexadecimal.

    `vouched` is the number of entries that the root noted elsewhere, or the newest checkpoint, vouches for; None where
    none was given. `first` and `last` are the times of the first and the last entry, empty for an empty ledger.
    """

    size: int
    root: str
    reproducible: bool
    first: str
    last: str
    vouched: int | None

    @property
    def sentence(self) -> str:
        """What a person may copy into a letter: what agrees, and what nothing outside vouches for."""
        return self.sentence_by("root noted elsewhere")

    def sentence_by(self, voucher: str) -> str:
        """The same, calling what vouches by its name: "checkpoint signed by example.org/ledger"."""
        if self.size == 0:
            return "This ledger holds no entries yet."
        entries = f"{self.size} entries" if self.size > 1 else "one entry"
        head = (
            f"This ledger holds {entries}, written between {self.first} and {self.last} by its own clock; every one "
            f"agrees with its hashes, and the root over all of them is {self.root}."
        )
        if self.vouched is None:
            return (
                f"{head} Nothing outside this ledger was compared with it, so nothing vouches that it was not "
                f"rewritten as a whole: note the root elsewhere and give it with --root next time."
            )
        if self.vouched == 0:
            return f"{head} The {voucher} is that of an empty ledger and vouches for nothing in it."
        part = "entry 1" if self.vouched == 1 else f"entries 1 to {self.vouched}"
        if self.vouched == self.size:
            return f"{head} The {voucher} agrees and vouches for {part}, which is all of them."
        rest = f"entry {self.size}" if self.vouched + 1 == self.size else f"entries {self.vouched + 1} to {self.size}"
        return (
            f"{head} The {voucher} vouches for {part}: they are the ones it was made for, "
            f"unchanged and in order. Nothing outside this ledger vouches for {rest}."
        )


class _Chain:
    """The checks on an entry that depend on the entries before it. Memory is bounded, whatever the ledger's size.

    Only a reproducible ledger keeps more: one number for each kind under each registration.
    """

    def __init__(self, connection: Connection, *, reproducible: bool) -> None:
        self._connection = connection
        self._reproducible = reproducible
        self._recent: OrderedDict[str, None] = OrderedDict()
        self._numbers: dict[tuple[str, str], int] = defaultdict(int)
        self.range = CompactRange()
        self.first = ""
        self.last = ""

    def add(self, entry: Entry) -> None:
        """Raises Damaged where `entry` cannot follow the ones before it."""
        if entry.time < self.last:
            raise Damaged(f"its time {entry.time} is before that of the entry before it, {self.last}")
        for ref in entry.refs:
            self._earlier(ref, entry.n, "refers to")
        if entry.supersedes is not None:
            self._earlier(entry.supersedes, entry.n, "supersedes")
        self._salts(entry)
        self.range.append(bytes.fromhex(entry.leaf))
        if self.range.root().hex() != entry.root:
            raise Damaged("the root stored with it is not the root of the entries up to it")
        self.first = self.first or entry.time
        self.last = entry.time
        self._remember(entry.leaf)

    def _remember(self, leaf: str) -> None:
        """Keeps the leaf hashes written or referred to last."""
        self._recent[leaf] = None
        self._recent.move_to_end(leaf)
        if len(self._recent) > _RECENT:
            self._recent.popitem(last=False)

    def _earlier(self, leaf: str, n: int, does: str) -> None:
        if leaf in self._recent:
            self._recent.move_to_end(leaf)
            return
        found = store.find_leaf(self._connection, bytes.fromhex(leaf))
        # the envelope is hashed again: an index could name a row that holds something else
        if found is None or not isinstance(found[0], int) or not 1 <= found[0] < n:
            raise Damaged(f"it {does} {leaf[:16]}…, which is no earlier entry")
        read_envelope(found[1], bytes.fromhex(leaf))
        self._remember(leaf)

    def _salts(self, entry: Entry) -> None:
        if entry.registration is None:
            if self._reproducible:
                raise Damaged(f"a reproducible ledger holds no {entry.kind}")
            return
        if not self._reproducible and entry.n > 1:
            return
        key = (entry.registration, entry.kind)
        self._numbers[key] += 1
        derived = derived_salt(registration=entry.registration, kind=entry.kind, number=self._numbers[key])
        if (entry.salt == derived) != self._reproducible:
            raise Damaged("its salt is not the kind of salt that the ledger's mark calls for")
        if self._reproducible and any(text.salt != derived_text_salt(derived, text.pointer) for text in entry.texts):
            raise Damaged("the salt of one of its texts is not the derived one")


def verify(
    connection: Connection, *, root: str | None = None, anchors: Mapping[int, bytes] = _NO_ANCHORS
) -> Verification:
    """Recomputes everything stored, in one reading transaction; with `root` or `anchors`, also how far they vouch.

    `anchors` maps sizes to the roots that trusted checkpoints state. Raises TamperingDetected naming the first entry
    that is not what it must be, else the entries between two anchors where the later one disagrees, or where no prefix
    of the ledger has `root`; BadInput where `root` is not 64 hexadecimal digits.
    """
    wanted = check_root(root)
    head = store.read_head(connection)
    chain = _Chain(connection, reproducible=head.reproducible)
    check_anchor(anchors, 0, EMPTY_ROOT)
    kept = projections.Checked(connection) if head.format >= projections.SINCE_FORMAT else None
    vouched = 0 if wanted == EMPTY_ROOT or anchors else None
    decoded = decoder(connection, vouched=max(anchors, default=0))
    for raw in _in_order(store.stream(connection), head.size):
        try:
            entry = decoded(raw)
            chain.add(entry)
        except Damaged as error:
            raise TamperingDetected(str(error), where=f"ledger entry {raw.n}") from error
        if kept is not None:
            kept.add(entry)
        if chain.range.size in anchors:
            check_anchor(anchors, chain.range.size, chain.range.root())
            vouched = chain.range.size
        if wanted is not None and wanted == chain.range.root():
            vouched = chain.range.size
    if chain.range.size < head.size:
        raise TamperingDetected(
            f"it is missing, and so is what came after it up to entry {head.size}"
            if head.size > chain.range.size + 1
            else "it is missing",
            where=f"ledger entry {chain.range.size + 1}",
        )
    if head.root != chain.range.root() or head.peaks != chain.range.to_bytes():
        raise TamperingDetected(
            f"the root it states is not the root of its {head.size} entries",
            where="ledger head",
        )
    if kept is not None:
        kept.end()
    check_length(anchors, head.size)
    if wanted is not None and vouched is None:
        raise TamperingDetected(
            f"no beginning of this ledger has the root {wanted.hex()}: entries up to the one it was noted at "
            "were changed, dropped or reordered, or it was noted of another ledger",
            where=f"ledger entries 1 to {head.size}",
        )
    return Verification(
        size=head.size,
        root=head.root.hex(),
        reproducible=head.reproducible,
        first=chain.first,
        last=chain.last,
        vouched=vouched,
    )


def verify_empty(root: str | None = None, *, anchors: Mapping[int, bytes] = _NO_ANCHORS) -> Verification:
    """The verification of a ledger in which nothing is written yet. Raises TamperingDetected for any other's root."""
    wanted = check_root(root)
    check_anchor(anchors, 0, EMPTY_ROOT)
    check_length(anchors, 0)
    if wanted not in (None, EMPTY_ROOT):
        raise TamperingDetected("this ledger holds no entries, so it has not the root that was noted", where="ledger")
    return Verification(
        size=0,
        root=EMPTY_ROOT.hex(),
        reproducible=False,
        first="",
        last="",
        vouched=None if root is None and not anchors else 0,
    )


def check_root(root: str | None) -> bytes | None:
    """The bytes of a root noted elsewhere. Raises BadInput where it is not 64 hexadecimal digits."""
    if root is None:
        return None
    text = root.strip().lower()
    if not is_hash(text):
        raise BadInput(
            f"{root[:80]!r} is not a root", where="--root", mend="give the 64 hexadecimal digits that were noted"
        )
    return bytes.fromhex(text)


def _in_order(rows: Iterable[RawEntry], size: int) -> Iterable[RawEntry]:
    """The rows, numbered 1, 2, … `size`; raises TamperingDetected at the first that is not."""
    expected = 1
    for raw in rows:
        if not isinstance(raw.n, int) or raw.n < expected:
            raise TamperingDetected("there is no such entry", where=f"ledger entry {raw.n}")
        if raw.n > size:
            raise TamperingDetected(f"it stands beyond the ledger's {size} entries", where=f"ledger entry {raw.n}")
        if raw.n > expected:
            raise TamperingDetected("it is missing", where=f"ledger entry {expected}")
        yield raw
        expected += 1
