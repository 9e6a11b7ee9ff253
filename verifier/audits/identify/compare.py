"""A function's values against one expected formula, and the smallest input on which the two differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verifier.audits.catalogues import Catalogue
from verifier.audits.catalogues.entry import Arguments, Floats
from verifier.audits.identify.fit import MATCH, fit
from verifier.audits.identify.observe import formula_values
from verifier.audits.identify.resolve import Letters, Named
from verifier.audits.witness import Witness, witness

__all__ = ["Compared", "compare", "find_witness"]


@dataclass(frozen=True, slots=True)
class Compared:
    """`same`: equal up to `constant`. `residual`: of that fit. `scale`: the constant taken out before the difference.

    `low`, `high`: the smallest and largest relative difference over the inputs, |values/scale − expected|/|expected|.
    """

    same: bool
    constant: float
    residual: float
    scale: float
    low: float
    high: float


def compare(values: Floats, expected: Named, *, inputs: Sequence[Arguments], constant: float | None) -> Compared | None:
    """How `values` on `inputs` compare to the expected formula; None where that is not defined on one of them.

    `constant`: of the formula that was identified, taken out before the difference is measured; where there is none,
    the constant that brings the values nearest to the expected formula.
    """
    formula = formula_values(expected.function, inputs)
    if formula is None or formula.size != values.size:
        return None
    fitted = fit(values, formula)
    scale = constant or fitted.constant or 1.0
    known = np.abs(formula) > 0
    difference = np.abs(values[known] / scale - formula[known]) / np.abs(formula[known])
    low, high = (float(difference.min()), float(difference.max())) if difference.size else (0.0, 0.0)
    return Compared(fitted.residual <= MATCH, fitted.constant, fitted.residual, scale, low, high)


def find_witness(
    function: Callable[..., Any],
    constant: float,
    expected: Named,
    catalogue: Catalogue,
    *,
    materiality: float,
    letters: Letters,
) -> Witness | None:
    """The smallest input on which function/constant and the expected formula differ by more than the materiality.

    The difference is relative to the expected formula. Formulas that return arrays are compared by one number, the sum
    of entry i times i.
    """
    names = letters if catalogue.logarithms else catalogue.space.names
    space = dataclasses.replace(catalogue.space, names=names)
    number = _weighted if catalogue.arrays else float
    return witness(
        lambda *arguments: number(function(*arguments)) / constant,
        lambda *arguments: number(expected.function(*arguments)),
        materiality=materiality,
        relative=True,
        space=space,
    )


def _weighted(ranks: Any) -> float:
    values = np.asarray(ranks, dtype=np.float64)
    return float(values @ np.arange(1, values.size + 1))
