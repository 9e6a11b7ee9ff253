"""A problem whose state is to be found: its bounds, its sampler, and the concrete problems it stands for."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from verifier.exact.search.sampling import Start

Document = dict[str, Any]
Shape = tuple[int, int]

HARDMAX = "hardmax-frank-wolfe"
EXPRESSIONS = "expressions"


@dataclass(frozen=True, slots=True)
class Find:
    """What may be tried: coordinates a/b with |a| ≤ `numerator`, b ≤ `denominator`; sampler, seed, starts at most.

    `shapes` are the (tokens, dimension) of hardmax starts; for a map one entry (1, dimension); none for expressions.
    """

    numerator: int
    denominator: int
    sampler: str
    seed: int
    starts: int
    shapes: tuple[Shape, ...]

    def shape(self, index: int) -> Shape:
        """The shape of start `index`: the shapes in turn, so that more starts leave the earlier ones as they are."""
        return self.shapes[index % len(self.shapes)]


@dataclass(frozen=True, slots=True)
class SearchProblem:
    """A problem document with `state.find`, and what that says."""

    document: Document
    find: Find

    @property
    def system(self) -> str:
        """The system's name as the file has it."""
        return str(self.document["system"])

    def concrete(self, start: Start) -> Document:
        """The problem document of one start; a B given as "identity" is written out."""
        document = {**self.document, "state": start.state}
        parameters = self.document["parameters"]
        if self.system == HARDMAX and isinstance(parameters, dict) and parameters.get("B") == "identity":
            d = len(start.state["tokens"][0])
            identity = [["1" if i == j else "0" for j in range(d)] for i in range(d)]
            document["parameters"] = {**parameters, "B": identity}
        return document

    def key(self, index: int) -> int:
        """The integer that seeds start `index`: SHA-256 of statement, sampler, seed and index alone."""
        content = [statement(self.document), self.find.sampler, self.find.seed, index]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return int.from_bytes(hashlib.sha256(text.encode()).digest())


def statement(document: Document) -> Document:
    """What is claimed of every start: the problem without state and texts; an identity matrix by its name."""
    found: Document = {key: document[key] for key in ("system", "parameters", "claim", "ties") if key in document}
    parameters = found["parameters"]
    if found["system"] == HARDMAX and isinstance(parameters, dict) and _is_identity(parameters.get("B")):
        found["parameters"] = {**parameters, "B": "identity"}
    return found


def _is_identity(B: Any) -> bool:
    if B == "identity":
        return True
    return isinstance(B, list) and [["1" if i == j else "0" for j in range(len(B))] for i in range(len(B))] == B


def is_open(state: Any) -> bool:
    """Whether a state is left to be found."""
    return isinstance(state, dict) and "find" in state
