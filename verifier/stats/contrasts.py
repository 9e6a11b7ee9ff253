"""Contrasts: weights w over the scales that every registered saturating function pushes to at most 0.

A contrast is a linear functional w·c of c(k_1), …, c(k_m) with w·1 = 0 and w·h = 1 for the registered law h, so it
reads the coefficient of h. The cone contrast is the residual of h on the cone of saturating functions; by the
projection theorem for closed convex cones (Moreau 1962) that residual has a non-positive inner product with every
element of the cone.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from verifier.model.errors import BadInput
from verifier.stats.laws import Floats, law_values, scale_array

LARGEST_GAMMA = 4.0
GAMMAS = 25


class Contrasts(NamedTuple):
    """The three contrasts of the growth rule, float64 of shape (m,), each reading the slope per unit of the law."""

    cone: Floats
    up: Floats
    full: Floats


def saturators(scales: Sequence[int], *, gamma0: float) -> Floats:
    """The generators of the cone of saturating functions at the scales, shape (28, m), each increasing in k.

    −k^−γ for 25 γ spaced evenly in ln γ over [gamma0, 4], then −1/ln k, −1/ln² k and −1/ln³ k.
    """
    k = scale_array(scales)
    gammas = np.geomspace(gamma0, LARGEST_GAMMA, GAMMAS)
    powers = -(k[None, :] ** -gammas[:, None])
    logs = -(np.log(k)[None, :] ** -np.arange(1.0, 4.0)[:, None])
    return np.concatenate([powers, logs])


def cone_contrast(scales: Sequence[int], *, gamma0: float, law: str = "log") -> Floats:
    """The cone contrast w, shape (m,): w·1 = 0, w·g ≤ 0 for every registered saturator g, w·h = 1.

    Non-negative least squares of the centred law on the centred, unit-norm generators; w is the residual, scaled.
    Raises BadInput where the law is itself in the cone at these scales (too few of them).
    """
    h = law_values(scales, law)
    centred = h - h.mean()
    generators = saturators(scales, gamma0=gamma0)
    generators = generators - generators.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(generators, axis=1, keepdims=True)
    if len(scales) < 3 or not np.all(norms > 0):
        raise BadInput(f"{len(scales)} scales are too few for a cone contrast", mend="use at least five scales")
    coefficients, _ = nnls((generators / norms).T, centred)
    residual = centred - (generators / norms).T @ coefficients
    residual = residual - residual.mean()
    reach = float(residual @ h)
    if reach <= 1e-12 * float(centred @ centred):
        raise BadInput("at these scales the law is itself a saturating function", mend="add scales, further apart")
    return np.asarray(residual / reach)


def slope_contrast(scales: Sequence[int], *, first: int = 0, law: str = "log") -> Floats:
    """The unweighted least-squares slope on the law over the scales from index `first` on, as weights of shape (m,)."""
    h = law_values(scales, law)
    weights = np.zeros_like(h)
    centred = h[first:] - h[first:].mean()
    square = float(centred @ centred)
    if square <= 0:
        raise BadInput("a slope needs two scales", mend="use at least five scales")
    weights[first:] = centred / square
    return weights


def upper_half(m: int) -> int:
    """The index of the first of the last ⌈m/2⌉ of m scales."""
    return m - (m + 1) // 2


@functools.lru_cache(maxsize=256)
def _contrasts(scales: tuple[int, ...], gamma0: float, law: str) -> Contrasts:
    built = Contrasts(
        cone=cone_contrast(scales, gamma0=gamma0, law=law),
        up=slope_contrast(scales, first=upper_half(len(scales)), law=law),
        full=slope_contrast(scales, law=law),
    )
    for weights in built:
        weights.setflags(write=False)
    return built


def contrasts(scales: Sequence[int], *, gamma0: float, law: str = "log") -> Contrasts:
    """The cone, upper-half and full-range contrasts of these scales (read-only). Raises BadInput for bad scales."""
    scale_array(scales)  # before anything is looked up by scales that are none
    return _contrasts(tuple(scales), gamma0, law)


def l1_norm(weights: Floats) -> float:
    """Σ|w_j|: what a systematic error of one unit per scale can do to the contrast."""
    return float(np.abs(weights).sum())
