"""Divergences between two probability vectors p and q, natural logarithms, both orders of every directed one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice

import numpy as np

from verifier.audits.catalogues.entry import (
    INPUTS,
    NOTHING,
    Arguments,
    Catalogue,
    Entry,
    Family,
    Floats,
    Formula,
    generator,
)
from verifier.audits.space import PROBABILITIES

CLASSES = 5
LEAST_PROBABILITY = 1e-4
LEAST_DISTANCE = 0.05
SYMMETRIC = 1e-3
"""Directions closer than this, relative, are not told apart by an input."""

_BITS = 1 / math.log(2)


def kl(p: Floats, q: Floats) -> float:
    """KL(p||q) = Σ p ln(p/q), in nats (Kullback and Leibler 1951)."""
    return float(np.sum(p * np.log(p / q)))


def entropy(p: Floats) -> float:
    """H(p) = −Σ p ln p, in nats (Shannon 1948)."""
    return float(-np.sum(p * np.log(p)))


def cross_entropy(p: Floats, q: Floats) -> float:
    """CE(p,q) = −Σ p ln q = KL(p||q) + H(p), in nats."""
    return float(-np.sum(p * np.log(q)))


def jensen_shannon(p: Floats, q: Floats) -> float:
    """½KL(p||m) + ½KL(q||m), m = (p+q)/2 (Lin 1991)."""
    return mixture_divergence(p, q, alpha=0.5)


def mixture_divergence(p: Floats, q: Floats, *, alpha: float) -> float:
    """αKL(p||m) + (1−α)KL(q||m) with m = αp + (1−α)q: the weighted Jensen–Shannon divergence (Lin 1991)."""
    m = alpha * p + (1 - alpha) * q
    return alpha * kl(p, m) + (1 - alpha) * kl(q, m)


def skew(p: Floats, q: Floats, *, alpha: float) -> float:
    """KL(p||(1−α)p + αq) (Lee 1999)."""
    return kl(p, (1 - alpha) * p + alpha * q)


def reverse_skew(p: Floats, q: Floats, *, alpha: float) -> float:
    """KL((1−α)p + αq||p): the mixture comes first."""
    return kl((1 - alpha) * p + alpha * q, p)


def renyi(p: Floats, q: Floats, *, alpha: float) -> float:
    """The divergence ln Σ p^α q^(1−α) / (α−1) (Rényi 1961)."""
    return float(np.log(np.sum(p**alpha * q ** (1 - alpha)))) / (alpha - 1)


def tsallis(p: Floats, q: Floats, *, alpha: float) -> float:
    """(Σ p^α q^(1−α) − 1) / (α−1) (Tsallis 1998); the α-divergence (Amari 1985) is it over α."""
    return float((np.sum(p**alpha * q ** (1 - alpha)) - 1) / (alpha - 1))


def chi_square(p: Floats, q: Floats) -> float:
    """χ²(p||q) = Σ (p−q)²/q (Pearson 1900)."""
    return float(np.sum((p - q) ** 2 / q))


def hellinger_squared(p: Floats, q: Floats) -> float:
    """½Σ (√p−√q)² (Hellinger 1909)."""
    return float(np.sum((np.sqrt(p) - np.sqrt(q)) ** 2) / 2)


def log_ratio_square(p: Floats, q: Floats) -> float:
    """½Σ p ln²(p/q)."""
    return float(np.sum(p * np.log(p / q) ** 2) / 2)


def max_divergence(p: Floats, q: Floats) -> float:
    """The largest ln(p/q): Rényi's divergence of order ∞."""
    return float(np.max(np.log(p / q)))


