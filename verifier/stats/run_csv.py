"""Reads results of runs from CSV: strict, bounded, every complaint with its line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from verifier.model.complaints import listed, nearest, shown
from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational
from verifier.stats.csv_columns import MOST_BYTES, plain_numbers, text_columns, whole_numbers
from verifier.stats.run_table import ARMS, Ints, RunTable, Texts

KEYS = ("arm", "replicate", "item", "team")
SUMS = ("n", "sum", "sum_sq")
INGESTED = ("unit", "stream", "job", "hardware", "started", "log_sha256")
"""Columns that only results under a registration have."""
ALIASES = MappingProxyType({"seed": "replicate"})

_PLAIN = re.compile(r"[+-]?\d{1,18}(?:\.\d{1,20})?", re.ASCII)
_SCALE = re.compile(r"[1-9]\d{0,15}", re.ASCII)
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)
_NO_NUMBER = frozenset({"nan", "inf", "infinity", "na", "n/a", "none", "null", "-", "?"})


class _Complaint(NamedTuple):
    """What is wrong in which row (its index), in which column of the header."""

    row: int
    column: int
    what: str
    mend: str


def read_runs(
    path: Path,
    *,
    axes: Sequence[str] = ("scale",),
    needs: Sequence[str] = (),
    ingest: bool = False,
    declared: Sequence[str] = (),
) -> RunTable:
    """The table in the file at `path`; as `parse_runs`, which see. Raises BadInput where it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or "it fails").lower()
        raise BadInput(f"the file cannot be read: {reason}", where=str(path), mend="name a CSV file") from None
    return parse_runs(content, name=str(path), axes=axes, needs=needs, ingest=ingest, declared=declared)


def parse_runs(
    content: bytes,
    *,
    name: str,
    axes: Sequence[str] = ("scale",),
    needs: Sequence[str] = (),
    ingest: bool = False,
    declared: Sequence[str] = (),
) -> RunTable:
    """The table that a CSV holds, rows sorted by their key.

    content: UTF-8, a header, commas. name: what errors call the file. axes: the columns that hold the scale, one for
    each axis, all or none of them present. needs: further columns that the rule cannot do without. ingest: the columns
    of results under a registration are allowed, and a row that repeats another's key, value, unit and stream is one
    row; otherwise it is an error. Another value under the same key is always one. declared: columns of texts that the
    caller knows the meaning of; they are kept as `extras`, and must be there and filled in.

    Columns: the axes, `replicate` (alias `seed`), `value` or `n, sum, sum_sq`, `arm`, `item`, `team`, in any order. An
    empty value is a missing cell; a key may not be empty. Numbers are integers, decimals or p/q.

    Raises BadInput, naming the line and the column, for the first line that is not like this, and for more bytes, rows,
    columns or characters than the bounds above.
    """
    header, texts, lines, first_line = text_columns(content, name=name)
    columns = _header(header, name=name, line=first_line, axes=axes, needs=needs, ingest=ingest, declared=declared)
    cells = dict(zip(columns, texts, strict=True))
    place = {column: i for i, column in enumerate(columns)}
    complaints: list[_Complaint] = []

    def parsed(column: str, parse: Callable[[str], Any]) -> list[Any]:
        """The column's values; every different text is parsed once."""
        texts = cells[column]
        if parse is _extra and "".join(texts).isprintable():
            return list(texts)
        known: dict[str, Any] = {}
        for text in dict.fromkeys(texts):
            try:
                known[text] = parse(text)
            except BadInput as error:
                complaints.append(_Complaint(texts.index(text), place[column], error.what, error.mend))
                known[text] = None
        return [known[text] for text in texts]

    given_axes = tuple(axis for axis in axes if axis in place)
    scale = [parsed(axis, _scale) for axis in given_axes]
    replicate = whole_numbers(cells["replicate"])
    if replicate is None:
        replicate = np.array(parsed("replicate", _replicate), object)
    labels = {key: parsed(key, _arm if key == "arm" else _label) for key in ("arm", "item", "team") if key in place}
    extras = {column: parsed(column, _extra) for column in INGESTED if column in place}
    extras |= {column: parsed(column, _label) for column in declared}
    measured = ("value",) if "value" in place else SUMS
    number: dict[str, Callable[[str], Any]] = {"n": _count, "sum": _exact_number, "sum_sq": _exact_number}
    single = measured == ("value",)
    plain = plain_numbers(cells["value"]) if single else None
    numbers = [] if plain is not None else [parsed(column, number.get(column, _number)) for column in measured]
    if not complaints and measured == SUMS:
        complaints.extend(_bad_sums(*numbers, column=place["sum"]))
    if complaints:
        first = min(complaints)
        where = f"{name}, line {lines[first.row]}, {header[first.column].strip()}"
        raise BadInput(first.what, where=where, mend=first.mend)

    size = len(lines)
    (arm, arms), (item, items), (team, teams) = (_coded(labels.get(key), size) for key in ("arm", "item", "team"))
    if plain is None:
        values = numbers[0] if single else _means(numbers[0], numbers[1])
        plain = np.array([math.nan if x is None else float(x) for x in values], np.float64)
    counts = np.array([x or 0 for x in numbers[0]], np.int64) if not single else (~np.isnan(plain)).astype(np.int64)
    table = RunTable(
        axes=given_axes,
        scale=np.array(scale, np.int64).reshape(len(given_axes), size).T,
        arm=arm,
        replicate=replicate.astype(np.int64),
        item=item,
        team=team,
        value=plain,
        n=counts,
        numbers=_texts([cells[column] for column in measured], size).T,
        line=lines,
        arms=arms,
        items=items,
        teams=teams,
        extras=MappingProxyType({column: _texts([texts], size)[0] for column, texts in extras.items()}),
    )
    return _each_once(table, name=name, ingest=ingest)


