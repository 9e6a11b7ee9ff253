"""Growth in stages: E as the product of the stages' own, estimates from all data at once, cells of unequal size."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome, Reason
from verifier.stats.growth import evaluate
from verifier.stats.growth_rule import GrowthAnswer, GrowthRule
from verifier.stats.growth_stages import Stage, all_data, covered_scale, evaluate_stages, product_log_e

Floats = npt.NDArray[np.float64]
Noise = Literal["block", "pooled"]

GRID = (32, 64, 128, 256, 512, 1024)
RULE = GrowthRule(delta=Fraction("0.19"), alternative=Fraction("0.38"), looks=(40,), noise="pooled")


def stage(
    slope: float,
    counts: Sequence[int],
    *,
    scales: Sequence[int] = GRID,
    seed: int = 1,
    sd: float = 0.2,
    shift: float = 0.0,
) -> Stage:
    rng = np.random.default_rng(seed)
    cells = tuple(
        shift + slope * math.log(k) + sd * rng.standard_normal(n) for k, n in zip(scales, counts, strict=True)
    )
    return Stage(scales=tuple(scales), cells=cells)


def judged(stages: Sequence[Stage], rule: GrowthRule = RULE, **more: Any) -> Any:
    known = {"listed": [one.scales for one in stages], "claim_scale": 1024, "discount": 1.0, **more}
    return evaluate_stages(rule, stages, **known)


def flat(record: dict[str, Any]) -> list[float]:
    return [float(x) for value in record.values() if value is not None for x in np.atleast_1d(value)]


@pytest.mark.parametrize("noise", ["block", "pooled"])
@pytest.mark.parametrize("slope", [0.0, 0.1, 0.38])
def test_one_stage_of_equal_cells_is_the_growth_rule_at_one_look(noise: Noise, slope: float) -> None:
    rule = dataclasses.replace(RULE, noise=noise)
    one = stage(slope, [40] * 6)
    ours = judged([one], rule)
    plain = evaluate(rule, scales=GRID, values=np.stack(one.cells), claim_scale=1024, discount=1.0, last=True)
    assert (ours.answer, ours.stops, ours.reproduces) == (plain.answer, plain.stops, plain.reproduces)
    for name in ("slope_cone", "slope_up", "slope_full", "e_grow", "e_flat", "e_half", "misfit"):
        a, b = (flat(dataclasses.asdict(getattr(found.statistics, name))) for found in (ours, plain))
        assert a == pytest.approx(b, rel=1e-8), name
    assert plain.statistics.extrapolation is not None
    assert ours.statistics.extrapolation.p == pytest.approx(plain.statistics.extrapolation.p, rel=1e-8)


@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(8, 22), min_size=6, max_size=6),
    slope=st.floats(-0.2, 0.5),
    noise=st.sampled_from(["block", "pooled"]),
)
@settings(max_examples=30, deadline=None)
def test_where_a_stage_is_split_changes_no_estimate_and_e_by_its_product(
    seed: int, cuts: list[int], slope: float, noise: Noise
) -> None:
    rule = dataclasses.replace(RULE, noise=noise)
    cuts = cuts if noise == "pooled" else cuts[:1] * 6
    whole = stage(slope, [30] * 6, seed=seed)
    parts = [
        Stage(scales=GRID, cells=tuple(cell[:cut] for cell, cut in zip(whole.cells, cuts, strict=True))),
        Stage(scales=GRID, cells=tuple(cell[cut:] for cell, cut in zip(whole.cells, cuts, strict=True))),
    ]
    once, split = judged([whole], rule).statistics, judged(parts, rule).statistics
    for name in ("slope_cone", "slope_up", "slope_full"):
        a, b = getattr(once, name), getattr(split, name)
        assert (a.estimate, a.stderr, *a.interval) == pytest.approx((b.estimate, b.stderr, *b.interval), abs=1e-9)
    assert once.misfit.chi2 == pytest.approx(split.misfit.chi2, rel=1e-6, abs=1e-9)
    own = [product_log_e(rule, [part]) for part in parts]
    for name in ("grow", "flat", "half"):
        assert getattr(product_log_e(rule, parts), name) == pytest.approx(
            [float(getattr(own[0], name)[0]), float(getattr(own[0], name)[0] + getattr(own[1], name)[0])], abs=1e-9
        )


@given(seed=st.integers(0, 2**32 - 1), shift=st.floats(-100, 100), scale=st.integers(1, 100))
@settings(max_examples=20, deadline=None)
def test_a_constant_and_another_unit_change_no_e(seed: int, shift: float, scale: int) -> None:
    one = stage(0.2, [5, 9, 7, 12, 6, 8], seed=seed)
    other = Stage(scales=GRID, cells=tuple(scale * (cell + shift) for cell in one.cells))
    rule = dataclasses.replace(RULE, floor=Fraction(1, 100))
    scaled = dataclasses.replace(
        rule, delta=rule.delta * scale, alternative=rule.alternative * scale, floor=rule.floor * scale
    )
    a, b = product_log_e(rule, [one]), product_log_e(scaled, [other])
    for name in ("grow", "flat", "half"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-6, abs=1e-6)


def test_an_extension_decides_what_its_first_stage_could_not() -> None:
    first = stage(0.0, [40] * 5, scales=(4, 8, 16, 32, 64))
    wide = stage(0.0, [30, 30, 30, 20, 20, 20], scales=(4, 16, 64, 256, 512, 1024), seed=2)
    listed = [first.scales, wide.scales]
    early = judged([first], listed=listed)
    assert (early.answer, early.reason, early.stops) == (
        GrowthAnswer.BOUNDED_BELOW_HORIZON,
        Reason.HORIZON,
        False,
    )
    late = judged([first, wide], listed=listed)
    assert (late.answer, late.outcome, late.stops) == (GrowthAnswer.BOUNDED, Outcome.AGAINST_DISPUTE, True)
    assert late.statistics.looks_made == (40, 60)
    both = all_data(RULE, [first, wide])
    assert both.scales == (4, 8, 16, 32, 64, 256, 512, 1024)
    assert both.counts == (70, 40, 70, 40, 70, 20, 20, 20)


SHORT = (2, 4, 8, 16, 32, 64)
LONG = (*SHORT, 128, 256, 512, 1024)
LATE_GROWTH: dict[str, Callable[[int], float]] = {
    "a kink at 64": lambda k: 0.38 * max(0.0, math.log(k / 64)),
    "a step at 256": lambda k: float(k >= 256),
    "a step at 1024": lambda k: float(k >= 1024),
}


def grown_late(truth: Callable[[int], float], rng: np.random.Generator, *, late: int) -> list[Stage]:
    """Sixty sweeps up to 64, where nothing grows yet, and `late` up to 1024."""
    return [
        Stage(scales=grid, cells=tuple(truth(k) + 0.3 * rng.standard_normal(n) for k in grid))
        for grid, n in ((SHORT, 60), (LONG, late))
    ]


@pytest.mark.parametrize("noise", ["block", "pooled"])
@pytest.mark.parametrize("truth", LATE_GROWTH)
def test_a_stage_that_ends_before_the_growth_begins_does_not_carry_one_that_reaches_it(
    noise: Noise, truth: str
) -> None:
    rule = dataclasses.replace(RULE, noise=noise)
    parts = grown_late(LATE_GROWTH[truth], np.random.default_rng(4), late=2)
    assert product_log_e(rule, parts).flat.max() > math.log(1e4), "the short stage alone is over the threshold"
    assert product_log_e(rule, parts, reaching=1024).flat.max() < math.log(1e4)
    found = judged(parts, rule)
    assert found.outcome is not Outcome.AGAINST_DISPUTE
    assert found.covers is None


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["block", "pooled"])
@pytest.mark.parametrize("truth", LATE_GROWTH)
@pytest.mark.parametrize("late", [2, 4, 8])
def test_growth_that_begins_late_is_not_called_bounded(noise: Noise, truth: str, late: int) -> None:
    rule = dataclasses.replace(RULE, noise=noise)
    rng = np.random.default_rng(late)
    answers = [judged(grown_late(LATE_GROWTH[truth], rng, late=late), rule, discount=0.6).answer for _ in range(30)]
    assert GrowthAnswer.BOUNDED not in answers


def test_what_is_bounded_up_to_a_scale_is_so_by_the_stages_that_reach_it() -> None:
    to_claim = stage(0.0, [40] * 10, scales=LONG)
    beyond = stage(0.0, [8] * 12, scales=(*LONG, 2048, 4096), seed=2, sd=1.5)
    assert covered_scale(RULE, [to_claim], claim_scale=1024, discount=1.0) == 1024
    assert covered_scale(RULE, [to_claim, beyond], claim_scale=1024, discount=1.0) == 1024
    assert covered_scale(RULE, [to_claim, beyond], claim_scale=4096, discount=1.0) is None
    long = stage(0.0, [20] * 12, scales=(*LONG, 2048, 4096), seed=3)
    assert covered_scale(RULE, [to_claim, long], claim_scale=1024, discount=1.0) == 4096
    found = judged([to_claim, beyond])
    assert (found.answer, found.covers) == (GrowthAnswer.BOUNDED, 1024)
    assert "up to K = 1024" in found.residual_class
    assert judged([to_claim, long]).covers == 4096


def test_a_summary_says_which_sweeps_it_rests_on() -> None:
    rule = dataclasses.replace(RULE, noise="block")
    parts = [stage(0.0, [60] * 6, scales=SHORT), stage(0.0, [20] * 10, scales=LONG, seed=2)]
    found = judged(parts, rule)
    assert found.answer is GrowthAnswer.BOUNDED
    assert "up to k = 1024 only the stages that reach it count, 20 sweeps" in found.summary
    assert "slope from the 20 sweeps of the last grid" in found.summary
    assert "of the last grid" not in judged(parts).summary, "pooled noise uses all"


def test_growth_in_two_stages() -> None:
    parts = [stage(0.38, [12, 12, 14, 16, 18, 20], seed=s) for s in (1, 2)]
    found = judged(parts)
    assert (found.answer, found.outcome) == (GrowthAnswer.GROWS, Outcome.FOR_DISPUTE)
    assert found.statistics.e_grow.sup == pytest.approx(math.exp(float(product_log_e(RULE, parts).grow.max())))


@pytest.mark.slow
def test_stages_under_a_null_cross_no_more_often_than_they_may() -> None:
    # β = δ exactly, three stages of unequal cells each, the second and third as long as the first one's look suggests
    crossed, runs = 0, 400
    for seed in range(runs):
        parts = [stage(0.19, [4, 5, 6, 7, 8, 9], seed=3 * seed, sd=0.3)]
        more = 12 if float(parts[0].cells[-1].mean()) > 1.3 else 5
        parts += [stage(0.19, [more, 5, 6, 7, 8, more], seed=3 * seed + i, sd=0.3) for i in (1, 2)]
        crossed += float(product_log_e(RULE, parts).flat.max()) >= math.log(20)
    assert crossed / runs <= 1 / 20  # Ville's bound; the process is well below it


def test_block_stages_of_one_grid_are_one_sample() -> None:
    rule = dataclasses.replace(RULE, noise="block")
    parts = [stage(0.0, [8] * 6), stage(0.0, [12] * 6, seed=2), stage(0.0, [9] * 5, scales=(64, 128, 256, 512, 1024))]
    assert all_data(rule, parts[:2]).counts == (20,) * 6
    assert all_data(rule, parts).counts == (9,) * 5


def test_a_stage_without_variance_is_malformed() -> None:
    one = stage(0.0, [10] * 6)
    stuck = Stage(scales=GRID, cells=(*one.cells[:2], np.ones(10), *one.cells[3:]))
    found = judged([one, stuck])
    assert (found.answer, found.reason) == (GrowthAnswer.MALFORMED, Reason.MALFORMED)
    assert "scale 128 of stage 2" in found.summary


def test_what_would_decide_is_said() -> None:
    found = judged([stage(0.1, [9] * 6, sd=1.0)])
    assert found.answer is GrowthAnswer.NEITHER_INADEQUATE
    assert found.adequacy.needed["replicates"] > 100
    assert "would decide" in found.summary


ONE = stage(0.0, [10] * 6)


@pytest.mark.parametrize(
    ("stages", "more", "says"),
    [
        ([], {}, "0 stages"),
        ([ONE, ONE], {"listed": [GRID]}, "1 are listed"),
        ([ONE], {"listed": [(2, 4, 8, 16, 32)]}, "the registration lists"),
        ([stage(0.0, [10] * 4, scales=GRID[:4])], {}, "at least five"),
        ([stage(0.0, [10] * 5 + [1])], {}, "fewer than two"),
        ([stage(0.0, [10] * 5 + [9])], {"rule": dataclasses.replace(RULE, noise="block")}, "whole sweep"),
        ([Stage(scales=GRID, cells=ONE.cells[:5])], {}, "one row"),
        ([Stage(scales=GRID, cells=(*ONE.cells[:5], np.array([1.0, np.nan])))], {}, "not a finite number"),
        ([ONE], {"rule": dataclasses.replace(RULE, variance={32: Fraction(1)})}, "does not name"),
    ],
)
def test_stages_that_do_not_fit(stages: list[Stage], more: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        judged(stages, **more)
