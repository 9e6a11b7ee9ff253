"""From a ledger's entries to the entries of a portfolio: one a dispute, by its standing ruling."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from verifier.engine.register import replaces
from verifier.stats.portfolio import Entry, Evidence, Kind

if TYPE_CHECKING:
    from verifier.ledger import Entry as LedgerEntry

SIDES = (("e_grow", "e_flat"), ("e_below_claim", "e_above_alleged"), ("e_mean", ""))
"""The names of E for and against the dispute, by rule; a bound has none against it."""
NOTHING = Evidence(at_stop=-math.inf, sup=-math.inf)


@dataclass(frozen=True, kw_only=True)
class Dispute:
    """A dispute of the ledger. paper, id: as registered. ruling: the standing one, "" where none stands.

    probes: the probes whose E's were taken. void: probes that count with E = 0, as their controls did not hold them up.
    """

    name: str
    paper: str
    id: str
    ruling: str
    entry: Entry
    probes: tuple[str, ...] = ()
    void: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Found:
    """All disputes, and those left out as only exploratory runs of them stand in the ledger."""

    disputes: tuple[Dispute, ...]
    exploratory: tuple[str, ...]


def disputes_of(
    registrations: Iterable[LedgerEntry], rulings: Iterable[LedgerEntry], evidence: Iterable[LedgerEntry]
) -> Found:
    """Every dispute with a registration that is no exploratory run, by its standing ruling and the evidence under it.

    A dispute with several statistical probes counts the largest of their E's divided by their number: an e-value
    whatever their dependence, and below their average. One registered and not ruled on goes on, and counts in K.
    """
    papers: dict[str, str] = {}
    disputes: dict[str, str] = {}
    counted: dict[str, None] = {}
    from_files: dict[str, frozenset[str]] = {}
    for entry in registrations:
        content = entry.content
        registration, dispute = str(content["registration"]), str(content["dispute"])
        disputes[registration] = dispute
        from_files[registration] = _probes_on_files(content)
        papers.setdefault(dispute, str(content["paper"]))
        if not content["exploratory"]:
            counted[dispute] = None
    by_leaf = {entry.leaf: entry for entry in evidence}
    standing: dict[str, LedgerEntry] = {}
    for ruling in rulings:
        ruled_on = disputes.get(str(ruling.content["registration"]))
        if ruled_on is None or ruling.content["exploratory"]:
            continue
        if ruled_on not in standing or replaces(str(ruling.content["ruling"]), standing[ruled_on]):
            standing[ruled_on] = ruling
    names = {dispute: f"{papers[dispute]} {dispute[:12]}" for dispute in papers}
    found = []
    for dispute in counted:
        known = Dispute(
            name=names[dispute], paper=papers[dispute], id=dispute, ruling="", entry=_waiting(names[dispute])
        )
        last = standing.get(dispute)
        if last is not None:
            contents = [by_leaf[leaf].content for leaf in last.refs if leaf in by_leaf]
            outside = from_files[str(last.content["registration"])]
            known = _ruled(replace(known, ruling=str(last.content["ruling"])), contents, from_files=outside)
        found.append(known)
    return Found(
        disputes=tuple(found), exploratory=tuple(names[dispute] for dispute in papers if dispute not in counted)
    )


def _waiting(name: str) -> Entry:
    """A dispute without a ruling: it goes on."""
    going_on = Evidence(at_stop=None, sup=0.0)
    return Entry(name=name, support=going_on, opposition=going_on)


def _probes_on_files(content: Mapping[str, Any]) -> frozenset[str]:
    """The replications of a registration that read a file of runs: those were not drawn under it."""
    case = content.get("case")
    probes = case.get("probe", []) if isinstance(case, Mapping) else []
    return frozenset(str(probe["name"]) for probe in probes if probe.get("kind") == "replication" and "file" in probe)


def _ruled(known: Dispute, contents: Sequence[Mapping[str, Any]], *, from_files: frozenset[str]) -> Dispute:
    """The dispute with the evidence that its standing ruling rests on."""
    statistical = [content for content in contents if content["kind"] != "exact"]
    declared = [
        content for content in statistical if not _retrospective(content) and content["probe"] not in from_files
    ]
    if contents and not declared:
        kind: Kind = "retrospective" if statistical else "exact"
        return replace(known, entry=Entry(name=known.name, support=NOTHING, opposition=NOTHING, kind=kind))
    sides = [_sides(content) for content in declared]
    entry = Entry(
        name=known.name,
        support=_combined([side[0] for side in sides]),
        opposition=_combined([side[1] for side in sides]),
    )
    return replace(
        known,
        entry=entry,
        probes=tuple(str(content["probe"]) for content in declared),
        void=tuple(str(content["probe"]) for content in declared if not _holds(content)),
    )


def _retrospective(content: Mapping[str, Any]) -> bool:
    """Whether its data are older than the registration, or were not drawn under it."""
    ingested = content.get("ingested")
    return content.get("retrospective") is True or (
        isinstance(ingested, Mapping) and ingested.get("retrospective") is True
    )


def _holds(content: Mapping[str, Any]) -> bool:
    """Whether the controls left the probe its own outcome."""
    return content["outcome"] == content["own_outcome"] and isinstance(content.get("statistics"), Mapping)


def _sides(content: Mapping[str, Any]) -> tuple[Evidence, Evidence]:
    """E for and against the dispute, after its registration's discount."""
    if not _holds(content):
        return NOTHING, NOTHING
    statistics = content["statistics"]
    for names in SIDES:
        if isinstance(statistics.get(names[0]), Mapping):
            log_discount = math.log(float(statistics["discount"]))
            first, second = (_evidence(statistics.get(name), log_discount) for name in names)
            return first, second
    return NOTHING, NOTHING


def _evidence(record: Any, log_discount: float) -> Evidence:
    if not isinstance(record, Mapping):
        return NOTHING
    stop = record["at_stop"]
    sup = _log(record["sup"]) + log_discount
    at_stop = -math.inf if stop is None else min(_log(stop) + log_discount, sup)
    return Evidence(at_stop=at_stop, sup=sup)


def _log(text: Any) -> float:
    value = float(text)
    return math.log(value) if value > 0 else -math.inf


def _combined(sides: Sequence[Evidence]) -> Evidence:
    if not sides:
        return NOTHING
    share = math.log(len(sides))
    stops = [-math.inf if side.at_stop is None else side.at_stop for side in sides]
    return Evidence(at_stop=max(stops) - share, sup=max(side.sup for side in sides) - share)
