"""Random hardmax configurations of the six shapes of the case study, from one written seed."""

from __future__ import annotations

import random
from fractions import Fraction

SHAPES = ((3, 2), (4, 2), (6, 2), (5, 3), (8, 3), (12, 4))
SEED = 20260808


def problem(tokens, *, B=None, step="2/(t+2)", claim="energy-bound", ties="any-selection"):
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


def tokens(rng, n, d):
    """Integer tokens in [−9, 9] and a last one that puts the origin into their hull."""
    some = [[Fraction(rng.randint(-9, 9)) for _ in range(d)] for _ in range(n - 1)]
    return [*some, [-sum(column) / Fraction(n - 1) for column in zip(*some, strict=True)]]


def configurations(each, seed=SEED):
    """`each` configurations of every shape."""
    rng = random.Random(seed)
    return [tokens(rng, n, d) for n, d in SHAPES for _ in range(each)]


def semidefinite(rng, d, rank):
    """An integer matrix AᵀA of the given rank at most; its largest eigenvalue is mostly irrational."""
    A = [[rng.randint(-3, 3) for _ in range(d)] for _ in range(rank)]
    return [[str(sum(a[i] * a[j] for a in A)) for j in range(d)] for i in range(d)]
