"""The expected best of n trials: of normal ones by integration, of given scores exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np

_TAIL = 1e-16
"""Probability beyond either end of what is integrated."""


@lru_cache(maxsize=256)
def expected_normal_best(n: int) -> float:
    """E[max of n independent standard normals], n ≥ 1, to about 1e-9; 1/√π at n = 2, 1.5388 at 10 (Tippett 1925).

    E[X] = ∫₀^∞ (1 − F) dx − ∫₋∞^0 F dx with F = Φⁿ (David and Nagaraja 2003, Order Statistics, section 3.1),
    integrated between points beyond which F is 0 or 1 for a float.
    """
    from scipy.integrate import quad  # noqa: PLC0415  # a third of a second, which other audits need not wait for
    from scipy.special import log_ndtr  # noqa: PLC0415  # likewise

    assert n >= 1
    low, high = _ends(n)
    centre = min(max(_quantile(0.5, n), 0.0), high)
    above, _ = quad(lambda x: -np.expm1(n * log_ndtr(x)), 0.0, high, points=[centre], epsabs=1e-12, limit=200)
    below = 0.0
    if low < 0:
        below, _ = quad(lambda x: np.exp(n * log_ndtr(x)), low, 0.0, epsabs=1e-12, limit=200)
    return float(above - below)


def chance_of_gap(gap: float, more: int, fewer: int) -> float:
    """P(max of `more` standard normals ≥ max of `fewer` others + gap), all independent, gap ≥ 0 in standard deviations.

    ∫ (1 − Φ(x + gap)^more) dF(x) with F = Φ^fewer, taken over u = F(x) in (0, 1).
    """
    from scipy.integrate import quad  # noqa: PLC0415  # as above
    from scipy.special import log_ndtr  # noqa: PLC0415  # as above

    found, _ = quad(lambda u: -np.expm1(more * log_ndtr(_quantile(u, fewer) + gap)), 0.0, 1.0, epsabs=1e-10, limit=200)
    return min(1.0, max(0.0, float(found)))


def expected_best_of_scores(scores: Sequence[Fraction], k: int) -> Fraction:
    """The expected largest of k of the scores, drawn without replacement: Σ x₍ᵢ₎ C(i−1, k−1)/C(n, k), 1 ≤ k ≤ n.

    Exact (Tang et al. 2020, "Showing your work doesn't always work", the unbiased estimator).
    """
    n = len(scores)
    assert 1 <= k <= n
    ways, total = 1, Fraction(0)  # C(i − 1, k − 1) at i = k
    for i, score in enumerate(sorted(scores)[k - 1 :], k):
        total += ways * score
        ways = ways * i // (i - k + 1)
    return total / comb(n, k)


def _quantile(u: float, n: int) -> float:
    """The x with Φ(x)ⁿ = u."""
    from scipy.special import ndtri_exp  # noqa: PLC0415  # as above

    return float(ndtri_exp(np.log(max(u, 1e-300)) / n))


def _ends(n: int) -> tuple[float, float]:
    from scipy.special import ndtri_exp  # noqa: PLC0415  # as above

    return _quantile(_TAIL, n), float(-ndtri_exp(np.log(_TAIL / n)))