def _header(
    header: Sequence[str],
    *,
    name: str,
    line: int,
    axes: Sequence[str],
    needs: Sequence[str],
    ingest: bool,
    declared: Sequence[str],
) -> list[str]:
    """The columns by their own names, in the file's order."""
    where = f"{name}, line {line}"
    valid = [*axes, *KEYS, "value", *SUMS, *(INGESTED if ingest else ()), *ALIASES, *declared]
    columns = [ALIASES.get(text, text) for text in header]
    if all(_PLAIN.fullmatch(text) for text in header):
        such = ",".join([*axes, "replicate", "value"])
        raise BadInput("it names no columns", where=where, mend=f"begin with a line such as {such}")
    for number, (column, text) in enumerate(zip(columns, header, strict=True), 1):
        if not text:
            raise BadInput(f"column {number} has no name", where=where, mend="name it, or leave it out")
        if text not in valid:
            raise BadInput(f"unknown column {shown(text)}", where=where, mend=_mend_column(text, header, valid))
        if columns.index(column) != number - 1:
            raise BadInput(f"the column {column} stands twice", where=where, mend="keep one (seed is replicate)")
    given = set(columns)
    sums = given & set(SUMS)
    if "value" in given and sums:
        raise BadInput(
            f"there is value, and {listed(sorted(sums))} beside it",
            where=where,
            mend="give value, or n, sum and sum_sq for the replicate",
        )
    some_axes = given & set(axes)
    wanted = ["replicate", *(SUMS if sums else ["value"]), *(axes if some_axes else ()), *needs, *declared]
    missing = [column for column in dict.fromkeys(wanted) if column not in given]
    if missing:
        others = {"value": "add it, or n, sum and sum_sq", "replicate": "add it, or call the column of seeds seed"}
        mend = others.get(missing[0], "add it; the first line names the columns")
        raise BadInput(f"there is no column {missing[0]}", where=where, mend=mend)
    return columns


def _mend_column(text: str, header: Sequence[str], valid: Sequence[str]) -> str:
    if len(header) == 1 and any(mark in text for mark in ";\t"):
        return "separate columns by commas"
    if text in INGESTED:
        return "leave it out; it belongs to runs under a registration (verifier ingest)"
    return nearest(text, valid, what="column")


def _scale(text: str) -> int:
    if not _SCALE.fullmatch(text):
        what = "the scale is empty" if not text else f"{shown(text)} is not a scale"
        raise BadInput(what, mend="write a whole number from 1, of at most 16 digits, like 128")
    return int(text)


