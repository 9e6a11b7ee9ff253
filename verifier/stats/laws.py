"""The values of growth laws: what takes the place of ln k in contrasts, slopes and extrapolation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from verifier.model.errors import BadInput
from verifier.stats.law_names import LEAST_SCALE, exponent_of

Floats: TypeAlias = npt.NDArray[np.float64]


def scale_array(scales: Sequence[int]) -> Floats:
    """The scales k_1 < … < k_m as float64, shape (m,).

    Raises BadInput unless they are integers of at least 2, strictly increasing: 1/ln k is no saturating function at
    k = 1, and a repeated scale has no place in a contrast.
    """
    if not scales:
        raise BadInput("there is no scale", mend="list at least five scales")
    if any(isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 2 for k in scales):
        raise BadInput(f"the scales {list(scales)} are not all integers of at least 2", mend="leave out smaller ones")
    if any(a >= b for a, b in itertools.pairwise(scales)):
        raise BadInput(f"the scales {list(scales)} do not increase", mend="list each once, smallest first")
    return np.array([float(k) for k in scales])


def law_values(scales: Sequence[int], law: str) -> Floats:
    """The law h at each scale, float64 of shape (m,).

    Raises BadInput for a law that there is not, and for a scale at which it has no place (loglog below 3).
    """
    exponent = exponent_of(law)
    k = scale_array(scales)
    least = LEAST_SCALE.get(law, 2)
    if k[0] < least:
        raise BadInput(f"the law {law} needs scales of at least {least}", mend=f"leave out {scales[0]}")
    if exponent is not None:
        return np.asarray(np.sqrt(k) if law == "sqrt" else k ** float(exponent))
    return np.log(k) if law == "log" else np.log(np.log(k))
