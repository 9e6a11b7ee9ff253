"""Flags by name: each is raised where it should be and stays silent where it should."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from verifier.model.errors import BadInput
from verifier.stats.flags import (
    clustered_cells,
    identical_to_printed,
    marginal_error,
    prediction_interval,
    shared_seeds,
    skew,
    skewness_p,
    zero_variance,
)


def test_shared_seeds_are_counted() -> None:
    found = shared_seeds({"k=8": [0, 1, 2], "k=16": [0, 1, 3], "k=32": ["0", 0]})
    assert found is not None
    assert found.numbers == {"shared": 2, "seeds": 5, "cells": 3, "most_cells": 3}
    assert "seed 0 3 of them" in found.evidence
    assert shared_seeds({"k=8": [0, 0, 1], "k=16": [2, 3]}) is None
    assert shared_seeds({}) is None


def test_clusters_that_matter() -> None:
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(8), 10)
    values = rng.normal(0, 1, 8)[labels] + rng.normal(0, 0.3, 80)
    found = clustered_cells(values, labels.tolist())
    assert found is not None
    groups = [values[labels == k] for k in range(8)]
    assert found.numbers["p"] == pytest.approx(stats.f_oneway(*groups).pvalue, rel=1e-6)
    means = np.array([g.mean() for g in groups])
    assert found.numbers["stderr_clusters"] == pytest.approx(means.std(ddof=1) / math.sqrt(8), rel=1e-12)
    assert found.numbers["stderr_rows"] == pytest.approx(values.std(ddof=1) / math.sqrt(80), rel=1e-12)
    assert 0.8 < found.numbers["icc"] < 1
    assert found.numbers["design_effect"] == pytest.approx(1 + 9 * found.numbers["icc"])


def test_clusters_that_do_not() -> None:
    rng = np.random.default_rng(5)
    raised = sum(clustered_cells(rng.normal(size=40), (list(range(8)) * 5)) is not None for _ in range(1000))
    assert raised <= 6
    assert clustered_cells([1.0, 2.0, 3.0], [1, 1, 1]) is None
    assert clustered_cells([1.0, 2.0, 3.0], [1, 2, 3]) is None
    assert clustered_cells([5.0, 5.0, 5.0, 5.0], [1, 1, 2, 2]) is None
    constant = clustered_cells([1.0, 1.0, 2.0, 2.0, 4.0, 4.0], ["a", "a", "b", "b", "c", "c"])
    assert constant is not None
    assert constant.numbers["icc"] == 1


def test_marginal_error_for_pairs() -> None:
    rng = np.random.default_rng(6)
    common = rng.normal(0, 2, 10)
    left, right = common + rng.normal(1, 0.3, 10), common + rng.normal(0, 0.3, 10)
    marginal = math.sqrt((left.var(ddof=1) + right.var(ddof=1)) / 10)
    paired = (left - right).std(ddof=1) / math.sqrt(10)
    found = marginal_error(left, right, printed=f"{marginal:.3f}")
    assert found is not None
    assert (found.numbers["marginal"], found.numbers["paired"]) == pytest.approx((marginal, paired))
    assert marginal_error(left, right, printed=f"{paired:.3f}") is None
    assert marginal_error(left, right, printed=f"{marginal + 0.01:.3f}") is None
    assert marginal_error([1.0], [2.0], printed="0.1") is None


def test_prediction_interval_called_confidence() -> None:
    values = np.array([0.6, 0.4, 1.1, 0.3, 0.9])
    mean, sd = values.mean(), values.std(ddof=1)
    t = stats.t.ppf(0.975, 4)
    for reach in (t * sd * math.sqrt(1 + 1 / 5), 1.959964 * sd, 2 * sd):
        found = prediction_interval(values, low=f"{mean - reach:.3f}", high=f"{mean + reach:.3f}")
        assert found is not None
        assert found.numbers["half_width"] == pytest.approx(reach, abs=1e-3)
        assert found.numbers["confidence_half_width"] == pytest.approx(t * sd / math.sqrt(5))
    true = t * sd / math.sqrt(5)
    assert prediction_interval(values, low=f"{mean - true:.3f}", high=f"{mean + true:.3f}") is None
    assert prediction_interval(values, low="0.1", high="9.9") is None
    assert prediction_interval([1.0], low="0", high="2") is None
    assert prediction_interval([1.0, 1.0], low="1.0", high="1.0") is None


def test_identical_to_printed() -> None:
    measured = {"a": "71.32", "b": "68.90", "c": "70.11"}
    printed = {"a": "71.32", "b": "68.9", "c": "70.11", "d": "1"}
    found = identical_to_printed(measured, printed, sd=0.8)
    assert found is not None
    assert (found.numbers["identical"], found.numbers["cells"]) == (3, 3)
    chance = 0.1 / (0.8 * math.sqrt(2 * math.pi))  # the coarsest printed cell
    assert found.numbers["chance"] == pytest.approx(chance)
    assert found.numbers["p"] == pytest.approx(stats.binom.sf(2, 3, chance), rel=1e-9)
    assert identical_to_printed({"a": "71.32"}, {"a": "71.33"}, sd=0.8) is None
    assert identical_to_printed({"a": "71.3", "b": "2.00"}, {"a": "71.3", "b": "2.10"}, sd=0.3) is None  # chance
    assert identical_to_printed({"a": "71"}, {"a": "71"}, sd=0.01) is None  # no noise to tell them apart
    assert identical_to_printed(measured, {}, sd=1.0) is None


def test_chance_agreements_are_seldom_flagged() -> None:
    rng = np.random.default_rng(12)
    raised = 0
    for _ in range(2000):
        truth, cells = rng.normal(10, 3, 6), "abcdef"
        printed = {c: f"{v:.1f}" for c, v in zip(cells, truth + rng.normal(0, 0.2, 6), strict=True)}
        measured = {c: f"{v:.1f}" for c, v in zip(cells, truth, strict=True)}
        raised += identical_to_printed(measured, printed, sd=0.2) is not None
    assert raised <= 8


def test_no_variance_is_none() -> None:
    found = zero_variance([0.83] * 7)
    assert found is not None
    assert found.numbers == {"n": 7, "value": 0.83, "spread": 0.0}
    rounded = zero_variance([0.83] * 7, unit=0.01)
    assert rounded is not None
    bound = rounded.numbers["sd_upper"]
    inside = stats.norm.cdf(0.005 / bound) - stats.norm.cdf(-0.005 / bound)
    assert inside**7 == pytest.approx(0.05, rel=1e-9)
    last_place = zero_variance([0.1 + 0.2, 0.3, 0.3])
    assert last_place is not None
    assert "arithmetic rounding" in last_place.evidence
    assert zero_variance([0.83, 0.8300001]) is None
    assert zero_variance([0.83]) is None
    assert zero_variance([0.0, 0.0]) is not None


@settings(deadline=None)
@given(st.integers(8, 300), st.floats(-4, 4))
def test_skewness_test_is_that_of_scipy(n: int, shape: float) -> None:
    values = np.exp(shape * np.random.default_rng(n).normal(size=n) / 4)
    if np.ptp(values) < 1e-6:
        return
    expected = stats.skewtest(values)
    centred = values - values.mean()
    root_b1 = float(np.mean(centred**3) / np.mean(centred**2) ** 1.5)
    assert skewness_p(root_b1, n) == pytest.approx(expected.pvalue, rel=1e-6)


def test_skew_is_flagged_on_lognormal_and_not_on_normal() -> None:
    rng = np.random.default_rng(13)
    assert sum(skew(rng.lognormal(0, 1, 100)) is not None for _ in range(50)) == 50
    assert sum(skew(rng.normal(size=30)) is not None for _ in range(1000)) <= 6
    found = skew(-rng.lognormal(0, 1, 100))
    assert found is not None
    assert "a few low values" in found.evidence
    assert skew([1.0] * 20) is None
    assert skew(np.arange(7.0)) is None


def test_what_is_refused() -> None:
    with pytest.raises(BadInput, match="not a finite number"):
        skew([math.nan] * 9)
    with pytest.raises(BadInput, match="cluster labels"):
        clustered_cells([1.0, 2.0], ["a"])
    with pytest.raises(BadInput, match="are paired with"):
        marginal_error([1.0], [1.0, 2.0], printed="1")
    with pytest.raises(BadInput, match="is not a number"):
        marginal_error([1.0, 2.0], [1.0, 2.5], printed="about 1")
    with pytest.raises(BadInput, match="no last digit"):
        marginal_error([1.0, 2.0], [1.0, 2.5], printed="1/3")
    with pytest.raises(BadInput, match="is not above zero"):
        identical_to_printed({"a": "1"}, {"a": "1"}, sd=0.0)
