"""Brute force for the hardmax system in plain Fractions, written from docs/certificates.md, sections 3 and 4."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

Vector = list[Fraction]
Matrix = list[Vector]

STEPS = {
    "2/(t+2)": lambda t: Fraction(2, t + 2),
    "2/(t+1)": lambda t: Fraction(2, t + 1),
    "1/(t+2)": lambda t: Fraction(1, t + 2),
}


def times(B: Matrix, x: Vector) -> Vector:
    return [sum((b * y for b, y in zip(row, x, strict=True)), Fraction(0)) for row in B]


def dot(x: Vector, y: Vector) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def determinant(S: Matrix) -> Fraction:
    """By cofactors: nothing shared with elimination."""
    if not S:
        return Fraction(1)
    return sum((-1) ** j * S[0][j] * determinant([r[:j] + r[j + 1 :] for r in S[1:]]) for j in range(len(S)) if S[0][j])


def exceeds_largest_eigenvalue(rho: Fraction, B: Matrix) -> bool:
    """ρ > λ_max(B), by the leading principal minors of ρI − B."""
    n = len(B)
    S = [[(rho if i == j else 0) - B[i][j] for j in range(n)] for i in range(n)]
    return all(determinant([row[:k] for row in S[:k]]) > 0 for k in range(1, n + 1))


class Brute:
    """One problem document, stepped without any shortcut."""

    def __init__(self, document: dict[str, Any]) -> None:
        parameters = document["parameters"]
        raw = parameters["B"]
        matrices = raw if isinstance(raw[0][0], list) else [raw]
        self.matrices = [[[Fraction(x) for x in row] for row in matrix] for matrix in matrices]
        self.step = parameters["step"]
        self.t0 = 1 if self.step == "2/(t+1)" else 0
        self.ties = document["ties"]
        self.start = [[Fraction(x) for x in token] for token in document["state"]["tokens"]]
        gaps = [[a - b for a, b in zip(x, y, strict=True)] for x in self.start for y in self.start]
        self.D2 = max(dot(gap, gap) for gap in gaps)

    def matrix(self, t: int) -> Matrix:
        return self.matrices[min(t - self.t0, len(self.matrices) - 1)]

    def gamma(self, t: int) -> Fraction:
        return STEPS[self.step](t) if self.step in STEPS else Fraction(self.step)

    def choices(self, t: int, x: Matrix) -> list[list[int]]:
        """For each token the classes (by lowest index) with the least score."""
        images = [times(self.matrix(t), y) for y in x]
        names = [images.index(image) for image in images]
        found = []
        for image in images:
            scores = [dot(image, y) for y in x]
            found.append(sorted({names[k] for k, score in enumerate(scores) if score == min(scores)}))
        return found

    def admitted(self, t: int, x: Matrix) -> list[tuple[int, ...]]:
        choices = self.choices(t, x)
        if self.ties == "lowest-index":
            return [tuple(c[0] for c in choices)]
        if self.ties == "highest-index":
            return [tuple(c[-1] for c in choices)]
        return list(product(*choices))

    def move(self, t: int, x: Matrix, targets: tuple[int, ...]) -> Matrix:
        g = self.gamma(t)
        return [[(1 - g) * a + g * b for a, b in zip(y, x[k], strict=True)] for y, k in zip(x, targets, strict=True)]

    def failing(self, t: int, x: Matrix) -> set[int]:
        """The components that fail at t, given the tokens *after* the step."""
        if self.D2 == 0:
            return set()
        B = self.matrix(t)
        energies = [dot(times(B, y), y) / 2 for y in x]
        return {
            i
            for i, e in enumerate(energies)
            if exceeds_largest_eigenvalue((t + 1) * e / (2 * self.D2), self.matrices[0])
        }

    def orbit(self, last: int) -> tuple[list[tuple[int, set[int]]], bool]:
        """[(t, failing components)] up to `last` along the first admitted selection, and whether a tie occurred."""
        x, found, tied = self.start, [], False
        for t in range(self.t0, last + 1):
            admitted = self.admitted(t, x)
            tied = tied or len(admitted) > 1 or any(len(c) > 1 for c in self.choices(t, x))
            x = self.move(t, x, admitted[0])
            found.append((t, self.failing(t, x)))
        return found, tied
