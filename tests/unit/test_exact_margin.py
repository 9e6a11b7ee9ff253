"""The margin series: exact values against brute force, and which steps it keeps."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tests.oracles.configurations import problem
from tests.oracles.hardmax import Brute, dot
from verifier.exact import parse_problem, read_problem, refute
from verifier.exact.divergence import Comparison, FloatSeries
from verifier.exact.margin import MOST_POINTS, NEAR, MarginSeries, events, margins, thinned

PROBLEMS = Path(__file__).parents[2] / "problems"


def series_of(document: object, horizon: int = 300) -> MarginSeries:
    given = parse_problem(document)
    return margins(given, refute(given), horizon=horizon)  # type: ignore[arg-type]  # none is of expressions


def shipped(name: str, horizon: int = 300) -> MarginSeries:
    given = read_problem(PROBLEMS / f"{name}.json")
    return margins(given, refute(given), horizon=horizon)  # type: ignore[arg-type]  # none is of expressions


def test_exact_margins_are_those_of_brute_force() -> None:
    document = problem([["4"], ["-1"]])
    found = series_of(document)
    brute = Brute(document)
    x = brute.start
    for t, exact, component in zip(found.t, found.exact, found.component, strict=True):
        x = brute.move(t, x, brute.admitted(t, x)[0])
        shares = [dot(y, y) / 2 * (t + 1) / (2 * brute.D2) for y in x]
        assert exact == float(max(shares) - 1)  # rounded once
        assert shares[component] == max(shares)
    assert (found.first, found.threshold, found.answer) == ((224, 0), 0.0, "VIOLATED_FOR_ALL")
    signs = {t: exact > 0 for t, exact in zip(found.t, found.exact, strict=True)}
    assert not any(signs[t] for t in range(224))
    assert all(signs[t] for t in range(224, found.steps + 1))


def test_margins_lie_within_their_bounds() -> None:
    for each in series_of(problem([["4"], ["-1"]])).floats:
        assert all(b is not None for b in each.bounds)
        assert all(a <= b for a, b in zip(each.apart, each.bounds, strict=True) if a is not None and b is not None)


@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        ("heavy-ball", "distance to the claimed point"),
        ("powell", "norm of the gradient"),
        ("three-block-admm", "distance to the claimed point"),
    ],
)
def test_maps_show_what_their_claim_speaks_of(name: str, quantity: str) -> None:
    found = shipped(name, horizon=60)
    assert (found.quantity, found.threshold, found.first) == (quantity, None, None)
    assert found.t == tuple(range(61))
    if name == "heavy-ball":
        assert found.exact[0] == pytest.approx(3.3 * 2**0.5, rel=1e-15)
        cycle = (Fraction(2592, 1225), Fraction(-2208, 1225), Fraction(792, 1225))
        norms = sorted((float(a * a + b * b)) ** 0.5 for a, b in zip(cycle, (*cycle[1:], cycle[0]), strict=True))
        assert sorted(found.exact[-3:]) == pytest.approx(norms, rel=1e-6)
    if name == "powell":
        assert found.exact[-1] == pytest.approx(2, rel=1e-9)
        assert found.floats[0].values[43] is not None
        assert found.floats[0].values[44:] == (None,) * 17


def comparison(count: int, first: int | None) -> Comparison:
    values = tuple(float(t) for t in range(count))
    one = FloatSeries("f", values, (0.0,) * count, (None,) * count)
    return Comparison(
        quantity="q", asks="a", threshold=0.0, rule="", first=None if first is None else (first, 0),
        t=tuple(range(count)), exact=values, component=(0,) * count, floats=(one,), divergences=(),
    )  # fmt: skip


@pytest.mark.parametrize(("count", "first"), [(20_000, 6_416), (20_000, None), (401, 0), (5_000, 4_999), (3_000, 3)])
def test_few_points_are_kept_and_all_near_the_first_violation(count: int, first: int | None) -> None:
    found = thinned(comparison(count, first), answer="A")
    assert len(found.t) <= MOST_POINTS + 2
    assert len(found.t) > MOST_POINTS // 3
    assert (found.t[0], found.t[-1], found.steps, found.every) == (0, count - 1, count - 1, False)
    assert list(found.t) == sorted(set(found.t))
    assert found.exact == found.floats[0].values == tuple(float(t) for t in found.t)
    if first is not None:
        assert set(range(max(0, first - NEAR), min(count, first + NEAR + 1))) <= set(found.t)
    for low in (10, 100, 1_000):  # evenly in log t: every factor of 2 has its points
        if 2 * low < count:
            assert sum(low <= t < 2 * low for t in found.t) >= 5


def test_a_short_run_keeps_every_step() -> None:
    found = thinned(comparison(400, 7), answer="A")
    assert (found.t, found.every) == (tuple(range(400)), True)


def test_events_are_the_violations_and_differences() -> None:
    found = series_of(problem([["1/5"], ["-1/10"]], ties="lowest-index"))
    assert events(found.divergences, found.first) == [2, 143, 144]
