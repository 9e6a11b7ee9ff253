"""What a probe asks the driver to run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifier.engine.sweep import Asking
from verifier.model.results import ControlRun


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How far a sweep may go under this registration.

    `discount` multiplies its E-values; `budget` is the most replicates that a probe may draw.
    """

    discount: float
    to_maximum: bool = False
    budget: int | None = None


@dataclass(frozen=True)
class Task:
    """A procedure, its name on the progress bar, and the most jobs that it can ask for."""

    name: str
    jobs: int
    procedure: Asking


def failed_controls_words(controls: Sequence[ControlRun]) -> str:
    """What the controls that did not pass should have given, and what they gave."""
    return "; ".join(
        f"the control {run.control.target} should give {run.control.expect} and gave {run.result.answer}"
        f" ({run.result.summary})"
        for run in controls
        if not run.result.passed
    )
