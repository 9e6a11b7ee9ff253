"""The growth rule as registered, and the table that turns its facts into an answer.

For a dispute which alleges that a quantity claimed to be O(1) grows. `decide` is the table; every number it is fed
comes from `verifier.stats.growth`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import ClassVar, Literal

from verifier.model.outcomes import Outcome, Reason
from verifier.stats.rule_answer import RuleAnswer

LEAST_SCALES = 5
HALF_BAR = 100.0  # what H must reach before the rule says "bounded": errs at a slope of δ/2 or more in 1 % at most
JUDGED_FROM = 8  # replicates; with fewer, estimated weights make the misfit fire at random
FEW = 30  # inner repetitions at the first look below which a mean is flagged


@dataclass(frozen=True, kw_only=True)
class GrowthRule:
    """What a case registers before any data. Numbers are exact as written; properties give them as doubles.

    law: what the slope is per unit of, as `laws` names it. delta: the smallest slope of interest per unit of the law.
    log_delta: the same per unit of ln k, registered beside a power law: without it an answer against the dispute
    leaves logarithmic growth open. alternative: the alleged slope. threshold: T, what an
    e-process must reach. noise: "block" (one replicate is a whole sweep) or "pooled" (one common sd). replicate: what
    one replicate is made of, `{"phases": 100}`. looks: replicate counts at which the data are looked at. gamma0: the
    slowest registered power k^−gamma0. floor: systematic error b that every scale's mean may carry. extrapolate:
    whether the prediction test gates FOR_DISPUTE. variance: for pooled noise, each scale's sd relative to the common
    one. minimum_n: inner repetitions below which nothing is decided.
    """

    kind: ClassVar[str] = "growth"
    delta: Fraction
    alternative: Fraction
    looks: tuple[int, ...]
    law: str = "log"
    log_delta: Fraction | None = None
    threshold: Fraction = Fraction(10_000)
    noise: Literal["block", "pooled"] = "block"
    replicate: Mapping[str, int] = field(default_factory=dict)
    gamma0: Fraction = Fraction(1, 2)
    floor: Fraction = Fraction(0)
    extrapolate: bool = True
    variance: Mapping[int, Fraction] = field(default_factory=dict)
    minimum_n: int = 6

    @property
    def maximum(self) -> int:
        """The registered maximum number of replicates."""
        return self.looks[-1]

    @property
    def replicate_size(self) -> int:
        """Inner repetitions in one replicate."""
        return prod(self.replicate.values())

    def inner(self, n: int) -> dict[str, int]:
        """What n replicates amount to, in the registered inner units: `{"phases": 5700}`."""
        return {name: n * count for name, count in self.replicate.items()}

    def may_decide(self, n: int) -> bool:
        """Whether n replicates hold the registered minimum of inner repetitions."""
        return n * self.replicate_size >= self.minimum_n


class GrowthAnswer(RuleAnswer):
    """The rule's answers: each member is its word and carries its sentence, its outcome and its reason."""

    TOO_FEW_SCALES = (
        "TOO_FEW_SCALES",
        "fewer than five scales cannot tell growth from a function that saturates",
        Outcome.UNDERPOWERED,
        Reason.HORIZON,
    )
    MALFORMED = (
        "MALFORMED",
        "replicates that should vary do not",
        Outcome.INVALID,
        Reason.MALFORMED,
    )
    MISFIT = (
        "MISFIT",
        "no registered law, growing or saturating, describes the means",
        Outcome.UNDECIDED,
        Reason.MISFIT,
    )
    GROWS_SLOWLY = (
        "GROWS_SLOWLY",
        "it grows, but more slowly than the smallest slope of interest",
        Outcome.UNDECIDED,
        Reason.SLOPE_BETWEEN,
    )
    GROWS = (
        "GROWS",
        "it grows, faster than any registered bounded function allows",
        Outcome.FOR_DISPUTE,
        None,
    )
    GROWS_NOT_LOG = (
        "GROWS_NOT_LOG",
        "it grows, but the law fitted to the smaller scales does not predict the largest",
        Outcome.UNDECIDED,
        Reason.MISFIT,
    )
    BOUNDED = (
        "BOUNDED",
        "its slope is below the smallest slope of interest up to the claim's own scale",
        Outcome.AGAINST_DISPUTE,
        None,
    )
    BELOW_LAW = (
        "BELOW_LAW",
        "its slope under the alleged law is below the smallest one of interest; slower growth is not excluded by that",
        Outcome.AGAINST_DISPUTE,
        None,
    )
    BOUNDED_BELOW_HORIZON = (
        "BOUNDED_BELOW_HORIZON",
        "its slope is below the smallest slope of interest, but not shown to be so up to the claim's own scale",
        Outcome.UNDERPOWERED,
        Reason.HORIZON,
    )
    SLOPE_BELOW = (
        "SLOPE_BELOW",
        "its slope is below the smallest slope of interest, but slow growth is not excluded",
        Outcome.UNDECIDED,
        Reason.SLOPE_BETWEEN,
    )
    GROWS_NOT_ABOVE = (
        "GROWS_NOT_ABOVE",
        "it grows, but a slope below the smallest one of interest is not out of the question",
        Outcome.UNDECIDED,
        Reason.SLOPE_BETWEEN,
    )
    NEITHER = (
        "NEITHER",
        "a design that should have decided reached neither threshold",
        Outcome.UNDECIDED,
        Reason.NOT_DECIDED,
    )
    NEITHER_INADEQUATE = (
        "NEITHER_INADEQUATE",
        "this design could not be expected to decide",
        Outcome.UNDERPOWERED,
        Reason.UNDERPOWERED,
    )


def decide(  # noqa: C901  # a table is written as one return a row
    *,
    too_few_scales: bool,
    no_variance: bool,
    misfit: bool,
    grows: bool,
    flat: bool,
    half: bool,
    flat_now: bool,
    grow_now: bool,
    extrapolates: bool,
    reaches_claim: bool,
    fast_law: bool,
    adequate: bool,
) -> GrowthAnswer:
    """The rule's table: the first row that applies.

    grows, flat: G ≥ T, F ≥ T, suprema over the looks made of the evidence for growth and for a slope below δ. half:
    H ≥ 100, likewise for a slope below δ/2. flat_now, grow_now: whether E_flat, E_grow at this look is at least 1.
    extrapolates: the prediction test holds or was not applied. reaches_claim: K ≥ K_claim. fast_law: the law is a
    power of k, so that a small slope excludes that law and not ln k.
    """
    bounded = flat and half and not grow_now
    if too_few_scales:
        return GrowthAnswer.TOO_FEW_SCALES
    if no_variance:
        return GrowthAnswer.MALFORMED
    if misfit:
        return GrowthAnswer.MISFIT
    if grows and flat:
        return GrowthAnswer.GROWS_SLOWLY
    if grows and not flat_now and extrapolates:
        return GrowthAnswer.GROWS
    if grows and not flat_now:
        return GrowthAnswer.GROWS_NOT_LOG
    if bounded and reaches_claim and fast_law:
        return GrowthAnswer.BELOW_LAW
    if bounded and reaches_claim:
        return GrowthAnswer.BOUNDED
    if bounded:
        return GrowthAnswer.BOUNDED_BELOW_HORIZON
    if flat:
        return GrowthAnswer.SLOPE_BELOW
    if grows:
        return GrowthAnswer.GROWS_NOT_ABOVE
    if adequate:
        return GrowthAnswer.NEITHER
    return GrowthAnswer.NEITHER_INADEQUATE
