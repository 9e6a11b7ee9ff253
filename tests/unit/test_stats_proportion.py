"""The proportion rule: integrals, exact crossing probabilities, published intervals, power against simulated runs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from statsmodels.stats.proportion import proportion_confint

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome
from verifier.stats.bounded_design import ProportionRule
from verifier.stats.margin_answers import MarginAnswer
from verifier.stats.margin_batch import run_margin_batch
from verifier.stats.proportion import (
    LARGEST_LOG,
    adequacy,
    clopper_pearson,
    evaluate,
    log_binomial,
    log_e_above,
    log_e_below,
    needed,
    power,
    proportion_evidence,
    proportion_interval,
)

RULE = ProportionRule(claimed=Fraction(9, 10), alleged=Fraction(1, 2), looks=(20, 40, 60), minimum_n=10)
WIDE = ProportionRule(claimed=Fraction(9, 10), alleged=Fraction(1, 2), looks=(60, 120, 180), minimum_n=10)


def test_clopper_pearson_as_published() -> None:
    assert clopper_pearson(7, 20) == pytest.approx((0.1539092047845411, 0.5921885345328282), rel=1e-12)
    assert clopper_pearson(0, 10) == pytest.approx((0, 0.3084971078187608), rel=1e-12)


@settings(deadline=None)
@given(st.integers(1, 400), st.integers(0, 400))
def test_clopper_pearson_is_that_of_statsmodels(n: int, s: int) -> None:
    s = min(s, n)
    assert clopper_pearson(s, n) == pytest.approx(proportion_confint(s, n, method="beta"), abs=1e-10)


@pytest.mark.parametrize(
    ("s", "n", "null"), [(3, 10, 0.2), (7, 10, 0.2), (0, 10, 0.9), (10, 10, 0.9), (40, 90, 0.5), (5, 3000, 0.9)]
)
def test_evidence_is_the_integral(s: int, n: int, null: float) -> None:
    def ratio(p: float) -> float:
        return math.exp(s * math.log(p / null) + (n - s) * (math.log1p(-p) - math.log1p(-null))) if p < 1 else 0.0

    top = 1.0 if n < 100 else min(1.0, null + 0.05)  # far below the null it is over within a hair of it
    if s == n:
        integral = (1 - null ** (n + 1)) / ((n + 1) * null**n)
    else:
        integral = integrate.quad(ratio, null, top, epsabs=0, limit=500)[0]
    assert math.exp(log_e_above(s, n, null=null)) == pytest.approx(integral / (1 - null), rel=1e-9)


def test_far_evidence_joins_the_near_one() -> None:
    """Where the tail underflows the continued fraction takes over: no step, and no zero."""
    s = np.arange(0, 1200)
    logs = log_e_above(s, 2000, null=0.7)
    assert np.isfinite(logs).all()
    assert np.all(np.diff(logs) > 0)
    assert np.all(np.diff(logs, 2) > 0)  # convex in s: a joint would show


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.floats(0.01, 0.98), st.floats(0.001, 0.01))
def test_nested_nulls_give_nested_evidence(s: int, f: int, null: float, more: float) -> None:
    n = s + f
    assert float(log_e_above(s, n, null=null)) >= float(log_e_above(s, n, null=null + more)) - 1e-9
    assert float(log_e_below(s, n, null=null)) == pytest.approx(float(log_e_above(f, n, null=1 - null)), abs=1e-9)


@pytest.mark.parametrize("null", [0.05, 0.5, 0.9])
def test_exact_crossing_probability_with_a_look_at_every_trial(null: float) -> None:
    """P(E ever reaches 1000 within 400 trials) at p = null, by following every count."""
    bar = math.log(1e3)
    alive, crossed = np.array([1.0]), 0.0
    for n in range(1, 401):
        alive = np.append(alive * (1 - null), 0) + np.append(0, alive * null)
        over = log_e_above(np.arange(n + 1), n, null=null) >= bar
        crossed += float(alive[over].sum())
        alive[over] = 0
    assert 0 < crossed <= 1e-3


def test_one_success_is_a_witness_against_never() -> None:
    rule = ProportionRule(claimed=Fraction(1, 10), alleged=Fraction(0), looks=(10, 50, 200), minimum_n=1)
    seen = evaluate(rule, [0] * 40 + [1] + [0] * 9, discount=1.0, last=True)
    assert float(log_e_above(1, 50, null=0.0)) == LARGEST_LOG
    assert seen.statistics.e_above_alleged is not None
    assert seen.statistics.e_above_alleged.sup > 1e300
    assert seen.answer is MarginAnswer.NOT_AS_ALLEGED
    assert evaluate(rule, [0] * 200, discount=1.0, last=True).answer is MarginAnswer.BELOW_CLAIM
    assert float(log_e_above(0, 100, null=0.0)) == pytest.approx(-math.log(101))


def test_decides_either_way_and_stops() -> None:
    high = evaluate(WIDE, [1] * 54 + [0] * 6, discount=1.0, last=False)
    low = evaluate(WIDE, [1, 0] * 30, discount=1.0, last=False)
    assert (high.answer, high.outcome, high.stops) == (MarginAnswer.ABOVE_ALLEGED, Outcome.AGAINST_DISPUTE, True)
    assert (low.answer, low.outcome, low.stops) == (MarginAnswer.BELOW_CLAIM, Outcome.FOR_DISPUTE, True)
    assert high.statistics.reported == {"successes": 54, "clopper_pearson": clopper_pearson(54, 60)}
    assert "60 of 180 trials" in high.summary


def test_two_thirds_is_between() -> None:
    values = [1, 1, 0] * 400
    rule = ProportionRule(claimed=Fraction(9, 10), alleged=Fraction(1, 2), looks=(1200,), minimum_n=10)
    assert evaluate(rule, values, discount=1.0, last=True).answer is MarginAnswer.BETWEEN


def test_too_few_says_how_many() -> None:
    seen = evaluate(RULE, [1, 0, 1], discount=1.0, last=True)
    assert seen.answer is MarginAnswer.TOO_FEW
    assert "111 trials would decide" in seen.summary
    assert evaluate(RULE, [], discount=1.0, last=True).answer is MarginAnswer.MALFORMED


def test_discount_withholds() -> None:
    values = [1] * 34 + [0] * 6
    assert evaluate(RULE, values, discount=1.0, last=False).outcome is Outcome.AGAINST_DISPUTE
    assert evaluate(RULE, values, discount=1e-3, last=False).outcome is not Outcome.AGAINST_DISPUTE


@settings(deadline=None, max_examples=30)
@given(st.permutations([1] * 13 + [0] * 7))
def test_order_within_the_first_look_changes_nothing(values: list[int]) -> None:
    assert evaluate(RULE, values, discount=1.0, last=True) == evaluate(RULE, sorted(values), discount=1.0, last=True)


@pytest.mark.parametrize(("s", "n"), [(0, 12), (7, 20), (30, 30)])
def test_anytime_interval_ends_where_the_evidence_reaches_forty(s: int, n: int) -> None:
    low, high = proportion_interval(s, n)
    fixed = clopper_pearson(s, n)
    assert low <= fixed[0] <= fixed[1] <= high
    if low:
        assert float(log_e_above(s, n, null=low)) >= math.log(40) - 1e-12 > float(log_e_above(s, n, null=low + 1e-9))
    if high < 1:
        assert float(log_e_below(s, n, null=high)) >= math.log(40) - 1e-12 > float(log_e_below(s, n, null=high - 1e-9))


@pytest.mark.parametrize("effect", [0.5, 0.7, 0.9, 1.0])
def test_power_is_what_simulated_runs_do(effect: float) -> None:
    exact = power(RULE, effect)
    runs = 20_000
    draws = np.random.default_rng(5).binomial(20, effect, (runs, 3)).cumsum(axis=1)
    evidence = proportion_evidence(RULE, draws, np.array(RULE.looks))
    enough = np.full(runs, adequacy(RULE, discount=1.0).adequate)
    seen = run_margin_batch(RULE, evidence, adequate=enough)
    shares = seen.shares()
    assert sum(exact.answers.values()) == pytest.approx(1, abs=1e-12)
    for answer in MarginAnswer:
        p = exact.answers.get(answer, 0.0)
        assert abs(shares.get(answer, 0.0) - p) <= 5 * math.sqrt(p * (1 - p) / runs) + 1e-4
    assert exact.mean_n == pytest.approx(float(seen.n.mean()), rel=0.01)


def test_needed_is_least_by_binomial_tails() -> None:
    """One look at n, the counts that decide found one by one, their probability from scipy.stats."""

    def chances(n: int) -> tuple[float, float]:
        s = np.arange(n + 1)
        e = proportion_evidence(RULE, s, n)
        big, small = math.log(1e4), math.log(20)
        against = (e.above_alleged >= big) & (e.above_middle >= small) & (e.below_claim < small)
        favour = (e.below_claim >= big) & (e.below_middle >= small) & (e.above_alleged < small)
        return stats.binom.pmf(s, n, 0.9)[against].sum(), stats.binom.pmf(s, n, 0.5)[favour].sum()

    n = needed(RULE)
    assert n == next(k for k in range(10, 200) if min(chances(k)) >= 0.9)
    assert adequacy(RULE, discount=1.0).adequate is False
    assert adequacy(WIDE, discount=1.0).adequate is True


def test_needed_with_a_small_margin_and_discount() -> None:
    close = ProportionRule(claimed=Fraction(52, 100), alleged=Fraction(1, 2), looks=(80_000,), minimum_n=10)
    n = needed(close)
    assert n is not None
    assert 50_000 < n < 80_000
    later = needed(close, discount=0.01)
    assert later is not None
    assert later > n
    hopeless = ProportionRule(claimed=Fraction(1, 2), alleged=Fraction(4999999, 10**7), looks=(50,), minimum_n=10)
    assert needed(hopeless) is None


@settings(deadline=None)
@given(st.integers(1, 500), st.sampled_from([0.0, 1.0]) | st.floats(1e-9, 1 - 1e-9))
def test_binomial_probabilities(n: int, p: float) -> None:
    s = np.arange(n + 1.0)
    assert np.exp(log_binomial(s, n, p)) == pytest.approx(stats.binom.pmf(s, n, p), rel=1e-8, abs=1e-280)


@pytest.mark.parametrize("bad", [[0.5, 1], [2], [math.nan], ["1"], [[0, 1]]])
def test_outcomes_that_are_none(bad: list[object]) -> None:
    with pytest.raises(BadInput, match="success"):
        evaluate(RULE, bad, discount=1.0, last=True)  # type: ignore[arg-type]  # the point


def test_shares_out_of_order_or_range() -> None:
    for claimed, alleged in ((Fraction(1, 2), Fraction(1, 2)), (Fraction(3, 2), Fraction(1, 2))):
        with pytest.raises(BadInput, match="no shares in order"):
            ProportionRule(claimed=claimed, alleged=alleged, looks=(10,), minimum_n=1)
    for effect in (-0.1, 1.1):
        with pytest.raises(BadInput, match="no probability"):
            power(RULE, effect)
    with pytest.raises(BadInput, match="no proportion"):
        clopper_pearson(3, 2)
    with pytest.raises(BadInput, match="not at a registered look"):
        evaluate(RULE, [1] * 21, discount=1.0, last=True)
