"""Reductions of token losses: the callable takes one argument, a list of float arrays, one a sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from verifier.audits.catalogues.entry import (
    INPUTS,
    Arguments,
    Catalogue,
    Entry,
    Floats,
    concatenated,
    generator,
    uniform,
    whole,
)
from verifier.audits.space import SEQUENCES

Rows = Sequence[Floats]


def token_mean(rows: Rows) -> float:
    """Σ losses / number of tokens."""
    return float(concatenated(rows).mean())


def sequence_mean(rows: Rows) -> float:
    """The mean over sequences of each one's mean."""
    return float(np.mean([row.mean() for row in rows]))


def total(rows: Rows) -> float:
    """Σ losses."""
    return float(concatenated(rows).sum())


def batch_mean(rows: Rows) -> float:
    """Σ losses / number of sequences; over a constant length L as well it is this times 1/L."""
    return total(rows) / len(rows)


def _micro_batches(rows: Rows, *, size: int) -> float:
    """The mean over micro-batches of `size` sequences of each one's token mean (gradient accumulation)."""
    starts = range(0, len(rows), size)
    return float(np.mean([token_mean(rows[start : start + size]) for start in starts]))


def _of_means(statistic: Callable[[Floats], float]) -> Callable[[Rows], float]:
    return lambda rows: float(statistic(np.array([row.mean() for row in rows])))


ENTRIES = (
    Entry("token mean", "Σℓ / N", "mean over all tokens", token_mean, {"mean": 1, "corpus mean": 1}),
    Entry("sequence mean", "(1/n) Σ_s (Σℓ_s / N_s)", "Shao 2024", sequence_mean, {"mean of sequence means": 1}),
    Entry("sum", "Σℓ", "sum over all tokens", total),
    Entry(
        "batchmean",
        "Σℓ / n",
        "sum over the number of sequences",
        batch_mean,
        {"sequence sum": 1, "constant length": 1, "sum / n": 1},
    ),
    Entry(
        "padded mean",
        "Σℓ / (n max N_s)",
        "pads counted in the denominator",
        lambda rows: total(rows) / (len(rows) * max(map(len, rows))),
    ),
    Entry(
        "sum / longest sequence",
        "Σℓ / max N_s",
        "one denominator a batch",
        lambda rows: total(rows) / max(map(len, rows)),
    ),
    Entry(
        "sum of sequence means",
        "Σ_s (Σℓ_s / N_s)",
        "sequence means, summed",
        lambda rows: len(rows) * sequence_mean(rows),
    ),
    Entry(
        "mean of micro-batch means (2)",
        "mean over pairs of sequences of Σℓ / N",
        "gradient accumulation, two sequences a step",
        lambda rows: _micro_batches(rows, size=2),
    ),
    Entry(
        "root-length mean",
        "(1/n) Σ_s Σℓ_s / √N_s",
        "length penalty with exponent ½",
        lambda rows: np.mean([row.sum() / np.sqrt(row.size) for row in rows]),
    ),
    Entry(
        "length-weighted sequence sum",
        "Σ_s N_s Σℓ_s / Σ_s N_s",
        "sums weighted by length",
        lambda rows: sum(row.size * row.sum() for row in rows) / sum(row.size for row in rows),
    ),
    Entry("median of tokens", "median ℓ", "order statistic", lambda rows: np.median(concatenated(rows))),
    Entry("median of sequence means", "median_s Σℓ_s / N_s", "order statistic", _of_means(np.median)),
    Entry("largest sequence mean", "max_s Σℓ_s / N_s", "worst case", _of_means(np.max)),
    Entry("largest token", "max ℓ", "worst case", lambda rows: concatenated(rows).max()),
    Entry("mean square", "Σℓ² / N", "second moment", lambda rows: np.mean(concatenated(rows) ** 2)),
    Entry("root mean square", "√(Σℓ² / N)", "second moment", lambda rows: np.sqrt(np.mean(concatenated(rows) ** 2))),
    Entry(
        "mean of last tokens",
        "(1/n) Σ_s ℓ_s,last",
        "score at the last token",
        lambda rows: np.mean([row[-1] for row in rows]),
    ),
    Entry(
        "token mean without first tokens",
        "Σ_{t≥2} ℓ / Σ_s (N_s − 1)",
        "the first token is not predicted",
        lambda rows: token_mean([row[1:] for row in rows]),
    ),
)


def random_rows(name: str) -> list[list[Floats]]:
    """Eight ragged lists of 3 to 6 sequences of 2 to 9 losses in nats; no two neighbours have one number of each."""
    rng = generator(name)
    drawn = []
    for index in range(INPUTS):
        count = 3 + index % 4
        lengths = [whole(rng, 2, 9) for _ in range(count)]
        if all(a == b for a, b in pairwise(lengths)):
            lengths[0] += 1
        drawn.append([uniform(rng, 0.2, 5.0, count=length) for length in lengths])
    return drawn


def _generic() -> tuple[Arguments, ...]:
    return tuple((rows,) for rows in random_rows("reductions"))


def complaint(arguments: Arguments) -> str | None:
    """What makes an input no list of sequences of losses; None where nothing does."""
    if len(arguments) != 1 or not len(arguments[0]):
        return "it is not one list of sequences"
    rows = [np.asarray(row) for row in arguments[0]]
    if any(row.ndim != 1 or row.size == 0 or not np.issubdtype(row.dtype, np.number) for row in rows):
        return "a sequence is not a one-dimensional array with at least one number"
    if not all(np.all(np.isfinite(row)) for row in rows):
        return "a loss is not finite"
    return None


REDUCTIONS = Catalogue(
    name="reductions",
    objective=True,
    takes="a list of float64 arrays of token losses in nats, one a sequence",
    entries=ENTRIES,
    generic=_generic,
    space=SEQUENCES,
    complaint=complaint,
    ambiguous={"mean loss": "write token mean or sequence mean"},
)
