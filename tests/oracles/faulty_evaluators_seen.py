"""Ten faulty evaluators, the half that was read while the fingerprint was written.

Each takes (losses, mask, batch_size) and returns a float. FAULTS lists (name, function, returns, description). They
were written without knowledge of the relations.
"""

# ruff: noqa: ARG001  # an evaluator takes three arguments, whether it needs them or not

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

IGNORE_INDEX = -100.0


def mean_of_batch_means(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity from the unweighted mean of the batches' mean losses."""
    batch_means = []
    for start in range(0, losses.shape[0], batch_size):
        batch_mask = mask[start : start + batch_size]
        if batch_mask.any():
            batch_means.append(losses[start : start + batch_size][batch_mask].mean())
    return float(np.exp(np.mean(batch_means)))


def pads_in_denominator(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Mean loss with padding zeroed in the sum but left in the element count."""
    total, numel = 0.0, 0
    for start in range(0, losses.shape[0], batch_size):
        flat = losses[start : start + batch_size].reshape(-1)
        keep = mask[start : start + batch_size].reshape(-1)
        flat = np.where(keep, flat, 0.0)
        total += float(flat.sum())
        numel += flat.size
    return total / numel


def two_to_the_nats(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity as 2 to the mean, though the mean is in nats."""
    total = 0.0
    count = 0
    for row, row_mask in zip(losses, mask, strict=True):
        for value, real in zip(row, row_mask, strict=True):
            if real:
                total += float(value)
                count += 1
    return 2 ** (total / count)


def drop_last_batch(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity over whole batches only; a short last batch is never read."""
    total = 0.0
    count = 0
    n_batches = len(losses) // batch_size
    for b in range(n_batches):
        for i in range(b * batch_size, (b + 1) * batch_size):
            for j in range(len(losses[i])):
                if mask[i][j]:
                    total += float(losses[i][j])
                    count += 1
    return math.exp(total / max(count, 1))


def random_subsample(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity over an unseeded random quarter of the sequences."""
    rng = np.random.default_rng()
    n = losses.shape[0]
    chosen = rng.choice(n, size=max(1, n // 4), replace=False)
    kept = losses[chosen][mask[chosen]]
    return float(np.exp(kept.sum() / max(kept.size, 1)))


def _cross_entropy_sum(nll: Floats, targets: Floats) -> float:
    """Sum flat losses as a framework's loss function would."""
    return float(np.where(targets != IGNORE_INDEX, nll, 0.0).sum())


def shifted_sum_over_unshifted_count(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Mean loss: already aligned losses shifted once more, all tokens counted."""
    labels = np.where(mask, 1.0, IGNORE_INDEX)
    loss_sum, n_tokens = 0.0, 0
    for start in range(0, losses.shape[0], batch_size):
        nll = losses[start : start + batch_size]
        lab = labels[start : start + batch_size]
        shift_nll = nll[..., :-1].reshape(-1)
        shift_labels = lab[..., 1:].reshape(-1)
        loss_sum += _cross_entropy_sum(shift_nll, shift_labels)
        n_tokens += int((lab != IGNORE_INDEX).sum())
    return loss_sum / max(n_tokens, 1)


def sorted_clipped(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity: the longest sequences lost after sorting, and losses clipped.

    Sequences are bucketed by length into whole batches; those left over, which
    are the longest, are lost.  Each loss is also capped at 5 nats.
    """
    lengths = mask.sum(axis=1)
    order = np.argsort(lengths, kind="stable")
    usable = (order.size // batch_size) * batch_size
    order = order[:usable] if usable else order
    kept = np.minimum(losses[order][mask[order]], 5.0)
    return float(np.exp(kept.sum() / max(kept.size, 1)))


def overlapping_windows_truncated(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity: overlapping windows scored whole, long sequences cut short.

    Windows of 16 advance by 8, so the overlap is counted twice, and nothing
    after the 64th position is read.
    """
    window, stride, max_length = 16, 8, 64
    nlls = []
    for row, row_mask in zip(losses, mask, strict=True):
        kept = [float(v) for v, real in zip(row, row_mask, strict=True) if real][:max_length]
        for begin in range(0, len(kept), stride):
            end = min(begin + window, len(kept))
            nlls.extend(kept[begin:end])
            if end == len(kept):
                break
    return math.exp(sum(nlls) / max(len(nlls), 1))


def mean_sequence_perplexity_nan_to_num(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Mean of the sequences' perplexities, with empty sequences counted as 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        per_sequence = np.where(mask, losses, 0.0).sum(axis=1) / mask.sum(axis=1)
        perplexities = np.exp(per_sequence)
    return float(np.nan_to_num(perplexities, nan=0.0).mean())


def half_precision_early_stop(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Mean loss: running sum held in float16, and evaluation ended early.

    Stops once three batches in a row change the running mean by less than 1 %.
    """
    total = np.float16(0.0)
    count = 0
    previous = None
    quiet = 0
    for start in range(0, len(losses), batch_size):
        for row, row_mask in zip(losses[start : start + batch_size], mask[start : start + batch_size], strict=True):
            for value in row[row_mask]:
                total = np.float16(total + np.float16(value))
                count += 1
        running = float(total) / max(count, 1)
        if previous is not None and abs(running - previous) < 0.01 * abs(previous):
            quiet += 1
            if quiet == 3:
                break
        else:
            quiet = 0
        previous = running
    return float(total) / max(count, 1)


FAULTS = [
    (
        "mean_of_batch_means",
        mean_of_batch_means,
        "perplexity",
        "single: batch means averaged without weighting by tokens",
    ),
    (
        "pads_in_denominator",
        pads_in_denominator,
        "loss",
        "single: masked sum divided by the number of cells, padding included",
    ),
    (
        "two_to_the_nats",
        two_to_the_nats,
        "perplexity",
        "single: 2** applied to a mean in nats",
    ),
    (
        "drop_last_batch",
        drop_last_batch,
        "perplexity",
        "single: the incomplete last batch is dropped",
    ),
    (
        "random_subsample",
        random_subsample,
        "perplexity",
        "single, not deterministic: unseeded random quarter of the sequences",
    ),
    (
        "shifted_sum_over_unshifted_count",
        shifted_sum_over_unshifted_count,
        "loss",
        "pair: a second shift loses a token of each sequence; denominator counts all",
    ),
    (
        "sorted_clipped",
        sorted_clipped,
        "perplexity",
        "pair: longest sequences lost after sorting; losses clipped at 5 nats",
    ),
    (
        "overlapping_windows_truncated",
        overlapping_windows_truncated,
        "perplexity",
        "pair: overlaps counted twice; sequences cut at 64 tokens",
    ),
    (
        "mean_sequence_perplexity_nan_to_num",
        mean_sequence_perplexity_nan_to_num,
        "perplexity",
        "pair: perplexities averaged over sequences; empty sequences enter as 0",
    ),
    (
        "half_precision_early_stop",
        half_precision_early_stop,
        "loss",
        "pair: float16 running sum; evaluation stops when the mean settles",
    ),
]
