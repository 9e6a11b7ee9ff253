"""Columns of a table of runs that a caller declares: what each says of a team, or of an instance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational
from verifier.stats.run_table import RunTable


def one_for_each(table: RunTable, column: str, *, of: Literal["team", "item"], name: str) -> Mapping[str, str]:
    """Label → the column's text, for every team or item of the table.

    name: what errors call the file. Raises BadInput at the first line whose text differs from an earlier line's of the
    same label.
    """
    texts, codes = table.extras[column], getattr(table, of)
    labels = getattr(table, f"{of}s")
    found: dict[str, str] = {}
    first: dict[str, int] = {}
    for row in np.argsort(table.line, kind="stable").tolist():
        label = labels[codes[row]]
        line = int(table.line[row])
        if found.setdefault(label, texts[row]) != texts[row]:
            which = f"the {of} {shown(label)}" if label else "the table, which has no column team"
            raise BadInput(
                f"{shown(texts[row])} is another {shown(column)} than in line {first[label]} for {which}",
                where=f"{name}, line {line}, {column}",
                mend=f"give the {of} one {column}, the same in all its rows",
            )
        first.setdefault(label, line)
    return found


def as_values(texts: Mapping[str, str]) -> Mapping[str, str | float]:
    """The texts as numbers where every one of them is a number, else as they are."""
    try:
        return {label: float(parse_rational(text)) for label, text in texts.items()}
    except (BadInput, OverflowError):
        return dict(texts)
