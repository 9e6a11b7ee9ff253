"""Strangers' text made harmless for a terminal or a page."""

from __future__ import annotations

import unicodedata

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str) -> str:
    """`text` with every control, format, direction or unassigned character written as its escape, and no new line.

    A terminal escape sequence, a right-to-left override or a zero-width character is shown, not obeyed.
    """
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Zs":
        return " "
    if category not in _UNSAFE:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
