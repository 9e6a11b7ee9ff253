"""What basis audits found, as lines and rows that `audit`, terminal and HTML share; each from `audits[]` alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verifier.model.answers import AuditAnswer, Corrected
from verifier.model.basis import BasisClass
from verifier.model.results import ProbeResult
from verifier.report.text import plain

Document = Mapping[str, Any]

MOST_WITNESS = 400
"""Characters of a witness that are shown; all of it stands in the JSON."""


def audits(probe: ProbeResult) -> Sequence[Document]:
    """The audits of an audit probe, those of the file in its order; none for another kind and without an answer."""
    return probe.latest.audits if probe.evidence else ()


def is_audit(probe: ProbeResult) -> bool:
    """Whether the probe audits a basis."""
    return probe.kind == "audit"


def audit_line(probe: ProbeResult) -> str:
    """What was audited."""
    about = "the numbers of the dispute" if probe.about == "dispute" else "the paper's numbers or code"
    return f"basis audit of {plain(probe.question)}, about {about}" if is_audit(probe) else ""


def finding_line(audit: Document) -> str:
    """The finding with its meaning, and what differs."""
    finding, basis = AuditAnswer[audit["finding"]], BasisClass[audit["basis_class"]]
    return f"{finding}: {finding.sentence} ({basis}, {basis.sentence})"


def audit_rows(audit: Document) -> list[tuple[str, str]]:
    """The audit as (name, value): both numbers on both bases, the factor, what is left or missing, the witness."""
    rows = [(plain(side["label"]), _side_words(side)) for side in (audit["left"], audit["right"]) if side is not None]
    if audit["factor"] is not None:
        declared = f"declared in {plain(audit['declared_in'])}" if audit["declared_in"] else "declared without a source"
        rows.append(("factor", f"{plain(audit['factor'])}, {declared}"))
    if (residual := audit["residual"]) is not None:
        left = f"a factor of {residual['value']:.4g}, {_range(residual)} with every rounding"
        rows.append(("left unexplained", left))
    if audit["coincidence"] is not None:
        rows.append(("by chance", f"a random ratio would be explained with probability {audit['coincidence']:.2g}"))
    if audit["corrected"] is not None:
        rows.append(("on one basis", Corrected[audit["corrected"]].sentence))
    if audit["material"] is not None:
        rows.append(("material", "yes, over its whole range" if audit["material"] else "not over its whole range"))
    rows += [("missing", plain(each)) for each in audit["missing"]]
    if audit["witness"] is not None:
        rows.append(("smallest witness", witness_words(audit["witness"])))
    return rows


def _side_words(side: Document) -> str:
    words = f"{plain(side['stated'])} {plain(side['basis'])}".strip()
    if side["restated"] is None:
        return words
    return f"{words} = {plain(side['restated'])} {plain(side['restated_basis'] or '')}".strip()


def _range(interval: Document) -> str:
    return f"{interval['low']:.4g} to {interval['high']:.4g}"


def witness_words(witness: Document) -> str:
    """A witness on one line, cut where it is long."""
    words = "; ".join(f"{plain(key).replace('_', ' ')}: {_flat(value)}" for key, value in witness.items())
    return words if len(words) <= MOST_WITNESS else f"{words[:MOST_WITNESS]} … (in full in the JSON)"


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{plain(str(key)).replace('_', ' ')} {_flat(item)}" for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_flat, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else plain(str(value))


def comparison_lines(probes: Sequence[ProbeResult]) -> list[str]:
    """What a report leads with where a dispute compares two numbers: whether they stand on one basis."""
    return [
        f"the two numbers that the dispute compares: {plain(probe.summary)}"
        for probe in probes
        if is_audit(probe) and probe.comparison
    ]
