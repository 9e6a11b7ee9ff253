"""Every operation of the API in one table: routes and description are both made from it."""

from __future__ import annotations

from dataclasses import dataclass

from verifier.web import reads
from verifier.web.queries import Parameter, page_parameters
from verifier.web.reads import BASE, Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A question that can be asked: its path, what it answers, its parameters, the schema and fields of the answer.

    `fields` maps each field, beside those of every answer, to its JSON type; a text answer has none.
    """

    name: str
    path: str
    answer: Answer
    parameters: tuple[Parameter, ...] = ()
    schema: str = ""
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def says(self) -> str:
        """One line on what it answers."""
        return (self.answer.__doc__ or "").partition("\n")[0]


_TREE = (("size", "integer"), ("root", "string"))
_SIZE = Parameter(name="size", says="The size of the tree; that of the ledger by default.", optional=True)
_STATUS = (
    ("dispute", "string"),
    ("paper", "string"),
    ("claim_sha256", "string"),
    ("state", "string"),
    ("visibility", "string"),
    ("challenge_open", "boolean"),
    ("notice_outdated", "boolean"),
)

READS = (
    Operation(
        name="about", path=BASE, answer=reads.about, schema="verifier/api/1", fields=(*_TREE, ("audience", "string"))
    ),
    Operation(
        name="entries",
        path=f"{BASE}/entries",
        answer=reads.entries,
        parameters=page_parameters("entries"),
        schema="verifier/api-entries/1",
        fields=(*_TREE, ("audience", "string"), ("entries", "array"), ("quoted", "object")),
    ),
    Operation(
        name="entry",
        path=f"{BASE}/entries/{{which}}",
        answer=reads.entry,
        parameters=(Parameter(name="which", place="path", kind="text", says="Its number, or its whole leaf hash."),),
        schema="verifier/api-entry/1",
        fields=(*_TREE, ("audience", "string"), ("entry", "object"), ("quoted", "object")),
    ),
    Operation(
        name="inclusion",
        path=f"{BASE}/proofs/inclusion",
        answer=reads.inclusion,
        parameters=(Parameter(name="entry", kind="text", says="The entry's number, or its whole leaf hash."), _SIZE),
        schema="verifier/api-inclusion/1",
        fields=(*_TREE, ("n", "integer"), ("leaf", "string"), ("proof", "array")),
    ),
    Operation(
        name="consistency",
        path=f"{BASE}/proofs/consistency",
        answer=reads.consistency,
        parameters=(Parameter(name="old", says="The size of the smaller tree."), _SIZE),
        schema="verifier/api-consistency/1",
        fields=(*_TREE, ("old", "integer"), ("old_root", "string"), ("proof", "array")),
    ),
    Operation(
        name="checkpoints",
        path=f"{BASE}/checkpoints",
        answer=reads.checkpoints,
        parameters=page_parameters("checkpoints"),
        schema="verifier/api-checkpoints/1",
        fields=(("checkpoints", "array"), ("quoted", "object")),
    ),
    Operation(
        name="checkpoint",
        path=f"{BASE}/checkpoints/{{size}}",
        answer=reads.checkpoint,
        parameters=(Parameter(name="size", place="path", says="How many entries it covers."),),
    ),
    Operation(
        name="disputes",
        path=f"{BASE}/disputes",
        answer=reads.disputes,
        parameters=page_parameters("disputes"),
        schema="verifier/api-disputes/1",
        fields=(("audience", "string"), ("total", "integer"), ("disputes", "array"), ("quoted", "object")),
    ),
    Operation(
        name="dispute",
        path=f"{BASE}/disputes/{{dispute}}",
        answer=reads.dispute,
        parameters=(Parameter(name="dispute", place="path", kind="text", says="Its id, 64 hexadecimal digits."),),
        schema="verifier/api-dispute/1",
        fields=(("audience", "string"), *_STATUS, ("entries", "array"), ("quoted", "object")),
    ),
    Operation(
        name="papers",
        path=f"{BASE}/papers",
        answer=reads.papers,
        parameters=page_parameters("papers"),
        schema="verifier/api-papers/1",
        fields=(("audience", "string"), ("total", "integer"), ("claims", "array"), ("quoted", "object")),
    ),
    Operation(
        name="verdicts",
        path=f"{BASE}/verdicts",
        answer=reads.verdicts,
        parameters=(
            Parameter(name="paper", kind="text", says="An OpenReview id, an arXiv id with or without version, a DOI."),
        ),
        schema="verifier/api-verdicts/1",
        fields=(*_TREE, ("audience", "string"), ("claims", "array"), ("quoted", "object")),
    ),
)
