"""Random hardmax configurations of the six shapes of the case study, from one written seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

SHAPES = ((3, 2), (4, 2), (6, 2), (5, 3), (8, 3), (12, 4))
SEED = 20260808


def problem(
    tokens: Sequence[Sequence[Any]],
    *,
    B: list[Any] | None = None,
    step: str = "2/(t+2)",
    claim: str = "energy-bound",
    ties: str = "any-selection",
) -> dict[str, Any]:
    """A problem document; B is the identity unless given."""
    d = len(tokens[0])
    B = B or [["1" if i == j else "0" for j in range(d)] for i in range(d)]
    return {
        "schema": "verifier/problem/1",
        "system": "hardmax-frank-wolfe",
        "parameters": {"B": B, "step": step},
        "state": {"tokens": [[str(x) for x in token] for token in tokens]},
        "claim": claim,
        "ties": ties,
    }


def tokens(rng: random.Random, n: int, d: int) -> list[list[Fraction]]:
    """Integer tokens in [−9, 9] and a last one that puts the origin into their hull."""
    some = [[Fraction(rng.randint(-9, 9)) for _ in range(d)] for _ in range(n - 1)]
    return [*some, [-sum(column) / Fraction(n - 1) for column in zip(*some, strict=True)]]


def configurations(each: int, seed: int = SEED) -> list[list[list[Fraction]]]:
    """`each` configurations of every shape."""
    rng = random.Random(seed)  # noqa: S311  # reproducible, not secret
    return [tokens(rng, n, d) for n, d in SHAPES for _ in range(each)]


def semidefinite(rng: random.Random, d: int, rank: int) -> list[list[str]]:
    """An integer matrix AᵀA of the given rank at most; its largest eigenvalue is mostly irrational."""
    A = [[rng.randint(-3, 3) for _ in range(d)] for _ in range(rank)]
    return [[str(sum(a[i] * a[j] for a in A)) for j in range(d)] for i in range(d)]
