"""The picture of a claim's margin against t, exact and in float64: one SVG, and its numbers as CSV."""

from __future__ import annotations

import csv
import io
import re
import textwrap
import warnings
from collections.abc import Sequence
from math import ceil, floor, log10
from statistics import median
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from verifier.exact.divergence import FloatSeries
from verifier.exact.margin import MarginSeries

WIDTH, PANEL, LINE = 7.4, 2.35, 0.155  # inches: the picture, a panel, a line of text
BEYOND = 8
"""Steps shown on either side of the first violation."""
MOST_APART = 40
"""First violations further apart than this are not shown in one close view."""
LONG = 500
"""Steps from which the axis of t is logarithmic."""
LEAST = 1e-300
"""Smaller distances are drawn as if they were this."""

# Okabe and Ito (2008); dashes and markers differ too, so that the lines are told apart in grey print
STYLES = (
    ("#D55E00", (0, (5, 3)), "s", 7.0),
    ("#0072B2", (2, (1.5, 2)), "^", 5.0),
    ("#009E73", (0, (7, 2, 1.5, 2)), "x", 4.5),
)
EXACT, SHADE, INK = "#b8b8b8", "#f3dfd3", "#333333"
SHAPES = {"s": "squares", "^": "triangles", "x": "crosses"}

_SETTINGS: Any = {
    "svg.hashsalt": "verifier-margin",  # ids from content: the same series gives the same bytes
    "svg.fonttype": "none",  # text stays text: it can be searched, copied and read aloud
    "text.parse_math": False,
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
}


class MarginPicture(NamedTuple):
    """The picture as one SVG element, and its numbers as CSV, a line a step."""

    svg: str
    csv: str


def margin_figure(series: MarginSeries) -> MarginPicture:
    """The picture and its data, without date or outside reference: the same series, the same texts.

    Above, the claim's quantity over the whole range, exact and in float64, with the region that the claim forbids
    shaded. Below, where there is a violation, the steps around the first; and how far each float64 run lies from the
    exact one, with the bound on its rounding. Notes say where each form parts from the exact run.
    """
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a missing glyph is the reader's font's business
        canvas: Any = FigureCanvasSVG(_draw(series))
        buffer = io.StringIO()
        canvas.print_svg(buffer, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].rstrip()
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r'\1 width="100%" role="img"', svg, count=1)
    head = f"<title>{_escaped(_title(series))}</title>\n <desc>{_escaped(' '.join(_notes(series)))}</desc>\n <defs>"
    return MarginPicture(svg.replace("<defs>", head, 1), margin_csv(series))


