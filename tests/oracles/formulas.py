"""The catalogues' formulas once more, in plain Python over single numbers: loops, math, statistics and scipy's ranks.

`FORMULAS[catalogue][entry]` takes the catalogue's arguments; nothing is shared with the catalogues.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import rankdata

Function = Callable[..., Any]


def _sum(term: Callable[[float, float], float]) -> Function:
    return lambda p, q: math.fsum(term(float(a), float(b)) for a, b in zip(p, q, strict=True))


def _swapped(function: Function) -> Function:
    return lambda p, q: function(q, p)


def _middle(p: Any, q: Any) -> list[float]:
    return [(float(a) + float(b)) / 2 for a, b in zip(p, q, strict=True)]


KL = _sum(lambda a, b: a * (math.log(a) - math.log(b)))
CE = _sum(lambda a, b: -a * math.log(b))
CHI2 = _sum(lambda a, b: a * a / b - 2 * a + b)
BC = _sum(lambda a, b: math.sqrt(a) * math.sqrt(b))
K2 = _sum(lambda a, b: a * (math.log(a) - math.log(b)) ** 2 / 2)


def _entropy(p: Any, _q: Any) -> float:
    return -math.fsum(float(a) * math.log(a) for a in p)


def js(p: Any, q: Any) -> float:
    m = _middle(p, q)
    return _entropy(m, None) - (_entropy(p, None) + _entropy(q, None)) / 2


DIVERGENCES: dict[str, Function] = {
    "KL(p||q)": KL,
    "CE(p,q)": CE,
    "chi2(p||q)": CHI2,
    "H(p)": _entropy,
    "KL(p||m)": lambda p, q: KL(p, _middle(p, q)),
    "KL(m||p)": lambda p, q: KL(_middle(p, q), p),
    "k2(p||q)": K2,
    "Renyi-inf(p||q)": lambda p, q: math.log(max(float(a) / float(b) for a, b in zip(p, q, strict=True))),
}
DIVERGENCES |= {
    name.replace("p", "x").replace("q", "p").replace("x", "q"): _swapped(function)
    for name, function in DIVERGENCES.items()
    if name != "chi2(p||q)"
}
DIVERGENCES |= {
    "chi2(q||p)": _swapped(CHI2),
    "JS": js,
    "Jeffreys": _sum(lambda a, b: (a - b) * (math.log(a) - math.log(b))),
    "TV": _sum(lambda a, b: max(a - b, 0.0)),
    "L2": lambda p, q: math.dist([*map(float, p)], [*map(float, q)]),
    "squared L2": lambda p, q: math.dist([*map(float, p)], [*map(float, q)]) ** 2,
    "Linf": lambda p, q: max(abs(float(a) - float(b)) for a, b in zip(p, q, strict=True)),
    "Hellinger": lambda p, q: math.sqrt(1 - BC(p, q)),
    "squared Hellinger": lambda p, q: 1 - BC(p, q),
    "Bhattacharyya": lambda p, q: -math.log(BC(p, q)),
    "Bhattacharyya coefficient": BC,
    "triangular discrimination": _sum(lambda a, b: (a - b) ** 2 / (a + b)),
    "inner product": _sum(lambda a, b: a * b),
    "cosine similarity": lambda p, q: _sum(lambda a, b: a * b)(p, q) / (math.hypot(*p) * math.hypot(*q)),
    "H(p)-H(q)": lambda p, q: _entropy(p, q) - _entropy(q, p),
}

FAMILIES: dict[str, Callable[[float], Function]] = {
    "Renyi-{}(p||q)": lambda a: lambda p, q: math.log(_sum(lambda x, y: x**a * y ** (1 - a))(p, q)) / (a - 1),
    "Tsallis-{}(p||q)": lambda a: lambda p, q: (1 - _sum(lambda x, y: x * (x / y) ** (a - 1))(p, q)) / (1 - a),
    "KL(p||(1-{0})p+{0}q)": lambda a: _sum(lambda x, y: x * math.log(x / (x + a * (y - x)))),
    "KL((1-{0})p+{0}q||p)": lambda a: _sum(lambda x, y: (x + a * (y - x)) * math.log((x + a * (y - x)) / x)),
}


def trainer(alpha: float) -> Function:
    """The trainer's loss of two distributions T and S: αKL(T‖M) + (1−α)KL(S‖M), M = (1−α)S + αT."""

    def loss(t: Any, s: Any) -> float:
        if alpha == 0:
            return KL(t, s)
        if alpha == 1:
            return KL(s, t)
        m = [(1 - alpha) * float(b) + alpha * float(a) for a, b in zip(t, s, strict=True)]
        return alpha * KL(t, m) + (1 - alpha) * KL(s, m)

    return loss


