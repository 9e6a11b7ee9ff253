"""`verifier ledger`: reading the append-only record, recomputing it, handing out its runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from verifier.cli.ledger_checkpoints import checkpoint, witness
from verifier.cli.ledger_keys import keygen
from verifier.cli.ledger_people import admit, rotate
from verifier.cli.ledger_prove import prove
from verifier.cli.ledger_public import export_public
from verifier.cli.ledger_store import export_entries, import_, rebuild
from verifier.cli.ledger_tokens import token
from verifier.cli.ledger_words import what_it_says
from verifier.cli.options import (
    beside,
    command_line,
    exploratory_options,
    ledger_command,
    ledger_option,
    written_outside,
)
from verifier.cli.output import Output, with_output
from verifier.model.errors import BadInput
from verifier.model.printable import printable

if TYPE_CHECKING:
    from pathlib import Path

    from verifier.engine.export_runs import ExportedProbe, ExportedRuns
    from verifier.ledger import Entry, Ledger
    from verifier.ledger.checkpoints import Trusted


@click.group()
def ledger() -> None:
    """Read and verify the append-only record."""


ledger.add_command(keygen)
ledger.add_command(checkpoint)
ledger.add_command(witness)
ledger.add_command(prove)
ledger.add_command(import_)
ledger.add_command(rebuild)
ledger.add_command(admit)
ledger.add_command(rotate)
ledger.add_command(token)


def _open(ledger_url: str) -> Ledger:
    from verifier.ledger import Ledger

    return Ledger.open(ledger_url, create=False)


@ledger.command()
@ledger_option
@with_output
def log(output: Output, ledger_url: str) -> None:
    """List the entries, newest last."""
    with _open(ledger_url) as book:
        output.show(f"{'entry':>6}  {'time':<20}  {'kind':<12}  {'leaf':<12}  {'registration':<12}  says")
        outside = frozenset(entry.leaf for entry in book.entries("evidence") if "ingested" in entry.content)
        for entry in book.entries():
            says = what_it_says(entry, elsewhere=outside)
            if output.json:
                output.result(
                    "verifier/ledger-log/1",
                    f"Entry {entry.n} of {entry.time} is of kind {entry.kind}.",
                    next_=[ledger_command("show", ledger_url, str(entry.n))],
                    n=entry.n,
                    time=entry.time,
                    kind=entry.kind,
                    leaf=entry.leaf,
                    registration=entry.registration,
                    refs=list(entry.refs),
                    supersedes=entry.supersedes,
                    quoted={"says": says, "by": entry.by, "group": entry.group},
                )
            else:
                registration = (entry.registration or "–")[:12]
                output.show(
                    f"{entry.n:>6}  {entry.time}  {entry.kind:<12}  {entry.leaf[:12]}  {registration:<12}  "
                    f"{printable(says)}"
                )


@ledger.command()
@click.argument("which", metavar="N|LEAF")
@ledger_option
@with_output
def show(output: Output, which: str, ledger_url: str) -> None:
    """Show one entry: by its number, or by the first digits of its leaf hash."""
    with _open(ledger_url) as book:
        entry = book.entry(int(which) if which.isdecimal() and int(which[:12]) <= book.size else which)
        notes = book.notes(entry.n)
    sentence = f"Entry {entry.n} of {entry.time} is of kind {entry.kind}; its bytes match its leaf hash {entry.leaf}."
    if not output.json:
        _show_entry(output, entry, notes)
    output.result(
        "verifier/ledger-entry/1",
        sentence,
        next_=[ledger_command("verify", ledger_url)],
        n=entry.n,
        leaf=entry.leaf,
        root=entry.root,
        kind=entry.kind,
        time=entry.time,
        refs=list(entry.refs),
        supersedes=entry.supersedes,
        registration=entry.registration,
        content_commitment=entry.content_commitment,
        salt=entry.salt.hex(),
        quoted={
            "by": entry.by,
            "group": entry.group,
            "envelope": entry.envelope_bytes.decode(),
            "stored_content": entry.content_bytes.decode(),
            "content": entry.content,
            "texts": [
                {"pointer": text.pointer, "commitment": text.commitment, "salt": text.salt.hex(), "text": text.text}
                for text in entry.texts
            ],
            "notes": notes,
        },
    )


def _show_entry(output: Output, entry: Entry, notes: list[dict[str, Any]]) -> None:
    rows = {
        "entry": str(entry.n),
        "leaf": entry.leaf,
        "kind": entry.kind,
        "time": entry.time,
        "by": entry.by,
        "group": entry.group or "–",
        "supersedes": entry.supersedes or "–",
        "commitment": entry.content_commitment,
        "salt": entry.salt.hex(),
        "root here": entry.root,
    }
    for name, value in rows.items():
        output.show(f"{name:<12}{printable(value)}")
    for ref in entry.refs:
        output.show(f"{'refers to':<12}{ref}")
    output.show("content")
    _show_json(output, entry.content)
    for text in entry.texts:
        output.show(f"{'text':<12}{printable(text.pointer)}  commitment {text.commitment}  salt {text.salt.hex()}")
    for note in notes:
        output.show("note (never hashed)")
        _show_json(output, note)


def _show_json(output: Output, value: Mapping[str, Any]) -> None:
    for line in json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True).split("\n"):
        output.show(f"  {printable(line)}")


@ledger.command()
@click.option("--root", metavar="HEX", help="A root noted elsewhere, at this or an earlier size.")
@click.option("--key", "vkey", metavar="VKEY", help="The log's verifier key, from outside.")
@click.option("--checkpoint", "files", metavar="FILE", multiple=True, help="A checkpoint kept outside; with --key.")
@click.option("--witness", "witnesses", metavar="VKEY", multiple=True, help="Every checkpoint bears its cosignature.")
@ledger_option
@with_output
def verify(
    output: Output,
    root: str | None,
    vkey: str | None,
    files: tuple[str, ...],
    witnesses: tuple[str, ...],
    ledger_url: str,
) -> None:
    """Recompute every hash from the stored bytes."""
    from verifier.ledger.proofs import anchors_of

    if root is not None and files:
        raise BadInput("a root and a checkpoint are given", where="--root, --checkpoint", mend="give one of them")
    with _open(ledger_url) as book:
        trusted = _trusted(book, vkey, files, witnesses)
        found = book.verify(root, anchors=anchors_of(trusted))
        witnessed = _witnessed(book, trusted) if witnesses else None
    output.result(
        "verifier/ledger-verify/1",
        (found.sentence_by(_voucher(trusted)) if trusted else found.sentence) + _witnessed_words(witnessed),
        next_=[ledger_command("log", ledger_url)],
        size=found.size,
        root=found.root,
        reproducible=found.reproducible,
        first_time=found.first,
        last_time=found.last,
        vouched=found.vouched,
        checkpoints=[
            {
                "size": one.checkpoint.size,
                "root": one.checkpoint.root.hex(),
                "cosigned": [{"witness": by.witness.vkey, "second": by.second} for by in one.cosigned],
            }
            for one in trusted
        ],
        witnessed=witnessed,
    )


def _witnessed(book: Ledger, trusted: Sequence[Trusted]) -> dict[str, bool]:
    """Registration -> whether every witness asked for cosigned a checkpoint between it and its first evidence."""
    from verifier.ledger.witness import registrations_witnessed

    cosigned = [(one.checkpoint.size, max(by.second for by in one.cosigned)) for one in trusted]
    return registrations_witnessed(book.entries(), cosigned)


def _witnessed_words(found: Mapping[str, bool] | None) -> str:
    if not found:
        return ""
    seen = sum(found.values())
    return (
        f" Of the registrations with evidence {seen} {'is' if seen == 1 else 'are'} witnessed, {len(found) - seen} not."
    )


def _trusted(book: Ledger, vkey: str | None, files: Sequence[str], witnesses: Sequence[str]) -> list[Trusted]:
    """The checkpoints, by rising size, once log and witnesses are found to have signed each."""
    from pathlib import Path

    from verifier.ledger.kept import read_note_file
    from verifier.ledger.keys import parse_vkey
    from verifier.ledger.log_keys import log_keys, open_checkpoints

    if vkey is None and not files and not witnesses:
        return []
    if vkey is None or not files:
        raise BadInput("trust needs both a key and a checkpoint", where="--key, --checkpoint", mend="give both")
    key = parse_vkey(vkey)
    cosigners = [parse_vkey(one, where="--witness") for one in witnesses]
    notes = [(one, read_note_file(Path(one))) for one in files]
    return open_checkpoints(notes, key=key, keys=log_keys(book.entries("key"), key), witnesses=cosigners)


def _voucher(trusted: Sequence[Trusted]) -> str:
    """What vouches, by name: the newest checkpoint, whose log signed it and who saw it."""
    newest = trusted[-1]
    names = " and ".join(one.witness.name for one in newest.cosigned)
    return (
        f"checkpoint signed by {newest.checkpoint.origin}{f' and cosigned by {names}' if names else ', not witnessed,'}"
    )


@ledger.command()
@click.argument("case", required=False)
@click.option("--runs", is_flag=True, help="The units' numbers of CASE, as the table that `ingest` reads.")
@click.option(
    "--public", is_flag=True, help="JSON lines as everybody may have them: public disputes, else leaf hashes."
)
@click.option("--probe", "probe_name", metavar="NAME", help="The runs of this probe alone.")
@click.option("--out", "out_name", metavar="FILE", help="Write there; a table goes beside the ledger where left out.")
@ledger_option
@exploratory_options
@with_output
def export(
    output: Output,
    case: str | None,
    runs: bool,
    public: bool,
    probe_name: str | None,
    out_name: str | None,
    ledger_url: str,
    scale: tuple[str, ...],
    set_: tuple[str, ...],
) -> None:
    """Write every entry as JSON lines, or what everybody may have, or the runs of CASE. Nothing is run."""
    from pathlib import Path

    from verifier.casefile import load, override
    from verifier.engine.export_runs import export_runs
    from verifier.report.files import write_whole
    from verifier.sweeps.store import UnitStore

    if public and not (runs or case or probe_name or scale or set_):
        export_public(output, ledger_url=ledger_url, out_name=out_name)
        return
    if not (public or runs or case or probe_name or scale or set_):
        export_entries(output, ledger_url=ledger_url, out_name=out_name)
        return
    if public or not runs or case is None:
        raise BadInput(
            "what to export is not said",
            where="ledger export",
            mend="give CASE --runs, or --public, or nothing but --out for every entry",
        )
    loaded = override(load(case), scale=scale, set_=set_)
    with _open(ledger_url) as book:
        store = UnitStore(beside(book.path, "units.db"))
        try:
            exported = export_runs(loaded, probe_name=probe_name, ledger=book, store=store)
        finally:
            store.close()
        name = f"{loaded.name}-{loaded.registration[:12]}.{exported.name}.csv"
        path = Path(out_name) if out_name else beside(book.path, "runs") / name
    written_outside(loaded, path, option="--out")
    replaced = _replaces(path, exported)
    write_whole({path: exported.table}, what="the table", mend="free space, or choose another place with --out")
    output.result(
        "verifier/ledger-export/1",
        _exported_sentence(exported, path, replaced=replaced),
        next_=[command_line("ingest", loaded, ledger_url, str(path))],
        file=str(path),
        replaced=replaced,
        registration=loaded.registration,
        probe=exported.probes[0].probe if len(exported.probes) == 1 else None,
        rows=sum(one.rows for one in exported.probes),
        vouched=sum(one.vouched for one in exported.probes),
        ingested=any(one.ingested for one in exported.probes),
        probes=[one._asdict() for one in exported.probes],
    )


def _replaces(path: Path, exported: ExportedRuns) -> bool:
    """Whether an earlier export of these runs stands at `path`. Raises BadInput where anything else does."""
    from verifier.engine.export_runs import is_earlier_export
    from verifier.model.errors import BadInput
    from verifier.stats.csv_columns import MOST_BYTES

    if not path.exists():
        return False
    try:
        with path.open("rb") as file:
            before = file.read(MOST_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or "it cannot be read").lower()
        raise BadInput(f"the table cannot be written here: {reason}", where=str(path), mend="name a file") from None
    if not is_earlier_export(before, exported.table):
        raise BadInput(
            "a file with other lines than this export has stands here, and is left as it is",
            where=str(path),
            mend="name another file with --out, or move this one away",
        )
    return True


def _exported_sentence(exported: ExportedRuns, path: Path, *, replaced: bool) -> str:
    written = "written in place of an earlier export to" if replaced else "written to"
    return f"{'; '.join(map(_exported_words, exported.probes))}: {written} {path}."


def _exported_words(one: ExportedProbe) -> str:
    units = f"{one.units} units of the probe {one.probe}"
    if one.ingested:
        return f"{units}, as they were last ingested"
    if not one.vouched:
        return (
            f"{units}, drawn here by a run that did not end, or by a control, which were compared with nothing, for "
            "no evidence in the ledger rests on them"
        )
    return f"{units}, of which the ledger recorded {one.vouched}"
