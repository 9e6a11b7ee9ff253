"""The faulty evaluators of the fact sheet's table, in plain Python, and the relations that each must violate."""

# ruff: noqa: ARG001  # an evaluator takes three arguments, whether it needs them or not

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

Evaluator = Callable[[Any, Any, int], float]
Rows = list[list[float]]


def _rows(losses: Any, mask: Any) -> Rows:
    return [[x for x, real in zip(*pair, strict=True) if real] for pair in zip(losses.tolist(), mask, strict=True)]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _flat(rows: Rows) -> list[float]:
    return list(itertools.chain.from_iterable(rows))


def _batches(rows: Rows, size: int) -> list[Rows]:
    return [rows[i : i + size] for i in range(0, len(rows), size)]


def correct(losses: Any, mask: Any, batch_size: int) -> float:
    return math.exp(_mean(_flat(_rows(losses, mask))))


def pads_scored(losses: Any, mask: Any, batch_size: int) -> float:
    return math.exp(_mean(_flat(losses.tolist())))


def pads_in_denominator(losses: Any, mask: Any, batch_size: int) -> float:
    return math.exp(sum(_flat(_rows(losses, mask))) / losses.size)


def batch_means(losses: Any, mask: Any, batch_size: int) -> float:
    return math.exp(_mean([_mean(_flat(batch)) for batch in _batches(_rows(losses, mask), batch_size)]))


def sequence_means(losses: Any, mask: Any, batch_size: int) -> float:
    return math.exp(_mean([_mean(row) for row in _rows(losses, mask) if row]))


def sequence_perplexities(losses: Any, mask: Any, batch_size: int) -> float:
    return _mean([math.exp(_mean(row)) for row in _rows(losses, mask) if row])


def drop_last(losses: Any, mask: Any, batch_size: int) -> float:
    full = [batch for batch in _batches(_rows(losses, mask), batch_size) if len(batch) == batch_size]
    return math.exp(_mean(_flat(_flat(full))))  # type: ignore[arg-type]  # nested one deeper


def sum_over_batches(losses: Any, mask: Any, batch_size: int) -> float:
    rows = _rows(losses, mask)
    return math.exp(sum(_flat(rows)) / len(_batches(rows, batch_size)) / 20)


def root(losses: Any, mask: Any, batch_size: int) -> float:
    return math.exp(math.sqrt(_mean(_flat(_rows(losses, mask)))))


def two_to_the_nats(losses: Any, mask: Any, batch_size: int) -> float:
    return 2 ** _mean(_flat(_rows(losses, mask)))


def per_word(losses: Any, mask: Any, batch_size: int) -> float:
    tokens = _flat(_rows(losses, mask))
    return math.exp(sum(tokens) / (len(tokens) / 1.3))


def cut(losses: Any, mask: Any, batch_size: int) -> float:
    return math.exp(sum(_flat(_rows(losses[:, :6], mask[:, :6]))) / int(mask.sum()))


EIGHT = frozenset({"pad", "batch", "permute", "duplicate", "rechunk", "scale", "constant", "twice"})

TABLE: tuple[tuple[str, Evaluator, str], ...] = (
    ("correct", correct, ""),
    ("pads scored", pads_scored, "pad scale constant"),
    ("pads in the denominator only", pads_in_denominator, "pad constant"),
    ("mean of batch means", batch_means, "batch permute duplicate rechunk"),
    ("mean of sequence means", sequence_means, "rechunk"),
    ("mean of sequence perplexities", sequence_perplexities, "rechunk scale"),
    ("drop_last", drop_last, "batch permute duplicate rechunk"),
    ("sum / n_batches", sum_over_batches, "batch duplicate constant"),
    ("sqrt(loss)", root, "scale constant"),
    ("2**nats", two_to_the_nats, "constant"),
    ("per-word denominator", per_word, "constant"),
    ("cut numerator, full denominator", cut, "rechunk constant"),
)
"""Name, evaluator, the relations among the eight that it violates. The thirteenth row, noise, is built by the tests."""


def as_loss(evaluator: Evaluator) -> Evaluator:
    """The evaluator with the mean loss instead of its exponential."""
    return lambda losses, mask, batch_size: math.log(evaluator(losses, mask, batch_size))
