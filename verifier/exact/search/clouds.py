"""Hardmax starts: clouds of tokens with the origin in their hull by construction, each with its weights."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from verifier.exact.search.problem import Find
from verifier.exact.search.sampling import Draw, Start, pick, shuffled, signed

Column = Callable[[Draw], list[int]]
"""One coordinate of the free tokens, as integers."""

TRIES = 24
"""Attempts to close a coordinate within the bounds, then as many with entries of ±w, before it is left at 0."""

MOST_WEIGHT = 6
KINDS = ("integers", "few values", "one far", "clustered", "lattice", "near-symmetric", "on a line")


def balanced(draw: Draw, find: Find, shape: tuple[int, int]) -> Start:
    """Integer tokens in [−N, N] and a last one, −(their sum)/(n−1), so that the origin is in the hull.

    The weights are equal but for the last token's, which is n−1 times as large. One token alone is the origin.
    """
    n, d = shape
    free = [[signed(draw, find.numerator) for _ in range(d)] for _ in range(n - 1)]
    last = [-Fraction(sum(column), n - 1) for column in zip(*free, strict=True)] if free else [Fraction(0)] * d
    share = Fraction(1, 2 * (n - 1)) if free else Fraction(0)
    weights = (*[share] * (n - 1), Fraction(1, 2) if free else Fraction(1))
    return Start(_state([*free, last]), "balanced", weights)


def origin_symmetric(draw: Draw, find: Find, shape: tuple[int, int]) -> Start:
    """Tokens x and −x for half of the tokens, over one denominator, in any order; n is even."""
    n, d = shape
    q = 1 + draw(find.denominator)
    half = [[Fraction(signed(draw, find.numerator), q) for _ in range(d)] for _ in range(n // 2)]
    tokens = shuffled(draw, [*half, *([-x for x in token] for token in half)])
    return Start(_state(tokens), "origin-symmetric", (Fraction(1, n),) * n)


def structured(draw: Draw, find: Find, shape: tuple[int, int]) -> Start:
    """Integers over one denominator q with one of several structures, closed by a token that balances the weights.

    Weights w_i are small whole numbers (some may be 0, then that token is free); the closing token is
    −Σ w_i x_i / w. Every coordinate a/q keeps |a| ≤ N and q ≤ D. Then the tokens are permuted.
    """
    n, d = shape
    kind = pick(draw, KINDS)
    q = 1 + draw(min(find.denominator, 12)) if draw(2) else 1
    weights = [1 + draw(MOST_WEIGHT) if draw(4) else 0 for _ in range(n - 1)]
    closing = 1 + draw(MOST_WEIGHT)
    if kind == "on a line" and d > 1:
        direction = [signed(draw, min(3, find.numerator)) for _ in range(d)]
        if not any(direction):
            direction[0] = 1
        most = find.numerator // max(map(abs, direction))
        line = _closed(draw, _column("integers", draw, most, n - 1), most, weights, closing)
        rows = [[x * u for u in direction] for x in line]
    else:
        column = _column(kind, draw, find.numerator, n - 1)
        columns = [_closed(draw, column, find.numerator, weights, closing) for _ in range(d)]
        rows = [list(row) for row in zip(*columns, strict=True)]
    total = sum(weights) + closing
    pairs = shuffled(draw, list(zip(rows, [*weights, closing], strict=True)))
    tokens = [[Fraction(x, q) for x in row] for row, _ in pairs]
    return Start(_state(tokens), kind, tuple(Fraction(w, total) for _, w in pairs))


def _closed(draw: Draw, column: Column, most: int, weights: list[int], closing: int) -> list[int]:
    """A column and its closing entry: integers of modulus at most `most` whose weighted sum is 0."""
    for _ in range(TRIES):
        free = column(draw)
        total = sum(w * x for w, x in zip(weights, free, strict=True))
        if any(free) and total % closing == 0 and abs(total // closing) <= most:
            return [*free, -total // closing]
    for _ in range(TRIES if closing <= most else 0):
        small = [signed(draw, 1) for _ in weights]
        total = sum(w * x for w, x in zip(weights, small, strict=True))
        if total and abs(total) <= most:
            return [*(closing * x for x in small), -total]
    return [0] * (len(weights) + 1)


def _column(kind: str, draw: Draw, most: int, count: int) -> Column:
    """How one coordinate of `count` free tokens is drawn; what all coordinates share is drawn here, once."""
    match kind:
        case "few values":
            values = [signed(draw, most) for _ in range(2 + draw(2))]
            return lambda again: [pick(again, values) for _ in range(count)]
        case "one far":
            near, far = max(1, most // 10), draw(max(1, count))
            return lambda again: [signed(again, most if i == far else near) for i in range(count)]
        case "clustered":
            near = max(1, most // 10)
            wide = (most - near) // max(1, count)
            return lambda again: _around(again, signed(again, wide), near, count)
        case "lattice":
            spacing = 1 + draw(max(1, most // 2))
            return lambda again: [spacing * signed(again, most // spacing) for _ in range(count)]
        case "near-symmetric":
            return lambda again: _opposites(again, most, count)
        case _:
            return lambda again: [signed(again, most) for _ in range(count)]


def _around(draw: Draw, centre: int, near: int, count: int) -> list[int]:
    return [centre + signed(draw, near) for _ in range(count)]


def _opposites(draw: Draw, most: int, count: int) -> list[int]:
    """x, −x, y, −y, … with every second one moved by at most 1."""
    found: list[int] = []
    for i in range(count):
        moved = -found[-1] + signed(draw, 1) if i % 2 else signed(draw, most)
        found.append(max(-most, min(most, moved)))
    return found


def _state(tokens: list[Any]) -> dict[str, Any]:
    return {"tokens": [[str(x) for x in token] for token in tokens]}
