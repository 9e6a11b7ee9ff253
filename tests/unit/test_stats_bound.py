"""The bound rule: X(I) ≤ g(I, ε) for every instance, by witness, by class, in the mean; never by passes."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from pydantic import ValidationError

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome, Reason
from verifier.stats.bound import (
    Instance,
    evaluate,
    exceeds,
    instance_log_e,
    mean_log_e,
    needed,
    power,
    rounded_only,
    worst_ratio,
)
from verifier.stats.bound_rule import BoundAnswer, BoundRule, bound_outcome, decide, equal_weights
from verifier.stats.eprocess import log_mixture_e
from verifier.stats.rules import RULES

Floats = npt.NDArray[np.float64]
ONE = Fraction(1)

FACTS = ("exact_witness", "float_violation", "violated_in_mean", "holds_on_class")
ROWS: list[tuple[str | None, str]] = [
    ("exact_witness", "VIOLATED"),
    ("violated_in_mean", "VIOLATED_IN_MEAN"),
    ("float_violation", "VIOLATED_FLOAT"),
    ("holds_on_class", "HOLDS_ON_CLASS"),
    (None, "NO_VIOLATION_FOUND"),
]
OUTCOMES = {
    ("VIOLATED", False): "FOR_DISPUTE",
    ("VIOLATED", True): "FOR_DISPUTE",
    ("VIOLATED_FLOAT", False): "UNDECIDED: ambiguous",
    ("VIOLATED_FLOAT", True): "UNDECIDED: ambiguous",
    ("VIOLATED_IN_MEAN", False): "FOR_DISPUTE",
    ("VIOLATED_IN_MEAN", True): "FOR_DISPUTE",
    ("HOLDS_ON_CLASS", False): "UNDECIDED: not-decided",
    ("HOLDS_ON_CLASS", True): "AGAINST_DISPUTE",
    ("NO_VIOLATION_FOUND", False): "UNDERPOWERED: horizon",
    ("NO_VIOLATION_FOUND", True): "UNDERPOWERED: horizon",
}


def test_the_table() -> None:
    for values in itertools.product([False, True], repeat=len(FACTS)):
        facts = dict(zip(FACTS, values, strict=True))
        assert decide(**facts) == next(answer for fact, answer in ROWS if fact is None or facts[fact])
    assert {answer for answer, _ in OUTCOMES} == set(BoundAnswer)
    for (answer, in_class), said in OUTCOMES.items():
        found = bound_outcome(BoundAnswer(answer), alleges_in_class=in_class)
        assert (f"{found.outcome}: {found.reason}" if found.reason else found.outcome.value) == said


def finite(*names: str, alleged: str = "") -> BoundRule:
    return BoundRule(instances=names, weights=equal_weights(len(names)), whole_class=True, alleged=alleged)


def sampled(count: int, *, looks: tuple[int, ...] = (), **more: Any) -> BoundRule:
    names = tuple(str(i + 1) for i in range(count))
    return BoundRule(instances=names, weights=equal_weights(count), looks=looks, **more)


def exact(name: str, value: Fraction | float, **more: Any) -> Instance:
    return Instance(name=name, bound=ONE, value=value, **more)


def judged(rule: BoundRule, instances: list[Instance], **more: Any) -> Any:
    return evaluate(rule, instances, **{"discount": 1.0, "last": True, **more})


def costs(means: list[float], n: int, *, seed: int = 1, sd: float = 1.0) -> list[Instance]:
    draws = np.array(means)[:, None] + sd * np.random.default_rng(seed).standard_normal((len(means), n))
    return [Instance(name=str(i + 1), bound=ONE, draws=row) for i, row in enumerate(draws)]


def test_only_an_accepted_certificate_shows_a_violation() -> None:
    certified = judged(
        sampled(3), [exact("1", ONE), exact("2", Fraction(10**20 + 1, 10**20), certified=True)], last=False
    )
    assert (certified.answer, certified.outcome) == (BoundAnswer.VIOLATED, Outcome.FOR_DISPUTE)
    assert certified.stops
    assert 'the instance is "2"' in certified.summary
    for value in (1.5, Fraction(3, 2)):
        found = judged(sampled(3), [exact("1", value)], last=False)
        assert (found.answer, found.outcome, found.reason) == (
            BoundAnswer.VIOLATED_FLOAT,
            Outcome.UNDECIDED,
            Reason.AMBIGUOUS,
        )
        assert not found.stops
    # as close as doubles come: an equal value is no violation
    assert judged(sampled(1), [exact("1", 1.0)]).answer is BoundAnswer.NO_VIOLATION_FOUND
    assert judged(sampled(1), [exact("1", math.nextafter(1.0, 2.0))]).answer is BoundAnswer.VIOLATED_FLOAT


def test_a_class_holds_only_whole_and_exactly() -> None:
    within = [exact("a", Fraction(1, 2)), exact("b", ONE)]
    assert judged(finite("a", "b", alleged="b"), within).outcome is Outcome.AGAINST_DISPUTE
    elsewhere = judged(finite("a", "b"), within)
    assert (elsewhere.answer, elsewhere.reason) == (BoundAnswer.HOLDS_ON_CLASS, Reason.NOT_DECIDED)
    assert "alleges no instance of that class" in elsewhere.summary
    rule = finite("a", "b", "c", alleged="b")
    assert judged(rule, within).answer is BoundAnswer.NO_VIOLATION_FOUND
    assert judged(rule, [*within, exact("c", 0.5)]).answer is BoundAnswer.NO_VIOLATION_FOUND  # a float is not exact
    assert judged(rule, [*within, exact("c", Fraction(1, 2))]).answer is BoundAnswer.HOLDS_ON_CLASS


def test_a_number_is_compared_with_the_bound_as_written_and_a_double_as_it_was_rounded() -> None:
    tenth = Fraction(1, 10)
    assert tenth < 0.1, "as doubles go"
    assert not exceeds(Instance(name="a", bound=tenth, value=0.1))
    assert exceeds(Instance(name="a", bound=tenth, value=math.nextafter(0.1, 1)))
    assert not exceeds(Instance(name="a", bound=tenth, draws=np.full(60, 0.1)))
    assert not exceeds(Instance(name="a", bound=tenth, draws=np.full(60, 0.1), same=tenth))
    above = 2 + Fraction(1, 10**20)
    assert exceeds(Instance(name="a", bound=Fraction(2), value=above))
    assert exceeds(Instance(name="a", bound=Fraction(2), draws=np.full(60, 2.0), same=above))


def test_a_decimal_may_have_been_rounded_and_is_named_as_the_reason() -> None:
    rule = finite("a", "b", alleged="b")
    rounded = exact("b", Fraction(9, 10), rounded=True)
    found = judged(rule, [exact("a", ONE), rounded])
    assert found.answer is BoundAnswer.NO_VIOLATION_FOUND
    assert rounded_only(rule, [exact("a", ONE), rounded]) == ("b",)
    assert rounded_only(rule, [rounded]) == (), "another instance is missing as well"
    assert rounded_only(rule, [exact("a", Fraction(2)), rounded]) == ()
    assert judged(rule, [exact("a", ONE), exact("b", Fraction(11, 10), rounded=True)]).answer == "VIOLATED_FLOAT"


def test_an_instance_without_variance_weakens_no_evidence_of_the_others() -> None:
    rule = sampled(3, looks=(60,))
    drawn = costs([0.0, 2.5, 0.5], 60)
    alone = judged(rule, drawn)
    constant = Instance(name="3", bound=ONE, draws=np.full(60, 3.0))
    both = judged(rule, [*drawn[:2], constant])
    assert (alone.answer, both.answer) == (BoundAnswer.VIOLATED_IN_MEAN,) * 2
    assert judged(rule, [*costs([0.0, 0.0], 60), constant]).answer is BoundAnswer.VIOLATED_FLOAT


def test_passes_never_speak_against_the_dispute() -> None:
    for count in (1, 50):
        found = judged(sampled(count), [exact(str(i + 1), Fraction(1, 2)) for i in range(count)])
        assert (found.outcome, found.reason) == (Outcome.UNDERPOWERED, Reason.HORIZON)
        assert f"{count} of {count} instances" in found.summary
    cheap = judged(sampled(50, looks=(60,)), costs([-5.0] * 50, 60))
    assert (cheap.outcome, cheap.answer) == (Outcome.UNDERPOWERED, BoundAnswer.NO_VIOLATION_FOUND)


def test_what_was_not_found_is_said_with_its_worst_and_its_control() -> None:
    instances = [
        exact("1", Fraction(1, 2)),
        exact("2", Fraction(9, 10)),
        Instance(name="3", bound=Fraction(0), value=0.0),
    ]
    assert worst_ratio(instances) == (0.9, "2")
    for control, words in ((True, "does find"), (False, "does not find"), (None, "was not tried")):
        found = judged(sampled(3), instances, control_found=control)
        assert 'the worst ratio of cost to bound is 0.9, at "2"' in found.summary
        assert words in found.summary
        assert found.statistics.control_found is control


def test_the_mean_is_weighed_with_the_registered_weights() -> None:
    rule = BoundRule(
        instances=("1", "2"), weights=(Fraction(1, 4), Fraction(3, 4)), looks=(30, 60), threshold=Fraction(10_000)
    )
    instances = costs([1.4, 1.2], 60)
    logs = mean_log_e(rule, instances, (30, 60))
    assert logs is not None
    for i, n in enumerate((30, 60)):
        direct = 0.0
        for one, v in zip(instances, (0.25, 0.75), strict=True):
            assert one.draws is not None
            z = one.draws[:n] - 1
            t = math.sqrt(n) * z.mean() / z.std(ddof=1)
            direct += v * math.exp(float(log_mixture_e(t, df=n - 1, n=n)))
        assert math.exp(logs[i]) == pytest.approx(direct, rel=1e-9)
    only = mean_log_e(rule, instances[:1], (30, 60))
    assert only is not None
    assert only == pytest.approx(math.log(0.25) + instance_log_e(instances[:1], (30, 60))[0])


def test_an_expected_cost_above_the_bound_is_found() -> None:
    found = judged(sampled(20, looks=(30, 60)), costs([0.5] * 19 + [2.5], 60), last=False)
    assert (found.answer, found.outcome) == (BoundAnswer.VIOLATED_IN_MEAN, Outcome.FOR_DISPUTE)
    assert found.statistics.e_mean.sup >= 1e4
    assert found.stops
    assert found.flags == ("a mean over 60 replicates is blind to failures rarer than one in as many",)
    assert judged(sampled(20, looks=(30, 60)), costs([0.5] * 19 + [2.5], 60), discount=1e-12).reason is Reason.HORIZON


@pytest.mark.slow
def test_the_largest_of_many_never_decides() -> None:
    # every mean is at its bound: somewhere among 10,000 instances E is large, and the weighted mean is not
    rule, crossed, largest = sampled(10_000, looks=(30,), threshold=Fraction(100)), 0, []
    for seed in range(5):
        instances = costs([1.0] * 10_000, 30, seed=seed)
        largest.append(float(instance_log_e(instances, (30,)).max()))
        crossed += judged(rule, instances).outcome is Outcome.FOR_DISPUTE
    assert sum(x >= math.log(100) for x in largest) >= 2  # the maximum would have decided
    assert crossed == 0  # nominal 1 % of 5


def test_the_instance_found_may_be_run_again() -> None:
    rule = sampled(1000, looks=(30, 60))
    search = costs([1.0] * 999 + [2.2], 30)
    assert judged(rule, search, last=False).outcome is not Outcome.FOR_DISPUTE
    fresh = Instance(name="1000", bound=ONE, draws=2.2 + np.random.default_rng(9).standard_normal(60))
    found = judged(rule, search, rerun=fresh)
    assert found.answer is BoundAnswer.VIOLATED_IN_MEAN
    assert found.statistics.e_rerun.sup >= 1e4 > found.statistics.e_mean.sup
    dull = Instance(name="1000", bound=ONE, draws=1.0 + np.random.default_rng(9).standard_normal(60))
    assert judged(rule, search, rerun=dull).answer is BoundAnswer.NO_VIOLATION_FOUND


def test_no_mean_counts_below_the_registered_minimum() -> None:
    rule = sampled(1, looks=(10, 40), minimum_n=30)
    assert judged(rule, costs([9.0], 10)).answer is BoundAnswer.NO_VIOLATION_FOUND
    assert judged(rule, costs([9.0], 40)).answer is BoundAnswer.VIOLATED_IN_MEAN


def test_draws_without_variance_are_a_value_and_no_evidence_of_a_mean() -> None:
    flat = Instance(name="1", bound=ONE, draws=np.full(60, 1.5))
    found = judged(sampled(1, looks=(60,)), [flat])
    assert found.answer is BoundAnswer.VIOLATED_FLOAT
    assert found.statistics.e_mean.sup == 0.0
    early = np.r_[np.full(30, 1.5), np.random.default_rng(1).standard_normal(30)]
    assert instance_log_e([Instance(name="1", bound=ONE, draws=early)], (30, 60))[0, 0] == -math.inf


def test_power_and_what_is_needed() -> None:
    rule = sampled(20, looks=(30, 60))
    n = needed(rule, 1.0)["replicates"]
    assert n > 46  # a twentieth of the capital bets on this instance
    assert needed(rule, 0.0) == {}
    chances = power(rule, 1.0)
    assert sum(chances.answers.values()) == pytest.approx(1.0)
    seen = [judged(rule, costs([1.0] * 19 + [1 + 0.75], 60, seed=s)).outcome for s in range(200)]
    expected = power(rule, 0.75).outcomes[Outcome.FOR_DISPUTE]
    assert np.mean([o is Outcome.FOR_DISPUTE for o in seen]) == pytest.approx(expected, abs=0.12)
    assert power(sampled(44), 0.0, share=0.05).answers[BoundAnswer.VIOLATED_FLOAT] == pytest.approx(1 - 0.95**44)
    assert needed(sampled(1), 0.0, share=0.05) == {"instances": 45}
    assert 1 - 0.95**45 >= 0.9 > 1 - 0.95**44
    with pytest.raises(BadInput, match="share"):
        power(sampled(1), 0.0)
    with pytest.raises(BadInput, match="registered"):
        power(rule, 1.0, instance="x")


NOISE = np.random.default_rng(1).standard_normal(30)


@pytest.mark.parametrize(
    ("instances", "more", "says"),
    [
        ([exact("9", ONE)], {}, "not registered"),
        ([exact("1", ONE), exact("1", ONE)], {}, "stands twice"),
        ([exact("1", math.nan)], {}, "not a finite number"),
        ([exact("1", ONE, certified=True)], {}, "value within the bound"),
        ([Instance(name="1", bound=ONE, draws=np.full(30, np.nan))], {}, "not a finite number"),
        ([Instance(name="1", bound=ONE, draws=NOISE[:29])], {}, "registered look"),
        (
            [Instance(name="1", bound=ONE, draws=NOISE), Instance(name="2", bound=ONE, draws=NOISE[:10])],
            {},
            "different numbers",
        ),
        ([], {"rerun": exact("1", ONE)}, "no draws"),
    ],
)
def test_instances_that_do_not_fit(instances: list[Instance], more: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        judged(sampled(2, looks=(30,)), instances, **more)


# --- the table of a case file


def test_a_table_becomes_a_rule() -> None:
    rule = RULES["bound"].model_validate({"kind": "bound", "members": ["a", "b"], "alleged": "b"}).to_rule()
    assert rule == finite("a", "b", alleged="b")
    assert rule.alleges_in_class
    drawn = (
        RULES["bound"].model_validate({"kind": "bound", "instances": 3, "weights": ["1/2", "0.25", "1/4"]}).to_rule()
    )
    assert drawn.weights == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    assert not drawn.whole_class


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({}, "not both"),
        ({"instances": 2, "members": ["a"]}, "not both"),
        ({"members": ["a", "a"]}, "twice"),
        ({"members": ["a"], "alleged": "b"}, "does not name"),
        ({"instances": 2, "alleged": "1"}, "does not name"),
        ({"instances": 2, "weights": ["1/2"]}, "sum 0.5"),
        ({"instances": 2, "weights": ["1/2", "1/3"]}, "sum 0.83"),
        ({"instances": 2, "weights": ["1", "0"]}, "above zero"),
        ({"instances": 0}, "greater than or equal to 1"),
        ({"instances": 2, "looks": [20]}, "below minimum_n"),
        ({"instances": 2, "looks": [40, 30]}, "do not increase"),
        ({"instances": 2, "threshold": "20"}, "below 100"),
        ({"instances": 2, "max": True}, "Extra inputs"),
    ],
)
def test_a_bad_table_is_refused(table: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError) as caught:
        RULES["bound"].model_validate({"kind": "bound", **table})
    assert says in caught.value.errors()[0]["msg"]


def test_a_whole_class_is_not_said_to_leave_instances_out_and_e_has_one_notation() -> None:
    draws = np.random.default_rng(3).normal(0.0, 1.0, (2, 40))
    runs = [Instance(name=str(i + 1), bound=ONE, draws=row) for i, row in enumerate(draws)]
    of_two = {"instances": ("1", "2"), "weights": equal_weights(2), "looks": (40,)}
    whole = evaluate(BoundRule(**of_two, whole_class=True), runs, discount=0.5, last=True)  # type: ignore[arg-type]  # the fields of the rule
    some = evaluate(BoundRule(**of_two), runs, discount=0.5, last=True)  # type: ignore[arg-type]  # the fields of the rule
    assert whole.answer is some.answer is BoundAnswer.NO_VIOLATION_FOUND
    assert "not searched" not in whole.summary
    assert "not searched" in some.summary
    found = evaluate(BoundRule(**of_two), [dataclasses.replace(x, bound=-ONE) for x in runs], discount=0.5, last=True)  # type: ignore[arg-type]  # the fields of the rule
    assert "after the discount of 0.5 for registrations, against 10,000" in found.summary
    assert "e+" not in found.summary
