"""How sentences say E-values and discounts."""

from __future__ import annotations

import sys
from fractions import Fraction

from verifier.model.e_values import e_text, e_value
from verifier.stats import proportion
from verifier.stats.bounded_design import ProportionRule


def test_an_infinite_e_is_said_in_words_and_a_discount_of_one_is_not_said() -> None:
    rule = ProportionRule(claimed=Fraction(1), alleged=Fraction(1, 2), looks=(60,), minimum_n=50)
    found = proportion.evaluate(rule, [1] * 59 + [0], discount=1.0, last=True)
    assert found.statistics.e_below_claim.sup == sys.float_info.max
    assert "less than the claimed 1 E more than 1e300" in found.summary
    assert "registrations" not in found.summary
    assert found.answer == "BETWEEN"  # a witness alone does not decide for the dispute
    again = proportion.evaluate(rule, [1] * 59 + [0], discount=0.25, last=True).summary
    assert "any stopping time), after the discount of 0.25 for registrations, against 10,000" in again


def test_one_notation_for_e_and_its_threshold() -> None:
    assert [e_value(x) for x in (2.74e7, 10_000.0, 123.4, 5.678, 2e-5, 1e301)] == [
        "2.7e7",
        "10,000",
        "123",
        "5.68",
        "2.0e-5",
        "more than 1e300",
    ]
    assert e_text(2.74e7) == "E = 2.7e7"
