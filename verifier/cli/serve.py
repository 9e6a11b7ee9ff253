"""`verifier serve`: the ledger over HTTP."""

from __future__ import annotations

import ipaddress
import sys
from pathlib import Path

import click

from verifier.cli.ledger_tokens import token_store, tokens_option
from verifier.cli.options import beside, ledger_option, seconds_of
from verifier.cli.output import Output, with_output
from verifier.model.errors import BadInput


@click.command()
@click.option("--api-only", is_flag=True, help="The API, without the docket in a browser.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="0 takes any free one.")
@click.option("--checkpoints", metavar="FOLDER", help="Signed checkpoints; by default beside the ledger.")
@click.option(
    "--rate", type=click.IntRange(1, 1_000_000), default=600, show_default=True, help="Requests a minute and address."
)
@click.option("--request-time", default="30s", show_default=True, metavar="TIME", help="The most one request may take.")
@tokens_option
@ledger_option
@with_output
def serve(
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
            tokens=token_store(tokens, book.path),
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
