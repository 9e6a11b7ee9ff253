"""Perplexities and bits: the callable takes losses, words, characters and bytes.

Losses are in nats, a list of arrays, one a sequence; the other three are whole numbers, for all sequences together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from verifier.audits.catalogues.entry import Arguments, Catalogue, Entry, Floats, generator, whole
from verifier.audits.catalogues.reductions import batch_mean, random_rows, sequence_mean, token_mean, total
from verifier.audits.space import RAGGED, Draw, Raw, Space

Rows = Sequence[Floats]


def _sequence_perplexities(rows: Rows) -> Floats:
    return np.array([math.exp(row.mean()) for row in rows])


ENTRIES = (
    Entry(
        "token perplexity", "exp(Σℓ/N)", "Jelinek 1977", lambda rows, _w, _c, _b: math.exp(token_mean(rows)), {"PPL": 1}
    ),
    Entry(
        "exp of the sequence mean",
        "exp((1/n) Σ_s Σℓ_s/N_s)",
        "mean of means inside",
        lambda rows, _w, _c, _b: math.exp(sequence_mean(rows)),
        {"geometric mean of sequence perplexities": 1},
    ),
    Entry(
        "mean of sequence perplexities",
        "(1/n) Σ_s exp(Σℓ_s/N_s)",
        "averaged after exp",
        lambda rows, _w, _c, _b: _sequence_perplexities(rows).mean(),
    ),
    Entry(
        "median of sequence perplexities",
        "median_s exp(Σℓ_s/N_s)",
        "averaged after exp",
        lambda rows, _w, _c, _b: np.median(_sequence_perplexities(rows)),
    ),
    Entry(
        "harmonic mean of sequence perplexities",
        "n / Σ_s exp(−Σℓ_s/N_s)",
        "mean of probabilities",
        lambda rows, _w, _c, _b: 1 / np.mean(1 / _sequence_perplexities(rows)),
    ),
    Entry(
        "mean of token perplexities",
        "(1/N) Σ exp(ℓ)",
        "exp before the mean",
        lambda rows, _w, _c, _b: np.mean(np.exp(np.concatenate(list(rows)))),
    ),
    Entry(
        "2 to the nats",
        "2^(Σℓ/N), ℓ in nats",
        "base 2 with natural logarithms",
        lambda rows, _w, _c, _b: 2 ** token_mean(rows),
    ),
    Entry("word perplexity", "exp(Σℓ/words)", "Jelinek 1977", lambda rows, w, _c, _b: math.exp(total(rows) / w)),
    Entry(
        "character perplexity", "exp(Σℓ/characters)", "per character", lambda rows, _w, c, _b: math.exp(total(rows) / c)
    ),
    Entry("byte perplexity", "exp(Σℓ/bytes)", "per byte", lambda rows, _w, _c, b: math.exp(total(rows) / b)),
    Entry(
        "perplexity per sequence",
        "exp(Σℓ/n)",
        "sum of each sequence",
        lambda rows, _w, _c, _b: math.exp(batch_mean(rows)),
    ),
    Entry(
        "nats per token",
        "Σℓ/N",
        "mean loss",
        lambda rows, _w, _c, _b: token_mean(rows),
        {"bits per token": 1 / math.log(2), "log perplexity": 1},
    ),
    Entry(
        "nats per word",
        "Σℓ/words",
        "mean loss per word",
        lambda rows, w, _c, _b: total(rows) / w,
        {"bits per word": 1 / math.log(2)},
    ),
    Entry(
        "nats per character",
        "Σℓ/characters",
        "mean loss per character",
        lambda rows, _w, c, _b: total(rows) / c,
        {"bits per character": 1 / math.log(2), "BPC": 1 / math.log(2)},
    ),
    Entry(
        "nats per byte",
        "Σℓ/bytes",
        "mean loss per byte",
        lambda rows, _w, _c, b: total(rows) / b,
        {"bits per byte": 1 / math.log(2), "BPB": 1 / math.log(2)},
    ),
)


def _generic() -> tuple[Arguments, ...]:
    rng = generator("perplexity")
    drawn = []
    for rows in random_rows("perplexity"):
        tokens = sum(row.size for row in rows)
        words = max(2, math.ceil(tokens * (0.5 + 0.4 * rng.random())) - 1)
        characters = whole(rng, 3 * tokens, 5 * tokens)
        drawn.append((rows, words, characters, characters + whole(rng, 1, tokens)))
    return tuple(drawn)


def _raw(draw: Draw, *, lengths: tuple[int, ...]) -> Raw:
    losses = tuple(tuple(1 + draw(4) for _ in range(length)) for length in lengths)
    words = 1 + draw(sum(lengths))
    characters = words + draw(8)
    return losses, words, characters, characters + draw(4)


def _arguments(raw: Raw) -> tuple[Any, ...]:
    return ([np.array(row, dtype=np.float64) for row in raw[0]], *raw[1:])


def complaint(arguments: Arguments) -> str | None:
    """What makes an input no losses with three counts; None where nothing does."""
    if len(arguments) != 4 or not len(arguments[0]) or min(arguments[1:]) < 1:
        return "it is not losses, words, characters and bytes, with every count at least 1"
    if any(np.asarray(row).ndim != 1 or not np.asarray(row).size for row in arguments[0]):
        return "a sequence is not a one-dimensional array with at least one loss"
    return None


PERPLEXITY = Catalogue(
    name="perplexity",
    takes="losses in nats (a list of float64 arrays, one a sequence), words, characters, bytes (whole numbers)",
    entries=ENTRIES,
    generic=_generic,
    space=Space(
        ("losses", "words", "characters", "bytes"),
        tuple(partial(_raw, lengths=lengths) for lengths in RAGGED),
        _arguments,
    ),
    complaint=complaint,
    ambiguous={"perplexity": "say per what: token perplexity, word perplexity, byte perplexity"},
)
