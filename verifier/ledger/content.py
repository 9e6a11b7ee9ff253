"""What an entry says: its bytes, its bounds, and the free texts in it that can be withheld alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Never, TypeAlias

from verifier.model.canonical import Json, canonical_bytes
from verifier.model.errors import BadInput

MAX_CONTENT = 16 * 2**20  # bytes of the content and its texts together
MAX_DEPTH = 64
MAX_INTEGER = 2**53 - 1
SALT_BYTES = 32
COMMITMENT_KEY = "text_commitment"
WITHHELD = "[withheld]"  # stands where a free text was withheld
_CONTAINERS = (dict, list)


@dataclass(frozen=True, slots=True)
class FreeText:
    """A text in an entry's content that stands under a commitment of its own, so that it can be withheld alone.

    `salt`, of 32 bytes, is given where somebody signs the commitment before it is appended; else it is drawn then.
    """

    text: str
    salt: bytes | None = None


Content: TypeAlias = "bool | int | str | FreeText | Sequence[Content] | Mapping[str, Content] | None"


@dataclass(frozen=True, slots=True)
class Text:
    """One free text of an entry: where it stands (RFC 6901 pointer), its commitment in hexadecimal, salt, and words."""

    pointer: str
    commitment: str
    salt: bytes
    text: str


class Damaged(Exception):
    """Stored bytes are not an entry's. Leaves the package as TamperingDetected, with the entry's number."""


def commit(salt: bytes, data: bytes) -> str:
    """SHA-256(salt ‖ data) in hexadecimal."""
    return hashlib.sha256(salt + data).hexdigest()


def seal(content: Mapping[str, Content], text_salt: Callable[[str], bytes]) -> tuple[bytes, list[Text]]:
    """The bytes of the content as they are stored and hashed, and its free texts, in the order of a walk through it.

    `text_salt` gives the 32-byte salt of the text at a JSON pointer. Raises BadInput for a float, an integer beyond
    ±(2^53 − 1), a value JSON has not, more than 64 levels, the reserved key "text_commitment", or more than 16 MiB.
    """
    texts: list[Text] = []

    def free(pointer: str, text: str, given: bytes | None) -> Json:
        salt = text_salt(pointer) if given is None else given
        if len(salt) != SALT_BYTES:
            raise BadInput(f"the salt of a text has not {SALT_BYTES} bytes", where=f"content {pointer}")
        made = Text(pointer, commit(salt, text.encode()), salt, text)
        texts.append(made)
        return {COMMITMENT_KEY: made.commitment}

    sealed = checked_bytes(_copied_top(content, free))
    _bounded(len(sealed) + sum(len(made.text.encode()) for made in texts))
    return sealed, texts


def plain(content: Mapping[str, Content]) -> dict[str, Json]:
    """The content with its free texts as ordinary strings. Raises BadInput as `seal` does."""
    return _copied_top(content, lambda _pointer, text, _salt: text)


def _copied_top(content: Mapping[str, Content], free: Callable[[str, str, bytes | None], Json]) -> dict[str, Json]:
    if not isinstance(content, Mapping):
        raise BadInput("the content of an entry is not a mapping")
    return {_key(key, ""): _copied(value, f"/{_escaped(key)}", 2, free) for key, value in content.items()}


def _copied(value: Content, pointer: str, depth: int, free: Callable[[str, str, bytes | None], Json]) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise BadInput("an integer is beyond ±(2^53 − 1)", where=f"content {pointer}", mend="write it as a string")
        return value
    if isinstance(value, str):
        return _encodable(value, pointer)
    if isinstance(value, FreeText):
        return free(pointer, _encodable(value.text, pointer), value.salt)
    if isinstance(value, float):
        raise BadInput(
            f"the float {value!r} stands in a hashed value",
            where=f"content {pointer}",
            mend="write it as an integer, a rational or a decimal string",
        )
    if depth > MAX_DEPTH:
        raise BadInput(f"the content of an entry is nested deeper than {MAX_DEPTH} levels", where="content")
    if isinstance(value, Mapping):
        return {
            _key(key, pointer): _copied(item, f"{pointer}/{_escaped(key)}", depth + 1, free)
            for key, item in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [_copied(item, f"{pointer}/{i}", depth + 1, free) for i, item in enumerate(value)]
    raise BadInput(f"JSON has no {type(value).__name__}", where=f"content {pointer}")


def _key(key: object, pointer: str) -> str:
    if not isinstance(key, str):
        raise BadInput(f"the key {key!r} is not a string", where=f"content {pointer}")
    if key == COMMITMENT_KEY:
        raise BadInput(
            f'the key "{COMMITMENT_KEY}" is reserved', where=f"content {pointer}", mend="wrap the text in FreeText"
        )
    return _encodable(key, pointer)


def _encodable(text: str, pointer: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadInput("a text has half of a surrogate pair and no UTF-8 form", where=f"content {pointer}") from error
    return text


def _escaped(key: object) -> str:
    """A reference token of RFC 6901."""
    text = str(key)
    return text.replace("~", "~0").replace("/", "~1") if "~" in text or "/" in text else text


def _bounded(size: int) -> None:
    if size > MAX_CONTENT:
        raise BadInput(
            f"the content of an entry has {size} bytes, more than {MAX_CONTENT}",
            mend="store the data elsewhere and record its hash",
        )


def parse_content(
    data: bytes, stored: Sequence[tuple[str, bytes, str]], absent: frozenset[str] | None = frozenset()
) -> tuple[dict[str, Any], tuple[Text, ...]]:
    """The content that stored bytes hold, and its texts, as `restore` gives them. Raises Damaged."""
    sealed = parse_canonical(data)
    # most contents have no text and too few brackets to be nested too deep: they need no walk
    flat = data.count(b"{") + data.count(b"[") <= MAX_DEPTH
    if flat and not stored and COMMITMENT_KEY.encode() not in data and isinstance(sealed, dict):
        return sealed, ()
    return restore(sealed, stored, absent)


def restore(
    sealed: Json, stored: Iterable[tuple[str, bytes, str]], absent: frozenset[str] | None = frozenset()
) -> tuple[dict[str, Any], tuple[Text, ...]]:
    """The content with its texts put back, and the texts with their pointers, in the order of a walk.

    `stored` holds (commitment, salt, text), already checked against one another; `absent` the commitments of texts
    that were withheld, or None where any may be: "[withheld]" stands in their place. Raises Damaged where another text
    is missing, left over or used twice, and for content that is no mapping or nested too deep.
    """
    if not isinstance(sealed, dict):
        raise Damaged("its content is not a mapping")
    restorer = _Restorer({commitment: (salt, text) for commitment, salt, text in stored}, absent)
    restored = restorer.walk(sealed, "", 1)
    if not isinstance(restored, dict):
        raise Damaged("its content is a text and not a mapping")
    if restorer.waiting:
        raise Damaged("a text is stored with it that its content does not name")
    return restored, tuple(restorer.found)


class _Restorer:
    """Puts texts back where their commitments stand, each once."""

    def __init__(self, waiting: dict[str, tuple[bytes, str]], absent: frozenset[str] | None) -> None:
        self.waiting = waiting
        self.absent = absent
        self.found: list[Text] = []

    def walk(self, value: Any, pointer: str, depth: int) -> Any:
        if isinstance(value, dict) and COMMITMENT_KEY in value:
            return self._placed(value, pointer)
        if depth > MAX_DEPTH:
            raise Damaged("its content is nested too deep")
        if isinstance(value, list):
            return [
                self.walk(item, f"{pointer}/{i}", depth + 1) if isinstance(item, _CONTAINERS) else item
                for i, item in enumerate(value)
            ]
        return {
            key: self.walk(item, f"{pointer}/{_escaped(key)}", depth + 1) if isinstance(item, _CONTAINERS) else item
            for key, item in value.items()
        }

    def _placed(self, value: dict[str, Any], pointer: str) -> str:
        commitment = value[COMMITMENT_KEY]
        known = len(value) == 1 and isinstance(commitment, str)
        if known and commitment not in self.waiting and (self.absent is None or commitment in self.absent):
            return WITHHELD
        if not known or commitment not in self.waiting:
            raise Damaged(f"the text at {pointer} is missing")
        salt, text = self.waiting.pop(commitment)
        self.found.append(Text(pointer, commitment, salt, text))
        return text


def _refused(text: str) -> Never:
    raise ValueError(f"{text[:40]} is a number that canonical content cannot hold")


def _integer(text: str) -> int:
    if len(text) > 17 or abs(int(text)) > MAX_INTEGER:
        _refused(text)
    return int(text)


_DECODER = json.JSONDecoder(parse_float=_refused, parse_constant=_refused, parse_int=_integer)
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False)


def checked_bytes(value: Json) -> bytes:
    """The canonical bytes (RFC 8785) of a value that holds no float and no integer beyond ±(2^53 − 1)."""
    data = _ENCODER.encode(value).encode()
    # Below U+10000 code points sort as UTF-16 units do, and the C encoder's escapes are RFC 8785's.
    return data if data.isascii() or max(data) < 0xF0 else canonical_bytes(value)


def parse_canonical(data: bytes) -> Json:
    """The value whose canonical bytes are exactly `data`. Raises Damaged where there is none."""
    try:
        value: Json = _DECODER.decode(data.decode())
        again = checked_bytes(value)
    except (ValueError, RecursionError, BadInput) as error:
        raise Damaged("its bytes are not canonical JSON") from error
    if again != data:
        raise Damaged("its bytes are not in canonical form")
    return value
