"""What the content of each entry of a person must be: strict tables, one for each kind."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from verifier.model.tables import Line, Sha256, Table, form

MAX_TEXT = 100_000  # characters of what a person writes in one entry
MAX_WINDOW = 365  # days

Leaf = Annotated[
    str, form(r"[0-9a-f]{64}", what="a leaf hash", mend="write its 64 digits 0-9 a-f, as `verifier ledger log` does")
]
Fingerprint = Annotated[
    str,
    form(r"[0-9a-f]{64}", what="a fingerprint", mend="write its 64 digits 0-9 a-f, as `verifier ledger keygen` does"),
]
Request = Annotated[
    str,
    form(
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        what="a UUID",
        mend="write 32 hexadecimal digits as 8-4-4-4-12, or leave --request out",
    ),
]
Prose = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
Base64 = Annotated[str, StringConstraints(max_length=100)]
ArxivVersion = Annotated[
    str,
    form(
        r"(\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?/\d{7})v\d{1,3}",
        what="an arXiv id with its version",
        mend='write one like "2606.01342v3"',
    ),
]


class Signed(Table):
    """What every person's entry carries.

    `group` repeats the envelope's, so that it is signed; `request` is the same when a command is repeated.
    """

    kind: str
    dispute: Sha256
    group: Annotated[str, StringConstraints(max_length=200)]
    request: Request
    key: Base64
    signature: Base64


class AdjudicationTable(Signed):
    """An adjudication. About a reading, `agrees` says whether the evidence reads as the dispute says."""

    about: Literal["reading", "ruling"]
    target: Leaf
    agrees: bool
    tie: Literal["none", "same-institution", "coauthor", "reporter", "case-writer", "author"]
    text: Prose


class ChallengeTable(Signed):
    """A challenge to the standing ruling."""

    target: Leaf
    text: Prose


class ChallengeEndTable(Signed):
    """The end of a challenge."""

    target: Leaf
    how: Literal["withdrawn", "dismissed", "sustained"]
    tie: Literal["none", "same-institution", "coauthor", "reporter", "case-writer", "author"]
    text: Prose


class NoticeTable(Signed):
    """A notice to the authors. `author_keys` are fingerprints of keys whose replies count."""

    target: Leaf
    window_days: Annotated[int, Field(ge=1, le=MAX_WINDOW)]
    author_keys: Annotated[list[Fingerprint], Field(max_length=100)]
    text: Prose


class ReplyTable(Signed):
    """An author's reply. `on_behalf_of` says for whom it was typed in; empty where the author signs."""

    target: Leaf
    reply: Literal[
        "agrees", "agrees-not-material", "not-our-claim", "hypothesis", "implementation", "fixed-in-version", "other"
    ]
    consent: bool
    version: ArxivVersion | Literal[""]
    on_behalf_of: Line
    text: Prose


class PublicationTable(Signed):
    """A publication. `source` names what is public already."""

    ground: Literal["window", "consent", "not-upheld"]
    source: Line


class LaterVersionTable(Table):
    """What became of the claim in a later version."""

    arxiv: ArxivVersion
    claim: Literal["unchanged", "changed", "withdrawn", "not-read"]


class AmendedPaper(Table):
    """Fields of the paper that may be amended; None where they stay."""

    title: Line | None = None
    source_sha256: Sha256 | None = None
    later_versions: Annotated[list[LaterVersionTable], Field(max_length=100)] | None = None


class AmendedClaim(Table):
    """Fields of the claim that may be amended."""

    quote: Line | None = None
    locator: Line | None = None


class AmendedPremise(Table):
    """What is now known of a premise, by its number from 1."""

    number: Annotated[int, Field(ge=1, le=1000)]
    checked: Literal["by-us", "by-author", "no"] | None = None
    source: Line | None = None


class Changes(Table):
    """Exactly what a correction may amend."""

    paper: AmendedPaper = AmendedPaper()
    claim: AmendedClaim = AmendedClaim()
    premises: Annotated[list[AmendedPremise], Field(max_length=1000)] = []


class CorrectionTable(Signed):
    """A correction; `answers` is the leaf hash of a notice, or empty."""

    changes: Changes
    answers: Leaf | Literal[""]
    text: Prose


class RetractionTable(Signed):
    """A retraction of a ruling; `notices` are the leaf hashes of every notice."""

    target: Leaf
    notices: Annotated[list[Leaf], Field(max_length=4000)]
    text: Prose


class WithheldTable(Signed):
    """What is withheld of the entry `target`: the texts of these commitments, or all it says where none is given."""

    target: Leaf
    texts: Annotated[list[Leaf], Field(max_length=10_000)]
    text: Prose


class KeyTable(Signed):
    """A key that an administrator admits, or one that replaces the key this entry is signed with.

    `role` "log" is for the key that signs checkpoints, and always replaces one. `public` is in base64, `pseudonym` how
    cases call its owner; `replaces` the fingerprint of the key replaced, and
    `proof` the new key's signature over its own 32 bytes followed by those of the old.
    """

    role: Literal["administrator", "person", "log"]
    public: Base64
    pseudonym: Line
    replaces: Fingerprint | Literal[""]
    proof: Base64


TABLES: dict[str, type[Signed]] = {
    "adjudication": AdjudicationTable,
    "challenge": ChallengeTable,
    "challenge-end": ChallengeEndTable,
    "author-notice": NoticeTable,
    "author-reply": ReplyTable,
    "publication": PublicationTable,
    "correction": CorrectionTable,
    "retraction": RetractionTable,
    "withheld": WithheldTable,
    "key": KeyTable,
}
"""Kind -> the table that its content must be."""
