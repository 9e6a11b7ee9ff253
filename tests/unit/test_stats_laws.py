"""Laws that hold for any data: monotone, invariant, bounded where theory says so."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome
from verifier.stats.contrasts import contrasts, saturators
from verifier.stats.critical import replicates_needed
from verifier.stats.eprocess import TAUS, log_mixture_e, log_t_e
from verifier.stats.growth import evaluate, precheck
from verifier.stats.growth_batch import run_batch
from verifier.stats.growth_evidence import LogEvidence, growth_log_e
from verifier.stats.growth_rule import GrowthAnswer, GrowthRule
from verifier.stats.law_names import is_fast, law_unit, power_law
from verifier.stats.laws import Floats, law_values
from verifier.stats.misfit import misfit
from verifier.stats.noise import block_estimate, pooled_estimate, pooled_from_cells

RULE = GrowthRule(delta=Fraction("0.19"), alternative=Fraction("0.38"), looks=(3, 6, 12))
grids = (
    st.lists(st.integers(2, 5000), min_size=5, max_size=9, unique=True)
    .map(sorted)
    .filter(lambda ks: ks[-1] >= 4 * ks[0])
)


def noise(seed: int, m: int, n: int = 12) -> Floats:
    return np.random.default_rng(seed).standard_normal((m, n))


LAWS = ["log", "loglog", "sqrt", "linear", "power 3/4", "power 2"]
laws = st.sampled_from(LAWS)


def h_of(law: str, ks: list[int]) -> Floats:
    k = np.array(ks, float)
    return {
        "log": np.log(k),
        "loglog": np.log(np.log(k)),
        "sqrt": np.sqrt(k),
        "linear": k,
        "power 3/4": k**0.75,
        "power 2": k**2,
    }[law]


@given(ks=grids, gamma0=st.sampled_from([0.1, 0.25, 0.5, 1.0]), law=laws)
@settings(max_examples=100, deadline=None)
def test_contrasts_read_the_slope_and_no_saturation(ks: list[int], gamma0: float, law: str) -> None:
    ks = [k + 1 for k in ks]  # loglog has no place at 2
    try:
        built = contrasts(ks, gamma0=gamma0, law=law)
    except BadInput:
        assert law == "loglog"  # on close scales a saturating function can imitate it to the last digit
        assume(False)
    h = h_of(law, ks)
    for w in built:
        size = float(np.abs(w).sum())
        assert abs(w.sum()) <= 1e-9 * size
        assert w @ h == pytest.approx(1.0, abs=1e-9 * size * max(1.0, float(np.abs(h).max())))
    for g in saturators(ks, gamma0=gamma0):
        assert built.cone @ g <= 1e-9 * np.abs(built.cone).sum() * np.abs(g).max()
        assert built.up @ g >= -1e-12
        assert built.full @ g >= -1e-12


@given(
    n=st.integers(2, 500),
    cells=st.integers(1, 12),
    two=st.booleans(),
    ts=st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)),
)
def test_e_increases_in_t(n: int, cells: int, *, two: bool, ts: tuple[float, float]) -> None:
    low, high = sorted(ts)
    df = cells * (n - 1)
    a, b, top = (float(log_mixture_e(t, df=df, n=n, two_sided=two)) for t in (low, high, math.inf))
    assert a <= b + 1e-9
    assert b <= top + 1e-9


@given(n=st.integers(2, 60), t=st.floats(-8, 8), two=st.booleans())
def test_mixture_in_logs_equals_the_direct_formula(n: int, t: float, *, two: bool) -> None:
    squares, mean_root = n - 1.0, t  # V = n − 1 + t², S = √n·t
    direct = []
    for tau in TAUS:
        c2 = 1 / tau**2
        v, s = squares + mean_root**2, math.sqrt(n) * t
        q = v - s * s / (n + c2)
        e = math.sqrt(c2 / (n + c2)) * (v / q) ** (n / 2)
        if not two:
            e *= 2 * stats.t.cdf(s * math.sqrt(n) / math.sqrt(q * (n + c2)), n)
        direct.append(e)
    assert float(log_mixture_e(t, df=n - 1, n=n, two_sided=two)) == pytest.approx(
        math.log(math.fsum(direct) / len(TAUS)), abs=1e-9
    )


def test_pooled_formula_with_unequal_counts() -> None:
    rng = np.random.default_rng(4)
    counts = np.array([3, 5, 4, 7, 6])
    w = np.array([-1.0, -0.5, 0.1, 0.4, 1.0])
    cells = [rng.standard_normal(n) + 0.3 * j for j, n in enumerate(counts)]
    means = np.array([c.mean() for c in cells])
    within = sum(float(np.sum((c - c.mean()) ** 2)) for c in cells)
    path = pooled_from_cells(w, means[:, None], np.array([within]), counts[:, None])
    norm = float(np.linalg.norm(w))
    n = norm**2 / float(np.sum(w**2 / counts))
    nu = int(counts.sum() - len(counts))
    theta, c2 = float(w @ means) / norm, 0.25
    q = within + n * theta**2 * c2 / (n + c2)
    argument = (n * theta / (n + c2)) / math.sqrt(q / ((nu + 1) * (n + c2)))
    direct = (
        2 * stats.t.cdf(argument, nu + 1) * math.sqrt(c2 / (n + c2)) * ((within + n * theta**2) / q) ** ((nu + 1) / 2)
    )
    ours = log_t_e(path.t(0.0), df=path.df, n=path.n, tau=2.0)
    assert float(ours[0]) == pytest.approx(math.log(direct), rel=1e-12)


def test_block_is_pooled_with_one_cell() -> None:
    values = noise(3, 1)
    block = block_estimate(np.array([1.0]), values, [5, 12])
    pooled = pooled_estimate(np.array([1.0]), values, [5, 12])
    for a, b in zip(block, pooled, strict=True):
        assert a == pytest.approx(b, rel=1e-13)


def test_registered_relative_sds_take_unequal_variances_out() -> None:
    values, relative = noise(8, 5), [1.0, 2.0, 0.5, 3.0, 1.5]
    w = np.array([-1.0, -0.5, 0.1, 0.4, 1.0])
    plain = pooled_estimate(w * relative, values, [12])
    scaled = pooled_estimate(w, values * np.array(relative)[:, None], [12], relative_sd=relative)
    for a, b in zip(plain, scaled, strict=True):
        assert a == pytest.approx(b, rel=1e-12)


@given(
    ks=grids,
    seed=st.integers(0, 2**32 - 1),
    shift=st.floats(-1e3, 1e3),
    kind=st.sampled_from(["block", "pooled"]),
    law=laws,
)
@settings(max_examples=60, deadline=None)
def test_a_constant_added_changes_no_e(
    ks: list[int], seed: int, shift: float, kind: Literal["block", "pooled"], law: str
) -> None:
    ks = [k + 1 for k in ks]
    rule = dataclasses.replace(RULE, noise=kind, law=law)
    values = noise(seed, len(ks)) + 0.2 * np.log(ks)[:, None]
    same_evidence(growth_log_e(rule, ks, values, rule.looks), growth_log_e(rule, ks, values + shift, rule.looks))


@given(
    ks=grids,
    seed=st.integers(0, 2**32 - 1),
    scale=st.integers(1, 1000),
    kind=st.sampled_from(["block", "pooled"]),
    law=laws,
)
@settings(max_examples=60, deadline=None)
def test_another_unit_changes_no_e(
    ks: list[int], seed: int, scale: int, kind: Literal["block", "pooled"], law: str
) -> None:
    ks = [k + 1 for k in ks]
    rule = dataclasses.replace(RULE, noise=kind, floor=Fraction("0.01"), law=law)
    values = noise(seed, len(ks)) + 0.2 * np.log(ks)[:, None]
    other = dataclasses.replace(
        rule, delta=rule.delta * scale, alternative=rule.alternative * scale, floor=rule.floor * scale
    )
    same_evidence(growth_log_e(rule, ks, values, rule.looks), growth_log_e(other, ks, values * scale, rule.looks))


@given(ks=grids, seed=st.integers(0, 2**32 - 1), order=st.permutations(range(3, 6)))
@settings(max_examples=40, deadline=None)
def test_order_between_two_looks_changes_no_e(ks: list[int], seed: int, order: list[int]) -> None:
    values = noise(seed, len(ks))
    shuffled = values[:, [0, 1, 2, *order, *range(6, 12)]]
    same_evidence(growth_log_e(RULE, ks, values, RULE.looks), growth_log_e(RULE, ks, shuffled, RULE.looks))


@given(ks=grids, seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["block", "pooled"]))
@settings(max_examples=30, deadline=None)
def test_a_look_does_not_know_what_follows(ks: list[int], seed: int, kind: Literal["block", "pooled"]) -> None:
    rule = dataclasses.replace(RULE, noise=kind)
    values = noise(seed, len(ks))
    early, late = growth_log_e(rule, ks, values[:, :6], (3, 6)), growth_log_e(rule, ks, values, rule.looks)
    for name in ("grow", "flat", "half"):
        assert np.array_equal(getattr(early, name), getattr(late, name)[:2])  # to the last bit


def test_many_runs_at_once_equal_one_at_a_time() -> None:
    ks = [2, 4, 8, 16, 32, 64]
    values = np.random.default_rng(2).standard_normal((7, 6, 12))
    together = growth_log_e(RULE, ks, values, RULE.looks)
    for i in range(7):
        same_evidence(growth_log_e(RULE, ks, values[i], RULE.looks), together, run=i)


def test_a_floor_only_ever_lowers_evidence() -> None:
    ks = [2, 4, 8, 16, 32, 64]
    values = 0.1 * noise(5, 6) + 0.38 * np.log(ks)[:, None]
    for slope in (0.0, 0.38):
        planted = 0.1 * noise(5, 6) + slope * np.log(ks)[:, None]
        runs = [
            growth_log_e(dataclasses.replace(RULE, floor=Fraction(b)), ks, planted, RULE.looks)
            for b in ("0", "0.01", "0.1")
        ]
        for a, b in itertools.pairwise(runs):
            for name in ("grow", "flat", "half"):
                assert np.all(getattr(a, name) >= getattr(b, name))
    assert values.shape == (6, 12)


def test_a_null_e_has_mean_at_most_one() -> None:
    # at the boundary θ = 0, E of the one-sided process is an e-variable at every fixed n
    rng = np.random.default_rng(11)
    d = rng.standard_normal((200_000, 1, 12))
    path = block_estimate(np.array([1.0]), d, [6, 12])
    e = np.exp(log_t_e(path.t(0.0), df=path.df, n=path.n, tau=0.5))
    assert np.all(e.mean(axis=0) < 1 + 4 * e.std(axis=0) / math.sqrt(len(d)))
    assert np.all(e.mean(axis=0) > 0.9)  # and at that boundary it wastes nothing


def test_misfit_holds_its_level_with_shared_seeds() -> None:
    ks, rng = [32, 64, 128, 256, 512, 1024], np.random.default_rng(7)
    p = []
    for _ in range(600):
        values = 0.3 * np.log(ks)[:, None] + 0.2 * rng.standard_normal((6, 10)) + 0.5 * rng.standard_normal(10)
        found = misfit(ks, values, gamma0=0.5, shared_seeds=True)
        assert found is not None
        p.append(found.p)
    assert np.mean(np.array(p) < 0.05) < 0.05 + 4 * math.sqrt(0.05 * 0.95 / 600)


def test_misfit_sees_a_step_and_spares_every_registered_law() -> None:
    ks = [2**i for i in range(1, 11)]
    k = np.array(ks, float)
    jitter = 0.01 * noise(9, 10, 20)
    for law in (
        np.ones(10),
        0.38 * np.log(k),
        np.sqrt(k),
        4.74 * (1 - 1 / k),
        1.83 * (1 - 1 / np.log(k)),
        k + np.log(k),
    ):
        assert not misfit(ks, law[:, None] + jitter, gamma0=0.5).found
    step = misfit(ks, (k >= 256)[:, None] + jitter, gamma0=0.5)
    assert step.found
    assert step.inflation > 10
    assert misfit(ks, jitter[:, :7], gamma0=0.5) is None


@pytest.mark.parametrize(
    "ks", [[1, 2, 4, 8, 16], [2, 4, 4, 8, 16], [16, 8, 4, 3, 2], [2.5, 3, 4, 5, 6], [True, 2, 3, 4, 5], []]
)
def test_scales_that_are_none(ks: list[int]) -> None:
    with pytest.raises(BadInput):
        contrasts(ks, gamma0=0.5)


@pytest.mark.parametrize(("least", "slope", "n90"), [(32, 1.9, 285), (4, 1.309256736543115, 54)])
def test_log_log_asks_for_far_more_seeds(least: int, slope: float, n90: int) -> None:
    # a slope that rises as much over the scales as 0.38 ln k does, sd .3, by the cone contrast
    ks = [k for k in (2**i for i in range(1, 11)) if k >= least]
    rise = 0.38 * math.log(1024 / least)
    assert slope == pytest.approx(rise / math.log(math.log(1024) / math.log(least)))
    cone = contrasts(ks, gamma0=0.5, law="loglog").cone
    assert replicates_needed(slope / (0.3 * float(np.linalg.norm(cone))), log_threshold=math.log(1e4)) == n90


def test_laws_by_name() -> None:
    ks = [3, 4, 6, 8, 12]
    for law in LAWS:
        assert law_values(ks, law) == pytest.approx(h_of(law, ks), rel=1e-14)
        assert is_fast(law) == (law not in ("log", "loglog"))
    assert [law_unit(law, "n") for law in LAWS] == ["ln n", "ln ln n", "sqrt n", "n", "n^3/4", "n^2"]
    assert [power_law(Fraction(a)) for a in ("1/2", "1", "3/4", "2")] == ["sqrt", "linear", "power 3/4", "power 2"]


@pytest.mark.parametrize(
    ("ks", "law", "says"),
    [
        ([2, 3, 4, 5, 6], "loglog", "at least 3"),
        ([2, 3, 4, 5, 6], "cubic", "no law 'cubic'"),
        ([2, 3, 4, 5, 6], "power", "no law 'power'"),
        ([2, 3, 4, 5, 6], "power x", "is not a number"),
        ([2, 3, 4, 5, 6], "power 5", "between 0 and 4"),
        ([2, 3, 4, 5, 6], "power -1", "between 0 and 4"),
        ([2, 3, 4, 5, 6], "power 0", "between 0 and 4"),
    ],
)
def test_laws_that_are_none(ks: list[int], law: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        law_values(ks, law)


def test_a_law_out_of_place_is_refused_before_any_data() -> None:
    rule = dataclasses.replace(RULE, law="loglog")
    with pytest.raises(BadInput, match="at least 3"):
        precheck(rule, scales=[2, 4, 8, 16, 32], claim_scale=32, discount=1.0)
    with pytest.raises(BadInput, match="itself a saturating function"):
        precheck(dataclasses.replace(rule, gamma0=Fraction(1, 10)), scales=[3, 4, 5, 6, 9], claim_scale=9, discount=1.0)


GRID = [32, 64, 128, 256, 512, 1024]
RISES = 0.38 * math.log(32)  # what 0.38 ln k rises over GRID


def alleged(law: str) -> GrowthRule:
    """A slope that rises over GRID as much as 0.38 ln k, δ half of it; looks 10, 20, 30, 40."""
    h = h_of(law, GRID)
    slope = Fraction(RISES / float(h[-1] - h[0]))
    return GrowthRule(law=law, delta=slope / 2, alternative=slope, looks=(10, 20, 30, 40), log_delta=Fraction("0.19"))


def test_below_a_power_law_is_not_bounded() -> None:
    for law in ("sqrt", "linear"):
        flat = 0.3 * noise(1, 6, 40)
        found = evaluate(alleged(law), scales=GRID, values=flat, claim_scale=1024, discount=1.0, last=True)
        assert (found.answer, found.outcome) == (GrowthAnswer.BELOW_LAW, Outcome.AGAINST_DISPUTE)
        assert found.reproduces
        assert found.statistics.log_law is not None
        plain = growth_log_e(dataclasses.replace(RULE, looks=(10, 20, 30, 40)), GRID, flat, (10, 20, 30, 40))
        assert found.statistics.log_law.e_flat.sup == pytest.approx(math.exp(plain.flat.max()))
        assert found.statistics.log_law.e_half.current == pytest.approx(math.exp(plain.half[-1]))
        unregistered = dataclasses.replace(alleged(law), log_delta=None)
        silent = evaluate(unregistered, scales=GRID, values=flat, claim_scale=1024, discount=1.0, last=True)
        assert silent.answer is GrowthAnswer.BELOW_LAW
        assert not silent.reproduces
        assert "was not tested" in silent.summary
        higher = evaluate(alleged(law), scales=GRID, values=flat, claim_scale=4096, discount=1.0, last=True)
        assert higher.answer is GrowthAnswer.BOUNDED_BELOW_HORIZON
        assert not higher.reproduces


def test_slow_growth_below_a_power_law_does_not_reproduce_the_claim() -> None:
    rule = dataclasses.replace(alleged("linear"), log_delta=Fraction("0.1"))  # half of it is the true slope per ln k
    answers = []
    for seed in range(12):
        values = 0.05 * np.log(GRID)[:, None] + 0.2 * noise(seed, 6, 40)
        found = evaluate(rule, scales=GRID, values=values, claim_scale=1024, discount=1.0, last=True)
        answers.append(found.answer)
        assert not found.reproduces
        if found.answer is GrowthAnswer.BELOW_LAW:
            assert "is not shown, so the claim is not reproduced" in found.summary
    assert answers.count(GrowthAnswer.BELOW_LAW) >= 4


@pytest.mark.parametrize("law", ["sqrt", "linear", "loglog"])
def test_growth_under_its_own_law_is_found(law: str) -> None:
    rule = alleged(law)
    values = float(rule.alternative) * h_of(law, GRID)[:, None] + 0.05 * noise(3, 6, 40)
    found = evaluate(rule, scales=GRID, values=values, claim_scale=1024, discount=1.0, last=True)
    assert found.answer is GrowthAnswer.GROWS
    assert law_unit(law, "k") in found.summary


@pytest.mark.slow
@pytest.mark.parametrize(("law", "seen"), [("sqrt", 0.19), ("linear", 0.32)])
def test_slow_growth_is_called_below_a_power_law_as_often_as_published(law: str, seen: float) -> None:
    values = 0.05 * np.log(GRID)[:, None] + 0.3 * np.random.default_rng(4).standard_normal((3000, 6, 40))
    answers = run_batch(alleged(law), scales=GRID, values=values, claim_scale=1024).answers
    rate = float(np.mean([answer is GrowthAnswer.BELOW_LAW for answer in answers]))
    assert abs(rate - seen) < 4 * math.sqrt(seen * (1 - seen) * (1 / 3000 + 1 / 1000)) + 0.005


def same_evidence(a: LogEvidence, b: LogEvidence, *, run: int | None = None) -> None:
    for name in ("grow", "flat", "half"):
        x, y = getattr(a, name), getattr(b, name)
        assert x == pytest.approx(y if run is None else y[run], rel=1e-6, abs=1e-6)


@given(seed=st.integers(0, 2**32 - 1), floor=st.sampled_from(["0", "0.02"]), slope=st.floats(-0.5, 0.8))
@settings(max_examples=40, deadline=None)
def test_evidence_is_the_least_for_growth_and_the_average_against_it(seed: int, floor: str, slope: float) -> None:
    ks, n = [2, 4, 8, 16, 32, 64], 12
    values = 0.3 * noise(seed, 6) + slope * np.log(ks)[:, None]
    ours = growth_log_e(dataclasses.replace(RULE, floor=Fraction(floor)), ks, values, (n,))
    w = contrasts(ks, gamma0=0.5)

    def e(weights: Floats, null: float, sign: int) -> float:
        d = sign * (weights @ values - null - sign * float(floor) * np.abs(weights).sum())
        t = math.sqrt(n) * d.mean() / d.std(ddof=1)
        return math.exp(float(log_mixture_e(t, df=n - 1, n=n)))

    assert math.exp(ours.grow[0]) == pytest.approx(min(e(w.cone, 0, 1), e(w.up, 0, 1)), rel=1e-9)
    for log_e, null in ((ours.flat, 0.19), (ours.half, 0.095)):
        assert math.exp(log_e[0]) == pytest.approx((e(w.up, null, -1) + e(w.full, null, -1)) / 2, rel=1e-9)
