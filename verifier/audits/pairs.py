"""The smallest pair of whole numbers that shows something."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from verifier.audits.interval import Interval

LARGEST_SUM = 200
LARGEST_TURN = 10_000


def smallest_pair(shows: Callable[[int, int], bool], *, largest_sum: int = LARGEST_SUM) -> tuple[int, int] | None:
    """The first (a, b), a, b ≥ 1, by a + b and then by a, for which `shows(a, b)`; None up to `largest_sum`."""
    for total in range(2, largest_sum + 1):
        for a in range(1, total):
            if shows(a, total - a):
                return a, total - a
    return None


def turns(a: int, b: int, factor: Interval) -> bool:
    """Whether a > b but a·f < b for every f of `factor`, or a < b but a·f > b: the factor turns the comparison."""
    return (a > b and a * factor.high < b) or (a < b and a * factor.low > b)


@functools.lru_cache(maxsize=4096)
def smallest_turn(factor: Interval) -> tuple[int, int] | None:
    """The pair of smallest sum that `factor` turns; None for a factor so near 1 that no pair is easy to check.

    Neighbours are enough: if (b + d, b) is turned by a factor below 1, so is (n + 1, n) with n = ⌈b/d⌉, whose sum is
    no larger, as (n + 1)/n ≤ (b + d)/b; likewise above 1.
    """
    for small in range(1, LARGEST_TURN):
        for a, b in ((small, small + 1), (small + 1, small)):
            if turns(a, b, factor):
                return a, b
    return None


def turn_witness(factor: Interval) -> Mapping[str, Any] | None:
    """The smallest turn as JSON values: the pair, its ratio as printed and on one basis (exact text or a float)."""
    found = smallest_turn(factor)
    if found is None:
        return None
    ratio = Fraction(*found)
    exact = factor.low == factor.high
    return {
        "left": found[0],
        "right": found[1],
        "as_printed": str(ratio),
        "on_one_basis": str(ratio * factor.low) if exact else float(ratio * factor.low),
    }
