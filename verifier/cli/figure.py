"""`refute --figure FILE.svg`: the picture of the margin, and its numbers in FILE.csv beside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from verifier.model.errors import BadInput, InfrastructureFailed

if TYPE_CHECKING:
    from verifier.exact import Refutation
    from verifier.exact.refute import Problem

MEND = "choose a folder that exists and can be written"


def checked_target(path: Path) -> Path:
    """`path`, if a picture can be written there: asked before the work begins.

    Raises BadInput for another ending than .svg, InfrastructureFailed for a folder that is missing or not writable.
    """
    if path.suffix != ".svg":
        raise BadInput("the picture is an SVG file", where=f"--figure {path}", mend="end its name in .svg")
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise _unwritable(path, "the folder is missing or not writable")
    return path


def draw(problem: Problem, found: Refutation, path: Path, *, horizon: int) -> tuple[dict[str, str] | None, str]:
    """Writes picture and numbers, each whole or not at all.

    Returns the paths under "svg" and "csv" and "", or None and the reason why there is nothing to draw: a start outside
    the hypotheses, a search that found none, expressions. Raises InfrastructureFailed where a file cannot be written.
    """
    from verifier.exact.margin_document import margins_of
    from verifier.report.files import write_whole
    from verifier.report.margin import margin_figure

    series, reason = margins_of(problem, found, horizon=horizon)
    if series is None:
        return None, reason
    picture = margin_figure(series)
    beside = path.with_suffix(".csv")
    files = {beside: picture.csv.encode(), path: picture.svg.encode() + b"\n"}  # no picture without its numbers
    write_whole(files, what="the picture", mend=MEND)
    return {"svg": str(path), "csv": str(beside)}, ""


def _unwritable(path: Path, why: str) -> InfrastructureFailed:
    what = f"the picture cannot be written ({why})"
    return InfrastructureFailed(what, where=str(path), mend=MEND)
