"""The noise under which rules are calibrated: mean 0 and variance 1, but for Student's t3, whose variance is 3."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]
Shape = tuple[int, ...]
Draw = Callable[[np.random.Generator, Shape], Floats]


@dataclass(frozen=True, kw_only=True)
class Noise:
    """draw: centred values of any shape. held: whether no rule may exceed three times its nominal rate under it."""

    draw: Draw
    held: bool = False


def _two_point(rng: np.random.Generator, shape: Shape) -> Floats:
    return np.asarray(2.0 * rng.integers(0, 2, shape, dtype=np.int8) - 1.0, np.float64)


def _bimodal(rng: np.random.Generator, shape: Shape) -> Floats:
    """Seeds that converge or do not: two normal heaps three of their sd on either side, equally likely."""
    return (_two_point(rng, shape) + rng.standard_normal(shape) / 3) / math.sqrt(1 + 1 / 9)


def _lognormal(rng: np.random.Generator, shape: Shape) -> Floats:
    mean, sd = math.exp(0.5), math.sqrt((math.e - 1) * math.e)
    return np.asarray((np.exp(rng.standard_normal(shape)) - mean) / sd)


def _rare(rng: np.random.Generator, shape: Shape) -> Floats:
    """A seed in ten fails: −9 with probability .1, else about +1 (sd a tenth), which has mean 0 and sd 3."""
    return np.asarray(np.where(rng.random(shape) < 0.1, -3.0, 1 / 3 + rng.standard_normal(shape) / 30))


NOISES: Mapping[str, Noise] = {
    "normal": Noise(draw=lambda rng, shape: rng.standard_normal(shape), held=True),
    "t3": Noise(draw=lambda rng, shape: rng.standard_t(3, shape), held=True),
    "Laplace": Noise(draw=lambda rng, shape: rng.laplace(0.0, math.sqrt(0.5), shape), held=True),
    "uniform": Noise(draw=lambda rng, shape: rng.uniform(-math.sqrt(3), math.sqrt(3), shape), held=True),
    "two-point": Noise(draw=_two_point),
    "bimodal": Noise(draw=_bimodal),
    "exponential": Noise(draw=lambda rng, shape: rng.exponential(1.0, shape) - 1.0),
    "lognormal": Noise(draw=_lognormal),
    "rare failure": Noise(draw=_rare),
}

# --- on a metric that cannot leave [0, 1]

UNIT_SD = 0.15


def unit_value(noise: Floats, *, middle: float = 0.5) -> Floats:
    """A bounded metric: middle + 0.15 times the noise, cut off at 0 and 1."""
    return np.clip(middle + UNIT_SD * noise, 0.0, 1.0)


def unit_mean(name: str) -> float:
    """The mean of `unit_value` of a noise, after the cut: ½ for symmetric noise, else by quantiles."""
    if name == "rare failure":
        return 0.1 * float(unit_value(np.array(-3.0))) + 0.9 * float(unit_value(np.array(1 / 3)))
    if name not in {"exponential", "lognormal"}:
        return 0.5
    u = (np.arange(10**6) + 0.5) / 10**6
    if name == "exponential":
        return float(unit_value(-np.log1p(-u) - 1.0).mean())
    sd = math.sqrt((math.e - 1) * math.e)
    return float(unit_value((np.exp(special.ndtri(u)) - math.exp(0.5)) / sd).mean())
