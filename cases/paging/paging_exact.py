"""The additive term without simulation: its recursion in rationals, its closed forms, and enclosures for huge k.

E[a] is the expected number of further faults in the phase when a pages are unrevealed and Y = a. The next fault
falls on the u-th last of them with probability 1/(a+1) for each u = 1 … a (and none with the same probability):

    E[0] = 0,   E[a] = 1/(a+1) · Σ_{u=1..a} X(u, a)
    X(u, a) = 1 + [u ≥ 2](1 + E[u−2])   where the gate passes: the page followed is requested at once
            = 1 + E[u−1]                where it does not
    c(k) = 1 + f + E[k−1−f] − H_k,      f = min(1 + tau, k−1) faults bought by the opening budget

The gate passes for u = 1 … g(a) and g(a+1) − g(a) is 0 or 1. Subtracting two lines of the recursion leaves

    E[a+1] − E[a] = (1 + δ[a+1]) / (a+2),   δ[a+1] = 1 − (E[g−1] − E[g−2]) if g = g(a+1) > g(a) and g ≥ 2, else 0

so that c(k) = (the value without a gate) + Σ_{a ≤ k−1−f} δ[a]/(a+1). δ is 0 or nearly 1, once in e steps: the sum
grows like ln(k)/e.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from verifier.model.errors import BadInput

READINGS = ("pre", "post")

# e, enclosed: Σ_{n ≤ 40} 1/n! < e < that + 2/41!.
_FACTORIAL = math.factorial(41)
_E_BELOW = sum(_FACTORIAL // math.factorial(n) for n in range(41))
_E_ABOVE = _E_BELOW + 2


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raises BadInput unless `value` is one of `choices`."""
    if value not in choices:
        raise BadInput(f"{value!r} is none of {', '.join(choices)}", where=name, mend=f"use {choices[0]}")


