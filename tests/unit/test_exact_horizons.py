"""What a horizon forecasts, against the orbit itself, and its sentences."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import log

import pytest

from tests.oracles.configurations import problem
from tests.oracles.hardmax import Brute
from verifier.exact import Horizon, parse_problem
from verifier.exact.hardmax.bound import Bound
from verifier.exact.hardmax.horizon import horizon_of
from verifier.exact.hardmax.orbit import Orbit
from verifier.exact.hardmax.problem import HardmaxProblem
from verifier.exact.hardmax.walk import Follower, Limits, Walk
from verifier.exact.horizons import horizon_sentences


def hardmax() -> HardmaxProblem:
    given = parse_problem(problem([["4"], ["-4"]], ties="lowest-index"))
    assert isinstance(given, HardmaxProblem)
    return given


def falling(power: float, last: int, *, start: float = 16.0) -> Walk:
    """A walk that ends at `last` with 2J = start·(t + 1)^(−power), the bound being 256/(t + 1)."""
    given = hardmax()
    walk = Walk(replace(Orbit(given).start, t=last + 1))
    walk.energies = [(t, log(start) - power * log(t + 1)) for t in (0, 1, 3, 7, 15, 31, 63)]
    walk.last = (start * (last + 1) ** -power).as_integer_ratio()
    return walk


@pytest.mark.parametrize("power", [0.0, 0.25, 0.5, 0.9, -0.5])
def test_the_trend_crosses_where_the_power_law_does(power: float) -> None:
    found = horizon_of(
        falling(power, 100, start=1.0), Bound(hardmax()), worst=(0.5, 7), stopped_by="horizon", catches=()
    )
    crossing = 256.0 ** (1 / (1 - power))  # (t + 1)^(1 − a) = 256
    if power == 0.9:
        assert found.trend_crossing is None  # beyond 10^15 steps
    elif crossing < 101:
        assert found.trend_crossing is None  # that would be a failure, not a forecast
    else:
        assert found.trend_crossing == pytest.approx(crossing - 1, rel=1e-6, abs=1)
    assert (found.t, found.margin, found.margin_at) == (100, 0.5, 7)


@pytest.mark.parametrize("power", [1.0, 1.5])
def test_a_fall_as_steep_as_the_bound_never_crosses(power: float) -> None:
    found = horizon_of(falling(power, 100), Bound(hardmax()), worst=(0.5, 7), stopped_by="horizon", catches=())
    assert found.trend_crossing is None
    assert found.predicted_crossing is not None


def test_without_an_energy_nothing_is_forecast() -> None:
    walk = falling(0.0, 100)
    walk.last = (0, 1)
    found = horizon_of(walk, Bound(hardmax()), worst=(0.5, 7), stopped_by="horizon", catches=())
    assert found.predicted_crossing is None
    assert found.trend_crossing is None


def test_forecasts_of_a_slow_orbit_come_near_its_failure() -> None:
    slow = replace(hardmax(), step="1/1000", gamma=Fraction(1, 1000))
    follower = Follower(slow, Bound(slow), Limits(12))
    walk = follower.start()
    follower.follow(walk, "lowest-index")
    found = horizon_of(walk, follower.bound, worst=walk.worst, stopped_by="horizon", catches=())
    document = problem([["4"], ["-4"]], ties="lowest-index", step="1/1000")
    first = next(t for t, failing in Brute(document).orbit(40)[0] if failing)
    assert found.t == 11 < found.predicted_crossing <= found.trend_crossing
    assert abs(found.trend_crossing - first) <= 1
    assert found.predicted_crossing <= first  # the energy falls, so the bound is crossed no sooner


def test_sentences_say_what_was_reached_and_what_was_not() -> None:
    catches = (("one", 10, True), ("two", 20, True), ("three", 3_000, False))
    horizon = Horizon(100, 0.25, 3, 1_234, "horizon", trend_crossing=5_678, would_catch=catches)
    text = "; ".join(horizon_sentences(horizon, energy=True))
    assert "smallest margin 0.25 at t = 3" in text
    assert "crossed at t = 1,234" in text
    assert "at t = 5,678" in text
    assert "a run to t = 100 reaches t = 10 (one) and t = 20 (two) and does not reach t = 3,000 (three)" in text
    assert "stopped" not in text


def test_sentences_leave_out_what_is_not_known() -> None:
    assert horizon_sentences(Horizon(5, None, None, None, "horizon"), energy=False) == []
    (stopped,) = horizon_sentences(Horizon(5, None, None, None, "time limit"), energy=False)
    assert "time limit" in stopped
