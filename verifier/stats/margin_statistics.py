"""What a margin rule reports: plain records whose fields are the machine output's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from verifier.model.outcomes import Outcome, Reason
from verifier.model.results import Adequacy
from verifier.stats.growth_statistics import EValue
from verifier.stats.margin_answers import MarginAnswer


@dataclass(frozen=True, kw_only=True)
class Effect:
    """θ as estimated at this look, in its own units (a ratio's are logarithms).

    interval: 95 %, at any stopping time; None where there is none yet. sd: of one replicate, where the rule has one.
    """

    estimate: float
    stderr: float | None = None
    interval: tuple[float, float] | None = None
    sd: float | None = None


@dataclass(frozen=True, kw_only=True)
class MarginStatistics:
    """The numbers behind an answer. E-values are undiscounted; `discount` is what the rule multiplied them by.

    claimed, alleged, middle: c, a, m in the units of θ. e_*: None before the first look that counts. sigma_anytime:
    Φ⁻¹(1 − 1/E) of the larger of sup E(θ < c) and sup E(θ > a); sigma_discounted: the same after the discount.
    reported: what is shown beside and decides nothing.
    """

    n: int
    looks_made: tuple[int, ...]
    stopped_by: str | None
    discount: float
    claimed: float
    alleged: float
    middle: float
    effect: Effect | None = None
    e_below_claim: EValue | None = None
    e_above_alleged: EValue | None = None
    e_below_middle: EValue | None = None
    e_above_middle: EValue | None = None
    sigma_anytime: float | None = None
    sigma_discounted: float | None = None
    reported: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class MarginSoFar:
    """What an undecided run has seen; not a ruling."""

    estimate: float | None
    interval: tuple[float, float] | None
    sup_e_below_claim: float | None
    sup_e_above_alleged: float | None
    share_of_budget: float
    note: str = "not a ruling"


@dataclass(frozen=True, kw_only=True)
class MarginFinding:
    """A margin rule's answer at one look, and everything a person or a machine is told about it.

    stops: no further look is to be made. flags: what the design cannot see, whatever the data.
    """

    answer: MarginAnswer
    outcome: Outcome
    reason: Reason | None
    summary: str
    stops: bool
    statistics: MarginStatistics
    adequacy: Adequacy
    so_far: MarginSoFar | None
    flags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class MarginPower:
    """The chances of a design at one true effect.

    effect: the truth, as the rule's `power` takes it. answers, outcomes: probabilities that occur, summing to 1.
    mean_n: what is used on average, early stops included. method: how they were found; runs: how many were simulated
    (None: none), a probability's standard error then being √(p(1 − p)/runs).
    """

    effect: float
    answers: Mapping[MarginAnswer, float]
    outcomes: Mapping[Outcome, float]
    mean_n: float
    method: str
    runs: int | None = None
    seed: int | None = None
