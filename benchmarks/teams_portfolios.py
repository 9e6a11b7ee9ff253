"""How often several teams, and many claims, lead astray: simulated rates of combined e-values and of portfolios.

    python benchmarks/teams_portfolios.py [--check]

`--check` exits 10 if a rate lies outside its published range by more than simulation error.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from verifier.stats.eprocess import log_mixture_e
from verifier.stats.portfolio import e_bh, holm
from verifier.stats.teams import log_average_e, log_partial_conjunction_e, log_product_e

Floats = npt.NDArray[np.float64]

SEED = 20260612
Z = 4.0
TEAM_BAR = math.log(20)
STOP = math.log(1e4)


@dataclass(frozen=True, kw_only=True)
class Row:
    """A simulated rate beside the range published for it; `error` is its standard error."""

    what: str
    rate: float
    error: float
    low: float
    high: float

    @property
    def agrees(self) -> bool:
        """Whether the rate is in its range, give or take Z standard errors."""
        return self.low - Z * self.error <= self.rate <= self.high + Z * self.error


def t_log_e(x: Floats) -> Floats:
    """Natural logarithm of the five-τ one-sided E of a positive mean: (…, n) observations → (…)."""
    n = x.shape[-1]
    return log_mixture_e(math.sqrt(n) * x.mean(axis=-1) / x.std(axis=-1, ddof=1), df=n - 1, n=n)


def team_log_e(rng: np.random.Generator, *, runs: int, bias: float, correlation: float = 0.0) -> Floats:
    """Natural logarithm of E for five teams with 8 seeds each, no effect, one team biased by `bias` sd; (runs, 5).

    correlation: of the seeds with one number between teams.
    """
    x = math.sqrt(1 - correlation) * rng.standard_normal((runs, 5, 8))
    if correlation:
        x += math.sqrt(correlation) * rng.standard_normal((runs, 1, 8))
    x[:, 0] += bias
    return t_log_e(x)


def team_rows(*, runs: int, seed: int = SEED) -> Iterator[Row]:
    """How often each combination reaches 20 with one biased team, and what seeds in common do to the product."""
    rng = np.random.default_rng(seed)

    def row(what: str, crossed: npt.NDArray[np.bool_], low: float, high: float) -> Row:
        rate = float(crossed.mean())
        return Row(what=what, rate=rate, error=math.sqrt(max(rate, 1 / runs) / runs), low=low, high=high)

    biased = team_log_e(rng, runs=runs, bias=1.0)
    yield row("one team of five biased by 1 sd: product", log_product_e(biased) >= TEAM_BAR, 0.0185, 0.0195)
    yield row("one team of five biased by 1 sd: average", log_average_e(biased) >= TEAM_BAR, 0.06, 0.095)
    yield row("one team of five biased by 1 sd: largest", biased.max(axis=1) >= TEAM_BAR, 0.255, 0.265)
    pair = log_partial_conjunction_e(biased, u=2)
    yield row("one team of five biased by 1 sd: partial conjunction", pair >= TEAM_BAR, 0.0, 0.001)
    shared = team_log_e(rng, runs=runs, bias=0.0, correlation=0.8)
    yield row("seeds in common, no effect: average", log_average_e(shared) >= TEAM_BAR, 0.0, 0.05)
    yield row(
        "seeds in common, no effect: partial conjunction", log_partial_conjunction_e(shared) >= TEAM_BAR, 0.0, 0.05
    )
    # crossings of 10⁴ over the 1/10⁴ that independent teams stay below; published are about 70, for no stated design
    times = float((log_product_e(shared) >= STOP).mean()) * math.exp(STOP)
    yield Row(
        what="seeds in common: product inflated, times",
        rate=times,
        error=100 * math.sqrt(times / runs),
        low=50,
        high=90,
    )


def claim_paths(rng: np.random.Generator, *, effects: Floats, most: int) -> Floats:
    """Natural logarithm of E for each claim after every seed from the second: effects (…) in sd → (…, most − 1)."""
    x = effects[..., None] + rng.standard_normal((*effects.shape, most))
    n = np.arange(1, most + 1)
    mean = np.cumsum(x, axis=-1) / n
    squares = np.cumsum(np.square(x), axis=-1) - n * np.square(mean)
    n, mean, squares = n[1:], mean[..., 1:], squares[..., 1:]
    return log_mixture_e(np.sqrt(n * (n - 1) / squares) * mean, df=n - 1, n=n)


def portfolio_rows(*, portfolios: int, seed: int = SEED, alpha: float = 0.05) -> Iterator[Row]:
    """e-BH and Holm over 200 claims, 40 of them true with an effect of 1 sd, each stopped at 10⁴ or at 30 seeds."""
    rng = np.random.default_rng(seed)
    true = np.arange(200) < 40
    found: dict[str, list[tuple[float, float]]] = {"e-BH": [], "Holm": []}
    for _ in range(portfolios):
        logs = claim_paths(rng, effects=true.astype(float), most=30)
        over = logs >= STOP
        stop = np.where(over.any(axis=-1), over.argmax(axis=-1), logs.shape[-1] - 1)
        at_stop = np.take_along_axis(logs, stop[:, None], axis=-1)[:, 0]
        made = np.arange(logs.shape[-1]) <= stop[:, None]
        sup = np.where(made, logs, -np.inf).max(axis=-1)
        for name, kept in (("e-BH", e_bh(at_stop, alpha=alpha)), ("Holm", holm(sup) <= alpha)):
            found[name].append(
                (float((kept & ~true).sum() / max(kept.sum(), 1)), float((kept & true).sum() / true.sum()))
            )
    for name, pairs in found.items():
        wrong, power = np.array(pairs).T
        error = [float(x.std(ddof=1) / math.sqrt(portfolios)) for x in (wrong, power)]
        yield Row(
            what=f"200 claims: {name}, false discovery rate", rate=wrong.mean(), error=error[0], low=0, high=alpha
        )
        least = 0.9 if name == "e-BH" else 0.0
        yield Row(what=f"200 claims: {name}, power", rate=power.mean(), error=error[1], low=least, high=1)


def main() -> int:
    """Prints the rows; 10 with --check if one disagrees."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows = [*team_rows(runs=200_000), *portfolio_rows(portfolios=400)]
    for row in rows:
        mark = "" if row.agrees else "  DIFFERS"
        print(f"{row.what:60} {row.rate:9.5f} ± {row.error:.5f}   [{row.low:g}, {row.high:g}]{mark}")
    return 10 if options.check and not all(row.agrees for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
