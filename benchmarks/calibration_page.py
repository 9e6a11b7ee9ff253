"""Tables of simulated probabilities as Markdown, and whether a page's figures agree with a new simulation."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

Z = 5.0  # two-sided 6e-7; some 700 figures, so a right page fails the check for one seed in 2,000
BLANK = "–"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure of the page: a probability, shown in `unit`s of it. runs: 0 where it is exact; sd: of one run's value.

    text: as the page shows it.
    """

    rate: float
    runs: int
    unit: float
    digits: int
    sd: float | None = None

    @property
    def text(self) -> str:
        """As the page shows it."""
        return f"{self.rate / self.unit:.{self.digits}f}"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of a table: its labels, its figures by column (None: not applicable), and what is said at its end."""

    labels: tuple[str, ...]
    figures: tuple[Figure | None, ...]
    remark: str | None = None

    @property
    def cells(self) -> list[str]:
        """All cells, in order."""
        middle = [BLANK if figure is None else figure.text for figure in self.figures]
        return [*self.labels, *middle, *([] if self.remark is None else [self.remark])]


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading, what the reader needs to know, and a table."""

    title: str
    words: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def text(self) -> str:
        """As Markdown."""
        lines = [self.columns, ("---",) * len(self.columns), *(row.cells for row in self.rows)]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"## {self.title}\n\n{wrapped(self.words)}\n\n{table}\n"


def wrapped(text: str) -> str:
    """The paragraphs of a text in lines of at most 119 letters."""
    return "\n\n".join(textwrap.fill(part, 119, break_on_hyphens=False) for part in text.split("\n\n"))


def differences(sections: Sequence[Section], text: str) -> list[str]:
    """What the page shows otherwise, by more than simulation error, and rows that one has and the other has not."""
    shown = {heading.splitlines()[0]: _table(heading) for heading in re.split(r"^## ", text, flags=re.MULTILINE)[1:]}
    wrong = []
    for section in sections:
        lines = {_key(line, section): line for line in shown.pop(section.title, [])}
        for row in section.rows:
            line = lines.pop(_key(row.cells, section), None)
            if line is None or len(line) != len(row.cells):
                wrong.append(f"{section.title}: no row {' / '.join(row.labels)}")
                continue
            first = len(row.labels)
            their_runs = _runs(line, section)
            for name, figure, cell in zip(section.columns[first:], row.figures, line[first:], strict=False):
                if (figure is None) != (cell == BLANK) or (
                    figure is not None and not agrees(figure, float(cell), their_runs)
                ):
                    ours = BLANK if figure is None else figure.text
                    wrong.append(f"{section.title}: {' / '.join(row.labels)}, {name}: {cell}, now {ours}")
        wrong += [f"{section.title}: a row too many, {' / '.join(key)}" for key in lines]
    return wrong + [f"a table too many: {title}" for title in shown]


def agrees(figure: Figure, shown: float, their_runs: int) -> bool:
    """Whether two simulations of one figure agree within Z standard errors and the last digit shown."""
    rounding = 0.51 * 10.0**-figure.digits * figure.unit
    theirs = shown * figure.unit
    if not figure.runs:
        return abs(figure.rate - theirs) <= rounding
    inverse = 1 / figure.runs + 1 / their_runs
    if figure.sd is not None:
        spread = figure.sd
    else:  # pooled, with Z²/2 of either kind added, which keeps the error honest near 0 and 1
        weight = Z * Z / 2
        count = figure.rate * figure.runs + theirs * their_runs
        middle = (count + weight) / (figure.runs + their_runs + 2 * weight)
        spread = math.sqrt(middle * (1 - middle))
    return abs(figure.rate - theirs) <= Z * spread * math.sqrt(inverse) + rounding


def _table(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _key(cells: Sequence[str], section: Section) -> tuple[str, ...]:
    """The labels of a row, but for the number of runs, in which a check differs."""
    labels = len(section.rows[0].labels)
    return tuple(
        cell for cell, name in zip(cells[:labels], section.columns, strict=False) if name != "runs" or cell == "exact"
    )


def _runs(line: Sequence[str], section: Section) -> int:
    if "runs" not in section.columns:
        return 0
    digits = line[section.columns.index("runs")].replace(",", "")
    return int(digits) if digits.isdigit() else 0
