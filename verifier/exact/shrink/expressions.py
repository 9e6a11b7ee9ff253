"""Assignments of expressions: zero entries, then smaller numbers; shapes and formulas stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from verifier.exact.shrink.driver import Document, Moves
from verifier.exact.shrink.numbers import nearer


def _zeros(document: Document) -> Iterator[Document]:
    for assignment in _zeroed(document["state"]["assignment"]):
        yield {**document, "state": {"assignment": assignment}}


def _zeroed(value: Any) -> Iterator[Any]:
    """One variable, row or entry at a time set to 0, the larger ones first."""
    if isinstance(value, str):
        if value != "0":
            yield "0"
        return
    keys = list(value) if isinstance(value, dict) else range(len(value))
    whole = {key: _nothing(value[key]) for key in keys}
    for key in keys:
        if whole[key] != value[key] and not isinstance(value[key], str):
            yield _with(value, key, whole[key])
    for key in keys:
        for changed in _zeroed(value[key]):
            yield _with(value, key, changed)


def _nothing(value: Any) -> Any:
    return "0" if isinstance(value, str) else [_nothing(entry) for entry in value]


def _with(value: Any, key: Any, entry: Any) -> Any:
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = entry
    return copy


def _numbers(document: Document) -> Iterator[Document]:
    for assignment in nearer(document["state"]["assignment"]):
        yield {**document, "state": {"assignment": assignment}}


MOVES = Moves(steps=(_zeros, _numbers))