def check_integer(name: str, value: int, least: int) -> None:
    """Raises BadInput unless `value` is an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise BadInput(f"{name} is {value!r}", where=name, mend=f"use an integer of at least {least}")


def gate_thresholds(largest: int) -> list[int]:
    """For Y = 0 … largest, the largest integer U with U ≤ (Y+2)/e − 2. Negative: nothing passes.

    Exact: e is irrational, and both ends of its enclosure must give the same integer.
    """
    thresholds = [(y + 2) * _FACTORIAL // _E_ABOVE - 2 for y in range(largest + 1)]
    if largest >= 0 and any(  # the enclosure is 10^-49 wide: no Y that fits a memory comes near
        (y + 2) * _FACTORIAL // _E_BELOW - 2 != threshold for y, threshold in enumerate(thresholds)
    ):
        raise BadInput(f"e is not enclosed tightly enough for Y = {largest}", where="k", mend="use a smaller k")
    return thresholds


def passing_counts(largest: int, reading: str) -> list[int]:
    """g(a) for a = 0 … largest: the gate passes for u ≤ g(a), u the U before the request and Y = a."""
    check_choice("reading", reading, READINGS)
    later = reading == "post"  # tested after the update, U is u − 1
    return [max(0, threshold + later) for threshold in gate_thresholds(largest)]


def harmonic(k: int) -> Fraction:
    """H_k = 1 + 1/2 + … + 1/k, the competitive ratio of the best randomised algorithm. Raises BadInput for k < 0."""
    check_integer("k", k, 0)
    return tree_sum([Fraction(1, m) for m in range(1, k + 1)])


def tree_sum(terms: Sequence[Fraction]) -> Fraction:
    """The sum of rationals, by halves: far fewer digits are handled than from left to right."""
    if len(terms) <= 8:
        return sum(terms, Fraction(0))
    middle = len(terms) // 2
    return tree_sum(terms[:middle]) + tree_sum(terms[middle:])


def exact_additive_term(k: int, *, tau: int = 0, reading: str = "pre", variant: str = "rpb_om") -> Fraction:
    """c(k) = E[cost of a phase] − H_k on the adversary, exactly; O(k) terms, seconds at k = 10^5.

    `reading` is when the gate is tested, "pre" or "post" of the layer update; `variant` a variant of the budget rule.
    Raises BadInput for k < 1, tau < 0 and unknown words.
    """
    check_choice("variant", variant, tuple(_EXACT))
    return _EXACT[variant](k, tau=tau, reading=reading)


def exact_rpb_om(k: int, *, tau: int = 0, reading: str = "pre") -> Fraction:
    """c(k) of RPB-OM under anti-Belady predictions, by the recursion of this module."""
    spent = opening_faults(k, tau)
    counts = passing_counts(k, reading)
    increments = [Fraction(0)]  # E[a] − E[a−1]
    excess = []
    for a in range(1, k - spent):
        gate = counts[a]
        delta = 1 - increments[gate - 1] if gate > counts[a - 1] and gate >= 2 else Fraction(0)
        increments.append((1 + delta) / (a + 1))
        excess.append(delta / (a + 1))
    return exact_no_gate(k, tau=tau) + tree_sum(excess)


def exact_no_gate(k: int, *, tau: int = 0, reading: str = "pre") -> Fraction:
    """c(k) with a budget of tau and no gate: f + H_{k−f} − H_k, which is 1 − 1/k at tau = 0."""
    check_choice("reading", reading, READINGS)
    spent = opening_faults(k, tau)
    return spent - tree_sum([Fraction(1, m) for m in range(k - spent + 1, k + 1)])


def exact_online_min(k: int, *, tau: int = 0, reading: str = "pre") -> Fraction:
    """c(k) of OnlineMin: 0, it pays H_k on this adversary (E[a] = H_{a+1} − 1 where every X is 1 + E[u−1])."""
    opening_faults(k, tau)
    check_choice("reading", reading, READINGS)
    return Fraction(0)


def exact_random_predictions(k: int, *, tau: int = 0, reading: str = "pre") -> Fraction:
    """c(k) of RPB-OM under random predictions: 0.

    A prediction independent of the order of requests picks a page of V as a priority does, gate or no gate.
    """
    return exact_online_min(k, tau=tau, reading=reading)


def exact_perfect_predictions(k: int, *, tau: int = 0, reading: str = "pre") -> Fraction:
    """c(k) of RPB-OM under perfect predictions: 1 − H_k. It evicts the page left out: one fault a phase, as OPT."""
    opening_faults(k, tau)
    check_choice("reading", reading, READINGS)
    return 1 - harmonic(k)


def exact_refresh_only_on_pass(k: int, *, tau: int = 0, reading: str = "pre") -> Fraction:
    """c(k) where Y is refreshed only at i = 0 and where the gate passes.

    G(a, Y) is E of this module with Y standing still between passes; after a pass at u and the fault it buys, a = u−2
    and Y = u−1. Beyond g(Y) the gate is out of reach, where G grows as OnlineMin's E:
    G(a, Y) = S(g)/(g+1) + H_{a+1} − H_{g+1}, S(g) = Σ_{u ≤ g} (1 + [u ≥ 2](1 + G(u−2, u−1))), g = min(g(Y), a).
    Raises BadInput where tau is so large that the opening budget itself reaches the gate.
    """
    spent = opening_faults(k, tau)
    counts = passing_counts(k, reading)
    if spent > 1 and counts[k - 1] >= k - spent:
        raise BadInput(f"tau = {tau} reaches the gate at k = {k}", where="tau", mend="use a smaller tau")
    harmonics = [Fraction(0)]
    for m in range(1, k + 1):
        harmonics.append(harmonics[-1] + Fraction(1, m))
    sums = [Fraction(0)]  # S(0), S(1), …

    def expected(a: int, y: int) -> Fraction:
        gate = min(counts[y], a)
        return sums[gate] / (gate + 1) + harmonics[a + 1] - harmonics[gate + 1]

    for u in range(1, counts[k - 1] + 1):
        sums.append(sums[-1] + 1 + (1 + expected(u - 2, u - 1) if u >= 2 else 0))
    return 1 + spent + expected(k - 1 - spent, k - 1) - harmonics[k]


_EXACT = {
    "rpb_om": exact_rpb_om,
    "online_min": exact_online_min,
    "no_gate": exact_no_gate,
    "refresh_every_request": exact_no_gate,  # Y = U when the gate is tested, and U > (U+2)/e − 2
    "refresh_only_on_pass": exact_refresh_only_on_pass,
}


def enclose_additive_terms(
    scales: Iterable[int], *, tau: int = 0, reading: str = "pre", bits: int = 96
) -> dict[int, tuple[Fraction, Fraction]]:
    """For each k, rationals below and above c(k) of RPB-OM: the recursion in integers of unit 2^−bits, rounded outward.

    One pass up to the largest k, a few microseconds a step; at 96 bits and k = 10^6 the width is below 10^-22.
    Raises BadInput for k < 1, tau < 0, an unknown reading.
    """
    wanted = sorted(set(scales))
    faults = {k: opening_faults(k, tau) for k in wanted}
    largest = wanted[-1] if wanted else 0
    counts = passing_counts(largest, reading)
    unit = 1 << bits
    # index a (E) or m (H): a lower and an upper bound, in units
    low_steps, high_steps, low_sums, high_sums = [0], [0], [0], [0]
    low_harmonic, high_harmonic = [0], [0]
    for a in range(1, largest + 1):
        gate = counts[a]
        passes = gate > counts[a - 1] and gate >= 2
        # the step falls where the earlier step rises, so the bounds change places
        low = (unit + (unit - high_steps[gate - 1] if passes else 0)) // (a + 1)
        high = -((-unit - (unit - low_steps[gate - 1] if passes else 0)) // (a + 1))
        low_steps.append(low)
        high_steps.append(high)
        low_sums.append(low_sums[-1] + low)
        high_sums.append(high_sums[-1] + high)
        low_harmonic.append(low_harmonic[-1] + unit // a)
        high_harmonic.append(high_harmonic[-1] - (-unit // a))
    return {
        k: (
            1 + faults[k] + Fraction(low_sums[k - 1 - faults[k]] - high_harmonic[k], unit),
            1 + faults[k] + Fraction(high_sums[k - 1 - faults[k]] - low_harmonic[k], unit),
        )
        for k in wanted
    }


def opening_faults(k: int, tau: int) -> int:
    """The f = min(1 + tau, k − 1) faults after a phase's first that following predictions at i = 0 brings about."""
    check_integer("k", k, 1)
    check_integer("tau", tau, 0)
    return min(1 + tau, k - 1)
