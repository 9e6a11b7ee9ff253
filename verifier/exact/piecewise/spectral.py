"""A linear iteration's growth in integers: the minimal polynomial of the start, then root squaring."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, gcd, lcm

from verifier.exact.linear import apply, solve, transposed
from verifier.exact.reading import Matrix, Vector

MOST_SQUARINGS = 20
MOST_BITS = 13_300


@dataclass(frozen=True, slots=True)
class Growth:
    """After `squarings` root squarings of `polynomial`, |c_{n−j}| > C(n, j)|c_n| (or ≥, by `relation`)."""

    polynomial: tuple[int, ...]
    squarings: int
    j: int
    relation: str


def minimal_polynomial(M: Matrix, y: Vector) -> tuple[int, ...]:
    """The least-degree m with m(M)y = 0, y ≠ 0: primitive integers, constant first, leading one positive."""
    powers = [y]
    while True:
        following = apply(M, powers[-1])
        found = solve(transposed(tuple(powers)), following)  # M^n y = Σ a_i M^i y
        if found is not None:
            rational = [*(-a for a in found), Fraction(1)]
            bottom = lcm(*(x.denominator for x in rational))
            whole = [int(x * bottom) for x in rational]
            content = gcd(*whole)
            return tuple(x // content for x in whole)
        powers.append(following)


def fits(polynomial: tuple[int, ...]) -> bool:
    """Whether a certificate holds the polynomial, and the checker may test its roots' relations."""
    return max(abs(x).bit_length() for x in polynomial) <= MOST_BITS


def squared(c: tuple[int, ...]) -> tuple[int, ...]:
    """The polynomial whose roots are the squares (Dandelin, Graeffe): c'(x²) = c(x)c(−x)."""
    n = len(c) - 1
    return tuple(
        sum((-1) ** k * c[k] * c[2 * i - k] for k in range(max(0, 2 * i - n), min(n, 2 * i) + 1)) for i in range(n + 1)
    )


def growth(polynomial: tuple[int, ...], *, strict: bool) -> Growth | None:
    """The fewest squarings that prove a modulus > 1 (`strict`) or ≥ 1; None where the bounds of the format end first.

    If every |root| ≤ 1, the j-th elementary symmetric function of the roots' powers is at most C(n, j) in modulus.
    """
    n = len(polynomial) - 1
    c = polynomial
    for squarings in range(MOST_SQUARINGS + 1):
        for j in range(1, n + 1):
            left, right = abs(c[n - j]), comb(n, j) * abs(c[n])
            if left > right or (left == right and not strict):
                return Growth(polynomial, squarings, j, ">" if strict else ">=")
        if 2 * max(abs(x).bit_length() for x in c) + 8 > MOST_BITS:
            return None
        c = squared(c)
    return None
