"""The picture of a sweep: estimates against ln k with intervals, the exact curve, controls and fitted laws, as SVG."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator
from scipy.special import stdtrit

from verifier.model.results import Point, ProbeResult
from verifier.report.fits import Law, fitted_laws
from verifier.report.text import plain
from verifier.report.values import json_value

LONGEST_LABEL = 28
WIDTH, HEIGHT = 7.2, 4.6  # inches; 9-point letters are then read as 12 pixels at a width of 700
MOST_TICKS = 10
MEASURED = "measured, 95 % interval at this size"
LABEL_GAP = 0.052  # of the axes' height: the least distance between two labels at the right edge

# Okabe and Ito (2008), told apart by colour-blind readers; markers and dashes differ too, for print
ESTIMATE, EXACT = "#0072B2", "#000000"
LAW_STYLES = {"log": ("#D55E00", "-"), "bounded": ("#009E73", (0, (5, 2))), "constant": ("#7f7f7f", (0, (1, 2)))}
CONTROL_STYLES = (
    ("#CC79A7", "s"),
    ("#E69F00", "^"),
    ("#56B4E9", "v"),
    ("#009E73", "D"),
    ("#7a5c00", "P"),
    ("#882255", "X"),
    ("#44AA99", "<"),
    ("#999933", ">"),
)

_SETTINGS: Any = {
    "svg.hashsalt": "verifier",  # ids from content: the same result gives the same bytes
    "svg.fonttype": "none",  # text stays text: it can be searched, copied and read aloud
    "text.parse_math": False,
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@dataclass(frozen=True, slots=True)
class Series:
    """One line of points with its name."""

    name: str
    points: tuple[Point, ...]


def control_series(probe: ProbeResult) -> list[Series]:
    """The points of every control that drew some, each named by its target's function."""
    return [
        Series(_short(_ascii(run.control.target.rpartition(":")[2])), run.points)
        for run in probe.controls
        if run.points
    ]


def sweep_svg(probe: ProbeResult) -> str:
    """The picture as one SVG element without prolog, external reference or date: the same result, the same text.

    The probe has evidence with at least one point.
    """
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a missing glyph is the reader's font's business
        canvas: Any = FigureCanvasSVG(_draw(probe))
        buffer = io.StringIO()
        canvas.print_svg(buffer, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].rstrip()
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r'\1 width="100%" role="img"', svg, count=1)
    return svg.replace("<defs>", f"<title>{_description(probe)}</title>\n <defs>", 1)


def figure_data(probe: ProbeResult) -> dict[str, Any]:
    """What the picture shows, as JSON values: every series' points."""
    series = [Series(plain(probe.name), probe.latest.points), *control_series(probe)]
    return {
        "axis": probe.axis,
        "series": [
            {
                "name": each.name,
                "points": [
                    {
                        "scale": point.at.get(probe.axis),
                        "estimate": json_value(point.estimate),
                        "stderr": json_value(point.stderr),
                        "n": point.n,
                        "exact": json_value(point.exact),
                    }
                    for point in each.points
                ],
            }
            for each in series
        ],
    }


def _description(probe: ProbeResult) -> str:
    scales = [point.at[probe.axis] for point in probe.latest.points]
    return (
        f"Estimates of probe {_ascii(probe.name)} against {_ascii(probe.axis)} from {min(scales)} to {max(scales)}, "
        "with its controls and fitted laws; the numbers stand in the table below."
    ).translate({ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"})


def _ascii(text: str) -> str:
    return plain(text).encode("ascii", "backslashreplace").decode()


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 3]}..."


def _draw(probe: ProbeResult) -> Figure:
    figure = Figure(figsize=(WIDTH, HEIGHT))
    axes = figure.add_axes((0.09, 0.15, 0.66, 0.66))
    axes.set_xscale("log")
    axes.axhline(0, color="#d0d0d0", linewidth=0.8, zorder=0)
    points, axis = probe.latest.points, probe.axis
    shown, hidden = in_view(points, control_series(probe))
    labels = [_draw_control(axes, series, axis, index) for index, series in enumerate(shown)]
    _draw_estimates(axes, points, axis)
    _draw_exact(axes, points, axis)
    for law in fitted_laws(points, axis, probe.rule):
        _draw_law(axes, law)
    _finish(axes, probe, [point.at[axis] for series in _all_series(probe) for point in series.points])
    _place_labels(axes, labels)
    if hidden:
        names = "; ".join(f"{series.name} ({_extent(series.points)})" for series in hidden)
        figure.text(0.09, 0.015, f"Far outside, not drawn: {names}", fontsize=8, color="#5b5b5b")
    # containers come last in matplotlib's own order, but the measured points are what a reader looks for first
    entries = sorted(zip(*axes.get_legend_handles_labels(), strict=True), key=lambda entry: entry[1] != MEASURED)
    figure.legend(
        *zip(*entries, strict=True),
        loc="upper left",
        bbox_to_anchor=(0.075, 0.995),
        ncols=2,
        frameon=False,
        handlelength=2.4,
        columnspacing=1.6,
    )
    return figure


