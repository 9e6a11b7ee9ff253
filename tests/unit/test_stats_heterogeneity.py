"""How far teams disagree, and what separates them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from verifier.model.errors import BadInput
from verifier.stats.heterogeneity import heterogeneity, separating_covariates

# Thirteen trials of the BCG vaccine: log risk ratios and their variances, from Colditz et al. (1994)
BCG = np.array(
    [
        (-0.8893, 0.3256),
        (-1.5854, 0.1946),
        (-1.3481, 0.4154),
        (-1.4416, 0.0200),
        (-0.2175, 0.0512),
        (-0.7861, 0.0069),
        (-1.6209, 0.2230),
        (0.0120, 0.0040),
        (-0.4694, 0.0564),
        (-1.3713, 0.0730),
        (-0.3394, 0.0124),
        (0.4459, 0.5325),
        (-0.0173, 0.0714),
    ]
)


def test_published_summary_of_the_bcg_trials() -> None:
    effects, variances = BCG.T
    found = heterogeneity(effects.tolist(), np.sqrt(variances).tolist())
    assert found.q == pytest.approx(152.23, abs=0.6)
    assert found.df == 12
    assert found.p < 1e-20
    assert found.tau**2 == pytest.approx(0.318, abs=0.001)
    assert found.estimate == pytest.approx(-0.715, abs=0.001)
    assert found.i2 == pytest.approx(0.92, abs=0.005)


def by_hand(effects: np.ndarray, errors: np.ndarray, level: float) -> dict[str, float]:
    """Paule–Mandel by root finding, Hartung–Knapp and the prediction interval from their definitions."""
    k = len(effects)

    def at(tau2: float) -> tuple[float, float, np.ndarray]:
        w = 1 / (errors**2 + tau2)
        mean = float(w @ effects / w.sum())
        return float(w @ (effects - mean) ** 2), mean, w

    unit = float(errors.mean() ** 2)
    tau2 = (
        0.0 if at(0.0)[0] <= k - 1 else optimize.brentq(lambda x: at(x)[0] - (k - 1), 0, 1e6 * unit, xtol=1e-12 * unit)
    )
    q, mean, w = at(tau2)
    stderr = math.sqrt(q / (k - 1) / w.sum())
    return {
        "estimate": mean,
        "tau": math.sqrt(tau2),
        "stderr": stderr,
        "reach": stats.t.ppf((1 + level) / 2, k - 1) * stderr,
        "ahead": stats.t.ppf((1 + level) / 2, k - 2) * math.sqrt(tau2 + stderr**2) if k > 2 else math.nan,
    }


@pytest.mark.parametrize("seed", range(24))
def test_against_the_definitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = 2 + seed % 6
    errors = np.exp(rng.normal(seed - 20, 0.7, k))
    effects = 1e3 * (seed % 3) + errors.mean() * rng.standard_normal(k) * (1 + seed % 4)
    found, expected = heterogeneity(effects.tolist(), errors.tolist(), level=0.9), by_hand(effects, errors, 0.9)
    unit = errors.mean()
    assert found.estimate == pytest.approx(expected["estimate"], abs=1e-4 * unit)
    assert found.tau == pytest.approx(expected["tau"], rel=1e-4, abs=1e-4 * unit)
    assert found.stderr == pytest.approx(expected["stderr"], rel=1e-3)
    assert found.interval[1] - found.estimate == pytest.approx(expected["reach"], rel=1e-3)
    if k == 2:
        assert found.prediction is None
    else:
        assert found.prediction is not None
        assert found.prediction[1] - found.estimate == pytest.approx(expected["ahead"], rel=1e-3)


def test_the_intervals_cover_what_they_promise() -> None:
    rng = np.random.default_rng(3)
    runs, k, tau = 1_000, 5, 1.0
    errors = np.array([0.5, 0.6, 0.8, 1.0, 1.2])
    centre = next_team = 0
    for _ in range(runs):
        found = heterogeneity(
            (tau * rng.standard_normal(k) + errors * rng.standard_normal(k)).tolist(), errors.tolist()
        )
        centre += found.interval[0] <= 0 <= found.interval[1]
        assert found.prediction is not None
        next_team += found.prediction[0] <= tau * rng.standard_normal() <= found.prediction[1]
    assert centre / runs == pytest.approx(0.95, abs=0.03)
    assert next_team / runs == pytest.approx(0.90, abs=0.03)  # five teams: short of 95 %, as its docstring says


def test_the_prediction_interval_is_the_wider_one() -> None:
    found = heterogeneity([0.1, 0.9, 2.0, -1.0], [0.2, 0.2, 0.3, 0.2])
    assert found.prediction is not None
    assert found.prediction[0] < found.interval[0] < found.interval[1] < found.prediction[1]


@pytest.mark.parametrize(
    ("effects", "errors", "said"),
    [
        ([1.0], [1.0], "fewer than two teams"),
        ([1.0, 2.0], [1.0], "fewer than two teams"),
        ([1.0, math.nan], [1.0, 1.0], "not finite"),
        ([1.0, 2.0], [1.0, 0.0], "not above zero"),
    ],
)
def test_teams_that_cannot_be_summarized_are_refused(effects: list[float], errors: list[float], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        heterogeneity(effects, errors)


# -- what separates the camps

CAMPS = {"a": True, "b": True, "c": False, "d": False, "e": False}


def test_a_covariate_that_separates_is_found_with_an_exact_p() -> None:
    covariates = {
        "optimizer": {"a": "adam", "b": "adam", "c": "sgd", "d": "sgd", "e": "sgd"},
        "gpu": {"a": "x", "b": "y", "c": "x", "d": "y", "e": "x"},
    }
    (found,) = separating_covariates(CAMPS, covariates, words=("upheld", "dismissed"))
    assert found.covariate == "optimizer"
    assert found.rule == 'upheld: "adam", dismissed: "sgd"'
    assert found.misplaced == ()
    assert found.p == pytest.approx(0.2)  # two of C(5, 2) arrangements: gpu, with its two y, separates one as well
    assert "not a finding" in found.caveat


def test_a_threshold_on_a_number_is_found_in_either_direction() -> None:
    (found,) = separating_covariates(CAMPS, {"batch": {"a": 512, "b": 1024, "c": 32, "d": 64, "e": 32}})
    assert found.rule == "against up to 64, for above"
    (found,) = separating_covariates(CAMPS, {"batch": {"a": 8, "b": 16, "c": 32, "d": 64, "e": 32}})
    assert found.rule == "for up to 16, against above"
    assert found.p == pytest.approx(0.1)  # the two largest are no arrangement of it: the second is tied


def test_a_value_of_its_own_for_every_team_shows_nothing() -> None:
    (found,) = separating_covariates(CAMPS, {"city": {name: name for name in CAMPS}})
    assert found.misplaced == ()
    assert found.p == 1.0


def test_the_team_on_the_wrong_side_is_named() -> None:
    values = {"a": "x", "b": "x", "c": "x", "d": "y", "e": "y"}
    (found,) = separating_covariates(CAMPS, {"code": values})
    assert found.misplaced == ("c",)


def test_no_disagreement_and_no_better_than_the_larger_camp_are_nothing() -> None:
    assert separating_covariates({"a": True, "b": True}, {"x": {"a": "1", "b": "2"}}) == ()
    assert separating_covariates(CAMPS, {"x": dict.fromkeys(CAMPS, "same")}) == ()
    assert separating_covariates(CAMPS, {}) == ()


def test_covariates_that_do_equally_well_are_all_named() -> None:
    same = {"a": "x", "b": "x", "c": "y", "d": "y", "e": "y"}
    found = separating_covariates(CAMPS, {"two": same, "one": same})
    assert [s.covariate for s in found] == ["one", "two"]


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1, max_size=3),
    st.integers(1, 3),
    st.booleans(),
)
def test_p_is_no_smaller_than_chance(values: list[list[int]], size: int, texts: bool) -> None:  # noqa: FBT001  # drawn
    """Over all ways to hand out the camps, p ≤ x in at most the share x of them: exactly, for any covariates."""
    teams = "abcdef"
    covariates = {
        str(i): {t: f"v{v}" if texts else float(v) for t, v in zip(teams, row, strict=True)}
        for i, row in enumerate(values)
    }
    ps: list[float] = []
    for chosen in itertools.combinations(teams, size):
        found = separating_covariates({t: t in chosen for t in teams}, covariates)
        ps.append(1.0 if not found or found[0].p is None else found[0].p)
    for p in set(ps):
        assert sum(other <= p for other in ps) <= p * len(ps) + 1e-9


@given(st.lists(st.floats(-5, 5), min_size=4, max_size=8), st.data())
def test_a_threshold_leaves_as_few_on_the_wrong_side_as_any(values: list[float], data: st.DataObject) -> None:
    camp = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    least = min(
        min(wrong, len(values) - wrong)
        for cut in [*values, -9.0]
        for wrong in [sum((x <= cut) != c for x, c in zip(values, camp, strict=True))]
    )
    names = [f"t{i}" for i in range(len(values))]
    found = separating_covariates(dict(zip(names, camp, strict=True)), {"x": dict(zip(names, values, strict=True))})
    if found:
        assert len(found[0].misplaced) == least
    else:
        assert least == min(sum(camp), len(camp) - sum(camp))


def test_too_many_arrangements_have_no_p() -> None:
    camps = {f"t{i:02}": i < 12 for i in range(24)}
    (found,) = separating_covariates(camps, {"x": {name: "y" if c else "n" for name, c in camps.items()}})
    assert found.p is None


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"a": 1.0}, 'the covariate "x" lacks a team'),
        ({**dict.fromkeys("abcd", 1.0), "e": "one"}, "mixes texts and numbers"),
        ({**dict.fromkeys("abcd", 1.0), "e": math.nan}, "holds NaN"),
    ],
)
def test_broken_covariates_are_refused(values: dict[str, str | float], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        separating_covariates(CAMPS, {"x": values})
