"""What a `difference` design can show before any data: the chances of each answer, and the least n."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from verifier.model.errors import BadInput
from verifier.stats import bounded
from verifier.stats import margin_t as by_t
from verifier.stats.bounded_design import BoundedRule
from verifier.stats.laws import Floats
from verifier.stats.margin_batch import Flags, run_margin_batch
from verifier.stats.margin_design import DifferenceRule
from verifier.stats.margin_rule import MarginEvidence
from verifier.stats.margin_statistics import MarginPower
from verifier.stats.noise import Estimate, pooled_from_cells

RUNS = 10_000
_OF_SEED = "the standard deviation of a replicate's difference"
_OF_ITEM = "the standard deviation of an item's difference"


def bounded_rule(rule: DifferenceRule) -> BoundedRule:
    """The rule by betting on differences, which lie in [lo − hi, hi − lo]."""
    assert rule.bounds is not None
    width = rule.bounds[1] - rule.bounds[0]
    return BoundedRule(
        claimed=rule.claimed,
        alleged=rule.alleged,
        looks=rule.looks,
        minimum_n=rule.minimum_n,
        threshold=rule.threshold,
        bounds=(-width, width),
    )


def degrees_of_freedom(rule: DifferenceRule) -> by_t.DegreesOfFreedom:
    """The degrees of freedom of the standard deviation at n replicates."""
    return by_t.pooled_df if rule.noise == "pooled" else by_t.block_df


def power(
    rule: DifferenceRule,
    effect: float,
    *,
    sd: float,
    items: int | None = None,
    item_sd: float | None = None,
    discount: float = 1.0,
    runs: int = RUNS,
    seed: int = 0,
) -> MarginPower:
    """The probability of each answer and outcome if the difference is `effect` and replicates are normal.

    sd: of one replicate's difference on one test set (pooled: √2 times an arm's; one seed: not used). items, item_sd:
    how many items, and the sd of one item's difference averaged over the replicates, where items are drawn. One look
    on one kind of unit: by integration over the normal and χ² distributions. Otherwise, and by betting (values then not
    normal but beta-distributed), simulated from `seed`.

    Raises BadInput for a standard deviation that is not above zero, or items that are not given.
    """
    if rule.population == "items-drawn":
        if items is None or items < 2:
            raise BadInput("items are drawn, and fewer than two are given", mend="say how many there are")
        spread = by_t.positive_sd(item_sd or 0.0, what=_OF_ITEM)
        if rule.one_seed:
            over = dataclasses.replace(rule, population="", looks=(items,), minimum_n=rule.minimum_items)
            return power(over, effect, sd=spread, discount=discount)
        by_t.positive_sd(sd, what=_OF_SEED)
        return _seeds_and_items(
            rule, effect, sd=sd, items=items, item_sd=spread, discount=discount, runs=runs, seed=seed
        )
    by_t.positive_sd(sd, what=_OF_SEED)
    if rule.method == "betting":
        return bounded.power(bounded_rule(rule), effect, sd=sd, discount=discount, runs=runs, seed=seed)
    if len(rule.looks) == 1:
        chances = by_t.one_look(rule, effect=effect, sd=sd, discount=discount, df=degrees_of_freedom(rule))
        return by_t.power_record(effect, chances, mean_n=float(rule.maximum), method="noncentral t")
    return simulated_power(rule, effect, sd=sd, discount=discount, runs=runs, seed=seed)


def simulated_power(
    rule: DifferenceRule, effect: float, *, sd: float, discount: float = 1.0, runs: int = RUNS, seed: int = 0
) -> MarginPower:
    """As `power`, on seeds alone, by simulation with the registered looks and early stops."""
    rng = np.random.default_rng(seed)
    path = _draw(rule, rng, effect, sd=by_t.drawable_sd(rule.nulls, sd), runs=runs)
    evidence = by_t.t_evidence(by_t.shifted(path, rule.nulls))
    batch = run_margin_batch(rule, evidence, adequate=adequate_runs(rule, path, discount=discount), discount=discount)
    return by_t.power_record(
        effect, batch.shares(), mean_n=float(batch.n.mean()), method="simulated", runs=runs, seed=seed
    )


def adequate_runs(rule: DifferenceRule, path: Estimate, *, discount: float) -> Flags:
    """Whether each run of the path (runs, looks) is adequate at its last look: its sd is at most a limit; (runs,)."""
    sd = path.stderr[:, -1] * np.sqrt(path.n[-1])
    limit = by_t.adequate_up_to(
        rule.nulls, n=rule.maximum, threshold=float(rule.threshold), discount=discount, df=degrees_of_freedom(rule)
    )
    return np.asarray(sd <= limit)


def needed(
    rule: DifferenceRule,
    effect: float | None = None,
    *,
    sd: float | None = None,
    item_sd: float | None = None,
    discount: float = 1.0,
) -> dict[str, int]:
    """The least n with 90 % power at both alternatives: `{"replicates": n}`, and "items" where they are drawn.

    effect: the difference if the claim is right (default c = δ); the other alternative is a. sd, item_sd: as `power`
    has them. Each threshold's own n90, by the noncentral t at the last look
    (betting: as `bounded.needed`, whatever the effect); left out where ten million are too few.

    Raises BadInput for a standard deviation that is not above zero.
    """
    if rule.method == "betting":
        n = bounded.needed(bounded_rule(rule), sd=by_t.positive_sd(sd or 0.0, what=_OF_SEED), discount=discount)
        return {} if n is None else {rule.unit: n}
    threshold = float(rule.threshold)
    found = {}
    if not rule.one_seed:
        spread = by_t.positive_sd(sd or 0.0, what=_OF_SEED)
        asked = by_t.alternatives(rule.nulls, effect, sd=spread, threshold=threshold)
        found[rule.unit] = by_t.needed_n(asked, discount=discount, minimum=rule.minimum_n, df=degrees_of_freedom(rule))
    if rule.population == "items-drawn":
        spread = by_t.positive_sd(item_sd or 0.0, what=_OF_ITEM)
        asked = by_t.alternatives(rule.nulls, effect, sd=spread, threshold=threshold)
        found["items"] = by_t.needed_n(asked, discount=discount, minimum=rule.minimum_items)
    return {unit: n for unit, n in found.items() if n is not None}


def _draw(rule: DifferenceRule, rng: np.random.Generator, mean: float | Floats, *, sd: float, runs: int) -> Estimate:
    """Paths of normal data (runs, looks); pooled: two arms of sd/√2 each."""
    n = np.array(rule.looks, float)
    if rule.noise != "pooled":
        means, squares = by_t.normal_moments(rng, rule.looks, mean=mean, sd=sd, runs=runs)
        return Estimate(value=means, stderr=np.sqrt(squares / (n - 1) / n), df=n - 1, n=n)
    arm = sd / math.sqrt(2)
    left = by_t.normal_moments(rng, rule.looks, mean=mean, sd=arm, runs=runs)
    right = by_t.normal_moments(rng, rule.looks, mean=0.0, sd=arm, runs=runs)
    means, within = np.stack([left[0], right[0]], axis=1), left[1] + right[1]
    return pooled_from_cells(np.array([1.0, -1.0]), means, within, np.broadcast_to(n, (2, len(n))))


def _seeds_and_items(
    rule: DifferenceRule,
    effect: float,
    *,
    sd: float,
    items: int,
    item_sd: float,
    discount: float,
    runs: int,
    seed: int,
) -> MarginPower:
    """One look at seeds and items together: this test set's own difference strays from `effect` by item_sd/√items."""
    rng = np.random.default_rng(seed)
    here = effect + item_sd / math.sqrt(items) * rng.standard_normal(runs)
    path = _draw(rule, rng, here, sd=sd, runs=runs)
    squares = item_sd**2 * rng.chisquare(items - 1, runs)[:, None]
    count = np.array([float(items)])
    over = Estimate(value=path.value, stderr=np.sqrt(squares / (count - 1) / count), df=count - 1, n=count)
    of_seeds, of_items = (by_t.t_evidence(by_t.shifted(each, rule.nulls)) for each in (path, over))
    evidence = MarginEvidence(
        **{
            f.name: np.minimum(getattr(of_seeds, f.name), getattr(of_items, f.name))
            for f in dataclasses.fields(MarginEvidence)
        }
    )
    limit = by_t.adequate_up_to(rule.nulls, n=items, threshold=float(rule.threshold), discount=discount)
    enough = adequate_runs(rule, path, discount=discount) & (over.stderr[:, 0] * math.sqrt(items) <= limit)
    batch = run_margin_batch(rule, evidence, adequate=enough, discount=discount)
    return by_t.power_record(
        effect, batch.shares(), mean_n=float(rule.maximum), method="simulated", runs=runs, seed=seed
    )
