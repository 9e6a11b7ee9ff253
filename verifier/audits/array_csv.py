"""Arrays from CSV: read line by line, every complaint with its line."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from verifier.audits.array_columns import MOST_CHARACTERS, Labels, check_named, mask_value
from verifier.audits.token_arrays import LARGEST_LOSS, MOST_ROWS, Columns, TokenArrays, loss_complaint
from verifier.model.complaints import shown
from verifier.model.errors import BadInput

MOST_LINE = 100_000
"""Bytes of a line."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_COMMA = re.compile(r"[+-]?\d{1,20},\d{1,20}", re.ASCII)
"""A number with a decimal comma."""


def read_csv_arrays(path: Path, columns: Columns, *, name: str) -> TokenArrays:
    """The named columns of a CSV file with a header; `name` is how errors call it.

    Raises BadInput for a missing column, a loss that is no finite number, a mask that is neither 1 nor 0, an empty
    label, a row with more or fewer cells than the header, and too many rows.
    """
    with path.open("rb") as file:
        reader = csv.reader(_lines(file, name), strict=True)
        rows = _rows(reader, name)
        _, header = next(rows, (1, []))
        header = [text.strip() for text in header]
        check_named(columns, header, where=f"{name}, line 1")
        place = {kind: header.index(column) for kind, column in columns.named.items()}
        return _filled(rows, place, width=len(header), name=name)


def _filled(rows: Iterator[tuple[int, list[str]]], place: dict[str, int], *, width: int, name: str) -> TokenArrays:
    losses, mask = array("d"), bytearray()
    groups = {kind: (place[kind], array("q"), Labels()) for kind in ("sequence", "batch") if kind in place}
    at_loss, at_mask = place["loss"], place.get("mask")
    for line, row in rows:
        where = f"{name}, line {line}"
        if len(row) != width:
            what = f"it has {len(row)} cells, and the header names {width} columns"
            raise BadInput(what, where=where, mend="write one cell a column")
        if len(losses) >= MOST_ROWS:
            raise BadInput(f"there are more than {MOST_ROWS} rows", where=where, mend="give a sample of the sequences")
        losses.append(_loss(row[at_loss], where=where))
        if at_mask is not None:
            mask.append(mask_value(row[at_mask], where=where))
        for kind, (at, numbers, labels) in groups.items():
            label = row[at].strip()
            if not label or len(label) > MOST_CHARACTERS:
                what = f"the {kind} is {shown(label)}" if label else f"the {kind} is empty"
                raise BadInput(what, where=where, mend=f"write a label of at most {MOST_CHARACTERS} characters")
            numbers.append(labels.number(label, where=where))
    return TokenArrays(
        loss=np.frombuffer(losses, np.float64) if losses else np.empty(0),
        mask=None if at_mask is None else np.frombuffer(bytes(mask), np.bool_),
        **{kind: np.frombuffer(numbers, np.int64) for kind, (_, numbers, _) in groups.items() if numbers},
    )


def _loss(text: str, *, where: str) -> float:
    text = text.strip()
    if len(text) <= MOST_CHARACTERS and _NUMBER.fullmatch(text):
        number = float(text)
        if abs(number) <= LARGEST_LOSS:
            return number
        raise loss_complaint(shown(text), number, where=where)
    mend = "leave out positions that were not evaluated; pads need a finite loss too"
    if _COMMA.fullmatch(text):
        mend = f"write the decimal point as a point: {shown(text.replace(',', '.'))}"
    raise BadInput(f"the loss is {shown(text)}" if text else "the loss is empty", where=where, mend=mend)


def _rows(reader: Iterator[list[str]], name: str) -> Iterator[tuple[int, list[str]]]:
    """Every row that is not blank, with the line it starts in; a cell over the end of its line is refused."""
    line = 1
    while True:
        try:
            row = next(reader, None)
        except csv.Error:
            raise BadInput(
                "the quotation marks do not match", where=f"{name}, line {line}", mend="write each row on one line"
            ) from None
        if row is None:
            return
        if row:
            yield line, row
        now: int = reader.line_num + 1  # type: ignore[attr-defined]  # csv's reader has it, its type has no name
        if now > line + 1:
            raise BadInput(
                "a cell goes on over the end of the line",
                where=f"{name}, line {line}",
                mend="write each row on one line",
            )
        line = now


def _lines(file: BinaryIO, name: str) -> Iterator[str]:
    """The lines as text, each bounded."""
    number = 0
    while line := file.readline(MOST_LINE + 1):
        number += 1
        if len(line) > MOST_LINE:
            raise BadInput(
                f"the line is longer than {MOST_LINE} bytes",
                where=f"{name}, line {number}",
                mend="write one position a line",
            )
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise BadInput("not UTF-8 text", where=f"{name}, line {number}", mend="save the file as UTF-8") from None
