"""A CSV as columns of text: strict, bounded, and quick where no cell is quoted; columns of plain numbers at once."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from verifier.model.errors import BadInput

MOST_BYTES = 64 << 20
MOST_ROWS = 500_000
MOST_COLUMNS = 40
MOST_CHARACTERS = 200  # of a cell

_NUMBER = r"[+-]?\d{1,18}+(?:\.\d{1,20}+)?+(?:[eE][+-]?(?:30|[0-2]?\d))?+"
_NUMBERS = re.compile(rf"(?>(?:{_NUMBER})?\n)*+", re.ASCII)
_WHOLES = re.compile(r"(?>\d{1,18}+\n)*+", re.ASCII)
_COMMA, _NEWLINE = ord(","), ord("\n")


class TextColumns(NamedTuple):
    """A CSV's cells, trimmed. header: the first line. columns: one for each word of it. lines: int64, each row's line.

    first: the line of the header.
    """

    header: list[str]
    columns: list[Sequence[str]]
    lines: npt.NDArray[np.int64]
    first: int


def text_columns(content: bytes, *, name: str) -> TextColumns:
    """The columns of a CSV in UTF-8 with a header and commas. name: what errors call the file.

    Raises BadInput, naming the line, for what is not such a file, for rows of another width than the header's, for a
    cell that goes on over the end of its line, and for more than the bounds above.
    """
    if len(content) > MOST_BYTES:
        raise BadInput(
            f"it is larger than {MOST_BYTES >> 20} MiB", where=name, mend="split it, or send n, sum and sum_sq"
        )
    return _plain(content) or _any(content, name)


def plain_numbers(texts: Sequence[str]) -> npt.NDArray[np.float64] | None:
    """The doubles nearest to a column of decimals, NaN where a cell is empty; None where some cell is anything else."""
    if not _all_match(_NUMBERS, texts):
        return None
    return np.array([float(text) if text else np.nan for text in texts], np.float64)


def whole_numbers(texts: Sequence[str]) -> npt.NDArray[np.int64] | None:
    """A column of whole numbers of at most 18 digits; None where some cell is anything else."""
    return np.array(list(map(int, texts)), np.int64) if _all_match(_WHOLES, texts) else None


def _all_match(lines: re.Pattern[str], texts: Sequence[str]) -> bool:
    """Whether the texts, one a line, match a pattern of lines; never where a text holds a line's end itself."""
    joined = "\n".join((*texts, ""))
    return lines.fullmatch(joined) is not None and joined.count("\n") == len(texts)


def _plain(content: bytes) -> TextColumns | None:
    """The columns of a file without quotes, spaces and empty lines; None where it is not one, or not quite in order."""
    content = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    if not content or any(mark in content for mark in (b'"', b"\r", b"\0", b" ", b"\t")):
        return None
    if not content.endswith(b"\n"):
        content += b"\n"
    marks = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(marks == _NEWLINE)
    separators = np.flatnonzero((marks == _NEWLINE) | (marks == _COMMA))
    upto = np.searchsorted(separators, ends, side="right")
    widths = np.diff(upto, prepend=0)
    width = int(widths[0])
    longest = int(np.diff(separators, prepend=-1).max()) - 1
    lengths = np.diff(ends, prepend=-1) - 1
    if width > MOST_COLUMNS or len(ends) - 1 > MOST_ROWS or longest > MOST_CHARACTERS or lengths.min() < 1:
        return None
    if (widths != width).any():
        return None
    try:
        cells = content[:-1].decode().replace("\n", ",").split(",")
    except UnicodeDecodeError:
        return None
    columns: list[Sequence[str]] = [cells[width + i :: width] for i in range(width)]
    return TextColumns(cells[:width], columns, np.arange(2, len(ends) + 1, dtype=np.int64), 1)


def _any(content: bytes, name: str) -> TextColumns:
    """The columns of any such file, row by row; says what is wrong with the first that is not."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadInput("not UTF-8 text", where=f"{name}, line {line}", mend="save the file as UTF-8") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    width, start = 0, 1
    tight = " " not in text and "\t" not in text
    try:
        for row in reader:
            if row:
                width = width or len(row)
                if (
                    len(row) != width
                    or max(map(len, row)) > MOST_CHARACTERS
                    or reader.line_num > start
                    or width > MOST_COLUMNS
                ):
                    _refuse(row, width, where=f"{name}, line {start}")
                if len(rows) > MOST_ROWS:
                    raise BadInput(
                        f"there are more than {MOST_ROWS} rows",
                        where=f"{name}, line {start}",
                        mend="send n, sum and sum_sq for each replicate",
                    )
                rows.append(row if tight else [cell.strip(" \t") for cell in row])
                lines.append(start)
            start = reader.line_num + 1
    except csv.Error:
        raise BadInput(
            "the quotation marks do not match, or a cell is too long",
            where=f"{name}, line {start}",
            mend='write a cell with a comma in "...", and a mark inside it twice',
        ) from None
    if not rows:
        raise BadInput("it is empty", where=name, mend="the first line names the columns")
    header = rows[0]
    columns: list[Sequence[str]] = list(zip(*rows[1:], strict=True)) if len(rows) > 1 else [() for _ in header]
    return TextColumns(header, columns, np.array(lines[1:], np.int64), lines[0])


def _refuse(row: Sequence[str], width: int, *, where: str) -> NoReturn:
    """Says what is wrong with the form of a row."""
    if width > MOST_COLUMNS:
        raise BadInput(f"it has more than {MOST_COLUMNS} cells", where=where, mend="leave out what no rule reads")
    if len(row) != width:
        few = "leave the cell of a missing value empty, but write its comma"
        many = 'write decimals with a point, and a cell with a comma in "..."'
        what = f"it has {len(row)} cells, and the header names {width} columns"
        raise BadInput(what, where=where, mend=few if len(row) < width else many)
    if max(map(len, row)) > MOST_CHARACTERS:
        raise BadInput(f"a cell is longer than {MOST_CHARACTERS} characters", where=where, mend="shorten it")
    raise BadInput("a cell goes on over the end of the line", where=where, mend="write each row on one line")
