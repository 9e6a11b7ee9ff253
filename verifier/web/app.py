"""The API as a web application: who asks, whether they may, what they get."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from verifier.model.errors import BadInput, InfrastructureFailed, VerifierError
from verifier.web.answers import Refused, error_document, json_bytes, not_found, status_of
from verifier.web.book import Book
from verifier.web.guard import Guard
from verifier.web.limits import RateLimit
from verifier.web.openapi import description
from verifier.web.operations import READS, Operation
from verifier.web.queries import read_parameters
from verifier.web.reads import BASE, Asked
from verifier.web.tokens import Token, TokenStore
from verifier.web.writes import MAX_BODY, Wanted, read_wanted, write

BODY_SECONDS = 10.0  # for a whole body to arrive
_MAX_HEADER = 200

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What is served: the ledger, the folder of its checkpoints, its tokens, and how often an address may ask."""

    book: Book
    checkpoints: Path
    tokens: TokenStore
    rate: RateLimit
    body_seconds: float = BODY_SECONDS


def application(service: Service) -> Guard:
    """The application to hand to a server that speaks ASGI."""
    routes = [
        Route(one.path, _answered(_reading(service, one)), methods=["GET"]) for one in READS if one.name != "entries"
    ]
    entries = next(one for one in READS if one.name == "entries")
    routes.append(Route(entries.path, _answered(_entries(service, entries)), methods=["GET", "POST"]))
    routes.append(Route(f"{BASE}/openapi.json", _answered(_described), methods=["GET"]))
    app = Starlette(routes=routes, exception_handlers={HTTPException: _no_route})
    app.router.redirect_slashes = False
    return Guard(app, rate=service.rate)


def _answered(endpoint: Endpoint) -> Endpoint:
    """The endpoint with every error as its status and sentence; nothing leaves as a traceback."""

    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except VerifierError as error:
            failure = error
        except Exception as error:  # noqa: BLE001  # the last door: whatever it is, the client gets no traceback
            failure = InfrastructureFailed(f"an internal error ({type(error).__name__})")
            sys.stderr.write(f"{request.method} {request.url.path[:200]}: {type(error).__name__}: {error}\n")
        if status_of(failure) >= 500:
            sys.stderr.write(f"{failure.sentence}\n")
        return failed(failure)

    return answered


def failed(error: VerifierError) -> Response:
    """The response that an error is; the connection ends with it, since a body may still be on its way."""
    headers = {**(error.headers if isinstance(error, Refused) else {}), "Connection": "close"}
    return Response(json_bytes(error_document(error)), status_of(error), headers=headers, media_type="application/json")


async def _no_route(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = dict(error.headers or {})
        return failed(
            Refused(405, "this is not to be done here", mend=f"allowed: {allowed.get('Allow')}", headers=allowed)
        )
    return failed(not_found())


def _reading(service: Service, operation: Operation) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        token = await _holder(service, request)
        given = read_parameters(
            operation.parameters, path=request.path_params, query=request.query_params.multi_items()
        )
        asked = Asked(
            book=service.book,
            checkpoints=service.checkpoints,
            audience="organizer" if token is not None and token.sees_all else "public",
            given=given,
        )
        said = await run_in_threadpool(operation.answer, asked)
        return _tagged(request, said, private=token is not None)

    return endpoint


def _tagged(request: Request, said: dict[str, Any] | str, *, private: bool) -> Response:
    """The answer with its ETag, or 304 where the client has it already."""
    body = said.encode() if isinstance(said, str) else json_bytes(said)
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-store" if private else "no-cache", "Vary": "Authorization"}
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    if known & {tag, "*"}:
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="text/plain" if isinstance(said, str) else "application/json")


async def _described(request: Request) -> Response:
    read_parameters((), path={}, query=request.query_params.multi_items())
    return _tagged(request, description(), private=False)


def _entries(service: Service, operation: Operation) -> Endpoint:
    reading = _reading(service, operation)

    async def endpoint(request: Request) -> Response:
        if request.method != "POST":
            return await reading(request)
        token = await _holder(service, request)
        if token is None:
            raise _unauthorized("writing needs a token")
        read_parameters((), path={}, query=request.query_params.multi_items())
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "the body is not application/json", where="Content-Type")
        wanted = read_wanted(await _body(request, seconds=service.body_seconds))
        return await run_in_threadpool(_written, service, wanted, token)

    return endpoint


def _written(service: Service, wanted: Wanted, token: Token) -> Response:
    with service.book.writing() as ledger:
        entry, found = write(ledger, wanted, token)
    document = {
        "schema": "verifier/api-written/1",
        "ok": True,
        "sentence": f"Entry {entry.n} {'stood there before' if found else 'is on the disk'}.",
        "next": [f"{BASE}/entries/{entry.n}"],
        "n": entry.n,
        "leaf": entry.leaf,
        "found": found,
    }
    headers = {"Location": f"{BASE}/entries/{entry.n}", "Cache-Control": "private, no-store"}
    return Response(json_bytes(document), 200 if found else 201, headers=headers, media_type="application/json")


async def _holder(service: Service, request: Request) -> Token | None:
    """The token that the request bears, None for a request without one. Raises Refused (401) for any other."""
    given = request.headers.getlist("authorization")
    if not given:
        return None
    scheme, _, text = given[0].partition(" ")
    if len(given) > 1 or scheme.lower() != "bearer" or len(given[0]) > _MAX_HEADER:
        raise _unauthorized("this is not one bearer token")
    try:
        token = await run_in_threadpool(service.tokens.holder, text.strip())
    except BadInput as error:  # the server's own files are not in order, which is not the client's to mend
        sys.stderr.write(f"{error.sentence}\n")
        raise InfrastructureFailed("the token cannot be looked up") from error
    if token is None:
        raise _unauthorized("there is no such token, or it ended or was revoked")
    return token


def _unauthorized(what: str) -> Refused:
    return Refused(
        401,
        what,
        where="Authorization",
        mend="an administrator of the server makes one with `verifier ledger token new`",
        headers={"WWW-Authenticate": "Bearer"},
    )


async def _body(request: Request, *, seconds: float) -> bytes:
    """The request's body. Raises Refused where it is too large (413) or too slow (408)."""
    stated = request.headers.get("content-length", "")
    too_large = Refused(413, f"the body has more than {MAX_BODY} bytes", where="body")
    if stated.isdecimal() and (len(stated) > 15 or int(stated) > MAX_BODY):
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise too_large
    except TimeoutError as error:
        raise Refused(408, f"the body did not arrive within {seconds:g} seconds", where="body") from error
    except ClientDisconnect as error:
        raise Refused(400, "the client went away", where="body") from error
    return bytes(body)
