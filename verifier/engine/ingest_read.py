"""Reads a table of runs made elsewhere under a registration: every line matched to the unit that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from verifier.engine.ingest_cells import Cell, cell_of, number, number_columns, row_of, second
from verifier.engine.ingest_rows import Measured, Reported
from verifier.engine.ingest_split import axes_of, split
from verifier.engine.layout import Layout
from verifier.engine.sweep import Grid
from verifier.model.complaints import listed, shown
from verifier.model.errors import BadInput
from verifier.stats.margin_design import RatioRule
from verifier.stats.run_csv import SUMS, parse_runs
from verifier.stats.run_table import ARMS, RunTable
from verifier.sweeps.jobs import Unit
from verifier.sweeps.probe import SweepProbe
from verifier.sweeps.replication import ReplicationProbe

NEEDS = ("unit", "stream")
_ITEM = re.compile(r"0|[1-9]\d{0,5}", re.ASCII)
_MOST_NAMED = 10

Place = tuple[str, int]
"""Where in a unit a line belongs: its arm, "" where the unit has one array, and its item, 0 where it has none."""


@dataclass
class _Lines:
    """The lines of one unit by place, with the file's line of each."""

    cells: dict[Place, Cell] = field(default_factory=dict)
    lines: dict[Place, int] = field(default_factory=dict)


def read_reported(content: bytes, *, name: str, layouts: Sequence[Layout]) -> list[Reported]:
    """The units of each probe that a CSV has lines of. Nothing in it is evaluated, nothing is imputed.

    Raises BadInput, naming the line, for a table that cannot be read, a line that is no unit of the registration or
    names another unit or stream than the registration gives, a unit twice with different numbers, replicates of a
    replication that no line names between others, a number of repetitions that is not the registered one, a time that
    is none, and a text that a spreadsheet would evaluate.
    """
    return [_reported(part, layout, name=name) for layout, part in split(content, layouts, name=name)]


def _reported(content: bytes, layout: Layout, *, name: str) -> Reported:
    axes = axes_of(layout)
    by_arm = layout.arms != ("",) or isinstance(layout.probe.rule, RatioRule)
    needs = [*axes, *(("arm",) if by_arm else ()), *(("item",) if _has_items(layout) else ()), *NEEDS]
    table = parse_runs(content, name=name, axes=axes, needs=needs, ingest=True)
    _check_columns(table, layout, name)
    lines = _lines(table, layout, name)
    if isinstance(layout.probe, ReplicationProbe):
        _check_gaps(table, name)
    return _matched(lines, layout, items=_items(lines, layout, name), with_arms=table.arms != ("",), name=name)


def _has_items(layout: Layout) -> bool:
    return isinstance(layout.probe, ReplicationProbe) and layout.probe.items


def _check_columns(table: RunTable, layout: Layout, name: str) -> None:
    """Raises BadInput for arms, items or teams that the probe's units do not have."""
    probe = layout.probe
    with_arms = isinstance(probe, ReplicationProbe) and probe.arms
    allowed = {"arm": with_arms, "item": _has_items(layout), "team": isinstance(probe, ReplicationProbe)}
    for what, may in allowed.items():
        if getattr(table, f"{what}s") != ("",) and not may:
            mend = "leave the column out" if what != "item" else "leave the column out, and give n, sum and sum_sq"
            raise BadInput(f"the probe {probe.name} registers no {what}s", where=f"{name}, {what}", mend=mend)