def _replicate(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        what = "the replicate is empty" if not text else f"{shown(text)} is not the number of a replicate"
        raise BadInput(what, mend="number replicates with at most 18 digits, from 0 or 1")
    return int(text)


def _arm(text: str) -> str:
    if text not in ARMS:
        raise BadInput("the arm is empty" if not text else f"{shown(text)} is not an arm", mend="write left or right")
    return text


def _label(text: str) -> str:
    if not text:
        raise BadInput("the cell is empty", mend="name it in every row, or leave out the column")
    return _extra(text)


def _extra(text: str) -> str:
    if not text.isprintable():
        raise BadInput(f"{shown(text)} holds a character that cannot be shown", mend="use letters, digits and signs")
    return text


def _count(text: str) -> int | None:
    if not text:
        return None
    if not _WHOLE.fullmatch(text) or int(text) < 1:
        raise BadInput(f"{shown(text)} is no number of repetitions", mend="write a whole number from 1")
    return int(text)


def _number(text: str) -> float | Fraction | None:
    """The number, already as the double nearest to it where it is a plain decimal; None for an empty cell."""
    if _PLAIN.fullmatch(text):
        return float(text)
    return _exact_number(text)


def _exact_number(text: str) -> Fraction | None:
    """The exact number, None for an empty cell."""
    if not text:
        return None
    if text.casefold().lstrip("+-") in _NO_NUMBER:
        raise BadInput(f"{shown(text)} is not a finite number", mend="leave the cell empty where there is none")
    return parse_rational(text)


def _bad_sums(
    counts: Sequence[int | None], sums: Sequence[Any], squares: Sequence[Any], *, column: int
) -> Iterator[_Complaint]:
    """Rows that are filled in part, and sums that no n numbers have: (Σx)² exceeds n Σx² (Cauchy and Schwarz)."""
    for row, (n, total, square) in enumerate(zip(counts, sums, squares, strict=True)):
        absent = (n is None) + (total is None) + (square is None)
        if absent in {1, 2}:
            yield _Complaint(row, column, "only some of n, sum and sum_sq are there", "fill in all three, or none")
            return
        if not absent and n is not None and float(total) ** 2 > n * float(square) * (1 + 1e-9):
            what = f"no {n} numbers have this sum and this sum of squares"
            yield _Complaint(row, column, what, "check that sum_sq is the sum of squares, not their mean")
            return


def _means(counts: Sequence[int | None], sums: Sequence[Fraction | None]) -> list[float | None]:
    """Each row's mean as the double nearest to it."""
    return [
        None if n is None or x is None else x.numerator / (n * x.denominator) for n, x in zip(counts, sums, strict=True)
    ]


def _coded(labels: Sequence[str] | None, size: int) -> tuple[Ints, tuple[str, ...]]:
    """Indices into the sorted labels, and these."""
    if labels is None:
        return np.zeros(size, np.int64), ("",)
    found = sorted(set(labels))
    index: Mapping[str, int] = {label: i for i, label in enumerate(found)}
    return np.array([index[label] for label in labels], np.int64), tuple(found)


def _texts(columns: Sequence[Sequence[str]], size: int) -> Texts:
    """Texts as an object array, (columns, rows)."""
    array = np.empty((len(columns), size), object)
    for i, column in enumerate(columns):
        array[i] = column
    return array


def _each_once(table: RunTable, *, name: str, ingest: bool) -> RunTable:
    """The rows in the order of their keys. Raises BadInput at the first line whose key stood before, if it must not."""
    axes = tuple(table.scale[:, i] for i in reversed(range(len(table.axes))))
    key = (table.team, table.item, table.replicate, table.arm, *axes)  # lexsort's last key is the first to sort by
    table = table.rows(np.lexsort((table.line, *key)))
    keys = np.column_stack([table.scale, table.arm, table.replicate, table.item, table.team])
    repeats = np.concatenate([[False], (keys[1:] == keys[:-1]).all(axis=1)])[: len(table)]
    if not repeats.any():
        return table
    firsts = np.maximum.accumulate(np.where(repeats, 0, np.arange(len(table))))
    pairs = [
        (at, int(firsts[at])) for at in np.flatnonzero(repeats).tolist() if not ingest or _differ(table, at, firsts[at])
    ]
    if pairs:
        lines, one, other = min((sorted((int(table.line[a]), int(table.line[b])))[::-1], a, b) for a, b in pairs)
        what, mend = _repeat(table, one, other)
        raise BadInput(what.format(line=lines[1]), where=f"{name}, line {lines[0]}", mend=mend)
    kept = np.arange(len(table))
    extras = list(zip(*table.extras.values(), strict=True))
    for at in np.flatnonzero(repeats).tolist() if extras else ():
        if extras[at] < extras[kept[firsts[at]]]:
            kept[firsts[at]] = at  # of equal rows the one whose extras sort first, whatever their order
    return table.rows(kept[~repeats])


def _exactly(table: RunTable, row: int) -> tuple[Fraction | None, ...]:
    return tuple(parse_rational(text) if text else None for text in table.numbers[row])


def _differ(table: RunTable, one: int, other: int) -> list[str]:
    """In what two rows of one key differ of what makes a unit: its numbers, its name, its stream."""
    same = (table.numbers[one] == table.numbers[other]).all() or _exactly(table, one) == _exactly(table, other)
    columns = [c for c in ("unit", "stream") if c in table.extras and table.extras[c][one] != table.extras[c][other]]
    return columns if same else ["value", *columns]


def _repeat(table: RunTable, one: int, other: int) -> tuple[str, str]:
    """What is wrong with two rows of one key, with a place for the line of the first, and how to mend it."""
    key = [*table.axes, *(k for k in KEYS if k == "replicate" or getattr(table, f"{k}s") != ("",))]
    differ = _differ(table, one, other)
    if "value" in differ:
        what = f"another value than in line {{line}} for the same {listed(key)}"
        return what, "find out which is right; nothing is averaged or overwritten"
    if differ:
        what = f"another {listed(differ)} than in line {{line}} for the same {listed(key)}"
        return what, "a unit has one name and one stream"
    what = f"the same {listed([*key, 'value'])} as in line {{line}}"
    return what, "leave one of them out, or give the replicate a number of its own"