def _all(rows: Any) -> list[float]:
    return [float(x) for row in rows for x in row]


def _means(rows: Any) -> list[float]:
    return [statistics.fmean(map(float, row)) for row in rows]


REDUCTIONS: dict[str, Function] = {
    "token mean": lambda rows: statistics.fmean(_all(rows)),
    "sequence mean": lambda rows: statistics.fmean(_means(rows)),
    "sum": lambda rows: math.fsum(_all(rows)),
    "batchmean": lambda rows: math.fsum(_all(rows)) / len(rows),
    "padded mean": lambda rows: math.fsum(_all(rows)) / (len(rows) * max(len(row) for row in rows)),
    "sum / longest sequence": lambda rows: math.fsum(_all(rows)) / max(len(row) for row in rows),
    "sum of sequence means": lambda rows: math.fsum(_means(rows)),
    "mean of micro-batch means (2)": lambda rows: statistics.fmean(
        statistics.fmean(_all(rows[i : i + 2])) for i in range(0, len(rows), 2)
    ),
    "root-length mean": lambda rows: statistics.fmean(math.fsum(map(float, r)) / len(r) ** 0.5 for r in rows),
    "length-weighted sequence sum": lambda rows: (
        math.fsum(len(r) * math.fsum(map(float, r)) for r in rows) / len(_all(rows))
    ),
    "median of tokens": lambda rows: statistics.median(_all(rows)),
    "median of sequence means": lambda rows: statistics.median(_means(rows)),
    "largest sequence mean": lambda rows: max(_means(rows)),
    "largest token": lambda rows: max(_all(rows)),
    "mean square": lambda rows: statistics.fmean(x * x for x in _all(rows)),
    "root mean square": lambda rows: statistics.fmean(x * x for x in _all(rows)) ** 0.5,
    "mean of last tokens": lambda rows: statistics.fmean(float(row[-1]) for row in rows),
    "token mean without first tokens": lambda rows: statistics.fmean(float(x) for row in rows for x in row[1:]),
}

PERPLEXITY: dict[str, Function] = {
    "token perplexity": lambda rows, _w, _c, _b: math.exp(statistics.fmean(_all(rows))),
    "exp of the sequence mean": lambda rows, _w, _c, _b: math.exp(statistics.fmean(_means(rows))),
    "mean of sequence perplexities": lambda rows, _w, _c, _b: statistics.fmean(map(math.exp, _means(rows))),
    "median of sequence perplexities": lambda rows, _w, _c, _b: statistics.median(map(math.exp, _means(rows))),
    "harmonic mean of sequence perplexities": lambda rows, _w, _c, _b: statistics.harmonic_mean(
        [math.exp(m) for m in _means(rows)]
    ),
    "mean of token perplexities": lambda rows, _w, _c, _b: statistics.fmean(map(math.exp, _all(rows))),
    "2 to the nats": lambda rows, _w, _c, _b: 2 ** statistics.fmean(_all(rows)),
    "word perplexity": lambda rows, w, _c, _b: math.exp(math.fsum(_all(rows)) / w),
    "character perplexity": lambda rows, _w, c, _b: math.exp(math.fsum(_all(rows)) / c),
    "byte perplexity": lambda rows, _w, _c, b: math.exp(math.fsum(_all(rows)) / b),
    "perplexity per sequence": lambda rows, _w, _c, _b: math.exp(math.fsum(_all(rows)) / len(rows)),
    "nats per token": lambda rows, _w, _c, _b: statistics.fmean(_all(rows)),
    "nats per word": lambda rows, w, _c, _b: math.fsum(_all(rows)) / w,
    "nats per character": lambda rows, _w, c, _b: math.fsum(_all(rows)) / c,
    "nats per byte": lambda rows, _w, _c, b: math.fsum(_all(rows)) / b,
}


