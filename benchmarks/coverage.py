"""How often the printed intervals miss what they should hold, and how often the gates withhold what they should not.

An interval at any stopping time misses if it ever misses, at any look. It holds the truth exactly where the process it
inverts is below its bar at the truth, so the truth is all that need be tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from benchmarks.crossing_designs import (
    CELL_SD,
    ITEMS,
    LAST,
    SCALES,
    Maker,
    cells,
    drawn_items,
    equal_cells,
    one_mean,
    pooled_arms,
    ratio_of_means,
    trajectories,
    two_arms,
)
from benchmarks.crossings import BETS, CHUNK, SAME
from benchmarks.exact_crossings import ever_reaches
from benchmarks.noises import NOISES, Floats, Noise, unit_mean, unit_value
from verifier.stats.betting import bets, log_hedged_e
from verifier.stats.contrasts import contrasts
from verifier.stats.count import log_e_fewer, log_e_more
from verifier.stats.critical import critical_t
from verifier.stats.extrapolation import extrapolate
from verifier.stats.growth_gates import no_variance
from verifier.stats.growth_rule import GrowthRule
from verifier.stats.growth_statistics import COVERAGE_E
from verifier.stats.heterogeneity import heterogeneity
from verifier.stats.margin_reported import prediction
from verifier.stats.misfit import misfit
from verifier.stats.noise import Estimate, block_estimate, pooled_estimate
from verifier.stats.normal_mixture import normal_mixture_interval
from verifier.stats.proportion import clopper_pearson, log_binomial
from verifier.stats.proportion import log_e_above as proportion_above
from verifier.stats.proportion import log_e_below as proportion_below

FIRST = 5  # the least n at which a 95 % interval exists
LOG_BAR = math.log(COVERAGE_E)
ONE_SIDED = math.log(2 * COVERAGE_E)


@dataclass(frozen=True, kw_only=True)
class Misses:
    """How often an interval missed. runs: 0 where the probability is exact; rates: by noise."""

    interval: str
    when: str
    runs: int
    rates: dict[str, float]


def interval_misses(*, runs: int, rng: np.random.Generator) -> Iterator[Misses]:
    """Every interval that is printed, nominal 5 %."""
    looks = tuple(range(FIRST, LAST + 1))
    makers: list[tuple[str, Maker, int, tuple[int, ...]]] = [
        ("mean: difference, geometric ratio, a slope", one_mean, LAST, looks),
        ("mean: unpaired, sd 1 and 3", two_arms, 2 * LAST, looks),
        ("mean: pooled arms", pooled_arms, 2 * LAST, looks),
        (f"mean: {ITEMS} items drawn", drawn_items, 2 * ITEMS, (ITEMS,)),
        ("ratio of means (Fieller)", ratio_of_means, 2 * LAST, looks),
    ]
    for name, maker, size, their_looks in makers:
        yield from t_misses(name, maker, looks=their_looks, size=size, runs=runs, rng=rng)
    yield from slope_misses(looks=looks, runs=runs // 2, rng=rng)
    yield from betting_misses(runs=runs // 5, rng=rng)
    yield from known_sd_misses(runs=runs, rng=rng)
    yield from exact_misses()
    yield from team_misses(runs=max(400, runs // 50), rng=rng)
    yield further_misses(runs=runs // 10, rng=rng)


def _bars(path: Estimate) -> Floats:
    """t_n(20) at each look, the reach of a 95 % interval in standard errors."""
    return np.array(
        [
            critical_t(round(float(n)), df=round(float(df)), log_threshold=LOG_BAR, two_sided=True)
            for n, df in zip(path.n, path.df, strict=True)
        ]
    )


def t_misses(
    name: str, maker: Maker, *, looks: tuple[int, ...], size: int, runs: int, rng: np.random.Generator
) -> Iterator[Misses]:
    """θ̂ ± t_n(20)·stderr around the true value: at the last look alone, and at any look.

    Of several intervals around one estimate the widest is printed. Where nothing varies none is.
    """
    ways = {f"at n = {looks[-1]}": slice(-1, None)}
    if len(looks) > 1:
        ways[f"any n, {looks[0]} to {looks[-1]}"] = slice(None)
    bars = [_bars(path) for path in maker(rng, NOISES["normal"], 2, looks)]
    found: dict[str, dict[str, float]] = {way: {} for way in ways}
    for noise_name, noise in NOISES.items():
        missed = dict.fromkeys(ways, 0)
        for start in range(0, runs, CHUNK // size):
            paths = maker(rng, noise, min(runs - start, CHUNK // size), looks)
            over = np.logical_and.reduce(
                [(np.abs(path.t(0.0)) >= bar) & (path.stderr > SAME) for path, bar in zip(paths, bars, strict=True)]
            )
            for way, at in ways.items():
                missed[way] += int(over[:, at].any(axis=1).sum())
        for way, count in missed.items():
            found[way][noise_name] = count / runs
    for way, rates in found.items():
        yield Misses(interval=name, when=way, runs=runs, rates=rates)


Draw = Callable[[np.random.Generator, Noise, int, int], Floats]


def slope_misses(*, looks: tuple[int, ...], runs: int, rng: np.random.Generator) -> Iterator[Misses]:
    """From the cone slope's lower end to the full slope's upper one, at β = 0, with and without a saturating part."""
    k = np.array(SCALES, float)
    bounded = 4.74 * (1 - 1 / k)
    kinds: list[tuple[str, str, Draw, Floats, bool]] = [
        ("β, cone to full slope, nothing bounded beside", "log", cells, 0 * k, False),
        ("β, cone to full slope, beside 4.74(1 − 1/k)", "log", cells, bounded, False),
        ("β under the law loglog", "loglog", cells, 0 * k, False),
        ("β under the law sqrt", "sqrt", cells, 0 * k, False),
        ("β under the law linear", "linear", cells, 0 * k, False),
        ("β, pooled", "log", equal_cells, 0 * k, True),
        ("β of ln(t^p y), one trajectory", "log", trajectories, 0 * k, False),
    ]
    for name, law, draw, mean, pooled in kinds:
        cone, _, full = contrasts(SCALES, gamma0=0.5, law=law)
        estimated = pooled_estimate if pooled else block_estimate
        bars = _bars(estimated(cone, equal_cells(rng, NOISES["normal"], 2, looks[-1]), looks))
        ever: dict[str, float] = {}
        for noise_name, noise in NOISES.items():
            missed, part = 0, CHUNK // (len(SCALES) * LAST)
            for start in range(0, runs, part):
                y = mean[:, None] + draw(rng, noise, min(runs - start, part), LAST)
                low, high = estimated(cone, y, looks), estimated(full, y, looks)
                outside = (low.t(0.0) >= bars) | (high.t(0.0, below=True) >= bars)
                varies = (low.stderr > SAME) & (high.stderr > SAME)
                missed += int((outside & varies).any(axis=1).sum())
            ever[noise_name] = missed / runs
        yield Misses(interval=name, when=f"any n, {looks[0]} to {looks[-1]}", runs=runs, rates=ever)


def betting_misses(*, runs: int, rng: np.random.Generator) -> Iterator[Misses]:
    """The betting confidence sequence on [0, 1]: where the hedged capital at the true mean reaches 20."""
    ever: dict[str, float] = {}
    for name, noise in NOISES.items():
        missed, part = 0, CHUNK // BETS // 4
        for start in range(0, runs, part):
            x = unit_value(noise.draw(rng, (min(runs - start, part), BETS)))
            logs = log_hedged_e(x, bets(x, log_target=ONE_SIDED), null=unit_mean(name))
            missed += int((logs.max(axis=1) >= LOG_BAR).sum())
        ever[name] = missed / runs
    yield Misses(interval="mean of a bounded metric, by betting", when=f"any n, 1 to {BETS}", runs=runs, rates=ever)


def known_sd_misses(*, runs: int, rng: np.random.Generator) -> Iterator[Misses]:
    """The normal mixture for values that are sub-Gaussian with a known parameter; of these noises normal, two-point."""
    n = np.arange(1, LAST + 1)
    rates: dict[str, float] = {}
    for name in ("normal", "two-point"):
        mean = np.cumsum(NOISES[name].draw(rng, (runs, LAST)), axis=1) / n
        low, high = normal_mixture_interval(mean, n, sd=1.0, n_opt=30)
        rates[name] = float(((low > 0) | (high < 0)).any(axis=1).mean())
    yield Misses(interval="sub-Gaussian mean, parameter known", when=f"any n, 1 to {LAST}", runs=runs, rates=rates)


def exact_misses() -> Iterator[Misses]:
    """Proportions and counts, from the exact distribution of the number of successes."""
    trials, p, size, have = 200, 0.35, 300, 105

    def outside(above: Floats, below: Floats) -> Floats:
        return np.maximum(above, below)

    end, ever = ever_reaches(
        trials,
        log_e=lambda n, s: outside(proportion_above(s, n, null=p), proportion_below(s, n, null=p)),
        chance=lambda _n, s: np.full(s.shape, p),
        bar=ONE_SIDED,
    )
    yield Misses(interval=f"proportion, p = {p}", when=f"at n = {trials}", runs=0, rates={"exact": end})
    yield Misses(interval=f"proportion, p = {p}", when=f"any n, 1 to {trials}", runs=0, rates={"exact": ever})
    end, ever = ever_reaches(
        size,
        log_e=lambda n, s: outside(
            log_e_more(size, null=have, found=s, read=n), log_e_fewer(size, null=have, found=s, read=n)
        ),
        chance=lambda n, s: np.clip((have - s) / (size - n), 0.0, 1.0),
        bar=ONE_SIDED,
    )
    yield Misses(interval=f"count, {have} of {size}", when=f"any n, 1 to {size}", runs=0, rates={"exact": ever})
    n = 20
    mass = np.exp(log_binomial(np.arange(n + 1.0), float(n), p))
    low, high = np.array([clopper_pearson(s, n) for s in range(n + 1)]).T
    missed = float(mass[(low > p) | (high < p)].sum())
    yield Misses(interval=f"Clopper–Pearson, p = {p}", when=f"at n = {n}", runs=0, rates={"exact": missed})


def team_misses(*, runs: int, rng: np.random.Generator) -> Iterator[Misses]:
    """Five teams, equal errors, the teams' true effects with sd one and a half times that: mean, and the next team."""
    tau, error, teams = 0.3, 0.2, 5
    missed = np.zeros(2)
    for _ in range(runs):
        effects = tau * rng.standard_normal(teams) + error * rng.standard_normal(teams)
        found = heterogeneity(effects.tolist(), [error] * teams)
        following = tau * rng.standard_normal()
        assert found.prediction is not None
        missed += (
            not found.interval[0] <= 0 <= found.interval[1],
            not found.prediction[0] <= following <= found.prediction[1],
        )
    for what, count in zip(
        ("mean of five teams (Hartung–Knapp)", "next team of five (prediction)"), missed, strict=True
    ):
        yield Misses(interval=what, when="once", runs=runs, rates={"normal": float(count) / runs})


