"""Probabilities and registered numbers in sentences: no end is rounded away."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.model.shares import at_least_percent, percent, registered


@pytest.mark.parametrize(
    ("share", "whole", "tenths"),
    [
        (0.0, "fewer than 0.5 %", "fewer than 0.1 %"),
        (1e-9, "fewer than 0.5 %", "fewer than 0.1 %"),
        (0.004, "fewer than 0.5 %", "0.4 %"),
        (0.3, "30 %", "30.0 %"),
        (0.9714, "97 %", "97.1 %"),
        (0.9951, "99.5 %", "99.5 %"),
        (0.9999, "more than 99.9 %", "more than 99.9 %"),
        (1.0, "more than 99.9 %", "more than 99.9 %"),
    ],
)
def test_a_share_of_runs(share: float, whole: str, tenths: str) -> None:
    assert (percent(share), percent(share, decimals=1)) == (whole, tenths)


def test_more_than_is_not_or_more() -> None:
    assert at_least_percent(0.95) == "95 % of runs or more"
    assert at_least_percent(0.99999) == "more than 99.9 % of runs"


@given(st.fractions(max_denominator=10**6))
def test_a_registered_number_is_written_whole(number: Fraction) -> None:
    assert Fraction(registered(number)) == number


def test_registered_numbers_are_decimals_where_they_are() -> None:
    texts = ["0.499999", "0.5", "4", "-7/3", "-0.05", "0"]
    assert [registered(Fraction(text)) for text in texts] == texts
