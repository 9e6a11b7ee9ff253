"""What is wrong with a value of a table from outside, in a person's words instead of a validator's."""

from __future__ import annotations

import datetime as dt
import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Path = tuple[str | int, ...]

SHOWN = 60
"""Characters of a value that an error shows."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is wrong, how to mend it, and the key it is about, where the path does not end in it already."""

    what: str
    mend: str
    key: str = ""


def shown(value: object) -> str:
    """A value as it stands in the file, shortened; control characters escaped."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            short = value if len(value) <= SHOWN else value[: SHOWN - 3] + "..."
            return json.dumps(short, ensure_ascii=not short.isprintable())
        case Mapping():
            text = "an empty table" if not value else "a table"
        case Sequence():
            text = "[" + ", ".join(shown(item) for item in value[:SHOWN]) + "]"
            text = text if len(text) <= SHOWN else "a list"
        case dt.date() | dt.time():
            text = value.isoformat()
        case _:
            text = str(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def path_text(path: Path) -> str:
    """A path as a person writes it: `probe[0].rule.delta`."""
    text = ""
    for step in path:
        key = step if isinstance(step, int) or _BARE_KEY.fullmatch(step) else shown(step)
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text if len(text) <= 4 * SHOWN else text[: 4 * SHOWN - 3] + "..."


def nearest(word: str, valid: Sequence[str], *, what: str = "one") -> str:
    """How to mend an unknown word: the nearest valid one, or all of them."""
    if not valid:
        return "leave it out, there are none"
    if len(valid) == 1:
        return f"the only valid {what} is {valid[0]}"
    close = difflib.get_close_matches(word, valid, n=1, cutoff=0.6)
    if close:
        return f"the nearest valid {what} is {close[0]}"
    return f"valid are {listed(sorted(valid))}"


def listed(words: Sequence[str], *, last: Literal["and", "or"] = "and") -> str:
    """`a, b and c`."""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""


def complain(error: Mapping[str, Any], *, table: str = "") -> Complaint:
    """One of pydantic's errors in words; `table` is the key's name where the file itself holds it.

    Unknown and missing keys depend on the model and are not for this.
    """
    value, context = error["input"], error.get("ctx", {})
    match error["type"]:
        case "complaint":
            return Complaint(context["what"], context["mend"], context["key"])
        case "literal_error":
            words = re.findall(r"'([^']*)'", context["expected"])
            return Complaint(f"unknown word {shown(value)}", nearest(str(value), words))
        case "string_type" if isinstance(value, float | int) and not isinstance(value, bool):
            return Complaint(f"{shown(value)} is not a text", f'put it in quotes: "{shown(value)}"')
        case "list_type" if table:
            return Complaint(f"{table} stands once, where a list of tables is meant", f"write [[{table}]]")
        case "model_type" | "dict_type" if table:
            return Complaint(f"{table} is not one table", f"write [{table}], once")
        case kind if kind in _WORDS:
            what, mend = _WORDS[kind]
            return Complaint(what.format(it=shown(value), **context), mend.format(**context))
        case _:
            return Complaint(f"{shown(value)}: {error['msg']}", "")


_WORDS = {
    "string_type": ("{it} is not a text", "write a text in quotes"),
    "int_type": ("{it} is not a whole number", "write digits only, without quotes"),
    "bool_type": ("{it} is neither true nor false", "write true or false, without quotes"),
    "list_type": ("{it} is not a list", "put it in brackets: [ ... ]"),
    "dict_type": ("{it} is not a table", "write {{ key = value }}"),
    "model_type": ("{it} is not a table", "write {{ key = value }}"),
    "too_short": ("it is empty", "give at least one"),
    "too_long": ("it holds more than {max_length}", "shorten it"),
    "string_too_short": ("it is empty", "write a text"),
    "string_too_long": ("the text is longer than {max_length} characters", "shorten it"),
    "greater_than_equal": ("{it} is below {ge}", "write at least {ge}"),
    "less_than_equal": ("{it} is above {le}", "write at most {le}"),
}
"""pydantic's type of error -> what is wrong, how to mend it."""
