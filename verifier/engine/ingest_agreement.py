"""Whether runs from elsewhere agree with what this ledger already has of the same units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from verifier.casefile import Case
from verifier.engine.ingest_cells import cells_words, numbers_words, row_of, same_numbers
from verifier.engine.ingest_rows import Measured, Reported, ingested_key, kept_cells, same_unit
from verifier.engine.layout import Layout
from verifier.engine.register import standing_ruling
from verifier.engine.rule import decide
from verifier.ledger import Entry, Ledger
from verifier.model.errors import BadInput
from verifier.model.results import ProbeResult
from verifier.model.rulings import Ruling
from verifier.sweeps.jobs import Row, Unit, arms_of
from verifier.sweeps.store import UnitStore


def check_drawn(reported: Reported, store: UnitStore, *, name: str) -> frozenset[str]:
    """The keys of the reported units that were drawn here as well, all with the numbers of the table.

    Raises BadInput, naming the first line, where one has others: a registration fixes a unit's random numbers.
    """
    drawn = store.get(reported.measured)
    for one in _by_line(reported):
        row = drawn.get(one.unit.key)
        if row is not None and not same_unit(one, row):
            given = cells_words(one.cells, one.row)
            unit = _unit(one.unit, reported.layout)
            raise BadInput(
                f"{unit} was drawn here and gave {numbers_words(row, means=one.means)}, and this line reports {given}",
                where=f"{name}, line {one.line}",
                mend="send the table as it was measured; the units that were drawn here stand",
            )
    return frozenset(drawn)


def check_reported(
    case: Case, reported: Reported, *, drawn: frozenset[str], ledger: Ledger, store: UnitStore, name: str
) -> None:
    """Returns where no unit has other numbers than in an earlier table of this registration and probe.

    Only rows that an evidence entry used are compared, and none in `drawn`: those agree with units drawn here, so an
    earlier table that says otherwise was wrong. Where earlier rows are no longer kept, their root is compared with
    that of as many rows of this table, which tells that all columns are the same and nothing else.
    Raises BadInput where a unit has other numbers, and where rows cannot be compared.
    """
    layout, probe = reported.layout, reported.layout.probe
    for entry in ledger.entries("evidence", registration=case.registration):
        if entry.content.get("probe") != probe.name or "ingested" not in entry.content:
            continue
        about = entry.content["ingested"]
        count, root = int(about["used"]), str(about["root"])
        if count <= layout.count(reported.prefix) and reported.record(count).root == root:
            continue
        units = [unit for unit in reported.units[:count] if unit.key not in drawn]
        kept = store.get(ingested_key(root, unit) for unit in units)
        if len(kept) < len(units):
            raise BadInput(
                f"the {count} rows that entry {entry.n} used are no longer kept beside this ledger, and the first "
                f"{count} rows here have another root than it recorded",
                where=name,
                mend="send those rows with every column as then, or draw the units here with `verifier run`",
            )
        for unit in units:
            one, before = reported.measured.get(unit.key), kept[ingested_key(root, unit)]
            if one is not None and not _same(one, before, layout):
                cells = kept_cells(before)
                then = cells_words(cells, row_of(cells, n=_repetitions(one.row), called=bool(layout.arm(unit))))
                raise BadInput(
                    f"{_unit(unit, layout)} came with {then} in the table of entry {entry.n}, and this line reports "
                    f"{cells_words(one.cells, one.row)}",
                    where=f"{name}, line {one.line}",
                    mend="send the unit as it was measured, or draw the units here with `verifier run`",
                )


@dataclass(frozen=True, slots=True)
class Rests:
    """What a ruling would rest on of one probe: how many units from elsewhere, and whether any was repeated here."""

    probe: str
    used: int
    reproduced: bool


def refuse_to_replace(case: Case, probes: Sequence[ProbeResult], ledger: Ledger, *, rests: Sequence[Rests]) -> None:
    """Raises BadInput where a ruling on these runs would take the place of another one on the same units.

    One on units drawn here is replaced by none that says something else; one on runs from elsewhere by one that uses
    more of the units of some probe and of none fewer, or says the same.
    """
    standing = standing_ruling(case, ledger.entries)
    if standing is None or case.exploratory or standing.content["registration"] != case.registration:
        return
    before = standing.content["ruling"]
    if before == Ruling.NO_ANSWER:
        return
    _, found, verdict = decide(case, probes)
    on = {one.probe: _evidence(standing, ledger, one.probe) for one in rests}
    known = [(one, on[one.probe]) for one in rests]
    elsewhere = [(one, entry.content["ingested"]) for one, entry in known if entry and "ingested" in entry.content]
    if not elsewhere:
        if before != found.ruling:
            raise BadInput(
                f"the same units were drawn here and gave {before}, and these runs give {found.ruling.value}",
                where=str(case.folder),
                mend="see `verifier status`; runs from elsewhere replace no ruling on units drawn here",
            )
        return
    more = any(one.used > about["used"] for one, about in elsewhere)
    counted = [(one, entry.content["units"]["count"]) for one, entry in known if entry and "units" in entry.content]
    fewer = any(one.used < count for one, count in counted)
    unchecked = any(about["reproduced"] and not one.reproduced for one, about in elsewhere)
    weaker = standing.content["verdict"] != verdict.verdict and unchecked
    if (fewer or not more) and (before != found.ruling or weaker):
        rows = sum(about["used"] for _, about in elsewhere)
        raise BadInput(
            f"the standing ruling {before} rests on {rows} rows of the same units, and these "
            f"{sum(one.used for one, _ in elsewhere)} give {found.ruling.value}, verdict {verdict.verdict}",
            where=str(case.folder),
            mend="see `verifier status`; send all rows, as then, and more, or draw the units here with `verifier run`",
        )


def _evidence(ruling: Entry, ledger: Ledger, probe: str) -> Entry | None:
    """The evidence of this probe that the ruling rests on, None where there is none."""
    for entry in ledger.entries("evidence", registration=ruling.content["registration"]):
        if entry.leaf in ruling.refs and entry.content.get("probe") == probe:
            return entry
    return None


def _by_line(reported: Reported) -> Iterator[Measured]:
    yield from sorted(reported.measured.values(), key=lambda one: one.line)


def _same(one: Measured, before: Row, layout: Layout) -> bool:
    cells = kept_cells(before)
    row = row_of(cells, n=_repetitions(one.row), called=bool(layout.arm(one.unit)))
    return same_numbers(one.row, row, means=one.means or "value" in cells[0])


def _repetitions(row: Row) -> int:
    return next(iter(arms_of(row).values())).n


def _unit(unit: Unit, layout: Layout) -> str:
    return f"the unit {unit.key[:12]} ({layout.words(unit)})"
