"""Ten faulty and eight correct evaluators, set aside unread until the fingerprint's relations were finished.

Each takes (losses, mask, batch_size) and returns a float. FAULTS lists (name, function, returns, description), CORRECT
(name, function, returns). They were written without knowledge of the relations.
"""

# ruff: noqa: ARG001  # an evaluator takes three arguments, whether it needs them or not

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def ema_smoothed(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Loss as an exponential moving average of the batches' mean losses."""
    decay = 0.9
    smoothed = None
    for start in range(0, len(losses), batch_size):
        total, count = 0.0, 0
        for i in range(start, min(start + batch_size, len(losses))):
            for j in range(len(losses[i])):
                if mask[i][j]:
                    total += float(losses[i][j])
                    count += 1
        if count == 0:
            continue
        mean = total / count
        smoothed = mean if smoothed is None else decay * smoothed + (1 - decay) * mean
    return float("nan") if smoothed is None else smoothed


class _Meter:
    """Running sum and count of a quantity."""

    def __init__(self) -> None:
        """Start empty."""
        self.sum = 0.0
        self.count = 0

    def update(self, value: float, n: int = 1) -> None:
        """Add n observations whose mean is value."""
        self.sum += float(value) * n
        self.count += n

    @property
    def avg(self) -> float:
        """Mean of what was added."""
        return self.sum / max(self.count, 1)


_METER = _Meter()


def meter_never_reset(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity from a module-level meter that is not reset between calls."""
    for start in range(0, losses.shape[0], batch_size):
        kept = losses[start : start + batch_size][mask[start : start + batch_size]]
        if kept.size:
            _METER.update(kept.mean(dtype=np.float64), n=kept.size)
    return float(np.exp(_METER.avg))


def mask_by_value(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity with padding recognised by its small loss, not by the mask."""
    eps = 0.02
    total, count = 0.0, 0
    for start in range(0, losses.shape[0], batch_size):
        flat = losses[start : start + batch_size].reshape(-1)
        active = flat > eps
        total += float(flat[active].sum())
        count += int(active.sum())
    return float(np.exp(total / max(count, 1)))


def median_of_sequences(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity from the median of the sequences' mean losses."""
    lengths = mask.sum(axis=1)
    has_tokens = lengths > 0
    sums = np.where(mask, losses, 0.0).sum(axis=1)
    return float(np.exp(np.median(sums[has_tokens] / lengths[has_tokens])))


def deduplicated_results(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity with results keyed so loosely that sequences replace one another.

    Results are stored under (length, first loss to the nearest nat); a later
    sequence with the same key overwrites the earlier one.
    """
    results: dict[tuple[int, int], list[float]] = {}
    for row, row_mask in zip(losses, mask, strict=True):
        values = [float(v) for v, real in zip(row, row_mask, strict=True) if real]
        if not values:
            continue
        results[(len(values), round(values[0]))] = values
    total = sum(sum(values) for values in results.values())
    count = sum(len(values) for values in results.values())
    return math.exp(total / max(count, 1))


def shuffled_drop_last_batch_perplexities(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Mean of batch perplexities over shuffled whole batches, unseeded."""
    n = losses.shape[0]
    perm = np.random.default_rng().permutation(n)
    stop = n - n % batch_size if n >= batch_size else n
    perplexities = []
    for start in range(0, stop, batch_size):
        index = perm[start : start + batch_size]
        kept = losses[index][mask[index]]
        if kept.size:
            perplexities.append(np.exp(kept.mean()))
    return float(np.mean(perplexities)) if perplexities else float("nan")


def lengths_minus_one_prefix(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity: mask rebuilt from lengths as a prefix, final token left out."""
    total, count = 0.0, 0
    steps = np.arange(losses.shape[1])[None, :]
    for start in range(0, losses.shape[0], batch_size):
        lengths = mask[start : start + batch_size].sum(axis=-1, keepdims=True)
        active = (steps < lengths - 1).reshape(-1)
        flat = losses[start : start + batch_size].reshape(-1)
        total += float((flat * active).sum())
        count += int(active.sum())
    return float(np.exp(total / max(count, 1)))


def mean_token_perplexity_capped(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Mean of the tokens' own perplexities, each capped at 1000."""
    perplexities = np.exp(np.minimum(losses[mask], math.log(1000.0)))
    return float(perplexities.mean()) if perplexities.size else float("nan")


def accumulation_steps(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Loss under gradient accumulation: micro-batch means, last group unflushed.

    Each micro-batch's mean is divided by the number of steps, whatever its
    number of tokens, and a group that is not full is never logged.
    """
    steps = 4
    logged = []
    running = 0.0
    micro = max(1, batch_size // steps)
    for step, start in enumerate(range(0, losses.shape[0], micro)):
        flat = losses[start : start + micro].reshape(-1)
        keep = mask[start : start + micro].reshape(-1)
        loss = (flat * keep).sum() / max(int(keep.sum()), 1)
        running += float(loss) / steps
        if (step + 1) % steps == 0:
            logged.append(running)
            running = 0.0
    return float(np.mean(logged)) if logged else running


def first_sequences_in_bits(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Loss of at most the first 32 sequences, given in bits instead of nats."""
    limit = 32
    total, count = 0.0, 0
    for n, (row, row_mask) in enumerate(zip(losses, mask, strict=True)):
        if n >= limit:
            break
        for value, real in zip(row, row_mask, strict=True):
            if not real:
                continue
            total += float(value) / math.log(2)
            count += 1
    return total / max(count, 1)


def float32_sequential(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity, summed token by token in float32."""
    total = np.float32(0.0)
    count = 0
    for row, row_mask in zip(losses, mask, strict=True):
        for value in row[row_mask]:
            total = np.float32(total + np.float32(value))
            count += 1
    return float(np.exp(float(total) / count)) if count else float("nan")


def float64_pairwise(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity, from numpy's pairwise float64 sum."""
    kept = losses[mask].astype(np.float64)
    return float(np.exp(kept.sum() / kept.size)) if kept.size else float("nan")


def reversed_order(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Loss, summed from the last token of the last sequence backwards."""
    total, count = 0.0, 0
    for i in range(len(losses) - 1, -1, -1):
        for j in range(len(losses[i]) - 1, -1, -1):
            if mask[i][j]:
                total += float(losses[i][j])
                count += 1
    return total / count if count else float("nan")


def batch_sums(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity, from batch sums and batch counts accumulated separately."""
    total, count = 0.0, 0
    for start in range(0, losses.shape[0], batch_size):
        flat = losses[start : start + batch_size].reshape(-1)
        keep = mask[start : start + batch_size].reshape(-1)
        total += float(np.where(keep, flat, 0.0).sum(dtype=np.float64))
        count += int(keep.sum())
    return float(np.exp(total / count)) if count else float("nan")


def exact_fsum(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Loss, from an exactly rounded sum."""
    values = [float(v) for v in losses[mask]]
    return math.fsum(values) / len(values) if values else float("nan")


def log_space_product(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity, as the geometric mean of inverse probabilities.

    The product is kept as a mantissa and a power of two, so that it neither
    overflows nor underflows.
    """
    mantissa, exponent, count = 1.0, 0, 0
    for value in losses[mask]:
        nats = float(value)
        if not math.isfinite(nats):
            return nats
        whole = math.floor(nats / math.log(2))
        mantissa, shift = math.frexp(mantissa * math.exp(nats - whole * math.log(2)))
        exponent += whole + shift
        count += 1
    if not count:
        return float("nan")
    return float(np.exp2((math.log2(mantissa) + exponent) / count))


def weighted_batch_means(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Loss, from a running mean in which each batch weighs as its tokens."""
    mean, seen = 0.0, 0
    for start in range(0, losses.shape[0], batch_size):
        kept = losses[start : start + batch_size][mask[start : start + batch_size]]
        if not kept.size:
            continue
        seen += kept.size
        mean += (float(kept.mean(dtype=np.float64)) - mean) * kept.size / seen
    return mean if seen else float("nan")


def sorted_by_length(losses: Floats, mask: Mask, batch_size: int) -> float:
    """Perplexity, batched in order of length, with every sequence kept."""
    order = np.argsort(-mask.sum(axis=1), kind="stable")
    total, count = np.float64(0.0), 0
    for start in range(0, order.size, batch_size):
        index = order[start : start + batch_size]
        width = losses.shape[1]
        while width and not mask[index, width - 1].any():
            width -= 1
        keep = mask[index, :width]
        total += losses[index, :width][keep].sum(dtype=np.float64)
        count += int(keep.sum())
    return float(np.exp(total / count)) if count else float("nan")


FAULTS = [
    (
        "ema_smoothed",
        ema_smoothed,
        "loss",
        "single: moving average over batches reported as the mean",
    ),
    (
        "meter_never_reset",
        meter_never_reset,
        "perplexity",
        "single: sums carried over from earlier calls (right on the first call)",
    ),
    (
        "mask_by_value",
        mask_by_value,
        "perplexity",
        "single: mask ignored, cells at or below 0.02 taken for padding",
    ),
    (
        "median_of_sequences",
        median_of_sequences,
        "perplexity",
        "single: median of sequence means in place of the token mean",
    ),
    (
        "deduplicated_results",
        deduplicated_results,
        "perplexity",
        "single: sequences of equal length and similar first loss overwrite one another",
    ),
    (
        "shuffled_drop_last_batch_perplexities",
        shuffled_drop_last_batch_perplexities,
        "perplexity",
        "pair, not deterministic: shuffled with last batch dropped; perplexities averaged",
    ),
    (
        "lengths_minus_one_prefix",
        lengths_minus_one_prefix,
        "perplexity",
        "pair: mask assumed to be a prefix; last token of each sequence left out",
    ),
    (
        "mean_token_perplexity_capped",
        mean_token_perplexity_capped,
        "perplexity",
        "pair: exponential taken per token before averaging; capped at 1000",
    ),
    (
        "accumulation_steps",
        accumulation_steps,
        "loss",
        "pair: unweighted micro-batch means; incomplete accumulation group lost",
    ),
    (
        "first_sequences_in_bits",
        first_sequences_in_bits,
        "loss",
        "pair: only the first 32 sequences; result in bits",
    ),
]

CORRECT = [
    ("float32_sequential", float32_sequential, "perplexity"),
    ("float64_pairwise", float64_pairwise, "perplexity"),
    ("reversed_order", reversed_order, "loss"),
    ("batch_sums", batch_sums, "perplexity"),
    ("exact_fsum", exact_fsum, "loss"),
    ("log_space_product", log_space_product, "perplexity"),
    ("weighted_batch_means", weighted_batch_means, "loss"),
    ("sorted_by_length", sorted_by_length, "perplexity"),
]
