"""Word error rates: the callable takes errors and words, integer arrays, one entry an utterance."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from verifier.audits.catalogues.entry import INPUTS, Arguments, Catalogue, Entry, generator, whole
from verifier.audits.space import Draw, Raw, Space

ENTRIES = (
    Entry("corpus WER", "Σe/Σw", "pooled over the corpus", lambda e, w: np.sum(e) / np.sum(w), {"micro WER": 1}),
    Entry(
        "mean of utterance WERs",
        "(1/n) Σ e_i/w_i",
        "mean over utterances",
        lambda e, w: np.mean(e / w),
        {"macro WER": 1},
    ),
    Entry("median of utterance WERs", "median e_i/w_i", "over utterances", lambda e, w: np.median(e / w)),
    Entry(
        "mean of clipped utterance WERs",
        "(1/n) Σ min(1, e_i/w_i)",
        "rates above 1 cut",
        lambda e, w: np.mean(np.minimum(1, e / w)),
    ),
    Entry("errors per utterance", "Σe/n", "no words in the denominator", lambda e, _w: np.mean(e)),
    Entry("total errors", "Σe", "a count", lambda e, _w: np.sum(e)),
    Entry(
        "errors over mean length and utterances squared",
        "Σe/(n Σw)",
        "divided twice",
        lambda e, w: np.mean(e) / np.sum(w),
    ),
    Entry("sentence error rate", "#{e_i > 0}/n", "share of utterances with an error", lambda e, _w: np.mean(e > 0)),
    Entry("corpus word accuracy", "1 − Σe/Σw", "one minus the rate", lambda e, w: 1 - np.sum(e) / np.sum(w)),
    Entry(
        "mean of utterance accuracies", "(1/n) Σ (1 − e_i/w_i)", "one minus the rate", lambda e, w: np.mean(1 - e / w)
    ),
    Entry(
        "corpus WER, errors clipped",
        "Σ min(e_i, w_i)/Σw",
        "no more errors than words",
        lambda e, w: np.sum(np.minimum(e, w)) / np.sum(w),
    ),
)


def _generic() -> tuple[Arguments, ...]:
    rng = generator("word-error-rate")
    drawn: list[Arguments] = []
    for index in range(INPUTS):
        count = 5 + index % 5
        words = np.array([whole(rng, 2, 25) for _ in range(count)])
        errors = np.array([whole(rng, 0, int(w) // 3) for w in words])
        words[0], errors[0] = 2, 3 + index % 2  # insertions: a rate above 1
        drawn.append((errors, words))
    return tuple(drawn)


def _raw(draw: Draw, *, count: int) -> Raw:
    words = tuple(1 + draw(8) for _ in range(count))
    return tuple(draw(w + 2) for w in words), words


def _arguments(raw: Raw) -> tuple[Any, ...]:
    return tuple(np.array(each, dtype=np.int64) for each in raw)


def complaint(arguments: Arguments) -> str | None:
    """What makes an input no errors and words; None where nothing does."""
    if len(arguments) != 2:
        return "it is not errors and words"
    errors, words = (np.asarray(each) for each in arguments)
    if errors.ndim != 1 or errors.shape != words.shape or not errors.size:
        return "it is not two arrays of one length"
    if errors.min() < 0 or words.min() < 1:
        return "an utterance has no words, or fewer than 0 errors"
    return None


WORD_ERROR_RATE = Catalogue(
    name="word-error-rate",
    share=True,
    takes="errors and words, int64 arrays, one entry an utterance",
    entries=ENTRIES,
    generic=_generic,
    space=Space(("errors", "words"), tuple(partial(_raw, count=count) for count in range(1, 5)), _arguments),
    complaint=complaint,
    ambiguous={"WER": "say corpus WER or mean of utterance WERs"},
)
