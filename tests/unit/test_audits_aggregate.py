"""Orders of averaging: the fixtures to 1e-9, nested groups, which order a printed number is, and its witness."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from verifier.audits.aggregate import aggregate
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass
from verifier.model.errors import BadInput

GRPO = [1.0] * 2 + [3.0] * 8
SEQUENCES = {"sequence": [0] * 2 + [1] * 8}


def test_gradient_accumulation_n01() -> None:
    orders = aggregate([2.0, 4.0], weights=[10, 90]).orders
    assert orders["mean of items"] == pytest.approx(3.0, abs=1e-9)
    assert orders["token mean"] == pytest.approx(3.8, abs=1e-9)
    assert orders["token mean times the item count"] == pytest.approx(7.6, abs=1e-9)


def test_gradient_accumulation_token_by_token() -> None:
    orders = aggregate([2.0] * 10 + [4.0] * 90, {"batch": [0] * 10 + [1] * 90}).orders
    assert orders["mean of batch means"] == pytest.approx(3.0, abs=1e-9)
    assert orders["token mean"] == pytest.approx(3.8, abs=1e-9)
    assert orders["token mean times the batch count"] == pytest.approx(7.6, abs=1e-9)


def test_reductions_n06() -> None:
    orders = aggregate(GRPO, SEQUENCES, constant_length=10).orders
    assert orders["mean of sequence means"] == pytest.approx(2.0, abs=1e-9)
    assert orders["token mean"] == pytest.approx(2.6, abs=1e-9)
    assert orders["mean of sequence sums over a constant length"] == pytest.approx(1.3, abs=1e-9)
    assert orders["mean of sequence sums"] == pytest.approx(13.0, abs=1e-9)


def test_word_error_rates_n10() -> None:
    orders = aggregate([1 / 1, 0 / 20], weights=[1, 20]).orders
    assert orders["mean of items"] == pytest.approx(0.5, abs=1e-9)
    assert orders["token mean"] == pytest.approx(0.047619047619047616, abs=1e-9)


@pytest.mark.parametrize(
    ("printed", "order"),
    [
        ("2.0", "mean of sequence means"),
        ("2.6", "token mean"),
        ("1.30", "mean of sequence sums over a constant length"),
        ("13", "mean of sequence sums"),
        ("26", "sum"),
        ("1.5", "harmonic mean of sequence means"),
        ("1.7321", "geometric mean of sequence means"),
    ],
)
def test_the_printed_number_is_found_at_its_rounding(printed: str, order: str) -> None:
    found = aggregate(GRPO, SEQUENCES, constant_length=10, printed_number=printed, declared=order)
    assert order in found.matches
    assert found.finding is AuditAnswer.SAME_BASIS
    assert found.audit().basis_class is BasisClass.AGG


def test_another_order_than_declared_is_a_mismatch_with_a_witness() -> None:
    found = aggregate(GRPO, SEQUENCES, printed_number="2.6", declared="mean of sequence means")
    assert found.matches == ("token mean",)
    assert found.finding is AuditAnswer.MISMATCH_PROVEN
    assert "2.6 is the token mean, not the mean of sequence means, which is 2" in found.sentence
    witness: Any = found.audit().witness
    again = aggregate(**witness["input"]).orders
    assert len(witness["input"]["values"]) == 3
    assert again["mean of sequence means"] == witness["declared"][1]
    assert again["token mean"] == witness["printed"][1]
    assert witness["declared"][1] != pytest.approx(witness["printed"][1])


@pytest.mark.parametrize(
    "declared", ["mean of items", "sum", "mean of a means", "mean of a means of b means", "median"]
)
@pytest.mark.parametrize("printed", ["token mean", "mean of b sums", "sum of a means", "mean of b medians"])
def test_every_pair_of_orders_that_differ_has_a_witness_that_checks_again(declared: str, printed: str) -> None:
    rng = np.random.default_rng(7)
    given: Any = {
        "values": rng.exponential(2.0, 40).tolist(),
        "groups": {"a": (rng.integers(0, 3, 40)).tolist(), "b": rng.integers(0, 9, 40).tolist()},
        "weights": rng.integers(1, 9, 40).tolist(),
    }
    text = f"{aggregate(**given).orders[printed]:.12f}"
    found = aggregate(**given, printed_number=text, declared=declared)
    assert found.matches == (printed,)
    witness: Any = found.witness
    again = aggregate(**witness["input"]).orders
    assert abs(again[declared] - again[printed]) > 1e-9
    assert len(witness["input"]["values"]) <= 4


def test_orders_over_nested_levels() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 9.0]
    groups = {"batch": [0, 0, 0, 0, 1, 1], "sequence": [0, 0, 0, 1, 0, 1]}
    orders = aggregate(values, groups).orders
    assert orders["mean of batch means"] == pytest.approx((2.5 + 7) / 2)
    assert orders["mean of sequence means"] == pytest.approx((2 + 4 + 5 + 9) / 4), "labels count within the batch"
    assert orders["mean of batch means of sequence means"] == pytest.approx(((2 + 4) / 2 + (5 + 9) / 2) / 2)


def test_against_numpy_and_scipy() -> None:
    rng = np.random.default_rng(11)
    values, weights, labels = rng.exponential(2.0, 500), rng.integers(1, 40, 500), rng.integers(0, 30, 500)
    orders = aggregate(values.tolist(), labels.tolist(), weights=weights.tolist()).orders
    means = [np.average(values[labels == i], weights=weights[labels == i]) for i in np.unique(labels)]
    assert orders["token mean"] == pytest.approx(np.average(values, weights=weights), rel=1e-12)
    assert orders["mean of group means"] == pytest.approx(np.mean(means), rel=1e-12)
    assert orders["median of group means"] == pytest.approx(np.median(means), rel=1e-12)
    assert orders["geometric mean"] == pytest.approx(stats.gmean(values), rel=1e-12)
    assert orders["harmonic mean of group means"] == pytest.approx(stats.hmean(means), rel=1e-12)


def test_groups_of_one_size_have_one_mean() -> None:
    found = aggregate([1, 2, 3, 4], ["x", "x", "y", "y"], printed_number="2.5", declared="token mean")
    assert {"token mean", "mean of group means"} <= set(found.matches)
    assert found.finding is AuditAnswer.SAME_BASIS
    assert found.witness is None


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        ({}, "the printed number"),
        ({"printed_number": "2.6"}, "the order in which it is said to be averaged"),
        (
            {"printed_number": "7.77", "declared": "token mean"},
            "the order that was used, or the values behind the number",
        ),
    ],
)
def test_what_is_missing_is_asked_for(arguments: Any, missing: str) -> None:
    found = aggregate(GRPO, SEQUENCES, **arguments)
    assert found.finding is AuditAnswer.INSUFFICIENT
    assert missing in found.audit().missing


def test_no_harmonic_mean_of_zero() -> None:
    assert "harmonic mean" not in aggregate([0.0, 1.0]).orders


@pytest.mark.parametrize(
    "arguments",
    [
        {"values": []},
        {"values": [math.nan]},
        {"values": ["one"]},
        {"values": [1.0], "weights": [1.0, 2.0]},
        {"values": [1.0], "weights": [0.0]},
        {"values": [1.0], "groups": [0, 1]},
        {"values": [1.0], "groups": {str(i): [0] for i in range(5)}},
        {"values": [1.0], "constant_length": 0.0},
        {"values": [1.0], "declared": "mode"},
        {"values": [1.0], "printed_number": "about one"},
    ],
)
def test_what_is_no_input_is_refused(arguments: Any) -> None:
    with pytest.raises(BadInput):
        aggregate(**arguments)
