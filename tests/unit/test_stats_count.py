"""The count rule: exact likelihood ratios over a finite list, exact crossing probabilities, certainty at its end."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome
from verifier.stats.bounded_design import CountRule
from verifier.stats.count import (
    adequacy,
    count_evidence,
    count_interval,
    evaluate,
    log_e_fewer,
    log_e_more,
    needed,
    power,
)
from verifier.stats.margin_answers import MarginAnswer
from verifier.stats.margin_batch import run_margin_batch
from verifier.stats.margin_rule import MarginEvidence
from verifier.stats.proportion import LARGEST_LOG

RULE = CountRule(claimed=Fraction(9, 10), alleged=Fraction(1, 2), looks=(40, 80, 160), minimum_n=10, size=300)


def chance_of_order(size: int, have: int, found: int, missed: int) -> Fraction:
    """The probability of one particular order of found and missed things, up to a factor without `have`."""
    hits, rest = range(have, have - found, -1), range(size - have, size - have - missed, -1)
    return Fraction(math.prod(hits) * math.prod(rest)) if have >= found and size - have >= missed else Fraction(0)


@pytest.mark.parametrize("size", [1, 2, 7, 12])
def test_evidence_is_the_average_likelihood_ratio(size: int) -> None:
    for read in range(size + 1):
        for null in range(size):
            logs = log_e_more(size, null=null, found=np.arange(read + 1), read=read)
            for found in range(read + 1):
                top = sum(chance_of_order(size, k, found, read - found) for k in range(null + 1, size + 1))
                bottom = chance_of_order(size, null, found, read - found) * (size - null)
                if top == 0:
                    assert logs[found] == -math.inf
                elif bottom == 0:
                    assert logs[found] == LARGEST_LOG
                else:
                    assert math.exp(logs[found]) == pytest.approx(float(top / bottom), rel=1e-12)


@settings(deadline=None)
@given(st.integers(1, 60), st.data())
def test_mirrored(size: int, data: st.DataObject) -> None:
    read, null = data.draw(st.integers(0, size)), data.draw(st.integers(0, size))
    found = np.arange(read + 1)
    fewer = log_e_fewer(size, null=null, found=found, read=read)
    assert np.array_equal(fewer, log_e_more(size, null=size - null, found=found, read=read)[::-1])


@pytest.mark.parametrize(
    ("size", "read", "null"), [(20_000, 9_000, 9_900), (20_000, 300, 19_990), (5_000, 4_990, 2_500)]
)
def test_a_window_of_counts_is_all_that_matters(size: int, read: int, null: int) -> None:
    """Each number found alone, from its own window, against all of them at once, from nought."""
    every = log_e_more(size, null=null, found=np.arange(read + 1), read=read)
    for found in {0, 1, read // 3, read * null // size, min(read, read * null // size + 40), read - 1, read}:
        alone = float(log_e_more(size, null=null, found=found, read=read))
        assert alone == pytest.approx(every[found], rel=1e-9, abs=1e-7)


@pytest.mark.parametrize(("null", "have"), [(30, 30), (30, 25), (54, 54), (3, 3), (59, 59)])
def test_exact_crossing_probability_with_a_look_at_every_thing(null: int, have: int) -> None:
    """P(E ever reaches 1000 before the list ends) for a list of 60 of which no more than `null` count."""
    size, bar = 60, math.log(1e3)
    alive, crossed = np.array([1.0]), 0.0
    for read in range(1, size + 1):
        found = np.arange(read)
        p = np.clip((have - found) / (size - read + 1), 0, 1)
        alive = np.append(alive * (1 - p), 0) + np.append(0, alive * p)
        over = log_e_more(size, null=null, found=np.arange(read + 1), read=read) >= bar
        crossed += float(alive[over].sum())
        alive[over] = 0
    assert crossed <= 1e-3


@pytest.mark.parametrize(
    ("found", "answer"),
    [
        (150, MarginAnswer.BELOW_CLAIM),
        (0, MarginAnswer.BELOW_CLAIM),
        (151, MarginAnswer.BETWEEN),
        (269, MarginAnswer.BETWEEN),
        (270, MarginAnswer.ABOVE_ALLEGED),
        (300, MarginAnswer.ABOVE_ALLEGED),
    ],
)
def test_the_whole_list_is_exact(found: int, answer: MarginAnswer) -> None:
    seen = evaluate(RULE, [1] * found + [0] * (300 - found), discount=1e-9, last=False)
    assert seen.answer is answer
    assert seen.stops
    assert seen.statistics.reported == {"found": found, "size": 300, "exact": True}
    assert count_interval(300, found=found, read=300) == (found, found)


def test_a_short_list_read_in_whole_is_certain_too() -> None:
    rule = CountRule(claimed=Fraction(1), alleged=Fraction(2, 3), looks=(3,), minimum_n=10, size=3)
    assert evaluate(rule, [1, 1, 1], discount=0.1, last=True).outcome is Outcome.AGAINST_DISPUTE
    assert evaluate(rule, [1, 0, 1], discount=0.1, last=True).outcome is Outcome.FOR_DISPUTE


def test_decides_before_the_end() -> None:
    high = evaluate(RULE, ([1] * 9 + [0]) * 8, discount=1.0, last=False)
    low = evaluate(RULE, [1, 0] * 40, discount=1.0, last=False)
    assert (high.answer, high.stops) == (MarginAnswer.ABOVE_ALLEGED, True)
    assert (low.answer, low.stops) == (MarginAnswer.BELOW_CLAIM, True)
    assert "of 300" in high.summary


def test_a_single_missing_thing_is_a_witness_against_all() -> None:
    rule = CountRule(claimed=Fraction(1), alleged=Fraction(9, 10), looks=(20, 100), minimum_n=1, size=1000)
    seen = evaluate(rule, [1] * 19 + [0], discount=1.0, last=False)
    assert seen.statistics.e_below_claim is not None
    assert seen.statistics.e_below_claim.sup > 1e300


@settings(deadline=None)
@given(st.integers(1, 50), st.data())
def test_interval_holds_what_the_evidence_does_not_exclude(size: int, data: st.DataObject) -> None:
    read = data.draw(st.integers(1, size))
    found = data.draw(st.integers(0, read))
    low, high = count_interval(size, found=found, read=read)
    bar = math.log(40)
    possible = [
        k
        for k in range(size + 1)
        if log_e_more(size, null=k, found=found, read=read) < bar
        and log_e_fewer(size, null=k, found=found, read=read) < bar
    ]
    assert possible
    assert (low, high) == (possible[0], possible[-1])


@pytest.mark.parametrize("have", [150, 210, 270])
def test_power_is_what_simulated_readings_do(have: int) -> None:
    exact = power(RULE, Fraction(have, 300))
    runs, rng = 20_000, np.random.default_rng(6)
    found, columns = np.zeros(runs, np.int64), []
    before = 0
    for look in RULE.looks:
        more = look - before
        found = found + rng.hypergeometric(have - found, 300 - before - have + found, more)
        columns.append(count_evidence(RULE, found, look))
        before = look
    names = ("below_claim", "above_alleged", "below_middle", "above_middle")
    evidence = MarginEvidence(**{name: np.stack([getattr(c, name) for c in columns], axis=1) for name in names})
    enough = np.full(runs, adequacy(RULE, discount=1.0).adequate)
    shares = run_margin_batch(RULE, evidence, adequate=enough).shares()
    assert sum(exact.answers.values()) == pytest.approx(1, abs=1e-9)
    for answer in MarginAnswer:
        p = exact.answers.get(answer, 0.0)
        assert abs(shares.get(answer, 0.0) - p) <= 5 * math.sqrt(p * (1 - p) / runs) + 1e-4


def test_needed_by_hypergeometric_tails() -> None:
    def chances(n: int) -> tuple[float, float]:
        s = np.arange(n + 1)
        e = count_evidence(RULE, s, n)
        big, small = math.log(1e4), math.log(20)
        against = (e.above_alleged >= big) & (e.above_middle >= small) & (e.below_claim < small)
        favour = (e.below_claim >= big) & (e.below_middle >= small) & (e.above_alleged < small)
        return stats.hypergeom.pmf(s, 300, 270, n)[against].sum(), stats.hypergeom.pmf(s, 300, 150, n)[favour].sum()

    n = needed(RULE)
    assert n is not None
    assert min(chances(n)) >= 0.9
    assert min(chances(n - 1)) < 0.9
    assert adequacy(RULE, discount=1.0).needed == {"listed": n}


def test_reading_everything_is_always_enough() -> None:
    rule = CountRule(claimed=Fraction(10, 12), alleged=Fraction(9, 12), looks=(12,), minimum_n=1, size=12)
    assert needed(rule) == 12
    assert adequacy(rule, discount=0.01).adequate


def test_lists_that_are_none() -> None:
    with pytest.raises(BadInput, match="is beyond the 300"):
        CountRule(claimed=Fraction(1), alleged=Fraction(0), looks=(301,), minimum_n=1, size=300)
    with pytest.raises(BadInput, match="a list of 0"):
        CountRule(claimed=Fraction(1), alleged=Fraction(0), looks=(1,), minimum_n=1, size=0)
    with pytest.raises(BadInput, match="301 were read of a list of 300"):
        evaluate(RULE, [1] * 301, discount=1.0, last=True)
    with pytest.raises(BadInput, match="no share of a list"):
        power(RULE, Fraction(11, 10))
