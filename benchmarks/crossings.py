"""How often a rule's decision E reaches a bar although its null is true: one table row a rule, a column a noise.

A t e-process increases in t, so E ≥ bar is t ≥ t_n, the critical value at n, and no E need be computed; an average of
several takes them from a table. Proportions and counts are not simulated: the probability follows exactly from the
distribution of the number of successes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.crossing_designs import Design
from benchmarks.noises import NOISES, Floats, unit_mean, unit_value
from verifier.stats.betting import bets, log_e_above, log_e_below
from verifier.stats.critical import critical_t
from verifier.stats.eprocess import log_mean_exp, log_mixture_e
from verifier.stats.noise import Estimate

CHUNK = 4_000_000  # numbers drawn at a time: 32 MB
NOMINAL = (1e-3, 1e-4)
SAME = 1e-12  # an sd below this is none: at such a look a rule has no evidence and no interval
KNOTS = 4_000
GRID = np.sinh(np.linspace(-5, 5, KNOTS)) * 2  # dense where t usually is; between knots ln E is taken as linear


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


def t_of(path: Estimate, *, below: bool = False) -> Floats:
    """The t statistic against 0, (runs, looks): −∞ at a look whose replicates do not vary, where a rule says so."""
    return np.where(path.stderr > SAME, path.t(0.0, below=below), -np.inf)


def t_rates(design: Design, *, runs: int, rng: np.random.Generator) -> Iterator[Rates]:
    """At the maximum n alone, and with a look after every replicate from the first, at both nominal rates.

    runs: of the page; the design's share of them is made.
    """
    runs = round(runs * design.share)
    margin = _averaged(design, rng) if design.averaged else _together(design, rng)
    ways = {f"at n = {design.looks[-1]}": slice(-1, None)}
    if len(design.looks) > 1:
        ways[f"every n, {design.looks[0]} to {design.looks[-1]}"] = slice(None)
    found: dict[tuple[str, float], dict[str, float]] = {(looked, alpha): {} for looked in ways for alpha in NOMINAL}
    for name, noise in NOISES.items():
        crossed = dict.fromkeys(found, 0)
        part = max(1, CHUNK // design.size)
        for start in range(0, runs, part):
            over = margin(design.paths(rng, noise, min(runs - start, part)))
            for looked, alpha in found:
                crossed[looked, alpha] += int(over[alpha][:, ways[looked]].any(axis=1).sum())
        for key, count in crossed.items():
            found[key][name] = count / runs
    for (looked, alpha), rates in found.items():
        yield Rates(
            rule=design.rule, null=design.null, looks=looked, nominal=alpha, runs=runs, flags=design.flags, rates=rates
        )


Crossings = Callable[[Sequence[Estimate]], dict[float, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]]
"""Estimates → at which looks the bar is reached, (runs, looks), for each nominal rate."""


def _numbers(design: Design, rng: np.random.Generator) -> list[list[tuple[int, int]]]:
    """Replicates and degrees of freedom of each estimate at each look."""
    probe = design.paths(rng, NOISES["normal"], 2)
    return [[(round(float(n)), round(float(df))) for n, df in zip(e.n, e.df, strict=True)] for e in probe]


def _together(design: Design, rng: np.random.Generator) -> Crossings:
    """All estimates must reach the bar at the same look (intersection–union)."""
    numbers = _numbers(design, rng)
    bars = {
        alpha: [np.array([critical_t(n, log_threshold=-math.log(alpha), df=df) for n, df in each]) for each in numbers]
        for alpha in NOMINAL
    }

    def over(paths: Sequence[Estimate]) -> dict[float, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
        ts = [t_of(path, below=design.below) for path in paths]
        return {
            alpha: np.logical_and.reduce([t >= each for t, each in zip(ts, bar, strict=True)])
            for alpha, bar in bars.items()
        }

    return over


def _averaged(design: Design, rng: np.random.Generator) -> Crossings:
    """The mean of the estimates' E must reach the bar."""
    numbers = _numbers(design, rng)
    tables = {pair: log_mixture_e(GRID, df=pair[1], n=pair[0]) for pair in {p for each in numbers for p in each}}

    def over(paths: Sequence[Estimate]) -> dict[float, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
        logs = np.stack(
            [_log_e(t_of(path, below=design.below), pairs) for path, pairs in zip(paths, numbers, strict=True)]
        )
        mean = log_mean_exp(logs, axis=0)
        return {alpha: mean >= -math.log(alpha) for alpha in NOMINAL}

    def _log_e(t: Floats, pairs: Sequence[tuple[int, int]]) -> Floats:
        found = np.stack([np.interp(t[:, i], GRID, tables[pair]) for i, pair in enumerate(pairs)], axis=1)
        return np.where(np.isneginf(t), -np.inf, found)

    return over


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
