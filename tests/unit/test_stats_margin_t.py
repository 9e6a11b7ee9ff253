"""The margin rule by t: power, what is needed, and what is only reported."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome
from verifier.stats import difference
from verifier.stats import margin_t as by_t
from verifier.stats.critical import critical_t, power_at
from verifier.stats.eprocess import log_mixture_e
from verifier.stats.margin_answers import MarginAnswer
from verifier.stats.margin_design import DifferenceRule, Nulls, RatioRule
from verifier.stats.margin_reported import d33, prediction, reported, small_telescopes, tost

LOG_T = math.log(1e4)
SAMPLE = np.array([0.6, -0.4, 1.1, 0.3, 0.9])


def rule(*looks: int, **changes: object) -> DifferenceRule:
    settings = {"claimed": Fraction(4), "alleged": Fraction(0), "minimum_n": 15, **changes}
    return DifferenceRule(looks=looks, **settings)  # type: ignore[arg-type]  # a test's settings


def test_tost_as_published() -> None:
    found = tost(mean=SAMPLE.mean(), stderr=float(stats.sem(SAMPLE)), df=4, low=-2, high=2)
    assert found.p_high == pytest.approx(0.002325413181531477, rel=1e-12)
    assert found.p_low == pytest.approx(0.0003402144605877797, rel=1e-12)
    assert found.p == found.p_high


def test_tost_is_statsmodels() -> None:
    from statsmodels.stats.weightstats import DescrStatsW

    theirs = DescrStatsW(SAMPLE).ttost_mean(-0.5, 2.25)
    ours = tost(mean=SAMPLE.mean(), stderr=float(stats.sem(SAMPLE)), df=4, low=-0.5, high=2.25)
    assert (ours.p, ours.p_low, ours.p_high) == pytest.approx((theirs[0], theirs[1][1], theirs[2][1]), rel=1e-10)


@pytest.mark.parametrize("n", [3, 8, 20, 200])
def test_d33_is_the_effect_that_was_found_in_one_of_three(n: int) -> None:
    from statsmodels.stats.power import TTestPower

    assert TTestPower().power(d33(n), n, 0.05) == pytest.approx(1 / 3, abs=1e-8)


def test_small_telescopes_by_simulation() -> None:
    """The p-value is uniform where the effect is d33 exactly."""
    rng = np.random.default_rng(11)
    d = rng.normal(d33(20) * 2.0, 2.0, (600, 40))
    ps = [small_telescopes(mean=x.mean(), stderr=float(stats.sem(x)), df=39, n=40, original_n=20).p for x in d]
    assert stats.kstest(ps, "uniform").pvalue > 1e-4


def test_prediction_interval_covers_further_means() -> None:
    rng = np.random.default_rng(12)
    here, later = rng.normal(1, 2, (1200, 10)), rng.normal(1, 2, (1200, 30)).mean(axis=1)
    inside = 0
    for x, mean in zip(here, later, strict=True):
        found = prediction(mean=x.mean(), stderr=float(stats.sem(x)), df=9, n=10, further=30)
        inside += found.low <= mean <= found.high
    assert abs(inside / 1200 - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 1200)


def test_nothing_is_reported_without_an_error() -> None:
    assert reported(mean=1.0, stderr=0.0, df=4, n=5, null=0.0, margin=1.0, original_n=None) is None
    found = reported(mean=1.0, stderr=0.5, df=4, n=5, null=0.0, margin=1.0, original_n=None)
    assert found is not None
    assert found.small_telescopes is None
    assert found.prediction is not None
    assert found.prediction.n == 5


@pytest.mark.parametrize(("discordance", "items"), [(0.05, 1193), (0.1, 2468), (0.2, 5074)])
def test_items_needed_for_four_points(discordance: float, items: int) -> None:
    sd = math.sqrt(discordance - 0.04**2)
    full, _ = by_t.demands(Nulls(0.0, 0.02, 0.04), sd=sd, threshold=1e4)
    assert by_t.needed_n([full], discount=1.0, minimum=6) == items


def test_needed_is_the_larger_of_both_thresholds() -> None:
    assert difference.needed(rule(60), sd=3.0) == {"replicates": 47}
    full, middle = by_t.demands(Nulls(0.0, 2.0, 4.0), sd=3.0, threshold=1e4)
    assert by_t.needed_n([full], discount=1.0, minimum=6) == 30
    assert by_t.needed_n([middle], discount=1.0, minimum=6) == 47
    assert power_at(2 / 3, 47, log_threshold=math.log(20)) >= 0.9 > power_at(2 / 3, 46, log_threshold=math.log(20))
    assert difference.needed(rule(60), sd=0.001) == {"replicates": 15}  # the registered minimum
    assert difference.needed(rule(60), sd=1e9) == {}
    assert difference.needed(rule(60), 3.0, sd=3.0)["replicates"] > 47  # a claim that holds with less
    assert difference.needed(rule(60), sd=3.0, discount=0.1)["replicates"] > 47


@pytest.mark.parametrize("truth", [4.0, 0.0])
def test_what_is_needed_decides_nine_times_in_ten(truth: float) -> None:
    n = difference.needed(rule(60), sd=3.0)["replicates"]
    right = Outcome.AGAINST_DISPUTE if truth else Outcome.FOR_DISPUTE
    assert difference.power(rule(n), truth, sd=3.0).outcomes[right] >= 0.9
    assert difference.power(rule(n - 5), truth, sd=3.0).outcomes[right] < 0.9


@pytest.mark.parametrize(
    ("n", "truth", "sd", "noise"),
    [(60, 1.0, 3.0, "paired"), (20, 2.0, 3.0, "pooled"), (24, 4.0, 3.4, "paired"), (30, -1.0, 5.0, "pooled")],
)
def test_power_at_one_look_agrees_with_simulation(n: int, truth: float, sd: float, noise: str) -> None:
    design = rule(n, noise=noise)
    exact = difference.power(design, truth, sd=sd, discount=0.6)
    runs = 40_000
    seen = difference.simulated_power(design, truth, sd=sd, discount=0.6, runs=runs, seed=3)
    assert (exact.method, seen.method) == ("noncentral t", "simulated")
    assert sum(exact.answers.values()) == pytest.approx(1, abs=1e-9)
    for answer in MarginAnswer:
        p, q = exact.answers.get(answer, 0.0), seen.answers.get(answer, 0.0)
        assert abs(p - q) <= 4.5 * math.sqrt(p * (1 - p) / runs) + 1e-4, answer


def test_one_threshold_alone_is_the_noncentral_t() -> None:
    """Far above a, F ≥ T decides whether ABOVE_ALLEGED or nothing is said."""
    design = rule(20, alleged=Fraction(-100), claimed=Fraction(0))
    chances = difference.power(design, 0.0, sd=55.0).answers
    reached = sum(
        chances.get(a, 0) for a in (MarginAnswer.ABOVE_ALLEGED, MarginAnswer.NOT_AS_ALLEGED, MarginAnswer.BETWEEN)
    )
    assert reached == pytest.approx(power_at(100 / 55, 20, log_threshold=LOG_T), abs=1e-6)


@pytest.mark.parametrize("looks", [(5,), (2, 3, 7), (4, 20)])
def test_drawn_moments_are_those_of_normal_data(looks: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    means, squares = by_t.normal_moments(rng, looks, mean=1.5, sd=2.0, runs=4000)
    values = rng.normal(1.5, 2.0, (4000, looks[-1]))
    for index, n in enumerate(looks):
        first = values[:, :n]
        direct = np.square(first - first.mean(axis=1, keepdims=True)).sum(axis=1)
        assert stats.ks_2samp(means[:, index], first.mean(axis=1)).pvalue > 1e-4
        assert stats.ks_2samp(squares[:, index], direct).pvalue > 1e-4
    if len(looks) > 1:
        n = looks[-2]
        theirs = np.corrcoef(means[:, -1], means[:, -2])[0, 1]
        assert theirs == pytest.approx(math.sqrt(n / looks[-1]), abs=0.06)


def test_the_interval_is_what_the_two_sided_mixture_does_not_hold_against() -> None:
    path = difference.block_estimate(np.ones(1), SAMPLE[None, :], [5])
    effect = by_t.effect_of(path)
    assert effect.interval is not None
    for end in effect.interval:
        log_e = log_mixture_e(path.t(end), df=path.df, n=path.n, two_sided=True)
        assert float(log_e[0]) == pytest.approx(math.log(20), abs=1e-9)
    assert effect.sd == pytest.approx(SAMPLE.std(ddof=1))


def test_a_design_adequate_up_to_a_sd_is_so_up_to_it() -> None:
    nulls = Nulls(0.0, 2.0, 4.0)
    limit = by_t.adequate_up_to(nulls, n=60, threshold=1e4, discount=1.0)
    for ratio, enough in ((0.999, True), (1.001, False)):
        upper = limit * ratio * math.sqrt(59 / stats.chi2.ppf(0.2, 59))
        assert by_t.could_decide(by_t.demands(nulls, sd=upper, threshold=1e4), n=60, discount=1.0) is enough
    assert by_t.adequate_up_to(nulls, n=3, threshold=1e4, discount=1.0) == 0.0
    assert critical_t(3, log_threshold=LOG_T) == math.inf


def test_a_spread_must_be_a_positive_number() -> None:
    for sd in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(BadInput, match="not a number above zero"):
            difference.power(rule(20), 1.0, sd=sd)


@pytest.mark.parametrize(
    "changes", [{"alleged": Fraction(4)}, {"looks": ()}, {"looks": (20, 20)}, {"bounds": (Fraction(1), Fraction(1))}]
)
def test_a_rule_that_makes_no_sense_is_refused(changes: dict[str, object]) -> None:
    settings: dict[str, Any] = {"claimed": Fraction(4), "alleged": Fraction(0), "minimum_n": 15, "looks": (20,)}
    assert DifferenceRule(**settings)
    with pytest.raises(BadInput):
        DifferenceRule(**{**settings, **changes})


def test_a_ratio_reads_as_a_ratio() -> None:
    ratio = RatioRule(claimed=Fraction(8), delta=Fraction(5, 4), alleged=Fraction(1, 2), looks=(12,), minimum_n=12)
    a, m, c = (math.exp(null) for null in ratio.nulls)
    assert (a, c) == pytest.approx((0.5, 6.4))
    assert m == pytest.approx(math.sqrt(0.5 * 6.4))
    assert ratio.shown(math.log(6.4)) == "6.4"
    assert ratio.shown(1e4) == "inf"


def test_hardly_any_noise_is_no_reason_to_be_inadequate() -> None:
    assert difference.needed(rule(60), sd=1e-15) == {"replicates": 15}
    assert by_t.could_decide(by_t.demands(Nulls(0.0, 2.0, 4.0), sd=1e-15, threshold=1e4), n=10**6, discount=1.0)
    assert difference.power(rule(60), 5.0, sd=1e-12).outcomes == {Outcome.AGAINST_DISPUTE: pytest.approx(1)}


@pytest.mark.parametrize("sd", [1e-6, 1e-12, 1e-30])
@pytest.mark.parametrize("looks", [(30,), (30, 40)])
def test_both_sides_are_decided_alike_however_small_the_noise(sd: float, looks: tuple[int, ...]) -> None:
    rule = DifferenceRule(claimed=Fraction(4), alleged=Fraction(0), looks=looks, minimum_n=30)
    claim, dispute = (
        difference.power(rule, truth, sd=sd, runs=1000).outcomes[right]
        for truth, right in ((4.0, Outcome.AGAINST_DISPUTE), (0.0, Outcome.FOR_DISPUTE))
    )
    assert claim == pytest.approx(dispute, abs=1e-9 if len(looks) == 1 else 0.02)
    assert min(claim, dispute) > 0.97


def test_what_is_reported_decides_nothing_and_knows_the_papers_n() -> None:
    d = 0.4 + 3 * np.random.default_rng(5).standard_normal(20)
    plain, asked = (difference.evaluate(rule(20, original_n=n), d, discount=1.0, last=True) for n in (None, 8))
    assert (plain.answer, plain.summary) == (asked.answer, asked.summary)
    assert plain.statistics.reported["beside"].small_telescopes is None
    beside = asked.statistics.reported["beside"]
    assert beside.small_telescopes.original_n == beside.prediction.n == 8
    t = stats.ttest_1samp(d, 0).statistic
    assert beside.small_telescopes.p == pytest.approx(stats.nct.cdf(t, 19, d33(8) * math.sqrt(20)), abs=1e-9)


def test_the_rules_on_means_load_nothing_heavy() -> None:
    script = "import sys\nfrom verifier.stats import difference, margin_batch, ratio\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"scipy.stats", "statsmodels", "pandas", "pydantic", "matplotlib"} & set(done.stdout.split())
