"""Many claims: e-BH and Holm against their definitions, families, and published rates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.teams_portfolios import portfolio_rows
from verifier.model.errors import BadInput
from verifier.stats.portfolio import Entry, Evidence, Kind, e_bh, e_bh_rates, holm, portfolio

PIN = [500, 3, 80, 41, 100, 0.5, 26, 1.2]
VALUES = st.lists(st.floats(-3, 12), min_size=1, max_size=12)


def test_e_bh_on_eight_published_numbers() -> None:
    assert np.array(PIN)[e_bh(np.log(PIN), alpha=0.05)].tolist() == [500, 80, 41, 100]


def test_an_e_exactly_at_its_bar_is_kept() -> None:
    assert e_bh(np.log([160.0, *[1.0] * 7]), alpha=0.05).tolist() == [True, *[False] * 7]
    assert e_bh(np.log([40.0] * 4 + [1.0] * 4), alpha=0.05).sum() == 4
    assert not e_bh(np.log([159.999, *[1.0] * 7]), alpha=0.05).any()


@given(VALUES, st.sampled_from([0.01, 0.05, 0.2]))
def test_e_bh_keeps_what_its_definition_keeps(logs: list[float], alpha: float) -> None:
    e = sorted(np.exp(logs), reverse=True)
    largest = max((k for k in range(1, len(e) + 1) if k * e[k - 1] / len(e) >= 1 / alpha), default=0)
    kept = e_bh(np.array(logs), alpha=alpha)
    expected = np.exp(logs) >= e[largest - 1] if largest else np.zeros(len(e), bool)
    assert kept.tolist() == expected.tolist()


@given(VALUES)
def test_a_claim_survives_from_its_rate_on(logs: list[float]) -> None:
    rates = e_bh_rates(np.array(logs))
    for i, rate in enumerate(rates):
        if rate < 0.99:
            assert e_bh(np.array(logs), alpha=rate * 1.001)[i]
            assert not e_bh(np.array(logs), alpha=rate * 0.999)[i]


@pytest.mark.slow
@settings(max_examples=8, deadline=None)  # each call of statsmodels collects garbage first
@given(VALUES)
def test_holm_is_the_step_down_of_its_definition(logs: list[float]) -> None:
    p = np.minimum(1.0, np.exp(-np.array(logs)))
    order = np.argsort(p)
    adjusted = np.minimum(1.0, np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order]))
    assert holm(np.array(logs))[order] == pytest.approx(adjusted)


def test_nan_is_refused_before_it_spreads() -> None:
    for function in (e_bh_rates, holm):
        with pytest.raises(BadInput, match="not a number"):
            function(np.array([1.0, math.nan]))


def entry(
    name: str, e: float | None, *, sup: float | None = None, discount: float = 1.0, kind: Kind = "statistical"
) -> Entry:
    log = None if e is None else math.log(e)
    top = math.log(sup if sup is not None else e if e is not None else 1.0)
    return Entry(
        name=name,
        support=Evidence(at_stop=log, sup=top),
        opposition=Evidence(at_stop=0.0 if log is not None else None, sup=0.0),
        discount=discount,
        kind=kind,
    )


def test_a_claim_is_judged_at_its_stop_not_at_its_best() -> None:
    found = portfolio([entry("a", 3.0, sup=1e9), entry("b", 1e4)])
    assert found.support.survivors == ("b",)
    assert [s.holm_survives for s in found.support.standings] == [True, True]  # Holm may take the supremum
    assert found.opposition.survivors == ()


def test_the_families_are_apart() -> None:
    against = Entry(name="z", support=Evidence(at_stop=0.0, sup=0.0), opposition=Evidence(at_stop=9.5, sup=9.5))
    found = portfolio([entry("a", 1e4), against])
    assert found.support.survivors == ("a",)
    assert found.opposition.survivors == ("z",)
    assert found.support.size == found.opposition.size == 2
    assert found.summary == (
        "of 2 disputes 1 are supported and 1 opposed at a false discovery rate of 0.05 on each side"
    )


def test_exact_and_retrospective_entries_are_in_neither() -> None:
    found = portfolio([entry("a", 30.0), entry("b", 1e9, kind="exact"), entry("c", 1e9, kind="retrospective")])
    assert found.support.size == 1
    assert found.support.survivors == ("a",)  # alone it needs 20; counted with the others it would need 60
    assert [name for name, _ in found.outside] == ["b", "c"]


def test_a_running_claim_counts_and_cannot_survive() -> None:
    found = portfolio([entry("a", 30.0), entry("b", None, sup=1e9)])
    assert found.support.survivors == ()  # with two, one alone needs 40
    last = found.support.standings[-1]
    assert (last.name, last.e, last.running, last.rate) == ("b", 0.0, True, None)
    assert found.support.alone == 40


def test_the_discount_counts() -> None:
    assert portfolio([entry("a", 30.0)]).support.survivors == ("a",)
    found = portfolio([entry("a", 30.0, discount=0.6)]).support
    assert found.survivors == ()
    assert found.standings[0].e == pytest.approx(18)
    assert found.standings[0].rate == pytest.approx(1 / 18)


def test_a_claim_stopped_at_twenty_never_survives_among_many() -> None:
    rest = [entry(f"n{i}", 1.0) for i in range(99)]
    assert portfolio([entry("a", 20.0), *rest]).support.survivors == ()
    assert portfolio([entry("a", 2000.0), *rest]).support.survivors == ("a",)


def test_an_empty_portfolio_is_an_answer() -> None:
    found = portfolio([])
    assert found.support.standings == found.opposition.standings == ()


@settings(max_examples=3, deadline=None)
@given(st.permutations(range(6)))
@pytest.mark.slow
def test_the_order_of_entries_changes_nothing(order: list[int]) -> None:
    entries = [entry(f"e{i}", e) for i, e in enumerate([1e4, 1e4, 50.0, 20.0, 3.0, 1.0])]
    assert portfolio([entries[i] for i in order]) == portfolio(entries)


def test_what_an_entry_cannot_be_is_said() -> None:
    bad = [
        ([entry("a", 2.0), entry("a", 3.0)], '"a" stands twice'),
        ([entry("a", 2.0, sup=1.0)], "exceeds its supremum"),
        ([entry("a", math.nan)], "not a number"),
        ([entry("a", 2.0, discount=0.0)], r"not in \(0, 1\]"),
        ([entry("a", 2.0, kind="other")], 'unknown kind "other"'),  # type: ignore[arg-type]  # from a file
    ]
    for entries, said in bad:
        with pytest.raises(BadInput, match=said):
            portfolio(entries)
    with pytest.raises(BadInput, match="not between 0 and 1"):
        portfolio([], alpha=1.0)


@pytest.mark.parametrize("portfolios", [10, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_two_hundred_claims_keep_their_rate_and_power(portfolios: int) -> None:
    rows = {row.what.removeprefix("200 claims: "): row for row in portfolio_rows(portfolios=portfolios)}
    assert not [row for row in rows.values() if not row.agrees]
    assert rows["Holm, power"].rate < rows["e-BH, power"].rate
    if portfolios >= 300:
        assert rows["e-BH, power"].rate >= 0.9
        assert rows["e-BH, false discovery rate"].rate <= 0.05
