"""The energy bound as an exact test of one component at one step."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from verifier.exact.definite import Largest, largest_eigenvalue
from verifier.exact.hardmax.problem import HardmaxProblem


class Bound:
    """J^t(x_i^{t+1}) ≤ 2/(t+1) · λ_max(B^{t0}) · D², decided without approximating λ_max.

    `ell` is a rational ≥ λ_max (equal where λ_max is rational of modest size), `theta` is 4·ell·D².
    """

    def __init__(self, problem: HardmaxProblem, *, bits: int = 64) -> None:
        self.diameter_squared = problem.diameter_squared
        self.largest: Largest = largest_eigenvalue(problem.B[0], bits=bits)
        self.ell = self.largest.high
        self.theta = 4 * self.ell * self.diameter_squared
        self.on_diagonal = self.largest.exact and self.largest.high == max(row[i] for i, row in enumerate(problem.B[0]))
        """Whether λ_max is a diagonal entry, so that comparing with it decides every test."""
        low = 4 * self.largest.low * self.diameter_squared
        self._high = (self.theta.numerator, self.theta.denominator)
        self._low = (low.numerator, low.denominator)

    def fails(self, t: int, top: int, over: int) -> bool:
        """Whether the inequality fails at t for a token with 2·J^t(x^{t+1}) = top/over; equality does not fail."""
        left = (t + 1) * top
        if left * self._high[1] > self._high[0] * over:
            return self.diameter_squared > 0
        if self.largest.exact or left * self._low[1] <= self._low[0] * over:
            return False
        return self.largest.below(Fraction(left, 1) / (4 * self.diameter_squared * over))

    def mask(self, t: int, energies: list[int], over: int) -> int:
        """The failing components at t as bits."""
        if not self.fails(t, max(energies), over):
            return 0
        return sum(1 << i for i, top in enumerate(energies) if self.fails(t, top, over))

    def share(self, t: int, energies: list[int], over: int) -> float:
        """Left side over right side at its largest component, as a double."""
        if self._high[0] == 0:
            return 0.0
        return ((t + 1) * max(energies) * self._high[1]) / (self._high[0] * over)

    def safe_until(self, top: int, over: int) -> int:
        """The last t at which 2J = top/over > 0 surely does not fail."""
        return self._low[0] * over // (self._low[1] * top) - 1

    def rhs(self, t: int) -> Fraction:
        """2·ell·D²/(t+1): the right side, exactly the paper's where ell = λ_max."""
        return 2 * self.ell * self.diameter_squared / (t + 1)

    @property
    def rhs_is(self) -> Literal["exact", "bound"]:
        """Whether `rhs` is the paper's own right side, or a rational number above it."""
        return "exact" if self.largest.exact or not self.diameter_squared else "bound"
