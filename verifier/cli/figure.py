"""`refute --figure FILE.svg`: the picture of the margin, and its numbers in FILE.csv beside it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from verifier.model.errors import BadInput, InfrastructureFailed

if TYPE_CHECKING:
    from verifier.exact import Refutation
    from verifier.exact.refute import Problem


def checked_target(path: Path, problem: Problem) -> Path:
    """`path`, if a picture of this problem can be written there: asked before the work begins.

    Raises BadInput for another ending than .svg or a problem without steps, InfrastructureFailed for a folder that is
    missing or not writable.
    """
    from verifier.exact.expressions.problem import ExpressionProblem

    if path.suffix != ".svg":
        raise BadInput("the picture is an SVG file", where=f"--figure {path}", mend="end its name in .svg")
    if isinstance(problem, ExpressionProblem):
        what = "a problem of expressions has no steps to draw"
        raise BadInput(what, where=f"--figure {path}", mend="leave out --figure")
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise _unwritable(path, "the folder is missing or not writable")
    return path


def draw(problem: Problem, found: Refutation, path: Path, *, horizon: int) -> tuple[dict[str, str] | None, str]:
    """Writes picture and numbers, each whole or not at all.

    Returns the paths under "svg" and "csv" and "", or None and the reason why there is nothing to draw: a start outside
    the hypotheses, a search that found none. Raises InfrastructureFailed where a file cannot be written.
    """
    from verifier.exact import SearchProblem, parse_problem
    from verifier.exact.hardmax.problem import HardmaxProblem
    from verifier.exact.margin import margins
    from verifier.exact.piecewise.problem import MapProblem
    from verifier.model.answers import ExactAnswer

    if found.answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS:
        return None, "the start is outside the hypotheses"
    if isinstance(problem, SearchProblem):
        if found.certificate is None:
            return None, "the search found no start"
        problem = parse_problem(found.certificate["problem"])
    if not isinstance(problem, HardmaxProblem | MapProblem):
        return None, "the problem has no steps"
    series = margins(problem, found, horizon=horizon)
    from verifier.report.margin import margin_figure

    picture = margin_figure(series)
    beside = path.with_suffix(".csv")
    _write_whole({beside: picture.csv, path: picture.svg + "\n"})  # no picture without its numbers
    return {"svg": str(path), "csv": str(beside)}, ""


def _write_whole(texts: dict[Path, str]) -> None:
    """Writes every text to a temporary file beside its target; only then do all take their names."""
    parts: dict[Path, Path] = {}
    target = next(iter(texts))
    try:
        for target, text in texts.items():
            handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
            parts[target] = Path(temporary)
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            parts[target].chmod(0o644)  # mkstemp's 0600 would keep the picture from colleagues
        for target, part in list(parts.items()):
            part.replace(target)
            del parts[target]
    except OSError as error:
        raise _unwritable(target, error.strerror or str(error)) from error
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def _unwritable(path: Path, why: str) -> InfrastructureFailed:
    what = f"the picture cannot be written ({why})"
    return InfrastructureFailed(what, where=str(path), mend="choose a folder that exists and can be written")
