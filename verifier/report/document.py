"""The object of `run --json`, schema verifier/run/1."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from verifier.model.canonical import short_rational_text
from verifier.model.case import Dispute, Paper, Premise
from verifier.model.results import CaseResult, ControlRun, Evidence, Point, ProbeResult, RegistrationRecord
from verifier.model.rulings import Ruling
from verifier.report.exact import exact_document
from verifier.report.sentences import deciding_probes, gate_cautions, gate_reasons, ruling_sentence
from verifier.report.values import json_value, number


def run_document(
    result: CaseResult, *, report: str | None = None, certificates: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The run as JSON values, with every field of the command line's contract.

    `report` is the path of the HTML report, where one was written, `certificates` maps probes to the paths of theirs.
    Raises InfrastructureFailed for a result that is not a number.
    """
    claim, ruling = result.claim, result.ruling
    deciding = deciding_probes(result)
    adequacy = next((probe.adequacy for probe in deciding if probe.adequacy is not None), None)
    return {
        "schema": "verifier/run/1",
        "ok": ruling.ruling is not Ruling.NO_ANSWER,
        "sentence": ruling_sentence(result),
        "next": next_commands(result),
        "state": "complete",
        "case": result.case,
        "paper": _paper(result.paper),
        "claim": {
            "sha256": result.claim_sha256,
            "text": claim.text,
            "quote": claim.quote,
            "quote_sha256": result.quote_sha256,
            "paraphrase": claim.paraphrase,
            "locator": claim.locator,
            "kind": claim.kind,
            "parts": [{"id": part.id, "text": part.text} for part in claim.parts],
        },
        "dispute": _dispute(result.dispute, result.dispute_id),
        "ruling": ruling.ruling.value,
        "reason": json_value(ruling.reason),
        "parts": [
            {
                "id": part,
                "ruling": found.ruling.value,
                "reason": json_value(found.reason),
                "fixed_by": list(found.fixed_by),
            }
            for part, found in result.parts.items()
        ],
        "verdict": json_value(result.verdict.verdict),
        "because": str(result.verdict.because),
        "premises": [_premise(premise) for premise in result.premises],
        "settings": {name: json_value(value) for name, value in result.settings.items()},
        "code_sha256": result.code_sha256,
        "implementations": [{"target": one.target, "saw": list(one.saw)} for one in result.implementations],
        "priors": [{"url": prior.url, "text": prior.text} for prior in result.priors],
        "contact_gate": {
            "open": not gate_reasons(result),
            "because": gate_reasons(result),
            "cautions": gate_cautions(result),
        },
        "registrations_of_this_claim": {
            "n": result.ordinal,
            "of": len(result.registrations),
            "registrations": [_registration(record) for record in result.registrations],
        },
        "exploratory": result.exploratory,
        "overrides": json_value(result.overrides),
        "registered_scale": _largest(result.probes, "claim_scale"),
        "scale_reached": _largest(result.probes, "scale_reached"),
        "residual_class": next((probe.residual_class for probe in deciding if probe.residual_class), None),
        "adequacy": None if adequacy is None else _adequacy(adequacy.adequate, adequacy.needed),
        "probes": [_probe(probe, (certificates or {}).get(probe.name)) for probe in result.probes],
        "controls": [_control(probe, run) for probe in result.probes for run in probe.controls],
        "ledger": {
            "url": result.ledger.url,
            "registration": result.ledger.registration,
            "evidence": list(result.ledger.evidence),
            "ruling": result.ledger.ruling or None,
            "size": result.ledger.size,
            "root": result.ledger.root,
            "witnessed": bool(result.ledger.witness),
            "witness": result.ledger.witness or None,
        },
        "report": report,
        "command": result.command,
        "seconds": number(result.seconds),
    }


def next_commands(result: CaseResult) -> list[str]:
    """The commands that make sense after this run, the most useful first."""
    case = shlex.quote(result.folder)
    named = "--ledger" in result.command  # the default ledger needs no naming
    ledger = f" --ledger {shlex.quote(result.ledger.url)}" if named else ""
    verify = f"verifier ledger verify{ledger} --root {shlex.quote(result.ledger.root)}"
    if result.ruling.ruling is Ruling.NO_ANSWER:
        return [result.command, "verifier doctor", verify]
    commands = [f"verifier plan {case}"] if result.ruling.ruling is Ruling.UNDERPOWERED else []
    if result.exploratory:
        commands.append(f"verifier run {case}{ledger}")
    elif result.ruling.ruling.decided and any(_stopped_early(probe) for probe in result.probes):
        commands.append(f"{result.command} --to-maximum")
    return [*commands, f"verifier status {case}{ledger}", verify]