def _lines(table: RunTable, layout: Layout, name: str) -> dict[str, _Lines]:
    """The table's lines by the key of their unit. An equal line of another team is the same line."""
    units = {(unit.scale[0][1] if unit.scale else 0, unit.replicate, layout.arm(unit)): unit for unit in layout.units}
    called = layout.arms != ("",)
    with_items = _has_items(layout)
    found: dict[str, _Lines] = {}
    for at in range(len(table)):
        where = f"{name}, line {table.line[at]}"
        arm = table.arms[table.arm[at]]
        scale = int(table.scale[at, 0]) if table.axes else 0
        unit = units.get((scale, int(table.replicate[at]), arm if called else ""))
        if unit is None:
            raise _no_unit(table, at, layout, where)
        _check_identity(unit, layout, table, at, where)
        item = _item(table.items[table.item[at]], where) if with_items else 0
        cell = cell_of(table, at, where)
        if number_columns(cell)[0]:
            _check_numbers(cell, layout, where)
        own = found.setdefault(unit.key, _Lines())
        place = (arm, item)
        if place not in own.cells:
            own.cells[place], own.lines[place] = cell, int(table.line[at])
        elif _numbers(own.cells[place]) != _numbers(cell):
            one, other = sorted((own.lines[place], int(table.line[at])))
            raise BadInput(
                f"another value than in line {one} for the same unit",
                where=f"{name}, line {other}",
                mend="find out which is right: whoever runs it, a unit gives the same numbers",
            )
    return found


def _numbers(cell: Cell) -> list[object]:
    return [number(text) if text else None for text in number_columns(cell)]


def _no_unit(table: RunTable, at: int, layout: Layout, where: str) -> BadInput:
    replicate = int(table.replicate[at])
    if isinstance(layout.source, Grid) and (scale := int(table.scale[at, 0])) not in layout.source.scales:
        what = f"{layout.source.probe.axis} = {scale} is not a scale of this registration"
        return BadInput(what, where=where, mend=f"its scales are {listed([str(k) for k in layout.source.scales])}")
    if isinstance(layout.source, Grid) and replicate < layout.probe.rule.maximum:
        what = f"replicate {replicate} is of a stage without {layout.source.probe.axis} = {scale}"
        return BadInput(what, where=where, mend="copy replicate and scale from the manifest of this registration")
    return BadInput(
        f"there is no replicate {replicate} in this registration",
        where=where,
        mend=f"they are numbered from 0 to {layout.probe.rule.maximum - 1}, as in the manifest",
    )


def _check_identity(unit: Unit, layout: Layout, table: RunTable, at: int, where: str) -> None:
    """Raises BadInput unless the row names the unit and the stream that the registration gives this cell."""
    for column, expected in (("unit", unit.key), ("stream", f"{unit.stream:032x}")):
        given = table.extras[column][at]
        if given != expected:
            raise BadInput(
                f"{shown(given)} is not the {column} that this registration gives {layout.words(unit)}",
                where=f"{where}, {column}",
                mend="copy unit, stream and replicate from the manifest of this registration",
            )


def _item(label: str, where: str) -> int:
    if not _ITEM.fullmatch(label):
        what = f"{shown(label)} is not the place of an item"
        raise BadInput(what, where=f"{where}, item", mend="number the items from 0 in the order that the target gives")
    return int(label)


def _check_numbers(cell: Cell, layout: Layout, where: str) -> None:
    """Raises BadInput for another number of repetitions than is registered, and an outcome that is none."""
    probe = layout.probe
    numbers = number_columns(cell)
    if len(numbers) == len(SUMS):
        n = int(numbers[0])
        if _has_items(layout) and n != 1:
            raise BadInput(f"{n} repetitions of an item", where=f"{where}, n", mend="give one value for each item")
        size, sizes = _registered_size(probe)
        if not _has_items(layout) and size is not None and n != size:
            what = f"{n} repetitions make this replicate, where {sizes}"
            raise BadInput(what, where=f"{where}, n", mend="run each unit as it is registered")
    outcome = numbers[0] if len(numbers) == 1 else numbers[1]
    if isinstance(probe, ReplicationProbe) and not probe.arms and number(outcome) not in (0, 1):
        what = f"{shown(outcome)} is neither success nor failure"
        raise BadInput(what, where=where, mend="write 1 for a success and 0 for a failure")


def _registered_size(probe: SweepProbe | ReplicationProbe) -> tuple[int | None, str]:
    """How many values make a replicate, None where that is left to the target, and how it is registered in words."""
    if isinstance(probe, ReplicationProbe) and not probe.arms:
        return 1, f"a {probe.rule.kind} takes one outcome a replicate"
    replicate = probe.rule.replicate if isinstance(probe, SweepProbe) else probe.replicate
    words = ", ".join(f"{name} = {size}" for name, size in replicate.items())
    return (_size(probe) if replicate else None), f"{words} is registered"


