"""The picture of what a design can show: the chance of the right answer against n, one line a horizon or a side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from verifier.report.picture import GREY, INK, STYLES, ascii_words, svg_of

WIDTH, HEIGHT = 7.2, 4.2  # inches
ENOUGH = 0.9


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The chance at each n, (points,) each."""

    name: str
    n: Sequence[int]
    chance: Sequence[float]


def power_svg(curves: Sequence[Curve], *, planned: int | None, unit: str, title: str) -> str:
    """The picture as one SVG element. planned: the n of the design that was asked about."""
    return svg_of(lambda: _draw(curves, planned=planned, unit=unit, title=title), title=title)


def _draw(curves: Sequence[Curve], *, planned: int | None, unit: str, title: str) -> Figure:
    figure = Figure(figsize=(WIDTH, HEIGHT))
    axes = figure.add_axes((0.1, 0.13, 0.63, 0.77))
    axes.set_xscale("log")
    for index, curve in enumerate(curves):
        colour, dashes, _ = STYLES[index % len(STYLES)]
        axes.plot(curve.n, curve.chance, color=colour, linestyle=dashes, linewidth=1.4, label=ascii_words(curve.name))
    axes.axhline(ENOUGH, color=INK, linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
    if planned is not None:
        axes.axvline(planned, color=GREY, linewidth=0.8, zorder=0)
        axes.annotate(
            f"planned: {planned:,}",
            xy=(planned, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, 2),
            textcoords="offset points",
            fontsize=8,
            color=GREY,
        )
    axes.set_ylim(-0.02, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_locator(FixedLocator(ticks(curves)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel(f"{ascii_words(unit)} (logarithmic)")
    axes.set_ylabel("chance of the right answer")
    axes.set_title(ascii_words(title), pad=14)
    figure.legend(loc="upper left", bbox_to_anchor=(0.735, 0.85), frameon=False, fontsize=8)
    return figure


def ticks(curves: Sequence[Curve]) -> list[float]:
    """1, 2 and 5 times the powers of ten within what is drawn."""
    drawn = [n for curve in curves for n in curve.n]
    low, high = min(drawn), max(drawn)
    steps = [step * 10.0**power for power in range(9) for step in (1, 2, 5)]
    return [step for step in steps if low <= step <= high] or [float(low), float(high)]
