"""The calibration page: a fresh simulation agrees with it within its error, and an altered figure is found."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.calibrate import PAGE, exceeding, not_held
from benchmarks.calibration_page import Figure, Row, Section, agrees, differences
from benchmarks.crossings import Rates, designs
from benchmarks.exact_crossings import exact_rates
from benchmarks.noises import NOISES, unit_mean, unit_value
from verifier.stats.bounded_design import CountRule, ProportionRule
from verifier.stats.margin_design import DifferenceRule, RatioRule


def section(*rates: float, runs: int = 10_000) -> Section:
    figures = tuple(Figure(rate=rate, runs=runs, unit=1e-3, digits=2) for rate in rates)
    return Section(
        title="Some rule",
        words="words",
        columns=("rule", "runs", "normal", "t3", "and"),
        rows=(Row(labels=("one", f"{runs:,}"), figures=figures, remark="–"),),
    )


def test_a_page_agrees_with_itself_and_with_another_draw() -> None:
    rng = np.random.default_rng(1)
    page = section(*(rng.binomial(10_000, p) / 10_000 for p in (1e-3, 0.02)))
    again = section(*(rng.binomial(2_000, p) / 2_000 for p in (1e-3, 0.02)), runs=2_000)
    assert not differences([page], page.text)
    assert not differences([again], page.text)


@pytest.mark.parametrize(("shown", "now"), [("1.00", "9.00"), ("20.00", "45.00"), ("20.00", "–")])
def test_an_altered_figure_is_found(shown: str, now: str) -> None:
    page = section(1e-3, 0.02)
    (wrong,) = differences([page], page.text.replace(f" {shown} ", f" {now} "))
    assert now in wrong


def test_missing_and_further_rows_are_found() -> None:
    page = section(1e-3, 0.02)
    assert differences([page], page.text.replace("| one |", "| two |")) == [
        "Some rule: no row one / 10,000",
        "Some rule: a row too many, two",
    ]
    assert differences([page], page.text + "\n## Another\n\n| a |\n| - |\n") == ["a table too many: Another"]


def test_an_exact_figure_must_agree_to_its_last_digit() -> None:
    figure = Figure(rate=4.5678e-4, runs=0, unit=1e-3, digits=3)
    assert figure.text == "0.457"
    assert agrees(figure, 0.457, 0)
    assert not agrees(figure, 0.458, 0)


def test_the_page_shows_the_exact_rates() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for each in exact_rates():
        cells = (
            each.rule,
            each.null,
            each.looks,
            f"{1 / each.nominal:,.0f}",
            f"{each.rates['exact'] / each.nominal:.3f}",
        )
        assert f"| {' | '.join(cells)} |" in text
        assert each.rates["exact"] <= each.nominal  # Ville's bound, here without simulation error


def test_every_noise_has_mean_zero() -> None:
    rng = np.random.default_rng(4)
    for name, noise in NOISES.items():
        x = noise.draw(rng, (400_000,))
        sd = math.sqrt(3) if name == "t3" else 1.0
        assert x.mean() == pytest.approx(0, abs=5 * sd / math.sqrt(400_000)), name
        if name not in {"t3", "lognormal"}:  # whose fourth moments are infinite, or nearly
            assert x.std() == pytest.approx(1.0, abs=0.02), name
        assert unit_value(x).mean() == pytest.approx(unit_mean(name), abs=5 * 0.15 / math.sqrt(400_000)), name


def test_what_exceeds_is_named_with_the_flag_of_the_design() -> None:
    def rates(rate: float, *flags: str, noise: str = "exponential") -> Rates:
        return Rates(rule="r", null="n", looks="every n", nominal=1e-3, runs=100_000, flags=flags, rates={noise: rate})

    assert exceeding(rates(0.0029)) == ""
    assert exceeding(rates(0.01, "few: x", "blind to failures rarer than 1/n: y")) == (
        "exponential: few; blind to rare failures"
    )
    assert "no flag" in exceeding(rates(0.01))
    assert not not_held([rates(0.01)])
    assert len(not_held([rates(0.01, noise="normal")])) == 1


def test_every_rule_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    kinds = [rule.kind for rule in (DifferenceRule, RatioRule, ProportionRule, CountRule)]
    for kind in [*kinds, "growth", "rate", "bound"]:
        assert any(line.startswith(f"| {kind}") or f", {kind}" in line for line in text.splitlines()), kind
    for design in designs():
        assert f"| {design.rule} | {design.null} |" in text
