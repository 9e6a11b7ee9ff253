"""Known-answer controls: what a control that did not behave does to its probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from verifier.model.answers import NO_ANSWER, Finding, invalid, underpowered
from verifier.model.case import Control, Expectation
from verifier.model.outcomes import Outcome, Reason


@dataclass(frozen=True, slots=True)
class ControlResult:
    """What a control gave: the rule's answer and outcome, or AGREES (no outcome) or DIFFERS (INVALID) for a check."""

    control: Control
    answer: str
    outcome: Outcome | None
    summary: str

    @property
    def passed(self) -> bool:
        """Whether the outcome, the answer or the check equals what was expected, whatever that is."""
        return meets(self.control.expect, answer=self.answer, outcome=self.outcome)


CHECK_PASSED = "AGREES"
CHECK_FAILED = "DIFFERS"


def meets(expect: Expectation, *, answer: str, outcome: Outcome | None) -> bool:
    """Whether a control's result is the expected one."""
    if expect.kind == "named":
        return expect.value in (answer, outcome)
    return answer == CHECK_PASSED


def after_controls(finding: Finding, controls: Sequence[ControlResult]) -> Finding:
    """The probe's finding once its controls are known. First row that applies over those that did not pass.

    A probe that itself has no answer keeps having none: nothing turns a crash into evidence.
    """
    failed = [control.outcome for control in controls if not control.passed]
    if finding.outcome is Outcome.NO_ANSWER or Outcome.NO_ANSWER in failed:
        return NO_ANSWER
    if any(outcome is None or outcome.decided or outcome is Outcome.INVALID for outcome in failed):
        return invalid(Reason.CONTROL_FAILED)
    if failed and (finding.outcome.decided or finding.outcome is Outcome.UNDECIDED):
        return underpowered(Reason.UNDERPOWERED)
    return finding
