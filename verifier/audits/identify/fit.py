"""How well a formula explains observed values up to a constant, and which one-parameter family member does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from verifier.audits.catalogues.entry import Arguments, Family, Floats
from verifier.audits.identify.observe import formula_values

MATCH = 1e-5
"""The largest relative residual of a match."""

GRID = 48
"""Values of alpha tried before the best are refined."""


class Fit(NamedTuple):
    """values ≈ constant × formula; `residual` = |values − constant × formula| / |values|, Euclidean norms."""

    constant: float
    residual: float


def fit(values: Floats, formula: Floats) -> Fit:
    """The least-squares constant, of either sign, and what it leaves; residual 1 for a formula that is 0 everywhere."""
    scale, size = float(np.abs(values).max()), float(np.abs(formula).max())
    if size == 0:
        return Fit(0.0, 1.0)
    y, x = values / scale, formula / size  # neither overflows when squared
    constant = float(x @ y) / float(x @ x)
    residual = float(np.linalg.norm(y - constant * x) / np.linalg.norm(y))
    return Fit(constant * scale / size, residual)


def offset(values: Floats, formula: Floats) -> float | None:
    """The number that `values` exceed a multiple of `formula` by, where that explains them; None where it does not."""
    x, y = formula - formula.mean(), values - values.mean()
    spread, square = float(np.linalg.norm(y)), float(x @ x)
    if spread <= MATCH * float(np.linalg.norm(values)) or square == 0:
        return None
    slope = float(x @ y) / square
    if float(np.linalg.norm(y - slope * x)) > MATCH * spread:
        return None
    return float(values.mean() - slope * formula.mean())


TRANSFORMS: tuple[tuple[str, Callable[[Floats], Floats]], ...] = (
    ("square", np.square),
    ("square root", np.sqrt),
    ("exponential", np.exp),
    ("logarithm", np.log),
    ("reciprocal", np.reciprocal),
)


def transform(values: Floats, formula: Floats) -> str | None:
    """The name of the transform of `values` that is a multiple of `formula`; None where none is."""
    for name, change in TRANSFORMS:
        with np.errstate(all="ignore"):
            changed = change(values)
        if np.all(np.isfinite(changed)) and np.abs(changed).max() > 0 and fit(changed, formula).residual <= MATCH:
            return name
    return None


def fit_family(values: Floats, family: Family, inputs: Sequence[Arguments]) -> tuple[float, Fit] | None:
    """The alpha inside the family's range that explains `values` best, and its fit; None where it has no values.

    A grid first, then Brent's bounded minimisation (1973) of the squared residual around the two best grid points.
    """
    from scipy import optimize  # noqa: PLC0415  # a third of a second, which only families of formulas wait for

    def fitted(alpha: float) -> Fit:
        formula = formula_values(partial(family.function, alpha=alpha), inputs)
        return Fit(0.0, 1.0) if formula is None else fit(values, formula)

    inner = np.linspace(family.low, family.high, GRID + 2)
    near_low = family.low + (family.high - family.low) * np.geomspace(1e-3, 1e-1, 8)  # families bend most there
    grid = np.union1d(inner, near_low)
    residuals = [fitted(float(alpha)).residual for alpha in grid[1:-1]]
    best: tuple[float, Fit] | None = None
    for index in np.argsort(residuals, kind="stable")[:2]:
        found = optimize.minimize_scalar(
            lambda alpha: fitted(float(alpha)).residual ** 2,
            bounds=(float(grid[index]), float(grid[index + 2])),
            method="bounded",
            options={"xatol": 1e-11, "maxiter": 200},
        )
        alpha = float(found.x)
        candidate = fitted(alpha)
        if best is None or candidate.residual < best[1].residual:
            best = alpha, candidate
    return best
