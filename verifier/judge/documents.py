"""What is established about a claim, as JSON values: what the command line and the API both show."""

from __future__ import annotations

from typing import Any

from verifier.judge.claims import ClaimJudgement, DisputeJudgement
from verifier.judge.findings import text_at
from verifier.judge.index import JudgeIndex
from verifier.judge.sentences import because_words, first_line, later_versions_words, not_checked


def claim_document(claim: ClaimJudgement, index: JudgeIndex) -> dict[str, Any]:
    """A claim as JSON, without a stranger's words; with an inclusion proof of each entry it rests on."""
    finding = claim.finding
    return {
        "claim_sha256": claim.claim_sha256,
        "sentence": first_line(claim),
        "verdict": finding.verdict.value if finding and finding.verdict else None,
        "because": None if finding is None else str(finding.because),
        "because_words": because_words(finding),
        "points": claim.points,
        "private": claim.private,
        "parts": [
            {
                "id": part.id,
                "verdict": part.finding.verdict.value if part.finding and part.finding.verdict else None,
                "because": None if part.finding is None else str(part.finding.because),
                "tested": part.finding is not None,
            }
            for part in claim.parts
        ],
        "disputes": [_dispute_document(dispute, index) for dispute in claim.disputes],
    }


def _dispute_document(dispute: DisputeJudgement, index: JudgeIndex) -> dict[str, Any]:
    status = dispute.status
    assert status.ruling is not None
    return {
        "dispute": status.dispute,
        "state": status.state.value,
        "visibility": status.visibility.value,
        "withdrawn": status.withdrawn,
        "ruling": status.ruling.ruling.value,
        "time": dispute.ruling.time,
        "version": dispute.version or None,
        "later_versions": later_versions_words(dispute),
        "not_checked": not_checked(dispute),
        "witnessed": dispute.witnessed,
        "parts": {
            part: {"verdict": finding.verdict.value if finding.verdict else None, "because": str(finding.because)}
            for part, finding in dispute.findings.items()
        },
        "evidence": [
            {
                "n": one.n,
                "decisive": one.decisive,
                **{key: one.content.get(key) for key in ("probe", "kind", "answer", "outcome", "reason")},
            }
            for one in dispute.evidence
        ],
        "entries": [
            {"kind": kind, "n": entry.n, "leaf": entry.leaf, "proof": index.proof(entry.n)}
            for kind, entry in dispute.entries
        ],
        "exploratory": [
            {"n": run.n, "leaf": run.leaf, "ruling": run.ruling, "varied": list(run.varied)}
            for run in dispute.exploratory
        ],
    }


def claim_quoted(claim: ClaimJudgement) -> dict[str, Any]:
    """What strangers wrote of a claim."""
    return {
        "claim_sha256": claim.claim_sha256,
        "text": claim.text,
        "parts": {part.id: part.text for part in claim.parts},
        "disputes": [
            {
                "case": dispute.name,
                "text": text_at(dispute.case, "dispute", "text"),
                "quote": dispute.status.facts.quote,
                "locator": dispute.status.facts.locator,
                "space": dispute.space,
                "premises": [{"text": text, "checked": checked} for text, checked in dispute.premises],
            }
            for dispute in claim.disputes
        ],
    }
