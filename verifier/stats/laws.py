"""The growth laws a rule may register: what takes the place of ln k in contrasts, slopes and extrapolation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from verifier.model.errors import BadInput

Floats: TypeAlias = npt.NDArray[np.float64]

LAWS: Mapping[str, Callable[[Floats], Floats]] = {"log": np.log}
"""Law name → the function h of the scale k whose coefficient is the slope."""


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
    """The law h at each scale, float64 of shape (m,). Raises BadInput for a law that is not registered here."""
    if law not in LAWS:
        raise BadInput(f"there is no law {law!r}", mend=f"use one of: {', '.join(LAWS)}")
    return LAWS[law](scale_array(scales))
