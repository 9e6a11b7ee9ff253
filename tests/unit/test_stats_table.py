"""The growth rule's table, over every combination of its facts."""

from __future__ import annotations

import itertools

import pytest

from verifier.model.outcomes import Outcome, Reason
from verifier.stats.growth_rule import GrowthAnswer, decide

FACTS = (
    "too_few_scales",
    "no_variance",
    "misfit",
    "grows",
    "flat",
    "half",
    "flat_now",
    "grow_now",
    "extrapolates",
    "reaches_claim",
    "fast_law",
    "adequate",
)

# The rule as printed: what a row asks of the facts, and its answer. A fact that is not named may be either.
ROWS: list[tuple[dict[str, bool], str]] = [
    ({"too_few_scales": True}, "TOO_FEW_SCALES"),
    ({"no_variance": True}, "MALFORMED"),
    ({"misfit": True}, "MISFIT"),
    ({"grows": True, "flat": True}, "GROWS_SLOWLY"),
    ({"grows": True, "flat_now": False, "extrapolates": True}, "GROWS"),
    ({"grows": True, "flat_now": False, "extrapolates": False}, "GROWS_NOT_LOG"),
    ({"flat": True, "half": True, "grow_now": False, "reaches_claim": True, "fast_law": False}, "BOUNDED"),
    ({"flat": True, "half": True, "grow_now": False, "reaches_claim": True, "fast_law": True}, "BELOW_LAW"),
    ({"flat": True, "half": True, "grow_now": False, "reaches_claim": False}, "BOUNDED_BELOW_HORIZON"),
    ({"flat": True}, "SLOPE_BELOW"),
    ({"grows": True}, "GROWS_NOT_ABOVE"),
    ({"grows": False, "flat": False, "adequate": True}, "NEITHER"),
    ({"grows": False, "flat": False, "adequate": False}, "NEITHER_INADEQUATE"),
]

OUTCOMES = {
    "TOO_FEW_SCALES": "UNDERPOWERED: horizon",
    "MALFORMED": "INVALID: malformed",
    "MISFIT": "UNDECIDED: misfit",
    "GROWS_SLOWLY": "UNDECIDED: slope-between",
    "GROWS": "FOR_DISPUTE",
    "GROWS_NOT_LOG": "UNDECIDED: misfit",
    "BOUNDED": "AGAINST_DISPUTE",
    "BELOW_LAW": "AGAINST_DISPUTE",
    "BOUNDED_BELOW_HORIZON": "UNDERPOWERED: horizon",
    "SLOPE_BELOW": "UNDECIDED: slope-between",
    "GROWS_NOT_ABOVE": "UNDECIDED: slope-between",
    "NEITHER": "UNDECIDED: not-decided",
    "NEITHER_INADEQUATE": "UNDERPOWERED: underpowered",
}


def test_every_combination_gives_the_first_row_that_applies() -> None:
    seen = set()
    for values in itertools.product([False, True], repeat=len(FACTS)):
        facts = dict(zip(FACTS, values, strict=True))
        expected = next(answer for asks, answer in ROWS if all(facts[name] is want for name, want in asks.items()))
        assert decide(**facts) == expected, facts
        seen.add(expected)
    assert seen == set(GrowthAnswer)


@pytest.mark.parametrize("answer", list(GrowthAnswer))
def test_every_answer_has_its_outcome_reason_and_sentence(answer: GrowthAnswer) -> None:
    outcome, _, reason = OUTCOMES[answer.value].partition(": ")
    assert answer.outcome is Outcome(outcome)
    assert answer.reason == (Reason(reason) if reason else None)
    assert (answer.reason is None) == answer.outcome.decided
    assert answer.sentence[0].islower()
    assert not answer.sentence.endswith(".")
    assert len({other.sentence for other in GrowthAnswer}) == len(GrowthAnswer)
