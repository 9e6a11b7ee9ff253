"""Problem and certificate files at the door: bounded bytes, strict JSON, and every complaint with its path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path as FilePath
from typing import Any

from verifier.model.complaints import Path, listed, nearest, path_text, shown
from verifier.model.errors import BadInput

MOST_BYTES = 1_048_576
MOST_NESTING = 32
PROBLEM_DIGITS = 100
MOST_COUNTER = 10**15
MOST_DIMENSION = 16

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]

_SURROGATE = re.compile("[\ud800-\udfff]")
_RATIONAL = re.compile(r"(?P<top>0|-?[1-9][0-9]*)(?:/(?P<bottom>[1-9][0-9]*))?", re.ASCII)


def read_json(path: FilePath) -> Any:
    """The JSON value of a file. Raises BadInput for anything that `docs/certificates.md` section 1 refuses."""
    where = str(path)
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise BadInput(error.strerror or "cannot be read", where=where, mend="check the path") from error
    return parse_json(data, where=where)


def parse_json(data: bytes, *, where: str) -> Any:
    """The JSON value of `data`: not too large, UTF-8 without mark, shallow, no float, no key twice. Raises BadInput."""
    if len(data) > MOST_BYTES:
        raise BadInput(f"the file has more than {MOST_BYTES:,} bytes", where=where, mend="give a smaller instance")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("the file is not UTF-8", where=where, mend="save it as UTF-8") from error
    if text.startswith("\ufeff"):
        raise BadInput("the file begins with a byte-order mark", where=where, mend="save it without one")
    if _nesting(text) > MOST_NESTING:
        raise BadInput(f"brackets nest deeper than {MOST_NESTING}", where=where, mend="see docs/certificates.md")
    try:
        found = json.loads(
            text,
            parse_float=_no_float,
            parse_constant=_no_float,
            parse_int=_small_integer,
            object_pairs_hook=_each_key_once,
        )
    except json.JSONDecodeError as error:
        what = f"the file is not JSON ({error.msg})"
        raise BadInput(what, where=f"{where}, line {error.lineno}", mend="mend the syntax there") from error
    except BadInput as error:
        raise BadInput(error.what, where=where, mend=error.mend) from error
    refused = next(_refused(found, ()), None)
    if refused is None:
        return found
    path, number = refused
    place = path_text(path)
    raise BadInput(
        f"{shown(number.text)} is {number.what}", where=f"{where}: {place}" if place else where, mend=number.mend
    )


@dataclass(frozen=True, slots=True)
class _Refused:
    """A number or text that no file may hold, until its path is known."""

    text: str
    what: str
    mend: str = 'write quantities as strings, such as "-7/3"'


def _refused(value: Any, path: Path) -> Iterator[tuple[Path, _Refused]]:
    """The refused numbers and texts of a value with their paths, in order."""
    match value:
        case _Refused():
            yield path, value
        case str() if _SURROGATE.search(value):  # JSON can escape it, UTF-8 cannot hold it
            yield path, _Refused(value, "no text: half a character is missing", "write whole characters")
        case dict():
            for key, inner in value.items():
                yield from _refused(key, path)
                yield from _refused(inner, (*path, key))
        case list():
            for index, inner in enumerate(value):
                yield from _refused(inner, (*path, index))


def _nesting(text: str) -> int:
    depth = deepest = 0
    for token in re.finditer(r'"(?:\\.|[^"\\])*"?|[\[{]|[\]}]', text, re.DOTALL):
        first = token[0][0]
        if first in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif first in "]}":
            depth -= 1
    return deepest


def _no_float(text: str) -> _Refused:
    return _Refused(text, "a float")


def _small_integer(text: str) -> int | _Refused:
    return _Refused(text, "not a counter") if len(text) > 17 or text == "-0" else int(text)


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise BadInput(f"the key {shown(key)} occurs twice", mend="keep one of them")
        found[key] = value
    return found


@dataclass(frozen=True, slots=True)
class Reader:
    """A value of a document with the path that leads to it; each method raises BadInput where the shape differs."""

    value: Any
    where: str
    path: Path = ()

    def error(self, what: str, *, mend: str = "see docs/certificates.md") -> BadInput:
        """The complaint about this value."""
        place = path_text(self.path)
        return BadInput(what, where=f"{self.where}: {place}" if place else self.where, mend=mend)

    def child(self, key: str | int) -> Reader:
        """The value under `key`."""
        return Reader(self.value[key], self.where, (*self.path, key))

    def fields(self, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Reader]:
        """The fields of an object: all of `required`, any of `optional`, no other."""
        if not isinstance(self.value, dict):
            raise self.error(f"{shown(self.value)} is not an object", mend="write { ... }")
        known = [*required, *optional]
        for key in self.value:
            if key not in known:
                raise self.error(f"unknown field {shown(key)}", mend=nearest(key, known, what="field"))
        for key in required:
            if key not in self.value:
                raise self.error(f"the field {key} is missing", mend=f"the fields are {listed(known)}")
        return {key: self.child(key) for key in self.value}

    def items(self, least: int, most: int) -> list[Reader]:
        """The entries of an array with `least` to `most` of them."""
        if not isinstance(self.value, list):
            raise self.error(f"{shown(self.value)} is not an array", mend="write [ ... ]")
        if not least <= len(self.value) <= most:
            raise self.error(f"the array has {len(self.value)} entries", mend=f"give {least} to {most}")
        return [self.child(index) for index in range(len(self.value))]

    def text(self, most: int, *, least: int = 0) -> str:
        """A text of `least` to `most` characters."""
        if not isinstance(self.value, str):
            raise self.error(f"{shown(self.value)} is not a text", mend="write it in quotes")
        if len(self.value) > most:
            raise self.error(f"the text has more than {most} characters", mend="shorten it")
        if len(self.value) < least:
            raise self.error("the text is empty", mend="leave the field out, or write something")
        return self.value

    def word(self, valid: Sequence[str]) -> str:
        """One of the words of a table."""
        if not isinstance(self.value, str) or self.value not in valid:
            raise self.error(f"unknown word {shown(self.value)}", mend=nearest(str(self.value), valid, what="word"))
        return self.value

    def counter(self, least: int = 0, most: int = MOST_COUNTER) -> int:
        """A JSON integer from `least` to `most`."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or not least <= self.value <= most:
            raise self.error(f"{shown(self.value)} is not a counter", mend=f"write an integer from {least} to {most}")
        return self.value

    def truth(self) -> bool:
        """`true` or `false`."""
        if not isinstance(self.value, bool):
            raise self.error(f"{shown(self.value)} is neither true nor false", mend="write true or false")
        return self.value

    def rational(self) -> Fraction:
        """An exact number in lowest terms, at most 100 digits above and below."""
        match = _RATIONAL.fullmatch(self.value) if isinstance(self.value, str) and len(self.value) <= 202 else None
        mend = 'write it in lowest terms and in quotes, such as "4" or "-7/3"'
        if match is None:
            raise self.error(f"{shown(self.value)} is not a rational", mend=mend)
        top, bottom = match["top"], match["bottom"] or "1"
        if max(len(top.lstrip("-")), len(bottom)) > PROBLEM_DIGITS:
            raise self.error(f"{shown(self.value)} has more than {PROBLEM_DIGITS} digits", mend="give fewer")
        value = Fraction(int(top), int(bottom))
        if match["bottom"] and (value.denominator != int(bottom) or bottom == "1"):
            raise self.error(f"{shown(self.value)} is not in lowest terms", mend=f'write "{value}"')
        return value

    def vector(self, length: int | None = None, *, least: int = 1, most: int = MOST_DIMENSION) -> Vector:
        """A vector; with `length`, of exactly that many entries."""
        entries = tuple(item.rational() for item in self.items(least, most))
        if length is not None and len(entries) != length:
            raise self.error(f"the vector has {len(entries)} entries", mend=f"give {length}")
        return entries

    def matrix(self, rows: int | None = None, columns: int | None = None) -> Matrix:
        """A matrix; with `rows` and `columns`, of exactly that shape."""
        lines = self.items(1, MOST_DIMENSION)
        if rows is not None and len(lines) != rows:
            raise self.error(f"the matrix has {len(lines)} rows", mend=f"give {rows}")
        first = lines[0].vector(columns)
        return (first, *(line.vector(len(first)) for line in lines[1:]))
