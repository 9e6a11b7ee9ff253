"""The fields that rule tables are made of: exact numbers, names, counts, looks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field

from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational
from verifier.model.tables import complaint, form

STRICT = ConfigDict(strict=True, extra="forbid", frozen=True, arbitrary_types_allowed=True)
"""How every rule table is read."""

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
Exact: TypeAlias = Annotated[Fraction, BeforeValidator(exact_number)]
Look: TypeAlias = Annotated[int, Field(ge=2, le=10**9)]
Looks: TypeAlias = Annotated[list[Look], Field(min_length=1, max_length=MOST_LOOKS)]


def check_looks(looks: Sequence[int]) -> None:
    """Raises ValueError unless the looks increase."""
    if any(a >= b for a, b in itertools.pairwise(looks)):
        raise complaint("looks do not increase", mend="list each replicate count once, smallest first", key="looks")


def check_threshold(threshold: Fraction) -> None:
    """Raises ValueError for a threshold that is no ground for a ruling."""
    if threshold < 100:
        raise complaint(
            "threshold is below 100, and one in a hundred is no ground for a ruling",
            mend="1e4 is usual",
            key="threshold",
        )


def check_gamma0(gamma0: Fraction) -> None:
    """Raises ValueError for a residual class that lets slow saturation out."""
    if gamma0 > 2:
        raise complaint(
            "gamma0 exceeds 2, which lets slower saturation pass for growth", mend="0.5 is usual", key="gamma0"
        )
