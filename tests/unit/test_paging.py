"""The paging case: recursion, enumeration, compiled simulation and plain reference say the same."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from verifier.casefile import load
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

FOLDER = Path(__file__).parents[2] / "cases" / "paging"


def imported(name: str) -> ModuleType:
    """A module of the case by its path, under the name by which its siblings import it."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", autouse=True)
def compiled_case() -> Iterator[None]:
    """Compiles, or loads from numba's cache, while the modules bear the names that the cache stores.

    Another test in this process may have put another case's modules under these names.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (exact, reference, case):
            patch.setitem(sys.modules, module.__name__, module)
        case.additive_term(2, stream=0, phases=1)
        case.enumerate_additive_term(2)
        yield


exact = imported("paging_exact")
reference = imported("paging_reference")
case = imported("reimplementation")
for name in ("paging_exact", "paging_reference", "reimplementation"):
    del sys.modules[name]  # the last is a name that every case has

READINGS = ("pre", "post")
VARIANTS = tuple(case.VARIANTS)
SCALES = (32, 64, 128, 256, 512, 1024)


def exact_value(variant: str) -> Any:
    return getattr(case, f"exact_{variant}", None) or (
        lambda k, **settings: case.exact_additive_term(k, variant=variant, **settings)
    )


def literal_recursion(k: int, tau: int, reading: str) -> Fraction:
    """The recursion as it is printed: a double sum, and the gate in floating point."""
    expected = [Fraction(0)]
    for a in range(1, k):
        total = Fraction(0)
        for u in range(1, a + 1):
            tested = u if reading == "pre" else u - 1
            if tested <= (a + 2) / math.e - 2:
                total += 1 + (1 + expected[u - 2] if u >= 2 else 0)
            else:
                total += 1 + expected[u - 1]
        expected.append(total / (a + 1))
    spent = min(1 + tau, k - 1)
    return 1 + spent + expected[k - 1 - spent] - sum(Fraction(1, m) for m in range(1, k + 1))


# The recursion


def test_the_recursion_gives_the_known_rationals() -> None:
    assert case.exact_additive_term(4) == Fraction(3, 4)
    assert case.exact_additive_term(8) == Fraction(7, 8)
    assert case.exact_additive_term(16) == Fraction(3241, 3120)
    assert case.exact_additive_term(32) == Fraction(112417351, 86643648)
    assert round(float(case.exact_additive_term(1024)), 6) == 2.572112


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("tau", [0, 1, 2, 4])
def test_the_recursion_in_differences_is_the_printed_one(tau: int, reading: str) -> None:
    for k in (*range(1, 40), 60, 90):
        assert case.exact_additive_term(k, tau=tau, reading=reading) == literal_recursion(k, tau, reading)


def test_the_gate_is_decided_exactly() -> None:
    thresholds = exact.gate_thresholds(20_000)
    assert thresholds == [math.floor((y + 2) / math.e - 2) for y in range(20_001)]
    assert thresholds[0] == -2


@pytest.mark.parametrize("reading", READINGS)
def test_enclosures_hold_the_exact_value(reading: str) -> None:
    scales = [1, 2, 3, 17, 100, 777]
    for tau in (0, 3):
        enclosures = exact.enclose_additive_terms(scales, tau=tau, reading=reading, bits=40)
        for k in scales:
            below, above = enclosures[k]
            assert below <= case.exact_additive_term(k, tau=tau, reading=reading) <= above
            assert above - below < Fraction(1, 2**28)


def test_the_exact_value_is_usable_at_a_hundred_thousand() -> None:
    below, above = exact.enclose_additive_terms([10**5])[10**5]
    assert below <= case.exact_additive_term(10**5) <= above
    assert above - below < Fraction(1, 10**20)


@pytest.mark.parametrize("reading", READINGS)
def test_the_slope_is_one_over_e(reading: str) -> None:
    scales = [10**3, 10**4, 10**5]
    values = [float(low) for low, _ in exact.enclose_additive_terms(scales, reading=reading).values()]
    slopes = [(b - a) / math.log(10) for a, b in itertools.pairwise(values)]
    assert abs(slopes[0] - 1 / math.e) < 1e-3
    assert abs(slopes[1] - 1 / math.e) < 1e-5  # 0.38 is 0.012 away


def test_the_readings_differ_by_a_constant() -> None:
    pre, post = (exact.enclose_additive_terms([10**4, 10**5], reading=reading) for reading in READINGS)
    for k in (10**4, 10**5):
        assert abs(float(post[k][0] - pre[k][0]) - 0.091) < 1e-3


# The enumeration


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("tau", [0, 1])
def test_all_priority_orders_cost_what_the_recursion_says(tau: int, reading: str) -> None:
    for k in range(1, 9):
        recursion = case.exact_additive_term(k, tau=tau, reading=reading)
        assert case.enumerate_additive_term(k, tau=tau, reading=reading) == recursion


@pytest.mark.slow
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("tau", [0, 1])
def test_all_priority_orders_at_nine(tau: int, reading: str) -> None:
    assert case.enumerate_additive_term(9, tau=tau, reading=reading) == case.exact_additive_term(
        9, tau=tau, reading=reading
    )


@pytest.mark.slow
@pytest.mark.parametrize(("k", "reading"), [(9, "post"), (10, "post"), (11, "pre")])
def test_all_priority_orders_where_the_gate_begins_to_matter(k: int, reading: str) -> None:
    enumerated = case.enumerate_additive_term(k, reading=reading)
    assert enumerated == case.exact_additive_term(k, reading=reading)
    assert enumerated > case.exact_no_gate(k)


def test_the_priority_of_the_entering_page_does_not_matter() -> None:
    # All (k+1)! orders, the entering page's among them, in the plain reference.
    for k in (2, 3, 4, 5):
        total = 0
        for priorities in itertools.permutations(range(k + 1)):
            paging = reference.Paging(k, tau=0, reading="post", variant="rpb_om")
            paging.priority = dict(enumerate(priorities[:k]))
            paging.predicted = {page: -page for page in range(k)}
            for time in range(k):
                page = (k + time) % (k + 1)
                paging.priority.setdefault(page, priorities[page])
                total += paging.serve(page, -(time + k + 1)) >= 0
        mean = Fraction(total, math.factorial(k + 1))
        assert mean - case.harmonic(k) == case.exact_additive_term(k, reading="post")


# Two implementations


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("reading", READINGS)
def test_plain_python_and_numba_decide_alike(variant: str, reading: str) -> None:
    for k, tau, phases in ((1, 0, 4), (2, 1, 8), (3, 0, 20), (7, 2, 30), (24, 0, 15), (60, 1, 8)):
        settings: dict[str, Any] = {"stream": 2**90 + k, "phases": phases, "tau": tau, "reading": reading}
        costs, evictions = case.simulate(k, variant=variant, record=True, **settings)
        run = reference.reference_run(k, variant=variant, **settings)
        assert evictions.tolist() == run.evictions
        assert costs.tolist() == run.costs


def test_a_long_run_decides_alike_and_passes_the_gate() -> None:
    costs, evictions = case.simulate(200, stream=3, phases=6, tau=0, reading="pre", variant="rpb_om", record=True)
    run = reference.reference_run(200, stream=3, phases=6)
    assert evictions.tolist() == run.evictions
    assert run.passes > 6
    assert run.requests[::200][0] == 200
    assert costs.sum() == sum(evicted >= 0 for row in run.evictions for evicted in row)


def test_the_invariants_can_fail() -> None:
    def started() -> Any:
        paging = reference.Paging(3, tau=0, reading="pre", variant="rpb_om")
        paging.priority = {0: 5, 1: 6, 2: 7, 3: 8}
        paging.predicted = {0: 9, 1: 8, 2: 7, 3: 6}
        return paging

    started().serve(3, 1)
    wrong_page = started()
    wrong_page._allowed = lambda _: {3}  # a victim outside the cache
    with pytest.raises(AssertionError):
        wrong_page.serve(3, 1)
    too_low = started()
    too_low.layers.of = {0: 1, 1: 1, 2: 2, 3: 0}  # three cached pages in the lowest two layers
    with pytest.raises(AssertionError):
        too_low.serve(3, 1)
    stale = started()
    stale.priority[2] = stale.priority.pop(3)  # a page of the support without a priority
    with pytest.raises(AssertionError):
        stale.serve(3, 1)


def test_belady_is_optimal() -> None:
    def optimum(k: int, requests: tuple[int, ...]) -> int:
        """OPT by trying every cache."""
        best = {frozenset(range(k)): 0}
        for page in requests:
            after: dict[frozenset[int], int] = {}
            for cache, cost in best.items():
                options = [cache] if page in cache else [cache - {out} | {page} for out in cache]
                for option in options:
                    price = cost + (page not in cache)
                    after[option] = min(price, after.get(option, price))
            best = after
        return min(best.values())

    generator = np.random.default_rng(5)
    for _ in range(40):
        k = int(generator.integers(1, 4))
        requests = [int(page) for page in generator.integers(0, k + 2, 10)]
        counts = reference.belady(k, requests)
        assert counts == [optimum(k, tuple(requests[:end])) for end in range(1, 11)]


# The simulation against the recursion


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("k", SCALES)
def test_the_simulation_lies_within_four_standard_errors(k: int, reading: str) -> None:
    costs = case.additive_term(k, stream=1000 + k, phases=2500, reading=reading)
    assert_mean(costs, case.exact_additive_term(k, reading=reading) + case.harmonic(k))


def assert_mean(costs: np.ndarray[Any, Any], expected: Fraction) -> None:
    error = costs.std(ddof=1) / math.sqrt(len(costs))
    assert abs(costs.mean() - float(expected)) <= 4 * error


@pytest.mark.parametrize("k", [16, 64, 256])
def test_phases_are_not_correlated(k: int) -> None:
    costs = case.additive_term(k, stream=77, phases=8000).astype(float)
    lag_one = np.corrcoef(costs[:-1], costs[1:])[0, 1]
    assert abs(lag_one) < 4 / math.sqrt(8000)


def test_the_first_phase_costs_what_every_phase_costs() -> None:
    firsts = np.concatenate([case.additive_term(64, stream=stream, phases=1) for stream in range(3000)])
    assert_mean(firsts, case.exact_additive_term(64) + case.harmonic(64))


# The controls


@pytest.mark.parametrize(
    "variant", ["online_min", "no_gate", "refresh_every_request", "refresh_only_on_pass", "random_predictions"]
)
@pytest.mark.parametrize(("k", "tau", "reading"), [(32, 0, "pre"), (128, 1, "post"), (512, 0, "pre")])
def test_every_variant_costs_its_exact_value(variant: str, k: int, tau: int, reading: str) -> None:
    costs = getattr(case, variant)(k, stream=31 * k, phases=2500, tau=tau, reading=reading)
    assert_mean(costs, exact_value(variant)(k, tau=tau, reading=reading) + case.harmonic(k))


@pytest.mark.parametrize("reading", READINGS)
def test_a_gate_refreshed_at_every_request_is_dead(reading: str) -> None:
    for k in (16, 100, 400):
        dead = case.refresh_every_request(k, stream=8, phases=300, reading=reading)
        assert np.array_equal(dead, case.no_gate(k, stream=8, phases=300, reading=reading))
    assert not np.array_equal(dead, case.additive_term(400, stream=8, phases=300, reading=reading))


def test_without_a_gate_the_term_is_bounded() -> None:
    for k in (1, 2, 10, 1024):
        assert case.exact_no_gate(k) == 1 - Fraction(1, k)
    assert case.exact_additive_term(300, variant="refresh_every_request") == case.exact_no_gate(300)
    assert case.exact_online_min(300) == case.exact_random_predictions(300) == 0


def test_refreshed_only_on_a_pass_it_grows_faster() -> None:
    values = [float(case.exact_refresh_only_on_pass(k)) for k in (256, 1024, 4096)]
    for a, b in itertools.pairwise(values):
        assert abs((b - a) / math.log(4) - 0.5) < 1e-3


@pytest.mark.parametrize("k", [1, 2, 50, 300])
def test_with_perfect_predictions_it_pays_what_opt_pays(k: int) -> None:
    costs = case.perfect_predictions(k, stream=2, phases=50)
    assert (costs == 1).all()
    assert case.exact_perfect_predictions(k) == 1 - case.harmonic(k)


def test_with_random_predictions_the_gate_still_passes() -> None:
    assert reference.reference_run(150, stream=4, phases=5, variant="random_predictions").passes > 3


def test_below_eleven_the_gate_cannot_matter() -> None:
    assert all(case.exact_additive_term(k) == case.exact_no_gate(k) for k in range(1, 11))
    assert case.exact_additive_term(11) > case.exact_no_gate(11)


# The case


def test_a_target_is_pure_and_returns_integers() -> None:
    first, second = (case.additive_term(20, stream=2**128 - 1, phases=30) for _ in range(2))
    assert first.dtype == np.int64
    assert first.shape == (30,)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, case.additive_term(20, stream=2**127, phases=30))


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0},
        {"k": 2.0},
        {"phases": 0},
        {"tau": -1},
        {"reading": "during"},
        {"variant": "lru"},
        {"stream": 2**128},
    ],
)
def test_a_target_refuses_what_is_out_of_range(wrong: dict[str, Any]) -> None:
    arguments = {"k": 8, "stream": 1, "phases": 2, **wrong}
    with pytest.raises(BadInput):
        case.additive_term(arguments.pop("k"), **arguments)


def test_exact_values_refuse_what_is_out_of_range() -> None:
    with pytest.raises(BadInput, match="pre"):
        case.exact_additive_term(8, reading="during")
    with pytest.raises(BadInput, match="variant"):
        case.exact_additive_term(8, variant="lru")
    with pytest.raises(BadInput, match="tau"):
        case.exact_refresh_only_on_pass(100, tau=90)
    with pytest.raises(BadInput):
        case.enumerate_additive_term(0)


def test_the_case_loads_and_its_targets_exist() -> None:
    (probe,) = load(FOLDER).probes
    assert probe.scales == SCALES
    for target in probe.targets:
        module, _, name = target.partition(":")
        assert module == "reimplementation"
        assert callable(getattr(case, name))
    for target in probe.drawing_targets:
        names = set(inspect.signature(getattr(case, target.partition(":")[2])).parameters)
        assert {"k", "stream", "phases", "tau", "reading"} <= names
    assert {control.expect.kind for control in probe.controls} == {"equals", "values", "named"}


def test_the_planned_spread_is_what_is_measured() -> None:
    (probe,) = load(FOLDER).probes
    for k in (32, 256):
        costs = case.additive_term(k, stream=6, phases=6000)
        assert costs.std(ddof=1) / math.sqrt(100) == pytest.approx(probe.planned_sd[k], rel=0.06)
