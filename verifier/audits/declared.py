"""A factor that a case declares: the only kind an audit may use."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from verifier.audits.interval import Interval, exactly
from verifier.audits.printed import printed
from verifier.model.complaints import shown
from verifier.model.errors import BadInput

FactorSide = Literal["left", "right"]

MOST_FACTORS = 1_000


@dataclass(frozen=True, slots=True)
class Declared:
    """How many of one thing there are in another, `"trajectory per batch"`, or any other factor with a name.

    `value`: as printed, above zero; counts are exact, so its digits carry no rounding. `side`: the number it belongs
    to (dividing that number by it puts it on the other's basis), None where the case does not say. `source`: where it
    is printed; "" = nowhere.
    """

    name: str
    value: str
    side: FactorSide | None = None
    source: str = ""

    def __post_init__(self) -> None:
        if self.exact <= 0:
            raise BadInput(
                f"the declared factor {shown(self.name)} is {self.value}, which is not above zero",
                mend="write how many there are",
            )

    @property
    def exact(self) -> Fraction:
        """Its value. Raises BadInput for a text that is no number."""
        return _exact(self.value)

    @property
    def interval(self) -> Interval:
        """Its value alone."""
        return exactly(self.exact)


def declarations(factors: Iterable[Declared | float | str | Fraction]) -> tuple[Declared, ...]:
    """The factors as `Declared`; a bare number is a factor without side and source, named by its value.

    Raises BadInput for more than 1,000 of them, and for a value that is no number above zero.
    """
    found = tuple(
        each if isinstance(each, Declared) else Declared(name=str(each), value=_text(each)) for each in factors
    )
    if len(found) > MOST_FACTORS:
        raise BadInput(f"{len(found)} factors are declared", mend=f"declare at most {MOST_FACTORS}")
    return found


@functools.lru_cache(maxsize=4096)
def _exact(value: str) -> Fraction:
    return printed(value).value


def _text(value: float | str | Fraction) -> str:
    """A number's exact text: a float's shortest one that reads back as it."""
    return repr(value) if isinstance(value, float) else str(value)
