"""A case: one dispute about one claim of one paper, and how it will be tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Value = int | str | Fraction
"""A parameter's value: an integer, one of a list of words, or a rational."""

Scale = tuple[tuple[str, int], ...]
"""One point of a sweep: (axis, value) pairs in the case's order of axes."""


@dataclass(frozen=True, slots=True)
class LaterVersion:
    """A version of the paper that appeared after the one judged, and what became of the claim in it."""

    arxiv: str
    claim: Literal["unchanged", "changed", "withdrawn", "not-read"]


@dataclass(frozen=True, slots=True)
class Paper:
    """Which paper, in which version, and the hash of the source that was read ("" where nobody read it)."""

    openreview: str
    arxiv: str
    title: str
    source_sha256: str
    later_versions: tuple[LaterVersion, ...]
    doi: str = ""

    @property
    def identity(self) -> str:
        """`openreview:…`, else `arxiv:…` without its version, else `doi:…` in small letters."""
        if self.openreview:
            return f"openreview:{self.openreview}"
        return f"arxiv:{self.arxiv.rpartition('v')[0]}" if self.arxiv else f"doi:{self.doi.lower()}"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a compound claim."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the paper. An empty quote means that `text` is a paraphrase."""

    quote: str
    text: str
    locator: str
    kind: str
    parts: tuple[Part, ...]

    @property
    def paraphrase(self) -> bool:
        """Whether the paper's own words are missing."""
        return not self.quote


@dataclass(frozen=True, slots=True)
class Dispute:
    """Somebody's assertion that parts of the claim do not hold, with its source and alleged numbers."""

    parts: tuple[str, ...]
    text: str
    source: Mapping[str, str]
    reported_by: str
    alleged: Mapping[str, str]
    comparison: str


@dataclass(frozen=True, slots=True)
class Premise:
    """What a ruling takes on trust, and who checked it."""

    text: str
    checked: Literal["by-us", "by-author", "no"]
    source: str


@dataclass(frozen=True, slots=True)
class Implementation:
    """A re-implementation and what its writer had seen."""

    target: str
    saw: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named setting of the targets with its registered default."""

    name: str
    type: Literal["integer", "rational", "choice"]
    default: Value
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prior:
    """An earlier public report about the same claim."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a control must give: an outcome or answer by name, or a named check against another target."""

    kind: Literal["named", "equals", "values"]
    value: str

    def __str__(self) -> str:
        return self.value if self.kind == "named" else f"{self.kind} {self.value}"


@dataclass(frozen=True, slots=True)
class Control:
    """A known-answer run of a probe, and why it is there.

    `target` is what runs: a function of a sweep, a problem file of exact work.
    """

    target: str
    expect: Expectation
    why: str = ""
