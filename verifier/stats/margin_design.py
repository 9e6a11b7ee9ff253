"""What a margin rule registers. Nothing here computes, so that reading a case file stays light."""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, NamedTuple

from verifier.model.errors import BadInput

MIDDLE_BAR = 20.0  # what H must reach, and what the other side's present evidence must stay below
LEAST_N = 6  # the least minimum_n that may be registered


class Nulls(NamedTuple):
    """a, m and c in the units of θ: what is alleged, the middle, what is claimed; a < m < c."""

    alleged: float
    middle: float
    claimed: float


@dataclass(frozen=True, kw_only=True)
class MarginRule:
    """What every margin rule registers before any data. Numbers are exact as written.

    claimed: c, the claim being θ ≥ c. alleged: a, the dispute being θ ≤ a; a < c. looks: the n at which the data are
    looked at, increasing. minimum_n: below it nothing is decided, and no look counts towards a supremum. threshold: T.
    """

    kind: ClassVar[str] = "margin"
    unit: ClassVar[str] = "replicates"
    claimed: Fraction
    alleged: Fraction
    looks: tuple[int, ...]
    minimum_n: int
    threshold: Fraction = Fraction(10_000)

    @property
    def maximum(self) -> int:
        """The registered maximum n."""
        return self.looks[-1]

    @property
    def nulls(self) -> Nulls:
        """a, m, c in the units of θ, m = (a + c)/2."""
        return Nulls(float(self.alleged), float((self.alleged + self.claimed) / 2), float(self.claimed))

    def shown(self, theta: float) -> str:
        """θ as a person reads it."""
        return f"{theta:.4g}"

    def looks_made(self, n: int) -> tuple[int, ...]:
        """The registered looks up to n.

        Raises BadInput where n lies between or beyond the looks; below the first one there is none yet.
        """
        if n >= self.looks[0] and n not in self.looks:
            raise BadInput(
                f"{n} {self.unit} are not at a registered look", mend=f"registered are {list(self.looks)[:20]}"
            )
        return tuple(look for look in self.looks if look <= n)


FEW = {"bounded": 15, "unbounded": 30}
"""The usual minimum_n of a t rule: below it the printed flag is `few`."""


@dataclass(frozen=True, kw_only=True)
class TRule(MarginRule):
    """A margin rule on a mean, by the t e-process.

    bounds: the least and the largest value that the metric can take; None for an unbounded metric, of which a mean is
    blind to failures rarer than 1/n. better: whether larger or smaller values of the metric favour the claim.
    original_n: replicates in the paper, for what is reported beside.
    """

    bounds: tuple[Fraction, Fraction] | None = None
    better: Literal["higher", "lower"] = "higher"
    original_n: int | None = None

    def __post_init__(self) -> None:
        """Raises BadInput unless a < c, the looks increase and the bounds do."""
        alleged, _, claimed = self.nulls
        if not alleged < claimed:
            raise BadInput("what is alleged is not below what is claimed", mend="turn the arms round")
        if not self.looks or self.looks[0] < 1 or any(x >= y for x, y in itertools.pairwise(self.looks)):
            raise BadInput(f"the looks {list(self.looks)[:20]} do not increase", mend="list each once, smallest first")
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise BadInput("the bounds do not increase", mend="write the least value first")

    @property
    def usual_minimum(self) -> int:
        """The minimum_n below which the design is flagged as few."""
        return FEW["unbounded" if self.bounds is None else "bounded"]

    def flags(self, n: int) -> tuple[str, ...]:
        """What the design cannot see with n of its units, whatever the data show."""
        found = []
        if self.minimum_n < self.usual_minimum:
            found.append(f"few: it may decide from {self.minimum_n} {self.unit}, fewer than {self.usual_minimum}")
        if self.bounds is None:
            found.append(f"blind to failures rarer than 1/n: a mean of an unbounded metric over n = {n} {self.unit}")
        else:
            found.append("a t rule on a bounded metric: it exceeds its error rate where outcomes are skew or rare")
        return tuple(found)


@dataclass(frozen=True, kw_only=True)
class DifferenceRule(TRule):
    """`difference`: θ = mean(left) − mean(right), turned round where lower is better; claimed = δ.

    noise: "paired" (one replicate's arms share what varies), "unpaired" (replicate r of either arm, in manifest order)
    or "pooled" (one common standard deviation). population: "this-test-set" (the items are the items) or "items-drawn"
    (they stand for more of their kind; then one look, and the evidence of the items counts as well); "" where a
    replicate has no items. minimum_items: as minimum_n, for items drawn. method: "t", or "betting" on a bounded metric.
    """

    kind: ClassVar[str] = "difference"
    noise: Literal["paired", "unpaired", "pooled"] = "paired"
    population: Literal["", "this-test-set", "items-drawn"] = ""
    minimum_items: int = FEW["unbounded"]
    method: Literal["t", "betting"] = "t"

    @property
    def one_seed(self) -> bool:
        """Whether one replicate is all there will be, so that only the items are evidence."""
        return self.population == "items-drawn" and self.maximum == 1

    def flags(self, n: int) -> tuple[str, ...]:
        """What the design cannot see with n replicates, whatever the data show."""
        if self.method == "betting":
            return ()
        if not self.one_seed:
            return super().flags(n)
        return ("one seed: nothing is known of what another seed would give",)


@dataclass(frozen=True, kw_only=True)
class RatioRule(TRule):
    """`ratio`: θ = ln(left/right), turned round where lower is better, per launch.

    claimed: the ratio as claimed. delta: δ > 1, what the claim may be short by, so c = ln(claimed/δ). alleged: the
    ratio as alleged, a = ln(alleged). estimand: "geometric" (the mean of ln L − ln R) or "ratio-of-means" (E L/E R, by
    L − ρR). noise: "paired" (one launch measures both arms) or "unpaired" (in launch order).
    """

    kind: ClassVar[str] = "ratio"
    unit: ClassVar[str] = "launches"
    delta: Fraction
    estimand: Literal["geometric", "ratio-of-means"] = "geometric"
    noise: Literal["paired", "unpaired"] = "paired"

    @property
    def nulls(self) -> Nulls:
        """a, m, c as logarithms of ratios."""
        alleged, claimed = math.log(self.alleged), math.log(self.claimed / self.delta)
        return Nulls(alleged, (alleged + claimed) / 2, claimed)

    def shown(self, theta: float) -> str:
        """The ratio whose logarithm θ is."""
        return f"{math.exp(theta):.4g}" if theta < math.log(sys.float_info.max) else "inf"
