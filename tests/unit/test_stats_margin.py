"""The margin rule: its table over every combination of facts, what counts as a fact, and the finding."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome, Reason
from verifier.model.results import Adequacy
from verifier.stats.margin_batch import run_margin_batch
from verifier.stats.margin_rule import (
    MarginAnswer,
    MarginEvidence,
    MarginFinding,
    MarginRule,
    decide,
    margin_facts,
    margin_finding,
)

FACTS = (
    "malformed",
    "too_few",
    "below_claim",
    "above_alleged",
    "below_middle",
    "above_middle",
    "below_claim_now",
    "above_alleged_now",
    "adequate",
)

# The rule as printed: what a row asks of the facts, and its answer. A fact that is not named may be either.
ROWS: list[tuple[dict[str, bool], str]] = [
    ({"malformed": True}, "MALFORMED"),
    ({"too_few": True}, "TOO_FEW"),
    ({"below_claim": True, "above_alleged": True}, "BETWEEN"),
    ({"below_claim": True, "below_middle": True, "above_alleged_now": False}, "BELOW_CLAIM"),
    ({"above_alleged": True, "above_middle": True, "below_claim_now": False}, "ABOVE_ALLEGED"),
    ({"above_alleged": True}, "NOT_AS_ALLEGED"),
    ({"below_claim": True}, "NOT_AS_CLAIMED"),
    ({"adequate": True}, "NEITHER"),
    ({"adequate": False}, "NEITHER_INADEQUATE"),
]

OUTCOMES = {
    "MALFORMED": "INVALID: malformed",
    "TOO_FEW": "UNDERPOWERED: underpowered",
    "BETWEEN": "UNDECIDED: between",
    "BELOW_CLAIM": "FOR_DISPUTE",
    "ABOVE_ALLEGED": "AGAINST_DISPUTE",
    "NOT_AS_ALLEGED": "UNDECIDED: between",
    "NOT_AS_CLAIMED": "UNDECIDED: between",
    "NEITHER": "UNDECIDED: not-decided",
    "NEITHER_INADEQUATE": "UNDERPOWERED: underpowered",
}

RULE = MarginRule(claimed=Fraction(4), alleged=Fraction(0), looks=(5, 10, 20), minimum_n=10)
ENOUGH = Adequacy(adequate=True, needed={"replicates": 17})
SHORT = Adequacy(adequate=False, needed={"replicates": 1700})
LOG_T = math.log(1e4)


def evidence(**logs: list[float]) -> MarginEvidence:
    """Evidence at some looks; −3 where nothing is said."""
    looks = max(len(each) for each in logs.values())
    names = ("below_claim", "above_alleged", "below_middle", "above_middle")
    return MarginEvidence(**{name: np.array(logs.get(name, [-3.0] * looks), float) for name in names})


def find(
    given: MarginEvidence, *, n: int, last: bool = False, adequate: Adequacy = ENOUGH, **more: object
) -> MarginFinding:
    settings = {"discount": 1.0, **more}
    return margin_finding(RULE, given, n=n, last=last, adequate=adequate, **settings)  # type: ignore[arg-type]  # a test's settings


def test_every_combination_gives_the_first_row_that_applies() -> None:
    seen = set()
    for values in itertools.product([False, True], repeat=len(FACTS)):
        facts = dict(zip(FACTS, values, strict=True))
        expected = next(answer for asks, answer in ROWS if all(facts[name] is want for name, want in asks.items()))
        assert decide(**facts) == expected, facts
        seen.add(expected)
    assert seen == set(MarginAnswer)


@pytest.mark.parametrize("answer", list(MarginAnswer))
def test_every_answer_has_its_outcome_reason_and_sentence(answer: MarginAnswer) -> None:
    outcome, _, reason = OUTCOMES[answer.value].partition(": ")
    assert answer.outcome is Outcome(outcome)
    assert answer.reason == (Reason(reason) if reason else None)
    assert (answer.reason is None) == answer.outcome.decided
    assert answer.sentence[0].islower()
    assert not answer.sentence.endswith(".")
    assert len({other.sentence for other in MarginAnswer}) == len(MarginAnswer)


def test_a_look_below_the_minimum_counts_towards_no_supremum() -> None:
    early = evidence(below_claim=[20, -1, -1], below_middle=[20, -1, -1])
    facts = margin_facts(RULE, early, looks=RULE.looks, discount=1.0)
    assert not facts.below_claim.any()
    assert not facts.below_middle.any()
    late = evidence(below_claim=[-1, 20, -1], below_middle=[-1, 20, -1])
    facts = margin_facts(RULE, late, looks=RULE.looks, discount=1.0)
    assert facts.below_claim.tolist() == [False, True, True]
    assert facts.below_claim_now.tolist() == [False, True, False]


@pytest.mark.parametrize(("short_by", "reached"), [(1e-9, False), (-1e-9, True)])
def test_the_discount_multiplies_every_e(short_by: float, reached: bool) -> None:  # noqa: FBT001  # a case
    discount = 6 / math.pi**2
    bar, middle = LOG_T - math.log(discount) - short_by, math.log(20) - math.log(discount) - short_by
    given = evidence(below_claim=[0, bar], above_alleged=[0, bar], below_middle=[0, middle], above_middle=[0, middle])
    facts = margin_facts(RULE, given, looks=(5, 10), discount=discount)
    assert [bool(fact[-1]) for fact in facts[:4]] == [reached] * 4


def test_a_decision_stops_the_run_and_nothing_else_does_before_the_last_look() -> None:
    decided = find(evidence(above_alleged=[0, 10], above_middle=[0, 4]), n=10)
    assert (decided.answer, decided.stops) == (MarginAnswer.ABOVE_ALLEGED, True)
    assert decided.statistics.stopped_by == "decision"
    assert decided.statistics.e_above_alleged is not None
    assert decided.statistics.e_above_alleged.at_stop == pytest.approx(math.exp(10))
    assert decided.so_far is None
    for logs in (
        {"above_alleged": [0.0, 10]},
        {"below_claim": [0.0, 10], "above_alleged": [0.0, 10]},
        {"below_claim": [0.0, 0]},
    ):
        going = find(evidence(**logs), n=10)
        assert not going.stops
        assert going.statistics.stopped_by is None
        assert going.so_far is not None
        assert going.so_far.share_of_budget == 0.5
        ended = find(evidence(**logs), n=10, last=True)
        assert ended.stops
        assert ended.statistics.stopped_by == "maximum-n"


def test_the_other_side_must_be_silent_now() -> None:
    given = evidence(below_claim=[0, 10, 10], below_middle=[0, 4, 4], above_alleged=[0, 0, math.log(20)])
    assert find(given, n=20).answer is MarginAnswer.NOT_AS_CLAIMED
    quiet = evidence(below_claim=[0, 10, 10], below_middle=[0, 4, 4], above_alleged=[0, math.log(20), 0])
    assert find(quiet, n=20).answer is MarginAnswer.BELOW_CLAIM


def test_data_beyond_a_stop_keep_the_stop() -> None:
    given = evidence(above_alleged=[0, 10, 12], above_middle=[0, 4, 5])
    finding = find(given, n=20, last=True, stopped_at=10)
    assert finding.statistics.stopped_by == "decision"
    assert finding.statistics.e_above_alleged is not None
    assert finding.statistics.e_above_alleged.at_stop == pytest.approx(math.exp(10))
    assert finding.statistics.e_above_alleged.sup == pytest.approx(math.exp(12))


def test_too_few_says_what_is_needed() -> None:
    finding = find(evidence(below_claim=[30]), n=5, adequate=SHORT, last=True)
    assert finding.answer is MarginAnswer.TOO_FEW
    assert "nothing is decided before 10 replicates" in finding.summary
    assert finding.summary.endswith("1,700 replicates would decide")
    unreached = find(evidence(below_claim=[]), n=3, adequate=SHORT, last=True)
    assert unreached.answer is MarginAnswer.TOO_FEW
    assert unreached.statistics.looks_made == ()
    assert unreached.statistics.e_below_claim is None


def test_what_is_malformed_is_said_before_all_else() -> None:
    finding = find(evidence(below_claim=[30]), n=5, malformed="all 5 differences are equal")
    assert (finding.answer, finding.reason) == (MarginAnswer.MALFORMED, Reason.MALFORMED)
    assert finding.summary.endswith("all 5 differences are equal")
    assert finding.so_far is None
    assert finding.statistics.e_below_claim is None


def test_neither_is_undecided_or_underpowered_by_adequacy() -> None:
    nothing = evidence(below_claim=[0, 0, 0])
    assert find(nothing, n=20, last=True).answer is MarginAnswer.NEITHER
    short = find(nothing, n=20, last=True, adequate=SHORT)
    assert short.answer is MarginAnswer.NEITHER_INADEQUATE
    assert "1,700 replicates would decide" in short.summary
    unknown = find(nothing, n=20, last=True, adequate=Adequacy(adequate=False, needed={}))
    assert "no number within reach is known to decide" in unknown.summary


def test_an_n_that_is_no_look_is_refused() -> None:
    for n in (7, 21):
        with pytest.raises(BadInput, match="not at a registered look"):
            find(evidence(below_claim=[0, 0]), n=n)


def test_many_runs_at_once_are_the_same_rule() -> None:
    rng = np.random.default_rng(5)
    shape = (400, 3)
    logs = {
        name: rng.uniform(-3, 14, shape) for name in ("below_claim", "above_alleged", "below_middle", "above_middle")
    }
    logs["above_alleged"] -= 8 * (rng.random(shape) < 0.8)
    enough, stuck = rng.random(400) < 0.5, rng.random(shape) < 0.05
    batch = run_margin_batch(RULE, MarginEvidence(**logs), adequate=enough, malformed=stuck, discount=0.6)
    assert {answer.value for answer in batch.answers} >= set(OUTCOMES) - {"TOO_FEW"}
    for run in range(400):
        for look, n in enumerate(RULE.looks):
            finding = find(
                MarginEvidence(**{name: values[run, : look + 1] for name, values in logs.items()}),
                n=n,
                last=n == 20,
                adequate=ENOUGH if enough[run] else SHORT,
                malformed="stuck" if stuck[run, look] else "",
                discount=0.6,
            )
            if finding.stops:
                break
        assert (batch.answers[run], batch.n[run]) == (finding.answer, n)
    assert sum(batch.shares().values()) == pytest.approx(1)
