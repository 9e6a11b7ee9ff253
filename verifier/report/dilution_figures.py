"""The pictures of a dilution: the gap against the padded share, and the loss by position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter
from numpy.typing import NDArray

from verifier.audits.shown_numbers import percent, percent_up
from verifier.report.picture import GREY, INK, STYLES, ascii_words, svg_of

WIDTH, HEIGHT = 7.2, 3.8  # inches
POINTS = 200
LOGARITHMIC = 60
"""Ratio of the largest to the smallest gap from which the axis is logarithmic."""

BOX_STYLES = (STYLES[0], STYLES[2], STYLES[3])

Details = Mapping[str, Any]
Floats = NDArray[np.float64]


def gap_svg(details: Details) -> str:
    """The gap on real tokens against the padded share. `details`: of a dilution of two models with an admissible range.

    Line: ln(1 + g) = (G − p d)/(1 − p) at the printed values, band over their rounding. Boxes: what each reading of the
    printed statements leaves. Marked: the published gap at the printed share, the threshold, the admissible range.
    """
    low, high = details["gap_admissible"]
    title = f"Gap of {details['gap_of']} on real tokens: {percent(low)} to {percent(high)} over all admissible"
    return svg_of(lambda: _draw_gap(details, title), title=title)


def position_svg(curves: Mapping[str, Sequence[float | None]]) -> str:
    """The mean loss by position, of all scored positions and of real tokens, over the share of padding."""
    title = "Mean loss by position in a sequence, with padding scored and on real tokens"
    return svg_of(lambda: _draw_positions(curves, title), title=title)


def _draw_gap(details: Details, title: str) -> Figure:
    figure = Figure(figsize=(WIDTH, HEIGHT))
    axes = figure.add_axes((0.1, 0.14, 0.58, 0.74))
    readings, said = details["readings"], details["gap_printed"]
    difference = details["pad_loss_difference"]["registered"]
    low, high = details["gap_admissible"]
    shares = np.linspace(0.0, min(0.995, 1.12 * max(each["share"]["high"] for each in readings) + 0.02), POINTS)
    line, under, over = (_corrected(said[which], shares, difference) for which in ("value", "low", "high"))
    colour = STYLES[1][0]
    axes.fill_between(shares, under, over, color=colour, alpha=0.15, linewidth=0)
    axes.plot(shares, line, color=colour, linewidth=1.5, label="corrected gap")
    for index, (names, each) in enumerate(_boxes(readings)):
        shade, drawn, marker = BOX_STYLES[index % 3]
        label = f"{' or '.join(names)} given up" if names != [""] else "as printed"
        across = [each["share"][which] for which in ("low", "low", "high", "high", "low")]
        up = [each[which] for which in ("gap_low", "gap_high", "gap_high", "gap_low", "gap_low")]
        axes.plot(across, up, color=shade, linestyle=drawn, linewidth=1.2, label=ascii_words(label))
        if each["gap"] is not None and each["share"]["value"] is not None:
            axes.plot([each["share"]["value"]], [each["gap"]], color=shade, marker=marker, markersize=5, linewidth=0)
    bar = details["threshold"]["gap"]
    if bar is not None:
        axes.axhline(bar, color=INK, linewidth=0.9, linestyle=(0, (1, 2)), label=f"threshold, {percent_up(bar)}")
    printed = details["share"]["printed"]
    if printed is not None and printed["value"] is not None:
        axes.errorbar(
            [printed["value"]], [said["value"]], yerr=[[said["value"] - said["low"]], [said["high"] - said["value"]]],
            color="black", marker="*", markersize=9, linewidth=1, linestyle="none", label="published gap",
        )  # fmt: skip
    axes.plot([shares[-1]] * 2, [low, high], color=INK, linewidth=3, solid_capstyle="butt", label="admissible range")
    least, most = min(low, said["low"], 0.0), max(high, said["high"], bar or 0.0)
    if said["low"] > 0 and low > 0 and most / min(low, said["low"]) > LOGARITHMIC:
        axes.set_yscale("log")
        axes.set_ylim(min(low, said["low"]) / 1.3, most * 1.5)
    else:
        axes.set_ylim(least - 0.04 * (most - least), most + 0.12 * (most - least))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.4g} %"))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_xlabel("padded share of the scored positions")
    axes.set_ylabel("gap of the perplexities")
    axes.set_title(ascii_words(title))
    figure.legend(loc="upper left", bbox_to_anchor=(0.69, 0.88), frameon=False, fontsize=8, handlelength=2.6)
    return figure


def _corrected(gap: float, shares: Floats, difference: float) -> Floats:
    with np.errstate(over="ignore"):
        found: Floats = np.expm1((np.log1p(gap) - shares * difference) / (1 - shares))
    return np.where(np.isfinite(found), found, np.nan)


def _boxes(readings: Sequence[Details]) -> list[tuple[list[str], Details]]:
    """Readings that leave the same shares are one box with several names."""
    found: list[tuple[list[str], Details]] = []
    for each in readings:
        if any(each[which] is None or not isfinite(each[which]) for which in ("gap_low", "gap_high")):
            continue
        same = next((names for names, other in found if other["share"] == each["share"]), None)
        if same is None:
            found.append(([each["given_up"]], each))
        else:
            same.append(each["given_up"])
    return found


def _draw_positions(curves: Mapping[str, Sequence[float | None]], title: str) -> Figure:
    figure = Figure(figsize=(WIDTH, HEIGHT))
    axes = figure.add_axes((0.09, 0.14, 0.81, 0.7))
    at = _floats(curves["from"])
    shares = axes.twinx()
    shares.fill_between(at, 0, _floats(curves["share"]), step="mid", color=GREY, alpha=0.18, linewidth=0)
    shares.set_ylim(0, 1)
    shares.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    shares.set_ylabel("share of padding (shaded)")
    shares.spines["right"].set_visible(True)
    axes.set_zorder(shares.get_zorder() + 1)
    axes.patch.set_visible(False)
    names = {"scored": "all scored positions", "real": "real tokens", "pads": "padding"}
    for (kind, name), (colour, dashes, marker) in zip(names.items(), STYLES, strict=False):
        axes.plot(
            at, _floats(curves[kind]), color=colour, linestyle=dashes, linewidth=1.4, marker=marker,
            markersize=3 if len(at) < 60 else 0, label=name,
        )  # fmt: skip
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.set_xlabel("position in the sequence")
    axes.set_ylabel("mean loss, nats")
    axes.set_title(ascii_words(title), pad=22)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False, fontsize=8, borderaxespad=0.2)
    return figure


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if x is None else x for x in values], np.float64)
