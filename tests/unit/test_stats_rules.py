"""The rule table of a case file: exact, strict, and refused with a reason."""

from __future__ import annotations

import copy
import pickle
import tomllib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from verifier.stats.growth_rule import GrowthRule
from verifier.stats.rules import RULES, exact_number

DESIGNED = tomllib.loads(
    """
rule = { kind = "growth", law = "log", delta = "0.19", alternative = "0.38", threshold = "1e4",
         noise = "block", replicate = { phases = 100 }, looks = [10, 20, 30, 40, 50, 60, 70, 80],
         gamma0 = "0.5", floor = "0", extrapolate = true }
""".replace(",\n", ", ")
)["rule"]


def rule_of(**changes: object) -> GrowthRule:
    table = {**DESIGNED, **changes}
    return RULES["growth"].model_validate({k: v for k, v in table.items() if v is not ...}).to_rule()


def test_the_designed_rule_is_kept_exactly() -> None:
    rule = rule_of()
    assert rule == GrowthRule(
        delta=Fraction(19, 100),
        alternative=Fraction(19, 50),
        threshold=Fraction(10_000),
        noise="block",
        replicate={"phases": 100},
        looks=(10, 20, 30, 40, 50, 60, 70, 80),
        gamma0=Fraction(1, 2),
        floor=Fraction(0),
        extrapolate=True,
    )
    assert rule.kind == "growth"
    assert rule.inner(57) == {"phases": 5700}
    assert pickle.loads(pickle.dumps(rule)) == rule  # noqa: S301  # our own bytes


def test_what_may_be_left_out_has_the_usual_value() -> None:
    usual = dict.fromkeys(["law", "threshold", "noise", "gamma0", "floor", "extrapolate"], ...)
    assert rule_of(**usual) == rule_of()


@pytest.mark.parametrize(
    ("changes", "key", "says"),
    [
        ({"detla": "0.19"}, "detla", "Extra inputs are not permitted"),
        ({"delta": ...}, "delta", "Field required"),
        ({"alternative": ...}, "alternative", "Field required"),
        ({"looks": ...}, "looks", "Field required"),
        ({"delta": 0.19}, "delta", "written as a string"),
        ({"delta": 1}, "delta", "written as a string"),
        ({"delta": True}, "delta", "written as a string"),
        ({"delta": "1/0"}, "delta", "divides by zero"),
        ({"delta": "-0.1"}, "delta", "above zero"),
        ({"delta": "nan"}, "delta", "is not a number"),
        ({"delta": "１"}, "delta", "is not a number"),
        ({"delta": "1e999"}, "delta", "exponent beyond"),
        ({"delta": "0." + "1" * 60}, "delta", "digits"),
        ({"delta": "1" * 5000}, "delta", "is not a number"),
        ({"floor": "-1"}, "floor", "not be negative"),
        ({"law": "cubic"}, "law", "'log'"),
        ({"law": "power"}, None, "stands with it always"),
        ({"law": "sqrt", "exponent": "1/2"}, None, "stands with it always"),
        ({"law": "power", "exponent": "9/2"}, None, "exceeds 4"),
        ({"law": "power", "exponent": "0"}, "exponent", "above zero"),
        ({"law": "loglog", "log_delta": "0.1"}, None, "beside a power law"),
        ({"noise": "white"}, "noise", "'block' or 'pooled'"),
        ({"looks": []}, "looks", "at least 1"),
        ({"looks": [1, 2]}, "looks", "greater than or equal to 2"),
        ({"looks": ["10"]}, "looks", "valid integer"),
        ({"looks": [True, 10]}, "looks", "valid integer"),
        ({"replicate": {"phases": 0}}, "replicate", "greater than or equal to 1"),
        ({"replicate": {"Phases!": 1}}, "replicate", "is not a keyword"),
        ({"extrapolate": "yes"}, "extrapolate", "valid boolean"),
        ({"variance": {"x": "1"}, "noise": "pooled"}, "variance", "is not a scale"),
        ({"looks": [10, 10]}, None, "do not increase"),
        ({"looks": [20, 10]}, None, "do not increase"),
        ({"delta": "0.5"}, None, "exceeds alternative"),
        ({"threshold": "20"}, None, "below 100"),
        ({"gamma0": "3"}, None, "exceeds 2"),
        ({"variance": {"32": "1"}}, None, "belongs to noise"),
        ({"minimum_n": 9000}, None, "never decide"),
    ],
)
def test_a_bad_table_is_refused_by_key(changes: dict[str, object], key: str | None, says: str) -> None:
    with pytest.raises(ValidationError) as caught:
        rule_of(**changes)
    error = caught.value.errors()[0]
    assert (error["loc"][0] if error["loc"] else None) == key
    assert says in error["msg"]


@given(st.fractions(min_value=0, max_value=10**9, max_denominator=10**9))
def test_rationals_are_read_exactly(value: Fraction) -> None:
    assert exact_number(f"{value.numerator}/{value.denominator}") == value


@given(st.integers(0, 10**12), st.integers(0, 12), st.integers(-30, 30))
def test_decimals_and_powers_of_ten_are_read_exactly(digits: int, places: int, exponent: int) -> None:
    text = str(digits).rjust(places + 1, "0")
    decimal = f"{text[: len(text) - places]}.{text[len(text) - places :]}" if places else text
    assert exact_number(f"{decimal}e{exponent}") == Fraction(digits, 10**places) * Fraction(10) ** exponent


@given(st.text(max_size=12))
def test_any_other_text_is_a_value_error_or_a_number(text: str) -> None:
    try:
        assert isinstance(exact_number(text), Fraction)
    except ValueError as error:
        assert str(error)  # noqa: PT017  # either is right; nothing else may escape


def test_a_law_has_one_name() -> None:
    assert rule_of(law="power", exponent="0.5") == rule_of(law="sqrt")
    assert rule_of(law="power", exponent="1") == rule_of(law="linear")
    assert rule_of(law="power", exponent="0.75").law == "power 3/4"
    assert rule_of(law="sqrt", log_delta="0.05").log_delta == Fraction(1, 20)


def test_a_rule_does_not_share_its_tables_with_the_case() -> None:
    table = copy.deepcopy(DESIGNED)
    rule = RULES["growth"].model_validate(table).to_rule()
    table["looks"].append(90)
    table["replicate"]["phases"] = 1
    assert rule.maximum == 80
    assert rule.replicate_size == 100