class _Confusion:
    """Per class: true positives, false positives, false negatives, counted item by item."""

    def __init__(self, y: Any, z: Any) -> None:
        pairs = [(int(a), int(b)) for a, b in zip(y, z, strict=True)]
        self.classes = sorted({label for pair in pairs for label in pair})
        self.n = len(pairs)
        self.tp = {k: sum(a == k == b for a, b in pairs) for k in self.classes}
        self.fp = {k: sum(b == k != a for a, b in pairs) for k in self.classes}
        self.fn = {k: sum(a == k != b for a, b in pairs) for k in self.classes}

    def precision(self, k: int) -> float:
        return self.tp[k] / (self.tp[k] + self.fp[k]) if self.tp[k] else 0.0

    def recall(self, k: int) -> float:
        return self.tp[k] / (self.tp[k] + self.fn[k]) if self.tp[k] else 0.0

    def f(self, k: int, beta: float = 1) -> float:
        p, r = self.precision(k), self.recall(k)
        return (1 + beta**2) * p * r / (beta**2 * p + r) if p + r else 0.0

    def true(self, k: int) -> int:
        return self.tp[k] + self.fn[k]

    def called(self, k: int) -> int:
        return self.tp[k] + self.fp[k]

    def macro(self, score: Callable[[int], float]) -> float:
        return statistics.fmean(score(k) for k in self.classes)

    def weighted(self, score: Callable[[int], float], weight: Callable[[int], int]) -> float:
        return math.fsum(score(k) * weight(k) for k in self.classes) / self.n


def _c(score: Callable[[_Confusion], float]) -> Function:
    return lambda y, z: score(_Confusion(y, z))


def _kappa(c: _Confusion) -> float:
    expected = sum(Fraction(c.true(k) * c.called(k), c.n**2) for k in c.classes)
    return float((Fraction(sum(c.tp.values()), c.n) - expected) / (1 - expected))


def _correlation(y: Any, z: Any) -> float:
    """Gorodkin's as a correlation of indicator vectors: covariances summed over classes."""
    classes = sorted({*map(int, y), *map(int, z)})
    indicators = [[[float(int(a) == k) for a in labels] for k in classes] for labels in (y, z)]

    def covariance(left: list[list[float]], right: list[list[float]]) -> float:
        return math.fsum(statistics.covariance(a, b) for a, b in zip(left, right, strict=True))

    u, v = indicators
    return covariance(u, v) / math.sqrt(covariance(u, u) * covariance(v, v))


CLASSIFICATION: dict[str, Function] = {
    "accuracy": lambda y, z: statistics.fmean(float(a == b) for a, b in zip(y, z, strict=True)),
    "error rate": lambda y, z: statistics.fmean(float(a != b) for a, b in zip(y, z, strict=True)),
    "macro F1 (mean of F1)": _c(lambda c: c.macro(c.f)),
    "macro F1 (harmonic mean of means)": _c(
        lambda c: statistics.harmonic_mean([c.macro(c.precision), c.macro(c.recall)])
    ),
    "weighted F1": _c(lambda c: c.weighted(c.f, c.true)),
    "weighted F1 (by y_pred)": _c(lambda c: c.weighted(c.f, c.called)),
    "macro precision": _c(lambda c: c.macro(c.precision)),
    "balanced accuracy": _c(lambda c: c.macro(c.recall)),
    "adjusted balanced accuracy": _c(lambda c: (3 * c.macro(c.recall) - 1) / 2),
    "adjusted macro precision": _c(lambda c: (3 * c.macro(c.precision) - 1) / 2),
    "weighted precision": _c(lambda c: c.weighted(c.precision, c.true)),
    "recall weighted by calls": _c(lambda c: c.weighted(c.recall, c.called)),
    "F1 of class 1": _c(lambda c: c.f(1)),
    "precision of class 1": _c(lambda c: c.precision(1)),
    "recall of class 1": _c(lambda c: c.recall(1)),
    "F1 of class 0": _c(lambda c: c.f(0)),
    "precision of class 0": _c(lambda c: c.precision(0)),
    "recall of class 0": _c(lambda c: c.recall(0)),
    "macro F2": _c(lambda c: c.macro(lambda k: c.f(k, 2))),
    "macro F0.5": _c(lambda c: c.macro(lambda k: c.f(k, 0.5))),
    "macro Jaccard": _c(lambda c: c.macro(lambda k: c.f(k) / (2 - c.f(k)))),
    "micro Jaccard": _c(lambda c: sum(c.tp.values()) / (2 * c.n - sum(c.tp.values()))),
    "kappa": _c(_kappa),
    "MCC": _correlation,
    "geometric mean of recalls": _c(lambda c: statistics.geometric_mean([c.recall(k) for k in c.classes])),
    "geometric mean of precisions": _c(lambda c: statistics.geometric_mean([c.precision(k) for k in c.classes])),
}


