"""What the growth rule reports: plain records whose fields are the machine output's."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from verifier.model.outcomes import Outcome, Reason
from verifier.model.results import Adequacy
from verifier.stats.critical import critical_t
from verifier.stats.growth_rule import GrowthAnswer
from verifier.stats.laws import Floats
from verifier.stats.noise import Estimate
from verifier.stats.significance import sigma_from_t

COVERAGE_E = 20.0  # 1/0.05: the two-sided e-process below 20 is a 95 % confidence sequence


@dataclass(frozen=True, kw_only=True)
class Slope:
    """One contrast: its estimate, error, anytime-valid 95 % interval and fixed-n sigma; None where there is none.

    stderr carries the misfit inflation, sigma_fixed_n does not: it is the t against the floor as a normal quantile.
    """

    estimate: float
    stderr: float
    interval: tuple[float, float] | None
    sigma_fixed_n: float | None


@dataclass(frozen=True, kw_only=True)
class EValue:
    """An e-process: at this look, its supremum over the looks made, and at the stop (None while running)."""

    current: float
    sup: float
    at_stop: float | None


@dataclass(frozen=True, kw_only=True)
class MisfitStatistic:
    """χ² of the cell means over the registered family, as judged."""

    chi2: float
    df: int
    p: float


@dataclass(frozen=True, kw_only=True)
class ExtrapolationStatistic:
    """Whether the prediction test was applied, its p, and why not."""

    applied: bool
    p: float | None
    why_not: str = ""


@dataclass(frozen=True, kw_only=True)
class LogLawStatistic:
    """Under a power law: the evidence for a slope per ln k below the registered log_delta, and below half of it.

    reached: whether the first reached T and the second its bar, after the discount, at any look made.
    """

    delta: float
    e_flat: EValue
    e_half: EValue
    reached: bool


@dataclass(frozen=True, kw_only=True)
class GrowthStatistics:
    """The numbers behind an answer. E-values are undiscounted; `discount` is what the rule multiplied them by.

    sigma_anytime: Φ⁻¹(1 − 1/sup E_grow); sigma_discounted: the same of the discounted supremum, which is what may be
    quoted after several registrations.
    """

    n: int
    looks_made: tuple[int, ...]
    stopped_by: str | None
    discount: float
    slope_cone: Slope | None = None
    slope_up: Slope | None = None
    slope_full: Slope | None = None
    e_grow: EValue | None = None
    e_flat: EValue | None = None
    e_half: EValue | None = None
    sigma_anytime: float | None = None
    sigma_discounted: float | None = None
    misfit: MisfitStatistic | None = None
    inflation: float = 1.0
    extrapolation: ExtrapolationStatistic | None = None
    contrast_l1: float | None = None
    log_law: LogLawStatistic | None = None
    classical: Mapping[str, Mapping[str, float]] | None = None


@dataclass(frozen=True, kw_only=True)
class SoFar:
    """What an undecided run has seen; not a ruling."""

    estimate: float | None
    interval: tuple[float, float] | None
    sup_e_grow: float | None
    sup_e_flat: float | None
    share_of_budget: float
    note: str = "not a ruling"


@dataclass(frozen=True, kw_only=True)
class GrowthFinding:
    """The growth rule's answer at one look, and everything a person or a machine is told about it.

    stops: no further look is to be made. flags: what the design cannot see, whatever the data. reproduces: the answer
    is one that a claim of O(1) is reproduced by: BOUNDED, or BELOW_LAW where logarithmic growth is excluded as well.
    covers: of a sweep in stages, the largest scale that an answer against the dispute covers, None where there is none.
    """

    answer: GrowthAnswer
    outcome: Outcome
    reason: Reason | None
    summary: str
    stops: bool
    statistics: GrowthStatistics
    adequacy: Adequacy
    residual_class: str
    reproduces: bool
    so_far: SoFar | None
    flags: tuple[str, ...]
    covers: int | None = None


def e_from_log(log_e: float) -> float:
    """exp(log_e) as a double that JSON can hold: the largest double where it overflows."""
    return math.exp(log_e) if log_e < math.log(sys.float_info.max) else sys.float_info.max


def e_value(logs: Floats, *, at_stop: int | None) -> EValue:
    """The record of an e-process from its ln at each look, shape (L,); `at_stop` is the index of the stop's look."""
    return EValue(
        current=e_from_log(float(logs[-1])),
        sup=e_from_log(float(logs.max())),
        at_stop=None if at_stop is None else e_from_log(float(logs[at_stop])),
    )


def slope(path: Estimate, *, floor: float, inflation: float) -> Slope:
    """The record of a contrast at the last look of its path.

    The interval is anytime-valid at 95 %: every slope that the two-sided mixture does not hold against at E ≥ 20,
    θ̂ ± t_n(20)·stderr, with the stderr inflated by the misfit and the floor added to either side. None where no t
    reaches 20 at so few replicates.
    """
    value, stderr, df, n = (float(np.asarray(x)[..., -1]) for x in path)
    t = critical_t(round(n), df=round(df), log_threshold=math.log(COVERAGE_E), two_sided=True)
    reach = t * stderr * inflation + floor
    sigma = sigma_from_t(float(path.t(floor)[-1]), df)
    return Slope(
        estimate=value,
        stderr=stderr * inflation,
        interval=(value - reach, value + reach) if math.isfinite(reach) else None,
        sigma_fixed_n=sigma if math.isfinite(sigma) else None,
    )
