"""The entry: an envelope that is hashed into the tree, and beside it the content, its salt and its texts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from verifier.ledger.content import (
    SALT_BYTES,
    Content,
    Damaged,
    Text,
    commit,
    parse_canonical,
    parse_content,
    seal,
)
from verifier.ledger.merkle import HASH_BYTES, leaf_hash
from verifier.ledger.times import is_time_text
from verifier.model.canonical import Json, canonical_bytes
from verifier.model.errors import BadInput, TamperingDetected

SCHEMA = "verifier/entry/1"
MAX_REFS = 4096
MAX_NAME = 200  # characters of `by` and `group`


@dataclass(frozen=True, slots=True)
class KindRules:
    """How the ledger treats a kind of entry.

    `under_registration`: its content carries the hash of its registration under "registration", and in a reproducible
    ledger its salt is derived from it. `found_again`: an equal one is found, not appended a second time. `signed`: its
    content carries a person's `key` and `signature`, and `by` is that key's fingerprint (verifier.ledger.signed).
    """

    under_registration: bool
    found_again: bool
    signed: bool = False


_ENGINE = KindRules(under_registration=True, found_again=True)
_PERSON = KindRules(under_registration=False, found_again=False, signed=True)

KINDS: dict[str, KindRules] = {
    "registration": _ENGINE,
    "evidence": _ENGINE,
    "ruling": _ENGINE,
    "adjudication": _PERSON,
    "challenge": _PERSON,
    "challenge-end": _PERSON,
    "author-notice": _PERSON,
    "author-reply": _PERSON,
    "publication": _PERSON,
    "correction": _PERSON,
    "retraction": _PERSON,
    "import": KindRules(under_registration=False, found_again=True),
    "judge-reading": KindRules(under_registration=False, found_again=False),
    "withheld": _PERSON,
    "key": _PERSON,
}

_HEX = re.compile(r"[0-9a-f]{64}")
_FIELDS = {"schema", "kind", "time", "refs", "supersedes", "by", "group", "content_commitment"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry as read back and checked against its leaf hash. Hashes are hexadecimal.

    `content` has its free texts put back as strings; `envelope_bytes` and `content_bytes` are what was hashed; `root`
    is the root of the tree with this entry as its last leaf, as stored. `withheld`: an administrator withheld texts of
    it ("[withheld]" stands for each), or all of its content, which is then empty.
    """

    n: int
    leaf: str
    kind: str
    time: str
    refs: tuple[str, ...]
    supersedes: str | None
    by: str
    group: str
    content_commitment: str
    content: dict[str, Any]
    texts: tuple[Text, ...]
    salt: bytes
    envelope_bytes: bytes
    content_bytes: bytes
    root: str
    withheld: bool = False

    @property
    def registration(self) -> str | None:
        """The hash of the registration this entry stands under, or None for a kind that stands under none."""
        return registration_of(self.kind, self.content)


class Absent(NamedTuple):
    """What of one entry may be absent: texts by commitment (None: any); with `whole` its content and all texts."""

    texts: frozenset[str] | None
    whole: bool


NOTHING_WITHHELD = Absent(frozenset(), whole=False)


class RawEntry(NamedTuple):
    """The columns of one entry as a store returns them, of any type if somebody changed them.

    `texts` holds (commitment, salt, text) of each stored text.
    """

    n: Any
    leaf: Any
    kind: Any
    registration: Any
    envelope: Any
    content: Any
    salt: Any
    root: Any
    texts: Sequence[tuple[Any, Any, Any]]


class Prepared(NamedTuple):
    """An entry ready to be stored: the bytes to hash and what lies beside them."""

    leaf: bytes
    envelope: bytes
    content: bytes
    salt: bytes
    texts: list[Text]

    def raw(self, *, n: int, kind: str, registration: str | None, root: bytes) -> RawEntry:
        """The columns it is stored in as entry n, with `root` the root of the tree that it completes."""
        texts = [(bytes.fromhex(text.commitment), text.salt, text.text.encode()) for text in self.texts]
        return RawEntry(n, self.leaf, kind, registration, self.envelope, self.content, self.salt, root, texts)


