"""The bounds of docs/certificates.md on what one evaluation may cost, charged before anything is computed."""

from __future__ import annotations

import time
from fractions import Fraction

from verifier.model.errors import BadInput

MOST_NODES = 200_000
MOST_TERMS = 100_000
MOST_UNITS = 4_000_000
MOST_BITS = 13_300
CERTIFIED_UNITS = MOST_UNITS // 2
"""What a certificate may cost its checker: a finder stays below half the budget."""

_MEND = "give smaller numbers or shorter ranges"


class OutOfTimeError(Exception):
    """The time limit passed during an evaluation."""


def too_large(what: str) -> BadInput:
    """The complaint about a computation beyond the bounds."""
    return BadInput(f"too large: {what}", where="the formulas at this assignment", mend=_MEND)


def bits_of(x: Fraction) -> int:
    """The bit length of the longer one of numerator and denominator."""
    return max(x.numerator.bit_length(), x.denominator.bit_length())


class Meter:
    """Counts node evaluations and work units. `deadline` is a time of the monotonic clock, in seconds."""

    def __init__(self, deadline: float | None = None) -> None:
        self.nodes = self.units = 0
        self._deadline = deadline

    def fresh(self) -> Meter:
        """A meter at zero with the same deadline."""
        return Meter(self._deadline)

    def charge(self, bits: int = 0) -> None:
        """One node over inputs of `bits` bits. Raises BadInput beyond the bounds, OutOfTimeError after the deadline."""
        self.nodes += 1
        self.units += 10 * (1 + bits // 500)
        if self.nodes > MOST_NODES:
            raise too_large(f"more than {MOST_NODES:,} node evaluations")
        self._check()

    def charge_term(self, bits: int) -> None:
        """One more term of a sum whose longer number has `bits` bits: no node of its own, long numbers cost."""
        self.units += 10 * (bits // 500)
        self._check()

    def charge_matrix(self, size: int, bits: int) -> None:
        """One definiteness test of a matrix of `size` rows with entries of `bits` bits."""
        self.units += size**3 * (1 + size * bits // 500)
        self._check()

    def _check(self) -> None:
        if self.units > MOST_UNITS:
            raise too_large(f"more than {MOST_UNITS:,} work units")
        if self._deadline is not None and self.nodes % 1_024 == 0 and time.monotonic() > self._deadline:
            raise OutOfTimeError


def bounded(x: Fraction) -> Fraction:
    """The number itself. Raises BadInput if it is longer than the format allows."""
    if bits_of(x) > MOST_BITS:
        raise too_large(f"a number has more than {MOST_BITS:,} bits")
    return x
