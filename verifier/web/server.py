"""The server: a socket of its own, a time for every request, and an end to clients that take longer."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from verifier.model.errors import BadInput, InfrastructureFailed
from verifier.web.limits import client_of

_CONNECTIONS = 128
_PER_CLIENT = 32  # connections of one address, so that it cannot keep all others out
_HEAD_BYTES = 16_384  # of request line and headers
_IDLE_SECONDS = 5  # between two requests of one connection


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes any free one. Raises BadInput where that cannot be."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        made = socket.socket(family, kind, protocol)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen(_CONNECTIONS)
        except OSError:
            made.close()
            raise
    except (OSError, UnicodeError) as error:
        raise BadInput(
            f"nothing can listen there ({getattr(error, 'strerror', None) or error})",
            where=f"{host}:{port}",
            mend="choose others with --host and --port",
        ) from error
    return made


def serve(app: ASGIApp, made: socket.socket, *, seconds: float) -> None:
    """Serves until SIGINT (KeyboardInterrupt) or SIGTERM. `seconds`: the most one request may take, slow client or not.

    Raises InfrastructureFailed where the server stops by itself.
    """
    config = uvicorn.Config(
        app,
        http=_timed(seconds),
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,  # an address that a client states is not believed
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        h11_max_incomplete_event_size=_HEAD_BYTES,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_IDLE_SECONDS,
    )
    server = uvicorn.Server(config)
    with _ended_by_sigterm() as ended:
        server.run(sockets=[made])
    if not ended:
        raise InfrastructureFailed("the server stopped by itself")


def _timed(seconds: float) -> type[H11Protocol]:
    """The protocol of one server's connections; `seconds` as in `serve`."""
    open_now: Counter[str] = Counter()

    class Timed(H11Protocol):
        """A connection that is cut where one request takes longer: slow headers, a slow body, a slow reader."""

        _cut: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
            super().connection_made(transport)
            open_now[self._client] += 1
            if open_now[self._client] > _PER_CLIENT:
                transport.abort()
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            open_now[self._client] -= 1
            if not open_now[self._client]:
                del open_now[self._client]
            if self._cut is not None:
                self._cut.cancel()
            super().connection_lost(exc)

        @property
        def _client(self) -> str:
            return client_of(self.client[0]) if self.client else ""

        def on_response_complete(self) -> None:
            self._watch()
            super().on_response_complete()

        def _watch(self) -> None:
            if self._cut is not None:
                self._cut.cancel()
            self._cut = self.loop.call_later(seconds, self.transport.abort)

    return Timed


@contextmanager
def _ended_by_sigterm() -> Iterator[list[Any]]:
    """SIGTERM ends the server as it should, and not the process: the server raises it again once it has shut down."""
    ended: list[Any] = []

    def note(number: int, _frame: FrameType | None) -> None:
        ended.append(number)

    before = signal.signal(signal.SIGTERM, note)
    try:
        yield ended
    finally:
        signal.signal(signal.SIGTERM, before)
