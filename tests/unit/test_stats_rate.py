"""The rate rule: O(t^−p) against t^−q, as the growth rule on ln(t^p y)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome, Reason
from verifier.stats.growth import evidence_facts
from verifier.stats.growth_batch import run_batch
from verifier.stats.growth_evidence import LogEvidence, growth_log_e
from verifier.stats.growth_rule import GrowthAnswer, GrowthRule
from verifier.stats.rate import evaluate, log_residue, needed, power, unresolved
from verifier.stats.rate_rule import RateRule
from verifier.stats.rules import RULES

Floats = npt.NDArray[np.float64]

TIMES = [2**i for i in range(5, 15)]
T = np.array(TIMES, float)
RULE = RateRule(claimed=Fraction(1), alleged=Fraction(1, 2), looks=tuple(range(2, 21)))


def trajectories(y: Floats, *, sd: float = 0.3, n: int = 20, seed: int = 1) -> Floats:
    return np.asarray(y[:, None] * np.exp(sd * np.random.default_rng(seed).standard_normal((len(y), n))))


def judged(values: Floats, rule: RateRule = RULE, **more: Any) -> Any:
    known: dict[str, Any] = {"times": TIMES, "claim_time": TIMES[-1], "discount": 1.0, "last": True, **more}
    return evaluate(rule, values=values, **known)


def test_it_is_the_growth_rule_on_the_logarithm() -> None:
    assert RULE.growth == GrowthRule(
        law="log", delta=Fraction(1, 4), alternative=Fraction(1, 2), looks=RULE.looks, noise="block"
    )
    given_delta = dataclasses.replace(RULE, delta=Fraction(1, 10))
    assert given_delta.growth.delta == Fraction(1, 10)
    values = trajectories(1 / T)
    assert log_residue(RULE, TIMES, values) == pytest.approx(np.log(T[:, None] * values), abs=1e-12)


def test_both_sides() -> None:
    as_claimed = judged(trajectories(7 / T))
    assert (as_claimed.answer, as_claimed.outcome) == (GrowthAnswer.BOUNDED, Outcome.AGAINST_DISPUTE)
    assert as_claimed.reproduces
    assert as_claimed.summary.startswith("of ln(t^1 y), bounded if y = O(t^-1): ")
    as_alleged = judged(trajectories(0.2 / np.sqrt(T)))
    assert (as_alleged.answer, as_alleged.outcome) == (GrowthAnswer.GROWS, Outcome.FOR_DISPUTE)
    assert not as_alleged.reproduces
    exponent = float(as_alleged.summary.rpartition("t^-")[2])
    assert exponent == pytest.approx(0.5, abs=0.05)
    below = judged(trajectories(7 / T), claim_time=2**20)
    assert (below.answer, below.reason) == (GrowthAnswer.BOUNDED_BELOW_HORIZON, Reason.HORIZON)


def test_a_floor_beneath_the_decay_grows_slowly() -> None:
    found = judged(trajectories(1 / T + 1e-4))
    assert (found.answer, found.reason) == (GrowthAnswer.GROWS_SLOWLY, Reason.SLOPE_BETWEEN)


@pytest.mark.parametrize("bad", [0.0, -1e-3, 1e-13])
def test_what_has_no_logarithm_is_malformed_and_names_its_time(bad: float) -> None:
    values = trajectories(1 / T)
    values[3, 4] = bad
    found = judged(values[:, :6], last=False)
    assert (found.answer, found.outcome, found.reason) == (GrowthAnswer.MALFORMED, Outcome.INVALID, Reason.MALFORMED)
    assert "t = 256" in found.summary
    assert found.stops
    assert not found.reproduces
    assert ("resolution" in found.summary) == (bad > 0)
    assert "n = 256" in judged(values[:, :6], axis="n").summary


def test_a_registered_resolution_is_a_limit_of_its_own() -> None:
    values = trajectories(1 / T)
    assert not unresolved(RULE, TIMES, values)
    coarse = dataclasses.replace(RULE, resolution=Fraction(1, 1000))
    assert "t = 512" in unresolved(coarse, TIMES, trajectories(1 / T, sd=0.01)) or "t = 1024" in unresolved(
        coarse, TIMES, trajectories(1 / T, sd=0.01)
    )
    assert judged(values, coarse).answer is GrowthAnswer.MALFORMED
    assert judged(1000 * values, coarse).answer is GrowthAnswer.BOUNDED


def test_few_times_are_too_few_whatever_the_values() -> None:
    for values in (trajectories(1 / T)[:4], np.zeros((4, 20))):
        found = judged(values, times=TIMES[:4])
        assert found.answer is GrowthAnswer.TOO_FEW_SCALES


@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(1e-6, 1e6), rate=st.floats(0.3, 1.2))
@settings(max_examples=30, deadline=None)
def test_another_unit_of_y_changes_no_e(seed: int, scale: float, rate: float) -> None:
    values = trajectories(T**-rate, seed=seed)
    a, b = (
        growth_log_e(RULE.growth, TIMES, log_residue(RULE, TIMES, factor * values), RULE.looks)
        for factor in (1.0, scale)
    )
    for name in ("grow", "flat", "half"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-6, abs=1e-6)


def test_a_trajectory_moves_together() -> None:
    # a common factor per run, far larger than the noise within it: block evidence does not see it
    rng = np.random.default_rng(3)
    values = trajectories(1 / T, sd=0.1) * np.exp(2 * rng.standard_normal(20))
    assert judged(values).answer is GrowthAnswer.BOUNDED


def test_power_and_what_is_needed() -> None:
    sd = {32: 0.3}
    against = power(RULE, 1, times=TIMES, sd=sd, claim_time=TIMES[-1], runs=400)
    favour = power(RULE, Fraction(1, 2), times=TIMES, sd=sd, claim_time=TIMES[-1], runs=400)
    assert against.outcomes[Outcome.AGAINST_DISPUTE] > 0.98
    assert favour.outcomes[Outcome.FOR_DISPUTE] > 0.98
    n = needed(RULE, times=TIMES, sd=sd)
    assert n is not None
    assert n <= 20
    assert needed(RULE, times=TIMES, sd={32: 0.9}) > 20  # type: ignore[operator]  # a number, for there is one


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"values": np.ones((3, 10))}, "shape"),
        ({"values": np.full((10, 10), np.inf)}, "not a finite number"),
        ({"times": [0, *TIMES[1:]]}, "at least 2"),
        ({"values": np.ones((10, 21))}, "registered look"),
    ],
)
def test_data_that_do_not_fit(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        judged(**{"values": trajectories(1 / T), **changes})


# --- the table of a case file

TABLE = {"kind": "rate", "claimed": "1", "alleged": "1/2", "looks": [10, 20]}


def test_a_table_becomes_a_rule() -> None:
    rule = RULES["rate"].model_validate(TABLE).to_rule()
    assert rule == RateRule(claimed=Fraction(1), alleged=Fraction(1, 2), looks=(10, 20))
    assert rule.resolution == Fraction(1, 10**12)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"alleged": "1"}, "not below claimed"),
        ({"alleged": "2"}, "not below claimed"),
        ({"alleged": "-1"}, "negative"),
        ({"claimed": "21"}, "exceeds 20"),
        ({"delta": "0.6"}, "exceeds claimed - alleged"),
        ({"noise": "pooled"}, "'block'"),
        ({"looks": [20, 10]}, "do not increase"),
        ({"threshold": "10"}, "below 100"),
        ({"gamma0": "3"}, "exceeds 2"),
        ({"minimum_n": 50}, "never decide"),
        ({"law": "log"}, "Extra inputs"),
    ],
)
def test_a_bad_table_is_refused(changes: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError) as caught:
        RULES["rate"].model_validate({**TABLE, **changes})
    assert says in caught.value.errors()[0]["msg"]


# --- as often as published: 20 replicates, t = 32..16384, sd .3 of ln y, a look after every replicate

TRUTHS: dict[str, Callable[[Floats], Floats]] = {
    "1/t": lambda t: 1 / t,
    "(1+30/t)/t": lambda t: (1 + 30 / t) / t,
    "(1-3/sqrt t)/t": lambda t: (1 - 3 / np.sqrt(t)) / t,
    "t^-1/2": lambda t: t**-0.5,
}


def batch_of(name: str, *, runs: int) -> Floats:
    noise = 0.3 * np.random.default_rng(7).standard_normal((runs, len(TIMES), 20))
    return np.asarray(np.log(T * TRUTHS[name](T))[:, None] + noise)


def close(seen: float, published: float, *, runs: int) -> bool:
    middle = (seen + published + 8 / runs) / (2 + 16 / runs)  # away from 0 and 1, as Wilson's interval is
    return abs(seen - published) < 4 * math.sqrt(middle * (1 - middle) * 2 / runs) + 0.005


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "outcome", "published"),
    [
        ("1/t", Outcome.AGAINST_DISPUTE, 0.998),
        ("(1-3/sqrt t)/t", Outcome.AGAINST_DISPUTE, 0.30),
        ("t^-1/2", Outcome.FOR_DISPUTE, 1.0),
    ],
)
def test_each_side_is_found_as_often_as_published(name: str, outcome: Outcome, published: float) -> None:
    answers = run_batch(RULE.growth, scales=TIMES, values=batch_of(name, runs=1000), claim_scale=TIMES[-1]).answers
    assert close(float(np.mean([answer.outcome is outcome for answer in answers])), published, runs=1000)
    if published == 0.30:
        assert set(answers) <= {GrowthAnswer.BOUNDED, GrowthAnswer.SLOPE_BELOW, GrowthAnswer.MISFIT}
        assert sum(answer is GrowthAnswer.MISFIT for answer in answers) <= 10


@pytest.mark.slow
def test_a_fast_start_is_within_the_bound_by_its_evidence_and_withheld_by_its_misfit() -> None:
    # the published .991 applies the misfit gate only where G ≥ T; the rule's table applies it first, and a fall
    # from above is in no registered family, so part of these runs ends undecided
    runs = 1000
    values = batch_of("(1+30/t)/t", runs=runs)
    log_e = growth_log_e(RULE.growth, TIMES, values, RULE.looks)
    ungated = 0
    for run in range(runs):
        one = LogEvidence(grow=log_e.grow[run], flat=log_e.flat[run], half=log_e.half[run])
        facts = [evidence_facts(RULE.growth, one, look=i, n=n, discount=1.0) for i, n in enumerate(RULE.looks)]
        ungated += any(f["flat"] and f["half"] and not f["grow_now"] and not f["grows"] for f in facts)
    assert close(ungated / runs, 0.991, runs=runs)
    answers = run_batch(RULE.growth, scales=TIMES, values=values, claim_scale=TIMES[-1]).answers
    assert {answer.outcome for answer in answers} == {Outcome.AGAINST_DISPUTE, Outcome.UNDECIDED}
    assert np.mean([answer is GrowthAnswer.MISFIT for answer in answers]) < 0.3


@pytest.mark.slow
def test_a_naive_slope_accuses_where_the_rule_does_not() -> None:
    values = batch_of("(1-3/sqrt t)/t", runs=500)
    full = (np.log(T) - np.log(T).mean()) / np.sum((np.log(T) - np.log(T).mean()) ** 2)
    d = np.einsum("j,ijr->ir", full, values)
    t = math.sqrt(20) * d.mean(axis=1) / d.std(axis=1, ddof=1)
    assert np.mean(t > 1.73) > 0.95  # the one-sided 5 % test says that it decays more slowly than 1/t
    answers = run_batch(RULE.growth, scales=TIMES, values=values, claim_scale=TIMES[-1]).answers
    assert not any(answer.outcome is Outcome.FOR_DISPUTE for answer in answers)
