"""The designs whose false positives are simulated: how each makes its estimates, and what the rule says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from benchmarks.noises import Floats, Noise
from verifier.stats import growth_sentences
from verifier.stats.bound import Instance
from verifier.stats.bound import evaluate as bound_evaluate
from verifier.stats.bound_rule import BoundRule, equal_weights
from verifier.stats.contrasts import contrasts
from verifier.stats.growth_rule import GrowthRule
from verifier.stats.margin_design import DifferenceRule
from verifier.stats.noise import Estimate, block_estimate, pooled_estimate

Paths = Callable[[np.random.Generator, Noise, int], Sequence[Estimate]]
"""(stream, noise, runs) → estimates less the null, (runs, looks) each."""
Maker = Callable[[np.random.Generator, Noise, int, tuple[int, ...]], list[Estimate]]
"""The same with the looks."""

LAST = 60
SCALES = tuple(32 << i for i in range(6))
CELL_SD = np.array([0.1, 0.2, 0.4, 0.3, 0.5, 0.8])  # of one replicate by scale: unequal where the rule allows it
ARM_SD = (1.0, 3.0)
RATIO, RATIO_SD = 8.0, 0.1
ITEMS = 30
INSTANCES = 10
REPETITIONS = 6  # in a replicate, so that 5 replicates hold 30


@dataclass(frozen=True, kw_only=True)
class Design:
    """A simulated t rule: how its estimates are made, at which looks, and how many numbers a run draws.

    averaged: its evidence is the mean of the estimates' E; else all of them must reach the bar together. below: the
    evidence is for a mean below the null. flags: what the rule prints of its design. share: of the page's runs that are
    enough here.
    """

    rule: str
    null: str
    paths: Paths
    looks: tuple[int, ...]
    size: int
    flags: tuple[str, ...]
    below: bool = False
    averaged: bool = False
    share: float = 1.0


# --- what the rules say of their designs


def margin_flags(first: int, bounds: tuple[Fraction, Fraction] | None) -> tuple[str, ...]:
    """What `difference` says of the design whose minimum_n is `first`."""
    rule = DifferenceRule(
        claimed=Fraction(1), alleged=Fraction(0), looks=tuple(range(first, LAST + 1)), minimum_n=first, bounds=bounds
    )
    return rule.flags(LAST)


def growth_flags(first: int = 6, *, repetitions: int = 1) -> tuple[str, ...]:
    """What `growth` and `rate` say of a design that looks from `first` replicates of so many repetitions each."""
    rule = GrowthRule(
        delta=Fraction("0.19"),
        alternative=Fraction("0.38"),
        looks=tuple(range(first, LAST + 1)),
        replicate={"repetitions": repetitions},
    )
    return growth_sentences.flags(rule, LAST)


def bound_flags() -> tuple[str, ...]:
    """What `bound` says of a design that looks at means."""
    rule = BoundRule(instances=("1",), weights=equal_weights(1), looks=(LAST,))
    draws = np.arange(float(LAST))
    return bound_evaluate(rule, [Instance(name="1", bound=Fraction(10**6), draws=draws)], discount=1.0, last=True).flags


# --- how the estimates are made


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


def drawn_items(rng: np.random.Generator, noise: Noise, runs: int, looks: tuple[int, ...]) -> list[Estimate]:
    """Seeds and items, each with an effect of its own and as many of either: the seeds' mean, and the items'."""
    seeds, items = noise.draw(rng, (runs, 1, looks[-1])), noise.draw(rng, (runs, 1, ITEMS))
    over_seeds = block_estimate(np.ones(1), seeds + items.mean(axis=-1, keepdims=True), looks)
    over_items = block_estimate(np.ones(1), items + seeds.mean(axis=-1, keepdims=True), (ITEMS,))
    return [over_seeds, over_items]


def ratio_of_means(rng: np.random.Generator, noise: Noise, runs: int, looks: tuple[int, ...]) -> list[Estimate]:
    """L − ρR at the true ρ = 8, with 10 % noise in either arm."""
    arms = np.array([RATIO, 1.0])[:, None] * (1 + RATIO_SD * noise.draw(rng, (runs, 2, looks[-1])))
    return [block_estimate(np.array([1.0, -RATIO]), arms, looks)]


def instances(rng: np.random.Generator, noise: Noise, runs: int, looks: tuple[int, ...]) -> list[Estimate]:
    """`bound`: ten instances whose mean cost is exactly the bound."""
    costs = noise.draw(rng, (runs, INSTANCES, 1, looks[-1]))
    return [block_estimate(np.ones(1), costs[:, i], looks) for i in range(INSTANCES)]


def cells(rng: np.random.Generator, noise: Noise, runs: int, last: int) -> Floats:
    """Block noise, unequal sd by scale: (runs, scales, last)."""
    return np.asarray(CELL_SD[:, None] * noise.draw(rng, (runs, len(SCALES), last)))


def equal_cells(rng: np.random.Generator, noise: Noise, runs: int, last: int) -> Floats:
    """One sd for all scales."""
    return noise.draw(rng, (runs, len(SCALES), last))


def trajectories(rng: np.random.Generator, noise: Noise, runs: int, last: int) -> Floats:
    """`rate`: ln(t^p y) of one trajectory, its noise carried on from time to time (a random walk)."""
    return np.asarray(np.cumsum(0.1 * noise.draw(rng, (runs, len(SCALES), last)), axis=1))


def averaged_cells(rng: np.random.Generator, noise: Noise, runs: int, last: int) -> Floats:
    """Block noise where a replicate is the mean of a few repetitions."""
    return np.asarray(CELL_SD[:, None] * noise.draw(rng, (runs, len(SCALES), last, REPETITIONS)).mean(axis=-1))


def sweep(
    draw: Callable[[np.random.Generator, Noise, int, int], Floats], *, null: str, law: str = "log", pooled: bool = False
) -> Maker:
    """The slopes of a quantity that is 0 at every scale. null "β ≤ 0": cone and upper half; "β ≥ δ": upper and full."""
    cone, up, full = contrasts(SCALES, gamma0=0.5, law=law)

    def made(rng: np.random.Generator, noise: Noise, runs: int, looks: tuple[int, ...]) -> list[Estimate]:
        y = draw(rng, noise, runs, looks[-1])
        return [
            (pooled_estimate if pooled else block_estimate)(w, y, looks)
            for w in ((cone, up) if null == "β ≤ 0" else (up, full))
        ]

    return made


# --- all of them


def designs() -> Iterator[Design]:
    """Every simulated t rule, both ways."""
    yield from _margin_designs()
    yield from _growth_designs()
    looks, paths = _at(instances, 30)
    yield Design(
        rule=f"bound, {INSTANCES} instances",
        null="mean ≤ g",
        paths=paths,
        looks=looks,
        size=INSTANCES * LAST,
        flags=bound_flags(),
        averaged=True,
        share=0.25,
    )


def _at(maker: Maker, first: int, last: int = LAST) -> tuple[tuple[int, ...], Paths]:
    looks = tuple(range(first, last + 1))
    return looks, lambda rng, noise, runs: maker(rng, noise, runs, looks)


def _margin_designs() -> Iterator[Design]:
    unbounded, bounded, few = (
        margin_flags(30, None),
        margin_flags(15, (Fraction(-1), Fraction(1))),
        margin_flags(6, None),
    )
    kinds: list[tuple[str, Maker, int, int, int, tuple[str, ...]]] = [
        ("difference, ratio: paired, by t", one_mean, 30, LAST, LAST, unbounded),
        ("difference, ratio: paired, by t, bounds registered", one_mean, 15, LAST, LAST, bounded),
        ("difference, ratio: paired, by t", one_mean, 6, LAST, LAST, few),
        ("difference, ratio: unpaired, sd 1 and 3", two_arms, 30, LAST, 2 * LAST, unbounded),
        ("difference, pooled", pooled_arms, 30, LAST, 2 * LAST, unbounded),
        (f"difference, {ITEMS} items drawn", drawn_items, ITEMS, ITEMS, 2 * ITEMS, unbounded),
        ("ratio of means, 10 %", ratio_of_means, 30, LAST, 2 * LAST, unbounded),
    ]
    for rule, maker, first, last, size, flags in kinds:
        for below, side in ((False, "θ ≤ a"), (True, "θ ≥ c")):
            looks, paths = _at(maker, first, last)
            yield Design(rule=rule, null=side, paths=paths, looks=looks, size=size, flags=flags, below=below)


def _growth_designs() -> Iterator[Design]:
    few = growth_flags()
    kinds = [
        ("growth, block, sd .1 to .8", "log", cells, False, 6, 1, few, 1.0),
        ("growth, block, law loglog", "loglog", cells, False, 6, 1, few, 0.5),
        ("growth, block, law sqrt", "sqrt", cells, False, 6, 1, few, 0.5),
        ("growth, block, law linear", "linear", cells, False, 6, 1, few, 0.5),
        (
            f"growth, block, {REPETITIONS} repetitions a replicate",
            "log",
            averaged_cells,
            False,
            5,
            REPETITIONS,
            growth_flags(5, repetitions=REPETITIONS),
            0.25,
        ),
        ("growth, pooled", "log", equal_cells, True, 6, 1, few, 1.0),
        ("rate, one trajectory", "log", trajectories, False, 6, 1, few, 1.0),
    ]
    for rule, law, draw, pooled, first, repetitions, flags, share in kinds:
        for null in ("β ≤ 0", "β ≥ δ"):
            looks, paths = _at(sweep(draw, null=null, law=law, pooled=pooled), first)
            averaged = null == "β ≥ δ"
            yield Design(
                rule=rule,
                null=null,
                paths=paths,
                looks=looks,
                size=len(SCALES) * LAST * repetitions,
                flags=flags,
                below=averaged,
                averaged=averaged,
                share=min(share, 0.25) if averaged else share,
            )
