"""The text of a TOML file as tables: errors in plain words with their lines, nothing in it that cannot be hashed."""

from __future__ import annotations

import datetime as dt
import math
import re
import tomllib
from typing import Any

from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.tables import Path, TableError, path_text
from verifier.model.toml_lines import key_lines, line_of

DEEPEST = 16
_LARGEST = 2**53 - 1

# tomllib takes quadratic time and space over a key of many parts; a match starts where a word does and gives nothing
# back, or a long word would take quadratic time here
_LONG_KEY = re.compile(r"""(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){32}""")

_PLACE = re.compile(r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")

_PLAIN = {
    "Cannot overwrite a value": ("a key stands twice", "keep one of them"),
    "Cannot declare": ("a table stands twice, or is both a table and a value", "keep one of them"),
    "Invalid value": ("no value starts here", "put a text in quotes; numbers, true and false go without"),
    "Expected '=' after a key": ("a key has no = after it", "write key = value, a text in quotes"),
    "Invalid statement": ("this is neither a key nor a [table]", "write key = value, or mend the line"),
    "Expected newline or end of document": ("something follows the value on its line", "start a new line for it"),
    "Illegal character '\\n'": ("a text ends with its line before its quote", "close it, or use three quotes"),
    "Unterminated string": ("a text is not closed", "add its last quotes"),
    "Unclosed array": ("a list is not closed", "add a comma or its ]"),
    "Unclosed inline table": ("a table in braces is not closed on its line", "add a comma or its }"),
}
"""How tomllib's sentence starts -> what is wrong, how to mend it."""


def parse_toml(text: str, *, where: str) -> dict[str, Any]:
    """The tables in `text`. Raises BadInput naming the line where it is not TOML, or is nested beyond reason."""
    if long_key := _LONG_KEY.search(text):
        line = text.count("\n", 0, long_key.start()) + 1
        raise BadInput("a key has too many parts", where=f"{where}, line {line}", mend="write it with a few parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(str(error), text, where) from error
    except RecursionError as error:
        raise BadInput("it is nested too deeply", where=where, mend="such a file nests a few levels") from error


def _syntax_error(message: str, text: str, where: str) -> BadInput:
    place = _PLACE.search(message)
    message = _PLACE.sub("", message)
    line = place["line"] if place and place["line"] else str(text.count("\n") + 1)
    column = f", column {place['column']}" if place and place["column"] else ""
    words = next((words for start, words in _PLAIN.items() if message.startswith(start)), None)
    what, mend = words or (message[:1].lower() + message[1:], "mend the syntax there")
    return BadInput(f"not valid TOML: {what}", where=f"{where}, line {line}{column}", mend=mend)


def check_values(table: dict[str, Any]) -> None:
    """Raises TableError for the first value that cannot be registered exactly, and for tables nested beyond reason."""
    waiting: list[tuple[Path, Any]] = [((), table)]
    while waiting:
        path, value = waiting.pop()
        if len(path) > DEEPEST:
            raise TableError("it is nested too deeply", path=path, mend="such a file nests a few levels")
        match value:
            case dict():
                waiting += [((*path, key), item) for key, item in reversed(value.items())]
            case list():
                waiting += [((*path, index), value[index]) for index in reversed(range(len(value)))]
            case float() if math.isfinite(value):
                raise TableError(
                    f"{shown(value)} has a decimal point and would be rounded when it is read",
                    path=path,
                    mend=f'put it in quotes: "{value}"; scales and counts are whole numbers',
                )
            case float():
                raise TableError(f"{shown(value)} is not a number", path=path, mend="write a number")
            case dt.date() | dt.time():
                raise TableError(
                    f"{shown(value)} is a date or time, which no key takes", path=path, mend="put it in quotes"
                )
            case int() if abs(value) > _LARGEST:
                raise TableError(f"{shown(value)} is beyond ±(2^53 − 1)", path=path, mend="write a smaller number")


def located(error: TableError, text: str, *, where: str) -> BadInput:
    """`error` with the line of `text`, the file `where`, that its key stands on."""
    line = line_of(key_lines(text), error.path)
    place = [where, f"line {line}" if line else "", path_text(error.path)]
    return BadInput(error.what, where=", ".join(filter(None, place)), mend=error.mend)
