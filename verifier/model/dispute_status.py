"""Where a dispute stands: its state, who may see it, and everything that the guards of the state table ask."""

from __future__ import annotations

from dataclasses import dataclass, replace

from verifier.model.names import same_name
from verifier.model.rulings import Ruling
from verifier.model.words import SentenceEnum


class DisputeState(SentenceEnum):
    """How far a dispute has come."""

    OPEN = "open", "registered; there is no ruling yet"
    RULED = "ruled", "there is a ruling that two independent people have not yet agreed with"
    ADJUDICATED = "adjudicated", "two independent people agree with the ruling"
    NOTIFIED = "notified", "the authors were written to"
    ACKNOWLEDGED = "acknowledged", "the authors agree, or point to a version that mends it"
    CONTESTED = "contested", "the authors object"
    RETRACTED = "retracted", "the ruling was withdrawn"


class Visibility(SentenceEnum):
    """Who may see a dispute."""

    PRIVATE = "private", "only the organizers see it"
    NOTIFIED = "notified", "the organizers and the authors see it"
    PUBLIC = "public", "everybody may see it"


class Tie(SentenceEnum):
    """What binds an adjudicator to the dispute. Only `none` counts."""

    NONE = "none", "nothing binds this person to the paper, its authors, the report or the case"
    SAME_INSTITUTION = "same-institution", "works where an author works"
    COAUTHOR = "coauthor", "has written a paper with an author"
    REPORTER = "reporter", "reported the dispute"
    CASE_WRITER = "case-writer", "wrote the case"
    AUTHOR = "author", "is an author of the paper"


class ReplyKind(SentenceEnum):
    """What the authors answer."""

    AGREES = "agrees", "the authors agree"
    AGREES_NOT_MATERIAL = "agrees-not-material", "the authors agree and find it not material"
    NOT_OUR_CLAIM = "not-our-claim", "the authors say that this is not their claim"
    HYPOTHESIS = "hypothesis", "the authors say that a hypothesis of the claim is not met"
    IMPLEMENTATION = "implementation", "the authors say that the implementation is not theirs"
    FIXED_IN_VERSION = "fixed-in-version", "the authors point to a version in which it is mended"
    OTHER = "other", "the authors object for another reason"

    @property
    def objects(self) -> bool:
        """Whether the reply contests the ruling."""
        return self not in (ReplyKind.AGREES, ReplyKind.AGREES_NOT_MATERIAL, ReplyKind.FIXED_IN_VERSION)


class Ground(SentenceEnum):
    """On what ground a dispute is made public."""

    WINDOW = "window", "the authors' window is over"
    CONSENT = "consent", "the authors consent"
    NOT_UPHELD = "not-upheld", "the ruling does not say that the dispute stands, and its source is public already"


class ChallengeEnd(SentenceEnum):
    """How a challenge ended."""

    WITHDRAWN = "withdrawn", "its author withdrew it"
    DISMISSED = "dismissed", "a third person found that it fails"
    SUSTAINED = "sustained", "a third person found that it holds"


@dataclass(frozen=True, slots=True)
class Facts:
    """What reading more of the paper may amend.

    `later_versions`: (arXiv id, unchanged | changed | withdrawn | not-read); `premises`: (SHA-256 of the text, checked,
    source), in the case's order.
    """

    title: str = ""
    source_sha256: str = ""
    quote: str = ""
    locator: str = ""
    later_versions: tuple[tuple[str, str], ...] = ()
    premises: tuple[tuple[str, str, str], ...] = ()

    def with_version(self, arxiv: str, claim: str) -> Facts:
        """These facts with what became of the claim in one later version."""
        kept = tuple(pair for pair in self.later_versions if pair[0] != arxiv)
        return replace(self, later_versions=(*kept, (arxiv, claim)))

    @property
    def unread(self) -> tuple[str, ...]:
        """The later versions in which nobody has looked for the claim."""
        return tuple(arxiv for arxiv, claim in self.later_versions if claim == "not-read")

    @property
    def unchecked(self) -> tuple[int, ...]:
        """The premises nobody checked, counted from 1."""
        return tuple(number for number, (_, checked, _) in enumerate(self.premises, start=1) if checked == "no")


@dataclass(frozen=True, slots=True)
class StandingRuling:
    """The ruling that stands: its leaf hash, what it says, and the hash of the registration it was made under."""

    leaf: str
    ruling: Ruling
    registration: str
    time: str


