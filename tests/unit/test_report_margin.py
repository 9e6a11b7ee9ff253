"""The picture of the margin: well-formed, deterministic, its lines where the numbers say, and the numbers beside it."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
import pytest

from tests.oracles.configurations import problem
from verifier.exact import parse_problem, read_problem, refute
from verifier.exact.margin import MarginSeries, margins
from verifier.report import margin as drawing
from verifier.report.margin import STYLES, margin_csv, margin_figure

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["frank-wolfe-4-1", "powell", "tie", "three-block-admm"]


@cache
def series(name: str) -> MarginSeries:
    if name == "tie":
        given = parse_problem(problem([["1/5"], ["-1/10"]], ties="lowest-index"))
    else:
        given = read_problem(ROOT / "problems" / f"{name}.json")
    return margins(given, refute(given), horizon=100)  # type: ignore[arg-type]  # none is of expressions


@cache
def svg(name: str) -> str:
    return margin_figure(series(name)).svg


def drawn(name: str) -> Any:
    with mpl.rc_context(drawing._SETTINGS):
        return drawing._draw(series(name))


@pytest.mark.parametrize("name", NAMES)
def test_it_is_well_formed_and_refers_to_nothing_outside(name: str) -> None:
    root = ET.fromstring(svg(name))  # noqa: S314  # our own output
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("viewBox")
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    assert series(name).answer in (title.text or "")
    assert all(each.sentence in (description.text or "") for each in series(name).divergences)
    assert not re.search(r"url\((?!#)|<image|<script|<!DOCTYPE|mathdefault", svg(name))
    addresses = set(re.findall(r"https?://[^\"' <]+", svg(name)))
    assert addresses == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # the namespaces' names
    assert not re.search(r"20\d\d-\d\d-\d\d", svg(name))


@pytest.mark.slow
def test_equal_series_give_equal_bytes_in_any_process() -> None:
    assert margin_figure(series("tie")).svg == svg("tie")
    script = (
        "import sys; from tests.unit.test_report_margin import series, margin_figure;"
        "sys.stdout.write(margin_figure(series('tie')).svg)"
    )
    there = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)},
    )
    assert there.stdout == svg("tie")


def test_lines_lie_where_the_numbers_say() -> None:
    shown = series("frank-wolfe-4-1")
    above, close, distances = drawn("frank-wolfe-4-1").axes
    exact, *floats = above.lines[:4]
    assert exact.get_xydata().tolist() == [[t, x] for t, x in zip(shown.t, shown.exact, strict=True)]
    for line, each in zip(floats, shown.floats, strict=True):
        assert line.get_ydata().tolist() == list(each.values)
    assert close.lines[0].get_xdata().tolist() == list(range(216, 233))
    low, high = close.get_ylim()
    assert low < shown.exact[216] < 0 < shown.exact[232] < high  # the change of sign is in view
    bounds = distances.lines[1]
    assert bounds.get_ydata().tolist() == list(shown.floats[0].bounds)


@pytest.mark.parametrize(("name", "t"), [("frank-wolfe-4-1", 224), ("tie", 144)])
def test_the_violating_region_is_shaded_and_the_first_violation_named(name: str, t: int) -> None:
    above, close, _ = drawn(name).axes
    for axes in (above, close):
        (span,) = axes.patches
        _, bottom = span.get_xy()
        assert bottom == 0.0
        assert bottom + span.get_height() >= axes.get_ylim()[1] - 1e-12
        assert any(set(line.get_xdata()) == {t} for line in axes.lines if len(line.get_xdata()) == 2)
    assert f"first violation, exact: t = {t}, component 0" in svg(name)


def test_forms_far_off_are_named_and_not_drawn_close() -> None:
    _, close, _ = drawn("tie").axes
    assert [text.get_text() for text in close.texts] == ["off, not drawn: squares, triangles"]


def test_a_claim_about_the_limit_has_no_region() -> None:
    above, distances = drawn("powell").axes
    assert not above.patches
    assert "the claim: this is 0 at every limit point" in svg("powell")
    apart = distances.lines[3].get_ydata()  # the second form's, after the first one's line, bound and end mark
    assert max(apart[:42]) < 1e-13  # it takes the wrong sign at t = 41
    assert min(apart[42:]) > 0.1


def test_forms_differ_in_more_than_colour() -> None:
    assert len({dashes for _, dashes, _, _ in STYLES}) == len({marker for _, _, marker, _ in STYLES}) == len(STYLES)


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_beside_it_are_the_series(name: str) -> None:
    shown = series(name)
    header, *rows = csv.reader(io.StringIO(margin_csv(shown)))
    assert header[:3] == ["t", f"exact {shown.quantity}", "component"]
    assert len(header) == 3 + 3 * len(shown.floats)
    assert [int(row[0]) for row in rows] == list(shown.t)
    assert [float(row[1]) for row in rows] == list(shown.exact)
    for index, each in enumerate(shown.floats):
        for offset, column in enumerate((each.values, each.apart, each.bounds)):
            cells = [row[3 + 3 * index + offset] for row in rows]
            assert [None if cell == "" else float(cell) for cell in cells] == list(column)
