"""What a printed comparison of two numbers can mean: a factor, a percentage, points, and which way round."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from verifier.audits.interval import Interval, exactly
from verifier.audits.pairs import smallest_pair
from verifier.audits.printed import Printed
from verifier.audits.records import Kind
from verifier.model.errors import BadInput

NEUTRAL: dict[Kind, int] = {"factor": 1, "difference": 0, "percent": 0, "points": 0}
"""Kind -> the comparison of two equal numbers."""

OTHER_READINGS: dict[str, tuple[Kind, bool]] = {
    "left ÷ right": ("factor", False),
    "right ÷ left": ("factor", True),
    "100 (left ÷ right − 1)": ("percent", False),
    "100 (right ÷ left − 1)": ("percent", True),
    "left − right": ("difference", False),
    "right − left": ("difference", True),
    "100 (left − right)": ("points", False),
    "100 (right − left)": ("points", True),
}
"""A reading in words -> its kind, and whether left and right are swapped. Points are of shares."""
SHARE = Interval(Fraction(-1), Fraction(1))


def read(kind: Kind, left: Interval, right: Interval) -> Interval:
    """The comparison `kind` of two numbers in one unit, over all their roundings.

    Raises BadInput for a factor or percentage whose divisor is not above zero.
    """
    if kind in ("difference", "points"):
        return left - right
    if not right.above(0):
        raise BadInput(
            f"a {kind} of a number that is not above zero means nothing",
            mend='compare the numbers as a "difference"',
        )
    ratio = left / right
    return ratio if kind == "factor" else (ratio - exactly(1)) * exactly(100)


def readings(left: Interval, right: Interval) -> dict[str, Interval]:
    """Every reading in words, as far as the numbers allow it."""
    found = {}
    for words, (kind, swapped) in OTHER_READINGS.items():
        top, bottom = (right, left) if swapped else (left, right)
        if kind == "points":
            if are_shares(left, right):
                found[words] = read(kind, top, bottom) * exactly(100)
        elif kind == "difference" or bottom.above(0):
            found[words] = read(kind, top, bottom)
    return found


def fitting(claimed: Printed, left: Interval, right: Interval) -> tuple[str, ...]:
    """The readings in words whose interval meets the claimed number's."""
    return tuple(words for words, value in readings(left, right).items() if value.meets(claimed.interval))


def are_shares(left: Interval, right: Interval) -> bool:
    """Whether both numbers may be shares of 1."""
    return all(end in SHARE for each in (left, right) for end in (each.low, each.high))


def words_of(kind: Kind, *, shares: bool = False) -> str:
    """The reading in words that `kind` declares; of `shares` of 1, points are hundredths."""
    if kind == "points" and shares:
        return "100 (left − right)"
    return {
        "factor": "left ÷ right",
        "percent": "100 (left ÷ right − 1)",
        "difference": "left − right",
        "points": "left − right",
    }[kind]


def side(value: Interval, neutral: int) -> int | None:
    """1 where every value is above the neutral one, -1 below, None where it is among them."""
    if value.above(neutral):
        return 1
    return -1 if value.below(neutral) else None


def readings_witness(declared: str, other: str) -> Mapping[str, Any] | None:
    """The smallest pair of whole numbers for which two readings in words differ, with both, exactly, as JSON values."""
    points = any(OTHER_READINGS[words][0] == "points" for words in (declared, other))

    def of(a: int, b: int) -> dict[str, Interval]:
        return readings(*(exactly(Fraction(each, 10) if points else each) for each in (a, b)))

    def differ(a: int, b: int) -> bool:
        found = of(a, b)
        return found[declared] != found[other]

    found = smallest_pair(differ, largest_sum=20) if points else smallest_pair(differ)
    if found is None:
        return None
    both = of(*found)
    left, right = (str(Fraction(each, 10)) if points else each for each in found)
    return {"left": left, "right": right, declared: str(both[declared].low), other: str(both[other].low)}
