"""Poisson counts around a known mean, in thousandths."""

import math
from fractions import Fraction

import numpy as np


def _draw(mean, stream, draws):
    return np.random.Generator(np.random.Philox(key=stream)).poisson(mean, draws)


def growing(k, *, stream, draws, percent=38):
    return _draw(5.5 + percent / 100 * math.log(k), stream, draws)


def bounded(k, *, stream, draws):
    return _draw(8 - 5 / k, stream, draws)


def bounded_again(k, *, stream, draws):
    return bounded(k, stream=stream, draws=draws)


def half(k):
    return Fraction(11, 2)


def exact_growing(k, *, percent=38):
    return Fraction(percent, 100) * Fraction(math.log(k))


def exact_bounded(k):
    return Fraction(5, 2) - Fraction(5, k)
