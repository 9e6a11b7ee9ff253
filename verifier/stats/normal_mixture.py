"""The normal-mixture bound: a sub-Gaussian sum may be looked at as often as one likes.

For S with exp(λS − λ²v/2) a supermartingale for every λ (v the variance that is known, or a bound of it, added up),
mixing over λ normal with variance 1/ρ gives an e-process in closed form; its crossing of 1/α is a boundary for S.

Source: Howard, Ramdas, McAuliffe and Sekhon (2021), Time-uniform, nonparametric, nonasymptotic confidence sequences,
Propositions 5 (two-sided normal mixture) and 6 (one-sided); Robbins (1970). All of it in logs.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import special

from verifier.model.errors import BadInput
from verifier.stats.laws import Floats


def tuned_rho(v_opt: float, *, alpha: float, two_sided: bool = True) -> float:
    """ρ that makes the boundary nearly tightest at the variance `v_opt`: v/(2 ln(1/α) + ln(1 + 2 ln(1/α))).

    The expansion of the optimal ρ in Howard et al. (2021), Section 3.5; 2α for the one-sided bound. Raises BadInput
    unless v_opt > 0 and 0 < α < 1 (one-sided: below ½).
    """
    share = alpha if two_sided else 2 * alpha
    if not (v_opt > 0 and 0 < share < 1):
        raise BadInput(f"no mixture is tuned to variance {v_opt:g} at level {alpha:g}", mend="give v > 0 and 0 < α < 1")
    log_inverse = math.log(1 / share)
    return v_opt / (2 * log_inverse + math.log1p(2 * log_inverse))


def log_normal_mixture_e(s: npt.ArrayLike, v: npt.ArrayLike, *, rho: float, two_sided: bool = True) -> Floats:
    """Log evidence against "S has mean zero" (one-sided: "at most zero"), elementwise over the sum s and variance v.

    ½ ln(ρ/(v + ρ)) + s²/(2(v + ρ)), and ln 2Φ(s/√(v + ρ)) more when one-sided.
    """
    s, total = np.asarray(s, float), np.asarray(v, float) + rho
    logs = 0.5 * np.log(rho / total) + np.square(s) / (2 * total)
    if not two_sided:
        logs = logs + math.log(2) + special.log_ndtr(s / np.sqrt(total))
    return np.asarray(logs)


def normal_mixture_bound(v: npt.ArrayLike, *, alpha: float, v_opt: float, two_sided: bool = True) -> Floats:
    """The boundary u(v) that |S| (one-sided: S) ever exceeds with probability at most α; elementwise over v ≥ 0.

    Two-sided √((v + ρ) ln((v + ρ)/(ρα²))). One-sided the root of the log e-process at ln(1/α), by bisection to the last
    bit; it grows in s. Raises BadInput as `tuned_rho` does.
    """
    rho = tuned_rho(v_opt, alpha=alpha, two_sided=two_sided)
    v = np.asarray(v, float)
    # a boundary at level 2α two-sided lies below the one-sided one at α, and one at α above it: the bracket
    upper = _two_sided_bound(v, rho=rho, alpha=alpha)
    if two_sided:
        return upper
    low, high = np.zeros_like(upper), np.asarray(upper)
    goal = -math.log(alpha)
    while True:
        middle = (low + high) / 2
        if np.all((middle == low) | (middle == high)):
            return np.asarray(high)
        over = log_normal_mixture_e(middle, v, rho=rho, two_sided=False) >= goal
        low, high = np.where(over, low, middle), np.where(over, middle, high)


def normal_mixture_interval(
    mean: npt.ArrayLike, n: npt.ArrayLike, *, sd: float, n_opt: float, alpha: float = 0.05
) -> tuple[Floats, Floats]:
    """A confidence sequence for the mean of values that are sub-Gaussian with the known parameter `sd`.

    mean: the average of the first n, elementwise. n_opt: where the interval is nearly tightest. For values known to lie
    in [lo, hi], (hi − lo)/2 serves as sd (Hoeffding 1963). Returns the two ends. Raises BadInput as `tuned_rho` does.
    """
    mean, n = np.asarray(mean, float), np.asarray(n, float)
    reach = sd * normal_mixture_bound(n, alpha=alpha, v_opt=n_opt) / n
    return mean - reach, mean + reach


def _two_sided_bound(v: Floats, *, rho: float, alpha: float) -> Floats:
    return np.asarray(np.sqrt((v + rho) * (np.log1p(v / rho) - 2 * math.log(alpha))))
