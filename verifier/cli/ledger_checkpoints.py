"""`verifier ledger checkpoint|witness`: signing the head, and cosigning what somebody else signed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from verifier.cli.options import ledger_command, ledger_option
from verifier.cli.output import Output, with_output

if TYPE_CHECKING:
    from verifier.ledger.notes import Note


@click.command()
@click.option("--sign", "key_file", metavar="KEYFILE", required=True, help="The log's private key.")
@click.option("--out", "out_name", metavar="FILE", help="Write it there, not into the folder beside the ledger.")
@ledger_option
@with_output
def checkpoint(output: Output, key_file: str, out_name: str | None, ledger_url: str) -> None:
    """Sign size and root of the ledger, after recomputing all of it, and show the note to hand on."""
    from verifier.cli.signing import sign_head
    from verifier.ledger import Ledger
    from verifier.ledger.checkpoints import parse_checkpoint
    from verifier.ledger.keys import load_private

    private = load_private(key_file)
    with Ledger.open(ledger_url, create=False) as book:
        path, note = sign_head(book, private, Path(out_name) if out_name else None)
    stated = parse_checkpoint(note.text, where=str(path))
    _show(output, note)
    output.result(
        "verifier/ledger-checkpoint/1",
        f"The checkpoint of {stated.size} entries is signed by {private.name} and stands in {path}; keep a copy where "
        "the ledger's keeper cannot write, and have it cosigned.",
        next_=[ledger_command("verify", ledger_url, "--key", private.public.vkey, "--checkpoint", str(path))],
        file=str(path),
        size=stated.size,
        root=stated.root.hex(),
        vkey=private.public.vkey,
        checkpoint=str(note),
    )


def _show(output: Output, note: Note) -> None:
    for line in str(note)[:-1].split("\n"):
        output.show(line)


@click.command()
@click.argument("checkpoint_file", metavar="CHECKPOINT")
@click.option("--sign", "key_file", metavar="KEYFILE", required=True, help="The witness's private key.")
@click.option("--key", "vkey", metavar="VKEY", required=True, help="The log's verifier key, from outside.")
@click.option("--seen", "seen_name", metavar="FILE", help="Where the witness keeps what it cosigned last.")
@click.option("--first", is_flag=True, help="This witness never saw this log before.")
@ledger_option
@with_output
def witness(
    output: Output,
    checkpoint_file: str,
    key_file: str,
    vkey: str,
    seen_name: str | None,
    first: bool,
    ledger_url: str,
) -> None:
    """Cosign CHECKPOINT, once the ledger proves that it continues the one cosigned last."""
    from verifier.cli.signing import cosign_file
    from verifier.ledger import Ledger
    from verifier.ledger.keys import load_private, parse_vkey

    private, log = load_private(key_file), parse_vkey(vkey)
    path, own = Path(checkpoint_file), Path(f"{key_file}.seen")
    seen = Path(seen_name) if seen_name else own
    with Ledger.open(ledger_url, create=False) as book:
        note, is_first = cosign_file(book, path, private=private, log=log, seen=seen, first=first, own=own)
    _show(output, note)
    output.result(
        "verifier/ledger-witness/1",
        f"{private.name} has cosigned the checkpoint of {note.text.splitlines()[1]} entries of {log.name}"
        f"{', the first it saw' if is_first else ', which continues the one it cosigned last'}.",
        next_=[
            ledger_command(
                "verify", ledger_url, "--key", log.vkey, "--checkpoint", str(path), "--witness", private.public.vkey
            )
        ],
        file=str(path),
        seen=str(seen),
        size=int(note.text.splitlines()[1]),
        vkey=private.public.vkey,
        checkpoint=str(note),
    )
