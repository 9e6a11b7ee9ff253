"""`verifier ledger keygen`: keys for logs, witnesses and people."""

from __future__ import annotations

from pathlib import Path

import click

from verifier.cli.output import Output, with_output
from verifier.model.errors import BadInput


@click.command()
@click.option("--name", metavar="NAME", help="The key's name, such as example.org/ledger; made up where left out.")
@click.option("--person", is_flag=True, help="For a person who signs entries.")
@click.option("--witness", is_flag=True, help="For a witness who cosigns checkpoints.")
@click.option("--out", "out_name", metavar="FILE", help="Where the private key goes; never overwritten.")
@with_output
def keygen(output: Output, name: str | None, person: bool, witness: bool, out_name: str | None) -> None:
    """Make a key: for a log that signs checkpoints, or for a person or a witness."""
    import secrets

    from verifier.ledger.keys import KeyType, fingerprint, generate, save_private

    if person and witness:
        raise BadInput("a key is a person's or a witness's, not both", where="--person, --witness")
    role = "person" if person else "witness" if witness else "log"
    private = generate(name or f"{role}-{secrets.token_hex(4)}", KeyType.COSIGNATURE if witness else KeyType.NOTE)
    path = Path(out_name or f"verifier-{role}.key")
    save_private(private, path)
    public = private.public
    output.show(f"{'verifier key':<14}{public.vkey}")
    output.show(f"{'fingerprint':<14}{fingerprint(public)}")
    output.result(
        "verifier/ledger-keygen/1",
        f"A new {role}'s key named {public.name} stands in {path}, which only you may read; the verifier key is what "
        "others check its signatures with.",
        next_=[f"verifier ledger checkpoint --sign {path}"] if role == "log" else [],
        file=str(path),
        role=role,
        name=public.name,
        vkey=public.vkey,
        fingerprint=fingerprint(public),
    )
