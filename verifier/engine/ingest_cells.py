"""A line of a table of runs as what a unit returned: numbers as written, and the row that a worker would have kept."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any

from verifier.model.canonical import rational_text
from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational
from verifier.stats.run_csv import INGESTED, SUMS
from verifier.stats.run_table import RunTable
from verifier.sweeps.jobs import Row, Sums, arms_of

Cell = Mapping[str, str]
"""The columns of one line as written, by name; of `arm`, `item` and `team` those that the table has."""

LABELS = ("arm", "item", "team")

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FORMULA = ("=", "+", "-", "@")


def cell_of(table: RunTable, at: int, where: str) -> Cell:
    """The columns of a row as written. Raises BadInput for a text that is not what it must be."""
    names = SUMS if table.numbers.shape[1] == len(SUMS) else ("value",)
    found = dict(zip(names, table.numbers[at], strict=True))
    for column in LABELS:
        text = getattr(table, f"{column}s")[getattr(table, column)[at]]
        if text:
            found[column] = _harmless(text, f"{where}, {column}")
    for column in INGESTED:
        text = table.extras[column][at] if column in table.extras else ""
        _harmless(text, f"{where}, {column}")
        if column == "log_sha256" and text and not _SHA256.fullmatch(text):
            mend = "write its 64 hexadecimal digits in small letters, or leave the cell empty"
            raise BadInput(f"{shown(text)} is no SHA-256", where=f"{where}, {column}", mend=mend)
        found[column] = text
    return found


def _harmless(text: str, where: str) -> str:
    if text.startswith(_FORMULA):
        what = f"{shown(text)} begins like a formula of a spreadsheet"
        raise BadInput(what, where=where, mend="begin with a letter or a digit")
    return text


def second(text: str, where: str) -> int | None:
    """A declared start in whole seconds since 1970, None for an empty cell. Raises BadInput for anything else."""
    if not text:
        return None
    mend = "write it like 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00"
    if not _TIME.fullmatch(text):
        raise BadInput(f"{shown(text)} is no time with its offset from UTC", where=where, mend=mend)
    try:
        return int(datetime.fromisoformat(text.upper()).timestamp() // 1)
    except (ValueError, OverflowError):
        raise BadInput(f"{shown(text)} is no time", where=where, mend=mend) from None


def number_columns(columns: Mapping[str, Any]) -> list[str]:
    """The numbers of a line as written: the mean alone, or n, sum and sum of squares."""
    return [columns[name] for name in (("value",) if "value" in columns else SUMS)]


def row_of(cells: Sequence[Cell], *, n: int, called: bool) -> Row:
    """The row that a worker would have written for a unit, without the hash over values that nobody sent.

    cells: the lines of the unit, by arm and then by item. n: what a mean alone is the mean of. called: the target is
    called for one arm, so that its row names none. Raises BadInput where sums are too large for doubles.
    """
    by_arm: dict[str, list[Cell]] = {}
    for cell in cells:
        by_arm.setdefault("" if called else cell.get("arm", ""), []).append(cell)
    rows: dict[str, Row] = {}
    for arm, own in by_arm.items():
        rows[arm] = _of_items(own) if "item" in own[0] else stored(number_columns(own[0]), n=n)
    return rows.get("", {"arms": rows})


def stored(numbers: Sequence[str], *, n: int) -> Row:
    """The row of `number_columns`; a mean alone is one of `n` repetitions."""
    if len(numbers) == 1:
        mean = number(numbers[0])
        total, squares = mean * n, mean * mean * n
    else:
        n, total, squares = int(numbers[0]), number(numbers[1]), number(numbers[2])
    return _row("float" if any(map(_is_decimal, numbers)) else "integer", n, total, squares)


def _of_items(cells: Sequence[Cell]) -> Row:
    """Values that are kept one by one, summed as a worker sums them."""
    texts = [number_columns(cell)[0 if "value" in cell else 1] for cell in cells]
    exact = list(map(number, texts))
    whole = all(value.denominator == 1 for value in exact) and not any(map(_is_decimal, texts))
    try:
        values: list[int] | list[float] = [int(x) for x in exact] if whole else [float(x) for x in exact]
        add = sum if whole else math.fsum
        total, squares = Fraction(add(values)), Fraction(add(value * value for value in values))
    except OverflowError:
        raise BadInput("the sum of squares of these items is too large for a double", mend="rescale them") from None
    row = _row("integer" if whole else "float", len(values), total, squares)
    return {**row, "items": list(map(repr, values))}


def _row(kind: str, n: int, total: Fraction, squares: Fraction) -> Row:
    return {
        "values": kind,
        "n": n,
        "sum": rational_text(total),
        "sum_sq": rational_text(squares),
        "values_sha256": "",
    }


def _is_decimal(text: str) -> bool:
    return "/" not in text and not text.lstrip("+-").isdecimal()


def number(text: str) -> Fraction:
    """A whole number or p/q exactly; a decimal as the double nearest to it, which is what a unit of floats holds."""
    exact = parse_rational(text)
    return Fraction(float(exact)) if _is_decimal(text) else exact


def same_numbers(one: Row, other: Row, *, means: bool) -> bool:
    """Whether two rows hold the same n, sum and sum of squares in each arm, and the same items where these are kept.

    With `means` the same double as mean is enough.
    """
    first, second_ = arms_of(one), arms_of(other)
    return first.keys() == second_.keys() and all(_same(first[arm], second_[arm], means=means) for arm in first)


def _same(one: Sums, other: Sums, *, means: bool) -> bool:
    if one.items is not None or other.items is not None:
        return one.items == other.items
    if means:
        return float(one.mean) == float(other.mean)
    return (one.n, one.total, one.total_of_squares) == (other.n, other.total, other.total_of_squares)


def numbers_words(row: Row, *, means: bool = False) -> str:
    """What a row holds, as an error says it and a table writes it; the mean alone where the table has means."""

    def each(sums: Mapping[str, Any]) -> str:
        if means:
            mean = Fraction(sums["sum"]) / int(sums["n"])
            return f"value {_as_written(mean, 'float' if mean.denominator > 1 else sums['values'])}"
        texts = {name: _as_written(Fraction(sums[name]), sums["values"]) for name in ("sum", "sum_sq")}
        return f"n {sums['n']}, sum {texts['sum']}, sum_sq {texts['sum_sq']}"

    if "arms" not in row:
        return each(row)
    return "; ".join(f"{arm} {each(sums)}" for arm, sums in row["arms"].items())


def _as_written(number: Fraction, kind: str) -> str:
    """A number as `ledger export` writes it: the shortest decimal of a double, an integer or p/q as it is."""
    return repr(float(number)) if kind == "float" else rational_text(number)


def cells_words(cells: Sequence[Cell], row: Row) -> str:
    """The numbers of a unit as the table wrote them; of several lines, what they come to."""
    if len(cells) > 1:
        return numbers_words(row, means="value" in cells[0])
    names = ("value",) if "value" in cells[0] else SUMS
    return ", ".join(f"{name} {shown(cells[0][name])}" for name in names)
