"""Expected bests against closed forms, tables and all subsets; and what they say of two bests."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.audits.best_of import chance_of_gap, expected_best_of_scores, expected_normal_best
from verifier.audits.printed import printed
from verifier.audits.selection import Arm, selection
from verifier.model.answers import AuditAnswer, Corrected
from verifier.model.errors import BadInput


@pytest.mark.parametrize(
    ("n", "expected"),
    [(1, 0.0), (2, 1 / sqrt(pi)), (3, 1.5 / sqrt(pi)), (10, 1.53875), (100, 2.50759), (1000, 3.24144)],
)
def test_normal_bests_of_closed_forms_and_tippetts_table(n: int, expected: float) -> None:
    assert expected_normal_best(n) == pytest.approx(expected, abs=6e-6)


def test_normal_bests_grow_up_to_the_largest() -> None:
    found = [expected_normal_best(10**power) for power in range(10)]
    assert found == sorted(found)
    assert found[-1] < sqrt(2 * np.log(1e9))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.fractions(-5, 5, max_denominator=20), min_size=1, max_size=8), st.data())
def test_bests_of_scores_by_all_subsets(scores: list[Fraction], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(scores)))
    every = [max(part) for part in combinations(scores, k)]
    assert expected_best_of_scores(scores, k) == sum(every, Fraction(0)) / len(every)


@pytest.mark.parametrize(("gap", "more", "fewer"), [(0.0, 3, 3), (0.0, 9, 1), (0.5, 20, 4), (2.0, 5, 50)])
def test_the_chance_of_a_gap_by_simulation(gap: float, more: int, fewer: int) -> None:
    random = np.random.default_rng(5)
    one, other = (random.standard_normal((40_000, n)).max(axis=1) for n in (more, fewer))
    assert chance_of_gap(gap, more, fewer) == pytest.approx((one >= other + gap).mean(), abs=0.011)
    if gap == 0:
        assert chance_of_gap(gap, more, fewer) == pytest.approx(more / (more + fewer), abs=1e-8)


def arm(label: str, trials: int, best: str | None = None) -> Arm:
    return Arm(label, trials, None if best is None else printed(best))


def test_equal_numbers_of_trials() -> None:
    found = selection((arm("method", 5, "71.0"), arm("baseline", 5, "70.0")))
    assert found.finding is AuditAnswer.SAME_BASIS


def test_a_gap_that_the_trials_explain() -> None:
    arms = (arm("method", 100, "71.0"), arm("baseline", 1, "69.5"))
    found = selection(arms, sd=printed("1.00"), source="appendix")  # the best of 100 is worth 2.5
    assert (found.finding, found.corrected, found.material) == (AuditAnswer.RECONCILED, Corrected.OTHER_SIDE, True)
    assert found.details["worth_of_trials"] == pytest.approx([0.995 * 2.50759, 1.005 * 2.50759], abs=1e-4)
    assert selection(arms, sd=printed("1.00")).finding is AuditAnswer.RECONCILED_WEAK
    assert 0.5 < found.details["chance_of_gap_between_equals"] < 1
    assert found.left is not None
    assert found.left.restated_basis == "expected best of 1"
    mirrored = selection((arms[1], arms[0]), sd=printed("1.00"), source="appendix")
    assert mirrored.details["gap_at_equal_trials"] == [-x for x in reversed(found.details["gap_at_equal_trials"])]


def test_a_gap_that_stays() -> None:
    found = selection((arm("method", 20, "80.0"), arm("baseline", 5, "70.0")), sd=printed("1.0"), source="appendix")
    assert (found.finding, found.corrected) == (AuditAnswer.NOT_MATERIAL, Corrected.KEPT)
    fewer = selection((arm("method", 5, "71.0"), arm("baseline", 50, "70.0")), sd=printed("1.0"), source="appendix")
    assert fewer.details["gap_at_equal_trials"][0] == pytest.approx(0.9 + 0.95 * 1.08627, abs=1e-3)
    assert fewer.finding is AuditAnswer.NOT_MATERIAL


def test_lower_is_better() -> None:
    found = selection(
        (arm("method", 10, "2.0"), arm("baseline", 1, "3.0")), better="lower", sd=printed("0.10"), source="appendix"
    )
    assert found.details["gap"] == pytest.approx([0.9, 1.1])
    assert found.corrected is Corrected.KEPT


def test_from_scores_exactly() -> None:
    scores = tuple(printed(text) for text in ("60/1", "62/1", "64/1", "70/1"))
    found = selection((Arm("method", 4, scores=scores), arm("baseline", 1, "66/1")))
    assert found.finding is AuditAnswer.MISMATCH_PROVEN
    assert found.corrected is Corrected.OTHER_SIDE
    assert found.details["gap_at_equal_trials"] == [-2, -2]  # the mean of the four is 64
    assert found.witness == {"scores": ["70/1", "64/1"], "best_of_2": "70/1", "expected_best_of_1": 67.0}
    lower = selection((Arm("method", 4, scores=scores), arm("baseline", 1, "63/1")), better="lower")
    assert lower.details["gap"] == [3, 3]
    assert lower.details["gap_at_equal_trials"] == [-1, -1]


def test_what_is_missing_is_named() -> None:
    found = selection((arm("method", 20, "80.0"), arm("baseline", 5)))
    assert found.finding is AuditAnswer.INSUFFICIENT
    assert found.missing == (
        "the best result of baseline",
        "every score of method, or the standard deviation between trials",
    )


def test_numbers_that_mean_nothing() -> None:
    with pytest.raises(BadInput, match="0 is no number of trials"):
        arm("method", 0)
    with pytest.raises(BadInput, match="3 trials and 1 scores"):
        Arm("method", 3, scores=(printed("1"),))
    with pytest.raises(BadInput, match="is no standard deviation"):
        selection((arm("a", 2, "1"), arm("b", 1, "1")), sd=printed("0"))


def test_what_rounding_leaves_on_both_sides_is_not_material() -> None:
    """m21: of a gap of 1.45 to 2.55, -1.3 to 1.8 is left: the trials may explain it, and may not."""
    scores = tuple(printed(str(score)) for score in range(80, 70, -1))
    found = selection((Arm("a", 10, scores=scores), arm("b", 3, "78.0")), source="s")
    assert (found.finding, found.corrected) == (AuditAnswer.MISMATCH_PROVEN, Corrected.CONTAINS_ONE)
    assert found.material is False
    assert "the numbers of trials may explain the gap" in found.sentence


@pytest.mark.parametrize(("other", "material"), [("64/1", True), ("65/1", True), ("63/1", False)])
def test_material_where_nothing_of_the_gap_is_left_for_any_rounding(other: str, material: bool) -> None:  # noqa: FBT001  # a table of cases
    scores = tuple(printed(text) for text in ("60/1", "62/1", "64/1", "70/1"))  # their mean is 64
    for better, sign in (("higher", 1), ("lower", -1)):
        mirrored = tuple(printed(f"{sign * score.value.numerator}/1") for score in scores)
        best = printed(f"{sign * printed(other).value.numerator}/1")
        found = selection((Arm("a", 4, scores=mirrored), Arm("b", 1, best)), better=better)  # type: ignore[arg-type]  # one of the two words
        assert found.material is material


def test_a_best_that_is_not_among_its_scores_is_refused() -> None:
    scores = tuple(printed(text) for text in ("80.1", "79.0", "78.0"))
    for best in ("84.0", "79.0"):
        with pytest.raises(BadInput, match=f"the best is {best}, and the best of the scores 80.1"):
            selection((Arm("a", 3, printed(best), scores), arm("b", 2, "79.0")))
    assert selection((Arm("a", 3, printed("80"), scores), arm("b", 2, "79.0"))).finding
    with pytest.raises(BadInput, match=r"the best is 80\.1, and the best of the scores 78\.0"):
        selection((Arm("a", 3, printed("80.1"), scores), arm("b", 2, "79.0")), better="lower")
