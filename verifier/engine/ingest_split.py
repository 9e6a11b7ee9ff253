"""A table that holds runs of several probes, as one table for each: a line belongs where its unit does."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from verifier.engine.layout import Layout
from verifier.model.complaints import listed, shown
from verifier.model.errors import BadInput
from verifier.stats.csv_columns import TextColumns, text_columns
from verifier.stats.run_csv import INGESTED, KEYS, SUMS
from verifier.sweeps.probe import SweepProbe

_RESERVED = frozenset({*KEYS, "value", *SUMS, *INGESTED, "seed", "scale"})


def axis_column(axis: str) -> str:
    """The column that holds the scale: the axis' own name, or `scale` where that is a column already."""
    return "scale" if axis in _RESERVED else axis


def axes_of(layout: Layout) -> list[str]:
    """The columns of the scale that a probe's rows have: one for a sweep, none for a replication."""
    return [axis_column(layout.probe.axis)] if isinstance(layout.probe, SweepProbe) else []


def split(content: bytes, layouts: Sequence[Layout], *, name: str) -> list[tuple[Layout, bytes]]:
    """The lines of each probe that has some, as a table of its own with the lines where they stood.

    What is empty in all of a probe's lines, and belongs to another kind of probe, is no column of it. With one layout
    there is nothing to split. Raises BadInput for a table without the column `unit` and for a unit of no probe.
    """
    if len(layouts) == 1:
        return [(layouts[0], content)]
    table = text_columns(content, name=name)
    if "unit" not in table.header:
        mend = "copy unit and stream from the manifest of this registration"
        raise BadInput("there is no column unit", where=f"{name}, line {table.first}", mend=mend)
    owner = {unit.key: index for index, layout in enumerate(layouts) for unit in layout.units}
    rows: dict[int, list[int]] = {}
    for row, unit in enumerate(table.columns[table.header.index("unit")]):
        if unit not in owner:
            probes = listed([layout.probe.name for layout in layouts], last="or")
            raise BadInput(
                f"{shown(unit)} is not a unit that this registration gives {probes}",
                where=f"{name}, line {table.lines[row]}, unit",
                mend="copy unit, stream and replicate from the manifest of this registration",
            )
        rows.setdefault(owner[unit], []).append(row)
    if not rows:
        raise BadInput("there is no row below the header", where=name, mend="give one row for each unit")
    axes = {axis for layout in layouts for axis in axes_of(layout)}
    found = []
    for index in sorted(rows):
        dropped = _dropped(table, rows[index], foreign=axes - set(axes_of(layouts[index])))
        found.append((layouts[index], _written(table, rows[index], dropped)))
    return found


def _dropped(table: TextColumns, rows: Sequence[int], *, foreign: set[str]) -> set[int]:
    """The columns that only other probes' rows fill in."""
    empty = {
        column for column, texts in zip(table.header, table.columns, strict=True) if not any(texts[row] for row in rows)
    }
    named = (foreign | {"arm", "item", "team"}) & empty
    if "value" in table.header and set(SUMS) <= set(table.header):
        named |= {"value"} & empty or set(SUMS) & empty
    return {place for place, column in enumerate(table.header) if column in named}


def _written(table: TextColumns, rows: Sequence[int], dropped: set[int]) -> bytes:
    """These rows as a CSV, each in its own line of the file that they came from; empty lines between them."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    kept = [place for place in range(len(table.header)) if place not in dropped]
    at = 1
    for line, cells in [
        (table.first, [table.header[place] for place in kept]),
        *((int(table.lines[row]), [table.columns[place][row] for place in kept]) for row in rows),
    ]:
        text.write("\n" * (line - at))
        writer.writerow(cells)
        at = line + 1
    return text.getvalue().encode()
