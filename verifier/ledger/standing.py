"""Where every dispute of a ledger stands, by replaying its entries through the state table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from verifier.ledger.entry import KINDS, Entry
from verifier.ledger.happened import registered, ruled, said, table_of
from verifier.ledger.people_schema import AdjudicationTable, KeyTable, WithheldTable
from verifier.ledger.roster import Roster
from verifier.ledger.signed import unsigned_because
from verifier.model.dispute_events import Event, Noticed, Registered, Unmoving
from verifier.model.disputes import DisputeStatus, NotAllowed, advance
from verifier.model.errors import BadInput

STILL = ("import", "judge-reading")
"""Kinds that move no dispute and to which nothing refers but what withholds them: a replay may leave them out."""

_WHOLE = {"evidence", "import", "judge-reading"}  # the others move the state, or are what a ruling rests on


def replay(entries: Iterable[Entry]) -> dict[str, DisputeStatus]:
    """Dispute id -> where it stands after `entries`, which are all of a ledger's, in order.

    An entry that its signature or the state table does not allow moves nothing and is listed in `refused`, so that
    appending past the commands gains nothing.
    """
    read = Replay()
    for entry in entries:
        read.add(entry)
    return dict(read.statuses)


class Replay:
    """The state of all disputes while the entries of a ledger are read, in order."""

    def __init__(self) -> None:
        self.roster = Roster()
        self.refused: list[tuple[str, str]] = []
        self._statuses: dict[str, DisputeStatus] = {}
        self._disputes: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._of_leaf: dict[str, str] = {}
        self._requests: dict[tuple[str, str], str] = {}
        self._rest_on: set[str] = set()

    @property
    def statuses(self) -> Mapping[str, DisputeStatus]:
        """Dispute id -> where it stands."""
        return MappingProxyType(self._statuses)

    def dispute_of(self, entry: Entry) -> str:
        """The id of the dispute that an entry read already belongs to; empty where it belongs to none."""
        return self._of_leaf.get(entry.leaf, "")

    def belonging(self) -> Iterator[tuple[str, str]]:
        """(leaf hash, dispute id) of every entry that belongs to a registered dispute."""
        return ((leaf, dispute) for leaf, dispute in self._of_leaf.items() if dispute in self._statuses)

    def kind_of(self, leaf: str) -> str:
        """The kind of an entry read already; empty where there is none."""
        return self._kinds.get(leaf, "")

    def number_of(self, leaf: str) -> int:
        """The number of an entry read already. Raises KeyError where there is none."""
        return self._numbers[leaf]

    def dispute_of_leaf(self, leaf: str) -> str:
        """As `dispute_of`, by leaf hash."""
        return self._of_leaf.get(leaf, "")

    def leaves_like(self, prefix: str) -> list[str]:
        """The leaf hashes that begin with these digits; none for fewer than 6."""
        return [leaf for leaf in self._kinds if leaf.startswith(prefix)] if len(prefix) >= 6 else []

    def requested(self, by: str, request: str) -> str:
        """The leaf hash of the entry in which the key `by` made this request; empty where there is none."""
        return self._requests.get((by, request), "")

    def add(self, entry: Entry) -> None:
        """Takes in the next entry; one that is not allowed moves nothing and is noted as refused."""
        try:
            self.require(entry)
        except BadInput as error:
            self.refused.append((entry.leaf, error.sentence))
            status = self._statuses.get(self.dispute_of(entry))
            if status is not None:
                refused = (*status.refused, (entry.leaf, error.sentence))
                self._statuses[status.dispute] = replace(status, last=entry.leaf, refused=refused)

    def require(self, entry: Entry) -> None:
        """Takes in the next entry. Raises BadInput, with what is missing, for one that is not allowed."""
        dispute = self._belongs(entry)
        self._kinds[entry.leaf] = entry.kind
        self._numbers[entry.leaf] = entry.n
        if dispute:
            self._of_leaf[entry.leaf] = dispute
        if entry.kind == "registration":
            event: Event = registered(entry)
            self._mentions(event)
        elif entry.kind == "ruling":
            self._rest_on.update(entry.refs)
            event = ruled(entry)
        elif KINDS[entry.kind].signed:
            event = self._said(entry)
        else:
            event = Unmoving(leaf=entry.leaf, time=entry.time, by=entry.by)
        if dispute and entry.kind not in STILL:
            self._statuses[dispute] = advance(self._statuses.get(dispute), event)

    def _belongs(self, entry: Entry) -> str:
        if entry.kind == "registration":
            dispute = str(entry.content.get("dispute", ""))
            if entry.registration is not None and dispute:
                self._disputes.setdefault(entry.registration, dispute)
            return dispute
        if entry.registration is not None:
            return self._disputes.get(entry.registration, "")
        named = entry.content.get("dispute")
        return named if isinstance(named, str) else ""

    def _said(self, entry: Entry) -> Event:
        reason = unsigned_because(entry)
        if reason:
            raise NotAllowed(reason)
        self.roster.heard(entry.by)
        table = table_of(entry)
        person = self.roster.person(entry.by)
        event = said(entry, person=person, roster=self.roster)
        self._mentions(event)
        if (entry.by, table.request) in self._requests:
            raise NotAllowed("the same request was recorded before")
        status = self._statuses.get(table.dispute)
        if status is not None and status.last not in entry.refs:
            raise NotAllowed("it does not refer to the entry of this dispute before it")
        if isinstance(table, KeyTable):
            if table.dispute:
                raise NotAllowed("a key belongs to no dispute")
            self.roster.add(table, by=entry.by)
        elif isinstance(table, WithheldTable):
            self._may_withhold(table, person)
        elif not table.dispute or status is None:
            raise NotAllowed("it names no dispute that is registered in this ledger")
        if isinstance(table, AdjudicationTable) and table.about == "reading":
            self._is_evidence(table)
        self._requests[entry.by, table.request] = entry.leaf
        return event

    def _mentions(self, event: Event) -> None:
        """Tells the roster whom a case or a notice names."""
        if isinstance(event, Registered):
            self.roster.mentioned(event.writer)
            self.roster.mentioned(event.reporter)
        elif isinstance(event, Noticed):
            for key in event.author_keys:
                self.roster.mentioned(key)

    def _is_evidence(self, table: AdjudicationTable) -> None:
        if self.kind_of(table.target) != "evidence" or self.dispute_of_leaf(table.target) != table.dispute:
            raise NotAllowed("what it reads is not evidence of this dispute")

    def _may_withhold(self, table: WithheldTable, person: str) -> None:
        if not self.roster.is_administrator(person):
            raise NotAllowed("only an administrator withholds")
        if self.kind_of(table.target) == "":
            raise NotAllowed("there is no such entry to withhold")
        if self.dispute_of_leaf(table.target) != table.dispute:
            raise NotAllowed("it names another dispute than that of what it withholds")
        if not table.texts and not self.whole_may_go(table.target):
            raise NotAllowed(
                f"the {self.kind_of(table.target)} may be needed to understand a ruling",
                mend="withhold its free texts alone",
            )

    def whole_may_go(self, leaf: str) -> bool:
        """Whether the whole content of an entry may be withheld, and not its free texts alone."""
        return self.kind_of(leaf) in _WHOLE and leaf not in self._rest_on
