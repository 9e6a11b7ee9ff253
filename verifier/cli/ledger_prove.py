"""`verifier ledger prove`: a proof bundle that anybody checks offline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verifier.cli.options import ledger_command, ledger_option
from verifier.cli.output import Output, with_output
from verifier.cli.signing import checkpoints_folder
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from verifier.ledger import Ledger


@click.command()
@click.argument("which", metavar="N|LEAF")
@click.option("--checkpoint", "checkpoint_file", metavar="FILE", help="Prove under this one, not the newest kept.")
@click.option("--out", "out_name", metavar="FILE.json", required=True, help="Where the bundle goes.")
@ledger_option
@with_output
def prove(output: Output, which: str, checkpoint_file: str | None, out_name: str, ledger_url: str) -> None:
    """Write one entry, what it refers to, and the proof that a signed checkpoint covers them."""
    from verifier.ledger import Ledger, bundle_checker
    from verifier.ledger.bundle import SAYS, make_bundle
    from verifier.ledger.checkpoints import parse_checkpoint
    from verifier.ledger.kept import read_note_file
    from verifier.ledger.notes import parse_note
    from verifier.report.files import write_whole

    with Ledger.open(ledger_url, create=False) as book:
        path = Path(checkpoint_file) if checkpoint_file else _newest(book)
        note = parse_note(read_note_file(path), where=str(path))
        stated = parse_checkpoint(note.text, where=str(path))
        entry = book.entry(int(which) if which.isdecimal() and int(which[:12]) <= book.size else which)
        bundle = make_bundle(entry=entry, find=book.entry, tree=book.tree(), checkpoint=stated, note=note)
    out = Path(out_name)
    data = json.dumps(bundle, ensure_ascii=False, sort_keys=True, indent=1).encode() + b"\n"
    write_whole({out: data}, what="the bundle", mend="free space, or choose another place with --out")
    checker = Path(bundle_checker.__file__)
    output.result(
        "verifier/ledger-prove/1",
        f"{out} holds entry {entry.n} and {len(bundle['entries']) - 1} entries it refers to, under the checkpoint of "
        f"{stated.size} entries. {SAYS}",
        next_=[ledger_command("show", ledger_url, str(entry.n))],
        file=str(out),
        n=entry.n,
        leaf=entry.leaf,
        entries=[one["n"] for one in bundle["entries"]],
        size=stated.size,
        root=stated.root.hex(),
        checker=str(checker),
    )


def _newest(book: Ledger) -> Path:
    from verifier.ledger.kept import kept_checkpoints

    found = kept_checkpoints(checkpoints_folder(book))
    if not found:
        raise BadInput(
            "no checkpoint of this ledger is kept beside it",
            where="--checkpoint",
            mend="make one with `verifier ledger checkpoint`, or name one",
        )
    return found[0]