class Envelope(NamedTuple):
    """The fields of an envelope, without its schema."""

    kind: str
    time: str
    refs: tuple[str, ...]
    supersedes: str | None
    by: str
    group: str
    content_commitment: str


def is_hash(value: object) -> bool:
    """Whether `value` is a SHA-256 in 64 lower-case hexadecimal digits."""
    return isinstance(value, str) and _HEX.fullmatch(value) is not None


def registration_of(kind: str, content: Mapping[str, Any]) -> str | None:
    """The registration hash that content of this kind carries, None for a kind that stands under none."""
    if not KINDS[kind].under_registration or not content:
        return None
    value: str = content["registration"]
    return value


def check_fields(
    *,
    kind: str,
    content: Mapping[str, Content],
    refs: Sequence[str],
    supersedes: str | None,
    by: str,
    group: str,
) -> None:
    """Raises BadInput where a field of an entry to be appended is not what it must be."""
    if kind not in KINDS:
        raise BadInput(f"there is no kind of entry {kind!r}", where="kind", mend=f"use one of {', '.join(KINDS)}")
    if KINDS[kind].under_registration and not is_hash(content.get("registration")):
        raise BadInput(f"the content of a {kind} carries no registration hash", where="content /registration")
    if len(refs) > MAX_REFS or len(set(refs)) != len(refs) or not all(is_hash(ref) for ref in refs):
        raise BadInput(f"the references are not up to {MAX_REFS} different leaf hashes", where="refs")
    if supersedes is not None and not is_hash(supersedes):
        raise BadInput("what is superseded is not named by its leaf hash", where="supersedes")
    for field, name in (("by", by), ("group", group)):
        if not _is_name(name) or not name.isprintable() or (field == "by" and not name):
            raise BadInput(
                f"{name!r} is not a pseudonym",
                where=field,
                mend=f"use up to {MAX_NAME} characters on one line, without control characters",
            )


def _is_name(value: object) -> bool:
    # which characters are printable depends on Python's version, so that stored names are held to their length alone
    return isinstance(value, str) and len(value) <= MAX_NAME


def derived_salt(*, registration: str, kind: str, number: int) -> bytes:
    """The salt of an entry in a reproducible ledger, 32 bytes.

    SHA-256 over the 32 bytes of the registration hash, the kind in ASCII, and in ASCII decimals the entry's number,
    from 1, among the entries of its kind under that registration.
    """
    return hashlib.sha256(bytes.fromhex(registration) + kind.encode() + str(number).encode()).digest()


def derived_text_salt(entry_salt: bytes, pointer: str) -> bytes:
    """The salt of a free text in a reproducible ledger: SHA-256(entry salt ‖ its JSON pointer in UTF-8)."""
    return hashlib.sha256(entry_salt + pointer.encode()).digest()


def prepare(
    *,
    kind: str,
    content: Mapping[str, Content],
    refs: Sequence[str],
    supersedes: str | None,
    by: str,
    group: str,
    time: str,
    salt: bytes,
    text_salt: Callable[[str], bytes],
) -> Prepared:
    """The bytes of an entry whose fields `check_fields` has passed. Raises BadInput for content `seal` refuses."""
    content_bytes, texts = seal(content, text_salt)
    envelope: dict[str, Json] = {
        "schema": SCHEMA,
        "kind": kind,
        "time": time,
        "refs": list(refs),
        "supersedes": supersedes,
        "by": by,
        "group": group,
        "content_commitment": commit(salt, content_bytes),
    }
    envelope_bytes = canonical_bytes(envelope)
    return Prepared(leaf_hash(envelope_bytes), envelope_bytes, content_bytes, salt, texts)


def decode(raw: RawEntry, *, absent: Absent = NOTHING_WITHHELD) -> Entry:
    """The entry that stored columns hold. Raises TamperingDetected, naming it, where they contradict one another.

    `absent` says what of it an administrator withheld. Checked are the leaf hash, the commitments of content and texts,
    the canonical form of all bytes, every field, and the columns that only repeat what is hashed. Its place in the tree
    is not: see `verify`.
    """
    try:
        return _decoded(raw, absent)
    except Damaged as error:
        raise TamperingDetected(str(error), where=f"ledger entry {raw.n}") from error


