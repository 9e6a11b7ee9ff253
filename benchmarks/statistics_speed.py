"""Statistics against their goals: processor seconds on one core, beside a peer where one installs.

    python -m benchmarks.statistics_speed

Nothing but the best of a few rounds counts, in seconds of processor time, so other load shows little. Exits with 10
where a goal is not met.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import stats

from verifier.stats.betting import bets, confidence_sequence, log_e_above, log_e_below
from verifier.stats.classical import classical_fits
from verifier.stats.critical import critical_t
from verifier.stats.eprocess import log_mixture_e
from verifier.stats.growth_evidence import contrast_estimates, grow_t
from verifier.stats.growth_rule import GrowthAnswer, GrowthRule
from verifier.stats.power import power
from verifier.stats.significance import log_t_cdf

SEED = 20261130
ROUNDS = 3
MILLION = 10**6
SCALES = (32, 64, 128, 256, 512, 1024)
NONE = "none installs"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table. peer: which, and its time for the same amount of work."""

    what: str
    seconds: float
    goal: float
    peer: str
    note: str = ""

    @property
    def met(self) -> bool:
        """Whether the goal is met."""
        return self.seconds < self.goal


def best(function: Callable[[], object], *, rounds: int = ROUNDS) -> float:
    """The least processor time of a few calls."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def mixture() -> Row:
    """10⁶ updates: prefix moments, t, and the one-sided mixture over five τ at every n."""
    x = 0.001 + np.random.default_rng(SEED).standard_normal(MILLION)

    def updates() -> float:
        n = np.arange(2.0, MILLION + 1.0)
        sums, squares = np.cumsum(x)[1:], np.cumsum(np.square(x))[1:]
        t = sums / np.sqrt(n * (squares - np.square(sums) / n) / (n - 1))
        return float(log_mixture_e(t, df=n - 1, n=n)[-1])

    tail = np.linspace(-30.0, 30.0, 20_001)
    reference = stats.t.logcdf(tail, 5_000.0)
    held = np.isfinite(reference)
    off = float(np.max(np.abs(log_t_cdf(tail, 5_000.0) - reference)[held]))
    return Row(
        what="10^6 updates of the five-τ one-sided mixture",
        seconds=best(updates),
        goal=1.0,
        peer=NONE,
        note=f"normal tail from df = 5,000, off scipy's ln t tail by {off:.0e}",
    )


def whole_rule() -> Row:
    """The whole growth rule, gates and early stopping included, on 10⁴ data sets: half constant, half growing."""
    rule = GrowthRule(delta=Fraction("0.19"), alternative=Fraction("0.38"), looks=tuple(range(10, 81, 10)))
    answers: list[dict[GrowthAnswer, float]] = []

    def calibrate() -> None:
        for slope in (0.0, 0.38):
            found = power(rule, scales=SCALES, sd={32: 0.25}, claim_scale=1024, slope=slope, runs=5_000, seed=SEED)
            answers.append(dict(found.answers))

    seconds = best(calibrate, rounds=2)
    values = 0.25 * np.random.default_rng(SEED).standard_normal((50, len(SCALES), 80))
    classical_fits(SCALES, values[0])  # imports statsmodels
    peer = best(lambda: [classical_fits(SCALES, one) for one in values]) * 10_000 / len(values)
    return Row(
        what="the growth rule calibrated 10^4 times",
        seconds=seconds,
        goal=10.0,
        peer=f"statsmodels, WLS and HC3 fits to as many: {peer:.1f} s",
        note=", ".join(f"{answer} {share:.3f}" for one in answers[-2:] for answer, share in list(one.items())[:1]),
    )


def betting() -> Row:
    """Betting over 10⁶ observations: nulls a, m both ways and c at all looks, and the interval at six looks."""
    x = np.random.default_rng(SEED).beta(2.0, 2.0, MILLION)
    looks = [10**k for k in range(1, 7)]
    ends: list[tuple[float, float]] = []

    def bet() -> None:
        stakes = bets(x, log_target=math.log(1e4))
        log_e_above(x, stakes, null=0.49)
        log_e_above(x, stakes, null=0.5)
        log_e_below(x, stakes, null=0.5)
        log_e_below(x, stakes, null=0.51)
        ends[:] = confidence_sequence(x, lo=Fraction(0), hi=Fraction(1), looks=looks)

    seconds = best(bet, rounds=2)
    low, high = ends[-1]
    return Row(
        what="betting over 10^6 observations",
        seconds=seconds,
        goal=5.0,
        peer=NONE,
        note=f"mean .5 between {low:.4f} and {high:.4f}",
    )


def crossing() -> Row:
    """How often E_grow ever reaches 10⁴ in 2·10⁵ null runs with a look after every replicate from 5 to 40."""
    rule = GrowthRule(delta=Fraction("0.19"), alternative=Fraction("0.38"), looks=tuple(range(5, 41)))
    bars = np.array([critical_t(n, log_threshold=math.log(1e4)) for n in rule.looks])
    runs, part = 200_000, 10_000
    crossed: list[int] = []

    def runs_of_null() -> None:
        rng, count = np.random.default_rng(SEED), 0
        for _ in range(runs // part):
            values = rng.standard_normal((part, len(SCALES), rule.maximum))
            t = grow_t(contrast_estimates(rule, SCALES, values, rule.looks))
            count += int((t >= bars).any(axis=-1).sum())
        crossed.append(count)

    seconds = best(runs_of_null, rounds=1)
    values = np.random.default_rng(SEED).standard_normal((2_000, rule.maximum))
    peer = best(lambda: [stats.ttest_1samp(values[:, :n], 0.0, axis=1) for n in rule.looks], rounds=2)
    return Row(
        what="crossing of T by E_grow in 2·10^5 null runs",
        seconds=seconds,
        goal=30.0,
        peer=f"scipy's t test at every look, no contrast: {peer * runs / len(values):.1f} s",
        note=f"{crossed[-1]} crossed",
    )


def main() -> int:
    """Prints the table; 10 where a goal is not met."""
    rows = []
    print(f"{'statistics':47}{'seconds':>8}{'goal':>6}  {'peer':60}")
    for part in (mixture, whole_rule, betting, crossing):
        row = part()
        said = "goal met" if row.met else "goal not met"
        print(f"{row.what:47}{row.seconds:8.2f}{row.goal:6.0f}  {row.peer:60}{said}; {row.note}", flush=True)
        rows.append(row)
    return 0 if all(row.met for row in rows) else 10


if __name__ == "__main__":
    sys.exit(main())