def _size(probe: SweepProbe | ReplicationProbe) -> int:
    return probe.rule.replicate_size if isinstance(probe, SweepProbe) else probe.replicate_size


def _check_gaps(table: RunTable, name: str) -> None:
    """Raises BadInput where the replicates' numbers skip some: nothing then says what became of those."""
    named = set(table.replicate.tolist())
    absent = [replicate for replicate in range(max(named, default=0)) if replicate not in named]
    if absent:
        lines = table.line[table.replicate > absent[0]]
        few = [str(one) for one in absent[:_MOST_NAMED]]
        rest = f" and {len(absent) - _MOST_NAMED} more" if len(absent) > _MOST_NAMED else ""
        which = f"replicate {few[0]} has" if len(absent) == 1 else f"replicates {', '.join(few)}{rest} have"
        raise BadInput(
            f"{which} no row, and this line is of a later one",
            where=f"{name}, line {lines.min()}",
            mend="give each a row with its unit and stream, and leave the value empty where there is none",
        )


def _items(lines: Mapping[str, _Lines], layout: Layout, name: str) -> int:
    """How many items each unit has; 1 where it has none. Raises BadInput where their places skip some, or are too many.

    The registered replicate says how many there are; otherwise they end at the last that some line names.
    """
    if not _has_items(layout):
        return 1
    first: dict[int, int] = {}
    for own in lines.values():
        for (_, item), line in own.lines.items():
            first[item] = min(line, first.get(item, line))
    size, words = _registered_size(layout.probe)
    beyond = [item for item in first if size is not None and item >= size]
    if beyond:
        where = f"{name}, line {min(first[item] for item in beyond)}, item"
        raise BadInput(f"there is no item {min(beyond)}, where {words}", where=where, mend="number the items from 0")
    count = max(first, default=-1) + 1 if size is None else size
    absent = next((item for item in range(count) if item not in first), None)
    if first and absent is not None:
        after = [line for item, line in first.items() if item > absent] or list(first.values())
        raise BadInput(
            f"no row of any replicate has item {absent}",
            where=f"{name}, line {min(after)}, item",
            mend="give every item in every replicate, numbered from 0",
        )
    return count


def _matched(lines: Mapping[str, _Lines], layout: Layout, *, items: int, with_arms: bool, name: str) -> Reported:
    """Which units have all their numbers, and what the others lack."""
    measured: dict[str, Measured] = {}
    gaps: dict[str, str] = {}
    for unit in layout.units:
        own = lines.get(unit.key)
        if own is None:
            continue
        called = layout.arm(unit)
        arms = (called,) if called else ARMS if with_arms else ("",)
        places = [(arm, item) for arm in arms for item in range(items)]
        lacking = next(_lacking(own, places, unit=unit, called=called, items=_has_items(layout)), None)
        if lacking is not None:
            gaps[unit.key] = lacking
            continue
        cells, at = tuple(own.cells[place] for place in places), tuple(own.lines[place] for place in places)
        try:
            row = row_of(cells, n=_size(layout.probe), called=bool(called))
        except BadInput as error:
            raise BadInput(error.what, where=f"{name}, line {min(at)}", mend=error.mend) from None
        starts = tuple(
            second(cell["started"], f"{name}, line {line}, started") for cell, line in zip(cells, at, strict=True)
        )
        measured[unit.key] = Measured(unit, row, cells, at, starts)
    return Reported(layout, measured, gaps)


def _lacking(own: _Lines, places: Sequence[Place], *, unit: Unit, called: str, items: bool) -> Iterator[str]:
    """Why a unit's numbers are not all there, for each place that has none."""
    for place in places:
        arm, item = place
        both = bool(unit.arms and arm and not called)
        what = " of ".join([f"item {item}"] * items + [f"the {arm} arm"] * both) or "it"
        if place not in own.cells:
            yield f"{what} has no row"
        elif not number_columns(own.cells[place])[0]:
            yield f"{what} is empty in line {own.lines[place]}"
