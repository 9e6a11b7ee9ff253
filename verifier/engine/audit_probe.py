"""An audit probe from start to result: one job for its file or function, one for that of each control."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from verifier.audits.probe import AuditProbe
from verifier.casefile import Case
from verifier.engine.sweep import Asking, Results
from verifier.engine.targets import Targets
from verifier.engine.tasks import Task, concluded, unanswered
from verifier.engine.units import units_record
from verifier.model.answers import NO_ANSWER, AuditAnswer, AuditContext, Corrected, Finding, audit_outcome
from verifier.model.controls import ControlResult
from verifier.model.outcomes import Outcome, Reason
from verifier.model.results import ControlRun, Evidence, ProbeResult, UnitsRecord
from verifier.model.rulings import ProbeFinding, rule_part
from verifier.sweeps.digest import package_sha256
from verifier.sweeps.jobs import AuditCall, Failure, Job, audits_of

AuditRun = Evidence | Failure
"""What the audits found, or why there is no answer."""

RULED_BY = ("mechanism", "basis_class", "finding", "material", "factor", "corrected", "code_against_text")
"""The fields of an audit that its leaf in the tree holds."""

_PROVEN = (AuditAnswer.MISMATCH_PROVEN, AuditAnswer.RECONCILED)

_CLEAR = (AuditAnswer.SAME_BASIS, AuditAnswer.NOT_MATERIAL)


def audit_tasks(case: Case, probe: AuditProbe, targets: Targets) -> list[Task]:
    """The probe's audits, ending in an AuditRun, then its controls', each ending in a ControlRun."""
    mechanisms = package_sha256("verifier.audits")

    def call(subject: str) -> AuditCall:
        return AuditCall(
            registration=case.registration,
            target=subject,
            question=probe.question,
            keywords=targets.keywords(subject, case.settings) if probe.target else (),
            threshold=probe.threshold,
            mechanisms=mechanisms,
        )

    own = Task(probe.name, 1, _audited(call(probe.subject)))
    controls = [
        Task(f"control {control.target}", 1, _controlled(probe, index, call(control.target)))
        for index, control in enumerate(probe.controls)
    ]
    return [own, *controls]


def _audited(call: AuditCall) -> Generator[Sequence[Job], Results, AuditRun]:
    results = yield [call]
    row = results[call.key]
    if isinstance(row, Failure):
        return row
    audits = audits_of(row)
    return Evidence("decision", None, (), audit_record(call, audits), audits=audits, mechanisms=call.mechanisms)


def audit_record(call: AuditCall, audits: Sequence[Mapping[str, Any]]) -> UnitsRecord:
    """One unit: of each audit what a ruling rests on.

    A witness is what one search happened to end at, and the last digit of a double is the machine's.
    """
    found = [{key: audit[key] for key in RULED_BY} for audit in audits]
    return units_record([{"unit": call.key, "audits": found}])


def _controlled(probe: AuditProbe, index: int, call: AuditCall) -> Asking:
    control = probe.controls[index]
    run = yield from _audited(call)
    if isinstance(run, Failure):
        return unanswered(control, run)
    audit, finding = _leading(probe, run.audits)
    result = ControlResult(control, audit["finding"], finding.outcome, _summary([audit]))
    return ControlRun(result, (), run.units, audits=run.audits)


def audit_result(probe: AuditProbe, run: AuditRun, controls: Sequence[ControlRun]) -> ProbeResult:
    """What the probe says once its controls are known."""
    more: dict[str, Any] = {}
    if isinstance(run, Failure):
        answer, own, summary = "NO_ANSWER", NO_ANSWER, run.what
        more = {"evidence": (), "failure": run.traceback or run.what}
    else:
        audit, own = _leading(probe, run.audits)
        answer, summary = audit["finding"], _summary([audit, *(one for one in run.audits if one is not audit)])
        if own.reason is Reason.SIZE_UNEXPLAINED and _unasked(audit):
            summary += "; how material that is was not asked, or cannot be told from what was given"
        more = {"evidence": (run,), "weighs": not (probe.comparison and AuditAnswer[answer] in _CLEAR)}
    return concluded(
        probe,
        answer,
        own,
        summary,
        controls,
        below_scale=probe.data == "synthetic",
        comparison=probe.comparison,
        question=probe.subject,
        **more,
    )


def _leading(probe: AuditProbe, audits: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], Finding]:
    """The audit that fixes what all of them say, and that finding: the table by which probes fix a part's ruling."""
    findings = [_finding(probe, audit) for audit in audits]
    ruling = rule_part([ProbeFinding(str(i), finding, required=True) for i, finding in enumerate(findings)])
    first = int(ruling.fixed_by[0])
    if len({findings[int(i)].outcome for i in ruling.fixed_by}) > 1:  # both sides: a conflict among them
        assert ruling.reason is not None
        return audits[first], Finding(Outcome.UNDECIDED, ruling.reason)
    return audits[first], findings[first]


def _finding(probe: AuditProbe, audit: Mapping[str, Any]) -> Finding:
    residual = audit["residual"]
    context = AuditContext(
        about=probe.about,
        alleges_mismatch=probe.alleges == "mismatch",
        residual_excludes_one=residual is not None and residual["excludes_one"],
        code_against_text=audit["code_against_text"],
        produced_by=probe.produced_by,
        material=audit["material"] is True,
        corrected=Corrected[audit["corrected"] or Corrected.KEPT],
    )
    return audit_outcome(AuditAnswer[audit["finding"]], context)


def _unasked(audit: Mapping[str, Any]) -> bool:
    """Whether a mismatch is left without a size for want of materiality alone."""
    residual = audit["residual"]
    unexplained = residual is not None and residual["excludes_one"]
    return audit["material"] is None and AuditAnswer[audit["finding"]] in _PROVEN and not unexplained


def _summary(audits: Sequence[Mapping[str, Any]]) -> str:
    """What the audits say, without the last full stop."""
    return "; ".join(audit["sentence"].rstrip(".") for audit in audits)