def in_view(points: Sequence[Point], controls: Sequence[Series]) -> tuple[list[Series], list[Series]]:
    """Which controls share the picture, and which lie so far off that they would flatten everything else.

    One leaves where the rest needs less than 40 % of the height without it; at least two controls stay.
    """
    shown, hidden = list(controls), []
    while len(shown) > 2:
        heights = [_height(points, [other for other in shown if other is not each]) for each in shown]
        least = min(range(len(shown)), key=heights.__getitem__)
        if _height(points, shown) <= 2.5 * heights[least]:
            break
        hidden.append(shown.pop(least))
    return shown, hidden


def _height(points: Sequence[Point], controls: Sequence[Series]) -> float:
    estimates = [point.estimate for series in controls for point in series.points]
    estimates += [point.estimate for point in points]
    return max(estimates) - min(estimates)


def _extent(points: Sequence[Point]) -> str:
    estimates = [point.estimate for point in points]
    return f"{min(estimates):.3g} to {max(estimates):.3g}"


def _all_series(probe: ProbeResult) -> list[Series]:
    return [Series(probe.name, probe.latest.points), *control_series(probe)]


def _draw_estimates(axes: Any, points: Sequence[Point], axis: str) -> None:
    axes.errorbar(
        [point.at[axis] for point in points],
        [point.estimate for point in points],
        yerr=half_widths(points),
        fmt="o",
        color=ESTIMATE,
        markersize=5,
        capsize=3,
        linewidth=1.3,
        zorder=5,
        label=MEASURED,
    )


def half_widths(points: Sequence[Point]) -> list[float]:
    """Half the 95 % interval of each point at fixed n: t quantile on n − 1 degrees of freedom times the stderr."""
    return [
        float(stdtrit(point.n - 1, 0.975)) * point.stderr if point.stderr and point.n > 1 else 0.0 for point in points
    ]


def _draw_exact(axes: Any, points: Sequence[Point], axis: str) -> None:
    known = [(point.at[axis], float(point.exact)) for point in points if point.exact is not None]
    if known:
        axes.plot(
            *zip(*known, strict=True),
            color=EXACT,
            linewidth=0.9,
            marker="_",
            markersize=11,
            zorder=6,
            label="exact, by the recursion or formula of the case",
        )


def _draw_law(axes: Any, law: Law) -> None:
    colour, dashes = LAW_STYLES[law.kind]
    axes.plot(law.scales, law.values, color=colour, linestyle=dashes, linewidth=1.4, zorder=3, label=law.label)


def _draw_control(axes: Any, series: Series, axis: str, index: int) -> tuple[float, float, str, str]:
    """Draws a control; returns where its label belongs (data coordinates), its text and colour."""
    colour, marker = CONTROL_STYLES[index % len(CONTROL_STYLES)]
    axes.errorbar(
        [point.at[axis] for point in series.points],
        [point.estimate for point in series.points],
        yerr=half_widths(series.points),
        color=colour,
        marker=marker,
        markersize=4,
        markerfacecolor="white",
        linewidth=0.8,
        capsize=0,
        zorder=2,
    )
    last = series.points[-1]
    return float(last.at[axis]), last.estimate, series.name, colour


def _finish(axes: Any, probe: ProbeResult, scales: Sequence[int]) -> None:
    ticks = sorted(set(scales))
    if len(ticks) > MOST_TICKS:
        ticks = [ticks[round(i)] for i in np.linspace(0, len(ticks) - 1, MOST_TICKS)]
    axes.xaxis.set_major_locator(FixedLocator([float(tick) for tick in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{tick:,}" for tick in ticks])
    low, high = min(scales), max(scales)
    axes.set_xlim(low / 1.12, high * 1.12)
    axes.set_xlabel(f"{_ascii(probe.axis)} (logarithmic)")
    axes.set_ylabel(_short(_ascii(probe.name)))


def _place_labels(axes: Any, labels: Sequence[tuple[float, float, str, str]]) -> None:
    """Writes the controls' names at the right edge, pushed apart where they would overlap, each with a thin line."""
    bottom, top = axes.get_ylim()
    left, right = (np.log(limit) for limit in axes.get_xlim())
    ordered = sorted(labels, key=lambda label: label[1])
    for (x, y, name, colour), height in zip(
        ordered, spread([(label[1] - bottom) / (top - bottom) for label in ordered], LABEL_GAP), strict=True
    ):
        axes.annotate(
            name,
            xy=((np.log(x) - left) / (right - left), (y - bottom) / (top - bottom)),
            xytext=(1.035, height),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=colour,
            fontsize=8,
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 3},
        )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """`heights` (ascending) moved as little as a few passes find, so that neighbours are at least `gap` apart."""
    groups: list[tuple[float, list[float]]] = []  # (centre, members); groups that touch are merged
    for height in heights:
        members = [height]
        while groups and _centre(members) - gap * (len(members) - 1) / 2 < _upper_end(groups[-1][1], gap) + gap:
            members = groups.pop()[1] + members
        groups.append((_centre(members), members))
    return [
        centre + gap * (index - (len(members) - 1) / 2) for centre, members in groups for index in range(len(members))
    ]


def _centre(members: Sequence[float]) -> float:
    return sum(members) / len(members)


def _upper_end(members: Sequence[float], gap: float) -> float:
    return _centre(members) + gap * (len(members) - 1) / 2
