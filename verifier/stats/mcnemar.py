"""The exact McNemar test: two methods on the same items, judged by the items on which only one of them succeeds."""

from __future__ import annotations

from dataclasses import dataclass

from scipy import special

from verifier.model.errors import BadInput
from verifier.stats.significance import p_to_e

MOST_ITEMS = 10**12


@dataclass(frozen=True, kw_only=True)
class McNemar:
    """What the discordant items say at a fixed number of items, looked at once.

    left_only, right_only: items that only this side got right. p: two-sided, the smaller tail doubled. p_left, p_right:
    one-sided, small where the left (the right) side is better. e_left, e_right: those p-values calibrated.
    """

    left_only: int
    right_only: int
    p: float
    p_left: float
    p_right: float
    e_left: float
    e_right: float


def exact_mcnemar(left_only: int, right_only: int) -> McNemar:
    """The exact test of "either side is as likely to be the one that succeeds alone" (McNemar 1947; binomial tails).

    The e-values are (1 − p + p ln p)/(p ln² p) of the one-sided p (Vovk and Wang 2021). Raises BadInput for counts that
    are negative or beyond a million million. Without discordant items nothing is known and p is 1.
    """
    if min(left_only, right_only) < 0 or left_only + right_only > MOST_ITEMS:
        raise BadInput(
            f"{left_only} and {right_only} are no counts of discordant items", mend="count the items one side got alone"
        )
    p_left, p_right = _upper_tail(left_only, right_only), _upper_tail(right_only, left_only)
    return McNemar(
        left_only=left_only,
        right_only=right_only,
        p=min(1.0, 2 * min(p_left, p_right)),
        p_left=p_left,
        p_right=p_right,
        e_left=p_to_e(p_left),
        e_right=p_to_e(p_right),
    )


def _upper_tail(hits: int, misses: int) -> float:
    """P(X ≥ hits) for X binomial(hits + misses, ½): I_½(hits, misses + 1) (Abramowitz and Stegun 1964, 26.5.24)."""
    return float(special.betainc(hits, misses + 1, 0.5)) if hits else 1.0