def _symmetric() -> Iterator[Entry]:
    yield Entry("JS", "½KL(p||m) + ½KL(q||m), m = (p+q)/2", "Lin 1991", jensen_shannon, {"JSD": 1, "JS in bits": _BITS})
    yield Entry(
        "Jeffreys",
        "KL(p||q) + KL(q||p)",
        "Jeffreys 1946",
        lambda p, q: kl(p, q) + kl(q, p),
        {"symmetric KL": 1, "mean of both KL": 0.5},
    )
    yield Entry("TV", "½Σ|p−q|", "total variation", lambda p, q: np.abs(p - q).sum() / 2, {"L1": 2, "MAE": 2 / CLASSES})
    yield Entry("L2", "√Σ(p−q)²", "Euclidean norm", lambda p, q: np.sqrt(np.sum((p - q) ** 2)))
    yield Entry(
        "squared L2",
        "Σ(p−q)²",
        "Brier 1950",
        lambda p, q: np.sum((p - q) ** 2),
        {"Brier": 1, "MSE": 1 / CLASSES},
    )
    yield Entry("Linf", "max|p−q|", "maximum norm", lambda p, q: np.abs(p - q).max())
    yield Entry(
        "Hellinger",
        "√(½Σ(√p−√q)²)",
        "Hellinger 1909",
        lambda p, q: np.sqrt(hellinger_squared(p, q)),
        {"Matusita": 2**0.5},
    )
    yield Entry(
        "squared Hellinger",
        "½Σ(√p−√q)² = 1 − Σ√(pq)",
        "Hellinger 1909",
        hellinger_squared,
        {"Tsallis-1/2": 2, "alpha-divergence-1/2": 4},
    )
    yield Entry(
        "Bhattacharyya",
        "−ln Σ√(pq)",
        "Bhattacharyya 1943",
        lambda p, q: -np.log(np.sum(np.sqrt(p * q))),
        {"Renyi-1/2": 2},
    )
    yield Entry("Bhattacharyya coefficient", "Σ√(pq)", "Bhattacharyya 1943", lambda p, q: np.sum(np.sqrt(p * q)))
    yield Entry(
        "triangular discrimination",
        "Σ(p−q)²/(p+q)",
        "Le Cam 1986",
        lambda p, q: np.sum((p - q) ** 2 / (p + q)),
        {"Le Cam": 0.5},
    )
    yield Entry("inner product", "Σpq", "probability of agreement", lambda p, q: np.sum(p * q))
    yield Entry(
        "cosine similarity",
        "Σpq/(‖p‖‖q‖)",
        "angle between vectors",
        lambda p, q: np.sum(p * q) / np.sqrt(np.sum(p * p) * np.sum(q * q)),
    )
    yield Entry(
        "H({p})-H({q})",
        "H(p) − H(q)",
        "difference of Shannon entropies",
        lambda p, q: entropy(p) - entropy(q),
        order=(0, 1),
    )


def _directed() -> Iterator[Entry]:
    yield from _both(
        "KL({p}||{q})", "Σ p ln(p/q)", "Kullback and Leibler 1951", kl,
        {"relative entropy ({p}||{q})": 1, "KL({p}||{q}) in bits": _BITS,
         "mean over classes of KL({p}||{q})": 1 / CLASSES, "expected k1({p}||{q})": 1, "expected k3({p}||{q})": 1},
    )  # fmt: skip
    yield from _both(
        "CE({p},{q})", "−Σ p ln q", "Shannon 1948", cross_entropy, {"CE({p},{q}) in bits": _BITS},
        objective={"KL({p}||{q})": "{q}"},
    )  # fmt: skip
    yield from _both(
        "chi2({p}||{q})", "Σ (p−q)²/q", "Pearson 1900", chi_square,
        {"Tsallis-2({p}||{q})": 1, "alpha-divergence-2({p}||{q})": 0.5},
    )  # fmt: skip
    yield from _both("H({p})", "−Σ p ln p", "Shannon 1948", lambda p, _q: entropy(p), {"H({p}) in bits": _BITS})
    yield from _both("KL({p}||m)", "Σ p ln(p/m), m = (p+q)/2", "Lin 1991", partial(skew, alpha=0.5), {"K({p}||{q})": 1})
    yield from _both(
        "KL(m||{p})", "Σ m ln(m/p), m = (p+q)/2", "Kullback and Leibler 1951", partial(reverse_skew, alpha=0.5)
    )
    yield from _both("k2({p}||{q})", "½Σ p ln²(p/q)", "expectation of half the squared log ratio", log_ratio_square)
    yield from _both(
        "Renyi-inf({p}||{q})", "max ln(p/q)", "Rényi 1961", max_divergence, {"max-divergence({p}||{q})": 1}
    )


def _both(  # noqa: PLR0917  # one row of the table above, in the order of Entry
    name: str,
    formula: str,
    source: str,
    function: Formula,
    aliases: Mapping[str, float] = NOTHING,
    objective: Mapping[str, str] | None = None,
) -> Iterator[Entry]:
    """The entry and its twin with the arguments exchanged."""
    given = objective or {}
    yield Entry(name, formula, source, function, aliases, (0, 1), given)
    yield Entry(
        _exchanged(name), f"{formula}, with p and q exchanged", source, lambda p, q: function(q, p),
        {_exchanged(alias): factor for alias, factor in aliases.items()}, (1, 0),
        {_exchanged(other): _exchanged(letter) for other, letter in given.items()},
    )  # fmt: skip


def _exchanged(name: str) -> str:
    return name.replace("{p}", "{x}").replace("{q}", "{p}").replace("{x}", "{q}")