def _stopped_early(probe: ProbeResult) -> bool:
    stopped = [(evidence.statistics or {}).get("stopped_by") for evidence in probe.evidence]
    return stopped == ["decision"]


def _paper(paper: Paper) -> dict[str, Any]:
    return {
        "openreview": paper.openreview,
        "arxiv": paper.arxiv,
        "doi": paper.doi,
        "title": paper.title,
        "source_sha256": paper.source_sha256,
        "later_versions": [{"arxiv": later.arxiv, "claim": later.claim} for later in paper.later_versions],
    }


def _dispute(dispute: Dispute, identity: str) -> dict[str, Any]:
    return {
        "id": identity,
        "parts": list(dispute.parts),
        "text": dispute.text,
        "source": dict(dispute.source),
        "reported_by": dispute.reported_by,
        "alleged": dict(dispute.alleged),
        "comparison": dispute.comparison,
    }


def _premise(premise: Premise) -> dict[str, str]:
    return {"text": premise.text, "checked": premise.checked, "source": premise.source}


def _registration(record: RegistrationRecord) -> dict[str, Any]:
    return {
        "leaf": record.leaf,
        "registration": record.registration,
        "time": record.time,
        "exploratory": record.exploratory,
        "changed": list(record.changed),
        "ended": record.ended,
    }


def _largest(probes: tuple[ProbeResult, ...], field: str) -> dict[str, int]:
    """Axis -> the largest value of `field` over the probes that have this axis."""
    found: dict[str, int] = {}
    for probe in probes:
        if probe.axis:
            found[probe.axis] = max(found.get(probe.axis, 0), int(getattr(probe, field)))
    return found


def _adequacy(adequate: bool, needed: Any) -> dict[str, Any]:  # noqa: FBT001  # the first of two fields, in order
    return {"adequate": adequate, "needed": json_value(needed)}


def _probe(probe: ProbeResult, certificate: str | None) -> dict[str, Any]:
    latest = probe.latest if probe.evidence else None
    return {
        "name": probe.name,
        "kind": probe.kind,
        # as case.toml writes it: an id, or a list of several
        "part": probe.parts[0] if len(probe.parts) == 1 else list(probe.parts),
        "about": probe.about,
        "required": probe.required,
        "answer": str(probe.answer),
        "outcome": probe.outcome.value,
        "reason": json_value(probe.reason),
        "own_outcome": probe.own.outcome.value,
        "summary": probe.summary,
        "so_far": json_value(probe.so_far),
        "statistics": None if latest is None else json_value(latest.statistics),
        "points": [] if latest is None else [point_document(point) for point in latest.points],
        "certificate": certificate,
        "exact": None if latest is None or latest.exact is None else exact_document(latest.exact),
        "question": probe.question,
        "audits": [] if latest is None else json_value(list(latest.audits)),
        "axis": probe.axis,
        "registered_scale": int(probe.claim_scale),
        "scale_reached": int(probe.scale_reached),
        "below_scale": probe.below_scale,
        "reproduces_claim": probe.reproduces_claim,
        "rule": json_value(probe.rule),
        "residual_class": probe.residual_class,
        "flags": list(probe.flags),
        "adequacy": None if probe.adequacy is None else _adequacy(probe.adequacy.adequate, probe.adequacy.needed),
        "evidence": [_evidence(evidence) for evidence in probe.evidence],
        # a traceback comes from the case's own code: strangers' text, and marked as such
        "failure": {"quoted": probe.failure} if probe.failure else None,
    }


def point_document(point: Point) -> dict[str, Any]:
    """A point as JSON values; `exact` is a rational as text, or null."""
    return {
        "at": json_value(point.at),
        "estimate": number(point.estimate),
        "stderr": None if point.stderr is None else number(point.stderr),
        "n": int(point.n),
        "exact": short_rational_text(point.exact),
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "stage": evidence.stage,
        "units": {"count": evidence.units.count, "root": evidence.units.root},
        "statistics": json_value(evidence.statistics),
    }


def _control(probe: ProbeResult, run: ControlRun) -> dict[str, Any]:
    result = run.result
    return {
        "probe": probe.name,
        "target": run.control.target,
        "expect": str(run.control.expect),
        "why": run.control.why,
        "answer": str(result.answer),
        "outcome": json_value(result.outcome),
        "passed": result.passed,
        "summary": result.summary,
        "points": [point_document(point) for point in run.points],
    }
