"""The rule `ratio`: geometric and of means, its answers at known truths, and what changes no E."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome, Reason
from verifier.stats import margin_t as by_t
from verifier.stats import ratio
from verifier.stats.eprocess import log_mixture_e
from verifier.stats.margin_batch import run_margin_batch
from verifier.stats.margin_design import RatioRule
from verifier.stats.margin_rule import MarginAnswer
from verifier.stats.margin_statistics import MarginFinding
from verifier.stats.noise import block_estimate

Floats = npt.NDArray[np.float64]
E_FIELDS = ("e_below_claim", "e_above_alleged", "e_below_middle", "e_above_middle")
ESTIMANDS = ("geometric", "ratio-of-means")


def rule(**changes: Any) -> RatioRule:
    """Eight times claimed, half as much alleged, one look at twelve launches."""
    usual: dict[str, Any] = {
        "claimed": Fraction(8),
        "delta": Fraction(5, 4),
        "alleged": Fraction(1, 2),
        "looks": (12,),
        "minimum_n": 12,
    }
    return RatioRule(**{**usual, **changes})


def find(design: RatioRule, left: Any, right: Any, **more: Any) -> MarginFinding:
    return ratio.evaluate(design, left, right, **{"discount": 1.0, "last": True, **more})


def log_es(finding: MarginFinding) -> list[float]:
    return [math.log(getattr(finding.statistics, name).sup) for name in E_FIELDS]


def launches(truth: float, size: Any, *, seed: int = 0, noise: float = 0.1) -> Floats:
    """Both arms, stacked first, with that noise per launch and arm."""
    rng = np.random.default_rng(seed)
    return np.stack([truth * (1 + noise * rng.standard_normal(size)), 1 + noise * rng.standard_normal(size)])


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize(("truth", "right"), [(8.0, Outcome.AGAINST_DISPUTE), (0.5, Outcome.FOR_DISPUTE)])
def test_twelve_launches_decide_eight_times(truth: float, right: Outcome, estimand: str) -> None:
    design = rule(estimand=estimand)
    left, r = launches(truth, (1000, 12), seed=20260612)
    contrast = ratio.ratio_contrast(design, left, r, design.looks)
    batch = run_margin_batch(design, by_t.t_evidence(contrast), adequate=np.ones(1000, bool))
    share = sum(answer.outcome is right for answer in batch.answers) / 1000
    assert share >= 0.95
    assert all(answer.outcome is right or answer.outcome is Outcome.UNDECIDED for answer in batch.answers)
    said = ratio.power(design, truth, noise=0.1).outcomes[right]
    assert abs(share - said) <= 4.5 * math.sqrt(said * (1 - said) / 1000) + 0.005
    for run in range(25):
        assert find(design, left[run], r[run]).answer is batch.answers[run]


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_between_the_two_neither_side_wins(estimand: str) -> None:
    design = rule(estimand=estimand)
    for truth in (1.0, 2.0, 4.0):
        assert ratio.power(design, truth, noise=0.1).outcomes[Outcome.UNDECIDED] > 0.999
    finding = find(design, *launches(3.0, 12))
    assert finding.answer is MarginAnswer.BETWEEN
    assert "real, but smaller than claimed" in finding.summary
    assert "claimed 6.4" in finding.summary
    assert "alleged 0.5" in finding.summary


def test_geometric_is_the_t_test_of_logarithms() -> None:
    left, right = launches(5.0, 12)
    finding = find(rule(), left, right)
    z = np.log(left / right)
    for name, null, side in (
        ("e_below_claim", math.log(6.4), -1),
        ("e_above_alleged", math.log(0.5), 1),
        ("e_above_middle", math.log(math.sqrt(3.2)), 1),
    ):
        t = side * stats.ttest_1samp(z, null).statistic
        assert math.log(getattr(finding.statistics, name).current) == pytest.approx(
            float(log_mixture_e(t, df=11, n=12)), abs=1e-8
        )
    assert finding.statistics.effect is not None
    assert finding.statistics.effect.estimate == pytest.approx(z.mean())
    assert finding.statistics.reported["beside"].tost.high == pytest.approx(math.log(6.4))


def test_ratio_of_means_is_fieller() -> None:
    left, right = launches(5.0, 12)
    design = rule(estimand="ratio-of-means")
    finding = find(design, left, right)
    t = -stats.ttest_1samp(left - 6.4 * right, 0).statistic
    assert finding.statistics.e_below_claim is not None
    assert math.log(finding.statistics.e_below_claim.current) == pytest.approx(
        float(log_mixture_e(t, df=11, n=12)), abs=1e-8
    )
    effect = finding.statistics.effect
    assert effect is not None
    assert effect.interval is not None
    assert effect.estimate == pytest.approx(math.log(left.mean() / right.mean()))
    for end in effect.interval:
        path = block_estimate(np.ones(1), (left - math.exp(end) * right)[None, :], [12])
        log_e = log_mixture_e(path.t(0.0), df=path.df, n=path.n, two_sided=True)
        assert float(log_e[0]) == pytest.approx(math.log(20), abs=1e-7)
    # the delta method's error, by hand
    cov = np.cov(left, right) / 12
    gradient = np.array([1 / left.mean(), -1 / right.mean()])
    assert effect.stderr == pytest.approx(math.sqrt(gradient @ cov @ gradient))


def test_fiellers_set_may_be_no_interval() -> None:
    rng = np.random.default_rng(3)
    right = rng.normal(0.0, 1.0, 12)
    right += 0.3 - right.mean()  # above zero, but not by its error
    finding = find(rule(estimand="ratio-of-means"), rng.normal(5, 0.1, 12), right)
    assert finding.statistics.effect is not None
    assert finding.statistics.effect.interval is None


def test_the_two_estimands_differ_where_noise_is_skew() -> None:
    """A launch in ten takes a hundred times as long: the ratio of means is about 11, of typical launches about 1.6."""
    rng = np.random.default_rng(4)
    left = np.where(rng.random(400) < 0.1, 100.0, 1.0) * rng.lognormal(0, 0.05, 400)
    right = rng.lognormal(0, 0.05, 400)
    designs = [rule(looks=(400,), estimand=estimand) for estimand in ESTIMANDS]
    geometric, means = (find(design, left, right).statistics.effect for design in designs)
    assert geometric is not None
    assert means is not None
    assert math.exp(geometric.estimate) < 2.5
    assert math.exp(means.estimate) > 6


def test_too_few_launches_say_how_many_would_do() -> None:
    finding = find(rule(), *launches(8.0, 5))
    assert finding.answer is MarginAnswer.TOO_FEW
    assert finding.adequacy.needed == {"launches": 12}
    noisy = find(rule(), *launches(8.0, 12, noise=0.3))
    assert "launches" in noisy.adequacy.needed
    flags = finding.flags
    assert flags[0] == "few: it may decide from 12 launches, fewer than 30"
    assert flags[1].startswith("blind to failures rarer than 1/n")


def test_what_is_malformed() -> None:
    left, right = launches(8.0, 12)
    bad = right.copy()
    bad[3] = 0.0
    assert "launch 4 has a value that is not above zero" in find(rule(), left, bad).summary
    assert find(rule(estimand="ratio-of-means"), left, bad).reason is not Reason.MALFORMED
    assert find(rule(estimand="ratio-of-means"), left, -right).reason is Reason.MALFORMED
    for estimand in ESTIMANDS:
        assert find(rule(estimand=estimand), np.empty(0), np.empty(0)).reason is Reason.MALFORMED
        equal = find(rule(estimand=estimand), 3 * right, right)
        if estimand == "geometric":
            assert "all 12 ratios are equal" in equal.summary
        assert find(rule(estimand=estimand), np.full(12, 3.0), np.ones(12)).reason is Reason.MALFORMED
    bounded = rule(bounds=(Fraction(0), Fraction(9)), minimum_n=12)
    assert "outside the registered bounds" in find(bounded, left + 5, right).summary
    with pytest.raises(BadInput, match="no items"):
        find(rule(), np.ones((12, 2)), np.ones((12, 2)))
    with pytest.raises(BadInput, match="are not pairs"):
        find(rule(), left, right[:11])


def test_unpaired_launches_go_by_their_order() -> None:
    left, right = launches(8.0, 15)
    finding = find(rule(noise="unpaired"), left, right[:12])
    assert finding.statistics.reported["excess_rows"] == {"left": 3, "right": 0}
    assert log_es(finding) == log_es(find(rule(), left[:12], right[:12]))


def test_lower_is_better_turns_the_arms_round() -> None:
    left, right = launches(8.0, 12)
    assert log_es(find(rule(better="lower"), right, left)) == log_es(find(rule(), left, right))


# --- power


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize("truth", ["claimed", "alleged"])
def test_what_is_needed_decides_nine_times_in_ten(estimand: str, truth: str) -> None:
    design = rule(estimand=estimand, claimed=Fraction(2), delta=Fraction(11, 10), alleged=Fraction(1), minimum_n=6)
    n = ratio.needed(design, noise=0.3)["launches"]
    right = Outcome.AGAINST_DISPUTE if truth == "claimed" else Outcome.FOR_DISPUTE
    chance = {
        m: ratio.power(dataclasses.replace(design, looks=(m,)), float(getattr(design, truth)), noise=0.3).outcomes[
            right
        ]
        for m in (n, n - 4)
    }
    assert chance[n] >= 0.89  # each threshold alone has 90 %
    if truth == "alleged":
        assert chance[n - 4] < 0.9
    assert ratio.needed(design, 1.9, noise=0.3)["launches"] >= n
    assert ratio.needed(design, noise=1e9) == {}


@pytest.mark.slow
@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_power_with_several_looks_agrees_with_whole_runs(estimand: str) -> None:
    design = rule(
        estimand=estimand, claimed=Fraction(2), delta=Fraction(11, 10), alleged=Fraction(1), looks=(12, 20, 30)
    )
    rng = np.random.default_rng(6)
    runs, truth, noise = 200, 1.7, 0.25
    answers = []
    for _ in range(runs):
        if estimand == "geometric":
            left, right = truth * np.exp(noise * rng.standard_normal(30)), np.exp(noise * rng.standard_normal(30))
        else:
            left, right = truth * (1 + noise * rng.standard_normal(30)), 1 + noise * rng.standard_normal(30)
        for look in design.looks:
            finding = find(design, left[:look], right[:look], last=look == 30)
            if finding.stops:
                break
        answers.append(finding.answer)
    said = ratio.power(design, truth, noise=noise, runs=20_000)
    assert said.method == "simulated"
    assert len(said.answers) > 3
    for answer in MarginAnswer:
        p = said.answers.get(answer, 0.0)
        assert abs(answers.count(answer) / runs - p) <= 4.5 * math.sqrt(p * (1 - p) / runs) + 0.01, answer


def test_power_asks_for_sensible_numbers() -> None:
    for effect, noise in ((0.0, 0.1), (-1.0, 0.1), (8.0, 0.0), (8.0, math.nan)):
        with pytest.raises(BadInput, match="above zero"):
            ratio.power(rule(), effect, noise=noise)


# --- what changes no E

POSITIVE = st.lists(st.integers(1, 400), min_size=20, max_size=20).filter(lambda x: len(set(x)) > 3)
SCALES = st.sampled_from([Fraction(1, 1000), Fraction(1, 7), Fraction(3), Fraction(10**6)])


def same(first: MarginFinding, second: MarginFinding) -> None:
    assert first.answer == second.answer
    if first.answer is not MarginAnswer.MALFORMED:
        assert log_es(first) == pytest.approx(log_es(second), abs=1e-6)


@given(POSITIVE, POSITIVE, SCALES, st.sampled_from(ESTIMANDS))
@settings(max_examples=25, deadline=None)
def test_another_unit_of_time_changes_no_e(left: list[int], right: list[int], unit: Fraction, estimand: str) -> None:
    x, y = np.array(left, float), np.array(right, float)
    design = rule(estimand=estimand, looks=(15, 20))
    same(find(design, x, y), find(design, x * float(unit), y * float(unit)))


@given(POSITIVE, POSITIVE, SCALES, st.sampled_from(ESTIMANDS))
@settings(max_examples=25, deadline=None)
def test_a_factor_on_one_arm_and_the_nulls_changes_no_e(
    left: list[int], right: list[int], unit: Fraction, estimand: str
) -> None:
    x, y = np.array(left, float), np.array(right, float)
    design = rule(estimand=estimand, looks=(15, 20))
    other = dataclasses.replace(design, claimed=8 * unit, alleged=unit / 2)
    same(find(design, x, y), find(other, x * float(unit), y))


@given(POSITIVE, POSITIVE, st.randoms(use_true_random=False), st.sampled_from(ESTIMANDS))
@settings(max_examples=25, deadline=None)
def test_the_order_of_pairs_within_one_look_changes_no_e(
    left: list[int], right: list[int], random: Any, estimand: str
) -> None:
    x, y = np.array(left, float), np.array(right, float)
    order = list(range(20))
    random.shuffle(order)
    design = rule(estimand=estimand, looks=(20,))
    same(find(design, x, y), find(design, x[order], y[order]))


@given(POSITIVE, POSITIVE)
@settings(max_examples=30, deadline=None)
def test_the_claim_turned_upside_down_is_the_dispute(left: list[int], right: list[int]) -> None:
    """Geometric: with arms exchanged and nulls inverted, evidence below c is evidence above a."""
    x, y = np.array(left, float), np.array(right, float)
    design = rule(looks=(20,))
    mirrored = dataclasses.replace(design, claimed=Fraction(5, 2), alleged=Fraction(5, 32))  # c' = 2, a' = 1/6.4
    first, second = find(design, x, y), find(mirrored, y, x)
    if first.answer is not MarginAnswer.MALFORMED:
        below_c, above_a, below_m, above_m = log_es(first)
        assert log_es(second) == pytest.approx([above_a, below_c, above_m, below_m], abs=1e-6)
