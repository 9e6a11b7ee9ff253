"""The margin rule by betting: both answers, false answers, adequacy by normal approximation against simulation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome
from verifier.stats.bounded import (
    adequacy,
    beta_values,
    bounded_evidence,
    decision_chances,
    evaluate,
    needed,
    power,
)
from verifier.stats.bounded_design import BoundedRule
from verifier.stats.margin_answers import MarginAnswer

LOOKS = tuple(range(50, 351, 50))
RULE = BoundedRule(
    claimed=Fraction(4, 100), alleged=Fraction(0), bounds=(Fraction(-1), Fraction(1)), looks=LOOKS, minimum_n=15
)
SD = 0.03


def sample(mean: float, n: int, seed: int = 1) -> np.ndarray:
    return np.clip(np.random.default_rng(seed).normal(mean, SD, n), -1, 1)


@pytest.mark.parametrize(
    ("truth", "outcome"), [(0.04, Outcome.AGAINST_DISPUTE), (0.0, Outcome.FOR_DISPUTE), (0.06, Outcome.AGAINST_DISPUTE)]
)
def test_right_either_way(truth: float, outcome: Outcome) -> None:
    found = power(RULE, truth, sd=SD, runs=400)
    assert found.outcomes[outcome] >= 0.95
    assert sum(found.answers.values()) == pytest.approx(1)
    assert found.runs == 400


def test_the_middle_is_seldom_decided() -> None:
    found = power(RULE, 0.02, sd=SD, runs=400)
    assert found.outcomes.get(Outcome.FOR_DISPUTE, 0.0) <= 0.02
    assert found.outcomes.get(Outcome.AGAINST_DISPUTE, 0.0) <= 0.02


def test_few_replicates_say_how_many_are_needed() -> None:
    values = sample(0.04, 5)
    seen = evaluate(RULE, values, discount=1.0, last=True)
    assert (seen.answer, seen.outcome) == (MarginAnswer.TOO_FEW, Outcome.UNDERPOWERED)
    n = seen.adequacy.needed["replicates"]
    known = needed(RULE, sd=values.std(ddof=1))
    assert known is not None
    assert n > known > 250  # more, for what five replicates leave open about their sd
    assert f"{n} replicates would decide" in seen.summary


def test_a_finding_has_its_numbers() -> None:
    values = sample(0.04, 350)
    seen = evaluate(RULE, values, discount=1.0, last=True)
    assert seen.answer is MarginAnswer.ABOVE_ALLEGED
    effect = seen.statistics.effect
    assert effect is not None
    assert effect.estimate == pytest.approx(values.mean())
    assert effect.stderr == pytest.approx(values.std(ddof=1) / math.sqrt(350))
    assert effect.interval is not None
    assert effect.interval[0] < effect.estimate < effect.interval[1]
    assert seen.flags == ()


def test_each_look_uses_its_own_prefix() -> None:
    values = sample(0.03, 350)
    whole = bounded_evidence(RULE, values, LOOKS)
    for index, look in enumerate(LOOKS):
        part = bounded_evidence(RULE, values[:look], LOOKS[: index + 1])
        assert np.array_equal(part.above_alleged, whole.above_alleged[: index + 1])
        assert np.array_equal(part.below_claim, whole.below_claim[: index + 1])


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([Fraction(1, 2), Fraction(3), Fraction(100)]), st.integers(-3, 3))
def test_units_change_no_evidence(seed: int, scale: Fraction, shift: int) -> None:
    values = sample(0.02, 60, seed)
    other = BoundedRule(
        claimed=scale * RULE.claimed + shift,
        alleged=scale * RULE.alleged + shift,
        bounds=(shift - scale, shift + scale),
        looks=LOOKS,
        minimum_n=15,
    )
    plain = bounded_evidence(RULE, values, [50])
    low, high = float(shift - scale), float(shift + scale)
    moved = bounded_evidence(other, np.clip(float(scale) * values + shift, low, high), [50])
    assert moved.above_alleged == pytest.approx(plain.above_alleged, abs=1e-9)
    assert moved.below_claim == pytest.approx(plain.below_claim, abs=1e-9)
    assert moved.below_middle == pytest.approx(plain.below_middle, abs=1e-9)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6))
def test_turned_round_the_sides_swap(seed: int) -> None:
    values = sample(0.02, 60, seed)
    other = BoundedRule(claimed=Fraction(0), alleged=Fraction(-4, 100), bounds=RULE.bounds, looks=LOOKS, minimum_n=15)
    plain, turned = bounded_evidence(RULE, values, [50]), bounded_evidence(other, -values, [50])
    assert turned.above_alleged == pytest.approx(plain.below_claim, abs=1e-9)
    assert turned.below_claim == pytest.approx(plain.above_alleged, abs=1e-9)
    assert turned.above_middle == pytest.approx(plain.below_middle, abs=1e-9)


def rule_at(n: int, claimed: str, alleged: str, *, low: int = 0) -> BoundedRule:
    return BoundedRule(
        claimed=Fraction(claimed),
        alleged=Fraction(alleged),
        bounds=(Fraction(low), Fraction(1)),
        looks=(n,),
        minimum_n=6,
    )


@pytest.mark.parametrize(
    ("claimed", "alleged", "low", "sd"),
    [
        ("0.84", "0.8", 0, 0.03),
        ("0.04", "0", -1, 0.03),
        ("0.6", "0.5", 0, 0.2),
        ("0.7", "0.5", 0, 0.45),
        ("1", "0.9", 0, 0.1),
    ],
)
def test_needed_is_within_a_tenth_of_the_simulated(claimed: str, alleged: str, low: int, sd: float) -> None:
    n = needed(rule_at(10**6, claimed, alleged, low=low), sd=sd)
    assert n is not None

    def least_power(at: int) -> float:
        rule = rule_at(at, claimed, alleged, low=low)
        chances = []
        for theta, side in ((claimed, Outcome.AGAINST_DISPUTE), (alleged, Outcome.FOR_DISPUTE)):
            room = math.sqrt((float(theta) - low) * (1 - float(theta)))
            found = power(rule, float(theta), sd=min(sd, room), runs=1000)
            chances.append(found.outcomes.get(side, 0.0))
        return min(chances)

    assert least_power(math.ceil(1.1 * n)) >= 0.9
    assert least_power(math.floor(0.9 * n)) <= 0.9


def test_needed_where_nothing_is_enough() -> None:
    hopeless = rule_at(100, "0.500001", "0.5")
    assert needed(hopeless, sd=0.3) is None
    assert adequacy(hopeless, sd=0.3, df=10, discount=1.0).adequate is False
    assert adequacy(hopeless, sd=None, df=0, discount=1.0).needed == {}
    later = needed(rule_at(100, "0.6", "0.5"), sd=0.2, discount=0.01)
    sooner = needed(rule_at(100, "0.6", "0.5"), sd=0.2)
    assert sooner is not None
    assert later is not None
    assert later > sooner
    chances = decision_chances(rule_at(100, "0.6", "0.5"), sd=0.2, most=500)
    assert chances.shape == (500,)
    assert chances[sooner - 1] >= 0.9 > chances[sooner - 2]


@pytest.mark.parametrize("noise", ["uniform", "two-point", "rare"])
def test_false_answers_with_a_look_at_every_replicate(noise: str) -> None:
    """At θ = a no more than 3 in 1000 runs say that θ > a at T = 1000, and likewise at θ = c below."""
    rng, size = np.random.default_rng(11), (10_000, 120)
    base = {
        "uniform": lambda: rng.uniform(-0.3, 0.3, size),
        "two-point": lambda: rng.choice([-0.5, 0.5], size),
        "rare": lambda: np.where(rng.random(size) < 0.05, -0.95, 0.05),
    }[noise]()
    rule = BoundedRule(
        claimed=Fraction(1, 20),
        alleged=Fraction(0),
        bounds=RULE.bounds,
        looks=(120,),
        minimum_n=6,
        threshold=Fraction(1000),
    )
    every = range(1, 121)
    bar = math.log(1000)
    above = bounded_evidence(rule, base, every).above_alleged.max(axis=1) >= bar
    below = bounded_evidence(rule, np.clip(base + 0.05, -1, 1), every).below_claim.max(axis=1) >= bar
    assert above.mean() <= 3e-3
    assert below.mean() <= 3e-3


def test_beta_values_have_their_moments() -> None:
    rng = np.random.default_rng(2)
    draw = beta_values(rng, 0.3, 0.1, (100_000,))
    assert (draw.mean(), draw.std()) == pytest.approx((0.3, 0.1), rel=0.02)
    assert np.all(beta_values(rng, 0.3, 0.0, (3,)) == 0.3)
    coins = beta_values(rng, 0.3, math.sqrt(0.21), (10_000,))
    assert set(np.unique(coins)) == {0.0, 1.0}
    assert coins.mean() == pytest.approx(0.3, abs=0.03)


def test_equal_replicates_are_flagged() -> None:
    seen = evaluate(RULE, np.full(50, 0.04), discount=1.0, last=False)
    assert seen.flags[0].startswith("zero-variance: 50 replicates are all 0.04")


def test_what_is_refused() -> None:
    with pytest.raises(BadInput, match=r"value 3, 1.2, is outside the registered range \[-1, 1\]"):
        evaluate(RULE, [0.0, 0.1, 1.2], discount=1.0, last=True)
    with pytest.raises(BadInput, match="have shape"):
        evaluate(RULE, np.zeros((2, 50)), discount=1.0, last=True)
    with pytest.raises(BadInput, match="not at a registered look"):
        evaluate(RULE, np.zeros(51), discount=1.0, last=True)
    with pytest.raises(BadInput, match="do not lie in order"):
        BoundedRule(claimed=Fraction(2), alleged=Fraction(0), bounds=RULE.bounds, looks=LOOKS, minimum_n=15)
    with pytest.raises(BadInput, match="no metric in"):
        power(RULE, 0.9, sd=0.9)
    assert evaluate(RULE, [], discount=1.0, last=True).answer is MarginAnswer.MALFORMED
