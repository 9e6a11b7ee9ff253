"""The chance that declared factors would have explained a ratio that has nothing to do with them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from itertools import combinations_with_replacement

LOWEST, HIGHEST = 1e-4, 1e4
"""The range over which a random ratio is log-uniform."""
MOST_PRODUCTS = 200_000


def coincidence_rate(factors: Iterable[float], *, half_width: float, depth: int = 1) -> float:
    """The share of log-uniform ratios on [1e-4, 1e4] that lie within `half_width` (a logarithm) of some factor.

    factors: above zero, each taken as it is and inverted; `depth` products of them with repetition, without those
    that give 1 by cancelling (depth 1 is the rule; 2 and 3 are there to show what a deeper search would find).
    The share is the length of the union of [ln m − w, ln m + w] within the range, over the range's length.

    Raises ValueError for a depth that would need more than 200,000 products.
    """
    logs = frozenset(round(math.log(factor), 15) for factor in factors)
    return _rate(logs, half_width, depth)


@functools.lru_cache(maxsize=4096)
def _rate(logs: frozenset[float], half_width: float, depth: int) -> float:
    low, high = math.log(LOWEST), math.log(HIGHEST)
    length, end = 0.0, low
    for centre in sorted(_products(logs, depth)):
        start, stop = max(centre - half_width, end), min(centre + half_width, high)
        if stop > start:
            length += stop - start
            end = stop
    return length / (high - low)


def _products(logs: frozenset[float], depth: int) -> set[float]:
    both = sorted({sign * log for log in logs for sign in (1, -1)})
    if math.comb(len(both) + depth, depth) > MOST_PRODUCTS:
        raise ValueError(f"{len(both)} factors at depth {depth} are more than {MOST_PRODUCTS} products")
    found: set[float] = set()
    for size in range(1, depth + 1):
        for chosen in combinations_with_replacement(both, size):
            if not (size > 1 and _cancels(chosen)):
                found.add(math.fsum(chosen))
    return found


def _cancels(chosen: tuple[float, ...]) -> bool:
    """Whether a factor stands beside its own inverse: then the product is one of fewer factors, or 1."""
    return any(-log in chosen for log in chosen)
