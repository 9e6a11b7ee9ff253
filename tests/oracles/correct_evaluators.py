"""Correct evaluators that differ in precision and in the order of summation, and corpora of every shape for them."""

# ruff: noqa: ARG001  # an evaluator takes three arguments, whether it needs them or not

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Evaluator = Callable[[Floats, Mask, int], float]


def exact(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity from a correctly rounded sum."""
    real = losses[mask].tolist()
    return math.exp(math.fsum(real) / len(real))


def single_in_sequence(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity from one running sum in float32, in row order, as an unblocked kernel sums."""
    real = losses[mask].astype(np.float32)
    return float(np.exp(np.cumsum(real, dtype=np.float32)[-1] / np.float32(len(real))))


def single_backwards_by_column(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Mean loss from one running sum in float32, columns first, last to first."""
    real = losses.T[mask.T].astype(np.float32)[::-1]
    return float(np.cumsum(real, dtype=np.float32)[-1] / np.float32(len(real)))


def single_by_batch(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity from float32 sums a batch, added in float32; padding is multiplied by 0."""
    total, count = np.float32(0), 0
    for start in range(0, len(losses), batch_size):
        real = mask[start : start + batch_size]
        total += (losses[start : start + batch_size].astype(np.float32) * real).sum(dtype=np.float32)
        count += int(real.sum())
    return float(np.exp(total / np.float32(count)))


def double_sorted(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Mean loss in float64, longest sequences first, empty ones left out, smallest loss first in each."""
    order = np.argsort(-mask.sum(axis=1), kind="stable")
    total = 0.0
    for i in order:
        if mask[i].any():
            total += float(np.sort(losses[i][mask[i]]).sum())
    return total / int(mask.sum())


CORRECT: tuple[tuple[str, Evaluator, str], ...] = (
    ("exact", exact, "perplexity"),
    ("single in sequence", single_in_sequence, "perplexity"),
    ("single backwards by column", single_backwards_by_column, "loss"),
    ("single by batch", single_by_batch, "perplexity"),
    ("double sorted", double_sorted, "loss"),
)


def random_corpus(seed: int, *, most_tokens: int) -> tuple[Floats, Mask]:
    """Ragged sequences, some empty, some of one token, at least one real token; padded at random, with holes at times.

    The number of tokens is log-uniform; losses are exponential, uniform, rounded, equal or nearly 0.
    """
    rng = np.random.default_rng(seed)
    tokens = int(math.exp(rng.uniform(0, math.log(most_tokens))))
    lengths: list[int] = []
    longest = int(rng.integers(1, max(2, min(tokens, 600)) + 1))
    while sum(lengths) < tokens:
        kind = rng.random()
        lengths.append(0 if kind < 0.1 else 1 if kind < 0.2 else int(rng.integers(1, longest + 1)))
    lengths[-1] -= sum(lengths) - tokens
    width = max(lengths) + int(rng.integers(0, 5))
    mask = np.zeros((len(lengths), width), bool)
    for i, length in enumerate(lengths):
        mask[i, :length] = True
        if rng.random() < 0.1:
            mask[i] = rng.permutation(mask[i])
    match rng.integers(5):
        case 0:
            losses = rng.exponential(3.0, mask.shape)
        case 1:
            losses = rng.uniform(0, 12, mask.shape)
        case 2:
            losses = np.round(rng.exponential(2.0, mask.shape), 1)
        case 3:
            losses = np.where(mask, rng.exponential(1e-3, mask.shape), 7.0)
        case _:
            losses = rng.gamma(0.3, 8.0, mask.shape)
    return losses, mask
