"""What an e-process asks of t: the critical value at a threshold, and the replicates that reach it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import special

from verifier.stats.eprocess import log_mixture_e
from verifier.stats.laws import Floats

POWER = 0.9
MOST_REPLICATES = 10**7
FARTHEST = 1e8  # a noncentrality beyond it is taken as it: the noncentral t of scipy gives NaN from about 1e9
POINTS = 128
"""Values of t looked at in one call, which costs little more than a call for one."""


@functools.lru_cache(maxsize=65536)
def critical_t(n: int, *, log_threshold: float, df: int | None = None, two_sided: bool = False) -> float:
    """t_n: the t at which the mixture e-process reaches the threshold at n replicates; inf where no t does.

    df defaults to n − 1 (block). The mixture increases in t (in |t| when two-sided) to a finite limit, which at few
    replicates lies below the threshold: for T = 10⁴ and block noise up to n = 4. Found to the last bit, by bracketing.
    """
    nu = n - 1 if df is None else df
    if n < 2 or nu < 1:
        return math.inf

    def short(t: float | Floats) -> npt.NDArray[np.bool_]:
        return np.asarray(log_mixture_e(t, df=nu, n=n, two_sided=two_sided) < log_threshold)

    if short(math.inf):
        return math.inf
    low, high = 0.0, 8.0
    if not two_sided and not short(0.0):
        return 0.0  # a threshold at or below 1
    while short(high):
        low, high = high, high * 4
    while high > math.nextafter(low, math.inf):
        grid = np.unique(np.linspace(low, high, POINTS + 2))
        first = 1 + int(np.argmax(~short(grid[1:])))  # the last is not short, so there is one
        low, high = float(grid[first - 1]), float(grid[first])
    return high


def power_at(effect: float, n: int, *, log_threshold: float, df: int | None = None) -> float:
    """The probability that the e-process is over the threshold at n, for a mean of `effect` standard deviations.

    P(t' ≥ t_n) for the noncentral t' on df degrees of freedom with noncentrality effect·√n (Student's t under a
    shifted normal mean; Johnson and Welch 1940). A look exactly at n; earlier looks can only add.
    """
    t = critical_t(n, log_threshold=log_threshold, df=df)
    if math.isinf(t):
        return 0.0
    return 1.0 - float(special.nctdtr(float(n - 1 if df is None else df), _noncentrality(effect, n), t))


def replicates_needed(
    effect: float, *, log_threshold: float, power: float = POWER, df: Callable[[int], int] = lambda n: n - 1
) -> int | None:
    """n90: the least n at which a mean of `effect` standard deviations is over the threshold with that probability.

    None where the effect is not positive, or needs more than ten million replicates.
    """
    if not effect > 0:
        return None

    def enough(n: int) -> bool:
        return power_at(effect, n, log_threshold=log_threshold, df=df(n)) >= power

    high = 2
    while not enough(high):
        high *= 2
        if high > MOST_REPLICATES:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def misses(effect: float, n: int, *, level: float = 0.05) -> float:
    """The probability that a one-sided t test on n replicates misses a mean of `effect` standard deviations."""
    if n < 2:
        return 1.0
    quantile = float(special.stdtrit(float(n - 1), 1 - level))
    return float(special.nctdtr(float(n - 1), _noncentrality(effect, n), quantile))


def _noncentrality(effect: float, n: int) -> float:
    """effect·√n, no farther from zero than the noncentral t is computed."""
    return max(-FARTHEST, min(FARTHEST, effect * math.sqrt(n)))


def sd_upper_bound(sd: float, df: float, *, level: float = 0.2) -> float:
    """sd·√(df/χ²_{level,df}): a one-sided upper confidence bound on a normal standard deviation (80 % by default)."""
    return sd * math.sqrt(df / float(special.chdtri(df, 1 - level))) if df > 0 else math.inf


def log_threshold(threshold: float, discount: float = 1.0) -> float:
    """Natural logarithm of the threshold that an undiscounted E must reach, T/discount."""
    return float(np.log(threshold) - np.log(discount))
