"""Exact McNemar: the published p-value, scipy and statsmodels as oracles."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from verifier.model.errors import BadInput
from verifier.stats.mcnemar import exact_mcnemar
from verifier.stats.significance import p_to_e


def test_twelve_against_twenty_seven() -> None:
    found = exact_mcnemar(12, 27)
    assert found.p == pytest.approx(0.02370270247047304, rel=1e-12)
    assert found.p_right < 0.0119 < found.p_left
    assert found.e_right == p_to_e(found.p_right)


@settings(deadline=None)
@given(st.integers(0, 400), st.integers(0, 400))
def test_against_binomial_tests(left: int, right: int) -> None:
    found = exact_mcnemar(left, right)
    if left + right:
        assert found.p == pytest.approx(mcnemar([[0, left], [right, 0]], exact=True).pvalue, rel=1e-9)
        greater = stats.binomtest(left, left + right, alternative="greater").pvalue
        assert found.p_left == pytest.approx(greater, rel=1e-9)
    assert exact_mcnemar(right, left).p_left == found.p_right


def test_nothing_discordant_says_nothing() -> None:
    found = exact_mcnemar(0, 0)
    assert (found.p, found.p_left, found.p_right) == (1.0, 1.0, 1.0)
    assert found.e_left <= 1


@pytest.mark.parametrize(("left", "right"), [(-1, 3), (3, -1), (10**12, 1)])
def test_counts_that_are_none(left: int, right: int) -> None:
    with pytest.raises(BadInput, match="are no counts of discordant items"):
        exact_mcnemar(left, right)