@dataclass(frozen=True, slots=True)
class Adjudication:
    """One person's word on a ruling or on how evidence reads. `target` is the leaf hash of what it is bound to.

    `barred` says, as a clause, why it does not count; empty where it does.
    """

    leaf: str
    by: str
    group: str
    target: str
    agrees: bool
    tie: Tie
    barred: str = ""

    @property
    def counts(self) -> bool:
        """Whether it is the word of somebody who may adjudicate."""
        return not self.barred


@dataclass(frozen=True, slots=True)
class Challenge:
    """An objection that is open; `lapses`: it is a disagreeing adjudication, which ends with the ruling it is about."""

    leaf: str
    by: str
    lapses: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """What the authors were sent: when, until when they have, on which ruling, by whom, and whose reply counts."""

    leaf: str
    time: str
    window_ends: str
    ruling: str
    by: str
    author_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """An author's reply; `own`: signed with a key that the notice names; `answered`: a correction answered it."""

    leaf: str
    kind: ReplyKind
    consent: bool
    own: bool
    answered: bool = False


@dataclass(frozen=True, slots=True)
class Retraction:
    """A ruling withdrawn, and the notices that told of it."""

    leaf: str
    ruling: str
    time: str
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RegistrationRead:
    """A registration of the dispute, who wrote and reported it, and the facts as amended since."""

    leaf: str
    registration: str
    exploratory: bool
    facts: Facts
    writer: str = ""
    reporter: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeStatus:
    """Where one dispute stands after the entries read so far.

    `dispute` is its id; `paper` and `claim_sha256` say what it is about. `last` is the leaf hash of its newest entry.
    `refused` lists entries that the state table or a signature does not allow, with the reason: they change nothing.
    """

    dispute: str
    paper: str
    claim_sha256: str
    state: DisputeState = DisputeState.OPEN
    visibility: Visibility = Visibility.PRIVATE
    notice_outdated: bool = False
    registrations: tuple[RegistrationRead, ...] = ()
    ruling: StandingRuling | None = None
    adjudications: tuple[Adjudication, ...] = ()
    readings: tuple[Adjudication, ...] = ()
    everyone: frozenset[str] = frozenset()
    challenges: tuple[Challenge, ...] = ()
    notices: tuple[Notice, ...] = ()
    replies: tuple[Reply, ...] = ()
    retractions: tuple[Retraction, ...] = ()
    ground: Ground | None = None
    fresh_registrations: frozenset[str] = frozenset()
    last: str = ""
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def challenge_open(self) -> bool:
        """Whether somebody's objection to the ruling is not settled."""
        return bool(self.challenges)

    @property
    def withdrawn(self) -> bool:
        """Whether the standing ruling was retracted: the verdict is then `inconclusive`, because withdrawn."""
        return self.state is DisputeState.RETRACTED

    @property
    def case(self) -> RegistrationRead | None:
        """The standing ruling's registration, else the last one that is not exploratory."""
        if self.ruling is not None:
            for read in self.registrations:
                if read.registration == self.ruling.registration:
                    return read
        plain = [read for read in self.registrations if not read.exploratory] or list(self.registrations)
        return plain[-1] if plain else None

    @property
    def facts(self) -> Facts:
        """The facts of `case` as amended."""
        case = self.case
        return Facts() if case is None else case.facts

    @property
    def reporter(self) -> str:
        """Who reported the dispute, as `case` calls them."""
        case = self.case
        return "" if case is None else case.reporter

    @property
    def interested(self) -> frozenset[str]:
        """Everybody whom a registration of this dispute names as its writer or reporter."""
        return frozenset(name for read in self.registrations for name in (read.writer, read.reporter) if name)

    @property
    def agreeing(self) -> tuple[Adjudication, ...]:
        """Who counts as agreeing with the standing ruling: each person's last word, one a group."""
        groups: dict[str, Adjudication] = {}
        for adjudication in self.counted:
            groups.setdefault(same_name(adjudication.group), adjudication)
        return tuple(groups.values())

    @property
    def counted(self) -> tuple[Adjudication, ...]:
        """Every eligible person's last word on the standing ruling, where it agrees."""
        last = {adjudication.by: adjudication for adjudication in self.adjudications}
        return tuple(one for one in last.values() if one.agrees and one.counts)

    @property
    def notice(self) -> Notice | None:
        """The last notice."""
        return self.notices[-1] if self.notices else None
