"""The picture: well-formed, self-contained, deterministic, and its points where the numbers say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from tests.unit import report_factory as made
from verifier.model.results import Evidence, Point, UnitsRecord
from verifier.report.figure import ESTIMATE, Series, figure_data, half_widths, in_view, spread, sweep_svg
from verifier.report.fits import bounded_generators, fitted_laws

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}href"


def test_it_is_well_formed_and_refers_to_nothing_outside() -> None:
    svg = sweep_svg(made.probe())
    root = ET.fromstring(svg)  # noqa: S314  # our own output
    assert root.tag == f"{SVG}svg"
    assert root.get("viewBox")
    assert root.find(f"{SVG}title") is not None
    references = [element.get(name) for element in root.iter() for name in (XLINK, "href") if element.get(name)]
    assert references
    assert all(str(reference).startswith("#") for reference in references)
    assert not re.search(r"url\((?!#)|<image|<script|<!DOCTYPE", svg)
    addresses = set(re.findall(r"https?://[^\"' <]+", svg))
    assert addresses == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # the namespaces' names


def test_equal_results_give_equal_bytes_in_any_process() -> None:
    here = sweep_svg(made.probe())
    assert sweep_svg(made.probe()) == here
    script = (
        "import sys; from tests.unit import report_factory as made; from verifier.report.figure import sweep_svg;"
        "sys.stdout.write(sweep_svg(made.probe()))"
    )
    root = Path(__file__).parents[2]
    there = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(root)},
    )
    assert there.stdout == here


def _markers(svg: str, colour: str) -> list[tuple[float, float]]:
    """Positions of the filled markers of one colour, in drawing order."""
    root = ET.fromstring(svg)  # noqa: S314  # our own output
    places = [
        (float(element.get("x", "nan")), float(element.get("y", "nan")))
        for element in root.iter(f"{SVG}use")
        if f"fill: {colour.lower()}" in element.get("style", "")
    ]
    return places[: len(made.SCALES)]


def test_points_stand_where_the_numbers_say() -> None:
    markers = _markers(sweep_svg(made.probe()), ESTIMATE)
    points = made.probe().latest.points
    steps = np.diff([x for x, _ in markers])
    assert steps == pytest.approx(np.full(5, steps[0]), rel=1e-6)  # doublings are equal steps: the axis is ln k
    heights, estimates = np.array([y for _, y in markers]), np.array([point.estimate for point in points])
    slope, offset = np.polyfit(estimates, heights, 1)
    assert slope < 0  # upwards is a smaller y
    assert heights == pytest.approx(slope * estimates + offset, abs=1e-3)


def test_every_control_and_scale_is_named_in_text() -> None:
    svg = sweep_svg(made.probe())
    words = " ".join(ET.fromstring(svg).itertext())  # noqa: S314  # our own output
    for run in made.controls():
        assert run.control.target.partition(":")[2] in words
    for scale in made.SCALES:
        assert f"{scale:,}" in words
    assert "best bounded function" in words
    assert "b = 0.37" in words


def test_hostile_names_stay_text() -> None:
    svg = sweep_svg(made.hostile().probes[0])
    root = ET.fromstring(svg)  # noqa: S314  # our own output
    assert not list(root.iter(f"{SVG}script"))
    assert "<script" not in svg
    assert "<script>alert(1)</script>" in " ".join(root.itertext())  # in the title, which is not cut
    assert svg.isascii()


@pytest.mark.parametrize("scales", [(32,), (32, 64), (2, 4, 8), tuple(range(2, 60))])
def test_any_number_of_scales_draws(scales: tuple[int, ...]) -> None:
    points = made.growing_points(scales, n=1) if len(scales) == 1 else made.growing_points(scales)
    probe = made.probe(evidence=(Evidence("decision", None, points, UnitsRecord(1, "d")),), controls=())
    ET.fromstring(sweep_svg(probe))  # noqa: S314  # our own output


def test_the_data_beside_it_are_the_points() -> None:
    data = json.loads(json.dumps(figure_data(made.probe()), allow_nan=False))
    assert [series["name"] for series in data["series"]] == [
        "additive-term",
        "online_min",
        "no_gate",
        "refresh_every_request",
        "perfect_predictions",
        "refresh_only_on_pass",
    ]
    first = data["series"][0]["points"][0]
    assert first == {"scale": 32, "estimate": 1.2885, "stderr": 0.03, "n": 40, "exact": "112417351/86643648"} | {
        "estimate": pytest.approx(1.2885, abs=1e-4)
    }


def test_intervals_use_the_t_quantile() -> None:
    few = Point({"k": 4}, 1.0, 0.5, 5)
    # 2.7764 is the tabulated 97.5 % point of t on 4 degrees of freedom
    assert half_widths([few, Point({"k": 4}, 1.0, None, 1)]) == [pytest.approx(0.5 * 2.7764451, abs=1e-6), 0.0]


def _level(name: str, low: float, high: float) -> Series:
    return Series(name, (Point({"k": 32}, low, 0.1, 9), Point({"k": 64}, high, 0.1, 9)))


def test_a_control_far_off_does_not_flatten_the_rest() -> None:
    points = made.growing_points()
    near = [_level("zero", 0.0, 0.02), _level("one", 0.97, 1.0), _level("steep", 1.7, 3.3)]
    far = _level("far", -6.5, -3.1)
    assert in_view(points, [*near, far]) == (near, [far])
    assert in_view(points, near) == (near, [])
    assert in_view(points, [near[0], far]) == ([near[0], far], [])  # two controls always stay
    spaced = [*near, _level("two", 1.4, 2.1)]
    assert in_view(made.flat_points(0.0), spaced) == (spaced, [])  # a flat quantity is not blown up to fill the height


def test_what_is_not_drawn_is_named_with_its_extent() -> None:
    far = made.control(
        "perfect", made.named(made.Outcome.FOR_DISPUTE), "GROWS", made.Outcome.FOR_DISPUTE, made.flat_points(-40)
    )
    svg = sweep_svg(made.probe(controls=(*made.controls(), far)))
    words = " ".join(ET.fromstring(svg).itertext())  # noqa: S314  # our own output
    assert "not drawn: perfect (-40 to -40)" in words


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.001, 0.2))
def test_labels_never_overlap_and_keep_their_order(heights: list[float], gap: float) -> None:
    ordered = sorted(heights)
    placed = spread(ordered, gap)
    assert len(placed) == len(ordered)
    assert all(b - a >= gap - 1e-9 for a, b in pairwise(placed))
    assert sum(placed) == pytest.approx(sum(ordered), abs=1e-9)
    if all(b - a >= gap + 1e-9 for a, b in pairwise(ordered)):
        assert placed == pytest.approx(ordered, abs=1e-12)


def _points(scales: np.ndarray, values: np.ndarray, errors: np.ndarray | None) -> list[Point]:
    return [
        Point({"k": int(k)}, float(y), None if errors is None else float(errors[i]), 9)
        for i, (k, y) in enumerate(zip(scales, values, strict=True))
    ]


def test_the_log_law_is_r_s_weighted_fit() -> None:
    # y, s and the slope as computed in R: lm(y ~ log(k), weights = 1/s^2)
    k = np.array([2, 4, 8, 16, 32, 64])
    y = np.array([0.31, 0.50, 0.83, 1.02, 1.36, 1.55])
    s = np.array([0.05, 0.05, 0.08, 0.08, 0.1, 0.12])
    law = fitted_laws(_points(k, y, s), "k", {"kind": "other"})[0]
    slope, _ = np.polyfit(np.log(law.scales), law.values, 1)
    assert slope == pytest.approx(0.36789949661933, abs=1e-10)
    assert law.label == "a + b ln k, b = 0.368"


def test_the_bounded_curve_is_the_best_of_its_class() -> None:
    k = np.array(made.SCALES, float)
    y = np.array([point.estimate for point in made.growing_points()])
    s = np.array([0.03, 0.02, 0.05, 0.03, 0.04, 0.02])
    bounded = next(law for law in fitted_laws(_points(k, y, s), "k", made.RULE) if law.kind == "bounded")
    design, _ = bounded_generators(k, 0.5)
    design = np.column_stack([np.ones(6), design])
    lower = np.array([-np.inf] + [0.0] * (design.shape[1] - 1))
    oracle = lsq_linear(design / s[:, None], y / s, bounds=(lower, np.inf), tol=1e-13, max_iter=2000)
    at_points = np.interp(np.log(k), np.log(bounded.scales), bounded.values)
    assert np.sum(((at_points - y) / s) ** 2) == pytest.approx(2 * oracle.cost, rel=2e-2)
    assert np.sum(((at_points - y) / s) ** 2) > 20  # ln k is not in the class


def test_a_bounded_function_is_recovered_and_a_constant_weighted() -> None:
    k = np.array(made.SCALES, float)
    y = 2 - 3 / np.log(k) - 1 / np.sqrt(k)
    laws = {law.kind: law for law in fitted_laws(_points(k, y, np.full(6, 0.1)), "k", made.RULE)}
    truth = 2 - 3 / np.log(laws["bounded"].scales) - 1 / np.sqrt(laws["bounded"].scales)
    assert laws["bounded"].values == pytest.approx(truth, abs=1e-3)
    constant = fitted_laws(_points(k, np.array([1.0, 1, 1, 5, 5, 5]), None), "k", made.RULE)[-1]
    assert constant.values == pytest.approx(np.full(121, 3.0))


def test_too_few_points_get_no_fit() -> None:
    assert fitted_laws(list(made.growing_points((32, 64))), "k", made.RULE) == []
