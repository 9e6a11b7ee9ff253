"""What the engine writes into the ledger: the content of registrations, evidence and rulings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any

from verifier.casefile import Case
from verifier.ledger import Content, FreeText
from verifier.model.canonical import canonical_sha256, double_text, rational_text, short_rational_text
from verifier.model.results import ControlRun, Evidence, ExactEvidence, Point, ProbeResult, UnitsRecord
from verifier.model.rulings import CaseRuling, PartRuling
from verifier.model.verdicts import VerdictFinding

BY = "engine"
"""The pseudonym under which the engine's own entries stand."""

_FREE_TEXT_KEYS = {"title", "quote", "text", "locator", "reported_by", "written_by"}


def registration_content(case: Case) -> dict[str, Content]:
    """The case as registered: everything its hash covers, and what may be amended later."""
    return {
        "registration": case.registration,
        "name": case.name,
        "paper": case.paper.identity,
        "version": case.paper.arxiv,
        "claim_sha256": case.claim_sha256,
        "quote_sha256": case.quote_sha256,
        "dispute": case.dispute_id,
        "exploratory": case.exploratory,
        "case": _sealed(case.table),
        "overrides": dict(case.overrides),
        "files": case.file_hashes,
    }


def _sealed(value: Any, key: str = "") -> Content:
    if isinstance(value, Mapping):
        return {name: _sealed(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_sealed(item, key) for item in value]
    if isinstance(value, str) and key in _FREE_TEXT_KEYS:
        return FreeText(value)
    plain: Content = value
    return plain


def evidence_content(registration: str, probe: ProbeResult, evidence: Evidence | None) -> dict[str, Content]:
    """What one probe and its controls gave at one end of its run. `evidence` is None where there is no answer."""
    content: dict[str, Content] = {
        "registration": registration,
        "probe": probe.name,
        "kind": probe.kind,
        "answer": probe.answer,
        "own_outcome": probe.own.outcome,
        "outcome": probe.outcome,
        "reason": probe.reason,
        "controls": [_control(control) for control in probe.controls],
    }
    if evidence is not None:
        # what only pictures and tables beside the ruling are made of
        left_out = {"classical", "looks"} if probe.kind == "sweep" else {"classical"}
        statistics = {key: value for key, value in (evidence.statistics or {}).items() if key not in left_out}
        content |= {
            "stage": evidence.stage,
            "statistics": hashable(statistics),
            "points": [_point(point) for point in evidence.points],
            "units": _units(evidence.units),
        }
        if evidence.exact is not None:
            content["exact"] = _exact(evidence.exact)
        if evidence.audits:
            content |= {"audits": hashable(evidence.audits), "mechanisms": evidence.mechanisms}
    return content


def _exact(found: ExactEvidence) -> Content:
    """What the finder says, and the certificate itself, so that the ledger alone is enough to check it."""
    # the problem stands in the registered files and in the certificate
    document = {key: hashable(value) for key, value in found.document.items() if key != "problem"}
    return {**document, "certificate": found.certificate}


def _control(control: ControlRun) -> Content:
    return {
        "target": control.control.target,
        "expect": str(control.control.expect),
        "answer": control.result.answer,
        "outcome": control.result.outcome,
        "passed": control.result.passed,
        "units": _units(control.units) if control.units else None,
    }


def _point(point: Point) -> Content:
    return {
        "at": dict(point.at),
        "n": point.n,
        "estimate": double_text(point.estimate),
        "stderr": None if point.stderr is None else double_text(point.stderr),
        "exact": short_rational_text(point.exact),
    }


def _units(units: UnitsRecord) -> Content:
    return {"count": units.count, "root": units.root}


def ruling_content(
    case: Case,
    *,
    ordinal: int,
    parts: Mapping[str, PartRuling],
    ruling: CaseRuling,
    verdict: VerdictFinding,
    probes: Sequence[ProbeResult],
) -> dict[str, Content]:
    """The ruling on the dispute, with the premises it rests on and the version of the paper it judges.

    Each part says what else its verdict asks, of the probes that fixed it: so the judge can apply the table again when
    a premise was checked later.
    """
    return {
        "registration": case.registration,
        "ordinal": ordinal,
        "exploratory": case.exploratory,
        "version": case.paper.arxiv,
        "ruling": ruling.ruling,
        "reason": ruling.reason,
        "parts": [
            {
                "id": part,
                "ruling": found.ruling,
                "reason": found.reason,
                "fixed_by": list(found.fixed_by),
                **_scale_words([probe for probe in probes if probe.name in found.fixed_by]),
            }
            for part, found in parts.items()
        ],
        "verdict": verdict.verdict,
        "because": str(verdict.because),
        "premises": [
            {"sha256": canonical_sha256(premise.text), "checked": premise.checked} for premise in case.premises
        ],
    }


def _scale_words(fixing: Sequence[ProbeResult]) -> dict[str, bool]:
    return {
        "below_scale": all(probe.below_scale for probe in fixing),
        "reproduces_claim": any(probe.reproduces_claim for probe in fixing),
    }


def hashable(value: Any) -> Content:
    """`value` with doubles as their shortest decimals, rationals as p/q and enumeration members as their words."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, Fraction):
        return rational_text(value)
    if isinstance(value, Mapping):
        return {str(key): hashable(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [hashable(item) for item in value]
    plain: Content = value
    return plain


def changed_paths(before: Any, after: Any, path: str = "") -> list[str]:
    """The paths at which two contents differ, as a person writes them."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        keys = [*before, *(key for key in after if key not in before)]
        return [
            found
            for key in keys
            for found in changed_paths(before.get(key), after.get(key), f"{path}.{key}" if path else str(key))
        ]
    same_length = isinstance(before, list) and isinstance(after, list) and len(before) == len(after)
    if same_length and any(isinstance(item, Mapping) for item in before):
        return [
            found
            for index, (a, b) in enumerate(zip(before, after, strict=True))
            for found in changed_paths(a, b, f"{path}[{index}]")
        ]
    return [] if before == after else [path]
