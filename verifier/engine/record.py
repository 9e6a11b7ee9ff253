"""Evidence and ruling as entries: what is appended, in which order, and what a ruling replaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verifier.casefile import Case
from verifier.engine.entries import BY, evidence_content
from verifier.engine.register import Registration, replaces, standing_ruling
from verifier.ledger import Content, Entry, Transaction
from verifier.model.errors import TamperingDetected
from verifier.model.results import ProbeResult


@dataclass(frozen=True)
class Recorded:
    """Leaf hashes of the evidence entries, decisive ones first, and of the ruling, "" where none was written."""

    evidence: tuple[str, ...]
    ruling: str


def record(
    case: Case,
    registration: Registration,
    probes: Sequence[ProbeResult],
    *,
    ruling: Mapping[str, Content] | None,
    beside: Mapping[str, Any],
    transaction: Transaction,
    ingested: Mapping[str, Mapping[str, Content]] | None = None,
) -> Recorded:
    """Appends evidence in case order, the ruling on it, if there is one, then what a run to the maximum adds.

    Equal entries are found, not appended twice. `beside` is kept with new evidence and never hashed. `ingested` maps
    probes whose units were measured elsewhere to what their evidence says of that.
    """
    leaf = registration.entry.leaf

    def append(probe: ProbeResult, end: int) -> str:
        content = evidence_content(case.registration, probe, probe.evidence[end] if probe.evidence else None)
        if ingested and probe.name in ingested:
            content["ingested"] = ingested[probe.name]
        elif (recorded := _recorded(content, transaction)) is not None:
            return recorded.leaf
        entry, found = transaction.append(kind="evidence", content=content, refs=[leaf], by=BY)
        if not found:
            tracebacks = [probe.failure, *(control.traceback for control in probe.controls)]
            transaction.note(entry.n, {**beside, "tracebacks": [text for text in tracebacks if text]})
        return entry.leaf

    decisive = [append(probe, 0) for probe in probes]
    ruled = "" if ruling is None else _append_ruling(case, [leaf, *decisive], ruling, transaction)
    further = [append(probe, 1) for probe in probes if len(probe.evidence) > 1]
    return Recorded((*decisive, *further), ruled)


def _recorded(content: Mapping[str, Any], transaction: Transaction) -> Entry | None:
    """The evidence that this registration already has for the same probe and stage, from the same units.

    A registration fixes its streams, so it has one set of units drawn here; units from elsewhere are no measure of
    it. Raises TamperingDetected where the ledger holds another: then the store of units was changed, or this machine
    draws other numbers than the one that recorded them.
    """
    drawn = _units(content)
    for entry in transaction.entries("evidence", registration=content["registration"]):
        if not entry.content:  # withheld
            continue
        same_end = all(entry.content.get(key) == content.get(key) for key in ("probe", "stage"))
        drawn_here = "ingested" not in entry.content
        if _found_by(entry.content) != _found_by(content):  # other code is asked anew, and may find more
            continue
        if not (same_end and drawn_here) or not drawn or not (known := _units(entry.content)):
            continue
        differing = [name for name in known if name in drawn and known[name] != drawn[name]]
        if differing:
            raise TamperingDetected(
                f"the units of {differing[0]} differ from those that entry {entry.n} recorded under this registration",
                where=f"probe {content['probe']}",
                mend="move the store of units away, so that they are drawn again, and look what changed it",
            )
        if known == drawn and entry.content["outcome"] == content["outcome"]:
            return entry
    return None


def _found_by(content: Mapping[str, Any]) -> Any:
    """The hash of the finder of exact work, or of the mechanisms of an audit."""
    return content.get("mechanisms") or (content.get("exact") or {}).get("finder")


def _units(content: Mapping[str, Any]) -> dict[str, Any]:
    """Where rows were drawn, by whom: the record of the probe's own units and of each control's."""
    records = {"the probe": content.get("units")}
    records |= {f"control {one['target']} ({one['expect']})": one["units"] for one in content["controls"]}
    return {name: record for name, record in records.items() if record}


def _append_ruling(case: Case, refs: list[str], content: Mapping[str, Content], transaction: Transaction) -> str:
    """The ruling, superseding the standing one unless the run is exploratory; an equal ruling is found."""
    for entry in transaction.entries("ruling", registration=case.registration):
        if list(entry.refs) == refs and entry.content == content:
            return entry.leaf
    standing = None if case.exploratory else standing_ruling(case, transaction.entries)
    supersedes = standing.leaf if standing and replaces(str(content["ruling"]), standing) else None
    return transaction.append(kind="ruling", content=content, refs=refs, supersedes=supersedes, by=BY).entry.leaf
