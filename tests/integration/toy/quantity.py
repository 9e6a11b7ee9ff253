"""Poisson counts around a known mean."""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]


def _draw(mean: float, stream: int, draws: int) -> Counts:
    return np.random.Generator(np.random.Philox(key=stream)).poisson(mean, draws)


def growing(k: int, *, stream: int, draws: int, percent: int = 38) -> Counts:
    return _draw(5.5 + percent / 100 * math.log(k), stream, draws)


def bounded(k: int, *, stream: int, draws: int) -> Counts:
    return _draw(8 - 5 / k, stream, draws)


def bounded_again(k: int, *, stream: int, draws: int) -> Counts:
    return bounded(k, stream=stream, draws=draws)


def half(_k: int) -> Fraction:
    return Fraction(11, 2)


def exact_growing(k: int, *, percent: int = 38) -> Fraction:
    return Fraction(percent, 100) * Fraction(math.log(k))


def exact_bounded(k: int) -> Fraction:
    return Fraction(5, 2) - Fraction(5, k)
