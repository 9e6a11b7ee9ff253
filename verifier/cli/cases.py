"""`verifier register` and `verifier status`: fix a case's rule; see where it stands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verifier.cli.options import (
    beside,
    command_line,
    executor_option,
    exploratory_options,
    ledger_command,
    ledger_option,
    ledger_outside,
    trust_option,
    written_outside,
)
from verifier.cli.output import Output, with_output
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from verifier.casefile import Case
    from verifier.engine.targets import Targets
    from verifier.ledger import Entry, Ledger
    from verifier.model.results import RegistrationRecord


@click.command()
@click.argument("case")
@ledger_option
@executor_option
@exploratory_options
@click.option(
    "--manifest",
    "manifest_name",
    metavar="FILE",
    help="Write the manifest there, not beside the ledger: every unit of every probe with its stream.",
)
@trust_option
@with_output
def register(
    output: Output,
    case: str,
    ledger_url: str,
    executor_name: str,
    scale: tuple[str, ...],
    set_: tuple[str, ...],
    manifest_name: str | None,
    trust: bool,
) -> None:
    """Fix the rule, scales, thresholds and code of CASE in the ledger, before any data.

    The manifest says what to run elsewhere for `verifier ingest`: one JSON object a line, one for each sweep
    and each replication that has a target.
    """
    from verifier.casefile import load, override
    from verifier.cli.trust import ensure_trusted
    from verifier.engine import check_targets
    from verifier.engine import register as register_case
    from verifier.ledger import Ledger, ledger_path
    from verifier.sweeps.executors import open_executor

    loaded = override(load(case), scale=scale, set_=set_)
    executor = open_executor(executor_name)
    ledger_outside([loaded], ledger_path(ledger_url))
    if manifest_name is not None:
        if not _draws_units(loaded):
            raise BadInput(
                "no probe of this case has units that can be run elsewhere, so it has no manifest",
                where=str(loaded.folder),
                mend="leave --manifest out",
            )
        written_outside(loaded, Path(manifest_name), option="--manifest")
    ensure_trusted(loaded, trust=trust)
    try:
        targets = check_targets(loaded, executor=executor)
    finally:
        executor.close()
    with Ledger.open(ledger_url, create=True) as ledger:
        registration = register_case(loaded, ledger)
        size, root = ledger.size, ledger.root
    written = _write_manifests(loaded, targets, ledger.path, manifest_name)
    how = "was already registered" if registration.found else "is registered"
    sentence = (
        f"{loaded.name} {how} as {loaded.registration[:12]}, registration {registration.ordinal} of this claim and "
        f"dispute, on {registration.entry.time}; its E-values are multiplied by {registration.discount:.4f}."
    )
    if written is not None:
        sentence += f" Its manifest is {written}."
    output.result(
        "verifier/register/1",
        sentence,
        next_=[command_line("run", loaded, ledger_url)],
        registration=loaded.registration,
        leaf=registration.entry.leaf,
        time=registration.entry.time,
        ordinal=registration.ordinal,
        discount=registration.discount,
        found=registration.found,
        exploratory=loaded.exploratory,
        ledger={"size": size, "root": root},
        manifest=written,
    )


def _draws_units(case: Case) -> bool:
    """Whether a probe has units that can be run elsewhere: as `unit_probes` finds them."""
    return bool(case.sweeps) or any(probe.target for probe in case.replications)


def _write_manifests(case: Case, targets: Targets, ledger: Path, name: str | None) -> str | None:
    """Writes the manifests of the case's probes that draw units and says where; None where it has none."""
    from verifier.engine.layout import layout_of, unit_probes
    from verifier.engine.manifest import manifest, manifest_lines
    from verifier.report.files import write_whole

    if not _draws_units(case):
        return None
    path = Path(name) if name else beside(ledger, "manifests") / f"{case.name}-{case.registration[:12]}.json"
    content = manifest_lines(manifest(case, layout_of(case, probe, targets)) for probe in unit_probes(case))
    mend = "the case is registered; free space or choose another place with --manifest, and repeat the command"
    write_whole({path: content}, what="the manifest", mend=mend)
    return str(path)


@click.command()
@click.argument("case")
@ledger_option
@with_output
def status(output: Output, case: str, ledger_url: str) -> None:
    """Where CASE stands in the ledger: its registrations, how each ended, and the standing ruling."""
    from verifier.casefile import load
    from verifier.engine import history, standing_ruling
    from verifier.ledger import Ledger

    loaded = load(case)
    records: tuple[RegistrationRecord, ...] = ()
    standing, outside = None, False
    with Ledger.open(ledger_url, create=True) as ledger:
        if ledger.exists():
            records = history(loaded, ledger.entries)
            standing = standing_ruling(loaded, ledger.entries)
            outside = standing is not None and _measured_elsewhere(standing, ledger)
    current = next((n for n, record in enumerate(records, 1) if record.registration == loaded.registration), None)
    fields: dict[str, Any] = {
        "registration": loaded.registration,
        "registered": current is not None,
        "ordinal": current,
        "registrations": [
            {
                "registration": record.registration,
                "leaf": record.leaf,
                "time": record.time,
                "exploratory": record.exploratory,
                "changed": list(record.changed),
                "ended": record.ended,
            }
            for record in records
        ],
        "state": "ruled" if standing else "open" if records else "unregistered",
        "standing": standing
        and {
            "leaf": standing.leaf,
            "time": standing.time,
            "measured_elsewhere": outside,
            **_ruling_fields(standing.content),
        },
    }
    if records:
        output.show(_history_table(records))
    output.result(
        "verifier/status/1",
        _sentence(loaded, records, standing, outside=outside),
        next_=_next(loaded, current, ledger_url),
        **fields,
    )


def _ruling_fields(content: dict[str, Any]) -> dict[str, Any]:
    return {name: content[name] for name in ("ruling", "reason", "parts", "verdict", "because")}


def _measured_elsewhere(ruling: Entry, ledger: Ledger) -> bool:
    """Whether evidence that the ruling rests on is of runs that were measured elsewhere."""
    evidence = ledger.entries("evidence", registration=ruling.content["registration"])
    return any("ingested" in entry.content for entry in evidence if entry.leaf in ruling.refs)


def _sentence(case: Case, records: tuple[RegistrationRecord, ...], standing: Any, *, outside: bool) -> str:
    from verifier.model.rulings import ruling_words

    if not records:
        return f"{case.name}: nothing is registered in this ledger."
    if standing is None:
        return f"{case.name}: {len(records)} registered, no ruling stands."
    ruling = ruling_words(standing.content["ruling"])
    where = " (measured elsewhere)" if outside else ""
    return f"{case.name}: {ruling}{where}, ruled on {standing.time}; {len(records)} registered."


def _next(case: Case, current: int | None, ledger_url: str) -> list[str]:
    if current is None:
        return [command_line("plan", case, ledger_url), command_line("run", case, ledger_url)]
    return [command_line("run", case, ledger_url), ledger_command("log", ledger_url)]


def _history_table(records: tuple[RegistrationRecord, ...]) -> Any:
    from rich.table import Table

    from verifier.model.rulings import ruling_words

    table = Table("registration", "time", "changed", "ended", box=None)
    for number, record in enumerate(records, 1):
        kind = " (exploratory)" if record.exploratory else ""
        changed = ", ".join(record.changed) or "–"
        table.add_row(f"{number}: {record.registration[:12]}{kind}", record.time, changed, ruling_words(record.ended))
    return table
