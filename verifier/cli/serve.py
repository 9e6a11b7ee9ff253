"""`verifier serve`: the ledger over HTTP; `serve token`: who may write to it."""

from __future__ import annotations

import ipaddress
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verifier.cli.options import beside, ledger_option, seconds_of
from verifier.cli.output import Output, with_output
from verifier.model.errors import BadInput
from verifier.model.printable import printable

if TYPE_CHECKING:
    from verifier.web.tokens import Token, TokenStore

SCOPES = ("append", "adjudicate", "administer")
_tokens_option = click.option("--tokens", metavar="FOLDER", help="The tokens; by default beside the ledger.")


@click.group(invoke_without_command=True)
@click.option("--api-only", is_flag=True, help="The API, without the docket in a browser.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="0 takes any free one.")
@click.option("--checkpoints", metavar="FOLDER", help="Signed checkpoints; by default beside the ledger.")
@click.option(
    "--rate", type=click.IntRange(1, 1_000_000), default=600, show_default=True, help="Requests a minute and address."
)
@click.option("--request-time", default="30s", show_default=True, metavar="TIME", help="The most one request may take.")
@_tokens_option
@ledger_option
@with_output
@click.pass_context
def serve(
    context: click.Context,
    output: Output,
    api_only: bool,
    host: str,
    port: int,
    checkpoints: str | None,
    rate: int,
    request_time: str,
    tokens: str | None,
    ledger_url: str,
) -> None:
    """Serve the ledger over HTTP: to everybody what is public, to holders of a token what it allows."""
    if context.invoked_subcommand is not None:
        return
    if not api_only:
        raise BadInput("this version serves the API alone", where="verifier serve", mend="add --api-only")
    seconds = seconds_of(request_time, option="--request-time")
    assert seconds is not None
    from verifier.ledger import Ledger
    from verifier.web.app import Service, application
    from verifier.web.book import Book
    from verifier.web.limits import RateLimit
    from verifier.web.reads import BASE
    from verifier.web.server import listening
    from verifier.web.server import serve as serve_on

    with Ledger.open(ledger_url, create=False) as book:
        service = Service(
            book=Book(book),
            checkpoints=Path(checkpoints) if checkpoints else beside(book.path, "checkpoints"),
            tokens=_store(tokens, book.path),
            rate=RateLimit(rate),
            body_seconds=min(seconds, 10.0),
        )
        with listening(host, port) as made:
            bound = int(made.getsockname()[1])
            address = f"http://{f'[{host}]' if ':' in host else host}:{bound}{BASE}"
            if not _is_loopback(host):
                sys.stderr.write(
                    "This address may be reached from elsewhere, and tokens travel unencrypted: put a proxy with TLS "
                    "before it.\n"
                )
            output.result(
                "verifier/serve/1",
                f"{book.name} is served at {address} until you interrupt it.",
                address=address,
                port=bound,
                size=book.size,
            )
            sys.stdout.flush()
            serve_on(application(service), made, seconds=seconds)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _store(tokens: str | None, ledger: Path) -> TokenStore:
    from verifier.web.tokens import TokenStore

    return TokenStore(Path(tokens) if tokens else beside(ledger, "tokens"))


def _store_of(tokens: str | None, ledger_url: str) -> TokenStore:
    from verifier.ledger import ledger_path

    return _store(tokens, ledger_path(ledger_url))


@serve.group()
def token() -> None:
    """Who may write through the API: tokens, kept as hashes beside the ledger."""


@token.command()
@click.option("--name", required=True, metavar="NAME", help="The holder's pseudonym: what it appends stands under it.")
@click.option("--group", default="", metavar="TEAM", help="The pseudonym of the holder's team.")
@click.option("--scope", "scopes", type=click.Choice(SCOPES), multiple=True, required=True, help="What it allows.")
@click.option("--days", type=click.IntRange(1, 3650), help="After how many days it ends.")
@_tokens_option
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
        "verifier/serve-token/1",
        f"The token {made.id} allows {_allows(made)}{f' until {made.expires}' if made.expires else ''}; it is shown "
        f"this once, and its hash stands in {store.folder}.",
        token=text,
        **_fields(made),
    )


@token.command(name="list")
@_tokens_option
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
        "verifier/serve-tokens/1",
        f"{len(found)} tokens, {valid} of them valid.",
        tokens=[_fields(one) for one in found],
        valid=valid,
    )


@token.command()
@click.argument("id_", metavar="ID")
@_tokens_option
@ledger_option
@with_output
def revoke(output: Output, id_: str, tokens: str | None, ledger_url: str) -> None:
    """End the token ID at once, also in a server that runs."""
    ended = _store_of(tokens, ledger_url).revoke(id_)
    output.result("verifier/serve-token/1", f"The token {ended.id} was revoked at {ended.revoked}.", **_fields(ended))


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
