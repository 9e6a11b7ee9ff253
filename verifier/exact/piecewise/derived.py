"""The map that a system's file derives, held to its type before anything is computed with it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NoReturn

from verifier.exact.piecewise.maps import MOST_PARTS, Branch, Guard, Map
from verifier.exact.reading import MOST_DIMENSION
from verifier.model.errors import BadInput


def checked_map(found: Any, *, where: str) -> Map:
    """`found` if it is a map: tuples of Fractions, of one dimension throughout, with at most 16 of every part.

    `where` names the system and its file. Raises BadInput with the phase, the branch and the field.
    """
    return _Check(where).whole(found)


class _Check:
    def __init__(self, where: str) -> None:
        self._place = where
        self._dimension = 0

    def whole(self, found: Any) -> Map:
        where = self._place
        for p, phase in enumerate(self._tuple(found, "the map", "phases", 1, MOST_PARTS)):
            self._place = f"{where}, phase {p}"
            for i, branch in enumerate(self._tuple(phase, "the phase", "branches", 1, MOST_PARTS)):
                self._place = f"{where}, phase {p}, branch {i}"
                self._branch(branch)
        checked: Map = found
        return checked

    def _fail(self, what: str) -> NoReturn:
        raise BadInput(what, where=self._place, mend="mend derive in the system's file; the problem is not at fault")

    def _tuple(self, value: Any, name: str, parts: str, least: int, most: int) -> tuple[Any, ...]:
        if not isinstance(value, tuple):
            self._fail(f"{name} is not a tuple of {parts} but {_kind(value)}")
        if not least <= len(value) <= most:
            some = f"{least}" if least == most else f"{least} to {most}"
            self._fail(f"{name} has {len(value)} {parts}, where {some} are allowed")
        return value

    def _branch(self, branch: Any) -> None:
        if not isinstance(branch, Branch):
            self._fail(f"it is not a Branch but {_kind(branch)}")
        self._dimension = self._dimension or len(self._tuple(branch.c, "c", "entries", 1, MOST_DIMENSION))
        for k, guard in enumerate(self._tuple(branch.guards, "guards", "guards", 0, MOST_PARTS)):
            name = f"guards[{k}]"
            if not isinstance(guard, Guard):
                self._fail(f"{name} is not a Guard but {_kind(guard)}")
            self._vector(guard.a, f"{name}.a")
            self._number(guard.b, f"{name}.b")
            if not isinstance(guard.strict, bool):
                self._fail(f"{name}.strict is not True or False but {_kind(guard.strict)}")
        for i, row in enumerate(self._tuple(branch.M, "M", "rows", self._dimension, self._dimension)):
            self._vector(row, f"M[{i}]")
        self._vector(branch.c, "c")

    def _vector(self, value: Any, name: str) -> None:
        for i, entry in enumerate(self._tuple(value, name, "entries", self._dimension, self._dimension)):
            self._number(entry, f"{name}[{i}]")

    def _number(self, value: Any, name: str) -> None:
        if not isinstance(value, Fraction):
            self._fail(f"{name} is not a Fraction but {_kind(value)}")


def _kind(value: Any) -> str:
    """`the float 0.5`, `a list`."""
    short = repr(value) if isinstance(value, int | float | str) else ""
    kind = type(value).__name__
    return f"the {kind} {short}" if short and len(short) <= 40 else f"of type {kind}"
