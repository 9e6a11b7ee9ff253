"""What the rules that assume no distribution register: counts, proportions and means of a bounded metric.

Nothing here computes, so that reading a case file stays light.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from verifier.model.errors import BadInput
from verifier.stats.margin_design import MarginRule

MOST_LISTED = 10**6


@dataclass(frozen=True, kw_only=True)
class ProportionRule(MarginRule):
    """A claimed and an alleged success probability, in [0, 1]; `looks` and `minimum_n` count independent trials."""

    kind: ClassVar[str] = "proportion"
    unit: ClassVar[str] = "trials"

    def __post_init__(self) -> None:
        """Raises BadInput unless 0 ≤ alleged < claimed ≤ 1."""
        require_shares(self)


@dataclass(frozen=True, kw_only=True)
class CountRule(MarginRule):
    """A claimed and an alleged share K/N of a list of N = `size`; `looks` and `minimum_n` count things read."""

    kind: ClassVar[str] = "count"
    unit: ClassVar[str] = "listed"
    size: int

    def __post_init__(self) -> None:
        """Raises BadInput for shares out of order, a list empty or too long, and a last look beyond its end."""
        require_shares(self)
        if not 1 <= self.size <= MOST_LISTED:
            raise BadInput(f"a list of {self.size} is not between 1 and {MOST_LISTED:,}")
        if self.maximum > self.size:
            raise BadInput(
                f"the last look, {self.maximum}, is beyond the {self.size} that are listed",
                mend="end at the list's end",
            )

    @property
    def middle(self) -> Fraction:
        """m, exactly."""
        return (self.alleged + self.claimed) / 2

    def shown(self, theta: float) -> str:
        """The share, with the count that it is of this list."""
        return f"{theta:.4g} ({theta * self.size:.4g} of {self.size:,})"


@dataclass(frozen=True, kw_only=True)
class BoundedRule(MarginRule):
    """`difference` on a bounded metric, judged by betting: θ is the mean of values that cannot leave [lo, hi].

    bounds: (lo, hi), of the values themselves: a paired difference of two scores in [0, 1] lies in [−1, 1]. claimed
    and alleged lie in it too.
    """

    kind: ClassVar[str] = "difference"
    bounds: tuple[Fraction, Fraction]

    def __post_init__(self) -> None:
        """Raises BadInput unless lo ≤ alleged < claimed ≤ hi."""
        low, high = self.bounds
        if not low <= self.alleged < self.claimed <= high:
            raise BadInput(
                f"the alleged {self.alleged} and the claimed {self.claimed} do not lie in order within [{low}, {high}]",
                mend="alleged is the smaller, and bounds hold both",
            )


def require_shares(rule: MarginRule) -> None:
    """Raises BadInput unless 0 ≤ alleged < claimed ≤ 1."""
    if not 0 <= rule.alleged < rule.claimed <= 1:
        raise BadInput(
            f"the alleged {rule.alleged} and the claimed {rule.claimed} are no shares in order",
            mend="0 <= alleged < claimed <= 1",
        )
