"""The rule `difference`: whether two arms lie apart by at least δ ("+4 points"), or by no more than is alleged.

Paired, unpaired (replicate r of either arm, in manifest order) or pooled; on a test set, over seeds alone or over items
as well. The margin rule by t e-processes; see `margin_rule` and `margin_t`. Sources there.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt

from verifier.model.errors import BadInput
from verifier.model.results import Adequacy
from verifier.stats import bounded
from verifier.stats import margin_t as by_t
from verifier.stats.difference_power import bounded_rule, degrees_of_freedom, needed, power, simulated_power
from verifier.stats.laws import Floats
from verifier.stats.margin_data import Arms, out_of_bounds, read_arms
from verifier.stats.margin_design import DifferenceRule
from verifier.stats.margin_reported import Reported, reported
from verifier.stats.margin_rule import MarginEvidence, margin_finding
from verifier.stats.margin_statistics import MarginFinding
from verifier.stats.mcnemar import exact_mcnemar
from verifier.stats.noise import Estimate, block_estimate, pooled_estimate
from verifier.stats.significance import p_to_e

__all__ = ["DifferenceRule", "evaluate", "log_evidence", "mcnemar_log_e", "needed", "power", "simulated_power"]

WORST_SD_RATIO = 2.0  # beyond it the pooled t no longer holds its level
LEAST_P = 1e-300  # a p-value is not used below this, so that its e-value stays a number


def evaluate(
    rule: DifferenceRule,
    left: npt.ArrayLike,
    right: npt.ArrayLike | None = None,
    *,
    discount: float,
    last: bool,
    stopped_at: int | None = None,
) -> MarginFinding:
    """The rule's finding at the look n = len(left), recomputed from the prefix of every earlier look.

    left, right: float64 of shape (n,), or (n, items) under a registered population; row r is replicate r in manifest
    order. Without `right`, `left` holds differences left − right. Where the arms are not paired, rows without a partner
    are only counted. discount, last, stopped_at: as `margin_finding` has them.

    Items drawn: the one look's evidence is the smaller of the seeds' and the items' (an intersection–union test, Berger
    1982), for θ is shown only where it would show with other seeds and with other items. The interval is the wider one.

    Raises BadInput for shapes that do not fit, values that are not finite, an n between or beyond the looks.
    """
    arms = read_arms(rule, left, right, paired=rule.noise == "paired", noun=rule.unit)
    _check(rule, arms)
    looks = rule.looks_made(arms.n)
    seeds = _over_items(arms)
    items = _item_means(arms) if rule.population == "items-drawn" and arms.n else None
    if rule.method == "betting":
        return _by_betting(rule, seeds, discount=discount, last=last, stopped_at=stopped_at)
    stuck = out_of_bounds(rule, arms, noun="replicate") or _malformed(rule, seeds, items)
    path = _path(rule, seeds, looks or (arms.n,)) if arms.n >= 2 else None
    evidence = log_evidence(rule, arms) if looks and not stuck else by_t.no_evidence(len(looks))
    over_items = None if items is None else _item_path(items)
    lead = over_items if rule.one_seed else _wider(path, over_items)
    few = ""
    if items is not None and items.size < rule.minimum_items:
        few = f"nothing is decided on fewer than {rule.minimum_items} items"
    extra: dict[str, object] = {"excess_rows": {"left": arms.excess[0], "right": arms.excess[1]}}
    effect = None if lead is None or stuck else by_t.effect_of(lead)
    if lead is not None and effect is not None:
        extra["beside"] = _reported(rule, lead)
    return margin_finding(
        rule,
        evidence,
        n=arms.n,
        discount=discount,
        last=last,
        adequate=_adequacy(rule, path, items, discount=discount),
        malformed=stuck,
        too_few=few,
        effect=effect,
        flags=rule.flags(arms.n),
        reported=extra,
        stopped_at=stopped_at,
    )


def log_evidence(rule: DifferenceRule, arms: Arms) -> MarginEvidence:
    """The four e-processes at the looks made. A look whose replicates do not vary has none (−∞)."""
    looks = rule.looks_made(arms.n)
    seeds = _over_items(arms)
    if rule.population != "items-drawn":
        path = _path(rule, seeds, looks)
        return by_t.t_evidence(by_t.shifted(path, rule.nulls)).masked(by_t.varies(path, _size(seeds)))
    of_items = _item_evidence(rule, arms)
    if rule.one_seed:
        return of_items
    path = _path(rule, seeds, looks)
    of_seeds = by_t.t_evidence(by_t.shifted(path, rule.nulls)).masked(by_t.varies(path, _size(seeds)))
    return MarginEvidence(
        **{
            f.name: np.minimum(getattr(of_seeds, f.name), getattr(of_items, f.name))
            for f in dataclasses.fields(MarginEvidence)
        }
    )


def mcnemar_log_e(gains: int, losses: int) -> float:
    """Ln of the e-value of the one-sided exact McNemar test that gains are no more frequent than losses.

    The one-sided p of `mcnemar.exact_mcnemar`, turned into an e-value by `significance.p_to_e`. Valid once, not as a
    process.
    """
    return math.log(p_to_e(max(exact_mcnemar(gains, losses).p_left, LEAST_P)))


def _by_betting(
    rule: DifferenceRule, arms: Arms, *, discount: float, last: bool, stopped_at: int | None
) -> MarginFinding:
    """The finding of `bounded` on the differences."""
    stuck = out_of_bounds(rule, arms, noun="replicate")
    if stuck:
        return margin_finding(
            rule,
            by_t.no_evidence(len(rule.looks_made(arms.n))),
            n=arms.n,
            discount=discount,
            last=last,
            adequate=Adequacy(adequate=False, needed={}),
            malformed=stuck,
            stopped_at=stopped_at,
        )
    d = arms.left if arms.right is None else arms.left - arms.right
    return bounded.evaluate(bounded_rule(rule), d, discount=discount, last=last, stopped_at=stopped_at)


def _check(rule: DifferenceRule, arms: Arms) -> None:
    if arms.left.ndim == 2 and not rule.population:
        raise BadInput(
            "the replicates have items, and the rule does not say what they stand for",
            mend='register population = "this-test-set" or "items-drawn"',
        )
    if arms.left.ndim == 1 and rule.population == "items-drawn":
        raise BadInput("items are drawn, but the values have none", mend="give a value for each item")
    if arms.right is None and rule.noise == "pooled":
        raise BadInput("a pooled standard deviation needs both arms", mend="give left and right, not differences")
    if arms.left.ndim == 2 and arms.left.shape[1] == 0:
        raise BadInput("there is no item", mend="give a value for each item")


def _over_items(arms: Arms) -> Arms:
    """One value a replicate and arm: the mean over its items."""
    if arms.left.ndim == 1:
        return arms
    return arms._replace(left=arms.left.mean(axis=1), right=None if arms.right is None else arms.right.mean(axis=1))


def _item_means(arms: Arms) -> Floats:
    """Each item's difference, averaged over the replicates, shape (items,)."""
    return np.asarray((arms.left if arms.right is None else arms.left - arms.right).mean(axis=0))


