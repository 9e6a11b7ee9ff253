"""Whether runs from elsewhere agree with what this ledger already has of the same units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verifier.casefile import Case
from verifier.engine.ingest_rows import (
    Measured,
    Reported,
    ingested_key,
    number_columns,
    same_numbers,
    same_unit,
    stored,
)
from verifier.engine.register import standing_ruling
from verifier.engine.rule import decide
from verifier.ledger import Entry, Ledger
from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.results import ProbeResult
from verifier.model.rulings import Ruling
from verifier.sweeps.jobs import Row, Unit
from verifier.sweeps.store import UnitStore


def check_drawn(reported: Reported, store: UnitStore, *, name: str) -> frozenset[str]:
    """The keys of the reported units that were drawn here as well, all with the numbers of the table.

    Raises BadInput, naming the first line, where one has others: a registration fixes a unit's random numbers.
    """
    drawn = store.get(reported.measured)
    for one in _by_line(reported):
        row = drawn.get(one.unit.key)
        if row is not None and not same_unit(one, row):
            given = _texts(one.columns)
            raise BadInput(
                f"{_unit(one.unit)} was drawn here and gave {_numbers(row)}, and this line reports {given}",
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
    probe = reported.grid.probe
    for entry in ledger.entries("evidence", registration=case.registration):
        if entry.content["probe"] != probe.name or "ingested" not in entry.content:
            continue
        about = entry.content["ingested"]
        count, root = int(about["used"]), str(about["root"])
        if count <= reported.prefix * len(reported.grid.scales) and reported.record(count).root == root:
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
            if one is not None and not _same(one, before):
                raise BadInput(
                    f"{_unit(unit)} came with {_texts(before)} in the table of entry {entry.n}, and this line reports "
                    f"{_texts(one.columns)}",
                    where=f"{name}, line {one.line}",
                    mend="send the unit as it was measured, or draw the units here with `verifier run`",
                )


def refuse_to_replace(
    case: Case, probes: Sequence[ProbeResult], ledger: Ledger, *, probe: str, used: int, reproduced: bool
) -> None:
    """Raises BadInput where a ruling on these runs would take the place of another one on the same units.

    One on units drawn here is replaced by none that says something else; one on runs from elsewhere by one that uses
    more of the units, or says the same. `used`: rows of `probe` that this one rests on.
    """
    standing = standing_ruling(case, ledger.entries)
    if standing is None or case.exploratory or standing.content["registration"] != case.registration:
        return
    before = standing.content["ruling"]
    if before == Ruling.NO_ANSWER:
        return
    _, found, verdict = decide(case, probes)
    earlier = _ingested_evidence(standing, ledger, probe)
    if earlier is None:
        if before != found.ruling:
            raise BadInput(
                f"the same units were drawn here and gave {before}, and these runs give {found.ruling.value}",
                where=str(case.folder),
                mend="see `verifier status`; runs from elsewhere replace no ruling on units drawn here",
            )
        return
    about = earlier.content["ingested"]
    weaker = standing.content["verdict"] != verdict.verdict and about["reproduced"] and not reproduced
    if used <= about["used"] and (before != found.ruling or weaker):
        raise BadInput(
            f"the standing ruling {before} rests on {about['used']} rows of the same units, and these {used} give "
            f"{found.ruling.value}, verdict {verdict.verdict}",
            where=str(case.folder),
            mend="see `verifier status`; send all rows, as then, and more, or draw the units here with `verifier run`",
        )


def _ingested_evidence(ruling: Entry, ledger: Ledger, probe: str) -> Entry | None:
    """The evidence on runs of this probe from elsewhere that the ruling rests on, None where it rests on none."""
    for entry in ledger.entries("evidence", registration=ruling.content["registration"]):
        if entry.leaf in ruling.refs and entry.content["probe"] == probe and "ingested" in entry.content:
            return entry
    return None


def _by_line(reported: Reported) -> Iterator[Measured]:
    yield from sorted(reported.measured.values(), key=lambda one: one.line)


def _same(one: Measured, before: Row) -> bool:
    means = "value" in one.columns or "value" in before
    return same_numbers(one.row, stored(number_columns(before), n=int(one.row["n"])), means=means)


def _unit(unit: Unit) -> str:
    scale = ", ".join(f"{axis} = {value}" for axis, value in unit.scale)
    return f"the unit {unit.key[:12]} ({scale}, replicate {unit.replicate})"


def _numbers(row: Row) -> str:
    return f"n {row['n']}, sum {shown(row['sum'])}, sum_sq {shown(row['sum_sq'])}"


def _texts(columns: Row) -> str:
    """The numbers of a row as the table wrote them."""
    names = ("value",) if "value" in columns else ("n", "sum", "sum_sq")
    return ", ".join(f"{name} {shown(columns[name])}" for name in names)
