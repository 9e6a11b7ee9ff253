"""What a unit's stream and its key in the store depend on, and on nothing else."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifier.sweeps.jobs import Inspection, Unit, ValueCall, sums_of, value_of
from verifier.sweeps.worker import BadReturn, unit_row

UNIT = Unit(
    registration="r" * 64,
    probe="term",
    target="model:term",
    stream_target="model:term",
    scale=(("k", 8),),
    replicate=0,
    keywords=(("phases", 100), ("rate", Fraction(1, 2)), ("variant", "plain")),
)
CALL = ValueCall(registration="r" * 64, target="model:exact", scale=(("k", 8),), keywords=(("tau", 0),))


@pytest.mark.parametrize(
    "change",
    [
        {"registration": "s" * 64},
        {"probe": "terms"},
        {"stream_target": "model:other"},
        {"scale": (("k", 9),)},
        {"scale": (("m", 8),)},
        {"replicate": 1},
        {"arm": "left"},
    ],
)
def test_another_unit_has_another_stream(change: dict[str, Any]) -> None:
    other = dataclasses.replace(UNIT, **change)
    assert other.stream != UNIT.stream
    assert other.key != UNIT.key


@pytest.mark.parametrize(
    "change",
    [
        {"target": "model:other"},
        {"keywords": (("phases", 101), ("rate", Fraction(1, 2)), ("variant", "plain"))},
        {"keywords": (("phases", 100), ("rate", Fraction(1, 3)), ("variant", "plain"))},
        {"keywords": (("phases", "100"), ("rate", Fraction(1, 2)), ("variant", "plain"))},
        {"keywords": (("phases", 100),)},
    ],
)
def test_a_target_or_a_setting_changes_the_key_and_keeps_the_stream(change: dict[str, Any]) -> None:
    other = dataclasses.replace(UNIT, **change)
    assert other.stream == UNIT.stream
    assert other.key != UNIT.key


def test_an_equals_control_draws_its_partners_stream_under_its_own_key() -> None:
    partner = dataclasses.replace(UNIT, target="model:partner", stream_target="model:partner")
    control = dataclasses.replace(UNIT, target="model:copy", stream_target="model:partner")
    assert control.stream == partner.stream != UNIT.stream
    assert control.key != partner.key


def test_streams_and_keys_are_hashes_of_what_the_unit_is() -> None:
    # written out by hand: a change of either gives every stored case fresh data
    identity = (
        f'{{"arm":"","probe":"term","registration":"{"r" * 64}","replicate":0,"scale":{{"k":8}},"target":"model:term"}}'
    )
    stream = hashlib.sha256(identity.encode()).hexdigest()[:32]
    assert f"{UNIT.stream:032x}" == stream == "1c8399117553043121c37fbc6aab1650"
    key = f'{{"keywords":{{"phases":100,"rate":"1/2","variant":"plain"}},"stream":"{stream}","target":"model:term"}}'
    assert UNIT.key == hashlib.sha256(key.encode()).hexdigest()


def test_streams_do_not_collide() -> None:
    units = [dataclasses.replace(UNIT, replicate=r, scale=(("k", k),)) for r in range(200) for k in range(2, 12)]
    assert len({unit.stream for unit in units}) == len({unit.key for unit in units}) == len(units)


@pytest.mark.parametrize(
    "change", [{"registration": "s" * 64}, {"target": "model:e"}, {"scale": (("k", 9),)}, {"keywords": ()}]
)
def test_another_value_has_another_key(change: dict[str, Any]) -> None:
    assert dataclasses.replace(CALL, **change).key != CALL.key


def test_jobs_of_different_kinds_never_share_a_key() -> None:
    unit = dataclasses.replace(UNIT, target="model:exact", stream_target="model:exact", keywords=(("tau", 0),))
    keys = {unit.key, CALL.key, Inspection("r" * 64, "model:exact").key, Inspection("r" * 64, "model:e").key}
    assert len(keys) == 4


# rows


def row(values: object) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(json.dumps(unit_row(values)))  # as it travels and is stored
    return kept


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=50))
def test_integers_are_summed_exactly(values: list[int]) -> None:
    sums = sums_of(row(np.array(values, dtype=np.int64)))
    assert sums.exact
    assert (sums.n, sums.total, sums.total_of_squares) == (len(values), sum(values), sum(v * v for v in values))
    assert sums.mean == Fraction(sum(values), len(values))


@given(st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=50), st.randoms())
def test_sums_of_floats_are_correctly_rounded_in_any_order(values: list[float], random: Any) -> None:
    sums = sums_of(row(values))
    shuffled = list(values)
    random.shuffle(shuffled)
    other = sums_of(row(shuffled))
    assert not sums.exact
    assert (sums.total, sums.total_of_squares) == (other.total, other.total_of_squares)
    assert sums.total == Fraction(float(sum(map(Fraction, values))))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "uint64", ">i4", ">i8"])
def test_the_same_integers_are_the_same_row_whatever_their_width(dtype: str) -> None:
    mine, reference = row(np.array([1, 2, 100], dtype=dtype)), row(np.array([1, 2, 100], dtype=np.int64))
    assert mine == reference


@pytest.mark.parametrize("values", [[1, 2, 3], (1, 2, 3), range(1, 4), np.array([1, 2, 3])])
def test_lists_are_arrays(values: object) -> None:
    assert row(values) == row(np.array([1, 2, 3]))


def test_other_values_with_the_same_sums_have_another_hash() -> None:
    a, b = row([1, 2, 3, 0, 0]), row([0, 3, 2, 1, 0])
    assert a["sum"] == b["sum"]
    assert a["sum_sq"] == b["sum_sq"]
    assert a["values_sha256"] != b["values_sha256"]
    assert row([1.0, 2.0])["values_sha256"] != row([1, 2])["values_sha256"]


def test_large_unsigned_integers_are_not_negative_ones() -> None:
    wrapped, large = row(np.array([-1], dtype=np.int64)), row(np.array([2**64 - 1], dtype=np.uint64))
    assert wrapped["values_sha256"] != large["values_sha256"]


def test_the_largest_integers_do_not_wrap() -> None:
    assert row(np.array([2**64 - 1] * 3, dtype=np.uint64))["sum"] == str(3 * (2**64 - 1))
    assert row(np.array([-(2**63)] * 3, dtype=np.int64))["sum_sq"] == str(3 * 2**126)


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        ([], r"shape \(0,\), not one value per inner repetition"),
        (3, r"shape \(\), not one value"),
        ([[1, 2], [3, 4]], r"shape \(2, 2\), not one value"),
        (None, "nothing, not one value"),
        ({"left": [1], "right": [2]}, "a mapping"),
        ([1.0, float("nan")], "nan at position 1"),
        ([float("-inf"), 0.0], "-inf at position 0"),
        ([1e200, 1e200], "whose sum of squares overflows"),
        ([1.7e308, 1.7e308], "overflows"),
        (["a"], "type <U1, neither integers nor floats"),
        ([True, False], "type bool, neither"),
        ([1 + 2j], "type complex128, neither"),
        (np.array([1, None], dtype=object), "type object, neither"),
        ([2**70], "type object, neither"),
        ([Fraction(1, 2)], "type object, neither"),
        ([[1], [1, 2]], "a list that is no array"),
    ],
)
def test_what_a_target_may_not_return_is_said(returned: object, says: str) -> None:
    with pytest.raises(BadReturn, match=says):
        unit_row(returned)


@pytest.mark.parametrize(
    "row", [{}, {"n": "3"}, {"n": 0, "sum": "1", "sum_sq": "1", "values_sha256": "", "values": ""}]
)
def test_a_row_that_no_worker_wrote_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises((KeyError, ValueError)):
        sums_of(row)
    with pytest.raises((KeyError, ValueError)):
        value_of(row)
