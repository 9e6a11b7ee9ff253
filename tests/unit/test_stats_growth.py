"""The growth rule applied to data: rates under known truths, what a finding says, and when it stops."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import norm

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome, Reason
from verifier.stats.critical import critical_t
from verifier.stats.growth import evaluate, precheck
from verifier.stats.growth_batch import run_batch
from verifier.stats.growth_evidence import contrast_estimates, grow_t, growth_log_e
from verifier.stats.growth_rule import GrowthAnswer, GrowthRule
from verifier.stats.growth_statistics import GrowthFinding
from verifier.stats.power import power

Floats = npt.NDArray[np.float64]

PAGING = GrowthRule(
    delta=Fraction("0.19"),
    alternative=Fraction("0.38"),
    replicate={"phases": 100},
    looks=(10, 20, 30, 40, 50, 60, 70, 80),
)
SCALES = [32, 64, 128, 256, 512, 1024]
PAGING_SD = np.array([0.150, 0.171, 0.190, 0.209, 0.226, 0.242])  # of a replicate, from the exact reduced chain
FIRST = 6 / math.pi**2  # the discount of a first registration
WIDE = [2**i for i in range(1, 11)]


def draw(mean: Sequence[float] | Floats, *, sd: Floats | float, n: int, seed: int, runs: int | None = None) -> Floats:
    mean = np.asarray(mean, float)
    size = (len(mean), n) if runs is None else (runs, len(mean), n)
    noise = np.random.default_rng(seed).standard_normal(size)
    return np.asarray(mean[:, None] + np.broadcast_to(sd, mean.shape)[:, None] * noise)


def run(
    values: Floats, rule: GrowthRule = PAGING, *, scales: Sequence[int] = SCALES, claim: int = 1024
) -> GrowthFinding:
    """What the engine does: a finding at each look until one stops."""
    for look in rule.looks:
        last = look == rule.maximum
        found = evaluate(
            rule,
            scales=scales,
            values=values[:, :look],
            claim_scale=claim,
            discount=FIRST,
            last=last,
            registered_scales=SCALES,
        )
        if found.stops:
            return found
    raise AssertionError("the last look did not stop")


NULLS: list[Callable[[Floats], Floats]] = [
    lambda k: np.zeros_like(k),  # noqa: PLW0108  # one row like the others
    lambda k: 4.74 * (1 - 1 / k),
    lambda k: 1.83 * (1 - 1 / np.log(k)),
]


@pytest.mark.parametrize("null", NULLS, ids=["constant", "4.74(1-1/k)", "1.83(1-1/ln k)"])
def test_no_null_run_of_twenty_thousand_crosses(null: Callable[[Floats], Floats]) -> None:
    looks = tuple(range(2, 25))
    rule = GrowthRule(delta=Fraction("0.19"), alternative=Fraction("0.38"), looks=looks)
    asked = np.array([critical_t(n, log_threshold=math.log(1e4)) for n in looks])
    mean = null(np.array(WIDE, float))
    for batch in range(10):
        values = draw(mean, sd=0.3, n=24, seed=1000 + batch, runs=2000)
        assert not (grow_t(contrast_estimates(rule, WIDE, values, looks)) >= asked).any()
    some = values[:20]
    log_e = growth_log_e(rule, WIDE, some, looks).grow  # and t is over t_n exactly where E is over T
    over = grow_t(contrast_estimates(rule, WIDE, some + 0.38 * np.log(WIDE)[:, None], looks)) >= asked
    assert not (log_e >= math.log(1e4)).any()
    grown = growth_log_e(rule, WIDE, some + 0.38 * np.log(WIDE)[:, None], looks).grow
    assert np.array_equal(grown >= math.log(1e4), over)
    assert over.any()


def test_the_whole_rule_finds_growth_in_ninety_nine_of_a_hundred() -> None:
    rule = GrowthRule(delta=Fraction("0.19"), alternative=Fraction("0.38"), looks=tuple(range(8, 25)))
    values = draw(0.38 * np.log(WIDE), sd=0.3, n=24, seed=5, runs=1000)
    batch = run_batch(rule, scales=WIDE, values=values, claim_scale=1024)
    assert sum(answer.outcome is Outcome.FOR_DISPUTE for answer in batch.answers) >= 990


def test_at_half_delta_neither_side_is_given_what_it_wants() -> None:
    values = draw(0.095 * np.log(SCALES), sd=PAGING_SD, n=80, seed=6, runs=500)
    answers = run_batch(PAGING, scales=SCALES, values=values, claim_scale=1024, discount=FIRST).answers
    outcomes = Counter(answer.outcome for answer in answers)
    assert outcomes[Outcome.FOR_DISPUTE] == 0
    assert outcomes[Outcome.AGAINST_DISPUTE] <= 5
    assert outcomes[Outcome.UNDECIDED] == 500 - outcomes[Outcome.AGAINST_DISPUTE]
    # the whole finding, for a few of them: the sentence is that of the row
    for i in range(4):
        found = run(values[i])
        assert found.answer is answers[i]
        assert found.summary.startswith(found.answer.sentence)
        assert found.reason is found.answer.reason


@pytest.mark.parametrize("slope", [0.0, 0.095, 0.19, 0.3679])
def test_many_at_once_answer_as_one_at_a_time(slope: float) -> None:
    values = draw(slope * np.log(SCALES), sd=1.2 * PAGING_SD, n=80, seed=round(1000 * slope), runs=12)
    values[0, :, 40:] += 5.0 * (np.array(SCALES) >= 256)[:, None]  # one that no law describes
    batch = run_batch(PAGING, scales=SCALES, values=values, claim_scale=1024, discount=FIRST)
    for i, (answer, n) in enumerate(zip(batch.answers, batch.n, strict=True)):
        found = run(values[i])
        assert (found.answer, found.statistics.n) == (answer, n)


def test_growth_stops_early_and_says_so() -> None:
    found = run(draw(0.3679 * np.log(SCALES), sd=PAGING_SD, n=80, seed=1))
    assert (found.answer, found.outcome, found.reason) == (GrowthAnswer.GROWS, Outcome.FOR_DISPUTE, None)
    assert found.so_far is None
    numbers = found.statistics
    assert numbers.n < 80
    assert numbers.stopped_by == "decision"
    assert numbers.looks_made == tuple(range(10, numbers.n + 1, 10))
    assert numbers.e_grow is not None
    assert numbers.e_flat is not None
    assert numbers.e_grow.at_stop == numbers.e_grow.current == numbers.e_grow.sup
    assert numbers.e_grow.sup * FIRST >= 1e4  # the statistic is undiscounted, the decision is not
    assert numbers.e_flat.current < 1
    assert numbers.sigma_anytime is not None
    assert numbers.sigma_anytime > 3.7
    assert numbers.sigma_discounted is not None
    assert norm.sf(numbers.sigma_anytime) == pytest.approx(1 / numbers.e_grow.sup)
    assert norm.sf(numbers.sigma_discounted) == pytest.approx(1 / (numbers.e_grow.sup * FIRST))
    assert numbers.slope_full is not None
    assert numbers.slope_full.sigma_fixed_n is not None
    assert numbers.slope_full.sigma_fixed_n > 6
    assert numbers.contrast_l1 == pytest.approx(3.805, abs=1e-3)
    assert "K = 1024" in found.residual_class
    assert "0.19" in found.residual_class


def test_a_constant_is_bounded_at_the_claims_scale_only() -> None:
    values = draw(np.ones(6), sd=PAGING_SD, n=80, seed=2)
    assert run(values).answer is GrowthAnswer.BOUNDED
    beyond = run(values, claim=4096)
    assert (beyond.answer, beyond.outcome, beyond.reason) == (
        GrowthAnswer.BOUNDED_BELOW_HORIZON,
        Outcome.UNDERPOWERED,
        Reason.HORIZON,
    )
    assert beyond.statistics.n == 80  # it is no decision, so it does not stop early
    assert beyond.adequacy.needed["k"] == 4096


def test_a_small_horizon_says_what_would_decide() -> None:
    k = np.arange(4, 11)
    found = run(draw(1 - 1 / k, sd=0.12, n=80, seed=3), scales=[int(x) for x in k])
    assert found.outcome is Outcome.UNDERPOWERED
    needed = found.adequacy.needed
    assert needed["k"] == 1024
    assert needed["phases"] == 100 * needed["replicates"]
    assert (
        f"k = 1024 with {needed['replicates']} replicates, {needed['phases']:,} phases, would decide" in found.summary
    )
    assert found.so_far is not None
    assert found.so_far.share_of_budget == 1.0


def test_a_step_is_a_misfit_and_a_power_law_is_not_the_log() -> None:
    step = run(draw((np.array(SCALES) >= 256) * 2.0, sd=0.5 * PAGING_SD, n=80, seed=4))
    assert (step.answer, step.reason) == (GrowthAnswer.MISFIT, Reason.MISFIT)
    assert step.statistics.inflation > 1.5
    power_law = run(draw(0.1 * np.sqrt(SCALES), sd=PAGING_SD, n=80, seed=4))
    assert (power_law.answer, power_law.outcome) == (GrowthAnswer.GROWS_NOT_LOG, Outcome.UNDECIDED)
    assert (
        run(
            draw(0.1 * np.sqrt(SCALES), sd=PAGING_SD, n=80, seed=4), dataclasses.replace(PAGING, extrapolate=False)
        ).answer
        is GrowthAnswer.GROWS
    )


def test_a_slope_between_is_neither_side() -> None:
    # precise enough to exclude both zero and δ
    found = run(draw(0.1 * np.log(SCALES), sd=0.02, n=80, seed=8))
    assert (found.answer, found.reason) == (GrowthAnswer.GROWS_SLOWLY, Reason.SLOPE_BETWEEN)


def test_too_few_scales_is_known_before_any_data() -> None:
    found = precheck(
        PAGING,
        scales=[8, 16, 32, 64],
        claim_scale=1024,
        discount=1.0,
        registered_scales=SCALES,
        planned_sd={32: 0.15, 1024: 0.25},
    )
    assert found is not None
    assert (found.answer, found.reason, found.stops) == (GrowthAnswer.TOO_FEW_SCALES, Reason.HORIZON, True)
    assert found.adequacy.needed["k"] == 1024
    assert found.statistics.n == 0
    assert precheck(PAGING, scales=SCALES, claim_scale=1024, discount=1.0) is None
    with_data = run(draw(np.zeros(4), sd=0.1, n=80, seed=1), scales=[8, 16, 32, 64])
    assert with_data.answer is GrowthAnswer.TOO_FEW_SCALES
    assert with_data.statistics.n == 10


def test_a_scale_without_variance_is_malformed_and_named() -> None:
    values = draw(0.38 * np.log(SCALES), sd=PAGING_SD, n=80, seed=1)
    values[2] = 1.5
    found = run(values)
    assert (found.answer, found.outcome, found.reason) == (GrowthAnswer.MALFORMED, Outcome.INVALID, Reason.MALFORMED)
    assert "scale 128" in found.summary
    moving = np.repeat(np.random.default_rng(1).standard_normal((1, 80)), 6, axis=0) + 0.38 * np.log(SCALES)[:, None]
    assert "contrast is equal" in run(moving).summary


def test_a_finding_is_json_and_finite_whatever_the_data() -> None:
    for values in (
        draw(np.zeros(6), sd=1e-9, n=80, seed=1),
        draw(1e6 * np.log(SCALES), sd=1e-6, n=80, seed=1),
        draw(-1e6 * np.log(SCALES), sd=1e-6, n=80, seed=1),
        np.repeat(np.log(SCALES)[:, None], 80, axis=1),
    ):
        text = json.dumps(dataclasses.asdict(run(values)), allow_nan=False)
        assert "Infinity" not in text


def test_the_discount_multiplies_every_e_of_the_decision() -> None:
    values = draw(0.3679 * np.log(SCALES), sd=PAGING_SD, n=80, seed=1)
    first, tenth = (
        evaluate(PAGING, scales=SCALES, values=values, claim_scale=1024, discount=d, last=True) for d in (1.0, 1e-30)
    )
    assert first.answer is GrowthAnswer.GROWS
    assert tenth.answer in (GrowthAnswer.NEITHER, GrowthAnswer.NEITHER_INADEQUATE)
    assert first.statistics.e_grow == tenth.statistics.e_grow
    assert tenth.statistics.discount == 1e-30
    assert tenth.adequacy.needed["replicates"] > first.adequacy.needed["replicates"]


def test_nothing_is_decided_below_the_registered_minimum() -> None:
    values = draw(0.3679 * np.log(SCALES), sd=0.05 * PAGING_SD, n=80, seed=1)
    assert run(values).statistics.n == 10
    assert run(values, dataclasses.replace(PAGING, minimum_n=2500)).statistics.n == 30
    lonely = dataclasses.replace(PAGING, replicate={})
    assert any(flag.startswith("few") for flag in run(values, lonely).flags)
    flag = "a mean over 1,000 phases is blind to failures rarer than one in as many"  # the data of the look at 10
    assert flag in run(values).flags
    assert len(run(values, lonely).flags) == 2


def test_an_axis_may_be_called_n() -> None:
    values = draw(np.zeros(6), sd=10 * PAGING_SD, n=80, seed=3)
    found = evaluate(PAGING, scales=SCALES, values=values, claim_scale=1024, discount=1.0, last=True, axis="n")
    assert found.adequacy.needed["n"] == 1024
    assert found.adequacy.needed["phases"] == 100 * found.adequacy.needed["replicates"]
    assert f"n = 1024 with {found.adequacy.needed['replicates']} replicates" in found.summary


def test_after_the_stop_its_e_is_kept() -> None:
    values = draw(0.3679 * np.log(SCALES), sd=PAGING_SD, n=80, seed=1)
    stop = run(values).statistics
    full = evaluate(
        PAGING, scales=SCALES, values=values, claim_scale=1024, discount=FIRST, last=True, stopped_at=stop.n
    ).statistics
    assert full.e_grow is not None
    assert stop.e_grow is not None
    assert full.e_grow.at_stop == stop.e_grow.at_stop
    assert full.e_grow.sup > full.e_grow.at_stop


def test_a_floor_is_a_null_of_its_own() -> None:
    values = draw(0.3679 * np.log(SCALES), sd=PAGING_SD, n=80, seed=1)
    floored = run(values, dataclasses.replace(PAGING, floor=Fraction("0.2")))
    assert floored.outcome is not Outcome.FOR_DISPUTE  # Σ|w| b = .76 explains a slope of .37
    free = evaluate(PAGING, scales=SCALES, values=values, claim_scale=1024, discount=1.0, last=True).statistics
    assert free.slope_cone is not None
    assert floored.statistics.slope_cone is not None
    assert free.slope_cone.interval is not None
    assert floored.statistics.slope_cone.interval is not None
    wider = floored.statistics.slope_cone.interval[1] - free.slope_cone.interval[1]
    assert wider == pytest.approx(0.2 * 3.805, abs=1e-3)


@pytest.mark.slow
def test_the_interval_covers_at_all_looks_at_once() -> None:
    values = draw(0.2 * np.log(SCALES), sd=PAGING_SD, n=80, seed=9, runs=150)
    missed = 0
    for one in values:
        ends = []
        for n in PAGING.looks:
            found = evaluate(PAGING, scales=SCALES, values=one[:, :n], claim_scale=1024, discount=1.0, last=False)
            assert found.statistics.slope_full is not None
            assert found.statistics.slope_full.interval is not None
            ends.append(found.statistics.slope_full.interval)
        missed += not all(low <= 0.2 <= high for low, high in ends)
    assert missed <= 14  # 5 % of 150 and two and a half standard errors


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (np.zeros((5, 10)), "shape"),
        (np.zeros((6, 11)), "registered look"),
        (np.full((6, 10), np.nan), "not a finite number"),
    ],
)
def test_data_that_do_not_fit_are_refused(values: Floats, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        evaluate(PAGING, scales=SCALES, values=values, claim_scale=1024, discount=1.0, last=False)


def test_a_pooled_rule_needs_a_relative_sd_for_every_scale() -> None:
    rule = dataclasses.replace(PAGING, noise="pooled", variance={32: Fraction(1)})
    with pytest.raises(BadInput, match="does not name the scales"):
        evaluate(rule, scales=SCALES, values=np.ones((6, 10)), claim_scale=1024, discount=1.0, last=False)


def test_power_is_that_of_the_rule_it_simulates() -> None:
    found = power(PAGING, scales=SCALES, sd={32: 0.15, 1024: 0.242}, claim_scale=1024, slope=0.3679, runs=300, seed=1)
    assert found.outcomes[Outcome.FOR_DISPUTE] >= 0.98
    assert sum(found.answers.values()) == pytest.approx(1.0)
    assert 25 <= found.mean_n <= 45  # 3,600 phases were seen
    assert found.method == "simulated"
    few = power(PAGING, scales=[8, 16, 32, 64], sd={8: 0.3}, claim_scale=1024, slope=0.38, runs=5)
    assert few.answers == {GrowthAnswer.TOO_FEW_SCALES: 1.0}
    with pytest.raises(BadInput, match="no standard deviation"):
        power(PAGING, scales=SCALES, sd={}, claim_scale=1024, slope=0.38)
