"""Findings as JSON values, and progress on anything that takes more than a second."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from verifier.model.errors import BadInput, InfrastructureFailed
from verifier.report.values import json_value

PATIENCE = 1.0  # seconds of silence


def document(value: Any) -> Any:
    """`value` in JSON's own types: records as objects, arrays as lists, NaN and −∞ (no evidence) as null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: document(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return document(value.tolist())
    if isinstance(value, float) and (math.isnan(value) or value == -math.inf):
        return None
    if isinstance(value, Mapping):
        return {str(key): document(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [document(item) for item in value]
    return json_value(value)


def rule_document(rule: Any) -> dict[str, Any]:
    """A rule as registered, its kind first; exact numbers as text."""
    return {"kind": rule.kind, **document(rule)}


class Telling:
    """A line on stderr at most every second, after the first one: how far a loop is."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._said = time.monotonic()

    def __call__(self, done: int, of: int) -> None:
        """Says how far it is, if it is time to."""
        now = time.monotonic()
        if now - self._said >= PATIENCE and done < of:
            self._said = now
            sys.stderr.write(f"{self._what}: {done:,} of {of:,}\n")

    def note(self, text: str) -> None:
        """Says something that will take a while, before it does."""
        sys.stderr.write(f"{self._what}: {text}\n")


def picture_path(path: Path | None, *, data: Path | None = None) -> Path | None:
    """`path`, if a picture can be written there: asked before the work begins.

    Raises BadInput for another ending than .svg or a picture over its own data, InfrastructureFailed for a folder that
    is missing or not writable.
    """
    if path is None:
        return None
    if path.suffix != ".svg":
        raise BadInput("the picture is an SVG file", where=f"--figure {path}", mend="end its name in .svg")
    if data is not None and path.with_suffix(".csv").resolve() == data.resolve():
        what = f"its numbers would be written over {data.name}"
        raise BadInput(what, where=f"--figure {path}", mend="name the picture otherwise")
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InfrastructureFailed(
            "the picture cannot be written (the folder is missing or not writable)",
            where=str(path),
            mend="choose a folder that exists and can be written",
        )
    return path


def write_picture(path: Path, svg: str, rows: list[list[Any]]) -> dict[str, str]:
    """Writes the picture and, beside it, its numbers as CSV, each whole or not at all; their paths by kind."""
    import csv
    import io

    from verifier.report.files import write_whole

    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    beside = path.with_suffix(".csv")
    write_whole(
        {beside: buffer.getvalue().encode(), path: svg.encode()},
        what="the picture",
        mend="choose a folder that exists and can be written",
    )
    return {"svg": str(path), "csv": str(beside)}
