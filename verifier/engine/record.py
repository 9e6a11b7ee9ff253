"""Evidence and ruling as entries: what is appended, in which order, and what a ruling replaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verifier.casefile import Case
from verifier.engine.entries import BY, evidence_content
from verifier.engine.register import Registration, replaces, standing_ruling
from verifier.ledger import Content, Transaction
from verifier.model.results import ProbeResult


@dataclass(frozen=True)
class Recorded:
    """Leaf hashes of the evidence entries, decisive ones first, and of the ruling."""

    evidence: tuple[str, ...]
    ruling: str


def record(
    case: Case,
    registration: Registration,
    probes: Sequence[ProbeResult],
    *,
    ruling: Mapping[str, Content],
    beside: Mapping[str, Any],
    transaction: Transaction,
) -> Recorded:
    """Appends evidence in case order, the ruling on it, then what a run to the maximum adds.

    Equal entries are found, not appended twice. `beside` is kept with new evidence and never hashed.
    """
    leaf = registration.entry.leaf

    def append(probe: ProbeResult, end: int) -> str:
        content = evidence_content(case.registration, probe, probe.evidence[end] if probe.evidence else None)
        entry, found = transaction.append(kind="evidence", content=content, refs=[leaf], by=BY)
        if not found:
            tracebacks = [probe.failure, *(control.traceback for control in probe.controls)]
            transaction.note(entry.n, {**beside, "tracebacks": [text for text in tracebacks if text]})
        return entry.leaf

    decisive = [append(probe, 0) for probe in probes]
    ruled = _append_ruling(case, [leaf, *decisive], ruling, transaction)
    further = [append(probe, 1) for probe in probes if len(probe.evidence) > 1]
    return Recorded((*decisive, *further), ruled)


def _append_ruling(case: Case, refs: list[str], content: Mapping[str, Content], transaction: Transaction) -> str:
    """The ruling, superseding the standing one unless the run is exploratory; an equal ruling is found."""
    for entry in transaction.entries("ruling", registration=case.registration):
        if list(entry.refs) == refs and entry.content == content:
            return entry.leaf
    standing = None if case.exploratory else standing_ruling(case, transaction.entries)
    supersedes = standing.leaf if standing and replaces(str(content["ruling"]), standing) else None
    return transaction.append(kind="ruling", content=content, refs=refs, supersedes=supersedes, by=BY).entry.leaf
