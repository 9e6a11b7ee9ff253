"""The normal mixture: the published bound, its own e-process, crossings of Gaussian walks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from verifier.model.errors import BadInput
from verifier.stats.normal_mixture import (
    log_normal_mixture_e,
    normal_mixture_bound,
    normal_mixture_interval,
    tuned_rho,
)


def test_two_sided_bound() -> None:
    assert float(normal_mixture_bound(100, alpha=0.05, v_opt=50)) == pytest.approx(30.614772188674166, rel=1e-12)


@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize(("s", "v", "rho"), [(3.0, 10.0, 4.0), (-2.0, 5.0, 1.0), (25.0, 60.0, 9.0)])
def test_e_process_is_the_mixture_integral(s: float, v: float, rho: float, *, two_sided: bool) -> None:
    prior = stats.norm(scale=1 / math.sqrt(rho)) if two_sided else stats.halfnorm(scale=1 / math.sqrt(rho))
    low = -np.inf if two_sided else 0.0
    integral, _ = integrate.quad(lambda x: math.exp(x * s - x * x * v / 2) * prior.pdf(x), low, np.inf, epsabs=0)
    assert math.exp(log_normal_mixture_e(s, v, rho=rho, two_sided=two_sided)) == pytest.approx(integral, rel=1e-7)


@settings(deadline=None)
@given(st.floats(0.1, 1e6), st.floats(1e-6, 0.4), st.floats(0.1, 1e6), st.booleans())
def test_bound_is_where_the_e_process_reaches_its_bar(v: float, alpha: float, v_opt: float, two_sided: bool) -> None:  # noqa: FBT001  # hypothesis passes it by name
    bound = normal_mixture_bound(v, alpha=alpha, v_opt=v_opt, two_sided=two_sided)
    rho = tuned_rho(v_opt, alpha=alpha, two_sided=two_sided)
    log_e = float(log_normal_mixture_e(bound, v, rho=rho, two_sided=two_sided))
    assert log_e == pytest.approx(-math.log(alpha), rel=1e-6)
    assert float(log_normal_mixture_e(0.999 * bound, v, rho=rho, two_sided=two_sided)) < log_e


def test_one_sided_lies_between_the_two_sided_ones() -> None:
    v = np.array([1.0, 10.0, 100.0, 1e4])
    one = normal_mixture_bound(v, alpha=0.05, v_opt=100, two_sided=False)
    assert np.all(one < normal_mixture_bound(v, alpha=0.05, v_opt=100) * 1.05)
    assert one[2] < normal_mixture_bound(100, alpha=0.05, v_opt=100)


def test_walks_cross_no_more_often_than_allowed() -> None:
    walks = np.random.default_rng(3).standard_normal((4_000, 300)).cumsum(axis=1)
    n = np.arange(1.0, 301.0)
    two = (np.abs(walks) >= normal_mixture_bound(n, alpha=0.05, v_opt=50)).any(axis=1).mean()
    one = (walks >= normal_mixture_bound(n, alpha=0.05, v_opt=50, two_sided=False)).any(axis=1).mean()
    assert 0.005 < two < 0.06
    assert 0.005 < one < 0.06


def test_interval_is_the_bound_over_n() -> None:
    low, high = normal_mixture_interval([0.2, 0.3], [10, 100], sd=0.5, n_opt=50)
    reach = 0.5 * normal_mixture_bound([10, 100], alpha=0.05, v_opt=50) / [10, 100]
    assert low == pytest.approx([0.2 - reach[0], 0.3 - reach[1]])
    assert high == pytest.approx([0.2 + reach[0], 0.3 + reach[1]])


@pytest.mark.parametrize(
    ("v_opt", "alpha", "two_sided"),
    [(0, 0.05, True), (1, 0, True), (1, 1, True), (1, 0.5, False), (math.nan, 0.1, True)],
)
def test_no_mixture_without_sense(v_opt: float, alpha: float, *, two_sided: bool) -> None:
    with pytest.raises(BadInput, match="no mixture is tuned"):
        tuned_rho(v_opt, alpha=alpha, two_sided=two_sided)
