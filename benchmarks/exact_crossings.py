"""How often a decision E reaches its bar where the distribution is known: proportions, counts and one seed's items."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from benchmarks.crossings import NOMINAL, Rates
from benchmarks.noises import Floats
from verifier.stats import difference
from verifier.stats.bounded_design import CountRule, ProportionRule
from verifier.stats.count import log_e_fewer, log_e_more
from verifier.stats.proportion import log_binomial
from verifier.stats.proportion import log_e_above as proportion_above
from verifier.stats.proportion import log_e_below as proportion_below
from verifier.stats.stopping import Ints


def ever_reaches(
    length: int, *, log_e: Callable[[int, Ints], Floats], chance: Callable[[int, Ints], Floats], bar: float
) -> tuple[float, float]:
    """The probability that E reaches the bar at the end alone, and ever with a look after every observation.

    log_e(n, s): after n observations with s successes. chance(n, s): of a success next.
    """
    mass, plain, crossed = np.ones(1), np.ones(1), 0.0
    for n in range(length):
        s = np.arange(n + 1)
        p = chance(n, s)
        mass = np.append(mass * (1 - p), 0.0) + np.append(0.0, mass * p)
        plain = np.append(plain * (1 - p), 0.0) + np.append(0.0, plain * p)
        over = log_e(n + 1, np.arange(n + 2)) >= bar
        crossed += float(mass[over].sum())
        mass = np.where(over, 0.0, mass)
    return float(plain[log_e(length, np.arange(length + 1)) >= bar].sum()), crossed


def exact_rates() -> Iterator[Rates]:
    """`proportion` and `count` at their nulls, a look after every observation."""
    trials, size, read = 400, 500, 400
    proportion = ProportionRule(claimed=Fraction(7, 10), alleged=Fraction(1, 2), looks=(trials,), minimum_n=1)
    count = CountRule(claimed=Fraction(7, 10), alleged=Fraction(1, 2), looks=(read,), minimum_n=1, size=size)
    a, _, c = proportion.nulls
    have_a, have_c = round(count.alleged * size), round(count.claimed * size)
    cases: list[tuple[str, str, int, Callable[[int, Ints], Floats], Callable[[int, Ints], Floats]]] = [
        (
            f"proportion, {trials} trials",
            "p ≤ a = .5",
            trials,
            lambda n, s: proportion_above(s, n, null=a),
            lambda _n, s: np.full(s.shape, a),
        ),
        (
            f"proportion, {trials} trials",
            "p ≥ c = .7",
            trials,
            lambda n, s: proportion_below(s, n, null=c),
            lambda _n, s: np.full(s.shape, c),
        ),
        (
            f"count, {read} of {size}",
            "K ≤ 250",
            read,
            lambda n, s: log_e_more(size, null=have_a, found=s, read=n),
            lambda n, s: np.clip((have_a - s) / (size - n), 0.0, 1.0),
        ),
        (
            f"count, {read} of {size}",
            "K ≥ 350",
            read,
            lambda n, s: log_e_fewer(size, null=have_c, found=s, read=n),
            lambda n, s: np.clip((have_c - s) / (size - n), 0.0, 1.0),
        ),
    ]
    for rule, null, length, log_e, chance in cases:
        for alpha in NOMINAL:
            end, ever = ever_reaches(length, log_e=log_e, chance=chance, bar=-math.log(alpha))
            for looked, rate in ((f"at n = {length}", end), (f"every n, 1 to {length}", ever)):
                yield Rates(rule=rule, null=null, looks=looked, nominal=alpha, runs=0, flags=(), rates={"exact": rate})
    items = 40
    gains = np.arange(items + 1)
    logs = np.array([difference.mcnemar_log_e(int(g), items - int(g)) for g in gains])
    mass = np.exp(log_binomial(gains.astype(float), float(items), 0.5))
    for alpha in NOMINAL:
        yield Rates(
            rule=f"difference, one seed, {items} discordant items",
            null="θ ≤ a = 0",
            looks=f"at n = {items}",
            nominal=alpha,
            runs=0,
            flags=(),
            rates={"exact": float(mass[logs >= -math.log(alpha)].sum())},
        )
