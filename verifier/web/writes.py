"""What can be written: an entry in the form of an export's line, by the holder of a token that allows it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from verifier.ledger import Content, Entry, FreeText, Ledger
from verifier.ledger.content import COMMITMENT_KEY, SALT_BYTES, Damaged, commit, parse_canonical, parse_content
from verifier.ledger.entry import KINDS
from verifier.ledger.keys import fingerprint
from verifier.ledger.signed import read_key
from verifier.ledger.speak import append_signed
from verifier.ledger.standing import STILL, Replay
from verifier.ledger.transaction import Transaction
from verifier.model.complaints import listed, nearest
from verifier.model.disputes import NotAllowed
from verifier.model.errors import BadInput
from verifier.web.answers import Refused
from verifier.web.tokens import Scope, Token

MAX_BODY = 4 * 2**20  # bytes of a request's body
_FIELDS = ("kind", "content", "texts", "refs", "supersedes")
_REQUIRED = ("kind", "content")
_MAX_TEXTS = 10_000

SCOPES: dict[str, Scope] = {
    "registration": Scope.APPEND,
    "evidence": Scope.APPEND,
    "ruling": Scope.APPEND,
    "import": Scope.APPEND,
    "judge-reading": Scope.APPEND,
    "adjudication": Scope.ADJUDICATE,
    "challenge": Scope.ADJUDICATE,
    "challenge-end": Scope.ADJUDICATE,
    "author-reply": Scope.ADJUDICATE,
    "retraction": Scope.ADJUDICATE,
    "author-notice": Scope.ADMINISTER,
    "publication": Scope.ADMINISTER,
    "correction": Scope.ADMINISTER,
    "withheld": Scope.ADMINISTER,
    "key": Scope.ADMINISTER,
}
"""Kind of entry -> the scope that its token needs. What the state table asks is asked besides."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An entry that a request asks to append. `data` are the bytes of its content, `content` what they say."""

    kind: str
    data: bytes
    content: Mapping[str, Content]
    refs: tuple[str, ...]
    supersedes: str | None


def read_wanted(body: bytes) -> Wanted:
    """The entry in a request's body. Raises BadInput where it is none.

    `{"kind": …, "content": "…", "texts": [{"salt": …, "text": …}], "refs": […], "supersedes": …}`: the content is the
    text that is hashed, and every free text in it stands there by its commitment.
    """
    try:
        given = json.loads(
            body, object_pairs_hook=_once, parse_float=_refuse, parse_constant=_refuse, parse_int=_refuse
        )
    except (ValueError, RecursionError) as error:
        raise BadInput("it is not JSON of texts and lists with every key once", where="body") from error
    if not isinstance(given, dict) or not given.keys() >= set(_REQUIRED) or given.keys() - set(_FIELDS):
        raise BadInput("it is not an object of the fields " + listed(_FIELDS), where="body")
    kind, content, refs, supersedes = (given.get(name) for name in ("kind", "content", "refs", "supersedes"))
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadInput("there is no such kind of entry", where="body, kind", mend=nearest(str(kind), list(KINDS)))
    if not isinstance(content, str):
        raise BadInput("it is not the text of the content", where="body, content")
    refs = [] if refs is None else refs
    if not isinstance(refs, list) or not all(isinstance(ref, str) for ref in refs):
        raise BadInput("it is not a list of leaf hashes", where="body, refs")
    if supersedes is not None and not isinstance(supersedes, str):
        raise BadInput("it is not a leaf hash", where="body, supersedes")
    data, said = _content(content, given.get("texts", []))
    return Wanted(kind, data, said, tuple(refs), supersedes)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _refuse(text: str) -> None:
    raise ValueError(f"{text[:20]} is a number outside the content")


def _content(content: str, texts: Any) -> tuple[bytes, dict[str, Content]]:
    try:
        data = content.encode()
        stored = list(_texts(texts))
        parse_content(data, stored)  # that every text is there, once, and nothing is nested too deep
        sealed: Any = parse_canonical(data)
    except UnicodeEncodeError as error:
        raise BadInput("a text has half of a surrogate pair and no UTF-8 form", where="body") from error
    except Damaged as error:
        raise BadInput(
            f"of the entry asked for, {error}", where="body, content", mend="write it as RFC 8785 says"
        ) from error
    by_commitment = {commitment: FreeText(text, salt) for commitment, salt, text in stored}
    return data, {key: _with_texts(value, by_commitment) for key, value in sealed.items()}


