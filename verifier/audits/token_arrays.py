"""Losses by position, which positions are real tokens, and what sequences and batches they belong to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

MOST_ROWS = 50_000_000
MOST_BYTES = 2 << 30
"""Of a file of arrays; a larger one is refused by its size before any byte of it is read."""
LARGEST_LOSS = 1e6
"""Nats, of either sign: no model's loss of one position, and sums of 50 million such are far from overflow."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns of a file; None for one that it does not have."""

    loss: str
    mask: str | None = None
    sequence: str | None = None
    batch: str | None = None

    @property
    def named(self) -> dict[str, str]:
        """What each named column is -> its name in the file."""
        every = {"loss": self.loss, "mask": self.mask, "sequence": self.sequence, "batch": self.batch}
        return {kind: name for kind, name in every.items() if name is not None}


@dataclass(frozen=True, slots=True)
class TokenArrays:
    """One entry a position, (positions,) each, in the order of the file.

    loss: nats. mask: True for real tokens. sequence, batch: numbers of the groups, from 0. None where not given.
    """

    loss: Floats
    mask: Bools | None = None
    sequence: Ints | None = None
    batch: Ints | None = None

    def __post_init__(self) -> None:
        for other in (self.mask, self.sequence, self.batch):
            assert other is None or other.shape == self.loss.shape

    def __len__(self) -> int:
        return len(self.loss)

    @property
    def real(self) -> Bools:
        """Which positions are real tokens; all, where there is no mask."""
        return np.ones(len(self.loss), bool) if self.mask is None else self.mask

    @property
    def position(self) -> Ints:
        """The place of each entry within its sequence, from 0; within the whole where there are no sequences."""
        if self.sequence is None:
            return np.arange(len(self.loss))
        order = np.argsort(self.sequence, kind="stable")
        ordered = self.sequence[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        lengths = np.diff(np.append(starts, len(ordered)))
        found = np.empty(len(ordered), np.int64)
        found[order] = np.arange(len(ordered)) - np.repeat(starts, lengths)
        return found


def inline_arrays(
    loss: Sequence[Sequence[str | float]],
    mask: Sequence[Sequence[int]] | None = None,
    batch: Sequence[int] | None = None,
    *,
    where: str = "arrays",
) -> TokenArrays:
    """Arrays that stand in the audit file itself, a row a sequence: losses in nats, also as texts.

    `mask`: 1 for real tokens. `batch`: the number of each row's batch.

    Raises BadInput for a mask or batch of another shape, naming the row, and for a loss that is no finite number.
    """
    lengths = [len(row) for row in loss]
    if not sum(lengths):
        raise BadInput("there is no loss", where=f"{where}.loss", mend="write a list of losses for each sequence")
    if mask is not None:
        if len(mask) != len(loss):
            raise _shape(f"{len(mask)} rows", f"{len(loss)}", where=f"{where}.mask")
        for number, (row, n) in enumerate(zip(mask, lengths, strict=True), 1):
            if len(row) != n:
                raise _shape(f"{len(row)} entries", f"{n}", where=f"{where}.mask, row {number}")
    if batch is not None and len(batch) != len(loss):
        raise _shape(f"{len(batch)} entries", f"{len(loss)} rows", where=f"{where}.batch")
    flat = np.array([_number(x) for row in loss for x in row], np.float64)
    sequence = np.repeat(np.arange(len(loss)), lengths)
    check_finite(flat, first=1, where=f"{where}.loss", of="entry")
    return TokenArrays(
        loss=flat,
        mask=None if mask is None else np.array([bool(x) for row in mask for x in row], bool),
        sequence=sequence,
        batch=None
        if batch is None
        else np.repeat(np.unique(np.asarray(batch, np.int64), return_inverse=True)[1], lengths),
    )


def _number(value: str | float) -> float:
    try:
        return float(parse_rational(value) if isinstance(value, str) else value)
    except OverflowError:
        return math.inf


def check_finite(losses: Floats, *, first: int, where: str, of: str) -> None:
    """Raises BadInput for the first loss that is no finite number, or beyond ±1e6; `first` numbers the first entry."""
    bad = np.flatnonzero(~(np.abs(losses) <= LARGEST_LOSS))
    if bad.size:
        loss = float(losses[bad[0]])
        raise loss_complaint(shown(loss), loss, where=f"{where}, {of} {first + int(bad[0])}")


def loss_complaint(said: str, loss: float, *, where: str) -> BadInput:
    """What is wrong with a loss that is no finite number, or too large to be one position's; `said`: as it stands."""
    mend = "leave out positions that were not evaluated; pads need a finite loss too"
    if math.isfinite(loss):
        mend = "give the loss of one position in nats, at most 1e6"
    return BadInput(f"the loss is {said}", where=where, mend=mend)


def _shape(has: str, needs: str, *, where: str) -> BadInput:
    return BadInput(
        f"it has {has}, and the losses {needs}", where=where, mend="give one entry a loss, in the same shape"
    )
