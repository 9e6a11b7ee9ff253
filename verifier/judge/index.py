"""What the judge looks things up in: one pass over a ledger, kept in memory, grown as the ledger grows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from verifier.ledger import Entry, Ledger
from verifier.ledger.audience import Audience
from verifier.ledger.merkle import Tree
from verifier.ledger.standing import Replay
from verifier.model.dispute_status import DisputeStatus, Visibility
from verifier.model.errors import BadInput, TamperingDetected
from verifier.model.printable import printable

_ARXIV_VERSION = re.compile(r"v\d{1,3}$")


@dataclass(slots=True)
class Trial:
    """The entries of one dispute, by number: registrations and rulings in order, evidence by registration hash."""

    dispute: str
    registrations: dict[str, int] = field(default_factory=dict)
    rulings: dict[str, int] = field(default_factory=dict)
    exploratory: list[int] = field(default_factory=list)
    evidence: dict[str, list[int]] = field(default_factory=dict)

    @property
    def numbers(self) -> set[int]:
        """All of them."""
        evidence = (n for ns in self.evidence.values() for n in ns)
        return {*self.registrations.values(), *self.rulings.values(), *evidence}


class JudgeIndex:
    """A ledger's disputes by paper and claim, their standing, and the tree for proofs. Made once, then `refresh`ed.

    It holds numbers and standings, not contents: those are read from the ledger, and checked, when they are asked for.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._start()
        self.refresh()

    def _start(self) -> None:
        self._replay = Replay()
        self.tree = Tree()
        self.trials: dict[str, Trial] = {}
        self._disputes: dict[str, str] = {}  # registration hash -> dispute id
        self._papers: dict[str, dict[str, list[str]]] = {}  # paper -> claim hash -> dispute ids, oldest first
        self._aliases: dict[str, list[str]] = {}  # arxiv:… of a paper, perhaps known by another id -> dispute ids

    def refresh(self) -> None:
        """Reads what was appended since; everything anew where the ledger is no longer what it was."""
        size, known = self._ledger.size, len(self.tree)
        if size == known and (not known or self._ledger.root == self.root):
            return
        if size > known and known and self._ledger.entry(known).root == self.root:
            # a few new entries are fetched one by one; many are streamed with the rest
            new = (self._ledger.entry(n) for n in range(known + 1, size + 1)) if size - known <= 64 else None
            if new is not None:
                for entry in new:
                    self._add(entry)
                return
        self._start()
        for entry in self._ledger.entries():
            self._add(entry)

    @property
    def root(self) -> str:
        """The root over the entries read, in hexadecimal."""
        return self.tree.root().hex()

    @property
    def size(self) -> int:
        """How many entries were read."""
        return len(self.tree)

    @property
    def statuses(self) -> Mapping[str, DisputeStatus]:
        """Dispute id -> where it stands."""
        return self._replay.statuses

    def papers(self) -> list[str]:
        """The papers with a registered dispute, in the order in which they came."""
        return list(self._papers)

    def paper(self, named: str, audience: Audience) -> str:
        """The identity under which the audience knows a paper, from any of its ids; unknown ones come back as written.

        Only disputes that the audience may see make a paper, or a name of it, known. Taken are `openreview:…`,
        `arxiv:…` with or without a version, `doi:…`, and each without its prefix. Raises BadInput for an empty or
        overlong name.
        """
        text = named.strip()
        if not 0 < len(text) <= 200:
            raise BadInput(
                f"{printable(named[:60])!r} names no paper", where="PAPER", mend="give its OpenReview or arXiv id"
            )
        for tried in (text, f"openreview:{text}", f"arxiv:{text}", f"doi:{text.lower()}"):
            for name in (tried, _ARXIV_VERSION.sub("", tried) if tried.startswith("arxiv:") else tried):
                if any(self.is_visible(one, audience) for ones in self._papers.get(name, {}).values() for one in ones):
                    return name
                for dispute in self._aliases.get(name, ()):
                    if self.is_visible(dispute, audience):
                        return self.statuses[dispute].paper
        return text

    def claims(self, paper: str, audience: Audience) -> dict[str, list[DisputeStatus]]:
        """Claim hash -> the disputes of it that the audience may see, oldest first; claims without one are absent."""
        found = {}
        for claim, disputes in self._papers.get(paper, {}).items():
            seen = [self.statuses[one] for one in disputes if self.is_visible(one, audience)]
            if seen:
                found[claim] = seen
        return found

    def is_visible(self, dispute: str, audience: Audience) -> bool:
        """Whether the audience may see a dispute: the public sees public ones alone."""
        return audience == "organizer" or self.statuses[dispute].visibility is Visibility.PUBLIC

    def shows(self, leaf: str, audience: Audience) -> bool:
        """Whether the audience may see the entry of this leaf hash: the public, those of public disputes alone."""
        dispute = self._replay.dispute_of_leaf(leaf)
        return audience == "organizer" or (dispute in self.statuses and self.is_visible(dispute, audience))

    def number(self, leaf: str) -> int:
        """The number of the entry of this leaf hash; 0 where there is none."""
        return self._replay.number_of(leaf) if self._replay.kind_of(leaf) else 0

    def read(self, numbers: Iterable[int]) -> Mapping[int, Entry]:
        """The entries of these numbers, read together. Raises TamperingDetected where one is not there any more."""
        wanted = set(numbers)
        found = self._ledger.numbered(wanted)
        if len(found) < len(wanted):
            raise TamperingDetected("it is not there any more", where=f"ledger entry {min(wanted - set(found))}")
        return found

    def imported(self) -> Iterator[Entry]:
        """The imported verdicts, oldest first."""
        return self._ledger.entries("import")

    def proof(self, n: int) -> list[str]:
        """The inclusion proof of entry n in the tree of `size` leaves (RFC 6962, 2.1.1), in hexadecimal."""
        return [one.hex() for one in self.tree.inclusion_proof(n - 1)]

    def _add(self, entry: Entry) -> None:
        self.tree.append(bytes.fromhex(entry.leaf))
        self._replay.add(entry)
        if entry.registration is None:
            return
        if entry.kind == "registration":
            self._registered(entry)
            return
        dispute = self._disputes.get(entry.registration)
        if dispute is None or dispute not in self.trials:
            return
        trial = self.trials[dispute]
        if entry.kind == "evidence":
            trial.evidence.setdefault(entry.registration, []).append(entry.n)
        elif entry.kind == "ruling":
            trial.rulings[entry.leaf] = entry.n
            if entry.content.get("exploratory"):
                trial.exploratory.append(entry.n)

    def _registered(self, entry: Entry) -> None:
        assert entry.registration is not None
        dispute = self._replay.dispute_of(entry)
        if dispute not in self.statuses:
            return
        status = self.statuses[dispute]
        self._disputes.setdefault(entry.registration, dispute)
        if dispute not in self.trials:
            self.trials[dispute] = Trial(dispute)
            self._papers.setdefault(status.paper, {}).setdefault(status.claim_sha256, []).append(dispute)
        self.trials[dispute].registrations.setdefault(entry.registration, entry.n)
        version = entry.content.get("version")
        if isinstance(version, str) and version:
            named = self._aliases.setdefault(f"arxiv:{_ARXIV_VERSION.sub('', version)}", [])
            if dispute not in named:
                named.append(dispute)