def _size(arms: Arms) -> float:
    return float(max(np.abs(arms.left).max(initial=0), 0 if arms.right is None else np.abs(arms.right).max(initial=0)))


def _path(rule: DifferenceRule, arms: Arms, looks: tuple[int, ...]) -> Estimate:
    if rule.noise == "pooled":
        assert arms.right is not None
        return pooled_estimate(np.array([1.0, -1.0]), np.stack([arms.left, arms.right]), looks)
    d = arms.left if arms.right is None else arms.left - arms.right
    return block_estimate(np.ones(1), d[None, :], looks)


def _item_path(items: Floats) -> Estimate | None:
    return block_estimate(np.ones(1), items[None, :], (items.size,)) if items.size >= 2 else None


def _wider(seeds: Estimate | None, items: Estimate | None) -> Estimate | None:
    """The estimate that is printed: over seeds, or over items drawn where that interval reaches further."""
    if seeds is None or items is None:
        return seeds
    return items if _reach(items) > _reach(seeds) else seeds


def _reach(path: Estimate) -> float:
    """Half the width of its interval; infinite where there are too few replicates for one."""
    low, high = by_t.effect_of(path).interval or (-math.inf, math.inf)
    return (high - low) / 2


def _item_evidence(rule: DifferenceRule, arms: Arms) -> MarginEvidence:
    """The items' evidence, once: t over items; on one seed of right and wrong answers, McNemar where the null is 0."""
    items = _item_means(arms)
    path = _item_path(items)
    if path is None:
        return by_t.no_evidence(1)
    found = by_t.t_evidence(by_t.shifted(path, rule.nulls)).masked(by_t.varies(path, float(np.abs(items).max())))
    steps = np.unique(np.abs(items[items != 0]))
    if not rule.one_seed or steps.size != 1:
        return found
    gains, losses = int((items > 0).sum()), int((items < 0).sum())
    up, down = np.array([mcnemar_log_e(gains, losses)]), np.array([mcnemar_log_e(losses, gains)])
    a, m, c = rule.nulls
    return MarginEvidence(
        below_claim=down if c == 0 else found.below_claim,
        above_alleged=up if a == 0 else found.above_alleged,
        below_middle=down if m == 0 else found.below_middle,
        above_middle=up if m == 0 else found.above_middle,
    )


