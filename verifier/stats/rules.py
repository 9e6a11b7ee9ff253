"""The `rule = {…}` table of a case file: strict models by kind, and the rule each becomes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational
from verifier.model.tables import complaint, form
from verifier.stats.growth_rule import GrowthRule
from verifier.stats.law_names import LARGEST_EXPONENT, power_law

MOST_LOOKS = 10_000


def exact_number(value: object) -> Fraction:
    """The number a string holds: a decimal ("0.19"), a rational ("1/3") or scientific notation ("1e4").

    Raises ValueError, which becomes the key's error: for anything but a string (a TOML float was rounded
    before it could be read), and for what `parse_rational` refuses.
    """
    if isinstance(value, Fraction):
        return value
    if not isinstance(value, str):
        raise complaint(
            f"{shown(value)} is not in quotes", mend='a number is written as a string, exactly, like "0.19"'
        )
    try:
        return parse_rational(value)
    except BadInput as error:
        raise complaint(error.what, mend=error.mend) from None


def positive(value: object) -> Fraction:
    """An exact number above zero. Raises ValueError otherwise."""
    number = exact_number(value)
    if number <= 0:
        raise complaint(f"{shown(value)} is not above zero", mend="write a number above zero")
    return number


def not_negative(value: object) -> Fraction:
    """An exact number of at least zero. Raises ValueError otherwise."""
    number = exact_number(value)
    if number < 0:
        raise complaint(f"{shown(value)} may not be negative", mend="write zero or more")
    return number


Positive: TypeAlias = Annotated[Fraction, BeforeValidator(positive)]
NotNegative: TypeAlias = Annotated[Fraction, BeforeValidator(not_negative)]
Name: TypeAlias = Annotated[
    str, form(r"[a-z][a-z0-9_]{0,39}", what="a keyword", mend="name it as the target's keyword argument is named")
]
ScaleText: TypeAlias = Annotated[
    str, form(r"[1-9][0-9]{0,15}", what="a scale", mend='write a scale in quotes, like "128"')
]
Count: TypeAlias = Annotated[int, Field(ge=1, le=10**9)]


class GrowthTable(BaseModel):
    """`rule = { kind = "growth", … }` as written. Unknown keys, missing fields and bad values are ValidationErrors."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, arbitrary_types_allowed=True)

    kind: Literal["growth"]
    law: Literal["log", "loglog", "sqrt", "linear", "power"] = "log"
    exponent: Positive | None = None
    delta: Positive
    log_delta: Positive | None = None
    alternative: Positive
    threshold: Positive = Fraction(10_000)
    noise: Literal["block", "pooled"] = "block"
    replicate: Annotated[dict[Name, Count], Field(max_length=4)] = Field(default_factory=dict)
    looks: Annotated[list[Annotated[int, Field(ge=2, le=10**9)]], Field(min_length=1, max_length=MOST_LOOKS)]
    gamma0: Positive = Fraction(1, 2)
    floor: NotNegative = Fraction(0)
    extrapolate: bool = True
    variance: dict[ScaleText, Positive] = Field(default_factory=dict)
    minimum_n: Annotated[int, Field(ge=6, le=10**12)] = 6

    @model_validator(mode="after")
    def _consistent(self) -> GrowthTable:
        if any(a >= b for a, b in itertools.pairwise(self.looks)):
            raise complaint("looks do not increase", mend="list each replicate count once, smallest first", key="looks")
        if self.delta > self.alternative:
            raise complaint(
                "delta, the smallest slope of interest, exceeds alternative, the alleged slope",
                mend="half of it is usual",
                key="delta",
            )
        if self.threshold < 100:
            raise complaint(
                "threshold is below 100, and one in a hundred is no ground for a ruling",
                mend="1e4 is usual",
                key="threshold",
            )
        if self.gamma0 > 2:
            raise complaint(
                "gamma0 exceeds 2, which lets slower saturation pass for growth", mend="0.5 is usual", key="gamma0"
            )
        self._check_law()
        if self.variance and self.noise != "pooled":
            raise complaint('variance belongs to noise = "pooled"', mend="a block needs none", key="variance")
        rule = self.to_rule()
        if not rule.may_decide(rule.maximum):
            raise complaint(
                f"the last look holds {rule.maximum * rule.replicate_size} repetitions, fewer than "
                f"minimum_n = {self.minimum_n}, so the rule could never decide",
                mend="look later, or make a replicate larger",
                key="looks",
            )
        return self

    def _check_law(self) -> None:
        if (self.law == "power") != (self.exponent is not None):
            raise complaint(
                'exponent belongs to law = "power", and stands with it always',
                mend='write law = "power", exponent = "3/4"',
                key="exponent",
            )
        if self.exponent is not None and self.exponent > LARGEST_EXPONENT:
            raise complaint(
                f"exponent exceeds {LARGEST_EXPONENT}", mend='"1/2" is the square root, "1" is linear', key="exponent"
            )
        if self.log_delta is not None and self.law in ("log", "loglog"):
            raise complaint(
                "log_delta stands beside a power law, to say whether growth like the logarithm is excluded too",
                mend="leave it out",
                key="log_delta",
            )

    def to_rule(self) -> GrowthRule:
        """The registered rule."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        del fields["kind"]
        exponent = fields.pop("exponent")
        if exponent is not None:
            fields["law"] = power_law(exponent)
        fields["looks"] = tuple(self.looks)
        fields["variance"] = {int(k): sd for k, sd in self.variance.items()}
        return GrowthRule(**fields)


RULES: Mapping[str, type[GrowthTable]] = MappingProxyType({"growth": GrowthTable})
"""Rule kind → the model of its table."""
