"""The bound rule as registered, and its table: whether X(I) ≤ g(I, ε) holds for every instance I.

A search that finds no violation shows nothing about the instances that were not searched, so the rule never speaks
against the dispute because instances passed, and never takes the largest E over the instances it searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from verifier.model.answers import AGAINST, FOR, Finding, undecided, underpowered
from verifier.model.outcomes import Reason
from verifier.model.words import SentenceEnum


class BoundAnswer(SentenceEnum):
    """What a search for a violation can find."""

    VIOLATED = "VIOLATED", "an instance that satisfies the hypotheses exceeds the bound, by an accepted certificate"
    VIOLATED_IN_MEAN = "VIOLATED_IN_MEAN", "the expected cost exceeds the bound"
    VIOLATED_FLOAT = "VIOLATED_FLOAT", "an instance was computed to exceed the bound, but no certificate shows it"
    HOLDS_ON_CLASS = "HOLDS_ON_CLASS", "every instance of the finite class is exactly within the bound"
    NO_VIOLATION_FOUND = (
        "NO_VIOLATION_FOUND",
        "no violation was found, which says nothing about the instances that were not searched",
    )


def decide(*, exact_witness: bool, float_violation: bool, violated_in_mean: bool, holds_on_class: bool) -> BoundAnswer:
    """The rule's table: the first row that applies.

    exact_witness: the checker accepted a certificate that witnesses the hypotheses. float_violation: a computed value
    above the bound without one, which weakens no evidence about means. violated_in_mean: Σ v_i E_i(mean > g) ≥ T, or
    E ≥ T on fresh streams of the instance found. holds_on_class: every instance of a finite registered class exactly
    within g.
    """
    if exact_witness:
        return BoundAnswer.VIOLATED
    if violated_in_mean:
        return BoundAnswer.VIOLATED_IN_MEAN
    if float_violation:
        return BoundAnswer.VIOLATED_FLOAT
    if holds_on_class:
        return BoundAnswer.HOLDS_ON_CLASS
    return BoundAnswer.NO_VIOLATION_FOUND


def bound_outcome(answer: BoundAnswer, *, alleges_in_class: bool) -> Finding:
    """What an answer says about the dispute; `alleges_in_class`: it alleges an instance of the registered class."""
    match answer:
        case BoundAnswer.VIOLATED | BoundAnswer.VIOLATED_IN_MEAN:
            return FOR
        case BoundAnswer.VIOLATED_FLOAT:
            return undecided(Reason.AMBIGUOUS)
        case BoundAnswer.HOLDS_ON_CLASS:
            return AGAINST if alleges_in_class else undecided(Reason.NOT_DECIDED)
        case BoundAnswer.NO_VIOLATION_FOUND:
            return underpowered(Reason.HORIZON)


@dataclass(frozen=True, kw_only=True)
class BoundRule:
    """What a case registers before any data. Numbers are exact as written.

    instances: the names of the instances, in order; of a sampler "1", "2", …. weights: v_i > 0, one for each, summing
    to 1. whole_class: they are all instances of a finite class that the case names. alleged: the instance that the
    dispute alleges, "" for none in particular. looks: replicates of every instance at which means are looked at, () for
    a cost without chance. minimum_n: replicates below which no mean counts.
    """

    kind: ClassVar[str] = "bound"
    instances: tuple[str, ...]
    weights: tuple[Fraction, ...]
    whole_class: bool = False
    alleged: str = ""
    looks: tuple[int, ...] = ()
    threshold: Fraction = Fraction(10_000)
    minimum_n: int = 30

    def __post_init__(self) -> None:
        assert len(self.weights) == len(self.instances) > 0, "one weight for each instance"
        assert sum(self.weights) == 1, "the weights sum to 1"
        assert min(self.weights) > 0, "every weight is above zero"

    @property
    def alleges_in_class(self) -> bool:
        """Whether the dispute alleges an instance of the finite registered class."""
        return self.whole_class and self.alleged in self.instances


def equal_weights(count: int) -> tuple[Fraction, ...]:
    """1/count for each of `count` instances."""
    return (Fraction(1, count),) * count
