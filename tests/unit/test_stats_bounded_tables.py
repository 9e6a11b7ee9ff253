"""The tables of proportion and count: exact, strict, and refused with a reason."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest
from pydantic import ValidationError

from verifier.stats.bounded_design import CountRule, ProportionRule
from verifier.stats.rules import RULES

SHARES = {"claimed": "9/10", "alleged": "0.5", "looks": [20, 40], "minimum_n": 10}


def test_they_become_their_rules() -> None:
    proportion = RULES["proportion"].model_validate({"kind": "proportion", **SHARES}).to_rule()
    assert proportion == ProportionRule(
        claimed=Fraction(9, 10), alleged=Fraction(1, 2), looks=(20, 40), minimum_n=10, threshold=Fraction(10_000)
    )
    count = RULES["count"].model_validate({"kind": "count", "size": 300, **SHARES}).to_rule()
    assert count == CountRule(claimed=Fraction(9, 10), alleged=Fraction(1, 2), looks=(20, 40), minimum_n=10, size=300)
    assert (proportion.kind, count.kind) == ("proportion", "count")
    assert pickle.loads(pickle.dumps(count)) == count  # noqa: S301  # our own bytes


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"claimed": "1.2"}, "claimed exceeds 1"),
        ({"alleged": "0.9"}, "alleged is not below claimed"),
        ({"alleged": "-0.1"}, "may not be negative"),
        ({"claimed": 0.9}, "is not in quotes"),
        ({"looks": [40, 20]}, "looks do not increase"),
        ({"looks": [2, 5]}, "is below minimum_n = 10"),
        ({"threshold": "20"}, "threshold is below 100"),
        ({"theshold": "1e4"}, "Extra inputs are not permitted"),
        ({"size": 0}, "greater than or equal to 1"),
        ({"size": 30}, "is beyond the 30 that are listed"),
        ({"size": 10**7}, "less than or equal to 1000000"),
    ],
)
def test_bad_tables_are_refused(changes: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        RULES["count"].model_validate({"kind": "count", "size": 300, **SHARES, **changes})


def test_a_proportion_has_no_size() -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        RULES["proportion"].model_validate({"kind": "proportion", "size": 300, **SHARES})
