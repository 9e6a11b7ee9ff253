"""Costs of three instances under a bound of 2 + 1/n, which one of them may exceed."""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

MEANS = (1.0, 1.5, 1.9)


def cost(n: int, *, stream: int, instance: int, excess: Fraction) -> npt.NDArray[np.float64]:
    """The third instance costs `excess` more than the bound allows."""
    mean = 2 + 1 / n + float(excess) if instance == len(MEANS) else MEANS[instance - 1]
    return np.array([mean + np.random.Generator(np.random.Philox(key=stream)).normal(0.0, 0.5)])


def again(n: int, *, stream: int, instance: int, excess: Fraction) -> npt.NDArray[np.float64]:
    return cost(n, stream=stream, instance=instance, excess=excess)


def planted(n: int, *, stream: int, instance: int) -> npt.NDArray[np.float64]:
    return cost(n, stream=stream, instance=instance, excess=Fraction(1))


def steps(n: int, *, stream: int, instance: int, excess: Fraction) -> list[int]:
    """Whole numbers of a cost without chance: the last instance takes 2, and more where `excess` is one or more."""
    del n, stream
    return [2 + max(0, math.floor(excess)) if instance == len(MEANS) else instance]


def most(n: int) -> Fraction:
    return 2 + Fraction(1, n)


def mean(n: int, *, instance: int, excess: Fraction) -> Fraction:
    return 2 + Fraction(1, n) + excess if instance == len(MEANS) else Fraction(MEANS[instance - 1])
