"""`verifier serve` as it runs: a real server on loopback, with clients that are slow, too large or elsewhere bound."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Verifier, start
from tests.integration.served import MARK, make
from verifier.ledger import FreeText, Ledger
from verifier.web.reads import BASE
from verifier.web.writes import MAX_BODY

REQUEST_TIME = 3  # seconds that the server allows one request
SOON = 60.0  # by when even a loaded machine has cut a client that the server allows REQUEST_TIME


@dataclass(frozen=True)
class Running:
    """A server, where it listens, and the folder of its ledger."""

    process: subprocess.Popen[str]
    port: int
    folder: Path

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SOON)
        try:
            connection.request(method, path, body=body, headers=headers)
            said = connection.getresponse()
            return said.status, json.loads(said.read())
        finally:
            connection.close()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=SOON)

    def size(self) -> int:
        return int(self.ask("GET", BASE)[1]["size"])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("serving")
    make(folder / "verifier.db")
    with Ledger.open(folder / "verifier.db", create=False) as book, book.transaction() as transaction:
        transaction.append(kind="import", content={"text": FreeText("x" * 15_000_000)}, by="importer")
    process = start(
        *("serve", "--api-only", "--port", "0", "--json", "--request-time", f"{REQUEST_TIME}s", "--rate", "100000"),
        cwd=folder,
    )
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())
    yield Running(process, told["port"], folder)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=SOON)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err


@pytest.fixture
def token(server: Running, verifier: Verifier) -> str:
    made = verifier(*TOKEN, "--scope", "append", "--ledger", str(server.folder / "verifier.db"), "--json")
    text = made.document["token"]
    assert isinstance(text, str)
    return text


TOKEN = ("ledger", "token", "new", "--name", "machine", "--group", "north")
IMPORT = b'{"kind": "import", "content": "{\\"a\\":1}"}'
JSON = {"Content-Type": "application/json"}


def until_closed(client: socket.socket) -> bytes:
    """All that the server still sends; a reset ends it like a close."""
    said = b""
    try:
        while more := client.recv(65_536):
            said += more
    except ConnectionError:
        pass
    return said


def test_it_serves_the_public_and_nothing_private(server: Running) -> None:
    status, document = server.ask("GET", f"{BASE}/entries")
    assert (status, document["audience"], len(document["entries"])) == (200, "public", 9)
    assert MARK not in json.dumps(document)


def test_writing_needs_a_token_and_its_scope(server: Running, verifier: Verifier, token: str) -> None:
    before = server.size()
    assert server.ask("POST", f"{BASE}/entries", IMPORT, **JSON)[0] == 401
    db = str(server.folder / "verifier.db")
    other = verifier(*TOKEN, "--scope", "adjudicate", "--ledger", db, "--json").document["token"]
    assert server.ask("POST", f"{BASE}/entries", IMPORT, Authorization=f"Bearer {other}", **JSON)[0] == 403
    assert server.size() == before
    status, written = server.ask("POST", f"{BASE}/entries", IMPORT, Authorization=f"Bearer {token}", **JSON)
    assert (status, written["n"]) == (201, before + 1)
    with Ledger.open(db, create=False) as book:
        entry = book.entry(written["n"])
    assert (entry.by, entry.group, entry.content) == ("machine", "north", {"a": 1})
    revoked = verifier("ledger", "token", "revoke", token.split("_")[1], "--ledger", db, "--json")
    assert revoked.document["revoked"]
    assert server.ask("POST", f"{BASE}/entries", IMPORT, Authorization=f"Bearer {token}", **JSON)[0] == 401
    assert server.size() == before + 1


def test_an_oversized_body_is_not_waited_for(server: Running, token: str) -> None:
    kind = "Content-Type: application/json"
    head = f"POST {BASE}/entries HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{kind}\r\n"
    with server.connect() as client:
        client.sendall(f"{head}Content-Length: 1000000000000\r\n\r\n".encode())
        assert until_closed(client).startswith(b"HTTP/1.1 413 ")
    with server.connect() as client:  # nobody says beforehand how long it is
        client.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        said = b""
        try:
            for _ in range(MAX_BODY // 65_536 + 64):
                client.sendall(b"10000\r\n" + b" " * 65_536 + b"\r\n")
        except ConnectionError:
            pass
        said = until_closed(client)
        assert not said or said.startswith(b"HTTP/1.1 413 ")
    assert server.ask("GET", BASE)[0] == 200


def test_headers_without_end_are_refused(server: Running) -> None:
    with server.connect() as client:
        client.sendall(f"GET {BASE} HTTP/1.1\r\nHost: x\r\n".encode())
        with contextlib.suppress(ConnectionError):
            client.sendall(b"X-Long: " + b"x" * 100_000)
        assert b"200" not in until_closed(client)[:20]


SLOW = {
    "nothing": b"",
    "request line": b"GET /",
    "headers": f"GET {BASE} HTTP/1.1\r\nHost: x\r\nX-Slow: ".encode(),
    "body": f"POST {BASE}/entries HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n{{}}\r\n{{}}\r\n\r\n".encode(),
}


def test_slow_clients_are_cut(server: Running, token: str) -> None:
    before = server.size()
    clients = {name: server.connect() for name in SLOW}
    said = dict.fromkeys(SLOW, b"")
    for name, client in clients.items():
        head = SLOW[name].replace(b"{}", f"Authorization: Bearer {token}".encode(), 1)
        client.sendall(head.replace(b"{}", b"Content-Type: application/json"))
        client.settimeout(0.1)
    waiting, began = set(SLOW), time.monotonic()
    while waiting and time.monotonic() - began < SOON:
        for name in sorted(waiting):
            try:
                more = clients[name].recv(65_536)
                said[name] += more
                if not more:
                    waiting.remove(name)
            except TimeoutError:
                with contextlib.suppress(ConnectionError):
                    clients[name].sendall(b" " if SLOW[name] else b"")  # it goes on dripping
            except ConnectionError:
                waiting.remove(name)
    for client in clients.values():
        client.close()
    assert not waiting, "the server waits for them"
    assert {name for name, told in said.items() if told and not told.startswith(b"HTTP/1.1 408 ")} == set()
    assert server.size() == before


def test_one_address_does_not_keep_the_others_out(server: Running) -> None:
    idle = [server.connect() for _ in range(40)]
    idle[-1].settimeout(SOON)
    assert idle[-1].recv(1) == b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=SOON, source_address=("127.0.0.2", 0)) as other:
        other.sendall(f"GET {BASE} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        assert until_closed(other).startswith(b"HTTP/1.1 200 ")
    for client in idle:
        client.close()
    deadline = time.monotonic() + SOON
    while time.monotonic() < deadline:
        with contextlib.suppress(ConnectionError):
            assert server.size()
            return
    raise AssertionError("the address is still kept out")


@pytest.mark.slow
def test_a_reader_that_does_not_read_is_cut(server: Running, verifier: Verifier) -> None:
    db = str(server.folder / "verifier.db")
    token = verifier(*TOKEN, "--scope", "administer", "--ledger", db, "--json").document["token"]
    client = socket.socket()
    with client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(SOON)
        client.connect(("127.0.0.1", server.port))
        client.sendall(f"GET {BASE}/entries/9 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        head = client.recv(4096)
        assert head.startswith(b"HTTP/1.1 200 ")
        time.sleep(REQUEST_TIME + 3)
        assert len(until_closed(client)) < 15_000_000  # what it would have read
    assert server.ask("GET", f"{BASE}/entries/9", Authorization=f"Bearer {token}")[0] == 200


@pytest.mark.parametrize(
    "target",
    [
        "/../verifier.db",
        f"{BASE}/entries/%2e%2e%2f%2e%2e%2fverifier.db",
        f"{BASE}/checkpoints/..%5c..%5cverifier.db",
        f"{BASE}/checkpoints/%00",
        f"{BASE}/entries/%31",
        f"{BASE}//entries",
        f"http://elsewhere{BASE}/../verifier.db",
        "*",
    ],
)
def test_no_path_leads_out_of_the_api(server: Running, target: str) -> None:
    with server.connect() as client:
        client.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        said = until_closed(client)
    assert said[:13] in (b"HTTP/1.1 400 ", b"HTTP/1.1 404 ")
    assert b"SQLite" not in said


def test_tokens_are_hashed_at_rest_and_nobody_else_reads_them(verifier: Verifier, tmp_path: Path) -> None:
    make(tmp_path / "verifier.db")
    text = verifier(*TOKEN, "--scope", "append", "--days", "3", "--json").document["token"]
    folder = tmp_path / "verifier-tokens"
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert text not in file.read_text()
    assert text.split("_", 2)[2] not in file.read_text()
    listed = verifier("ledger", "token", "list", "--json")
    assert text not in listed.out
    assert listed.document["valid"] == 1
    assert verifier("ledger", "token", "revoke", "0" * 16).code == 2
    assert verifier("ledger", "token", "new", "--name", "a\tb", "--scope", "append").code == 2
    os.chmod(file, 0o644)  # noqa: PTH101  # the way a shell would
    assert verifier("ledger", "token", "list").code == 2


def test_what_cannot_be_served_is_one_sentence(verifier: Verifier, tmp_path: Path) -> None:
    assert verifier("serve", "--api-only").code == 2
    make(tmp_path / "verifier.db")
    assert "--api-only" in verifier("serve").err
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = verifier("serve", "--api-only", "--port", str(taken.getsockname()[1]))
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert verifier("serve", "--api-only", "--host", "no such host", "--port", "0").code == 2


def test_interrupting_it_is_no_crash(tmp_path: Path) -> None:
    make(tmp_path / "verifier.db")
    process = start("serve", "--api-only", "--port", "0", cwd=tmp_path)
    assert process.stdout is not None
    assert "/api/v1" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=SOON)
    assert process.returncode == 130
    assert "Traceback" not in err
