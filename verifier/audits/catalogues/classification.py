"""Averages over classes: the callable takes y_true and y_pred, integer arrays of one length.

The classes of an input are those that occur in either array; the positive class of a binary score is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verifier.audits.catalogues.entry import INPUTS, Arguments, Catalogue, Entry, Floats, generator, whole
from verifier.audits.space import LABELS

Labels = NDArray[np.int64]
CLASSES = 3


class Counts(NamedTuple):
    """Per class, float64: items that are it, are called it, and both; `items` in all; `classes` by label."""

    true: Floats
    called: Floats
    both: Floats
    items: int
    classes: Labels


def counts(y_true: Labels, y_pred: Labels) -> Counts:
    """The counts per class that occurs in either array."""
    classes = np.unique(np.concatenate([y_true, y_pred]))
    is_true, is_called = y_true[None, :] == classes[:, None], y_pred[None, :] == classes[:, None]
    return Counts(
        is_true.sum(axis=1).astype(np.float64),
        is_called.sum(axis=1).astype(np.float64),
        (is_true & is_called).sum(axis=1).astype(np.float64),
        y_true.size,
        classes,
    )


def _ratio(top: Floats, bottom: Floats) -> Floats:
    """The ratio, 0 where bottom is 0, as evaluators have it."""
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)


def precision(c: Counts) -> Floats:
    """Per class, both / called."""
    return _ratio(c.both, c.called)


def recall(c: Counts) -> Floats:
    """Per class, both / true."""
    return _ratio(c.both, c.true)


def f_score(c: Counts, *, beta: float = 1.0) -> Floats:
    """Per class, (1+β²)·both / (β²·true + called) (van Rijsbergen 1979)."""
    return _ratio((1 + beta**2) * c.both, beta**2 * c.true + c.called)


def kappa(c: Counts) -> float:
    """(observed − expected)/(1 − expected) agreement (Cohen 1960)."""
    observed, expected = c.both.sum() / c.items, float(c.true @ c.called) / c.items**2
    return float((observed - expected) / (1 - expected))


def mcc(c: Counts) -> float:
    """The correlation of K classes (Gorodkin 2004); for two classes Matthews' (1975)."""
    s = float(c.items)
    top = c.both.sum() * s - c.true @ c.called
    return float(top / np.sqrt((s * s - c.true @ c.true) * (s * s - c.called @ c.called)))


def _harmonic(c: Counts) -> float:
    p, r = precision(c).mean(), recall(c).mean()
    return float(2 * p * r / (p + r))


def _weighted(values: Floats, weights: Floats) -> float:
    return float(values @ weights / weights.sum())


def _class_value(c: Counts, values: Floats, *, label: int) -> float:
    found = values[c.classes == label]
    return float(found[0]) if found.size else 0.0


def _on_counts(score: Callable[[Counts], float]) -> Callable[[Labels, Labels], float]:
    return lambda y_true, y_pred: float(score(counts(np.asarray(y_true), np.asarray(y_pred))))


def _entry(
    name: str,
    formula: str,
    source: str,
    score: Callable[[Counts], float],
    *aliases: str,
    order: tuple[int, int] | None = None,
) -> Entry:
    return Entry(name, formula, source, _on_counts(score), dict.fromkeys(aliases, 1.0), order)


def _of_class(label: int, *aliases: str) -> tuple[Entry, ...]:
    f1, p, r = ((alias,) for alias in aliases) if aliases else ((), (), ())
    source = "van Rijsbergen 1979"
    return (
        _entry(
            f"F1 of class {label}", "2TP/(2TP+FP+FN)", source, lambda c: _class_value(c, f_score(c), label=label), *f1
        ),
        _entry(
            f"precision of class {label}", "TP/(TP+FP)", source,
            lambda c: _class_value(c, precision(c), label=label), *p, order=(0, 1),
        ),
        _entry(
            f"recall of class {label}", "TP/(TP+FN)", source,
            lambda c: _class_value(c, recall(c), label=label), *r, order=(1, 0),
        ),
    )  # fmt: skip


