"""The picture of e-processes against the looks, with the thresholds that decide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from verifier.report.picture import GREY, INK, STYLES, ascii_words, svg_of

WIDTH, HEIGHT = 7.2, 4.2  # inches
MOST_TICKS = 8
LEAST, LARGEST = -3.0, 12.0  # powers of ten: what lies beyond is drawn at the edge


@dataclass(frozen=True, kw_only=True)
class Process:
    """One e-process: what it is evidence for, and E at each look."""

    name: str
    e: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A threshold: its value and what reaching it means."""

    name: str
    value: float


def eprocess_svg(
    looks: Sequence[int], processes: Sequence[Process], *, bars: Sequence[Bar], stop: int | None, unit: str, title: str
) -> str:
    """The picture as one SVG element. looks: n at each look; every process has one E a look. stop: where it ended."""
    return svg_of(lambda: _draw(looks, processes, bars=bars, stop=stop, unit=unit, title=title), title=title)


def _draw(
    looks: Sequence[int], processes: Sequence[Process], *, bars: Sequence[Bar], stop: int | None, unit: str, title: str
) -> Figure:
    figure = Figure(figsize=(WIDTH, HEIGHT))
    axes = figure.add_axes((0.1, 0.28, 0.65, 0.63))
    top = max(
        [math.log10(bar.value) for bar in bars] + [power_of_ten(e) for process in processes for e in process.e],
        default=1.0,
    )
    for process, (colour, dashes, marker) in zip(processes, _styles(len(processes)), strict=True):
        axes.plot(
            looks,
            [power_of_ten(e) for e in process.e],
            color=colour,
            linestyle=dashes,
            marker=marker,
            markersize=4,
            linewidth=1.3,
            label=ascii_words(process.name),
        )
    for bar in bars:
        axes.axhline(math.log10(bar.value), color=INK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
        axes.annotate(
            f"{bar.value:,.0f}: {bar.name}",
            xy=(1.01, math.log10(bar.value)),
            xycoords=("axes fraction", "data"),
            fontsize=8,
            color=INK,
            va="center",
            annotation_clip=False,
        )
    axes.axhline(0, color="#d0d0d0", linewidth=0.8, zorder=0)
    if stop is not None and stop in looks:
        axes.axvline(stop, color=GREY, linewidth=0.8, zorder=0)
        axes.annotate(
            f"stop at {stop:,}",
            xy=(stop, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-3, -2),
            textcoords="offset points",
            fontsize=8,
            color=GREY,
            ha="right",
            va="top",
        )
    axes.set_ylim(LEAST - 0.2, min(LARGEST, top) + 0.6)
    axes.yaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(_tick))
    few = len(looks) <= MOST_TICKS
    axes.xaxis.set_major_locator(FixedLocator(list(looks)) if few else MaxNLocator(8, integer=True))
    axes.set_xlabel(f"n, {ascii_words(unit)} looked at")
    axes.set_ylabel("E (logarithmic)")
    axes.set_title(ascii_words(title))
    figure.legend(
        loc="lower left", bbox_to_anchor=(0.09, 0.0), ncols=2, frameon=False, fontsize=8, title="evidence for"
    )
    return figure


def power_of_ten(e: float) -> float:
    """log₁₀ E, held within what is drawn."""
    return LEAST if e <= 0 else min(max(math.log10(e), LEAST), LARGEST)


def _styles(count: int) -> list[Any]:
    return [STYLES[i % len(STYLES)] for i in range(count)]


def _tick(value: float, _: object) -> str:
    power = round(value)
    return f"{10**power:,}" if 0 <= power <= 4 else f"1e{power}"
