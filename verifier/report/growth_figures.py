"""Two pictures of a growth sweep: its e-processes against the looks, and the interval for the slope as it narrows.

Both are drawn from `looks`, what the rule had seen at each look, in the statistics of the latest evidence; a result
without it has no such pictures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator

from verifier.model.numbers import parse_rational
from verifier.model.results import ProbeResult
from verifier.report.eprocess_figure import MOST_TICKS, Bar, Process, eprocess_svg
from verifier.report.growth import is_growth, unit
from verifier.report.picture import INK, STYLES, ascii_words, svg_of
from verifier.stats.growth_rule import HALF_BAR

WIDTH, HEIGHT = 7.2, 3.4  # inches
BAND, LINE = "#cfe3f1", "#0072B2"
APART = 0.07  # of the axes' height: the least distance between two labels at the right edge

Path = Sequence[Mapping[str, Any]]


def look_path(probe: ProbeResult) -> Path:
    """What was seen at each look, in order; empty where the result does not say or nothing is to be drawn."""
    statistics = probe.latest.statistics if probe.evidence else None
    if not is_growth(probe) or statistics is None:
        return ()
    path = statistics.get("looks") or ()
    return path if all(math.isfinite(float(look["estimate"])) for look in path) else ()


def evidence_svg(probe: ProbeResult) -> str:
    """E for growth and E for a slope below δ and δ/2 at each look, after the discount, with what each must reach."""
    path, statistics = look_path(probe), probe.latest.statistics or {}
    discount = float(statistics.get("discount", 1.0))
    delta = _number(probe, "delta")
    named = (
        ("growth", "e_grow"),
        (f"a slope below {delta:g}", "e_flat"),
        (f"a slope below {delta / 2:g}", "e_half"),
    )
    return eprocess_svg(
        [int(look["n"]) for look in path],
        [Process(name=name, e=[float(look[key]) * discount for look in path]) for name, key in named],
        bars=[
            Bar(name="decides", value=_number(probe, "threshold")),
            Bar(name=f"below {delta / 2:g}", value=HALF_BAR),
        ],
        stop=None if statistics.get("stopped_by") is None else int(statistics["n"]),
        unit="replicates",
        title="Evidence at each look, the discount applied",
    )


def interval_svg(probe: ProbeResult) -> str:
    """The interval for the slope at each look that has one, with the alleged slope, the smallest of interest and 0."""
    path = [look for look in look_path(probe) if look["low"] is not None and look["high"] is not None]
    title = f"What is left for the slope per {unit(probe)}, 95 % at any stopping time"
    return svg_of(lambda: _draw_interval(path, probe, title=title), title=title)


def has_interval(probe: ProbeResult) -> bool:
    """Whether some look has an interval."""
    return any(look["low"] is not None and look["high"] is not None for look in look_path(probe))


def _draw_interval(path: Path, probe: ProbeResult, *, title: str) -> Figure:
    figure = Figure(figsize=(WIDTH, HEIGHT))
    axes = figure.add_axes((0.1, 0.15, 0.65, 0.74))
    n = [int(look["n"]) for look in path]
    low, high = ([float(look[end]) for look in path] for end in ("low", "high"))
    axes.fill_between(n, low, high, color=BAND, linewidth=0, zorder=1)
    for ends, marker in ((low, "^"), (high, "v")):
        axes.plot(n, ends, color=LINE, linewidth=1.0, marker=marker, markersize=3.5, zorder=2)
    axes.plot(n, [float(look["estimate"]) for look in path], color=LINE, linewidth=1.4, marker="o", markersize=4)
    marks = [
        (_number(probe, "alternative"), "alleged", STYLES[0][0]),
        (_number(probe, "delta"), "smallest of interest", STYLES[2][0]),
        (0.0, "bounded", INK),
    ]
    levels = [level for level, _, _ in marks]
    bottom, top = _view(low, high, levels)
    axes.set_ylim(bottom, top)
    ends_at = [(float(path[-1]["estimate"]), "estimate", LINE), *marks]
    for level, _, colour in marks:
        axes.axhline(level, color=colour, linewidth=1.0, linestyle=(0, (4, 2)), zorder=1)
    _label(axes, ends_at, bottom=bottom, top=top)
    axes.xaxis.set_major_locator(FixedLocator(n) if len(n) <= MOST_TICKS else MaxNLocator(8, integer=True))
    axes.set_xlabel("n, replicates looked at")
    axes.set_ylabel(f"slope per {ascii_words(unit(probe))}")
    axes.set_title(ascii_words(title))
    return figure


def _view(low: Sequence[float], high: Sequence[float], levels: Sequence[float]) -> tuple[float, float]:
    """The heights shown: all levels and the last interval in full; of wider, earlier ones three times that much."""
    least, most = min([low[-1], *levels]), max([high[-1], *levels])
    room = most - least
    bottom = max(min([*low, least]), least - room)
    top = min(max([*high, most]), most + room)
    return bottom - 0.05 * (top - bottom), top + 0.05 * (top - bottom)


def _label(axes: Any, marks: Sequence[tuple[float, str, str]], *, bottom: float, top: float) -> None:
    """Names what a height means at the right edge, pushed apart where two would overlap."""
    at = -1.0
    for level, name, colour in sorted(marks):
        height = (level - bottom) / (top - bottom)
        at = max(height, at + APART)
        axes.annotate(
            f"{name} ({level:.2g})",
            xy=(1.0, height),
            xytext=(1.03, at),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=colour,
            fontsize=8,
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 1},
        )


def _number(probe: ProbeResult, key: str) -> float:
    return float(parse_rational(str(probe.rule[key])))
