"""The picture of teams' estimates, one under the other, with their mean and where another team is expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from verifier.report.picture import GREY, INK, STYLES, ascii_words, short, svg_of

WIDTH, ROW, MARGIN = 7.2, 0.3, 1.5  # inches: the picture, a line of it, what stands above and below
MOST_ROWS = 60


@dataclass(frozen=True, kw_only=True)
class TeamRow:
    """A team's estimate and its interval, None where it has none; `word` stands at the right edge."""

    name: str
    estimate: float | None
    interval: tuple[float, float] | None
    word: str = ""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The mean of teams with its interval, and the interval in which another team's effect is expected."""

    estimate: float
    interval: tuple[float, float]
    prediction: tuple[float, float] | None


def forest_svg(
    rows: Sequence[TeamRow],
    *,
    summary: Summary | None,
    marks: Sequence[tuple[str, float]],
    shown: Callable[[float], str],
    quantity: str,
    title: str,
) -> str:
    """The picture as one SVG element. marks: named values drawn as lines, such as what is claimed and alleged.

    shown: how a value is written on the axis. The first 60 teams are drawn, and the title says so.
    """
    drawn = rows[:MOST_ROWS]
    words = title if len(drawn) == len(rows) else f"{title}; the first {MOST_ROWS} of {len(rows)} are drawn"
    return svg_of(
        lambda: _draw(drawn, summary=summary, marks=marks, shown=shown, quantity=quantity, title=words), title=words
    )


def _draw(
    rows: Sequence[TeamRow],
    *,
    summary: Summary | None,
    marks: Sequence[tuple[str, float]],
    shown: Callable[[float], str],
    quantity: str,
    title: str,
) -> Figure:
    lines = len(rows) + (2 if summary else 0)
    height = MARGIN + ROW * max(lines, 3)
    figure = Figure(figsize=(WIDTH, height))
    axes = figure.add_axes((0.24, 0.75 / height, 0.56, 1 - MARGIN / height))
    colour = STYLES[1][0]
    labels = []
    for place, row in enumerate(rows):
        labels.append(short(row.name))
        if row.estimate is not None:
            if row.interval is not None:
                axes.plot(row.interval, (place, place), color=colour, linewidth=1.2)
            axes.plot([row.estimate], [place], color=colour, marker="s", markersize=5)
        axes.annotate(
            ascii_words(row.word),
            xy=(1.02, place),
            xycoords=("axes fraction", "data"),
            fontsize=8,
            va="center",
            annotation_clip=False,
        )
    if summary is not None:
        place = len(rows)
        low, high = summary.interval
        axes.fill(
            [low, summary.estimate, high, summary.estimate],
            [place, place - 0.3, place, place + 0.3],
            color=STYLES[0][0],
            linewidth=0,
        )
        labels.append("mean of teams")
        labels.append("another team" if summary.prediction else "")
        if summary.prediction:
            axes.plot(
                summary.prediction, (place + 1, place + 1), color=STYLES[0][0], linewidth=1.2, linestyle=(0, (4, 2))
            )
    for name, value in marks:
        axes.axvline(value, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
        axes.annotate(
            ascii_words(name),
            xy=(value, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            fontsize=8,
            color=INK,
            ha="center",
            annotation_clip=False,
        )
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: shown(float(value))))
    axes.set_xlabel(ascii_words(quantity))
    figure.text(0.02, 1 - 0.22 / height, ascii_words(title), fontsize=9)
    return figure
