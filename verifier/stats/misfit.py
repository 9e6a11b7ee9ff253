"""Misfit: whether any registered law, growing or saturating, describes the cell means."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.optimize import nnls

from verifier.stats.contrasts import saturators
from verifier.stats.growth_rule import JUDGED_FROM
from verifier.stats.laws import Floats, law_values, scale_array

LEVEL = 1e-3
FREE_PARAMETERS = 3


@dataclass(frozen=True, kw_only=True)
class Misfit:
    """The least χ² over the registered family, scaled for estimated variances; `p` is its upper tail."""

    chi2: float
    df: int
    p: float

    @property
    def found(self) -> bool:
        """Whether no registered law describes the means, at level 10⁻³."""
        return self.p < LEVEL

    @property
    def inflation(self) -> float:
        """max(1, √(χ²/df)): what multiplies printed standard errors, never E."""
        return max(1.0, math.sqrt(self.chi2 / self.df))


@functools.lru_cache(maxsize=256)
def _family(scales: tuple[int, ...], gamma0: float, law: str) -> Floats:
    """Generators of the family besides the constant: ln k, √k, k (and the law), saturators; 1 in size at K."""
    k = scale_array(scales)
    growing = [np.log(k), np.sqrt(k), k]
    if law not in ("log", "sqrt", "linear"):  # those stand there already
        growing.append(law_values(scales, law))
    rows = np.concatenate([np.array(growing), saturators(scales, gamma0=gamma0)])
    rows = np.asarray(rows / np.abs(rows[:, -1:]))
    rows.setflags(write=False)
    return rows


def least_chi2(scales: Sequence[int], means: Floats, whiten: Floats, *, gamma0: float, law: str = "log") -> float:
    """The least ‖L⁻¹(ȳ − a·1 − Gᵀc)‖² over a and c ≥ 0, with LLᵀ the covariance of the means; `whiten` is L⁻¹, (m, m).

    Non-negative least squares (Lawson and Hanson 1974) after whitening; the constant is projected out and the columns
    brought to unit norm, which changes no fit and keeps steep saturators from ruling the conditioning.
    """
    generators = _family(tuple(scales), gamma0, law)
    columns = np.column_stack([np.ones(len(means)), means, generators.T])
    white = whiten @ columns
    one = white[:, 0] / np.linalg.norm(white[:, 0])
    white = white[:, 1:] - np.outer(one, one @ white[:, 1:])
    target, design = white[:, 0], white[:, 1:]
    design = design / np.linalg.norm(design, axis=0)
    coefficients, _ = nnls(design, target)
    rest = target - design @ coefficients
    return float(rest @ rest)


def misfit(
    scales: Sequence[int], values: Floats, *, gamma0: float, law: str = "log", shared_seeds: bool = False
) -> Misfit | None:
    """The misfit of the values (m scales, n replicates), or None where n or m is too small to judge it.

    Fresh streams per scale: diagonal weights n/s_j², χ² times (n − 3)/(n − 1), which undoes the mean of 1/s² being too
    large, and p from χ²(m − 3). Seeds shared across scales: the full sample covariance S/n; the residual then lives in
    q = m − 3 dimensions, where T²(n − q)/(q(n − 1)) is F(q, n − q) (Hotelling 1931; Rao 1959), and the printed χ² is
    T²(n − q − 2)/(n − 1), which is the same factor at q = 1.
    """
    m, n = values.shape
    q = m - FREE_PARAMETERS
    if q < 1 or n < JUDGED_FROM or (shared_seeds and n < m + 2):
        return None
    means = values.mean(axis=1)
    if not shared_seeds:
        deviations = values.std(axis=1, ddof=1) / math.sqrt(n)
        if not np.all(deviations > 0):
            return None
        chi2 = least_chi2(scales, means, np.diag(1 / deviations), gamma0=gamma0, law=law) * (n - 3) / (n - 1)
        return Misfit(chi2=chi2, df=q, p=float(special.chdtrc(q, chi2)))
    try:
        whiten = np.linalg.inv(np.linalg.cholesky(np.cov(values) / n))
    except np.linalg.LinAlgError:
        return None
    t2 = least_chi2(scales, means, whiten, gamma0=gamma0, law=law)
    p = float(special.fdtrc(q, n - q, t2 * (n - q) / (q * (n - 1))))
    return Misfit(chi2=t2 * (n - q - 2) / (n - 1), df=q, p=p)