def margin_csv(series: MarginSeries) -> str:
    """The numbers of the picture: t, the exact quantity and its component, and for each form value, distance, bound."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    header = ["t", f"exact {series.quantity}", "component"]
    for each in series.floats:
        header += [f"float64 {each.form}", f"distance to exact of {each.form}", f"error bound of {each.form}"]
    writer.writerow(header)
    columns: list[Sequence[float | None]] = [series.t, series.exact, series.component]
    for each in series.floats:
        columns += [each.values, each.apart, each.bounds]
    for row in zip(*columns, strict=True):
        writer.writerow(["" if x is None else repr(x) for x in row])
    return buffer.getvalue()


def _title(series: MarginSeries) -> str:
    what = f"{series.answer}. {series.quantity[0].upper()}{series.quantity[1:]} against t, steps {series.t[0]} to "
    return f"{what}{series.steps}, in exact arithmetic and in float64."


def _escaped(text: str) -> str:
    return text.translate({ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"})


def _notes(series: MarginSeries) -> list[str]:
    """What a reader must know: the first violation, the tie rule, and each form with the place where it parts."""
    notes = []
    if series.first is not None:
        of = f", component {series.first[1]}" if series.rule else ""
        notes.append(f"Exact: the claim first fails at t = {series.first[0]}{of}.")
    elif series.threshold is not None:
        notes.append(f"Exact: the claim does not fail up to t = {series.steps}.")
    if series.rule:
        notes.append(f"At ties both sides take the {series.rule.replace('-', ' ')}.")
    notes.extend(f"float64, {each.sentence}." for each in series.divergences)
    return notes


def _draw(series: MarginSeries) -> Figure:
    lines = [line for note in _notes(series) for line in textwrap.wrap(note, 118, subsequent_indent="    ")]
    legend = LINE * 1.2 * (1 + len(series.floats)) + 0.3
    text = LINE * len(lines) + 0.15
    height = 2 * PANEL + legend + text + 1.3
    figure = Figure(figsize=(WIDTH, height))

    def place(left: float, bottom: float, width: float) -> Any:
        """Axes by inches: from the left, from the bottom above the notes."""
        return figure.add_axes((left / WIDTH, (text + bottom) / height, width / WIDTH, PANEL / height))

    above, window = place(0.75, PANEL + 1.3, WIDTH - 0.95), _window(series)
    _overview(above, series)
    if window is None:
        _distances(place(0.75, 0.42, WIDTH - 0.95), series)
    else:
        half = (WIDTH - 0.95 - 0.85) / 2
        _close_view(place(0.75, 0.42, half), series, window)
        _distances(place(0.75 + half + 0.85, 0.42, half), series)
    handles, labels = above.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(0.085, 1.0), frameon=False, handlelength=4.2, fontsize=8.5,
        labelspacing=0.25,
    )  # fmt: skip
    for index, line in enumerate(reversed(lines)):
        figure.text(0.15 / WIDTH, (0.1 + LINE * index) / height, line, fontsize=7.5, color=INK)
    return figure


def _known(t: Sequence[int], values: Sequence[float | None]) -> tuple[list[int], list[float]]:
    pairs = [(at, x) for at, x in zip(t, values, strict=True) if x is not None]
    return [at for at, _ in pairs], [x for _, x in pairs]


def _overview(axes: Any, series: MarginSeries) -> None:
    axes.plot(series.t, series.exact, color=EXACT, linewidth=4.0, solid_capstyle="butt", label="exact", zorder=3)
    for each, (colour, dashes, _, _), found in zip(series.floats, STYLES, series.divergences, strict=False):
        label = f"float64, {each.form}: {found.cls}"
        axes.plot(*_known(series.t, each.values), color=colour, linestyle=dashes, linewidth=1.3, label=label, zorder=4)
        if each.values[-1] is None and any(x is not None for x in each.values):
            t, values = _known(series.t, each.values)
            axes.plot(t[-1:], values[-1:], marker="X", color=colour, markersize=7, zorder=5)
    _scale(axes, series)
    if series.threshold is not None:
        _shade(axes, series.threshold)
        axes.text(0.01, 0.97, "shaded: the claim fails", transform=axes.transAxes, fontsize=8, va="top", color=INK)
    else:
        axes.set_title(f"the claim: {series.asks}")
    _steps(axes, series)
    if series.first is not None:
        _mark(axes, series, full=True)
    axes.set_ylabel(textwrap.fill(series.quantity, 34))


def _scale(axes: Any, series: MarginSeries) -> None:
    """A linear axis where it shows everything, else a logarithmic one (symmetric where signs change)."""
    values = [*series.exact, *(x for each in series.floats for x in each.values if x is not None)]
    sizes = sorted(abs(x) for x in values if x)
    if not sizes or sizes[-1] <= 50 * median(sizes):
        if series.threshold is None:
            axes.set_ylim(bottom=0)
    elif series.threshold is None:
        axes.set_yscale("log", nonpositive="mask")
    else:
        axes.set_yscale("symlog", linthresh=median(sizes))


def _shade(axes: Any, threshold: float) -> None:
    low, high = axes.get_ylim()
    high = max(high, threshold + 0.12 * (high - low))
    axes.axhspan(threshold, high, color=SHADE, linewidth=0, zorder=0)
    axes.axhline(threshold, color=INK, linewidth=0.8, zorder=2)
    axes.set_ylim(low, high)


def _mark(axes: Any, series: MarginSeries, *, full: bool) -> None:
    assert series.first is not None
    t, component = series.first
    axes.axvline(t, color=INK, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
    if full:
        of = f", component {component}" if series.rule else ""
        at = axes.transAxes.inverted().transform(axes.transData.transform((t, 0.0)))[0]
        side = "left" if at < 0.3 else "right" if at > 0.7 else "center"
        axes.annotate(
            f"first violation, exact: t = {t:,}{of}", xy=(t, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 3),
            textcoords="offset points", ha=side, va="bottom", fontsize=8, color=INK,
        )  # fmt: skip


def _steps(axes: Any, series: MarginSeries) -> None:
    if series.steps > LONG:
        axes.set_xscale("symlog", linthresh=1)
        ticks = [x for x in (0, 1, 10, 100, 1_000, 10_000) if x <= series.steps]
        axes.set_xticks(ticks, [f"{x:,}" for x in ticks])
        axes.minorticks_off()
        axes.set_xlabel("step t (logarithmic from 1 on)")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("step t")
    axes.set_xlim(series.t[0], max(series.steps, series.t[0] + 1))


def _window(series: MarginSeries) -> tuple[int, int] | None:
    """The steps of the close view: around the first violations, the exact one before all; None where there is none."""
    firsts = [each.first_violation[0] for each in series.divergences if each.first_violation is not None]
    if series.first is not None:
        centre = series.first[0]
    elif firsts:
        centre = min(firsts)
    else:
        return None
    near = [centre, *(t for t in firsts if abs(t - centre) <= MOST_APART)]
    return max(series.t[0], min(near) - BEYOND), min(series.steps, max(near) + BEYOND)


def _close_view(axes: Any, series: MarginSeries, window: tuple[int, int]) -> None:
    inside = [index for index, t in enumerate(series.t) if window[0] <= t <= window[1]]
    t, exact = [series.t[i] for i in inside], [series.exact[i] for i in inside]
    axes.plot(t, exact, color=EXACT, marker="o", markersize=9, linewidth=2.5, zorder=3)
    for each, (colour, _, marker, size) in zip(series.floats, STYLES, strict=False):
        at, values = _known(t, [each.values[i] for i in inside])
        axes.plot(
            at, values, color=colour, marker=marker, markersize=size, markerfacecolor="none", linewidth=0,
            markeredgewidth=1.1, zorder=4,
        )  # fmt: skip
    outside = _focus(axes, series, inside)
    _shade(axes, series.threshold or 0.0)
    if outside:
        text = f"off, not drawn: {', '.join(outside)}"
        axes.text(0.01, 0.97, text, transform=axes.transAxes, fontsize=8, va="top", color=INK)
    if series.first is not None:
        _mark(axes, series, full=False)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, 4))
    axes.set_xlabel("step t")
    drawn = [SHAPES[marker] for _, (_, _, marker, _) in zip(series.floats, STYLES, strict=False)]
    axes.set_title(f"around the first violation\ndiscs exact; {', '.join(drawn)} float64", fontsize=8.5)


def _focus(axes: Any, series: MarginSeries, inside: Sequence[int]) -> list[str]:
    """Fits the axis to the exact values and the forms near them; the markers of the forms left out."""
    kept, outside = [series.exact[i] for i in inside], []
    kept.append(series.threshold or 0.0)
    reach = max(kept) - min(kept)
    for each, (_, _, marker, _) in zip(series.floats, STYLES, strict=False):
        values = [x for i in inside if (x := each.values[i]) is not None]
        if all(min(kept) - 2 * reach <= x <= max(kept) + 2 * reach for x in values):
            kept.extend(values)
        else:
            outside.append(SHAPES[marker])
    pad = 0.12 * (max(kept) - min(kept)) or 1.0
    axes.set_ylim(min(kept) - pad, max(kept) + pad)
    return outside


def _distances(axes: Any, series: MarginSeries) -> None:
    """|float64 − exact| as lines, the bounds as thin lines of the same colour above them, on one logarithmic axis."""
    foot = _floor(series.floats)
    for each, (colour, dashes, _, _) in zip(series.floats, STYLES, strict=False):
        t, apart = _known(series.t, each.apart)
        axes.plot(t, [max(x, foot) for x in apart], color=colour, linestyle=dashes, linewidth=1.3, zorder=4)
        t, bounds = _known(series.t, each.bounds)
        axes.plot(t, [max(x, foot) for x in bounds], color=colour, linewidth=0.7, zorder=3)
        if t and t[-1] < series.t[-1]:
            axes.plot(t[-1:], [max(bounds[-1], foot)], color=colour, marker="|", markersize=9, zorder=5)
    axes.set_yscale("log")
    _decades(axes, foot, zero=any(x == 0 for each in series.floats for x in each.apart))
    _steps(axes, series)
    axes.set_title("float64's distance from exact (broken lines)\nand bound on its rounding (thin lines)", fontsize=8.5)


def _floor(floats: Sequence[FloatSeries]) -> float:
    """A power of ten well below every distance that is not 0: where 0 is drawn."""
    least = min((x for each in floats for row in (each.apart, each.bounds) for x in row if x), default=1.0)
    return float(10.0 ** (floor(log10(max(least, LEAST))) - 1))


def _decades(axes: Any, bottom: float, *, zero: bool) -> None:
    """At most seven labelled powers of ten; the lowest reads 0 where distances of 0 are drawn there."""
    low, high = round(log10(bottom)), ceil(log10(axes.get_ylim()[1]))
    stride = max(1, ceil((high - low) / 6))
    powers = range(low, high + 1, stride)
    labels = ["0" if zero and k == low else f"1e{k}" for k in powers]
    axes.set_ylim(bottom / 2, 10.0**high if high < 300 else None)
    axes.set_yticks([10.0**k for k in powers], labels)
    axes.minorticks_off()
