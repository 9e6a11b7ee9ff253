"""The corpus that an evaluator is called on: per-token losses in nats, padded, with a mask."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verifier.model.errors import BadInput

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

PAD_LOSS = 0.01
# Beyond this a sum of equal losses in single precision, one after the other, leaves the tolerance of the relations.
MOST_TOKENS = 10_000
MOST_CELLS = 4_000_000
LARGEST_LOSS = 1000.0


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Losses in nats, float64 of shape (sequences, positions); mask, bool of that shape, True for a real token.

    `pad_loss` is what new padding gets. The arrays are not written to by anyone: whoever hands them on copies them.
    """

    losses: Floats
    mask: Mask
    pad_loss: float = PAD_LOSS

    @property
    def tokens(self) -> int:
        """How many real tokens there are."""
        return int(self.mask.sum())

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Real tokens of each sequence."""
        return np.asarray(self.mask.sum(axis=1), np.int64)

    @property
    def mean(self) -> float:
        """Mean loss of the real tokens, in nats."""
        return float(self.losses[self.mask].mean())

    @property
    def sequences(self) -> list[Floats]:
        """The real tokens of each sequence, in order."""
        return [row[real] for row, real in zip(self.losses, self.mask, strict=True)]

    @property
    def shipped(self) -> bool:
        """Whether this is the shipped corpus, whose rounding is known."""
        base = base_corpus()
        return self is base or (np.array_equal(self.losses, base.losses) and np.array_equal(self.mask, base.mask))

    def rows(self, which: Sequence[int] | NDArray[np.int64]) -> Corpus:
        """The sequences with these numbers, in this order."""
        return Corpus(self.losses[which], self.mask[which], self.pad_loss)

    def with_real(self, losses: Floats) -> Corpus:
        """The corpus with these losses at the real tokens, and its own padding."""
        return Corpus(np.where(self.mask, losses, self.losses), self.mask, self.pad_loss)

    def padded(self, columns: int) -> Corpus:
        """The corpus with so many more columns of padding on the right."""
        wider = ((0, 0), (0, columns))
        return Corpus(
            np.pad(self.losses, wider, constant_values=self.pad_loss), np.pad(self.mask, wider), self.pad_loss
        )


def padded_corpus(
    sequences: Iterable[Sequence[float] | Floats],
    *,
    width: int = 0,
    pad_loss: float = PAD_LOSS,
    left: bool = False,
) -> Corpus:
    """Sequences of losses as one padded array, at least `width` and one wide; `left` puts the padding before them."""
    rows = [np.asarray(row, np.float64) for row in sequences]
    wide = max([1, width, *(len(row) for row in rows)])
    if len(rows) * wide > MOST_CELLS:
        raise BadInput(f"the corpus has more than {MOST_CELLS} cells", mend="pass a part of it")
    losses = np.full((len(rows), wide), pad_loss)
    mask = np.zeros((len(rows), wide), bool)
    for i, row in enumerate(rows):
        where = slice(wide - len(row), wide) if left else slice(0, len(row))
        losses[i, where], mask[i, where] = row, True
    return Corpus(losses, mask, pad_loss)


@functools.cache
def base_corpus() -> Corpus:
    """The shipped corpus: 7 sequences, 38 tokens, width 12."""
    text = files("verifier.audits.fingerprint").joinpath("corpus.json").read_text(encoding="utf-8")
    return as_corpus(json.loads(text))


def as_corpus(given: object) -> Corpus:
    """What a caller passed, as a corpus.

    It is None (the shipped one), a Corpus, a pair of arrays (losses, mask), a list of sequences of losses (empty ones
    allowed), or a mapping with `sequences` and perhaps `width` and `pad_loss`.

    Raises BadInput for shapes that differ, no real token, more than 10,000 of them, or losses outside [0, 1000].
    """
    if given is None:
        return base_corpus()
    try:
        corpus = _read(given)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise BadInput(
            "the corpus is neither sequences of losses nor a pair of losses and mask",
            where="corpus",
            mend="pass a list of lists of numbers, or two arrays of the same shape",
        ) from error
    return _checked(corpus)


def _read(given: Any) -> Corpus:
    if isinstance(given, Corpus):
        losses, mask, pad_loss = given.losses, given.mask, given.pad_loss
    elif isinstance(given, Mapping):
        pad_loss = float(given.get("pad_loss", PAD_LOSS))
        return padded_corpus(given["sequences"], width=int(given.get("width", 0)), pad_loss=pad_loss)
    elif isinstance(given, tuple) and len(given) == 2 and np.asarray(given[1]).dtype == np.bool_:
        losses, mask, pad_loss = given[0], given[1], PAD_LOSS
    else:
        return padded_corpus(given)
    return Corpus(np.array(losses, np.float64), np.array(mask, bool), pad_loss)


def _checked(corpus: Corpus) -> Corpus:
    losses, mask = corpus.losses, corpus.mask
    if losses.ndim != 2 or losses.shape != mask.shape:
        raise BadInput(
            f"losses of shape {losses.shape} and a mask of shape {mask.shape}",
            where="corpus",
            mend="both are (sequences, positions)",
        )
    if losses.size > MOST_CELLS or corpus.tokens > MOST_TOKENS:
        raise BadInput(
            f"the corpus has more than {MOST_TOKENS} real tokens or {MOST_CELLS} cells",
            where="corpus",
            mend="pass a part of it",
        )
    if corpus.tokens == 0:
        raise BadInput("the corpus has no real token", where="corpus", mend="pass at least one")
    real = losses[mask]
    if not (np.all(np.isfinite(losses)) and np.all(real >= 0) and np.all(real <= LARGEST_LOSS)):
        raise BadInput(
            f"a loss is not a number from 0 to {LARGEST_LOSS:g} nats", where="corpus", mend="pass losses in nats"
        )
    return corpus
