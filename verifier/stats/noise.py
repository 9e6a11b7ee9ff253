"""How a contrast is estimated, and with what error, under each registered noise model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from verifier.stats.laws import Floats


class Estimate(NamedTuple):
    """A contrast's estimate at each of L looks.

    value, stderr: shape (…, L), in the metric's units per unit of the law. df: degrees of freedom of stderr, shape
    (L,). n: (effective) replicates, shape (L,); stderr·√n estimates the standard deviation of one replicate's contrast.
    """

    value: Floats
    stderr: Floats
    df: Floats
    n: Floats

    def t(self, null: float, *, below: bool = False) -> Floats:
        """The t statistic against the mean `null`, positive where the estimate is above it (`below`: under it)."""
        excess = null - self.value if below else self.value - null
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = excess / self.stderr
        return np.where(np.isnan(t), 0.0, t)  # 0/0: no error and no excess


def block_estimate(weights: Floats, values: Floats, looks: Sequence[int]) -> Estimate:
    """One replicate is a whole sweep, reduced to d_r = Σ_j w_j y_jr; n − 1 degrees of freedom.

    values: (…, m, N) with N ≥ looks[-1]. Right for any variances and correlations across scales if d_r is normal.
    Each look is computed from the first n replicates alone, to the last bit whatever follows.
    """
    d = np.zeros(values.shape[:-2] + values.shape[-1:])
    for j, weight in enumerate(weights):
        d = d + weight * values[..., j, :]
    n, mean, squares = _prefix_moments(d, looks)
    return Estimate(value=mean, stderr=np.sqrt(squares / (n - 1) / n), df=n - 1, n=n)


def pooled_estimate(
    weights: Floats, values: Floats, looks: Sequence[int], *, relative_sd: Sequence[float] | None = None
) -> Estimate:
    """A fresh seed at every (scale, replicate) and one common sd after division by `relative_sd`; m(n − 1) df.

    values: (…, m, N) with N ≥ looks[-1].
    """
    relative = np.ones(len(weights)) if relative_sd is None else np.asarray(relative_sd, float)
    n, means, squares = _prefix_moments(values / relative[:, None], looks)
    counts = np.broadcast_to(n, (len(weights), len(looks)))
    return pooled_from_cells(weights * relative, means, squares.sum(axis=-2), counts)


def pooled_from_cells(scaled_weights: Floats, means: Floats, within: Floats, counts: Floats) -> Estimate:
    """The pooled estimate from cell means (…, m, L), the within-cell sum of squares (…, L) and counts n_j (m, L).

    θ = Σ w_j ȳ_j with variance σ² Σ w_j²/n_j; the effective n is ‖w‖²/Σ(w_j²/n_j), the degrees of freedom
    Σ(n_j − 1). Weights and means are already on the scale of the common sd.
    """
    w = scaled_weights[:, None]
    spread = (w**2 / counts).sum(axis=0)
    df = (counts - 1).sum(axis=0)
    value = np.zeros(within.shape)
    for j in range(len(scaled_weights)):
        value = value + scaled_weights[j] * means[..., j, :]
    return Estimate(
        value=value, stderr=np.sqrt(within / df * spread), df=df, n=float(scaled_weights @ scaled_weights) / spread
    )


def estimate(
    noise: str,
    weights: Floats,
    values: Floats,
    looks: Sequence[int],
    *,
    scales: Sequence[int],
    variance: Mapping[int, float],
) -> Estimate:
    """The contrast's estimate at the looks under the registered noise model ("block" or "pooled")."""
    if noise == "block":
        return block_estimate(weights, values, looks)
    relative = [variance[k] for k in scales] if variance else None
    return pooled_estimate(weights, values, looks, relative_sd=relative)


def _prefix_moments(x: Floats, looks: Sequence[int]) -> tuple[Floats, Floats, Floats]:
    """n, mean and centred sum of squares of the first n entries of the last axis, at each look."""
    at = np.asarray(looks) - 1
    n = np.asarray(looks, float)
    shift = x[..., :1]  # the first replicate: known at every look, and takes away the common offset
    centred = x - shift
    sums = np.cumsum(centred, axis=-1)[..., at]
    squares = np.cumsum(np.square(centred), axis=-1)[..., at] - np.square(sums) / n
    return n, sums / n + shift, np.maximum(squares, 0.0)
