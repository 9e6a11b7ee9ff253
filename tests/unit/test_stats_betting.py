"""Betting on bounded values: the published capital, validity at every look, nested evidence, honest intervals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.model.errors import BadInput
from verifier.stats.betting import (
    bets,
    confidence_sequence,
    log_e_above,
    log_e_below,
    log_gains,
    log_hedged_e,
    unit_values,
)

ZERO, ONE = Fraction(0), Fraction(1)
SAMPLE = np.array([0.2, 0.9, 0.4, 0.7, 0.55, 0.8, 0.35, 0.6, 0.95, 0.5])
GOAL = math.log(40)
LOG_T = math.log(1e3)
unit_lists = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=30).map(np.array)


def test_hedged_capital_after_ten() -> None:
    stakes = bets(SAMPLE, log_target=GOAL)
    assert math.exp(log_hedged_e(SAMPLE, stakes, null=0.3)[-1]) == pytest.approx(18.99652956390032, rel=1e-12)


def test_bets_one_value_at_a_time() -> None:
    """The same strategy written as a gambler would play it."""
    mean_sum, square_sum, variance = 0.5, 0.25, 0.25
    expected = []
    for t, value in enumerate(SAMPLE, start=1):
        expected.append(math.sqrt(2 * GOAL / (variance * t * math.log(t + 1))))
        mean_sum += value
        square_sum += (value - mean_sum / (t + 1)) ** 2
        variance = square_sum / (t + 1)
    assert bets(SAMPLE, log_target=GOAL) == pytest.approx(expected, rel=1e-12)


@settings(deadline=None)
@given(unit_lists, st.integers(0, 29), st.floats(0, 1))
def test_a_bet_knows_only_what_came_before(x: np.ndarray, at: int, other: float) -> None:
    at %= len(x)
    changed = x.copy()
    changed[at] = other
    before, after = bets(x, log_target=GOAL), bets(changed, log_target=GOAL)
    assert np.array_equal(before[: at + 1], after[: at + 1])


@settings(deadline=None)
@given(unit_lists, st.floats(0.01, 0.98), st.floats(0.001, 0.01))
def test_evidence_falls_as_the_null_rises_and_mirrors(x: np.ndarray, null: float, more: float) -> None:
    stakes = bets(x, log_target=LOG_T)
    assert np.all(log_e_above(x, stakes, null=null) >= log_e_above(x, stakes, null=null + more) - 1e-9)
    mirrored = log_e_above(1 - x, bets(1 - x, log_target=LOG_T), null=1 - null)
    assert log_e_below(x, stakes, null=null) == pytest.approx(mirrored, abs=1e-6)


@settings(deadline=None)
@given(st.floats(0.02, 0.98), st.lists(st.booleans(), min_size=1, max_size=9))
def test_the_capital_is_fair_at_the_null(null: float, start: list[bool]) -> None:
    """After any beginning, the next value's gain averages 1 under a two-point distribution with the null's mean."""
    x = np.array([*map(float, start), 0.0])
    stake = bets(x, log_target=LOG_T)[-1:]
    gains = [math.exp(log_gains(np.array([end]), stake, null=null)[0]) for end in (0.0, 1.0)]
    assert (1 - null) * gains[0] + null * gains[1] == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("null", [0.0, 1.0])
def test_nulls_at_the_ends(null: float) -> None:
    x = np.array([0.5, 0.0, 1.0])
    stakes = bets(x, log_target=LOG_T)
    above = log_e_above(x, stakes, null=null)
    assert np.isfinite(above).all()
    assert bool(above[-1] > 0) is (null == 0.0)


def crossing_rate(draw: np.ndarray, null: float) -> float:
    """How often either side's evidence at any n reaches 1000, the larger of the two."""
    stakes = bets(draw, log_target=LOG_T)
    sides = (log_e_above(draw, stakes, null=null), log_e_below(draw, stakes, null=null))
    return max(float((side.max(axis=1) >= LOG_T).mean()) for side in sides)


@pytest.mark.parametrize(
    ("name", "mean"), [("coin", 0.5), ("rare failure", 0.95), ("rare success", 0.05), ("beta", 0.25), ("uniform", 0.5)]
)
def test_false_crossings_with_a_look_at_every_value(name: str, mean: float) -> None:
    rng = np.random.default_rng(7)
    size = (20_000, 150)
    draw = {
        "coin": lambda: (rng.random(size) < mean).astype(float),
        "rare failure": lambda: (rng.random(size) < mean).astype(float),
        "rare success": lambda: (rng.random(size) < mean).astype(float),
        "beta": lambda: rng.beta(0.5, 1.5, size),
        "uniform": lambda: rng.random(size),
    }[name]()
    assert crossing_rate(draw, mean) <= 3e-3


def test_it_crosses_when_the_null_is_wrong() -> None:
    draw = np.random.default_rng(8).random((200, 400))
    assert float((log_e_above(draw, bets(draw, log_target=LOG_T), null=0.35).max(axis=1) >= LOG_T).mean()) > 0.99


def test_interval_is_where_the_hedged_capital_is_below_twenty() -> None:
    looks = [1, 4, 10]
    stakes = bets(SAMPLE, log_target=GOAL)
    ends = confidence_sequence(SAMPLE, lo=ZERO, hi=ONE, looks=looks)
    for look, (low, high) in zip(looks, ends, strict=True):
        for end, outward in ((low, -1e-9), (high, 1e-9)):
            if not 0 < end < 1:
                continue
            inside = log_hedged_e(SAMPLE[:look], stakes[:look], null=end - outward)[-1]
            outside = log_hedged_e(SAMPLE[:look], stakes[:look], null=end + outward)[-1]
            assert inside < math.log(20) <= outside + 1e-12
    assert ends[0] == (0.0, 1.0)
    assert ends[-1][0] > 0.25


@settings(deadline=None, max_examples=40)
@given(unit_lists, st.integers(-5, 5), st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(4)]))
def test_interval_moves_with_the_metric(x: np.ndarray, shift: int, width: Fraction) -> None:
    (plain,) = confidence_sequence(x, lo=ZERO, hi=ONE, looks=[len(x)])
    moved = np.clip(shift + float(width) * x, shift, shift + float(width))
    (other,) = confidence_sequence(moved, lo=Fraction(shift), hi=shift + width, looks=[len(x)])
    assert other == pytest.approx([shift + float(width) * end for end in plain], abs=1e-6)


def test_interval_covers_at_all_looks_together() -> None:
    rng = np.random.default_rng(9)
    looks = [5, 10, 20, 40, 80]
    missed = 0
    for _ in range(300):
        draw = rng.beta(2, 3, 80)
        ends = confidence_sequence(draw, lo=ZERO, hi=ONE, looks=looks)
        missed += any(not low <= 0.4 <= high for low, high in ends)
    assert missed <= 24  # 5 % of 300 and 2.4 standard errors


@pytest.mark.parametrize("value", [-0.01, 1.5, math.nan, math.inf])
def test_a_value_outside_the_range_is_named(value: float) -> None:
    with pytest.raises(BadInput, match=r"value 2, .* is outside the registered range \[0, 1\]"):
        unit_values(np.array([0.5, value]), lo=ZERO, hi=ONE)


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(BadInput, match="is empty"):
        unit_values(SAMPLE, lo=ONE, hi=ONE)
