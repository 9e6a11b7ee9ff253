"""Brute force for the hardmax system that reaches far: every step taken, in integers over one reduced denominator.

Written from docs/certificates.md, sections 3 and 4; nothing of the finder is imported and nothing is skipped: no
freeze, no closed form. Each step recomputes all scores, the classes, the selections and the exact test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gmpy2 import gcd, lcm, mpz

from tests.oracles.hardmax import exceeds_largest_eigenvalue

BISECTIONS = 30


@dataclass(frozen=True, slots=True)
class Seen:
    """One step: its time, the failing components, whether a tie occurred, and the largest J as a ratio."""

    t: int
    failing: tuple[int, ...]
    tied: bool
    largest: tuple[Any, Any]


class Bound:
    """Which ρ = (t+1)J/(2D²) exceed λ_max(B); what was proved is kept, so that most questions need no determinant."""

    def __init__(self, B: list[list[Fraction]], square: Fraction) -> None:
        self.B, self.square = B, square
        self.below, self.above = Fraction(-1), sum((abs(x) for row in B for x in row), Fraction(1))
        for _ in range(BISECTIONS):
            self.settle((self.below + self.above) / 2)

    def settle(self, rho: Fraction) -> None:
        if exceeds_largest_eigenvalue(rho, self.B):
            self.above = rho
        else:
            self.below = rho
        low, high = self.below * 2 * self.square, self.above * 2 * self.square
        self.low = mpz(low.numerator), mpz(low.denominator)
        self.high = mpz(high.numerator), mpz(high.denominator)

    def fails(self, left: Any, right: Any) -> bool:
        """Whether (t+1)·J = left/right exceeds 2·λ_max·D², exactly; never where D² = 0."""
        if left * self.high[1] >= self.high[0] * right:
            return bool(self.square)
        if left * self.low[1] <= self.low[0] * right:
            return False
        self.settle(Fraction(int(left), int(right)) / (2 * self.square))
        return self.fails(left, right)


def whole(rows: list[list[Fraction]]) -> tuple[list[list[Any]], Any]:
    """Rational rows as integers over one denominator."""
    over = mpz(1)
    for row in rows:
        for x in row:
            over = lcm(over, x.denominator)
    return [[mpz(x.numerator) * (over // x.denominator) for x in row] for row in rows], over


def dots(left: list[list[Any]], right: list[list[Any]]) -> list[list[Any]]:
    """All products of rows, unrolled for small dimensions, where most time goes."""
    match len(right[0]):
        case 1:
            column = [x for (x,) in right]
            return [[a * x for x in column] for (a,) in left]
        case 2:
            return [[a * x + b * y for x, y in right] for a, b in left]
        case 3:
            return [[a * x + b * y + c * z for x, y, z in right] for a, b, c in left]
        case 4:
            return [[a * x + b * y + c * z + d * w for x, y, z, w in right] for a, b, c, d in left]
        case _:
            return [[sum(a * x for a, x in zip(y, row, strict=True)) for row in right] for y in left]


def selections(scores: list[list[Any]], images: list[list[Any]], ties: str) -> tuple[list[int], bool]:
    """The class that each token takes under the rule, and whether any token had more than one."""
    names = None
    picked, tied = [], False
    for row in scores:
        least = min(row)
        if row.count(least) == 1:
            picked.append(row.index(least))
            continue
        names = names or [images.index(image) for image in images]
        found = sorted({names[k] for k, score in enumerate(row) if score == least})
        tied = tied or len(found) > 1
        picked.append(found[-1] if ties == "highest-index" else found[0])
    return picked, tied


def gamma(step: str, t: int) -> tuple[int, int]:
    """γ^t as numerator and denominator."""
    named = {"2/(t+2)": (2, t + 2), "2/(t+1)": (2, t + 1), "1/(t+2)": (1, t + 2)}
    return named.get(step) or Fraction(step).as_integer_ratio()


def moved(x: list[list[Any]], over: Any, picked: list[int], step: tuple[int, int]) -> tuple[list[list[Any]], Any]:
    """All tokens moved at once, reduced by their content."""
    a, b = step
    keep = b - a
    x = [[keep * p + a * q for p, q in zip(row, x[k], strict=True)] for row, k in zip(x, picked, strict=True)]
    over *= b
    content = over
    for row in x:
        content = gcd(content, *row)
        if content == 1:
            return x, over
    return [[p // content for p in row] for row in x], over // content


def walk(document: dict[str, Any], last: int) -> Iterator[Seen]:
    """Every step from t0 to `last` under an index rule; under any-selection the lowest index, with its ties told."""
    raw, step, ties = document["parameters"]["B"], document["parameters"]["step"], document["ties"]
    matrices = [[[Fraction(x) for x in row] for row in B] for B in (raw if isinstance(raw[0][0], list) else [raw])]
    given = [whole(B) for B in matrices]
    tokens = [[Fraction(x) for x in token] for token in document["state"]["tokens"]]
    x, over = whole(tokens)
    bound = Bound(
        matrices[0], max(sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) for a in tokens for b in tokens)
    )
    t0 = 1 if step == "2/(t+1)" else 0
    B, B_over = given[0]
    plain = all(entry == (i == j) for i, row in enumerate(B) for j, entry in enumerate(row))
    images = x if plain else dots(x, B)
    scores = dots(images, x)
    for t in range(t0, last + 1):
        picked, tied = selections(scores, images, ties)
        x, over = moved(x, over, picked, gamma(step, t))
        images = x if plain else dots(x, B)
        scores = dots(images, x)
        energies = [row[i] for i, row in enumerate(scores)]
        square = 2 * B_over * over * over  # J = energy / square
        failing: tuple[int, ...] = ()
        if bound.fails((t + 1) * max(energies), square):
            failing = tuple(i for i, e in enumerate(energies) if bound.fails((t + 1) * e, square))
        yield Seen(t, failing, tied, (max(energies), square))
        if t + 1 - t0 < len(given):
            B, B_over = given[t + 1 - t0]
            plain = False
            images = dots(x, B)
            scores = dots(images, x)
