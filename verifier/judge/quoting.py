"""Strangers' text inside a Markdown page that a language model reads: one line, no markup, cut, and plainly quoted."""

from __future__ import annotations

import json
import re
from typing import Any

from verifier.model.printable import printable

RAW_LIMIT = 4_000  # characters of a raw fence, its two fence lines included
_FENCE = "```"
# what could open or close a fence, a table cell or our own quotation marks
_REPLACED = str.maketrans({"`": "'", "|": "¦", '"': "'", "“": "'", "”": "'"})
_TAG = re.compile(r"<(?=[^\s\d=])")  # "a < b" and "<= 1" are no tags


def harmless(text: str, limit: int) -> str:
    """`text` on one line without markup, at most `limit` characters and a note of how many were left out.

    Control, format and zero-width characters are written as escapes, so that nothing is hidden from whoever reads it.
    """
    shown = _TAG.sub("‹", printable(text[:limit]).translate(_REPLACED)).replace("](", "] (")
    kept = shown[:limit]
    left = len(text) - limit if len(text) > limit else len(shown) - len(kept)
    return f"{kept} … ({left} characters left out)" if left > 0 else kept


def quotation(label: str, text: str, *, limit: int = 400) -> str:
    """A block quote of one line: `> label, quoted: "text"`."""
    return f'> {label}, quoted: "{harmless(text, limit)}"'


def table(head: list[str], rows: list[list[Any]], *, limit: int = 160) -> list[str]:
    """A Markdown table; every cell is made harmless and cut at `limit` characters. An absent value is a dash."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return [*lines, *("| " + " | ".join(_cell(value, limit) for value in row) + " |" for row in rows)]


def _cell(value: Any, limit: int) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return harmless(str(value), limit)


def raw_fence(document: dict[str, Any], *, shrink: str) -> list[str]:
    """A `raw` fence with the document as JSON in ASCII, at most 4,000 characters.

    Elements of the list under `shrink` are left out from its end until it fits, and counted under "left_out".
    """
    items = list(document[shrink])
    for kept in range(len(items), -1, -1):
        made = {**document, shrink: items[:kept]} | ({"left_out": len(items) - kept} if kept < len(items) else {})
        # outside strings JSON has no backtick, so that none can end the fence
        text = json.dumps(made, allow_nan=False).replace("`", "\\u0060")
        lines = [f"{_FENCE}raw", text, _FENCE]
        if len("\n".join(lines)) <= RAW_LIMIT:
            return lines
    raise AssertionError("a document without its list fits")