def _texts(texts: Any) -> Iterable[tuple[str, bytes, str]]:
    if not isinstance(texts, list) or len(texts) > _MAX_TEXTS:
        raise BadInput(f"it is not a list of at most {_MAX_TEXTS} texts", where="body, texts")
    for one in texts:
        salt, text = (one.get("salt"), one.get("text")) if isinstance(one, dict) and len(one) == 2 else (None, None)
        if not isinstance(salt, str) or not isinstance(text, str) or len(salt) != 2 * SALT_BYTES:
            raise BadInput('a text is not {"salt": 64 hexadecimal digits, "text": …}', where="body, texts")
        try:
            raw = bytes.fromhex(salt)
        except ValueError as error:
            raise BadInput("a salt is not hexadecimal", where="body, texts") from error
        if len(raw) != SALT_BYTES:
            raise BadInput("a salt is not hexadecimal", where="body, texts")
        yield commit(raw, text.encode()), raw, text


def _with_texts(value: Any, texts: Mapping[str, FreeText]) -> Content:
    """The sealed value with its free texts, which `parse_content` found complete, in their places."""
    if isinstance(value, dict):
        if COMMITMENT_KEY in value:
            return texts[value[COMMITMENT_KEY]]
        return {key: _with_texts(item, texts) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_texts(item, texts) for item in value]
    plain: Content = value
    return plain


def write(ledger: Ledger, wanted: Wanted, token: Token) -> tuple[Entry, bool]:
    """Appends the entry for the token's holder, or finds it; the flag says which.

    An entry that nobody signs stands under the token's name and group; one that a person signs under their key, and its
    group must be the token's. Which token it was is noted beside the entry. Raises Refused (403) for a token that does
    not allow it, NotAllowed where the state table does not, BadInput for an entry that cannot be recorded.
    """
    _may_write(wanted, token)
    with ledger.transaction() as transaction:
        if KINDS[wanted.kind].signed:
            entry, found = _signed(transaction, wanted)
        else:
            entry, found = _unsigned(transaction, wanted, token)
        if not found:
            transaction.note(entry.n, {"api": {"token": token.id, "name": token.name, "group": token.group}})
    return entry, found


def _may_write(wanted: Wanted, token: Token) -> None:
    scope = SCOPES[wanted.kind]
    if scope not in token.scopes:
        raise Refused(
            403,
            f"the token's scopes, {listed([str(one) for one in token.scopes])}, do not allow an entry of this kind",
            where=wanted.kind,
            mend=f"use a token with the scope {scope}",
            headers={"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'},
        )
    if KINDS[wanted.kind].signed and wanted.content.get("group") != token.group:
        raise Refused(403, "the group that was signed is not the token's", where="body, content")


def _signed(transaction: Transaction, wanted: Wanted) -> tuple[Entry, bool]:
    if wanted.refs or wanted.supersedes:
        raise BadInput("what a person's entry refers to is found here", where="body, refs", mend="leave it out")
    public = read_key(wanted.content.get("key"))
    if public is None:
        raise NotAllowed("it carries no key")
    read = _replayed(transaction, () if wanted.kind == "withheld" else STILL)
    spoken = append_signed(transaction, read, kind=wanted.kind, content=wanted.content, by=fingerprint(public))
    if spoken.found and spoken.entry.content_bytes != wanted.data:
        raise NotAllowed("another entry was recorded under this request", mend="draw a new UUID")
    return spoken.entry, spoken.found


def _unsigned(transaction: Transaction, wanted: Wanted, token: Token) -> tuple[Entry, bool]:
    moving = wanted.kind not in STILL
    read = _replayed(transaction, STILL) if moving else Replay()
    entry, found = transaction.append(
        kind=wanted.kind,
        content=wanted.content,
        refs=wanted.refs,
        supersedes=wanted.supersedes,
        by=token.name,
        group=token.group,
    )
    if moving and not found:
        read.require(entry)  # what is not allowed is not recorded: the exception takes it back
        if not read.dispute_of(entry):
            raise NotAllowed("it belongs to no dispute: the registration that it names is not in this ledger")
    return entry, found


def _replayed(transaction: Transaction, without: tuple[str, ...]) -> Replay:
    read = Replay()
    for entry in transaction.entries(without=without):
        read.add(entry)
    return read
