"""What a growth design can show before any data."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from verifier.model.errors import BadInput
from verifier.stats.contrasts import contrasts
from verifier.stats.growth_batch import run_batch
from verifier.stats.growth_rule import GrowthAnswer, GrowthRule
from verifier.stats.plan import GrowthPlan, growth_plan, least_replicates, seconds_of

EFFECT = Fraction("0.38")


def published(**changes: object) -> GrowthPlan:
    fields = {"replicates": 3, "sd": 0.3, "effect": EFFECT, **changes}
    return growth_plan([8, 16, 32, 64], **fields)  # type: ignore[arg-type]  # as the call under test has them


def test_the_worked_example() -> None:
    plan = published()
    assert plan.sentence.endswith(
        "would have missed it in 30 % of runs (one-sided 5 % slope test). This design cannot decide: 4 scales (5 "
        "needed), 3 replicates (5 needed). K = 256 with 57 replicates decides (or 1024 with 21)."
    )
    assert plan.missed == pytest.approx(0.300, abs=5e-4)
    assert {option.largest: option.replicates for option in plan.options} == {
        64: 441,
        128: 133,
        256: 57,
        512: 31,
        1024: 21,
        2048: 15,
    }
    assert [option.decides for option in plan.options] == [False, True, True, True, True, True]
    assert not plan.can_decide
    assert plan.power == 0.0


def test_the_headline_is_the_cheapest_and_the_alternative_at_most_twice_as_dear() -> None:
    plan = published()
    costs = {option.largest: option.cost for option in plan.options if option.decides}
    assert plan.headline is not None
    assert plan.alternative is not None
    assert costs == {k: n * (2 * k - 8) for k, n in ((128, 133), (256, 57), (512, 31), (1024, 21), (2048, 15))}
    assert plan.headline.cost == min(costs.values())
    assert plan.alternative.largest == max(k for k, cost in costs.items() if cost <= 2 * plan.headline.cost)
    # with runs that take the same time at every scale, a large K is cheap
    assert published(seconds={8: 1.0, 64: 1.0}).headline.largest == 2048  # type: ignore[union-attr]
    # and where the time goes with k^3, it is dear
    assert published(seconds={8: 8.0**3, 64: 64.0**3}).headline.largest == 128  # type: ignore[union-attr]


def test_a_design_that_is_enough_says_so_and_keeps_its_word() -> None:
    scales = [8, 16, 32, 64, 128, 256]
    plan = growth_plan(scales, replicates=57, sd=0.3, effect=EFFECT)
    assert plan.can_decide
    assert plan.power >= 0.9
    assert growth_plan(scales, replicates=56, sd=0.3, effect=EFFECT).power < 0.9
    assert "This design decides, for either side" in plan.sentence
    rule = GrowthRule(delta=EFFECT / 2, alternative=EFFECT, looks=(57,))
    rng = np.random.default_rng(3)
    for slope, wanted in ((0.38, GrowthAnswer.GROWS), (0.0, GrowthAnswer.BOUNDED)):
        values = slope * np.log(scales)[:, None] + 0.3 * rng.standard_normal((400, 6, 57))
        answers = run_batch(rule, scales=scales, values=values, claim_scale=256).answers
        assert np.mean([answer is wanted for answer in answers]) > 0.85  # 90 % of crossings, less the gates' share


def test_the_chance_of_a_miss_is_that_of_the_slope_test() -> None:
    scales, n = [4, 8, 16, 32, 64], 4
    rng = np.random.default_rng(5)
    full = contrasts(scales, gamma0=0.5).full
    d = np.einsum("j,ijr->ir", full, 0.2 * np.log(scales)[:, None] + 0.3 * rng.standard_normal((40_000, 5, n)))
    t = math.sqrt(n) * d.mean(axis=1) / d.std(axis=1, ddof=1)
    seen = float(np.mean(t < stats.t.ppf(0.95, n - 1)))
    assert growth_plan(scales, replicates=n, sd=0.3, effect=0.2).missed == pytest.approx(seen, abs=0.01)


def test_a_claims_own_scale_has_to_be_reached() -> None:
    plan = published(claim_scale=4096)
    assert "k = 64 (4096 needed)" in plan.sentence
    assert {option.largest for option in plan.options if option.decides} == {4096}
    assert plan.headline is not None
    assert plan.headline.largest == 4096


def test_what_no_number_of_replicates_decides() -> None:
    plan = growth_plan([32, 64, 128, 256, 512], replicates=9, sd=1e4, effect=EFFECT)
    assert plan.headline is None
    assert plan.alternative is None
    assert plan.sentence.endswith("No number of replicates within reach decides up to K = 16384.")


def test_a_discount_asks_for_more() -> None:
    first, second = published(), published(discount=6 / (4 * math.pi**2))
    for a, b in zip(first.options, second.options, strict=True):
        assert a.replicates is not None
        assert b.replicates is not None
        assert b.replicates > a.replicates
    rule = GrowthRule(delta=EFFECT / 2, alternative=EFFECT, looks=(9,))
    assert least_replicates(rule, m=5) == 5
    assert least_replicates(rule, m=5, discount=1e-6) > 5


def test_further_laws_and_one_replicate() -> None:
    assert "per sqrt k" in published(law="sqrt", effect=Fraction("0.05")).sentence
    assert "1 replicate (5 needed)" in published(replicates=1).sentence
    assert published(replicates=1).missed == 1.0


def test_seconds_follow_a_power_of_k() -> None:
    assert seconds_of([8, 16, 64], {16: 2.0}) == pytest.approx(2 * (0.5 + 1 + 4))
    assert seconds_of([8, 16, 64], {8: 1.0, 32: 16.0}) == pytest.approx(1 + 4 + 64)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"replicates": 0}, "are none"),
        ({"sd": 0.0}, "above zero"),
        ({"sd": {}}, "no standard deviation"),
        ({"effect": Fraction(0)}, "not above zero"),
        ({"delta": Fraction(-1)}, "not above zero"),
        ({"seconds": {8: -1.0}}, "seconds"),
        ({"law": "cubic"}, "no law"),
    ],
)
def test_what_is_no_design(changes: dict[str, object], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        published(**changes)


@pytest.mark.parametrize("scales", [[], [8], [8, 8], [8, 4], [1, 2, 4]])
def test_scales_that_are_none(scales: list[int]) -> None:
    with pytest.raises(BadInput):
        growth_plan(scales, replicates=3, sd=0.3, effect=EFFECT)


def test_a_side_that_falls_short_is_named() -> None:
    for_it = growth_plan([8, 16, 32, 64, 128], replicates=20, sd=0.1, effect=EFFECT)
    assert "can decide, but for the dispute in only 77 % of runs." in for_it.sentence
    fine = growth_plan([8, 16, 32, 64, 128], replicates=20, sd=0.1, effect=EFFECT, delta=Fraction("0.01"))
    assert "against it in only" in fine.sentence


@pytest.mark.parametrize("sd", [1e-3, 1e-12, 1e-30])
def test_a_tiny_noise_hides_nothing(sd: float) -> None:
    plan = growth_plan([8, 16, 32, 64, 128], replicates=20, sd=sd, effect=EFFECT)
    assert plan.missed == 0
    assert plan.power == 1
    assert {option.replicates for option in plan.options} == {5}, "the least that any data decide with"
    assert "missed it in fewer than 0.5 % of runs" in plan.sentence
    assert "for either side in more than 99.9 % of runs. K" in plan.sentence
