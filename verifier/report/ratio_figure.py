"""The picture of a reconciliation: the claimed ratio, each corrected one and what they are set against, on one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from verifier.report.picture import GREY, INK, STYLES, ascii_words, short, svg_of

WIDTH, ROW, MARGIN = 7.2, 0.36, 1.25  # inches: the picture, a row, title and axis
MOST_ROWS = 20


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio above 0 with its rounding interval, and whether it is claimed, corrected, or what these must meet."""

    label: str
    value: float
    low: float
    high: float
    kind: str


def ratios(details: Mapping[str, Any]) -> list[Ratio]:
    """The ratios in an audit's details, from top to bottom; those that are not above 0 are left out."""
    found: list[Ratio | None] = []
    if "claimed" in details and "readings" in details:
        found.append(_ratio("as claimed", details["claimed"], "text", "claimed"))
        found += [
            _ratio(f"times {each['factor']}: {each['name']}", each, "reading", "corrected")
            for each in details["readings"][: MOST_ROWS - 2]
        ]
        found.append(_ratio("against", details["against"], "text", "against"))
    elif details.get("kind") == "factor" and "on_one_basis" in details:
        for name, label, kind in (
            ("as_printed", "as printed", "claimed"),
            ("on_one_basis", "on one basis", "corrected"),
        ):
            row = {"value": details[name], "interval": details.get(f"{name}_interval")}
            found.append(_ratio(label, row, "value", kind))
    return [each for each in found if each is not None]


def ratio_svg(rows: Sequence[Ratio], *, threshold: Any = None) -> str:
    """The rows on one logarithmic axis with the line at 1, and one at `threshold` where that is a number above 0."""
    title = "; ".join(f"{each.label} {each.value:.4g}" for each in rows[:4])
    return svg_of(lambda: _draw(rows, _number(threshold)), title=f"Ratios: {title}")


def _ratio(label: str, row: Mapping[str, Any], key: str, kind: str) -> Ratio | None:
    value, interval = _number(row.get(key)), row.get("interval")
    if value is None:
        return None
    low, high = (float(end) for end in interval) if interval else (value, value)
    return Ratio(label, value, low, high, kind) if low > 0 and isfinite(high) else None


def _number(value: Any) -> float | None:
    """A number above 0, given as one or as text; None for anything else."""
    if value is None or isinstance(value, Mapping | bool):
        return None
    try:
        number = float(Fraction(value)) if isinstance(value, str) else float(value)
    except (ValueError, ZeroDivisionError, OverflowError, TypeError):
        return None
    return number if 0 < number < float("inf") else None


def _draw(rows: Sequence[Ratio], threshold: float | None) -> Figure:
    height = MARGIN + ROW * len(rows)
    figure = Figure(figsize=(WIDTH, height))
    axes = figure.add_axes((0.3, 0.62 / height, 0.55, ROW * len(rows) / height))
    axes.set_xscale("log")
    axes.axvline(1.0, color=INK, linewidth=1.0, label="equal: 1")
    if threshold is not None:
        axes.axvline(threshold, color=GREY, linewidth=1.0, linestyle=(0, (1, 2)), label=f"threshold {threshold:.4g}")
    styles = {"claimed": STYLES[0], "corrected": STYLES[1], "against": STYLES[2]}
    for index, each in enumerate(rows):
        colour, _, marker = styles[each.kind]
        axes.plot([each.low, each.high], [index] * 2, color=colour, linewidth=3, alpha=0.5, solid_capstyle="butt")
        axes.plot([each.value], [index], color=colour, marker=marker, markersize=6, linewidth=0)
        axes.annotate(
            f"{each.value:.4g}", xy=(1.02, index), xycoords=("axes fraction", "data"), va="center", fontsize=8,
            color=colour,
        )  # fmt: skip
    ends = [1.0, *(end for each in rows for end in (each.low, each.high)), *([threshold] if threshold else [])]
    axes.set_xlim(min(ends) / 1.6, max(ends) * 1.6)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [short(each.label) for each in rows])
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=9))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("ratio, left over right (logarithmic); bars: rounding of the printed numbers")
    axes.set_title(ascii_words("The claimed ratio and its corrections"), pad=20)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False, fontsize=8, borderaxespad=0.2)
    return figure
