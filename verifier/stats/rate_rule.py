"""The rate rule as registered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import ClassVar

from verifier.stats.growth_rule import GrowthRule

RESOLUTION = Fraction(1, 10**12)


@dataclass(frozen=True, kw_only=True)
class RateRule:
    """What a case registers before any data. Numbers are exact as written.

    claimed: p, the claim being y = O(t^−p). alleged: q < p, the dispute being that y decays like t^−q. delta: the
    smallest slope of interest of ln(t^p y) per ln t; None is (p − q)/2. resolution: the least y that the measurement
    can tell from zero. The rest as in the growth rule.
    """

    kind: ClassVar[str] = "rate"
    claimed: Fraction
    alleged: Fraction
    looks: tuple[int, ...]
    delta: Fraction | None = None
    resolution: Fraction = RESOLUTION
    threshold: Fraction = Fraction(10_000)
    replicate: Mapping[str, int] = field(default_factory=dict)
    gamma0: Fraction = Fraction(1, 2)
    extrapolate: bool = True
    minimum_n: int = 6

    @property
    def maximum(self) -> int:
        """The registered maximum number of replicates."""
        return self.looks[-1]

    @property
    def replicate_size(self) -> int:
        """Inner repetitions in one replicate."""
        return prod(self.replicate.values())

    @property
    def gap(self) -> Fraction:
        """The alleged slope p − q of ln(t^p y) per ln t."""
        return self.claimed - self.alleged

    @property
    def growth(self) -> GrowthRule:
        """The growth rule that judges v = ln(t^p y)."""
        return GrowthRule(
            law="log",
            delta=self.gap / 2 if self.delta is None else self.delta,
            alternative=self.gap,
            looks=self.looks,
            threshold=self.threshold,
            noise="block",
            replicate=self.replicate,
            gamma0=self.gamma0,
            extrapolate=self.extrapolate,
            minimum_n=self.minimum_n,
        )