def _families() -> Iterator[Family]:
    # For alpha below one half each is a multiple of the other order at 1 − alpha: one order and one half are enough.
    yield from _both_families(
        "Renyi-{alpha}({p}||{q})", "ln Σ p^α q^(1−α) / (α−1)", "Rényi 1961", renyi, 0.5, 20, ("Renyi-{beta}({q}||{p})",)
    )
    yield from _both_families(
        "Tsallis-{alpha}({p}||{q})", "(Σ p^α q^(1−α) − 1) / (α−1)", "Tsallis 1998", tsallis, 0.5, 20,
        ("alpha-divergence-{alpha}({p}||{q})", "Cressie-Read({alpha}-1)({p}||{q})", "Tsallis-{beta}({q}||{p})"),
    )  # fmt: skip
    yield Family(
        "GJS-{alpha}({p},{q})", "αKL(p||m) + (1−α)KL(q||m), m = αp + (1−α)q", "Lin 1991", mixture_divergence, 0, 1,
        ("weighted JS-{alpha}({p},{q})", "generalised JSD-{alpha}({p},{q})", "GJS-{beta}({q},{p})"), (0, 1),
    )  # fmt: skip
    yield from _both_families("KL({p}||(1-{alpha}){p}+{alpha}{q})", "Σ p ln(p/((1−α)p + αq))", "Lee 1999", skew, 0, 1)
    yield from _both_families(
        "KL((1-{alpha}){p}+{alpha}{q}||{p})", "Σ m ln(m/p), m = (1−α)p + αq", "Lee 1999", reverse_skew, 0, 1
    )


def _both_families(  # noqa: PLR0917  # likewise, in the order of Family
    name: str,
    formula: str,
    source: str,
    function: Formula,
    low: float,
    high: float,
    aliases: tuple[str, ...] = (),
) -> Iterator[Family]:
    yield Family(name, formula, source, function, low, high, aliases, (0, 1))
    yield Family(
        _exchanged(name), f"{formula}, with p and q exchanged", source,
        lambda p, q, *, alpha: function(q, p, alpha=alpha), low, high,
        tuple(_exchanged(alias) for alias in aliases), (1, 0),
    )  # fmt: skip


def complaint(arguments: Arguments) -> str | None:
    """What makes a pair of probability vectors unfit to tell formulas apart; None where nothing does."""
    if len(arguments) != 2:
        return f"it has {len(arguments)} vectors instead of two"
    p, q = (np.asarray(vector) for vector in arguments)
    if p.ndim != 1 or p.shape != q.shape or p.size < 2:
        return "it is not two vectors of one length, at least 2"
    if not all(np.issubdtype(v.dtype, np.floating) and np.all(np.isfinite(v)) for v in (p, q)):
        return "its entries are not finite decimals"
    if min(p.min(), q.min()) <= LEAST_PROBABILITY:
        return f"an entry is not above {LEAST_PROBABILITY}, where clamps and zeros decide"
    if max(abs(p.sum() - 1), abs(q.sum() - 1)) > 1e-6:
        return "a vector does not sum to 1 (pairs are probabilities, whatever the function takes)"
    if np.abs(p - q).max() <= LEAST_DISTANCE:
        return f"its vectors are near-equal: nowhere further apart than {LEAST_DISTANCE}, where most divergences agree"
    there, back = kl(p, q), kl(q, p)
    if np.abs(np.sort(p) - np.sort(q)).max() < SYMMETRIC or abs(there - back) < SYMMETRIC * max(there, back):
        return "it is symmetric: both directions of a divergence have one value on it"
    return None


def generic() -> tuple[Arguments, ...]:
    """Eight pairs of float64 probability vectors of five classes, generic and not symmetric."""
    return tuple(islice(_pairs(), INPUTS))


def _pairs() -> Iterator[Arguments]:
    rng = generator("divergences")
    while True:
        weights = np.array([[0.03 + rng.random() ** 2 for _ in range(CLASSES)] for _ in range(2)])
        p, q = weights / weights.sum(axis=1, keepdims=True)
        if complaint((p, q)) is None:
            yield p.copy(), q.copy()


DIVERGENCES = Catalogue(
    name="divergences",
    objective=True,
    takes="two probability vectors p and q, float64, of one length",
    entries=(*_directed(), *_symmetric()),
    families=tuple(_families()),
    generic=generic,
    space=PROBABILITIES,
    complaint=complaint,
    ambiguous=dict.fromkeys(
        ("KL", "forward KL", "reverse KL", "KL divergence", "relative entropy"), "write KL({p}||{q}) or KL({q}||{p})"
    ),
    logarithms=True,
)
