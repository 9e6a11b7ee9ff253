"""The parameters of a request: strict, bounded, each given once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from verifier.model.complaints import nearest, shown
from verifier.model.errors import BadInput

MAX_TEXT = 200  # characters of a parameter
MAX_LIMIT = 100
MAX_NUMBER = 2**53 - 1
_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of an operation: an integer from `least` to `most`, or a text of one line.

    It is required where `default` is None and `optional` is false.
    """

    name: str
    place: Literal["query", "path"] = "query"
    kind: Literal["integer", "text"] = "integer"
    says: str
    default: int | None = None
    optional: bool = False
    least: int = 0
    most: int = MAX_NUMBER

    @property
    def required(self) -> bool:
        """Whether a request without it is refused."""
        return self.default is None and not self.optional

    def read(self, text: str) -> int | str:
        """The value that a request gives. Raises BadInput where it is none."""
        if self.kind == "text":
            if not 0 < len(text) <= MAX_TEXT or not text.isprintable():
                raise BadInput(f"{shown(text)} is not one short line", where=self.name)
            return text
        if not _NUMBER.fullmatch(text) or not self.least <= int(text) <= self.most:
            raise BadInput(f"{shown(text)} is not a number from {self.least} to {self.most}", where=self.name)
        return int(text)


def read_parameters(
    parameters: Sequence[Parameter], *, path: Mapping[str, Any], query: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Name -> value of every parameter of an operation, None where an optional one is not given.

    Raises BadInput for one that is unknown, repeated, missing or not what it must be.
    """
    names = [one.name for one in parameters if one.place == "query"]
    given: dict[str, str] = {}
    for name, text in query:
        if name not in names:
            mend = nearest(name, names) if names else "leave it out"
            raise BadInput(f"there is no parameter {shown(name)} here", where="query", mend=mend)
        if name in given:
            raise BadInput("it is given twice", where=name)
        given[name] = text
    values: dict[str, Any] = {}
    for one in parameters:
        found: Any = (path if one.place == "path" else given).get(one.name)
        if found is not None:
            values[one.name] = one.read(str(found))
        elif one.required:
            raise BadInput(f"the parameter {one.name} is missing", where="query", mend=one.says)
        else:
            values[one.name] = one.default
    return values


def page_parameters(what: str) -> tuple[Parameter, Parameter]:
    """`from` and `limit`, of every list."""
    return (
        Parameter(name="from", says=f"The first of the {what} to show, counted from 1.", default=1, least=1),
        Parameter(name="limit", says="How many at most.", default=50, least=1, most=MAX_LIMIT),
    )
