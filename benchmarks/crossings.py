"""How often a rule's decision E reaches a bar although its null is true: one table row a rule, a column a noise.

A t e-process increases in t, so E ≥ bar is t ≥ t_n, the critical value at n, and no E need be computed. Proportions and
counts are not simulated: the probability follows exactly from the distribution of the number of successes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from benchmarks.noises import NOISES, Floats, Noise, unit_mean, unit_value
from verifier.stats import growth_sentences
from verifier.stats.betting import bets, log_e_above, log_e_below
from verifier.stats.bound import Instance
from verifier.stats.bound import evaluate as bound_evaluate
from verifier.stats.bound_rule import BoundRule, equal_weights
from verifier.stats.contrasts import contrasts
from verifier.stats.critical import critical_t
from verifier.stats.eprocess import log_mean_exp, log_mixture_e
from verifier.stats.growth_rule import GrowthRule
from verifier.stats.margin_design import DifferenceRule
from verifier.stats.noise import Estimate, block_estimate, pooled_estimate

CHUNK = 4_000_000  # numbers drawn at a time: 32 MB
NOMINAL = (1e-3, 1e-4)
Paths = Callable[[np.random.Generator, Noise, int], Sequence[Estimate]]
"""(stream, noise, runs) → estimates less the null, (runs, looks): all must reach the bar together."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """A simulated t rule: how its estimate is made, at which looks, and how many numbers a run draws.

    below: whether the evidence is for a mean below the null. flags: what the rule prints of its design.
    """

    rule: str
    null: str
    paths: Paths
    looks: tuple[int, ...]
    size: int
    flags: tuple[str, ...]
    below: bool = False


@dataclass(frozen=True, kw_only=True)
class Rates:
    """How often a bar was reached, one for each noise named. runs: 0 where the probability is exact."""

    rule: str
    null: str
    looks: str
    nominal: float
    runs: int
    flags: tuple[str, ...]
    rates: dict[str, float]


def t_rates(design: Design, *, runs: int, rng: np.random.Generator) -> Iterator[Rates]:
    """At the maximum n alone, and with a look after every replicate from the first, at both nominal rates."""
    bars = {}
    for alpha in NOMINAL:
        probe = design.paths(rng, NOISES["normal"], 2)[0]
        bars[alpha] = np.array(
            [
                critical_t(round(float(n)), log_threshold=-math.log(alpha), df=round(float(df)))
                for n, df in zip(probe.n, probe.df, strict=True)
            ]
        )
    found: dict[tuple[str, float], dict[str, float]] = {}
    for name, noise in NOISES.items():
        crossed = {(when, alpha): 0 for when in ("fixed", "every") for alpha in NOMINAL}
        done = 0
        while done < runs:
            part = min(runs - done, max(1, CHUNK // design.size))
            t = np.minimum.reduce([path.t(0.0, below=design.below) for path in design.paths(rng, noise, part)])
            for alpha in NOMINAL:
                over = t >= bars[alpha]
                crossed["fixed", alpha] += int(over[:, -1].sum())
                crossed["every", alpha] += int(over.any(axis=1).sum())
            done += part
        for key, count in crossed.items():
            found.setdefault(key, {})[name] = count / runs
    for (when, alpha), rates in found.items():
        looks = f"at n = {design.looks[-1]}" if when == "fixed" else f"every n, {design.looks[0]} to {design.looks[-1]}"
        yield Rates(
            rule=design.rule, null=design.null, looks=looks, nominal=alpha, runs=runs, flags=design.flags, rates=rates
        )


# --- the t rules

LAST = 60
SCALES = tuple(32 << i for i in range(6))
CELL_SD = np.array([0.1, 0.2, 0.4, 0.3, 0.5, 0.8])  # of one replicate by scale: unequal where the rule allows it
ARM_SD = (1.0, 3.0)
RATIO, RATIO_SD = 8.0, 0.1


def margin_flags(first: int, bounds: tuple[Fraction, Fraction] | None) -> tuple[str, ...]:
    """What `difference` says of the design whose minimum_n is `first`."""
    rule = DifferenceRule(
        claimed=Fraction(1), alleged=Fraction(0), looks=tuple(range(first, LAST + 1)), minimum_n=first, bounds=bounds
    )
    return rule.flags(LAST)


def growth_flags() -> tuple[str, ...]:
    """What `growth` and `rate` say of a design whose replicates hold one repetition each."""
    rule = GrowthRule(delta=Fraction("0.19"), alternative=Fraction("0.38"), looks=tuple(range(6, LAST + 1)))
    return growth_sentences.flags(rule, LAST)


def bound_flags() -> tuple[str, ...]:
    """What `bound` says of a design that looks at means."""
    rule = BoundRule(instances=("1",), weights=equal_weights(1), looks=(LAST,))
    draws = np.arange(float(LAST))
    return bound_evaluate(rule, [Instance(name="1", bound=Fraction(10**6), draws=draws)], discount=1.0, last=True).flags


def one_mean(rng: np.random.Generator, noise: Noise, runs: int, looks: tuple[int, ...]) -> list[Estimate]:
    """Paired differences, or logarithms of ratios: one value a replicate."""
    return [block_estimate(np.ones(1), noise.draw(rng, (runs, 1, looks[-1])), looks)]


def two_arms(rng: np.random.Generator, noise: Noise, runs: int, looks: tuple[int, ...]) -> list[Estimate]:
    """Unpaired arms by index, one three times as noisy as the other."""
    arms = np.array(ARM_SD)[:, None] * noise.draw(rng, (runs, 2, looks[-1]))
    return [block_estimate(np.array([1.0, -1.0]), arms, looks)]


def pooled_arms(rng: np.random.Generator, noise: Noise, runs: int, looks: tuple[int, ...]) -> list[Estimate]:
    """Two arms with one standard deviation for both."""
    return [pooled_estimate(np.array([1.0, -1.0]), noise.draw(rng, (runs, 2, looks[-1])), looks)]


def ratio_of_means(rng: np.random.Generator, noise: Noise, runs: int, looks: tuple[int, ...]) -> list[Estimate]:
    """L − ρR at the true ρ = 8, with 10 % noise in either arm."""
    arms = np.array([RATIO, 1.0])[:, None] * (1 + RATIO_SD * noise.draw(rng, (runs, 2, looks[-1])))
    return [block_estimate(np.array([1.0, -RATIO]), arms, looks)]


def growth_block(rng: np.random.Generator, noise: Noise, runs: int, looks: tuple[int, ...]) -> list[Estimate]:
    """Cone and upper slope of a constant with unequal sd by scale; growth needs both."""
    cone, up, _ = contrasts(SCALES, gamma0=0.5)
    y = CELL_SD[:, None] * noise.draw(rng, (runs, len(SCALES), looks[-1]))
    return [block_estimate(w, y, looks) for w in (cone, up)]


def growth_pooled(rng: np.random.Generator, noise: Noise, runs: int, looks: tuple[int, ...]) -> list[Estimate]:
    """The same with one sd for all cells."""
    cone, up, _ = contrasts(SCALES, gamma0=0.5)
    y = noise.draw(rng, (runs, len(SCALES), looks[-1]))
    return [pooled_estimate(w, y, looks) for w in (cone, up)]


def trajectory(rng: np.random.Generator, noise: Noise, runs: int, looks: tuple[int, ...]) -> list[Estimate]:
    """`rate`: ln(t^p y) of one trajectory, its noise carried on from time to time (a random walk)."""
    cone, up, _ = contrasts(SCALES, gamma0=0.5)
    y = np.cumsum(0.1 * noise.draw(rng, (runs, len(SCALES), looks[-1])), axis=1)
    return [block_estimate(w, y, looks) for w in (cone, up)]


def designs() -> list[Design]:
    """Every simulated t rule, both ways where the sides differ."""

    def at(maker: Callable[..., list[Estimate]], first: int) -> tuple[tuple[int, ...], Paths]:
        looks = tuple(range(first, LAST + 1))
        return looks, lambda rng, noise, runs: maker(rng, noise, runs, looks)

    found = []
    for below, side in ((False, "θ ≤ a"), (True, "θ ≥ c")):
        for first, bounds in ((30, None), (15, (Fraction(-1), Fraction(1))), (6, None)):
            looks, paths = at(one_mean, first)
            bounded = ", bounds registered" if bounds else ""
            found.append(
                Design(
                    rule=f"difference, ratio: paired, by t{bounded}",
                    null=side,
                    paths=paths,
                    looks=looks,
                    size=LAST,
                    flags=margin_flags(first, bounds),
                    below=below,
                )
            )
    unbounded, slow = margin_flags(30, None), growth_flags()
    others: list[tuple[str, str, Callable[..., list[Estimate]], int, int, tuple[str, ...], bool]] = [
        ("difference, unpaired, sd 1 and 3", "θ ≤ a", two_arms, 30, 2, unbounded, False),
        ("difference, pooled", "θ ≤ a", pooled_arms, 30, 2, unbounded, False),
        ("ratio of means, 10 %", "θ ≤ a", ratio_of_means, 30, 2, unbounded, False),
        ("ratio of means, 10 %", "θ ≥ c", ratio_of_means, 30, 2, unbounded, True),
        ("growth, block, sd .1 to .8", "β ≤ 0", growth_block, 6, 6, slow, False),
        ("growth, pooled", "β ≤ 0", growth_pooled, 6, 6, slow, False),
        ("rate, one trajectory", "v bounded", trajectory, 6, 6, slow, False),
    ]
    for rule, null, maker, first, cells, flags, below in others:
        looks, paths = at(maker, first)
        found.append(
            Design(rule=rule, null=null, paths=paths, looks=looks, size=cells * LAST, flags=flags, below=below)
        )
    return found


# --- averages of several E, which are no function of one t

INSTANCES = 10
KNOTS = 4_000
GRID = np.sinh(np.linspace(-5, 5, KNOTS)) * 2  # dense where t usually is; between knots ln E is taken as linear


def averaged_rates(
    rule: str,
    null: str,
    ts: Callable[[np.random.Generator, Noise, int], Floats],
    *,
    looks: tuple[int, ...],
    size: int,
    flags: tuple[str, ...],
    runs: int,
    rng: np.random.Generator,
) -> Iterator[Rates]:
    """The mean of the E of several t, ts(stream, noise, runs) of shape (runs, parts, looks), n − 1 degrees of freedom.

    size: numbers that a run draws.
    """
    tables = [log_mixture_e(GRID, df=n - 1, n=n) for n in looks]
    rates: dict[tuple[str, float], dict[str, float]] = {}
    for name, noise in NOISES.items():
        best, last = np.empty(0), np.empty(0)
        while len(best) < runs:
            t = ts(rng, noise, min(runs - len(best), CHUNK // size))
            logs = np.stack([np.interp(t[..., i], GRID, table) for i, table in enumerate(tables)], axis=-1)
            mean = log_mean_exp(logs, axis=1)
            best, last = np.append(best, mean.max(axis=-1)), np.append(last, mean[:, -1])
        for alpha in NOMINAL:
            for looked, logs in ((f"at n = {looks[-1]}", last), (f"every n, {looks[0]} to {looks[-1]}", best)):
                rates.setdefault((looked, alpha), {})[name] = float((logs >= -math.log(alpha)).mean())
    for (looked, alpha), found in rates.items():
        yield Rates(rule=rule, null=null, looks=looked, nominal=alpha, runs=runs, flags=flags, rates=found)


def bound_rates(*, runs: int, rng: np.random.Generator) -> Iterator[Rates]:
    """Ten instances whose mean cost is exactly the bound, equal weights, a look after every replicate from 30."""
    looks = tuple(range(30, LAST + 1))

    def ts(rng: np.random.Generator, noise: Noise, count: int) -> Floats:
        return block_estimate(np.ones(1), noise.draw(rng, (count, INSTANCES, 1, LAST)), looks).t(0.0)

    yield from averaged_rates(
        f"bound, {INSTANCES} instances",
        "mean ≤ g",
        ts,
        looks=looks,
        size=INSTANCES * LAST,
        flags=bound_flags(),
        runs=runs,
        rng=rng,
    )


def flat_rates(*, runs: int, rng: np.random.Generator) -> Iterator[Rates]:
    """E_flat: upper and full slope at β = δ, block noise with unequal sd by scale, a look after every n from 6."""
    looks = tuple(range(6, LAST + 1))
    _, up, full = contrasts(SCALES, gamma0=0.5)

    def ts(rng: np.random.Generator, noise: Noise, count: int) -> Floats:
        y = CELL_SD[:, None] * noise.draw(rng, (count, len(SCALES), LAST))
        return np.stack([block_estimate(w, y, looks).t(0.0, below=True) for w in (up, full)], axis=1)

    yield from averaged_rates(
        "growth, block, sd .1 to .8",
        "β ≥ δ",
        ts,
        looks=looks,
        size=len(SCALES) * LAST,
        flags=growth_flags(),
        runs=runs,
        rng=rng,
    )


# --- a bounded metric, by betting

BETS = 200


def betting_rates(*, runs: int, rng: np.random.Generator) -> Iterator[Rates]:
    """A mean of values in [0, 1] that equals the null, from the first value on."""
    for below, side in ((False, "θ ≤ a"), (True, "θ ≥ c")):
        log_e = log_e_below if below else log_e_above
        rates: dict[tuple[str, float], dict[str, float]] = {}
        for name, noise in NOISES.items():
            null, crossed, ended = unit_mean(name), np.zeros(len(NOMINAL)), np.zeros(len(NOMINAL))
            for start in range(0, runs, CHUNK // BETS // 4):
                x = unit_value(noise.draw(rng, (min(runs - start, CHUNK // BETS // 4), BETS)))
                logs = log_e(x, bets(x, log_target=math.log(1e4)), null=null)
                for i, alpha in enumerate(NOMINAL):
                    crossed[i] += int((logs.max(axis=1) >= -math.log(alpha)).sum())
                    ended[i] += int((logs[:, -1] >= -math.log(alpha)).sum())
            for i, alpha in enumerate(NOMINAL):
                rates.setdefault((f"at n = {BETS}", alpha), {})[name] = float(ended[i] / runs)
                rates.setdefault((f"every n, 1 to {BETS}", alpha), {})[name] = float(crossed[i] / runs)
        for (looked, alpha), found in rates.items():
            yield Rates(
                rule="difference, bounded, by betting",
                null=side,
                looks=looked,
                nominal=alpha,
                runs=runs,
                flags=(),
                rates=found,
            )
