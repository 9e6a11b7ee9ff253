"""The growth rule's e-processes over all looks, for one data set or thousands at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from verifier.stats.contrasts import Contrasts, contrasts, l1_norm
from verifier.stats.eprocess import log_mean_exp, log_mixture_e
from verifier.stats.growth_rule import GrowthRule
from verifier.stats.law_names import is_fast
from verifier.stats.laws import Floats
from verifier.stats.noise import Estimate, estimate


@dataclass(frozen=True, kw_only=True)
class LogEvidence:
    """ln E_grow, ln E_flat and ln E_half at each look, undiscounted, each of shape (…, L)."""

    grow: Floats
    flat: Floats
    half: Floats

    def suprema(self) -> LogEvidence:
        """The suprema over the looks made up to each look."""
        return LogEvidence(**{k: np.maximum.accumulate(getattr(self, k), axis=-1) for k in ("grow", "flat", "half")})


@dataclass(frozen=True, kw_only=True)
class Estimates:
    """The three contrasts estimated at each look, with the floor B each may carry."""

    cone: Estimate
    up: Estimate
    full: Estimate
    floors: tuple[float, float, float]


def contrast_estimates(rule: GrowthRule, scales: Sequence[int], values: Floats, looks: Sequence[int]) -> Estimates:
    """Estimates of the cone, upper and full contrasts of the values (…, m, N) at the looks."""
    weights: Contrasts = contrasts(scales, gamma0=float(rule.gamma0), law=rule.law)
    variance = {k: float(v) for k, v in rule.variance.items()}
    cone, up, full = (estimate(rule.noise, w, values, looks, scales=scales, variance=variance) for w in weights)
    b = float(rule.floor)
    return Estimates(cone=cone, up=up, full=full, floors=tuple(b * l1_norm(w) for w in weights))  # type: ignore[arg-type]  # three


def grow_t(estimates: Estimates) -> Floats:
    """The smaller of the t statistics of θ_cone > B and s_up > B: E_grow is the e-process of this t, being monotone."""
    return np.minimum(estimates.cone.t(estimates.floors[0]), estimates.up.t(estimates.floors[1]))


def log_evidence(rule: GrowthRule, estimates: Estimates) -> LogEvidence:
    """Natural logarithms of the three e-processes at every look.

    E_grow = min(E[θ_cone > B], E[s_up > B]): evidence against a union of nulls (intersection–union, Berger 1982).
    E_flat: the average of E[s_up < δ − B] and E[s_full < δ − B], against β ≥ δ, under which both slopes are at least δ
    up to the floor; E_half the same for δ/2. An average of e-processes for one null is one (Vovk and Wang 2021).
    """
    cone, up = estimates.cone, estimates.up
    grow = log_mixture_e(grow_t(estimates), df=cone.df, n=np.minimum(cone.n, up.n))
    delta = float(rule.delta)
    return LogEvidence(grow=grow, flat=_log_below(estimates, delta), half=_log_below(estimates, delta / 2))


def _log_below(estimates: Estimates, slope: float) -> Floats:
    sides = [
        log_mixture_e(e.t(slope - floor, below=True), df=e.df, n=e.n)
        for e, floor in zip((estimates.up, estimates.full), estimates.floors[1:], strict=True)
    ]
    return log_mean_exp(np.stack(sides), axis=0)


def log_law_evidence(
    rule: GrowthRule, scales: Sequence[int], values: Floats, looks: Sequence[int]
) -> LogEvidence | None:
    """Under a power law: the evidence of the same values under the law ln k with δ = log_delta, else None.

    `flat` and `half` are against β ≥ log_delta and β ≥ log_delta/2 in y = β ln k + g, g bounded. None where the law is
    no power or no log_delta is registered.
    """
    if rule.log_delta is None or not is_fast(rule.law):
        return None
    return growth_log_e(replace(rule, law="log", delta=rule.log_delta), scales, values, looks)


def growth_log_e(rule: GrowthRule, scales: Sequence[int], values: Floats, looks: Sequence[int]) -> LogEvidence:
    """Natural logarithms of E_grow, E_flat and E_half of the values (…, m scales, N replicates) at the looks."""
    return log_evidence(rule, contrast_estimates(rule, scales, values, looks))