def _decoded(raw: RawEntry, absent: Absent) -> Entry:
    for name, value in (("leaf", raw.leaf), ("salt", raw.salt), ("root", raw.root)):
        if not isinstance(value, bytes) or len(value) != HASH_BYTES:
            raise Damaged(f"its {name} is not {HASH_BYTES} bytes")
    envelope = read_envelope(raw.envelope, raw.leaf)
    if absent.whole and raw.content == b"" and raw.kind == envelope.kind and not raw.texts:
        return _entry(raw, envelope, {}, (), withheld=True)
    if not isinstance(raw.content, bytes):
        raise Damaged("its content is missing, too large or not bytes")
    if commit(raw.salt, raw.content) != envelope.content_commitment:
        raise Damaged("its content does not match its commitment")
    content, texts = parse_content(raw.content, [_text(*text) for text in raw.texts], absent.texts)
    rules = KINDS[envelope.kind]
    if rules.under_registration and not is_hash(content.get("registration")):
        raise Damaged("its content carries no registration hash")
    if raw.kind != envelope.kind or raw.registration != registration_of(envelope.kind, content):
        raise Damaged("the columns it is found by differ from what it says")
    gone = (absent.texts or frozenset()) - {text.commitment for text in texts}
    return _entry(raw, envelope, content, texts, withheld=any(one.encode() in raw.content for one in gone))


def _entry(
    raw: RawEntry, envelope: Envelope, content: dict[str, Any], texts: tuple[Text, ...], *, withheld: bool
) -> Entry:
    return Entry(
        n=raw.n,
        leaf=raw.leaf.hex(),
        content=content,
        texts=texts,
        salt=raw.salt,
        envelope_bytes=raw.envelope,
        content_bytes=raw.content,
        root=raw.root.hex(),
        withheld=withheld,
        **envelope._asdict(),
    )


def _text(commitment: Any, salt: Any, text: Any) -> tuple[str, bytes, str]:
    if not (isinstance(commitment, bytes) and isinstance(salt, bytes) and isinstance(text, bytes)):
        raise Damaged("one of its texts is missing, too large or not bytes")
    if len(salt) != SALT_BYTES or commit(salt, text) != commitment.hex():
        raise Damaged("one of its texts does not match its commitment")
    try:
        return commitment.hex(), salt, text.decode()
    except UnicodeDecodeError as error:
        raise Damaged("one of its texts is not UTF-8") from error


def read_envelope(data: Any, leaf: Any) -> Envelope:
    """The fields of the envelope whose stored bytes have this leaf hash. Raises Damaged where anything is amiss."""
    if not isinstance(data, bytes):
        raise Damaged("its envelope is missing, too large or not bytes")
    if leaf_hash(data) != leaf:
        raise Damaged("its envelope does not match its leaf hash")
    fields = parse_canonical(data)
    if not isinstance(fields, dict) or fields.keys() != _FIELDS or fields.pop("schema") != SCHEMA:
        raise Damaged("its envelope has not the fields of an entry")
    if not _well_formed(**fields):
        raise Damaged("a field of its envelope is not what it must be")
    fields["refs"] = tuple(fields["refs"])
    return Envelope(**fields)


def _well_formed(
    *, kind: Any, time: Any, refs: Any, supersedes: Any, by: Any, group: Any, content_commitment: Any
) -> bool:
    return (
        isinstance(kind, str)
        and kind in KINDS
        and is_time_text(time)
        and isinstance(refs, list)
        and len(refs) <= MAX_REFS
        and all(is_hash(ref) for ref in refs)
        and len(set(refs)) == len(refs)
        and (supersedes is None or is_hash(supersedes))
        and _is_name(by)
        and by != ""
        and _is_name(group)
        and is_hash(content_commitment)
    )
