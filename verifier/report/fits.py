"""The laws drawn through the points of a growth sweep: for the eye, never for a ruling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from verifier.model.numbers import parse_rational
from verifier.model.results import Point
from verifier.report.text import decimal
from verifier.stats.law_names import exponent_of, law_unit

Floats: TypeAlias = npt.NDArray[np.float64]
CURVE_POINTS = 121
LARGEST_POWER = 4.0
POWERS = 25


@dataclass(frozen=True, slots=True)
class Law:
    """A fitted curve: its name with the fitted numbers, and its values along `scales`, both of shape (c,)."""

    kind: str
    label: str
    scales: Floats
    values: Floats


def fitted_laws(points: Sequence[Point], axis: str, rule: Mapping[str, Any]) -> list[Law]:
    """The law a + b h(k), the best function of the bounded class and a constant, by weighted least squares.

    h is ln k where no law is registered. Weights are 1/stderr² where every point has one, else equal. Empty for fewer
    than three scales. The bounded class, drawn for a growth rule only, is a + Σ cᵢ gᵢ(k) with cᵢ ≥ 0 and gᵢ among
    −k^−γ, −1/ln k, −1/ln² k, −1/ln³ k (Lawson and Hanson 1974, NNLS).
    """
    if len(points) < 3 or any(axis not in point.at or point.at[axis] < 2 for point in points):
        return []
    k = np.array([float(point.at[axis]) for point in points])
    y = np.array([point.estimate for point in points])
    errors = [point.stderr for point in points]
    weights = np.array([1 / error if error else 0.0 for error in errors])
    if not weights.all():
        weights = np.ones(len(points))
    curve = np.geomspace(k.min(), k.max(), CURVE_POINTS)
    law = str(rule.get("law", "log"))
    fitted = _least_squares(np.vander(_law(k, law), 2), y, weights)
    constant = float(np.average(y, weights=weights**2))
    laws = [
        Law(
            "log",
            f"a + b {law_unit(law, axis)}, b = {decimal(float(fitted[0]))}",
            curve,
            np.vander(_law(curve, law), 2) @ fitted,
        )
    ]
    if rule.get("kind", "growth") in {"growth", "rate"} and "gamma0" in rule:
        gamma0 = float(parse_rational(str(rule["gamma0"])))
        laws.append(Law("bounded", "best bounded function", curve, _best_bounded(k, y, weights, curve, gamma0)))
    return [*laws, Law("constant", f"constant, {decimal(constant)}", curve, np.full(CURVE_POINTS, constant))]


def _law(k: Floats, law: str) -> Floats:
    """The registered law at any k of at least 2, whole or not."""
    exponent = exponent_of(law)
    if exponent is not None:
        return np.asarray(k ** float(exponent))
    return np.asarray(np.log(np.log(k)) if law == "loglog" else np.log(k))


def _least_squares(design: Floats, y: Floats, weights: Floats) -> Floats:
    solution = np.linalg.lstsq(design * weights[:, None], y * weights, rcond=None)[0]
    return np.asarray(solution, float)


def _best_bounded(k: Floats, y: Floats, weights: Floats, curve: Floats, gamma0: float) -> Floats:
    design, scale = bounded_generators(k, gamma0)
    signed = np.column_stack([np.ones(len(k)), -np.ones(len(k)), design])  # a free constant as two of one sign
    coefficients, _ = nnls(signed * weights[:, None], y * weights)
    drawn = bounded_generators(curve, gamma0)[0] * (bounded_generators(curve, gamma0)[1] / scale)
    return np.asarray(coefficients[0] - coefficients[1] + drawn @ coefficients[2:], float)


def bounded_generators(k: Floats, gamma0: float) -> tuple[Floats, Floats]:
    """The generators −k^−γ and −1/lnʲ k at each scale, columns scaled to unit norm, and the norms: (m, g) and (g,)."""
    powers = np.geomspace(gamma0, LARGEST_POWER, POWERS)
    logs = np.log(k)[:, None]
    columns = np.hstack([-(k[:, None] ** -powers), -1 / logs, -1 / logs**2, -1 / logs**3])
    norms = np.linalg.norm(columns, axis=0)
    return columns / norms, norms
