"""What can happen to a dispute: one class for each row of the state table, as read from an entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from verifier.model.dispute_status import ChallengeEnd, Facts, Ground, ReplyKind, Tie
from verifier.model.names import same_name
from verifier.model.rulings import Ruling


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What every event has: the entry's leaf hash, its time, and the key's fingerprint and group it stands under.

    `by` is the first key of whoever says it and `keys` are all of theirs; `names` are the pseudonyms that an
    administrator recorded for any of these; `administrator` says whether they are one.
    """

    leaf: str
    time: str
    by: str
    group: str = ""
    keys: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    administrator: bool = False

    def known_as(self, pseudonym: str) -> bool:
        """Whether whoever says this is the one that a case calls `pseudonym`: by a key of theirs or a recorded name."""
        called = same_name(pseudonym)
        keys = self.every_key
        return called != "" and called in {*keys, *(key[:16] for key in keys), *map(same_name, self.names)}

    @property
    def every_key(self) -> frozenset[str]:
        """The fingerprints of all keys of whoever says this."""
        return self.keys | {self.by}


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered(Said):
    """A registration: the dispute, and what the case says of paper and claim."""

    dispute: str
    paper: str
    claim_sha256: str
    registration: str
    exploratory: bool
    facts: Facts
    writer: str = ""
    reporter: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled(Said):
    """A ruling under a registration."""

    registration: str
    ruling: Ruling
    exploratory: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudicated(Said):
    """An adjudication: `about` is "reading" or "ruling", `target` the leaf hash of that evidence or ruling."""

    about: str
    target: str
    agrees: bool
    tie: Tie


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenged(Said):
    """A challenge to the ruling with leaf hash `target`."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeEnded(Said):
    """The end of the challenge with leaf hash `target`; `tie` is what the one who decides declares."""

    target: str
    how: ChallengeEnd
    tie: Tie


@dataclass(frozen=True, slots=True, kw_only=True)
class Noticed(Said):
    """A notice to the authors on the ruling with leaf hash `target`; `window_ends` is RFC 3339 like `time`."""

    target: str
    window_ends: str
    author_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied(Said):
    """An author's reply to the notice with leaf hash `target`; `version` is the arXiv id that mends it."""

    target: str
    reply: ReplyKind
    consent: bool
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published(Said):
    """A publication; `source` names what is public already, for the ground `not-upheld`."""

    ground: Ground
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected(Said):
    """A correction. A field that is None stays as it was.

    `premises` holds (number from 1, checked, source), the latter two None where they stay. `answers` is a notice's leaf
    hash, or empty.
    """

    title: str | None = None
    source_sha256: str | None = None
    quote: str | None = None
    locator: str | None = None
    later_versions: tuple[tuple[str, str], ...] | None = None
    premises: tuple[tuple[int, str | None, str | None], ...] = ()
    answers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retracted(Said):
    """A retraction of the ruling with leaf hash `target`, with the leaf hashes of every notice."""

    target: str
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmoving(Said):
    """An entry that changes no state: withheld, import, judge-reading, key, evidence."""


Event: TypeAlias = (
    Registered
    | Ruled
    | Adjudicated
    | Challenged
    | ChallengeEnded
    | Noticed
    | Replied
    | Published
    | Corrected
    | Retracted
    | Unmoving
)
