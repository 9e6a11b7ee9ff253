"""Which printed percentages are k out of n, under the three rounding rules in use: half up, half to even, truncation.

The granularity test for means is Brown and Heathers (2017); here of counts, in whole numbers throughout.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd

from verifier.audits.printed import printed
from verifier.model.complaints import shown
from verifier.model.errors import BadInput

RULES = ("half-up", "half-even", "truncation")
MOST_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Percentage:
    """A printed percentage: `units` of its last digit, of which 100 % are `full`."""

    text: str
    units: int
    full: int

    def counts(self, n: int, rule: str) -> range:
        """Every k for which 100 k/n is printed as this percentage under `rule`."""
        least, beyond = self._bounds(n, rule)
        return range(max(least, 0), max(least, 0, min(beyond, n + 1)))

    def rules(self, n: int) -> tuple[str, ...]:
        """The rules under which some k of `n` gives it."""
        return tuple(rule for rule in RULES if self.counts(n, rule))

    def possible(self, n: int) -> bool:
        """Whether some k of `n` gives it under some rule: u − ½ ≤ k·full/n < u + 1, which the three rules make up."""
        least = max(_ceil((2 * self.units - 1) * n, 2 * self.full), 0)
        return least <= n and self.full * least < (self.units + 1) * n

    def neighbours(self, n: int) -> tuple[int, int]:
        """The last k below the percentage and the first above it, where no k gives it."""
        above = _ceil(self.units * n, self.full)
        return above - 1, above

    def _bounds(self, n: int, rule: str) -> tuple[int, int]:
        """The first k of the rule's interval, and the first beyond it."""
        low, high, whole = (2 * self.units - 1) * n, (2 * self.units + 1) * n, 2 * self.full
        if rule == "truncation":
            return _ceil(self.units * n, self.full), _ceil((self.units + 1) * n, self.full)
        if rule == "half-up":
            return _ceil(low, whole), _ceil(high, whole)
        even = self.units % 2 == 0  # a half goes to the even neighbour, at either end
        return (_ceil(low, whole), high // whole + 1) if even else (low // whole + 1, _ceil(high, whole))


def percentage(text: str) -> Percentage:
    """The printed percentage `text`. Raises BadInput for anything but a decimal of 0 to 100 with at most 6 decimals."""
    number = printed(text)
    step = number.step
    if step == 0 or step > 1 or step < Fraction(1, 10**MOST_DECIMALS):
        raise BadInput(
            f"{shown(text)} is not a percentage with up to {MOST_DECIMALS} decimals", mend='write one like "42.9"'
        )
    if not 0 <= number.value <= 100:
        raise BadInput(f"{shown(text)} is not between 0 and 100", mend='write a percentage like "42.9"')
    return Percentage(text, int(number.value / step), int(100 / step))


def everything_passes(full: int, n: int) -> bool:
    """Whether every percentage of that precision is some k out of n.

    Points 100/n apart meet every interval of 1½ units from n = ⅔·full on; below, `passing_share` is less than 1.
    """
    return 3 * n >= 2 * full


def passing_share(full: int, n: int) -> float:
    """The share of all percentages of that precision, 0 to 100, that are some k out of n under some rule.

    Each k gives ⌊x⌋, x = k·full/n, and ⌊x⌋ + 1 as well where x's fraction is at least ½; below n = ⅔·full no two k
    give the same, and the fractions are j/q, q = n/gcd(full, n), equally often: n + 1 + gcd·⌊q/2⌋ percentages.
    """
    if everything_passes(full, n):
        return 1.0
    common = gcd(full, n)
    return (n + 1 + common * (n // common // 2)) / (full + 1)


def _ceil(above: int, below: int) -> int:
    return -(-above // below)
