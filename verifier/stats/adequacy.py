"""Horizon adequacy: whether a design could have shown the alleged growth, and what design would."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from verifier.stats.contrasts import Contrasts, contrasts
from verifier.stats.critical import POWER, log_threshold, power_at, replicates_needed, sd_upper_bound
from verifier.stats.growth_rule import LEAST_SCALES, GrowthRule
from verifier.stats.laws import Floats


def degrees_of_freedom(rule: GrowthRule, m: int, n: int) -> int:
    """ν of a contrast's error at n replicates of m scales under the rule's noise model."""
    return n - 1 if rule.noise == "block" else m * (n - 1)


def effects(rule: GrowthRule) -> Contrasts:
    """β_c, the slope each contrast must be able to show: the alleged one, and δ for the full slope."""
    alternative, delta = float(rule.alternative), float(rule.delta)
    return Contrasts(*(np.asarray(b) for b in (alternative, alternative, delta)))


def is_adequate(rule: GrowthRule, *, m: int, sd: Sequence[float], df: float, discount: float) -> bool:
    """Whether the registered maximum n reaches n90(β_c/sd_U,c) for all three contrasts.

    sd: standard deviations of one replicate's cone, upper and full contrasts, as estimated on df degrees of freedom;
    sd_U is their upper 80 % bound. The power at the maximum n is compared with 90 %, which is n ≥ n90, for it
    increases in n. The horizon, K ≥ K_claim, is the caller's.
    """
    n = rule.maximum
    log_t = log_threshold(float(rule.threshold), discount)
    nu = degrees_of_freedom(rule, m, n)
    return all(
        power_at(beta / sd_upper_bound(s, df), n, log_threshold=log_t, df=nu) >= POWER if s > 0 else True
        for beta, s in zip((float(b) for b in effects(rule)), sd, strict=True)
    )


def needed_for_contrasts(rule: GrowthRule, *, m: int, sd: Sequence[float], discount: float) -> int | None:
    """The least n with 90 % power for all three contrasts at these standard deviations of one replicate."""
    log_t = log_threshold(float(rule.threshold), discount)
    found = [
        replicates_needed(float(beta) / s, log_threshold=log_t, df=lambda n: degrees_of_freedom(rule, m, n))
        for beta, s in zip(effects(rule), sd, strict=True)
        if s > 0
    ]
    if not found or any(n is None for n in found):
        return None
    return max(n for n in found if n is not None)


def contrast_sd(rule: GrowthRule, scales: Sequence[int], sd: Mapping[int, float]) -> Contrasts:
    """The standard deviation of one replicate's contrasts, from each scale's sd of one replicate (independent cells).

    sd holds some scales; others are interpolated linearly in ln k, and constant beyond the known ones. Pooled noise
    takes the root mean square of sd_j over the registered relative sd as the common sd.
    """
    cells = interpolate_sd(scales, sd)
    built = contrasts(scales, gamma0=float(rule.gamma0), law=rule.law)
    if rule.noise == "pooled":
        relative = np.array([float(rule.variance[k]) for k in scales]) if rule.variance else np.ones(len(scales))
        cells = relative * math.sqrt(float(np.mean((cells / relative) ** 2)))
    return Contrasts(*(np.linalg.norm(w * cells) for w in built))  # type: ignore[arg-type]  # 0-d values


def interpolate_sd(scales: Sequence[int], sd: Mapping[int, float]) -> Floats:
    """The sd at each scale: linear in ln k between known scales, constant beyond them. `sd` is not empty."""
    known = sorted(sd)
    return np.asarray(np.interp(np.log(np.array(scales, float)), np.log(known), [sd[k] for k in known]), float)


def claim_grid(registered: Sequence[int], claim_scale: int) -> tuple[int, ...]:
    """The registered scales up to K_claim, which ends the grid whether or not it was listed."""
    return (*sorted(k for k in set(registered) if k < claim_scale), claim_scale)


def needed(
    rule: GrowthRule,
    *,
    axis: str,
    claim_scale: int,
    registered: Sequence[int],
    sd: Mapping[int, float],
    inflate_df: float | None,
    discount: float,
) -> dict[str, int]:
    """K, n and inner repetitions that would decide: K_claim, and 90 % power on the registered grid.

    sd: per scale, of one replicate. inflate_df: its degrees of freedom if it was estimated (then its upper 80 % bound
    is used), None if it was planned.
    """
    grid = claim_grid(registered, claim_scale)
    result = {axis: claim_scale}
    if len(grid) < LEAST_SCALES:
        return result | {"scales": LEAST_SCALES}
    if not sd:
        return result
    factor = 1.0 if inflate_df is None else sd_upper_bound(1.0, inflate_df)
    spread = [float(s) * factor for s in contrast_sd(rule, grid, sd)]
    n = needed_for_contrasts(rule, m=len(grid), sd=spread, discount=discount)
    if n is None:
        return result
    while not rule.may_decide(n):
        n += 1
    return result | {"replicates": n} | rule.inner(n)
