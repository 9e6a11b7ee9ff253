"""An audit as JSON values, for machines: one of `audits[]` in `audit --json` and `run --json`."""

from __future__ import annotations

from typing import Any

from verifier.audits.audit import Audit, Side


def audit_document(audit: Audit) -> dict[str, Any]:
    """The audit's fields as JSON values; what there is nothing to say of is null."""
    residual = audit.residual
    return {
        "mechanism": audit.mechanism,
        "basis_class": audit.basis_class.value,
        "finding": audit.finding.value,
        "material": audit.material,
        "left": _side(audit.left),
        "right": _side(audit.right),
        "factor": audit.factor,
        "declared_in": audit.declared_in,
        "residual": None
        if residual is None
        else {
            "value": residual.value,
            "low": residual.low,
            "high": residual.high,
            "excludes_one": residual.excludes_one,
        },
        "coincidence": audit.coincidence,
        "missing": list(audit.missing),
        "witness": None if audit.witness is None else dict(audit.witness),
        "corrected": None if audit.corrected is None else audit.corrected.value,
        "code_against_text": audit.code_against_text,
        "details": dict(audit.details),
        "sentence": audit.sentence,
    }


def _side(side: Side | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "label": side.label,
        "stated": side.stated,
        "basis": side.basis,
        "restated": side.restated,
        "restated_basis": side.restated_basis,
    }
