"""Extrapolation: whether the law fitted to the small scales predicts the two largest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from verifier.stats.laws import Floats, law_values

LEVEL = 1e-3
LEAST_SCALES = 3
LEAST_REPLICATES = 4  # the factor (n − 3)/(n − 1) is 0 at three


@dataclass(frozen=True, kw_only=True)
class Extrapolation:
    """The prediction test. `p` is None where it was not applied, and `why_not` says why."""

    applied: bool
    p: float | None
    why_not: str = ""

    @property
    def holds(self) -> bool:
        """Whether the prediction was not contradicted at level 10⁻³ (also where there was none to make)."""
        return self.p is None or self.p >= LEVEL


def not_applied(why: str) -> Extrapolation:
    """An extrapolation that was not made."""
    return Extrapolation(applied=False, p=None, why_not=why)


def prediction_chi2(
    h: Floats, means: Floats, variances: Floats, *, fitted: Sequence[int], targets: Sequence[int]
) -> float:
    """The quadratic form of the prediction error: a + b·h fitted to some cells, weighted, predicts the others.

    h, means and variances of the means: (m,). fitted, targets: indices of cells.
    """
    design = np.column_stack([np.ones(len(h)), h])
    a, b = design[fitted], design[targets]
    normal = a.T @ (a / variances[fitted, None])
    coefficients = np.linalg.solve(normal, a.T @ (means[fitted] / variances[fitted]))
    error = means[targets] - b @ coefficients
    covariance = b @ np.linalg.solve(normal, b.T) + np.diag(variances[targets])
    return float(error @ np.linalg.solve(covariance, error))


def predictable(scales: Sequence[int]) -> tuple[list[int], list[int]] | str:
    """The indices of the scales up to K/4 and of K/2 and K, or why there is no prediction to make."""
    largest = scales[-1]
    if largest % 2 or largest // 2 not in scales:
        return f"K/2 = {largest / 2:g} is not a scale"
    fitted = [j for j, k in enumerate(scales) if 4 * k <= largest]
    if len(fitted) < LEAST_SCALES:
        return f"fewer than {LEAST_SCALES} scales are at most K/4 = {largest / 4:g}"
    return fitted, [list(scales).index(largest // 2), len(scales) - 1]


def extrapolate(scales: Sequence[int], values: Floats, *, law: str = "log") -> Extrapolation:
    """Fits a + b·h on the scales up to K/4, predicts K/2 and K, and tests both at once.

    values: (m, n). Weights n/s_j². The prediction error has covariance B(AᵀWA)⁻¹Bᵀ + diag(s²/n); its quadratic form
    times (n − 3)/(n − 1) is compared with χ²(2). Not applied where K/2 is not a scale, fewer than three scales are at
    most K/4, or a scale has no variance.
    """
    n = values.shape[1]
    cells = predictable(scales)
    if isinstance(cells, str):
        return not_applied(cells)
    if n < LEAST_REPLICATES:
        return not_applied(f"{n} replicates are fewer than {LEAST_REPLICATES}")
    means = values.mean(axis=1)
    variances = values.var(axis=1, ddof=1) / n
    if not np.all(variances > 0):
        return not_applied("a scale has no variance")
    fitted, targets = cells
    chi2 = (
        prediction_chi2(law_values(scales, law), means, variances, fitted=fitted, targets=targets) * (n - 3) / (n - 1)
    )
    return Extrapolation(applied=True, p=float(special.chdtrc(2, chi2)))
