"""`verifier ingest`: rule on runs that were made elsewhere, under a registration of this ledger."""

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
)
from verifier.cli.output import Output, with_output
from verifier.model.errors import BadInput, Exit
from verifier.model.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verifier.casefile import Case
    from verifier.engine.ingest import File
    from verifier.engine.ingested_runs import IngestedRuns
    from verifier.model.results import CaseResult

MOST_MANIFEST = 256 << 20  # bytes; what a registration's own needs is checked by the reader
_SHOWN = 10


def probe_option(command: Any) -> Any:
    """`--probe`: the one probe whose runs are meant."""
    return click.option("--probe", "probe_name", metavar="NAME", help="The table holds runs of this probe alone.")(
        command
    )


@click.command()
@click.argument("case")
@click.argument("runs", metavar="RUNS.csv")
@click.option("--manifest", "manifest_name", metavar="FILE", help="The manifest the runs were made by, to be compared.")
@probe_option
@click.option("--no-rerun", is_flag=True, help="Repeat none of the units here; the runs count as reported only.")
@ledger_option
@executor_option
@exploratory_options
@trust_option
@with_output
def ingest(
    output: Output,
    case: str,
    runs: str,
    manifest_name: str | None,
    probe_name: str | None,
    no_rerun: bool,
    ledger_url: str,
    executor_name: str,
    scale: tuple[str, ...],
    set_: tuple[str, ...],
    trust: bool,
) -> None:
    """Rule on RUNS.csv, runs of CASE made elsewhere after `verifier register CASE`.

    Controls are run here, three of each probe's units again, and probes of which the table holds no runs.
    docs/runs-elsewhere.md says what the table holds.
    """
    from verifier.casefile import load, override
    from verifier.cli.progress import SweepProgress
    from verifier.cli.trust import ensure_trusted
    from verifier.engine.ingest import ingest as ingest_runs
    from verifier.ledger import Ledger, ledger_path
    from verifier.report import write_certificates, write_report
    from verifier.stats.csv_columns import MOST_BYTES
    from verifier.sweeps.executors import open_executor
    from verifier.sweeps.store import UnitStore

    loaded = override(load(case), scale=scale, set_=set_)
    table = _read(runs, MOST_BYTES, "name a CSV file")
    manifest = None if manifest_name is None else _read(manifest_name, MOST_MANIFEST, "name a manifest")
    ledger_outside([loaded], ledger_path(ledger_url))
    ensure_trusted(loaded, trust=trust)
    flags = [] if manifest_name is None else ["--manifest", manifest_name]
    executor = open_executor(executor_name)
    try:
        with Ledger.open(ledger_url, create=False) as ledger, SweepProgress() as progress:
            store = UnitStore(beside(ledger.path, "units.db"))
            try:
                result, ingested = ingest_runs(
                    loaded,
                    runs=table,
                    manifest_file=manifest,
                    probe_name=probe_name,
                    ledger=ledger,
                    store=store,
                    executor=executor,
                    progress=progress,
                    command=command_line("ingest", loaded, ledger_url, runs, *flags),
                    rerun=not no_rerun,
                )
            finally:
                store.close()
            path = beside(ledger.path, "reports") / f"{loaded.name}-{loaded.registration[:12]}.ingested.html"
            write_report(result, path)
            certificates = write_certificates(result, path)
    finally:
        executor.close()
    _say(output, result, ingested, path, certificates, ledger_url, loaded)


def _read(name: str, most: int, mend: str) -> File:
    """A file from outside, up to one byte more than may be read. Raises BadInput where it cannot be read."""
    from verifier.engine.ingest import File

    try:
        with Path(name).open("rb") as file:
            return File(name, file.read(most + 1))
    except OSError as error:
        reason = (error.strerror or "it fails").lower()
        raise BadInput(f"the file cannot be read: {reason}", where=name, mend=mend) from None


def _say(
    output: Output,
    result: CaseResult,
    ingested: Sequence[IngestedRuns],
    path: Path,
    certificates: dict[str, str],
    ledger_url: str,
    case: Case,
) -> None:
    from verifier.cli.output import print_json
    from verifier.model.rulings import Ruling
    from verifier.report import run_document, summary

    lead = "; ".join(result.elsewhere)
    if output.json:
        document = run_document(result, report=str(path), certificates=certificates)
        document["sentence"] = f"{lead}; {document['sentence']}"
        document["next"] = [
            command_line("status", case, ledger_url),
            ledger_command("verify", ledger_url, "--root", result.ledger.root),
        ]
        said = [one.document() for one in ingested]
        print_json({**document, "ingested": said[0] if len(said) == 1 else said})
    else:
        head, *rest = summary(result, path, certificates)
        output.show(head)
        for line in [line for one in ingested for line in _missing_lines(one)]:
            output.show(line)
        output.show(*rest)
    if result.ruling.ruling is Ruling.NO_ANSWER:
        output.exit_code = Exit.NO_ANSWER


def _missing_lines(ingested: IngestedRuns) -> list[str]:
    """The first missing cells, with their reasons."""
    lines = [f"missing: {cell.words}: {printable(cell.reason)}" for cell in ingested.missing[:_SHOWN]]
    rest = ingested.missing_cells - len(lines)
    return [*lines, f"missing: {rest} more cells"] if rest else lines