ENTRIES = (
    _entry(
        "accuracy", "Σ_k TP_k / n", "share of correct items", lambda c: c.both.sum() / c.items,
        "micro F1", "micro precision", "micro recall", "weighted recall",
    ),
    _entry("error rate", "1 − Σ_k TP_k / n", "share of wrong items", lambda c: 1 - c.both.sum() / c.items),
    _entry("macro F1 (mean of F1)", "(1/K) Σ_k F1_k", "Opitz and Burst 2019", lambda c: f_score(c).mean(), "macro F1"),
    _entry("macro F1 (harmonic mean of means)", "2PR/(P+R), P, R macro", "Opitz and Burst 2019", _harmonic),
    _entry(
        "weighted F1", "Σ_k (n_k/n) F1_k", "weights: how often a class is true",
        lambda c: _weighted(f_score(c), c.true), order=(0, 1),
    ),
    _entry(
        "weighted F1 (by y_pred)", "Σ_k (m_k/n) F1_k", "weights: how often a class is called",
        lambda c: _weighted(f_score(c), c.called), order=(1, 0),
    ),
    _entry(
        "macro precision", "(1/K) Σ_k TP_k / called_k", "unweighted mean", lambda c: precision(c).mean(), order=(0, 1)
    ),
    _entry(
        "balanced accuracy", "(1/K) Σ_k TP_k / true_k", "unweighted mean", lambda c: recall(c).mean(), "macro recall",
        order=(1, 0),
    ),
    _entry(
        "adjusted balanced accuracy", "(BA − 1/K)/(1 − 1/K)", "balanced accuracy above chance",
        lambda c: (recall(c).mean() - 1 / len(c.classes)) / (1 - 1 / len(c.classes)), order=(0, 1),
    ),
    _entry(
        "adjusted macro precision", "(P − 1/K)/(1 − 1/K)", "macro precision above chance",
        lambda c: (precision(c).mean() - 1 / len(c.classes)) / (1 - 1 / len(c.classes)), order=(1, 0),
    ),
    _entry(
        "weighted precision", "Σ_k (n_k/n) P_k", "weights: how often a class is true",
        lambda c: _weighted(precision(c), c.true), order=(0, 1),
    ),
    _entry(
        "recall weighted by calls", "Σ_k (m_k/n) R_k", "weights: how often a class is called",
        lambda c: _weighted(recall(c), c.called), order=(1, 0),
    ),
    *_of_class(1, "binary F1", "binary precision", "binary recall"),
    *_of_class(0),
    _entry("macro F2", "(1/K) Σ_k F2_k", "van Rijsbergen 1979", lambda c: f_score(c, beta=2).mean(), order=(0, 1)),
    _entry(
        "macro F0.5", "(1/K) Σ_k F0.5_k", "van Rijsbergen 1979", lambda c: f_score(c, beta=0.5).mean(), order=(1, 0)
    ),
    _entry(
        "macro Jaccard", "(1/K) Σ_k TP/(TP+FP+FN)", "Jaccard 1912",
        lambda c: _ratio(c.both, c.true + c.called - c.both).mean(), "mean IoU",
    ),
    _entry(
        "micro Jaccard", "ΣTP/Σ(TP+FP+FN)", "Jaccard 1912",
        lambda c: c.both.sum() / (c.true + c.called - c.both).sum(),
    ),
    _entry("kappa", "(p_o − p_e)/(1 − p_e)", "Cohen 1960", kappa, "Cohen's kappa"),
    _entry("MCC", "correlation of K classes", "Gorodkin 2004", mcc, "Matthews correlation coefficient", "phi"),
    _entry(
        "geometric mean of recalls", "(Π_k R_k)^(1/K)", "Kubat 1997",
        lambda c: float(np.prod(recall(c)) ** (1 / len(c.classes))), order=(0, 1),
    ),
    _entry(
        "geometric mean of precisions", "(Π_k P_k)^(1/K)", "the same of precisions",
        lambda c: float(np.prod(precision(c)) ** (1 / len(c.classes))), order=(1, 0),
    ),
)  # fmt: skip


def _generic() -> tuple[Arguments, ...]:
    rng = generator("classification")
    found: list[Arguments] = []
    while len(found) < INPUTS:
        count = whole(rng, 14, 22)
        bound = 0.35 + 0.3 * rng.random()
        y_true = np.array([0 if rng.random() < bound else whole(rng, 0, 2) for _ in range(count)])
        y_pred = np.array([y if rng.random() < 0.55 else whole(rng, 0, 2) for y in y_true])
        c = counts(y_true, y_pred)
        if len(c.classes) == CLASSES and c.both.min() > 0 and np.abs(c.true - c.called).max() > 1:
            found.append((y_true, y_pred))
    return tuple(found)


def complaint(arguments: Arguments) -> str | None:
    """What makes an input no two label arrays that tell averages apart; None where nothing does."""
    if len(arguments) != 2:
        return "it is not y_true and y_pred"
    y_true, y_pred = (np.asarray(labels) for labels in arguments)
    if y_true.ndim != 1 or y_true.shape != y_pred.shape or not y_true.size:
        return "it is not two label arrays of one length"
    if not (np.issubdtype(y_true.dtype, np.integer) and np.issubdtype(y_pred.dtype, np.integer)):
        return "its labels are not whole numbers"
    if np.array_equal(y_true, y_pred):
        return "every item is right, and every score is 1"
    c = counts(y_true, y_pred)
    if np.array_equal(c.true, c.called):
        return "it is symmetric: every class is called as often as it is true, and precision equals recall"
    return None


CLASSIFICATION = Catalogue(
    name="classification",
    share=True,
    takes="y_true and y_pred, int64 arrays of one length, class 1 the positive one",
    entries=ENTRIES,
    generic=_generic,
    space=LABELS,
    complaint=complaint,
    ambiguous={"F1": "say how it is averaged: macro F1 (mean of F1), micro F1, weighted F1 or F1 of class 1"},
)