def _malformed(rule: DifferenceRule, arms: Arms, items: Floats | None) -> str:
    """Why the replicates or items cannot be judged, as a clause; "" where they can."""
    if items is not None and items.size > 1 and np.ptp(items) <= by_t.ROUNDING * _size(arms):
        return f"the difference is equal on all {items.size} items"
    if arms.n < 2:
        return "there is no row" if not arms.n else ""
    path = _path(rule, arms, (arms.n,))
    if not by_t.varies(path, _size(arms))[-1]:
        return f"all {arms.n} differences are equal"
    if rule.noise == "pooled" and arms.right is not None:
        sds = sorted((float(arms.left.std(ddof=1)), float(arms.right.std(ddof=1))))
        if sds[1] > WORST_SD_RATIO * sds[0] and arms.n >= rule.minimum_n:
            return (
                f"one standard deviation is registered for both arms, and theirs are {sds[0]:.3g} and {sds[1]:.3g}, "
                f"which differ by more than a factor of {WORST_SD_RATIO:g}"
            )
    return ""


def _reported(rule: DifferenceRule, path: Estimate) -> Reported | None:
    value, stderr, df, n = (float(np.asarray(x)[..., -1]) for x in path)
    a, _, c = rule.nulls
    return reported(mean=value, stderr=stderr, df=df, n=n, null=a, margin=c - a, original_n=rule.original_n)


def _adequacy(rule: DifferenceRule, path: Estimate | None, items: Floats | None, *, discount: float) -> Adequacy:
    """Whether the registered maximum, and the items there are, could decide at the noise seen; and what would."""
    adequate, needs = True, {}
    if not rule.one_seed:
        found = Adequacy(adequate=False, needed={})
        if path is not None and path.stderr[-1] > 0:
            asked = by_t.demands(rule.nulls, sd=by_t.upper_sd(path), threshold=float(rule.threshold))
            found = by_t.adequacy(rule, asked, discount=discount, df=degrees_of_freedom(rule))
        adequate, needs = found.adequate, dict(found.needed)
    if items is not None:
        over = _item_path(items)
        if over is None or not over.stderr[-1] > 0:
            return Adequacy(adequate=False, needed=needs)
        asked = by_t.demands(rule.nulls, sd=by_t.upper_sd(over), threshold=float(rule.threshold))
        n = by_t.needed_n(asked, discount=discount, minimum=rule.minimum_items)
        adequate = adequate and by_t.could_decide(asked, n=items.size, discount=discount)
        needs |= {} if n is None else {"items": n}
    return Adequacy(adequate=adequate, needed=needs)
