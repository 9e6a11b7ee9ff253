"""Pass@k: the callable takes n (samples a problem), c (an integer array, correct samples of each problem) and k."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verifier.audits.catalogues.entry import INPUTS, Arguments, Catalogue, Entry, generator, whole
from verifier.audits.space import Draw, Raw, Space

Counts = NDArray[np.int64]


def unbiased(n: int, c: int, k: int) -> float:
    """1 − C(n−c, k)/C(n, k): the chance that k of n samples hold a correct one (Chen 2021)."""
    return 1 - math.comb(n - c, k) / math.comb(n, k)


def with_replacement(n: int, c: int, k: int) -> float:
    """1 − (1 − c/n)^k: the same drawn with replacement, which is biased downwards."""
    return float(1 - (1 - c / n) ** k)


def _solved(c: Counts) -> int:
    return int(np.count_nonzero(c))


ENTRIES = (
    Entry(
        "pass@k (unbiased)",
        "mean_i 1 − C(n−c_i, k)/C(n, k)",
        "Chen 2021",
        lambda n, c, k: np.mean([unbiased(n, int(each), k) for each in c]),
    ),
    Entry(
        "pass@k (with replacement)",
        "mean_i 1 − (1 − c_i/n)^k",
        "plug-in estimate",
        lambda n, c, k: np.mean([with_replacement(n, int(each), k) for each in c]),
    ),
    Entry(
        "pass@k (pooled, unbiased)",
        "1 − C(nP−Σc, k)/C(nP, k)",
        "all samples as one problem",
        lambda n, c, k: unbiased(n * len(c), int(np.sum(c)), k),
    ),
    Entry(
        "pass@k (pooled, with replacement)",
        "1 − (1 − Σc/(nP))^k",
        "all samples as one problem",
        lambda n, c, k: with_replacement(n * len(c), int(np.sum(c)), k),
    ),
    Entry(
        "pass@k (problem counts, unbiased)",
        "1 − C(P−S, k)/C(P, k)",
        "problems P and solved problems S in place of samples",
        lambda _n, c, k: unbiased(len(c), _solved(c), k),
    ),
    Entry(
        "pass@k (problem counts, with replacement)",
        "1 − (1 − S/P)^k",
        "problems P and solved problems S in place of samples",
        lambda _n, c, k: with_replacement(len(c), _solved(c), k),
    ),
    Entry("pass@n", "S/P", "share of problems with a correct sample", lambda _n, c, _k: _solved(c) / len(c)),
    Entry("pass@1", "mean_i c_i/n", "share of correct samples", lambda n, c, _k: np.mean(c) / n),
    Entry(
        "k times pass@1, at most 1",
        "mean_i min(1, k c_i/n)",
        "union bound",
        lambda n, c, k: np.mean(np.minimum(1, k * np.asarray(c) / n)),
    ),
    Entry(
        "pass^k (unbiased)",
        "mean_i C(c_i, k)/C(n, k)",
        "all of k correct, without replacement",
        lambda n, c, k: np.mean([math.comb(int(each), k) / math.comb(n, k) for each in c]),
    ),
    Entry(
        "pass^k (with replacement)",
        "mean_i (c_i/n)^k",
        "all of k correct, with replacement",
        lambda n, c, k: np.mean((np.asarray(c) / n) ** k),
    ),
)


def _generic() -> tuple[Arguments, ...]:
    rng = generator("pass-at-k")
    drawn: list[Arguments] = []
    for index in range(INPUTS):
        n, k, problems = 8 + index, 2 + index % 3, 6 + index % 4
        c = np.array([0, 0, *(whole(rng, 1, n - 1) for _ in range(problems - 2))])
        drawn.append((n, c, k))
    return tuple(drawn)


def _raw(draw: Draw, *, n: int, problems: int) -> Raw:
    return n, tuple(draw(n + 1) for _ in range(problems)), 1 + draw(n)


def _arguments(raw: Raw) -> tuple[Any, ...]:
    n, c, k = raw
    return n, np.array(c, dtype=np.int64), k


def complaint(arguments: Arguments) -> str | None:
    """What makes an input no counts of samples; None where nothing does."""
    if len(arguments) != 3:
        return "it is not n, c and k"
    n, c, k = arguments
    correct = np.asarray(c)
    if correct.ndim != 1 or not correct.size or not np.issubdtype(correct.dtype, np.integer):
        return "c is not an array of whole numbers"
    if not 1 <= k <= n <= 10**4 or correct.min() < 0 or correct.max() > n:
        return "the counts do not satisfy 0 <= c <= n and 1 <= k <= n <= 10000"
    return None


PASS_AT_K = Catalogue(
    name="pass-at-k",
    share=True,
    takes="n (samples a problem), c (int64 array: correct samples of each problem), k",
    entries=ENTRIES,
    generic=_generic,
    space=Space(
        ("n", "c", "k"),
        tuple(partial(_raw, n=n, problems=problems) for n, problems in ((2, 1), (2, 2), (3, 2), (4, 3))),
        _arguments,
    ),
    complaint=complaint,
    ambiguous={"pass@k": "say pass@k (unbiased) or pass@k (with replacement)"},
)
