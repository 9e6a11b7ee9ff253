"""One JSON object of any size, read a member at a time; what a stranger can write into it is bounded first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, TypeAlias

import ijson

from verifier.model.errors import BadInput
from verifier.model.printable import printable

Strings: TypeAlias = "str | list[Strings] | dict[str, Strings]"
"""What these files hold: texts, lists and objects. A number, true, false or null is refused."""

MAX_DEPTH = 6
MAX_TEXT = 100_000  # characters of one text; the longest seen has about 900
MAX_NODES = 20_000  # texts, lists and objects in one member
_CHUNK = 1 << 16
_MAX_SILENCE = 12 * MAX_TEXT + _CHUNK  # bytes without an event: a text of that length has no shorter end in sight
_PAIR = 12  # bytes of an escaped character beyond the first plane: the longest escape
# all but half of a surrogate pair, and what is no escape at all
_WHOLE = re.compile(
    rb"(?:[^\\]++|\\[^u]|\\u(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}"
    rb"|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))*+",
    re.DOTALL,
)
_HALF = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_VALUES = {"string", "number", "boolean", "null", "start_map", "start_array"}
_SHOWN = 60


def shown(text: str) -> str:
    """A stranger's key as a sentence names it: printable, at most 60 characters."""
    return printable(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def members(file: BinaryIO, *, name: str) -> Iterator[tuple[str, Strings]]:
    """The members (key, value) of the one object in `file`, in order, each held alone.

    Raises BadInput naming the file `name` and the member, for anything but UTF-8 JSON; half of a surrogate pair, which
    is no text and would be read as another; a top level that is no object; a key that repeats, or at the top differs
    from another only in case; a value that is neither text, list nor object; more than 6 levels; a text of more than
    100,000 characters; more than 20,000 values in one member.
    """
    builder = _Builder(name)
    seen: dict[str, str] = {}
    for event, value in _events(file, name, builder):
        made = builder.take(event, value)
        if made is None:
            continue
        key, member = made
        folded = key.casefold()
        if folded in seen:
            what = "stands twice" if seen[folded] == key else f"and {shown(seen[folded])} differ only in case"
            raise BadInput(f"the key {shown(key)} {what}", where=name, mend="keep one of them")
        seen[folded] = key
        yield key, member


def _events(file: BinaryIO, name: str, builder: _Builder) -> Iterator[tuple[str, Any]]:
    found = ijson.sendable_list()
    parser = ijson.basic_parse_coro(found)
    begun = b""  # an escape of which the rest is in the next chunk
    silence = read = 0
    while True:
        chunk = file.read(_CHUNK)
        read += len(chunk)
        begun = _rest(begun + chunk)
        if _HALF.match(begun) and (len(begun) >= _PAIR or not chunk):
            raise BadInput("a text holds half of a surrogate pair", where=f"{name}, near byte {read}{builder.place}")
        try:
            if chunk:
                parser.send(chunk)
            else:
                parser.close()
        except StopIteration:
            pass
        # ijson lets bad bytes through as UnicodeDecodeError, and too many digits as whatever its C code makes of them
        except (ijson.JSONError, ValueError, ArithmeticError, SystemError) as error:
            raise BadInput(
                "this is not one whole JSON object in UTF-8",
                where=f"{name}, near byte {read}{builder.place}",
                mend="fetch the file again",
            ) from error
        silence = 0 if found else silence + len(chunk)
        yield from found
        found.clear()
        if not chunk:
            return
        if silence > _MAX_SILENCE:
            raise BadInput(f"a text has more than {MAX_TEXT} characters", where=f"{name}{builder.place}")


def _rest(data: bytes) -> bytes:
    """What follows the last whole escape of JSON text: nothing, an escape that is cut off, or one that is none."""
    whole = _WHOLE.match(data)
    assert whole is not None  # it matches nothing at all, too
    rest = data[whole.end() :]
    return rest if len(rest) < _PAIR or _HALF.match(rest) else b""


class _Builder:
    """Puts events together into the members of the top object."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._stack: list[Any] = []  # open containers below the top object
        self._keys: list[str | None] = []  # the key that waits for its value in each open container
        self._top: str | None = None
        self._begun = False
        self._nodes = 0

    @property
    def place(self) -> str:
        """`, in KEY`, or nothing before the first key."""
        return "" if self._top is None else f", in {shown(self._top)}"

    def take(self, event: str, value: Any) -> tuple[str, Strings] | None:
        """One event. Returns the member it completes, if it does."""
        if not self._begun:
            if event != "start_map":
                raise BadInput("the file does not hold one JSON object", where=self._name)
            self._begun = True
            return None
        if event == "map_key":
            self._key(value)
            return None
        if event in _VALUES:
            return self._value(event, value)
        if not self._stack:
            return None  # the end of the top object
        self._keys.pop()
        done = self._stack.pop()
        return self._completed(done) if not self._stack else None

    def _key(self, key: str) -> None:
        self._bounded(key)
        if not self._stack:
            self._top, self._nodes = key, 0
            return
        if key in self._stack[-1]:
            raise BadInput(f"the key {shown(key)} stands twice", where=f"{self._name}{self.place}")
        self._keys[-1] = key

    def _value(self, event: str, value: Any) -> tuple[str, Strings] | None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise BadInput(f"it holds more than {MAX_NODES} values", where=f"{self._name}{self.place}")
        made: Any
        if event == "string":
            self._bounded(value)
            made = value
        elif event in {"start_map", "start_array"}:
            if len(self._stack) + 2 > MAX_DEPTH:
                raise BadInput(f"it is nested deeper than {MAX_DEPTH} levels", where=f"{self._name}{self.place}")
            made = {} if event == "start_map" else []
        else:
            raise BadInput(f"a {event} stands where only text can", where=f"{self._name}{self.place}")
        if self._stack:
            within = self._stack[-1]
            if isinstance(within, list):
                within.append(made)
            else:
                within[self._keys[-1]] = made
        if isinstance(made, str):
            return self._completed(made) if not self._stack else None
        self._stack.append(made)
        self._keys.append(None)
        return None

    def _completed(self, value: Strings) -> tuple[str, Strings]:
        assert self._top is not None
        return self._top, value

    def _bounded(self, text: str) -> None:
        if len(text) > MAX_TEXT:
            raise BadInput(
                f"a text has {len(text)} characters, more than {MAX_TEXT}", where=f"{self._name}{self.place}"
            )
