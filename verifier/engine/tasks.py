"""What a probe of any kind asks the driver to run, and what it says at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from verifier.casefile import Probe
from verifier.engine.sweep import Asking
from verifier.model.answers import Finding
from verifier.model.case import Control
from verifier.model.controls import ControlResult, after_controls
from verifier.model.outcomes import Outcome
from verifier.model.results import ControlRun, ProbeResult
from verifier.sweeps.jobs import Failure


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


def unanswered(control: Control, failure: Failure) -> ControlRun:
    """The run of a control that has no answer."""
    result = ControlResult(control, "NO_ANSWER", Outcome.NO_ANSWER, failure.what)
    return ControlRun(result, (), traceback=failure.traceback)


def concluded(
    probe: Probe, answer: str, own: Finding, summary: str, controls: Sequence[ControlRun], **fields: Any
) -> ProbeResult:
    """What a probe of any kind says once its controls are known; `fields` are those of its kind."""
    finding = after_controls(own, [control.result for control in controls])
    return ProbeResult(
        name=probe.name,
        kind=probe.kind,
        parts=probe.parts,
        about=probe.about,
        required=probe.required,
        answer=answer,
        own=own,
        finding=finding,
        summary=summary if finding == own else _failed_controls_words(controls),
        controls=tuple(controls),
        **fields,
    )


def _failed_controls_words(controls: Sequence[ControlRun]) -> str:
    """What the controls that did not pass should have given, and what they gave."""
    return "; ".join(
        f"the control {run.control.target} should give {run.control.expect} and gave {run.result.answer}"
        f" ({run.result.summary})"
        for run in controls
        if not run.result.passed
    )
