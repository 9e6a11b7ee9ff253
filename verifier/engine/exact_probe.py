"""An exact probe from start to result: one job for its problem, one for that of each control."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from typing import Any

from verifier.casefile import Case
from verifier.engine.sweep import Asking, Results
from verifier.engine.tasks import Task, concluded, unanswered
from verifier.engine.units import units_record
from verifier.exact import SearchProblem
from verifier.exact.checker import check
from verifier.exact.probe import ExactProbe, read_problem_text
from verifier.exact.refute import posed_with
from verifier.model.answers import NO_ANSWER, ExactAnswer, exact_outcome
from verifier.model.complaints import shown
from verifier.model.controls import ControlResult
from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome
from verifier.model.results import Adequacy, ControlRun, Evidence, ExactEvidence, ProbeResult, UnitsRecord
from verifier.sweeps.digest import package_sha256
from verifier.sweeps.jobs import ExactCall, Failure, Job, Row, exact_of

_KINDS = {
    ExactAnswer.VIOLATED: ("violation", "witness", "ball"),
    ExactAnswer.VIOLATED_FOR_ALL: ("for-all", "invariant", "spectral"),
}
"""The kinds of certificate that show an answer; no other answer has one."""

ExactRun = Evidence | Failure
"""What exact work found, or why there is no answer."""


def exact_tasks(case: Case, probe: ExactProbe) -> list[Task]:
    """The probe's problem, ending in an ExactRun, then its controls', each ending in a ControlRun."""

    def call(name: str) -> ExactCall:
        return ExactCall(case.registration, name, case.files[name], probe.horizon, package_sha256("verifier.exact"))

    own = Task(probe.name, 1, _decided(call(probe.problem)))
    controls = [
        Task(f"control {control.target}", 1, _controlled(probe, index, call(control.target)))
        for index, control in enumerate(probe.controls)
    ]
    return [own, *controls]


def _decided(call: ExactCall) -> Generator[Sequence[Job], Results, ExactRun]:
    results = yield [call]
    row = results[call.key]
    if isinstance(row, Failure):
        return row
    found = exact_of(row)
    if (unsound := _unsound(call, found)) is not None:
        return Failure(f"{call.target}: {unsound}; move the store of units away")
    return Evidence("decision", None, (), _record(call, row), exact=found)


def _unsound(call: ExactCall, found: ExactEvidence) -> str | None:
    """Why a row is not believed: the store is a file that somebody may have edited.

    Its certificate must be accepted, attack the problem asked about, and be of a kind that shows the answer. An answer
    without certificate has nothing to be verified by: whether anything breaks it only a fresh run would tell.
    """
    if found.document.get("problem") != json.loads(call.text):
        return "the stored answer is about another problem"
    kinds = _KINDS.get(found.document["answer"], ())
    if found.certificate is None:
        return None
    said = check(found.certificate.encode())
    if said.word != "ACCEPTED" or said.text != found.checked:
        return f"the stored certificate is not the one that was checked ({said.last_line})"
    certificate = json.loads(found.certificate)
    if certificate["kind"] not in kinds:
        return f"the stored answer {shown(found.document['answer'])} is not what its certificate shows"
    if certificate["problem"] != _posed(call, certificate["problem"]["state"]):
        return "the stored certificate is about another problem"
    return None


def _posed(call: ExactCall, state: Any) -> Any:
    """The problem of a call as a certificate holds it; a start left open is the one that was found."""
    problem = read_problem_text(call.text, where=call.target)
    if not isinstance(problem, SearchProblem):
        return problem.document
    try:
        return posed_with(problem, state).document
    except BadInput:
        return None


def _record(call: ExactCall, row: Row) -> UnitsRecord:
    """One unit; its row without the picture, which no finding rests on."""
    return units_record([{"unit": call.key, **{key: row[key] for key in row if key != "margins"}}])


def _controlled(probe: ExactProbe, index: int, call: ExactCall) -> Asking:
    control = probe.controls[index]
    run = yield from _decided(call)
    if isinstance(run, Failure):
        return unanswered(control, run)
    found = _exact(run)
    answer = ExactAnswer[found.document["answer"]]
    outcome = exact_outcome(answer, alleges=probe.alleges).outcome
    return ControlRun(ControlResult(control, answer, outcome, _summary(found)), (), run.units)


def _exact(evidence: Evidence) -> ExactEvidence:
    assert evidence.exact is not None
    return evidence.exact


def _summary(found: ExactEvidence) -> str:
    """The finder's sentence with its notes, without the last full stop."""
    return " ".join([found.document["sentence"], *found.document["notes"]]).rstrip(".")


def exact_result(probe: ExactProbe, run: ExactRun, controls: Sequence[ControlRun]) -> ProbeResult:
    """What the probe says once its controls are known."""
    more: dict[str, Any] = {}
    if isinstance(run, Failure):
        answer, own, summary = "NO_ANSWER", NO_ANSWER, run.what
        more = {"evidence": (), "failure": run.traceback or run.what}
    else:
        found = _exact(run)
        answer = str(found.document["answer"])
        own = exact_outcome(ExactAnswer[answer], alleges=probe.alleges)
        summary = _summary(found)
        more = {"evidence": (run,), "adequacy": _adequacy(own.outcome, found)}
    return concluded(
        probe,
        answer,
        own,
        summary,
        controls,
        below_scale=probe.data == "synthetic",
        question=probe.problem,
        **more,
    )


def _adequacy(outcome: Outcome, found: ExactEvidence) -> Adequacy | None:
    """Where the horizon came first: the step at which the bound would be crossed, if that is known."""
    if outcome is not Outcome.UNDERPOWERED:
        return None
    crossing = (found.document["horizon"] or {}).get("predicted_crossing")
    return Adequacy(adequate=False, needed={"horizon": crossing} if crossing is not None else {})
