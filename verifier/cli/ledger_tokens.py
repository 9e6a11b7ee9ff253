"""`verifier ledger token new|list|revoke`: who may append through `verifier serve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verifier.cli.options import beside, ledger_option
from verifier.cli.output import Output, with_output
from verifier.model.printable import printable

if TYPE_CHECKING:
    from verifier.web.tokens import Token, TokenStore

SCOPES = ("append", "adjudicate", "administer")
tokens_option = click.option("--tokens", metavar="FOLDER", help="The tokens; by default beside the ledger.")


def token_store(tokens: str | None, ledger: Path) -> TokenStore:
    """The tokens in a folder, by default beside the ledger at this path."""
    from verifier.web.tokens import TokenStore

    return TokenStore(Path(tokens) if tokens else beside(ledger, "tokens"))


def _store_of(tokens: str | None, ledger_url: str) -> TokenStore:
    from verifier.ledger import ledger_path

    return token_store(tokens, ledger_path(ledger_url))


@click.group()
def token() -> None:
    """Who may write through the API: tokens, kept as hashes beside the ledger."""


@token.command()
@click.option("--name", required=True, metavar="NAME", help="The holder's pseudonym: what it appends stands under it.")
@click.option("--group", default="", metavar="TEAM", help="The pseudonym of the holder's team.")
@click.option("--scope", "scopes", type=click.Choice(SCOPES), multiple=True, required=True, help="What it allows.")
@click.option("--days", type=click.IntRange(1, 3650), help="After how many days it ends.")
@tokens_option
@ledger_option
@with_output
def new(
    output: Output,
    name: str,
    group: str,
    scopes: tuple[str, ...],
    days: int | None,
    tokens: str | None,
    ledger_url: str,
) -> None:
    """Make a token and show it, once: only its hash is kept."""
    from verifier.web.tokens import Scope

    store = _store_of(tokens, ledger_url)
    text, made = store.new(name=name, group=group, scopes=[Scope(scope) for scope in scopes], days=days)
    output.show(text)
    output.result(
        "verifier/ledger-token/1",
        f"The token {made.id} allows {_allows(made)}{f' until {made.expires}' if made.expires else ''}; it is shown "
        f"this once, and its hash stands in {store.folder}.",
        token=text,
        **_fields(made),
    )


@token.command(name="list")
@tokens_option
@ledger_option
@with_output
def list_(output: Output, tokens: str | None, ledger_url: str) -> None:
    """List the tokens ever made."""
    from verifier.ledger.times import system_now, time_text

    found = _store_of(tokens, ledger_url).all()
    now = time_text(system_now())
    for one in found:
        state = "valid" if one.valid(now) else "revoked" if one.revoked else "ended"
        output.show(f"{one.id}  {state:<8}{_allows(one)}  {printable(one.name)}  {printable(one.group)}")
    valid = sum(one.valid(now) for one in found)
    output.result(
        "verifier/ledger-tokens/1",
        f"{len(found)} tokens, {valid} of them valid.",
        tokens=[_fields(one) for one in found],
        valid=valid,
    )


@token.command()
@click.argument("id_", metavar="ID")
@tokens_option
@ledger_option
@with_output
def revoke(output: Output, id_: str, tokens: str | None, ledger_url: str) -> None:
    """End the token ID at once, also in a server that runs."""
    ended = _store_of(tokens, ledger_url).revoke(id_)
    output.result("verifier/ledger-token/1", f"The token {ended.id} was revoked at {ended.revoked}.", **_fields(ended))


def _allows(one: Token) -> str:
    return ", ".join(one.scopes)


def _fields(one: Token) -> dict[str, Any]:
    return {
        "id": one.id,
        "scopes": list(one.scopes),
        "made": one.made,
        "expires": one.expires or None,
        "revoked": one.revoked or None,
        "quoted": {"name": one.name, "group": one.group},
    }
