"""What is known of a printed number: its basis record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from verifier.audits.declared import Declared
from verifier.audits.printed import Printed, printed

Better = Literal["higher", "lower"]
Kind = Literal["factor", "difference", "percent", "points"]
Measures = Literal["throughput", "latency"]

EMPTY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Per:
    """What a number is counted per: a `thing`, and how many of other things one such thing holds, as text."""

    thing: str
    holds: Mapping[str, str] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class ItemSet:
    """The items scored. `id`: their name; `n`: how many; `sha256`: of their list."""

    id: str = ""
    n: int | None = None
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula by its id in a catalogue, `"KL"`, and its arguments in order, `("student", "teacher")`."""

    id: str
    arguments: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.id}({', '.join(self.arguments)})" if self.arguments else self.id


@dataclass(frozen=True, slots=True)
class Selection:
    """How the number was picked: as the `rule` says (`"best"`, `"last"`, ...), from this many `trials`."""

    rule: str = ""
    trials: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A printed number and its basis; whatever nobody states is None or empty.

    `value`: as printed. `unit`: see `verifier.audits.units`; `"perplexity"` is read as the exponential of nats.
    `aggregation`: the means from the inside out, `("token", "sequence")` = mean over tokens, then over sequences.
    `name`: the word that the source uses for the formula. `state`: what it was measured in by name
    (`{"mode": "eval", "dtype": "float32"}`). `source`: where all this is printed.
    """

    label: str
    value: str
    unit: str = ""
    per: Per | None = None
    items: ItemSet | None = None
    mask: str | None = None
    aggregation: tuple[str, ...] | None = None
    better: Better | None = None
    state: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    selection: Selection | None = None
    formula: Formula | None = None
    name: str = ""
    source: str = ""

    @property
    def printed(self) -> Printed:
        """Its value, exactly, with its rounding. Raises BadInput for a text that is no number."""
        return printed(self.value)

    @property
    def basis(self) -> str:
        """What the number is, in a person's words: `"s per batch"`."""
        if self.per:
            return f"{self.unit or '1'} per {self.per.thing}"
        return self.unit or "plain numbers"

    @property
    def held(self) -> tuple[Declared, ...]:
        """The factors that the record itself declares: how many of other things one thing holds."""
        if self.per is None:
            return ()
        return tuple(
            Declared(name=f"{other} per {self.per.thing}", value=str(count), source=self.source)
            for other, count in self.per.holds.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How the two numbers are compared.

    `claimed`: the comparison as printed, None where only the two numbers are: left ÷ right for a factor, left − right
    for a difference and for points, 100 (left ÷ right − 1) for a percentage. `better`: which numbers are better.
    `measures`: whether a time is the inverse of a throughput, which can be divided among what runs together, or a
    latency, which cannot.
    """

    kind: Kind = "factor"
    better: Better | None = None
    claimed: str | None = None
    measures: Measures | None = None
