"""The gates of the growth rule that look at the cell means: malformed data, misfit, extrapolation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verifier.stats.contrasts import contrasts
from verifier.stats.extrapolation import Extrapolation, extrapolate, not_applied
from verifier.stats.growth_rule import GrowthRule
from verifier.stats.laws import Floats
from verifier.stats.misfit import Misfit, misfit

ROUNDING = 1e-13  # relative: differences smaller than this are the last digits of a double


def no_variance(rule: GrowthRule, scales: Sequence[int], values: Floats) -> str:
    """What does not vary among the replicates of the values (m, n), as a clause naming it; "" where all vary."""
    n = values.shape[1]
    size = np.abs(values).max(axis=1)
    for k, spread, largest in zip(scales, np.ptp(values, axis=1), size, strict=True):
        if spread <= ROUNDING * largest:
            return f"at scale {k} all {n} replicates are equal"
    if rule.noise == "block":
        built = contrasts(scales, gamma0=float(rule.gamma0), law=rule.law)
        for name, weights in zip(("cone", "upper", "full"), built, strict=True):
            if np.ptp(weights @ values) <= ROUNDING * float(np.abs(weights) @ size):
                return f"the {name} contrast is equal in all {n} replicates, so one replicate's scales move together"
    return ""


def misfit_gate(rule: GrowthRule, scales: Sequence[int], values: Floats, *, shared_seeds: bool) -> Misfit | None:
    """The misfit of the values under the rule's family."""
    return misfit(scales, values, gamma0=float(rule.gamma0), law=rule.law, shared_seeds=shared_seeds)


def extrapolation_gate(rule: GrowthRule, scales: Sequence[int], values: Floats) -> Extrapolation:
    """The prediction test, if the rule registers it."""
    if not rule.extrapolate:
        return not_applied("the rule does not register it")
    return extrapolate(scales, values, law=rule.law)
