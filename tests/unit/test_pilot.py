"""The sd that a pilot reads off its replicates is the one that the rule's power is about."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from verifier.engine.replication_pilot import replicate_sd
from verifier.stats.bounded_design import ProportionRule
from verifier.stats.margin_design import DifferenceRule, RatioRule
from verifier.sweeps.drive import LeastSeconds

SIDES: dict[str, Any] = {"alleged": Fraction(1, 2), "looks": (30,), "minimum_n": 6}
RNG = np.random.default_rng(5)
COMMON = 10.0 * RNG.standard_normal(4_000)


def gap(**keys: Any) -> DifferenceRule:
    return DifferenceRule(claimed=Fraction(4), **SIDES, **keys)


def ratio(**keys: Any) -> RatioRule:
    return RatioRule(claimed=Fraction(8), delta=Fraction(5, 4), **SIDES, **keys)


def test_a_difference_has_the_sd_of_its_differences() -> None:
    left, right = 50 + COMMON + RNG.normal(0, 3, 4_000), 50 + COMMON + RNG.normal(0, 4, 4_000)
    paired = replicate_sd(gap(), left, right)
    assert paired == pytest.approx(np.std(left - right, ddof=1), rel=1e-12)
    assert paired == pytest.approx(5.0, rel=0.05)
    assert replicate_sd(gap(), left - right, None) == pytest.approx(paired, rel=1e-12)
    unpaired = replicate_sd(gap(noise="unpaired"), left, right)
    assert unpaired == pytest.approx((2 * 100 + 25) ** 0.5, rel=0.05)  # what pairing would cancel counts twice
    assert replicate_sd(gap(noise="pooled"), left, right) == unpaired


def test_items_are_averaged_first() -> None:
    left, right = RNG.normal(0, 2, (4_000, 4)), np.zeros((4_000, 4))
    assert replicate_sd(gap(population="this-test-set"), left, right) == pytest.approx(1.0, rel=0.05)


def test_a_ratio_has_the_noise_of_a_launch_and_arm_relative_to_its_mean() -> None:
    common = np.exp(RNG.normal(0, 0.5, 4_000))
    left, right = (scale * common * np.exp(RNG.normal(0, 0.1, 4_000)) for scale in (8.0, 1.0))
    assert replicate_sd(ratio(), left, right) == pytest.approx(0.1, rel=0.05)
    assert replicate_sd(ratio(noise="unpaired"), left, right) == pytest.approx((0.25 + 0.01) ** 0.5, rel=0.05)
    assert replicate_sd(ratio(), left - left.min(), right) is None


def test_what_has_no_sd() -> None:
    assert replicate_sd(gap(), np.full(5, 3.0), np.full(5, 1.0)) is None
    rule = ProportionRule(claimed=Fraction(9, 10), alleged=Fraction(1, 2), looks=(30,), minimum_n=6)
    assert replicate_sd(rule, np.array([0.0, 1.0, 1.0]), None) is None


def test_seconds_are_those_of_a_warm_worker() -> None:
    seconds = LeastSeconds()
    for took in (3.0, 0.1, 2.0):
        seconds["a", ()] = took
    seconds["b", ()] = 1.0
    assert seconds == {("a", ()): 0.1, ("b", ()): 1.0}