def further_misses(*, runs: int, rng: np.random.Generator) -> Misses:
    """Where the mean of further replicates is expected, shown beside a difference."""
    n, further = 10, 20
    values, later = rng.standard_normal((runs, n)), rng.standard_normal((runs, further)).mean(axis=1)
    missed = 0
    for x, next_mean in zip(values, later, strict=True):
        found = prediction(
            mean=float(x.mean()), stderr=float(x.std(ddof=1)) / math.sqrt(n), df=n - 1, n=n, further=further
        )
        missed += not found.low <= next_mean <= found.high
    return Misses(
        interval=f"mean of {further} further replicates (prediction)",
        when=f"at n = {n}",
        runs=runs,
        rates={"normal": missed / runs},
    )


# --- gates

GATE_N = (8, 20)


def gate_rates(*, runs: int, rng: np.random.Generator) -> Iterator[Misses]:
    """How often a gate that should stay open closes: y = 0.38 ln k, sd by scale .1 to .8, fresh streams; level 10⁻³."""
    mean = 0.38 * np.log(np.array(SCALES, float))
    rule = GrowthRule(delta=Fraction("0.19"), alternative=Fraction("0.38"), looks=GATE_N)
    for n in GATE_N:
        closed: dict[str, dict[str, float]] = {"misfit": {}, "extrapolation": {}}
        for name, noise in NOISES.items():
            values = mean[:, None] + CELL_SD[:, None] * noise.draw(rng, (runs, len(SCALES), n))
            judged = [run for run in values if not no_variance(rule, SCALES, run)]  # the others are malformed
            fits = [misfit(SCALES, run, gamma0=0.5) for run in judged]
            closed["misfit"][name] = sum(fit is not None and fit.found for fit in fits) / runs
            closed["extrapolation"][name] = sum(not extrapolate(SCALES, run).holds for run in judged) / runs
        for gate, rates in closed.items():
            yield Misses(interval=gate, when=f"at n = {n}", runs=runs, rates=rates)
