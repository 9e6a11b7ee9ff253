"""Arrays from parquet, where pyarrow is installed: row groups of bounded size, read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from verifier.audits.array_columns import MOST_CHARACTERS, Labels, check_named, mask_value
from verifier.audits.token_arrays import MOST_ROWS, Columns, TokenArrays, check_finite
from verifier.model.complaints import shown
from verifier.model.errors import BadInput, MissingExtra

MOST_GROUP = 1 << 30
"""Bytes of a row group when unpacked."""
BATCH = 65_536


def read_parquet_arrays(path: Path, columns: Columns, *, name: str) -> TokenArrays:
    """The named columns of a parquet file, a row a position; `name` is how errors call it.

    Raises MissingExtra where pyarrow is not installed; BadInput for a missing column, too many rows, a mask that is
    neither 1 nor 0, an empty label, and a loss that is no finite number.
    """
    try:
        import pyarrow  # noqa: ICN001, PLC0415  # an extra; only this kind of file needs it
        import pyarrow.parquet as parquet  # noqa: PLC0415, PLR0402  # likewise
    except ImportError:
        raise MissingExtra("pyarrow", where=name) from None
    try:
        with parquet.ParquetFile(path) as file:
            _check_sizes(file.metadata, name)
            check_named(columns, file.schema_arrow.names, where=name)
            batches = file.iter_batches(batch_size=BATCH, columns=list(columns.named.values()))
            return _filled(batches, columns, name)
    except (pyarrow.ArrowException, ValueError) as error:  # also names that are no UTF-8
        reason = str(error).splitlines()[0] if str(error) else "unknown"
        raise BadInput(f"it is no whole parquet file: {shown(reason)}", where=name, mend="write it again") from None


def _check_sizes(metadata: Any, name: str) -> None:
    if metadata.num_rows > MOST_ROWS:
        raise BadInput(f"there are more than {MOST_ROWS} rows", where=name, mend="give a sample of the sequences")
    for index in range(metadata.num_row_groups):
        if metadata.row_group(index).total_byte_size > MOST_GROUP:
            raise BadInput(f"row group {index} is too large", where=name, mend="write smaller row groups")


def _filled(batches: Iterator[Any], columns: Columns, name: str) -> TokenArrays:
    named = columns.named
    parts: dict[str, list[Any]] = {kind: [np.empty(0)] for kind in named}
    labels = {kind: Labels() for kind in ("sequence", "batch")}
    row = 0
    for batch in batches:
        if row + batch.num_rows > MOST_ROWS:
            raise BadInput(f"there are more than {MOST_ROWS} rows", where=name, mend="give a sample of the sequences")
        for kind, column in named.items():
            values = batch.column(batch.schema.get_field_index(column)).to_pylist()
            if kind == "loss":
                parts[kind].append(_losses(values, first=row, where=name))
            elif kind == "mask":
                parts[kind].append([mask_value(str(x), where=f"{name}, row {row + i}") for i, x in enumerate(values)])
            else:
                parts[kind].append([
                    labels[kind].number(_label(x, kind, where=f"{name}, row {row + i}"), where=name)
                    for i, x in enumerate(values)
                ])  # fmt: skip
        row += batch.num_rows
    types: dict[str, Any] = {"loss": np.float64, "mask": np.bool_, "sequence": np.int64, "batch": np.int64}
    return TokenArrays(**{kind: np.concatenate(part).astype(types[kind]) for kind, part in parts.items()})


def _losses(values: list[Any], *, first: int, where: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        losses = np.array([float("nan") if x is None else x for x in values], np.float64)
    except (TypeError, ValueError):
        raise BadInput("its losses are no numbers", where=where, mend="give losses as floats, in nats") from None
    check_finite(losses, first=first, where=where, of="row")
    return losses


def _label(value: Any, kind: str, *, where: str) -> str | int:
    if isinstance(value, int | str) and value != "" and len(str(value)) <= MOST_CHARACTERS:
        return value
    what = f"the {kind} is empty" if value in {None, ""} else f"the {kind} is {shown(value)}"
    raise BadInput(what, where=where, mend=f"write a whole number or a text of at most {MOST_CHARACTERS} characters")
