"""Overlap of masks: the callable takes prediction and truth, bool arrays (images, pixels)."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from verifier.audits.catalogues.entry import INPUTS, Arguments, Catalogue, Entry, Floats, Formula, generator, whole
from verifier.audits.space import Draw, Raw, Space

Masks = NDArray[np.bool_]


class _Areas(NamedTuple):
    """Pixels of each image, float64: predicted, true, both."""

    predicted: Floats
    true: Floats
    both: Floats


def _areas(prediction: Masks, truth: Masks) -> _Areas:
    a, b = np.asarray(prediction, dtype=np.bool_), np.asarray(truth, dtype=np.bool_)
    return _Areas(
        a.sum(axis=1).astype(np.float64), b.sum(axis=1).astype(np.float64), (a & b).sum(axis=1).astype(np.float64)
    )


def _per_image(top: Floats, bottom: Floats, *, empty: float) -> Floats:
    return np.divide(top, bottom, out=np.full_like(top, empty), where=bottom > 0)


def _mean(top: Floats, bottom: Floats, *, empty: float | None) -> float:
    """The mean over images, those with nothing below counted as `empty`, or left out for None."""
    if empty is None:
        kept = bottom > 0
        return float(np.mean(top[kept] / bottom[kept]))
    return float(_per_image(top, bottom, empty=empty).mean())


def _dice(empty: float | None) -> Formula:
    def score(p: Masks, t: Masks) -> float:
        a = _areas(p, t)
        return _mean(2 * a.both, a.predicted + a.true, empty=empty)

    return score


def _iou(empty: float | None) -> Formula:
    def score(p: Masks, t: Masks) -> float:
        a = _areas(p, t)
        return _mean(a.both, a.predicted + a.true - a.both, empty=empty)

    return score


def _pooled(p: Masks, t: Masks) -> tuple[float, float, float]:
    a = _areas(p, t)
    return float(a.predicted.sum()), float(a.true.sum()), float(a.both.sum())


def _pooled_dice(p: Masks, t: Masks) -> float:
    predicted, true, both = _pooled(p, t)
    return 2 * both / (predicted + true)


def _pooled_iou(p: Masks, t: Masks) -> float:
    predicted, true, both = _pooled(p, t)
    return both / (predicted + true - both)


def _precision(p: Masks, t: Masks) -> float:
    a = _areas(p, t)
    return _mean(a.both, a.predicted, empty=None)


def _dice_of_means(p: Masks, t: Masks) -> float:
    precision, recall = _precision(p, t), _precision(t, p)
    return 2 * precision * recall / (precision + recall)


def _smoothed(p: Masks, t: Masks) -> float:
    a = _areas(p, t)
    return float(np.mean((2 * a.both + 1) / (a.predicted + a.true + 1)))


ENTRIES = (
    Entry("mean Dice (empty = 1)", "mean_i 2|A∩B|/(|A|+|B|)", "Dice 1945; two empty masks agree", _dice(1.0)),
    Entry("mean Dice (empty = 0)", "mean_i 2|A∩B|/(|A|+|B|)", "Dice 1945; two empty masks score 0", _dice(0.0)),
    Entry("mean Dice (empty left out)", "mean_i 2|A∩B|/(|A|+|B|)", "Dice 1945; over images with a mask", _dice(None)),
    Entry("mean Dice (smoothed by 1)", "mean_i (2|A∩B|+1)/(|A|+|B|+1)", "Milletari 2016, as implemented", _smoothed),
    Entry("pooled Dice", "2Σ|A∩B|/Σ(|A|+|B|)", "Dice 1945; all pixels as one image", _pooled_dice, {"micro Dice": 1}),
    Entry("mean IoU (empty = 1)", "mean_i |A∩B|/|A∪B|", "Jaccard 1912; two empty masks agree", _iou(1.0)),
    Entry("mean IoU (empty = 0)", "mean_i |A∩B|/|A∪B|", "Jaccard 1912; two empty masks score 0", _iou(0.0)),
    Entry("mean IoU (empty left out)", "mean_i |A∩B|/|A∪B|", "Jaccard 1912; over images with a mask", _iou(None)),
    Entry("pooled IoU", "Σ|A∩B|/Σ|A∪B|", "Jaccard 1912; all pixels as one image", _pooled_iou, {"micro IoU": 1}),
    Entry("Dice of mean precision and recall", "2PR/(P+R), of means", "harmonic mean of means", _dice_of_means),
    Entry("mean precision", "mean_i |A∩B|/|A|", "over images with a prediction", _precision, order=(0, 1)),
    Entry("mean recall", "mean_i |A∩B|/|B|", "over images with truth", lambda p, t: _precision(t, p), order=(1, 0)),
    Entry(
        "pooled precision", "Σ|A∩B|/Σ|A|", "all pixels as one image",
        lambda p, t: _pooled(p, t)[2] / _pooled(p, t)[0], order=(0, 1),
    ),
    Entry(
        "pooled recall", "Σ|A∩B|/Σ|B|", "all pixels as one image",
        lambda p, t: _pooled(p, t)[2] / _pooled(p, t)[1], order=(1, 0),
    ),
    Entry("pixel accuracy", "#{A = B}/pixels", "both classes", lambda p, t: np.mean(np.asarray(p) == np.asarray(t))),
)  # fmt: skip


def _generic() -> tuple[Arguments, ...]:
    rng = generator("dice")
    drawn: list[Arguments] = []
    for index in range(INPUTS):
        images, pixels = 5 + index % 4, 12
        truth = np.zeros((images, pixels), dtype=np.bool_)
        prediction = truth.copy()
        for row in range(1 + index % 2, images):  # the first one or two images are empty in both
            size = whole(rng, 2, 9)
            truth[row, :size] = True
            prediction[row, whole(rng, 0, size - 1) : whole(rng, size, pixels)] = True
        drawn.append((prediction, truth))
    return tuple(drawn)


def _raw(draw: Draw, *, images: int, pixels: int) -> Raw:
    return tuple(tuple(tuple(draw(2) == 1 for _ in range(pixels)) for _ in range(images)) for _ in range(2))


def _arguments(raw: Raw) -> tuple[Any, ...]:
    return tuple(np.array(each, dtype=np.bool_) for each in raw)


def complaint(arguments: Arguments) -> str | None:
    """What makes an input no two masks that tell aggregations apart; None where nothing does."""
    if len(arguments) != 2:
        return "it is not prediction and truth"
    prediction, truth = (np.asarray(each) for each in arguments)
    if (
        prediction.dtype != np.bool_
        or truth.dtype != np.bool_
        or prediction.ndim != 2
        or prediction.shape != truth.shape
    ):
        return "it is not two bool arrays (images, pixels) of one shape"
    if np.array_equal(prediction, truth):
        return "both masks are equal, and every score is 1"
    return None


DICE = Catalogue(
    name="dice",
    share=True,
    takes="prediction and truth, bool arrays of one shape (images, pixels)",
    entries=ENTRIES,
    generic=_generic,
    space=Space(
        ("prediction", "truth"),
        tuple(partial(_raw, images=i, pixels=p) for i, p in ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 3))),
        _arguments,
    ),
    complaint=complaint,
    ambiguous={"Dice": "say pooled Dice or mean Dice, and what two empty masks score"},
)
