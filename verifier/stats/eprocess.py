"""The t e-process: evidence against "the mean is at most m0" that may be looked at as often as one likes.

Normal observations of unknown variance are reduced to Student's t; under a N(0, τ²) effect size (in units of the
standard deviation) against a point null, with the right-Haar prior on the scale, the likelihood ratio is a
non-negative martingale in the scale-invariant filtration, and its one-sided form an e-process for the one-sided null.

Sources: Wang and Ramdas, arXiv 2310.03722; Grünwald and Koolen 2026; Lindon et al., arXiv 2210.08589 (the pooled,
regression form); Hendriksen et al. 2021 on the filtration. Everything here is in logs: capital overflows.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from verifier.stats.laws import Floats
from verifier.stats.significance import log_t_cdf

TAUS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""The prior scales that the mixture averages over, in standard deviations of one replicate."""
BLOCK = 8_192
"""Values evaluated at once: what a processor's cache holds."""


def log_t_e(
    t: npt.ArrayLike, *, df: npt.ArrayLike, n: npt.ArrayLike, tau: npt.ArrayLike, two_sided: bool = False
) -> Floats:
    """Natural logarithm of one t e-process, elementwise over the broadcast arguments.

    t: the t statistic √n (θ̂ − m0)/σ̂, dimensionless, may be infinite. df: degrees of freedom ν of σ̂ (block n − 1,
    pooled Σ(n_j − 1)). n: replicates, or the effective number for unequal n_j. tau: prior scale. One-sided: evidence
    for θ > m0 against θ ≤ m0.

    With c² = 1/τ², s = c²/(n + c²), V = ν + t² and Q = ν + s t² (sums of squares in units of σ̂²):
    E = [2 F_{ν+1}(t √(n(ν+1)/(Q(n+c²))))] · √s · (V/Q)^((ν+1)/2), the bracket only in the one-sided form.
    """
    t, df, n, tau = (np.asarray(value, float) for value in (t, df, n, tau))
    c2 = tau**-2.0
    s = c2 / (n + c2)
    with np.errstate(divide="ignore", over="ignore"):
        g = df / np.square(t)  # ν/t²: 0 at an infinite t, infinite at t = 0
    log_e = 0.5 * np.log(s) - 0.5 * (df + 1) * np.log1p(-(1 - s) / (1 + g))
    if not two_sided:
        argument = np.sign(t) * np.sqrt(n * (df + 1) / (n + c2)) / np.sqrt(g + s)
        log_e = log_e + math.log(2) + log_t_cdf(argument, df + 1)
    return np.asarray(log_e)


def log_mixture_e(t: npt.ArrayLike, *, df: npt.ArrayLike, n: npt.ArrayLike, two_sided: bool = False) -> Floats:
    """Natural logarithm of the average over TAUS of the t e-processes, elementwise over the broadcast arguments."""
    t, df, n = np.broadcast_arrays(*(np.asarray(value, float) for value in (t, df, n)))
    shape = t.shape
    t, df, n = t.ravel(), df.ravel(), n.ravel()
    logs = np.empty(t.size)
    taus = np.array(TAUS)[:, None]
    for start in range(0, t.size, BLOCK):
        part = slice(start, start + BLOCK)
        each = log_t_e(t[part], df=df[part], n=n[part], tau=taus, two_sided=two_sided)
        logs[part] = log_mean_exp(each, axis=0)
    return logs.reshape(shape)


def log_mean_exp(logs: Floats, *, axis: int) -> Floats:
    """Natural logarithm of the mean of exp(logs) along an axis, without overflow; −∞ where all are −∞."""
    top = logs.max(axis=axis, keepdims=True)
    anchor = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.mean(np.exp(logs - anchor), axis=axis)) + np.squeeze(anchor, axis=axis))
