"""Scored padding in arrays of losses: share, pad loss and true loss, both perplexities, and the smallest witness."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from verifier.audits.audit import Audit, Side
from verifier.audits.matching import may_print_as, rounds_to
from verifier.audits.printed import Printed
from verifier.audits.shown_numbers import figures, nats, sentence, share_percent
from verifier.audits.token_arrays import LARGEST_LOSS, Floats, Ints, TokenArrays
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass
from verifier.model.errors import BadInput

Returns = Literal["perplexity", "loss"]
MOST_POINTS = 120
"""Points of a curve of loss by position; longer sequences are drawn in equal stretches."""
SAME = 1e-12
"""Relative distance below which both means are one."""


def dilution_of_arrays(
    losses: ArrayLike, mask: ArrayLike, *, printed: Printed | None = None, returns: Returns = "perplexity"
) -> Audit:
    """What scoring the padded positions does to the mean loss and the perplexity, and which of them is `printed`.

    `losses`: nats, (positions,) or (sequences, positions). `mask`: the same shape, true for real tokens. `returns`:
    what the printed number is. Raises BadInput for shapes that differ, a loss that is no finite number, and arrays
    without a real token.
    """
    values, real = np.asarray(losses, np.float64), np.asarray(mask)
    if values.shape != real.shape:
        raise BadInput(
            f"the mask has shape {real.shape}, and the losses {values.shape}",
            where="mask",
            mend="give one entry a loss",
        )
    outside = np.argwhere(~(np.abs(values) <= LARGEST_LOSS))
    if len(outside):
        at = tuple(int(i) for i in outside[0])
        raise BadInput(
            f"the loss at {at} is no finite number of at most 1e6 nats", where="losses", mend="leave that position out"
        )
    sequence = None
    if values.ndim == 2:
        sequence = np.repeat(np.arange(values.shape[0]), values.shape[1])
    arrays = TokenArrays(values.reshape(-1), real.reshape(-1).astype(bool), sequence)
    return split_audit(arrays, printed=printed, returns=returns)


def split_audit(arrays: TokenArrays, *, printed: Printed | None, returns: Returns) -> Audit:
    """As `dilution_of_arrays`, of arrays that were read."""
    split = split_of(arrays)
    shown = [split[f"{'ppl' if returns == 'perplexity' else 'mean'}_{which}"] for which in ("all", "real")]
    finding, said = _finding(split, shown, printed)
    pads = int(split["pads"])
    head = (
        f"{share_percent(split['p'])} of the {len(arrays):,} scored positions are padding, with a mean loss of "
        f"{nats(split['pad_loss'])} nats: the {returns} is {_figures(shown[0])} with them and {_figures(shown[1])} on "
        "real tokens"
        if pads
        else f"none of {len(arrays):,} positions is padding: the {returns} is {_figures(shown[1])}"
    )
    return Audit(
        mechanism="dilution",
        basis_class=BasisClass.MASK,
        finding=finding,
        sentence=sentence(f"{head}{said}"),
        left=Side("all positions", _figures(shown[0]), f"{returns}, padding scored"),
        right=Side("real tokens", _figures(shown[1]), f"{returns}, padding left out"),
        missing=() if printed is not None and finding is not AuditAnswer.INSUFFICIENT else (_ask(printed),),
        witness=None if finding is AuditAnswer.SAME_BASIS else _witness(arrays),
        details={**split, "returns": returns, "by_position": by_position(arrays) if pads else None},
    )


def split_of(arrays: TokenArrays) -> Mapping[str, Any]:
    """Share, mean pad loss, and mean loss and perplexity of all positions and of real tokens; sums are exact.

    A perplexity that no float holds is None. Raises BadInput where no position is a real token.
    """
    real = arrays.real
    n, tokens = len(arrays), int(real.sum())
    if not tokens:
        raise BadInput("no position is a real token", where="mask", mend="write 1 for real tokens, 0 for padding")
    of_real, of_pads = math.fsum(arrays.loss[real]), math.fsum(arrays.loss[~real])
    mean_all, mean_real = (of_real + of_pads) / n, of_real / tokens
    return {
        "tokens": tokens,
        "pads": n - tokens,
        "p": (n - tokens) / n,
        "pad_loss": of_pads / (n - tokens) if n > tokens else 0.0,
        "mean_all": mean_all,
        "mean_real": mean_real,
        "ppl_all": _exp(mean_all),
        "ppl_real": _exp(mean_real),
    }


def by_position(arrays: TokenArrays) -> Mapping[str, list[float | None]]:
    """The mean loss by position in a sequence, of all scored positions and of real tokens, in at most 120 stretches.

    `from`: the first position of each stretch; `scored`, `real`, `pads`: mean losses, None where there are none;
    `share`: that of padding.
    """
    at = arrays.position
    width = -(-(int(at.max()) + 1) // MOST_POINTS)
    bins = at // width
    n = int(bins.max()) + 1
    real = arrays.real
    scored, tokens = _means(arrays.loss, bins, n), _means(arrays.loss[real], bins[real], n)
    pads = _means(arrays.loss[~real], bins[~real], n)
    count = np.bincount(bins, minlength=n)
    padded = np.bincount(bins[~real], minlength=n)
    return {
        "from": [float(i * width) for i in range(n)],
        "scored": scored,
        "real": tokens,
        "pads": pads,
        "share": [float(a / b) if b else None for a, b in zip(padded, count, strict=True)],
    }


def _means(loss: Floats, bins: Ints, n: int) -> list[float | None]:
    total, count = np.bincount(bins, loss, minlength=n), np.bincount(bins, minlength=n)
    return [float(a / b) if b else None for a, b in zip(total, count, strict=True)]


def _finding(split: Mapping[str, Any], shown: list[Any], printed: Printed | None) -> tuple[AuditAnswer, str]:
    if not split["pads"]:
        return AuditAnswer.SAME_BASIS, ""
    if abs(split["mean_all"] - split["mean_real"]) <= SAME * max(1.0, abs(split["mean_real"])):
        return AuditAnswer.NOT_MATERIAL, ", which is the same"
    if printed is None:
        return AuditAnswer.INSUFFICIENT, "; which of them was printed is not given"
    padded, true = (
        value is not None and fits(value, printed) for value, fits in zip(shown, (rounds_to, may_print_as), strict=True)
    )
    if true:
        both = ", as of both to its digits" if padded else ""
        return AuditAnswer.SAME_BASIS, f"; {printed.text} is that of real tokens{both}"
    if padded:
        return AuditAnswer.MISMATCH_PROVEN, f"; {printed.text} is that with padding"
    return AuditAnswer.INSUFFICIENT, f"; {printed.text} is neither"


def _ask(printed: Printed | None) -> str:
    return "the printed number" if printed is None else f"what {printed.text} was computed over"


def _witness(arrays: TokenArrays) -> Mapping[str, Any] | None:
    """One real token and one pad whose losses lie furthest apart: with the pad the perplexity is another."""
    real = np.flatnonzero(arrays.real)
    pads = np.flatnonzero(~arrays.real)
    ends = [
        (pick(arrays.loss[real]), other(arrays.loss[pads]))
        for pick, other in ((np.argmax, np.argmin), (np.argmin, np.argmax))
    ]
    pairs = [(int(real[i]), int(pads[j])) for i, j in ends]
    token, pad = max(pairs, key=lambda pair: abs(arrays.loss[pair[0]] - arrays.loss[pair[1]]))
    losses = [float(arrays.loss[token]), float(arrays.loss[pad])]
    if losses[0] == losses[1]:
        return None
    return {
        "losses": losses, "mask": [True, False], "entries": [token, pad],
        "ppl_all": _exp(sum(losses) / 2), "ppl_real": _exp(losses[0]),
    }  # fmt: skip


def _exp(mean: float) -> float | None:
    return math.exp(mean) if mean < 700 else None


def _figures(value: float | None) -> str:
    return "beyond all bounds" if value is None else figures(value, 6)
