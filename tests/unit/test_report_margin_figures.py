"""The picture of a replication at its looks: what is drawn is what the rule had seen there."""

from __future__ import annotations

import dataclasses
import math
import re
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tests.unit import report_factory as made
from verifier.engine.replication import look_record
from verifier.model.results import Evidence, ProbeResult, UnitsRecord
from verifier.report.html import render_report
from verifier.report.margin_figures import margin_evidence_svg, margin_look_path
from verifier.report.picture import STYLES
from verifier.stats import difference
from verifier.stats.margin_design import DifferenceRule

SVG = "{http://www.w3.org/2000/svg}"
RULE = DifferenceRule(claimed=Fraction(4), alleged=Fraction(0), looks=(10, 20, 40, 60), minimum_n=20)
X = 6.0 * np.random.default_rng(11).standard_normal(60)


def evidence(n: int, *, discount: float = 0.5, looks: int = 4) -> Evidence:
    """What the engine records of the first n replicates, at the first so many looks."""
    path = [look_record(difference.evaluate(RULE, X[:at], discount=discount, last=False)) for at in RULE.looks[:looks]]
    statistics = dataclasses.asdict(difference.evaluate(RULE, X[:n], discount=discount, last=n == 60).statistics)
    return Evidence("decision", {**statistics, "looks": path}, (), UnitsRecord(n, "d" * 64))


def probe(*evidences: Evidence) -> ProbeResult:
    rule = {"kind": "difference", "unit": RULE.unit, **dataclasses.asdict(RULE)}
    return made.probe(kind="replication", rule=rule, axis="", evidence=evidences, controls=(), residual_class=None)


def heights(svg: str, colour: str) -> list[tuple[float, float]]:
    """Places of the filled markers of a colour, in drawing order; the last is the legend's."""
    root = ET.fromstring(svg)  # noqa: S314  # our own output
    uses = [use for use in root.iter(f"{SVG}use") if f"fill: {colour.lower()}" in use.get("style", "")]
    return [(float(use.get("x", "nan")), float(use.get("y", "nan"))) for use in uses][:-1]


def test_both_sides_are_drawn_at_their_looks_after_the_discount() -> None:
    shown = probe(evidence(60))
    path = margin_look_path(shown)
    assert [look["n"] for look in path] == list(RULE.looks)
    svg = margin_evidence_svg(shown)
    sides = [heights(svg, STYLES[i][0]) for i in (0, 1)]
    logs = [math.log10(0.5 * look[key]) for key in ("below_claim", "above_alleged") for look in path]
    drawn = [y for side in sides for _, y in side]
    assert all(-3 < power < 12 for power in logs)  # nothing is drawn at the edge
    slope, offset = np.polyfit(logs, drawn, 1)
    assert slope < 0
    assert drawn == pytest.approx(slope * np.array(logs) + offset, abs=1e-3)
    steps = np.diff([x for x, _ in sides[0]]) / np.diff(RULE.looks)
    assert steps == pytest.approx(np.full(3, steps[0]), rel=1e-6)
    texts = set(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
    assert {"10,000: decides", "less than claimed", "more than alleged"} <= texts


def test_the_stop_is_the_first_decision_where_the_run_went_on() -> None:
    svg = margin_evidence_svg(probe(evidence(40, looks=3), evidence(60)))
    assert re.search(r">stop at 40<", svg)
    assert not re.search(r">stop at 60<", svg)


def test_a_look_without_both_e_is_left_out() -> None:
    one = evidence(60)
    looks: Any = (one.statistics or {})["looks"]
    looks[0] = {"n": 10, "below_claim": None, "above_alleged": None}
    assert [look["n"] for look in margin_look_path(probe(one))] == [20, 40, 60]
    looks[:] = [{"n": 10, "below_claim": None, "above_alleged": None}]
    assert not margin_look_path(probe(one))
    assert "Evidence at each look" not in render_report(made.result(probe(one)), versions={})


def test_the_page_shows_it_and_a_sweep_has_none() -> None:
    page = render_report(made.result(probe(evidence(60))), versions={})
    assert page.count("<figure>") == 1
    assert page.index("Evidence at each look") < page.index("E for less than claimed")
    assert page == render_report(made.result(probe(evidence(60))), versions={})
    assert not margin_look_path(made.probe())
