"""Where the roots of an integer polynomial lie: inside the unit circle, on it and simple, or neither. Exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

from flint import fmpq_mat, fmpz_poly

from verifier.exact.reading import Matrix

Polynomial = tuple[int, ...]
"""Coefficients, the constant first, the leading one not 0."""


def primitive(coefficients: Sequence[Fraction]) -> Polynomial:
    """The same polynomial in coprime integers, the leading one positive."""
    bottom = lcm(*(x.denominator for x in coefficients))
    whole = [int(x * bottom) for x in coefficients]
    content = gcd(*whole) * (1 if whole[-1] > 0 else -1)
    return tuple(x // content for x in whole)


def characteristic(M: Matrix) -> Polynomial:
    """A multiple of det(xI − M) in coprime integers."""
    size = len(M)
    bottom = lcm(*(x.denominator for row in M for x in row))  # det(x/b I − M) b^n = det(xI − bM)
    whole = fmpq_mat(size, size, [int(x * bottom) for row in M for x in row]).charpoly()
    found = [Fraction(int(c.p), int(c.q)) * bottom**k for k, c in enumerate(whole.coeffs())]
    return primitive(found)


def inside(c: Polynomial) -> bool:
    """Whether every root has modulus < 1 (Schur 1918, Cohn 1922): p ↦ (c_n p − c_0 p*)/x while |c_0| < |c_n|."""
    while len(c) > 1:
        n = len(c) - 1
        if abs(c[0]) >= abs(c[n]):
            return False
        reduced = [c[n] * c[i] - c[0] * c[n - i] for i in range(1, n + 1)]
        content = gcd(*reduced)
        c = tuple(x // content for x in reduced)
    return True


def without_one(c: Polynomial) -> Polynomial | None:
    """The polynomial divided by x − 1, or None where 1 is no root."""
    if sum(c):
        return None
    quotient, carry = [], 0
    for x in reversed(c[1:]):
        carry += x
        quotient.append(carry)
    return tuple(reversed(quotient))


def at_most_one(c: Polynomial) -> bool:
    """Whether every root has modulus ≤ 1 and those of modulus 1 are simple.

    The roots on the circle are common to c and its reciprocal; their product g is self-inversive up to sign, and a
    squarefree self-inversive g has all its roots on the circle iff those of g' are inside (Cohn 1922).
    """
    shift = next(i for i, x in enumerate(c) if x)  # roots at 0
    c = c[shift:]
    whole = fmpz_poly(list(c))
    shared = whole.gcd(fmpz_poly(list(reversed(c))))
    rest = whole // shared  # exact, by Gauss's lemma
    if not inside(_integers(rest)):
        return False
    circle = _integers(shared)
    if len(circle) < 2:
        return True
    slope = shared.derivative()
    return shared.gcd(slope).degree() == 0 and inside(_integers(slope))


def _integers(p: fmpz_poly) -> Polynomial:
    return tuple(int(x) for x in p.coeffs())
