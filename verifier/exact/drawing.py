"""Whole numbers that hypothesis draws the same way whatever else is loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def whole(draw: Callable[..., Any], below: int) -> int:
    """A number from 0 to below − 1 from single bits; `draw` is what hypothesis hands to a composite strategy.

    Where hypothesis draws whole numbers itself it mixes in constants of whatever modules are loaded; a search must not
    depend on these.
    """
    from hypothesis import strategies  # noqa: PLC0415  # slow to import, and only a search needs it

    bits = (below - 1).bit_length()
    return sum(int(draw(strategies.booleans())) << k for k in reversed(range(bits))) % below
