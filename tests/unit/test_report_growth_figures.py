"""The pictures of a growth sweep at its looks: what is drawn is what the rule had seen."""

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
from verifier.model.errors import BadInput
from verifier.model.results import Evidence, ProbeResult, UnitsRecord
from verifier.report.growth_figures import evidence_svg, has_interval, interval_svg, look_path
from verifier.report.html import render_report
from verifier.report.picture import STYLES
from verifier.stats import growth
from verifier.stats.growth_path import LookBack, growth_path
from verifier.stats.growth_rule import GrowthRule
from verifier.stats.laws import Floats

SVG = "{http://www.w3.org/2000/svg}"
SCALES = list(made.SCALES)
RULE = GrowthRule(delta=Fraction("0.19"), alternative=Fraction("0.38"), looks=(2, 10, 20, 40))


def values(slope: float, n: int = 40, seed: int = 2) -> Floats:
    noise = 0.2 * np.random.default_rng(seed).standard_normal((len(SCALES), n))
    return np.asarray(slope * np.log(SCALES)[:, None] + noise)


def probe(path: Any, **changes: Any) -> ProbeResult:
    statistics = made.statistics(looks=path, **changes)
    return made.probe(evidence=(Evidence("decision", statistics, made.growing_points(), UnitsRecord(240, "d" * 64)),))


def record(path: tuple[LookBack, ...]) -> list[dict[str, Any]]:
    return [dataclasses.asdict(look) for look in path]


@pytest.mark.parametrize(("slope", "noise"), [(0.38, "block"), (0.0, "pooled"), (0.1, "block")])
def test_each_look_is_what_the_rule_printed_there(slope: float, noise: Any) -> None:
    rule, y = dataclasses.replace(RULE, noise=noise), values(slope)
    path = growth_path(rule, scales=SCALES, values=y)
    assert [look.n for look in path] == [2, 10, 20, 40]
    for look in path:
        said = growth.evaluate(
            rule, scales=SCALES, values=y[:, : look.n], claim_scale=1024, discount=1.0, last=True
        ).statistics
        assert said.e_grow
        assert said.e_flat
        assert said.e_half
        assert said.slope_cone
        assert said.slope_full
        assert (look.e_grow, look.e_flat, look.e_half) == pytest.approx(
            (said.e_grow.current, said.e_flat.current, said.e_half.current), rel=1e-12
        )
        assert look.estimate == said.slope_full.estimate
        assert look.low == (said.slope_cone.interval[0] if said.slope_cone.interval else None)
        assert look.high == (said.slope_full.interval[1] if said.slope_full.interval else None)


def test_a_look_not_reached_is_not_in_the_path() -> None:
    assert [look.n for look in growth_path(RULE, scales=SCALES, values=values(0.0, n=12))] == [2, 10]
    with pytest.raises(BadInput, match="no registered look was reached"):
        growth_path(RULE, scales=SCALES, values=values(0.0, n=1))


def markers(svg: str, colour: str) -> list[tuple[float, float]]:
    """Places of the filled markers of a colour, in drawing order."""
    root = ET.fromstring(svg)  # noqa: S314  # our own output
    return [
        (float(use.get("x", "nan")), float(use.get("y", "nan")))
        for use in root.iter(f"{SVG}use")
        if f"fill: {colour.lower()}" in use.get("style", "")
    ]


def test_evidence_is_drawn_at_its_looks_after_the_discount() -> None:
    path = growth_path(RULE, scales=SCALES, values=values(0.38))
    svg = evidence_svg(probe(record(path), discount=0.5, n=40))
    grow, flat = (markers(svg, STYLES[i][0])[:4] for i in (0, 1))
    logs = [math.log10(0.5 * e) for e in [look.e_grow for look in path] + [look.e_flat for look in path]]
    heights = [y for _, y in grow + flat]
    slope, offset = np.polyfit(logs, heights, 1)
    assert heights == pytest.approx(slope * np.array(logs) + offset, abs=1e-3)
    assert slope < 0
    gaps = np.diff([x for x, _ in grow]) / np.diff([2, 10, 20, 40])
    assert gaps == pytest.approx(np.full(3, gaps[0]), rel=1e-6)
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {"10,000: decides", "100: below 0.095", "stop at 40"} <= set(texts)


def test_the_interval_narrows_to_what_is_printed() -> None:
    path = growth_path(RULE, scales=SCALES, values=values(0.38))
    svg = interval_svg(probe(record(path)))
    root = ET.fromstring(svg)  # noqa: S314  # our own output
    assert root.find(f"{SVG}title") is not None
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {"alleged (0.38)", "smallest of interest (0.19)", "bounded (0)"} <= set(texts)
    assert f"estimate ({path[-1].estimate:.2g})" in texts
    drawn = markers(svg, "#0072B2")
    assert path[0].low is None  # two replicates give no interval
    shown = path[1:]
    heights = [y for _, y in drawn[:9]]
    numbers = [*(look.low for look in shown), *(look.high for look in shown), *(look.estimate for look in shown)]
    slope, offset = np.polyfit(np.array(numbers, float), heights, 1)
    assert heights == pytest.approx(slope * np.array(numbers, float) + offset, abs=1e-3)


def test_the_page_shows_both_below_the_sweep() -> None:
    path = record(growth_path(RULE, scales=SCALES, values=values(0.38)))
    page = render_report(made.result(probe(path)), versions={})
    order = [
        page.index(words) for words in ("figure-data", "Evidence at each look", "95 % at any stopping time</text>")
    ]
    assert order == sorted(order)
    assert page == render_report(made.result(probe(path)), versions={})
    assert not re.search(r"url\((?!#)|<image|<!DOCTYPE", page.partition("<figure>")[2])


def test_a_result_without_looks_has_no_such_pictures() -> None:
    assert "Evidence at each look" not in render_report(made.upheld(), versions={})
    assert not look_path(made.probe())
    early = record(growth_path(RULE, scales=SCALES, values=values(0.38, n=2)))
    assert look_path(probe(early))
    assert not has_interval(probe(early))  # too few replicates for an interval: the first picture only
    assert "95 % at any stopping time</text>" not in render_report(made.result(probe(early)), versions={})
