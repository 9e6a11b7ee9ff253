"""One question to a language model behind an OpenAI-compatible endpoint: bounded in time and size, no redirects."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from verifier.model.errors import BadInput

MAX_ANSWER = 2**20  # bytes of the whole response
_LATE = "no answer in time"


class NoAnswer(Exception):
    """The model gave nothing that can be read; the message says why, without a word of the server's.

    `sent` says whether the question, or some of it, may have left for the endpoint.
    """

    def __init__(self, why: str, *, sent: bool = True) -> None:
        self.sent = sent
        super().__init__(why)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where chat completions are asked for. `host` is what may be recorded; `path` ends in /chat/completions."""

    secure: bool
    host: str
    port: int | None
    path: str

    @property
    def shown(self) -> str:
        """The address without anything secret."""
        port = "" if self.port is None else f":{self.port}"
        return f"{'https' if self.secure else 'http'}://{self.host}{port}{self.path}"


def endpoint_of(url: str) -> Endpoint:
    """The endpoint of a base URL such as http://127.0.0.1:8000/v1. Raises BadInput for anything else."""
    mend = "give the base address, such as http://127.0.0.1:8000/v1"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadInput("this is no address", where="--endpoint", mend=mend) from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or not url.isascii() or not url.isprintable():
        raise BadInput("this is no address of an endpoint", where="--endpoint", mend=mend)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment or " " in url:
        raise BadInput("the address holds a user, a query or a blank", where="--endpoint", mend=mend)
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return Endpoint(parts.scheme == "https", parts.hostname, port, f"{path}/chat/completions")


def ask(endpoint: Endpoint, *, model: str, messages: list[dict[str, str]], key: str, seconds: float) -> str:
    """What the model says. `key` is sent as a bearer token where it is not empty; `seconds` bounds all of it.

    Raises NoAnswer for a server that cannot be reached, is late, answers with an error, with more than 1 MiB or with
    something that is no chat completion.
    """
    body = json.dumps({"model": model, "messages": messages, "temperature": 0}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    connection = _connection(endpoint, seconds)
    try:
        data = _in_time(connection, lambda: _exchange(connection, endpoint.path, body, headers), seconds)
    finally:
        connection.close()
    return _said(data)


def _connection(endpoint: Endpoint, seconds: float) -> http.client.HTTPConnection:
    if endpoint.secure:
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(endpoint.host, endpoint.port, timeout=seconds, context=context)
    return http.client.HTTPConnection(endpoint.host, endpoint.port, timeout=seconds)


def _in_time(connection: http.client.HTTPConnection, exchange: Callable[[], bytes], seconds: float) -> bytes:
    """The exchange, cut off at `seconds` even where the server sends a byte now and then."""
    late = threading.Event()
    sockets: list[socket.socket] = []  # the connection lets go of its own once a response has begun

    def cut() -> None:
        late.set()
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)  # wakes a blocked read

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    connected = False  # nothing is written before
    try:
        connection.connect()
        connected = True
        sockets.append(connection.sock)
        if late.is_set():  # connecting took all of the time
            cut()
        return exchange()
    except TimeoutError as error:
        raise NoAnswer(_LATE, sent=connected) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        why = _LATE if late.is_set() else f"the endpoint could not be read ({type(error).__name__})"
        raise NoAnswer(why, sent=connected) from error
    except NoAnswer as error:
        raise NoAnswer(_LATE if late.is_set() else str(error)) from error
    finally:
        timer.cancel()


def _exchange(connection: http.client.HTTPConnection, path: str, body: bytes, headers: dict[str, str]) -> bytes:
    connection.request("POST", path, body=body, headers=headers)
    response = connection.getresponse()
    if response.status != 200:
        raise NoAnswer(f"the endpoint answered with status {response.status}")
    data = response.read(MAX_ANSWER + 1)
    if len(data) > MAX_ANSWER:
        raise NoAnswer(f"the answer has more than {MAX_ANSWER} bytes")
    if response.length:  # what Content-Length promised and did not come
        raise NoAnswer("the answer broke off")
    return data


def _said(data: bytes) -> str:
    try:
        document: Any = json.loads(data)
        text = document["choices"][0]["message"]["content"]
    except (ValueError, RecursionError, LookupError, TypeError) as error:
        raise NoAnswer("the answer is no chat completion") from error
    if not isinstance(text, str):
        raise NoAnswer("the answer is no text")
    return text