def _centred(x: Any) -> list[float]:
    mean = statistics.fmean(map(float, x))
    return [float(v) - mean for v in x]


def _quantile(x: Any, share: float) -> float:
    ordered, place = sorted(map(float, x)), share * (len(x) - 1)
    below = math.floor(place)
    above = min(below + 1, len(x) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


STD: dict[str, Function] = {
    "std (ddof 0)": lambda x: statistics.pstdev(map(float, x)),
    "std (ddof 1)": lambda x: statistics.stdev(map(float, x)),
    "variance (ddof 0)": lambda x: statistics.pvariance(map(float, x)),
    "variance (ddof 1)": lambda x: statistics.variance(map(float, x)),
    "sum of squares": lambda x: math.fsum(v * v for v in _centred(x)),
    "standard error (ddof 0)": lambda x: statistics.pstdev(map(float, x)) / math.sqrt(len(x)),
    "standard error (ddof 1)": lambda x: statistics.stdev(map(float, x)) / math.sqrt(len(x)),
    "coefficient of variation (ddof 0)": lambda x: statistics.pstdev(map(float, x)) / statistics.fmean(x),
    "coefficient of variation (ddof 1)": lambda x: statistics.stdev(map(float, x)) / statistics.fmean(x),
    "mean absolute deviation": lambda x: statistics.fmean(abs(v) for v in _centred(x)),
    "median absolute deviation": lambda x: statistics.median(
        abs(float(v) - statistics.median(map(float, x))) for v in x
    ),
    "range": lambda x: max(map(float, x)) - min(map(float, x)),
    "interquartile range": lambda x: _quantile(x, 0.75) - _quantile(x, 0.25),
    "root mean square": lambda x: math.hypot(*map(float, x)) / math.sqrt(len(x)),
}


def _none_correct(n: int, c: int, k: int) -> Fraction:
    """The share of the k-subsets of n samples without one of the c correct ones, factor by factor."""
    product = Fraction(1)
    for i in range(k):
        product *= Fraction(max(n - c - i, 0), n - i)
    return product


def _all_correct(n: int, c: int, k: int) -> Fraction:
    return _none_correct(n, n - c, k)


def _over_problems(term: Callable[[int, int, int], Any]) -> Function:
    return lambda n, c, k: float(statistics.fmean(float(term(n, int(each), k)) for each in c))


def _solved(c: Any) -> int:
    return sum(int(each) > 0 for each in c)


PASS_AT_K: dict[str, Function] = {
    "pass@k (unbiased)": _over_problems(lambda n, c, k: 1 - _none_correct(n, c, k)),
    "pass@k (with replacement)": _over_problems(lambda n, c, k: 1 - Fraction(n - c, n) ** k),
    "pass@k (pooled, unbiased)": lambda n, c, k: float(1 - _none_correct(n * len(c), sum(map(int, c)), k)),
    "pass@k (pooled, with replacement)": lambda n, c, k: 1 - (1 - sum(map(int, c)) / (n * len(c))) ** k,
    "pass@k (problem counts, unbiased)": lambda _n, c, k: float(1 - _none_correct(len(c), _solved(c), k)),
    "pass@k (problem counts, with replacement)": lambda _n, c, k: 1 - (1 - _solved(c) / len(c)) ** k,
    "pass@n": lambda _n, c, _k: _solved(c) / len(c),
    "pass@1": _over_problems(lambda n, c, _k: c / n),
    "k times pass@1, at most 1": _over_problems(lambda n, c, k: min(1, k * c / n)),
    "pass^k (unbiased)": _over_problems(_all_correct),
    "pass^k (with replacement)": _over_problems(lambda n, c, k: Fraction(c, n) ** k),
}


def _rates(e: Any, w: Any) -> list[float]:
    return [int(a) / int(b) for a, b in zip(e, w, strict=True)]


WORD_ERROR_RATE: dict[str, Function] = {
    "corpus WER": lambda e, w: sum(map(int, e)) / sum(map(int, w)),
    "mean of utterance WERs": lambda e, w: statistics.fmean(_rates(e, w)),
    "median of utterance WERs": lambda e, w: statistics.median(_rates(e, w)),
    "mean of clipped utterance WERs": lambda e, w: statistics.fmean(min(1.0, rate) for rate in _rates(e, w)),
    "errors per utterance": lambda e, _w: sum(map(int, e)) / len(e),
    "total errors": lambda e, _w: sum(map(int, e)),
    "errors over mean length and utterances squared": lambda e, w: sum(map(int, e)) / len(e) / sum(map(int, w)),
    "sentence error rate": lambda e, _w: sum(int(each) > 0 for each in e) / len(e),
    "corpus word accuracy": lambda e, w: 1 - sum(map(int, e)) / sum(map(int, w)),
    "mean of utterance accuracies": lambda e, w: 1 - statistics.fmean(_rates(e, w)),
    "corpus WER, errors clipped": lambda e, w: (
        sum(min(int(a), int(b)) for a, b in zip(e, w, strict=True)) / sum(map(int, w))
    ),
}


def _sets(masks: Any) -> list[set[int]]:
    return [{i for i, on in enumerate(row) if on} for row in masks]


def _images(score: Callable[[set[int], set[int]], float], *, empty: float | None) -> Function:
    def mean(p: Any, t: Any) -> float:
        pairs = list(zip(_sets(p), _sets(t), strict=True))
        kept = [score(a, b) for a, b in pairs if a | b]
        return statistics.fmean(kept if empty is None else [*kept, *[empty] * (len(pairs) - len(kept))])

    return mean


def _one(masks: Any) -> set[tuple[int, int]]:
    return {(i, j) for i, row in enumerate(masks) for j, on in enumerate(row) if on}


def _dice(a: set[Any], b: set[Any]) -> float:
    return 2 * len(a & b) / (len(a) + len(b))


def _jaccard(a: set[Any], b: set[Any]) -> float:
    return len(a & b) / len(a | b)


def _mean_precision(p: Any, t: Any) -> float:
    return statistics.fmean(len(a & b) / len(a) for a, b in zip(_sets(p), _sets(t), strict=True) if a)


DICE: dict[str, Function] = {
    "mean Dice (empty = 1)": _images(_dice, empty=1.0),
    "mean Dice (empty = 0)": _images(_dice, empty=0.0),
    "mean Dice (empty left out)": _images(_dice, empty=None),
    "mean Dice (smoothed by 1)": lambda p, t: statistics.fmean(
        (2 * len(a & b) + 1) / (len(a) + len(b) + 1) for a, b in zip(_sets(p), _sets(t), strict=True)
    ),
    "pooled Dice": lambda p, t: _dice(_one(p), _one(t)),
    "mean IoU (empty = 1)": _images(_jaccard, empty=1.0),
    "mean IoU (empty = 0)": _images(_jaccard, empty=0.0),
    "mean IoU (empty left out)": _images(_jaccard, empty=None),
    "pooled IoU": lambda p, t: _jaccard(_one(p), _one(t)),
    "Dice of mean precision and recall": lambda p, t: statistics.harmonic_mean(
        [_mean_precision(p, t), _mean_precision(t, p)]
    ),
    "mean precision": _mean_precision,
    "mean recall": _swapped(_mean_precision),
    "pooled precision": lambda p, t: len(_one(p) & _one(t)) / len(_one(p)),
    "pooled recall": lambda p, t: len(_one(p) & _one(t)) / len(_one(t)),
    "pixel accuracy": lambda p, t: 1 - len(_one(p) ^ _one(t)) / np.size(p),
}

_METHODS = ("average", "min", "max", "dense", "ordinal")


def _ranks(method: str, change: Callable[[Any, int], Any], sign: int = 1) -> Function:
    return lambda x: change(rankdata(sign * np.asarray(x), method=method), len(x))


RANK_TIES: dict[str, Function] = {
    **{m: _ranks(m, lambda r, _n: r) for m in _METHODS},
    **{f"{m}, largest first": _ranks(m, lambda r, _n: r, -1) for m in _METHODS},
    **{f"{m}, from 0": _ranks(m, lambda r, _n: r - 1) for m in _METHODS},
    **{f"{m} / n": _ranks(m, lambda r, n: r / n) for m in _METHODS},
}


def _step_rates(items: Any, s: Any) -> list[float]:
    return [float(a) / float(b) for a, b in zip(items, s, strict=True)]


THROUGHPUT: dict[str, Function] = {
    "items per second": lambda i, s, _g: math.fsum(i) / math.fsum(s),
    "items per second per GPU": lambda i, s, g: math.fsum(i) / (math.fsum(s) * g),
    "items per second times GPUs": lambda i, s, g: math.fsum(i) * g / math.fsum(s),
    "mean of step rates": lambda i, s, _g: statistics.fmean(_step_rates(i, s)),
    "mean of step rates per GPU": lambda i, s, g: statistics.fmean(_step_rates(i, s)) / g,
    "median of step rates": lambda i, s, _g: statistics.median(_step_rates(i, s)),
    "best step rate": lambda i, s, _g: max(_step_rates(i, s)),
    "items per second without the first step": lambda i, s, _g: (math.fsum(i) - i[0]) / (math.fsum(s) - s[0]),
    "seconds per item": lambda i, s, _g: math.fsum(s) / math.fsum(i),
    "GPU seconds per item": lambda i, s, g: g * math.fsum(s) / math.fsum(i),
    "mean of seconds per item": lambda i, s, _g: statistics.fmean(1 / rate for rate in _step_rates(i, s)),
    "seconds per step": lambda _i, s, _g: statistics.fmean(s),
    "GPU seconds per step": lambda _i, s, g: g * statistics.fmean(s),
    "steps per second": lambda _i, s, _g: len(s) / math.fsum(s),
    "items per step per mean step time, unweighted": lambda i, s, _g: (
        statistics.fmean(i) / statistics.harmonic_mean([*map(float, s)])
    ),
}

UTILISATION: dict[str, Function] = {
    f"6N{attention}{per}": lambda n, layers, d, t, r, g, peak, factor=factor, per=per: (
        (r / peak) * (6 * n + factor * layers * d * t) / (1 if per else g)
    )
    for attention, factor in (("", 0), (" + attention", 12), (" + causal attention", 6))
    for per in ("", ", not per GPU")
}


def bleu(hypotheses: list[list[str]], references: list[list[str]]) -> float:
    """BLEU of tokenised sentences by counting every n-gram position once."""
    logs = 0.0
    for n in range(1, 5):
        hits = possible = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            left = Counter(zip(*(reference[i:] for i in range(n)), strict=False))
            for gram in zip(*(hypothesis[i:] for i in range(n)), strict=False):
                possible += 1
                if left[gram]:
                    left[gram] -= 1
                    hits += 1
        if not hits:
            return 0.0
        logs += math.log(hits / possible) / 4
    c, r = (len([*itertools.chain.from_iterable(side)]) for side in (hypotheses, references))
    return math.exp(logs) * (1.0 if c >= r else math.exp(1 - r / c))


def _mean_bleu(hypotheses: list[list[str]], references: list[list[str]]) -> float:
    return statistics.fmean(bleu([a], [b]) for a, b in zip(hypotheses, references, strict=True))


def split_13a(text: str) -> list[str]:
    """mteval-v13a one character at a time, for ASCII text without entities or line breaks."""
    out, padded = [], f" {text} "
    for before, character, after in zip(padded, padded[1:], padded[2:], strict=False):
        alone = (not character.isalnum() and character not in "',-. ") or (
            character in ".," and not (before.isdigit() and after.isdigit())
        )
        alone = alone or (character == "-" and before.isdigit())
        out.append(f" {character} " if alone else character)
    return "".join(out).split()


BLEU: dict[str, Function] = {
    f"{title} ({name}{', lower case' if lower else ''})": lambda h, r, score=score, split=split, lower=lower: score(
        *([split(text.lower() if lower else text) for text in side] for side in (h, r))
    )
    for title, score in (("BLEU", bleu), ("mean sentence BLEU", _mean_bleu))
    for name, split in (("13a", split_13a), ("none", str.split), ("char", lambda text: [*"".join(text.split())]))
    for lower in (False, True)
}

FORMULAS: dict[str, dict[str, Function]] = {
    "divergences": DIVERGENCES,
    "reductions": REDUCTIONS,
    "classification": CLASSIFICATION,
    "perplexity": PERPLEXITY,
    "std": STD,
    "pass-at-k": PASS_AT_K,
    "word-error-rate": WORD_ERROR_RATE,
    "dice": DICE,
    "rank-ties": RANK_TIES,
    "throughput": THROUGHPUT,
    "utilisation": UTILISATION,
    "bleu": BLEU,
}
"""Catalogue -> name of an entry -> the formula."""
