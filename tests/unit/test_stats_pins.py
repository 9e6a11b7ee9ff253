"""Published values, and statsmodels and scipy.stats as oracles.

Further published values stand with what they belong to: betting (test_stats_betting), the normal mixture
(test_stats_normal_mixture), Clopper–Pearson (test_stats_proportion), e-BH (test_stats_portfolio), random effects
(test_stats_heterogeneity).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

from verifier.stats import eprocess, significance
from verifier.stats.classical import classical_fits, hc3_fit, weighted_fit
from verifier.stats.contrasts import cone_contrast, contrasts, l1_norm, upper_half
from verifier.stats.critical import critical_t, misses, power_at, replicates_needed
from verifier.stats.eprocess import log_mixture_e, log_t_e
from verifier.stats.growth_rule import GrowthRule
from verifier.stats.margin_reported import tost
from verifier.stats.mcnemar import exact_mcnemar
from verifier.stats.noise import block_estimate, pooled_estimate
from verifier.stats.portfolio import holm
from verifier.stats.power import needed_replicates, slope_test_misses
from verifier.stats.significance import anytime_sigma, log_t_cdf, p_to_e, sigma_from_t

LOG_T = math.log(1e4)
SAMPLE = np.array([0.8, 1.1, 0.3, 0.9, 1.4])
K = np.array([2, 4, 8, 16, 32, 64], float)
Y = np.array([0.31, 0.50, 0.83, 1.02, 1.36, 1.55])
S = np.array([0.05, 0.05, 0.08, 0.08, 0.1, 0.12])


def doubling(least: int, largest: int) -> list[int]:
    return [1 << i for i in range(least.bit_length() - 1, largest.bit_length())]


def test_t_e_process_on_five_observations() -> None:
    path = block_estimate(np.array([1.0]), SAMPLE[None, :], [5])
    t = path.t(0.0)
    two_sided = log_t_e(t, df=path.df, n=path.n, tau=1, two_sided=True)
    assert math.exp(two_sided[0]) == pytest.approx(9.54494605800279, rel=1e-12)
    assert math.exp(log_t_e(t, df=path.df, n=path.n, tau=1)[0]) == pytest.approx(18.934358350915836, rel=1e-12)


def test_weighted_fit_and_its_fixed_scale_error() -> None:
    fit = weighted_fit(np.log(K), Y, S)
    assert fit["slope"] == pytest.approx(0.36789949661933, rel=1e-12)
    assert fit["chi2"] == pytest.approx(1.53134230718803, rel=1e-12)
    # the rescaled error would be .01667324811334, too small where χ² is below its df
    assert fit["stderr"] == pytest.approx(0.02694722620481, rel=1e-12)
    assert weighted_fit(np.log(K), Y, S / 10)["stderr"] == pytest.approx(0.01667324811334, rel=1e-12)


def test_hc3_error_uses_t() -> None:
    fit = hc3_fit(np.log(K), Y)
    assert fit["stderr"] == pytest.approx(0.0171889852534233, rel=1e-12)
    assert fit["p"] == pytest.approx(2 * stats.t.sf(fit["slope"] / fit["stderr"], 4), rel=1e-9)


def test_classical_fits_are_those_of_the_cell_means() -> None:
    values = Y[:, None] + S[:, None] * np.sqrt(3) * np.array([-1.0, 0.0, 1.0])  # means Y, standard errors S
    fits = classical_fits([2, 4, 8, 16, 32, 64], values)
    assert fits["wls"]["stderr"] == pytest.approx(0.02694722620481, rel=1e-10)
    assert fits["hc3"]["stderr"] == pytest.approx(0.0171889852534233, rel=1e-10)


@pytest.mark.parametrize(("p", "e"), [(0.05, 1.783322181482338), (2.866515718791939e-07, 15371.119290836677)])
def test_calibrator(p: float, e: float) -> None:
    assert p_to_e(p) == pytest.approx(e, rel=1e-12)


def test_calibrator_integrates_to_one_and_is_smooth_at_one() -> None:
    p = np.linspace(1e-6, 1, 400_001)
    e = np.array([p_to_e(x) for x in p[::40]])
    below = 1 / -math.log(1e-6)  # ∫₀^x of (1 − p + p ln p)/(p ln² p) is (x − 1)/ln x
    assert np.trapezoid(e[1:], p[::40][1:]) == pytest.approx(1 - (p[40] - 1) / math.log(p[40]), abs=1e-3)
    assert below < 0.1
    assert p_to_e(1 - 1e-7) == pytest.approx(0.5, abs=1e-6)
    assert p_to_e(math.exp(-0.001001)) == pytest.approx(p_to_e(math.exp(-0.000999)), rel=1e-5)


def test_cone_contrast_l1_norms() -> None:
    assert l1_norm(cone_contrast(doubling(32, 1024), gamma0=0.5)) == pytest.approx(3.805, abs=5e-4)
    assert l1_norm(cone_contrast(doubling(2, 1024), gamma0=0.5)) == pytest.approx(1.142, abs=5e-4)


def test_upper_half_is_the_last_ceil_of_half() -> None:
    assert [upper_half(m) for m in (5, 6, 7)] == [2, 3, 3]


def test_critical_t_of_the_threshold() -> None:
    found = [critical_t(n, log_threshold=LOG_T) for n in (5, 10, 24, 60)]
    assert found == pytest.approx([37.6, 9.45, 6.03, 5.19], abs=0.05)
    assert critical_t(4, log_threshold=LOG_T) == math.inf
    t = found[1]
    assert float(log_mixture_e(t, df=9, n=10)) >= LOG_T > float(log_mixture_e(np.nextafter(t, 0), df=9, n=10))


def test_critical_t_at_twenty() -> None:
    found = [critical_t(n, log_threshold=math.log(20)) for n in (5, 10, 30, 60)]
    assert found == pytest.approx([5.02, 3.70, 3.24, 3.20], abs=0.006)


def test_replicates_needed_by_effect() -> None:
    found = [replicates_needed(d, log_threshold=LOG_T) for d in (0.5, 0.75, 1, 1.5, 2, 3, 5, 8)]
    assert found == [158, 75, 46, 26, 18, 13, 9, 7]
    assert replicates_needed(0.0, log_threshold=LOG_T) is None
    assert replicates_needed(1e-5, log_threshold=LOG_T) is None


def test_replicates_needed_by_largest_scale() -> None:
    rule = GrowthRule(delta=Fraction("0.19"), alternative=Fraction("0.38"), looks=(10,))
    found = {k: needed_replicates(rule, scales=doubling(8, k), sd={8: 0.3}) for k in (128, 256, 512, 1024, 2048)}
    assert found == {128: 133, 256: 57, 512: 31, 1024: 21, 2048: 15}
    assert needed_replicates(rule, scales=doubling(8, 64), sd={8: 0.3}) is None  # four scales
    cone = contrasts(doubling(8, 64), gamma0=0.5).cone
    assert replicates_needed(0.38 / (0.3 * float(np.linalg.norm(cone))), log_threshold=LOG_T) == 441


def test_a_usual_slope_test_misses_growth_in_thirty_per_cent() -> None:
    assert slope_test_misses([8, 16, 32, 64], sd={8: 0.3}, slope=0.38, n=3) == pytest.approx(0.300, abs=5e-4)


@pytest.mark.parametrize(
    ("largest", "sd", "missed"),
    [(8, 0.3, 0.58), (16, 0.3, 0.30), (32, 0.3, 0.10), (32, 1.0, 0.74), (64, 1.0, 0.64), (256, 1.0, 0.39)],
)
def test_a_usual_slope_test_misses_growth(largest: int, sd: float, missed: float) -> None:
    assert slope_test_misses(doubling(2, largest), sd={2: sd}, slope=0.38, n=3) == pytest.approx(missed, abs=0.005)


def test_misses_against_simulation() -> None:
    rng = np.random.default_rng(1)
    x = 1.0 + rng.standard_normal((100_000, 3))
    t = math.sqrt(3) * x.mean(axis=1) / x.std(axis=1, ddof=1)
    assert misses(1.0, 3) == pytest.approx(np.mean(t < stats.t.ppf(0.95, 2)), abs=0.006)


def test_seeds_for_five_sigma_at_fixed_n() -> None:
    tail = stats.norm.sf(5)

    def seeds(largest: int, sd: float) -> int:
        d = 0.38 / (sd * float(np.linalg.norm(cone_contrast(doubling(2, largest), gamma0=0.5))))
        n = 3
        while 1 - special.nctdtr(n - 1, d * math.sqrt(n), stats.t.isf(tail, n - 1)) < 0.8:
            n += 1
        return n

    assert [seeds(k, 0.3) for k in (32, 64, 128, 256, 1024, 4096)] == [126, 56, 32, 22, 14, 10]


@pytest.mark.parametrize(("df", "sigma"), [(4, 3.3), (8, 4.3), (30, 6.2)])
def test_nine_t_is_not_nine_sigma(df: int, sigma: float) -> None:
    assert sigma_from_t(9.0, df) == pytest.approx(sigma, abs=0.05)


def test_sigma_keeps_its_digits_in_the_far_tail() -> None:
    # SciPy's own t tail is good down to the smallest double; from there on compare with the normal limit
    for t, df in ((3.0, 5), (12.0, 20), (30.0, 79)):
        assert sigma_from_t(t, df) == pytest.approx(stats.norm.isf(stats.t.sf(t, df)), rel=1e-9)
    assert sigma_from_t(-3.0, 5) == -sigma_from_t(3.0, 5)
    assert sigma_from_t(60.0, 1e9) == pytest.approx(60.0, rel=1e-5)
    far = [sigma_from_t(t, 79) for t in np.geomspace(10, 1e200, 400)]
    assert all(math.isfinite(s) for s in far)
    assert np.all(np.diff(far) > 0)


def test_log_t_cdf_joins_its_continued_fraction(monkeypatch: pytest.MonkeyPatch) -> None:
    x, df = -np.geomspace(3, 2e3, 300), np.array([2.0, 9.0, 79.0, 5e5])[:, None]
    library = log_t_cdf(x, df)
    seen = np.exp(library) > 0
    monkeypatch.setattr(significance, "TINY", 1.0)  # every point from the fraction
    assert log_t_cdf(x, df)[seen] == pytest.approx(library[seen], rel=1e-10)


def test_anytime_sigma() -> None:
    assert anytime_sigma(math.log(3.4885e6)) == pytest.approx(5.0, abs=1e-3)
    assert anytime_sigma(math.log(1e6)) == pytest.approx(4.75, abs=5e-3)
    assert anytime_sigma(math.log(1.5)) == 0.0
    assert math.isfinite(anytime_sigma(1e5))


# --- t with many degrees of freedom


@pytest.mark.parametrize("df", [5e3, 2e4, 1e6])
def test_many_degrees_of_freedom_by_the_normal_quantile(df: float) -> None:
    t = np.linspace(-30, 30, 4001)
    reference = stats.t.logcdf(t, df)
    assert log_t_cdf(t, df) == pytest.approx(reference, rel=1e-11, abs=1e-15)


def test_the_normal_quantile_joins_the_beta_function() -> None:
    t = np.array([-8.0, -2.0, 0.5, 3.0])
    few, many = np.nextafter(significance.MANY, 0), significance.MANY
    assert log_t_cdf(t, few) == pytest.approx(log_t_cdf(t, many), rel=1e-12)
    mixed = log_t_cdf(np.tile(t, (2, 1)), np.array([[few], [many]]))
    assert np.array_equal(mixed, np.stack([log_t_cdf(t, few), log_t_cdf(t, many)]))
    beyond = np.array([-significance.FAR, -np.nextafter(significance.FAR, 99)])
    assert np.diff(log_t_cdf(beyond, 1e4))[0] == pytest.approx(0, abs=1e-10)


def test_a_mixture_is_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    n = np.arange(2.0, 7002.0)
    t = np.random.default_rng(3).standard_t(n - 1, (3, 7000))
    whole = log_mixture_e(t, df=n - 1, n=n)
    monkeypatch.setattr(eprocess, "BLOCK", 911)
    assert np.array_equal(log_mixture_e(t, df=n - 1, n=n), whole)
    one = log_mixture_e(t[1, 5000], df=n[5000] - 1, n=n[5000])
    assert one.shape == ()
    assert one == whole[1, 5000]


# --- what statsmodels and scipy compute as well


def test_t_statistics_are_those_of_scipy() -> None:
    x, y = np.random.default_rng(5).normal(0.4, 1.0, (2, 9))
    one = block_estimate(np.array([1.0]), x[None, :], [9])
    assert one.t(0.1)[0] == pytest.approx(stats.ttest_1samp(x, 0.1).statistic, rel=1e-12)
    arms = np.stack([x, y])
    paired = block_estimate(np.array([1.0, -1.0]), arms, [9])
    assert paired.t(0.0)[0] == pytest.approx(stats.ttest_rel(x, y).statistic, rel=1e-12)
    pooled = pooled_estimate(np.array([1.0, -1.0]), arms, [9])
    assert pooled.t(0.0)[0] == pytest.approx(stats.ttest_ind(x, y).statistic, rel=1e-12)


def test_power_of_one_threshold_is_that_of_scipy() -> None:
    for n, d in ((5, 3.0), (24, 1.0), (60, 0.5)):
        assert power_at(d, n, log_threshold=math.log(20)) == pytest.approx(
            stats.nct.sf(critical_t(n, log_threshold=math.log(20)), n - 1, d * math.sqrt(n)), abs=1e-8
        )


def test_misses_are_those_of_statsmodels() -> None:
    from statsmodels.stats.power import TTestPower

    for n, d in ((3, 1.5), (8, 0.4)):
        found = TTestPower().power(d, nobs=n, alpha=0.05, alternative="larger")
        assert misses(d, n) == pytest.approx(1 - found, abs=1e-9)


def test_holm_is_that_of_the_definition() -> None:
    logs = np.log([500.0, 3.0, 80.0, 41.0, 100.0, 0.5, 26.0, 1.2])
    p = np.minimum(1, 1 / np.exp(logs))
    order = np.argsort(p, kind="stable")
    stepped = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(8, 0, -1)))
    assert holm(logs)[order] == pytest.approx(stepped, rel=1e-12)


def test_mcnemar_is_that_of_statsmodels() -> None:
    from statsmodels.stats.contingency_tables import mcnemar

    assert exact_mcnemar(12, 27).p == pytest.approx(mcnemar([[0, 12], [27, 0]], exact=True).pvalue, rel=1e-12)
    assert exact_mcnemar(12, 27).p == pytest.approx(0.02370270247047304, rel=1e-12)


def test_both_sides_of_the_equivalence_test() -> None:
    x = np.array([0.6, -0.4, 1.1, 0.3, 0.9])
    found = tost(mean=x.mean(), stderr=x.std(ddof=1) / math.sqrt(5), df=4, low=-2, high=2)
    assert found.p_low == pytest.approx(0.0003402144605877797, rel=1e-12)
    assert found.p == pytest.approx(0.002325413181531477, rel=1e-12)
