"""The rule tables of `difference` and `ratio`: exact, strict, and refused with a reason."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import pytest
from pydantic import ValidationError

from verifier.stats.margin_design import DifferenceRule, RatioRule
from verifier.stats.rules import RULES

DIFFERENCE = {"kind": "difference", "delta": "0.04", "looks": [10, 20, 30, 40, 50, 60], "bounds": ["0", "1"]}
RATIO = {"kind": "ratio", "claimed": "8", "delta": "1.25", "alleged": "1/2", "looks": [12], "minimum_n": 12}


def rule_of(usual: dict[str, Any], **changes: Any) -> Any:
    table = {key: value for key, value in {**usual, **changes}.items() if value is not ...}
    return RULES[table["kind"]].model_validate(table).to_rule()  # type: ignore[attr-defined]  # every table has it


def test_the_designed_rules_are_kept_exactly() -> None:
    assert rule_of(DIFFERENCE) == DifferenceRule(
        claimed=Fraction(1, 25),
        alleged=Fraction(0),
        looks=(10, 20, 30, 40, 50, 60),
        minimum_n=15,
        bounds=(Fraction(0), Fraction(1)),
    )
    found = rule_of(RATIO)
    assert found == RatioRule(
        claimed=Fraction(8), delta=Fraction(5, 4), alleged=Fraction(1, 2), looks=(12,), minimum_n=12
    )
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301  # our own bytes
    assert (rule_of(DIFFERENCE).kind, found.kind) == ("difference", "ratio")


def test_the_usual_minimum_depends_on_the_bounds() -> None:
    assert rule_of(DIFFERENCE, bounds=...).minimum_n == 30
    assert rule_of(DIFFERENCE, minimum_n=6).minimum_n == 6
    assert rule_of(RATIO, minimum_n=..., looks=[12, 40]).minimum_n == 30


def test_one_seed_on_drawn_items() -> None:
    found = rule_of(DIFFERENCE, population="items-drawn", looks=[1])
    assert found.one_seed
    assert (found.minimum_n, found.minimum_items) == (1, 30)
    assert not rule_of(DIFFERENCE, population="items-drawn", looks=[20]).one_seed


@pytest.mark.parametrize(
    ("usual", "changes", "says"),
    [
        (DIFFERENCE, {"detla": "0.04"}, "Extra inputs"),
        (DIFFERENCE, {"delta": ...}, "Field required"),
        (DIFFERENCE, {"looks": ...}, "Field required"),
        (DIFFERENCE, {"delta": 0.04}, "written as a string"),
        (DIFFERENCE, {"delta": "nan"}, "is not a number"),
        (DIFFERENCE, {"delta": "1e150"}, "exponent beyond"),
        (DIFFERENCE, {"alleged": "1e-150"}, "exponent beyond"),
        (DIFFERENCE, {"alleged": "0.04"}, "not below delta"),
        (DIFFERENCE, {"looks": [20, 20]}, "do not increase"),
        (DIFFERENCE, {"looks": []}, "at least 1"),
        (DIFFERENCE, {"looks": [0, 20]}, "greater than or equal to 1"),
        (DIFFERENCE, {"looks": [1, 20]}, "no variance"),
        (DIFFERENCE, {"looks": [10]}, "never decide"),
        (DIFFERENCE, {"bounds": ..., "looks": [20]}, "never decide"),
        (DIFFERENCE, {"minimum_n": 5}, "greater than or equal to 6"),
        (DIFFERENCE, {"bounds": ["1", "0"]}, "bounds do not increase"),
        (DIFFERENCE, {"bounds": ["1"]}, "at least 2"),
        (DIFFERENCE, {"threshold": "20"}, "below 100"),
        (DIFFERENCE, {"noise": "white"}, "'paired', 'unpaired' or 'pooled'"),
        (DIFFERENCE, {"population": "items-drawn"}, "looked at once"),
        (DIFFERENCE, {"population": "items-drawn", "looks": [1], "minimum_n": 20}, "one seed has no minimum_n"),
        (DIFFERENCE, {"population": "everything"}, "'this-test-set'"),
        (DIFFERENCE, {"method": "betting", "bounds": ..., "looks": [60]}, "what it can lose"),
        (DIFFERENCE, {"method": "betting", "noise": "pooled"}, "betting is on replicates"),
        (DIFFERENCE, {"method": "betting", "population": "items-drawn", "looks": [60]}, "betting is on replicates"),
        (DIFFERENCE, {"method": "betting", "delta": "2"}, "no difference within the bounds"),
        (DIFFERENCE, {"better": "left"}, "'higher' or 'lower'"),
        (DIFFERENCE, {"original_n": 1}, "greater than or equal to 2"),
        (RATIO, {"delta": "1"}, "above 1"),
        (RATIO, {"claimed": "0"}, "above zero"),
        (RATIO, {"claimed": "1e120"}, "exponent beyond"),
        (RATIO, {"alleged": "1e-120"}, "exponent beyond"),
        (RATIO, {"alleged": "6.4"}, "not below claimed/delta"),
        (RATIO, {"minimum_n": ...}, "never decide"),
        (RATIO, {"estimand": "median"}, "'geometric' or 'ratio-of-means'"),
        (RATIO, {"noise": "pooled"}, "'paired' or 'unpaired'"),
        (RATIO, {"alleged": ...}, "Field required"),
    ],
)
def test_a_bad_table_is_refused(usual: dict[str, Any], changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError) as caught:
        rule_of(usual, **changes)
    assert says in caught.value.errors()[0]["msg"]
