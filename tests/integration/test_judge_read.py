"""`verifier judge read` against a server that stands in for a model: late, wrong, partial, never."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Verifier
from tests.integration.judged import ledger_of
from verifier.judge.endpoint import MAX_ANSWER, NoAnswer, ask, endpoint_of
from verifier.ledger import Ledger
from verifier.model.canonical import text_sha256
from verifier.model.errors import BadInput

PAPER = "ESa07RwpVr"
FIRST, SECOND = text_sha256("First."), text_sha256("Second.")


class StandIn(ThreadingHTTPServer):
    """Answers each question with the next of `answers`; keeps what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Callable[[BaseHTTPRequestHandler], None]] = []
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: StandIn

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, dict(self.headers), json.loads(body)))
        with contextlib.suppress(OSError):
            self.server.answers.pop(0)(self)

    def log_message(self, *_: Any) -> None:
        pass


def raw(data: bytes, status: int = 200, length: int | None = None, **headers: str) -> Callable[[Any], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(data) if length is None else length))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def says(text: str) -> Callable[[Any], None]:
    return raw(json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode())


def verdicts(**words: str) -> Callable[[Any], None]:
    return says(
        json.dumps({"claims": [{"claim": one, "verdict": word, "because": "r"} for one, word in words.items()]})
    )


def never(handler: BaseHTTPRequestHandler) -> None:
    handler.server.over.wait(30)  # type: ignore[attr-defined]  # a StandIn


def dripping(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    for _ in range(300):
        if handler.server.over.wait(0.1):  # type: ignore[attr-defined]  # a StandIn
            return
        handler.wfile.write(b" ")
        handler.wfile.flush()


@pytest.fixture
def model() -> Iterator[StandIn]:
    with StandIn() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "verifier.db"
    ledger_of(path, {"name": "one", "claim": "First."}, {"name": "two", "claim": "Second.", "ruling": "UNDERPOWERED"})
    return path


def read(verifier: Verifier, server: StandIn, times: int, *flags: str, **env: str) -> Any:
    where = ("--endpoint", server.url, "--model", "m-1", "--times", str(times))
    return verifier("judge", "read", PAPER, *where, "--json", *flags, env=env)


def test_readings_are_recorded_with_their_agreement_and_change_nothing(
    verifier: Verifier, model: StandIn, db: Path
) -> None:
    before = verifier("judge", "show", PAPER, "--json").document["claims"]
    packet = verifier("judge", "packet", PAPER).out
    both = {"C1": "falsified", "C2": "inconclusive"}
    model.answers = [verdicts(**both), verdicts(**both), verdicts(C1="falsified", C2="verified")]
    said = read(verifier, model, 3, VERIFIER_ENDPOINT_KEY="a-secret")
    assert said.code == 0, said.out
    document = said.document
    assert document["words"] == {FIRST: ["falsified"] * 3, SECOND: ["inconclusive", "inconclusive", "verified"]}
    assert (document["alpha"], document["missing"], document["failures"]) == ("6/11", 0, [])
    assert "changed" in document["sentence"]
    path, headers, body = model.asked[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer a-secret"
    assert (body["model"], body["messages"][1]) == ("m-1", {"role": "user", "content": packet})
    with Ledger.open(db, create=False) as book:
        (entry,) = book.entries("judge-reading")
        book.verify()
        rulings = {one.leaf for one in book.entries("ruling")}
    assert set(entry.refs) == rulings
    assert (entry.by, entry.content["alpha"]) == ("model m-1", "6/11")
    assert "a-secret" not in json.dumps(entry.content)
    after = verifier("judge", "show", PAPER, "--json").document["claims"]
    for claim in (*before, *after):
        for dispute in claim["disputes"]:
            for one in dispute["entries"]:
                del one["proof"]  # the tree has grown by the reading
    assert after == before


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (raw(b"no", status=500), "the endpoint answered with status 500"),
        (raw(b"", status=302, Location="/elsewhere"), "the endpoint answered with status 302"),
        (raw(b"<html>"), "the answer is no chat completion"),
        (raw(b'{"choices": []}'), "the answer is no chat completion"),
        (raw(b'{"choices": [{"message": {"content": null}}]}'), "the answer is no text"),
        (raw(b'{"choices": ' + b"[" * 200_000), "the answer is no chat completion"),
        (raw(b"x" * (MAX_ANSWER + 1)), f"the answer has more than {MAX_ANSWER} bytes"),
        (raw(b'{"choices"', length=5000), "the answer broke off"),
        (says("All claims hold."), "the answer is not one JSON object"),
        (says('{"claims": [], "claims": []}'), "the answer is not one JSON object"),
        (says("[" * 200_000), "the answer is not one JSON object"),
        (
            says('{"claims": [{"claim": "C1", "verdict": "verified", "because": NaN}]}'),
            "the answer is not one JSON object",
        ),
        (says('{"claims": []}'), "the answer gives no claim a word that counts"),
        (verdicts(C1="VERIFIED"), "the answer gives no claim a word that counts"),
        (says("[]"), "the answer has no list of claims"),
        (says('{"claims": "verified"}'), "the answer has no list of claims"),
    ],
)
def test_a_wrong_answer_is_no_answer(
    verifier: Verifier, model: StandIn, db: Path, answer: Callable[[Any], None], why: str
) -> None:
    model.answers = [answer]
    said = read(verifier, model, 1)
    assert said.code == 3
    assert said.document["failures"] == [why]
    assert said.document["words"] == {FIRST: ["NO_ANSWER"], SECOND: ["NO_ANSWER"]}
    assert said.document["alpha"] is None
    with Ledger.open(db, create=False) as book:
        assert [one.content["missing"] for one in book.entries("judge-reading")] == [2]


@pytest.mark.usefixtures("db")
def test_what_is_left_out_or_answered_twice_is_no_answer_and_nothing_else(verifier: Verifier, model: StandIn) -> None:
    twice = [{"claim": "C1", "verdict": word} for word in ("verified", "falsified")]
    model.answers = [
        verdicts(C1="falsified"),
        verdicts(C1="falsified", C2="Inconclusive", C9="verified"),
        says(
            json.dumps(
                {"claims": [*twice, 7, {"claim": ["C2"], "verdict": "toy"}, {"claim": "C2", "verdict": ["toy"]}]}
            )
        ),
        says("```json\n" + json.dumps({"claims": [{"claim": "C2", "verdict": "toy", "because": 5}]}) + "\n```"),
    ]
    model.answers += [
        says(json.dumps({"claims": [{"claim": "C1", "verdict": "toy"}, {"claim": one, "verdict": two}, last]}))
        for one, two in (("C1", "toy"), ("C1", "TOY"))
        for last in [{"claim": "C2", "verdict": "falsified"}]
    ]
    document = read(verifier, model, 6).document
    none = "NO_ANSWER"
    assert document["words"] == {
        FIRST: ["falsified", "falsified", none, none, none, none],
        SECOND: [none, none, none, "toy", "falsified", "falsified"],
    }
    assert (document["missing"], document["failures"]) == (7, ["the answer gives no claim a word that counts"])
    assert document["sentence"].startswith("5 of 6 readings gave an answer;")


def test_half_of_a_surrogate_pair_is_recorded_as_its_escape(verifier: Verifier, model: StandIn, db: Path) -> None:
    answer = {"claims": [{"claim": "C1", "verdict": "falsified", "because": "so \ud800 it is \U0001f600"}]}
    model.answers = [says(json.dumps(answer))]
    said = read(verifier, model, 1)
    assert said.code == 0, said.out
    with Ledger.open(db, create=False) as book:
        (entry,) = book.entries("judge-reading")
    assert "so \\ud800 it is \U0001f600" in {one["because"] for one in entry.content["readings"][0]["claims"]}
    assert said.document["sentence"].startswith("1 of 1 reading gave")
    assert said.document["sentence"].endswith("2 private claims were sent to the endpoint.")


@pytest.mark.usefixtures("db")
def test_a_late_model_is_cut_off_and_the_other_readings_count(verifier: Verifier, model: StandIn) -> None:
    model.answers = [never, dripping, verdicts(C1="falsified", C2="toy")]
    said = read(verifier, model, 3, "--timeout", "0.5s")
    assert said.code == 0
    assert said.document["failures"] == ["no answer in time"] * 2
    assert said.document["words"][FIRST] == ["NO_ANSWER", "NO_ANSWER", "falsified"]


def test_a_server_that_is_not_there(verifier: Verifier, db: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        said = verifier("judge", "read", PAPER, "--endpoint", url, "--model", "m", "--times", "1", "--json")
    assert said.code == 3
    assert said.document["failures"] == ["the endpoint could not be read (ConnectionRefusedError)"]
    assert "sent" not in said.document["sentence"]
    assert db.exists()


@pytest.mark.parametrize(
    "url", ["ftp://x/v1", "http://", "x", "http://u:p@x/v1", "http://x/v1?k=1", "http://x:99999/", "http://x/ y"]
)
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(BadInput):
        endpoint_of(url)


def test_addresses() -> None:
    assert endpoint_of("https://x.example/v1/").shown == "https://x.example/v1/chat/completions"
    assert endpoint_of("http://x:8000/v1/chat/completions").shown == "http://x:8000/v1/chat/completions"
    with pytest.raises(NoAnswer):
        ask(endpoint_of("http://127.0.0.1:1/"), model="m", messages=[], key="", seconds=1.0)


@pytest.mark.usefixtures("db")
def test_what_could_not_be_recorded_is_refused_before_anything_is_asked(verifier: Verifier, model: StandIn) -> None:
    assert read(verifier, model, 1, SOURCE_DATE_EPOCH="1700000000").code == 2
    assert read(verifier, model, 1, VERIFIER_ENDPOINT_KEY="a\nb").code == 2
    assert verifier("judge", "read", "unknown123", "--endpoint", model.url, "--model", "m").code == 2
    assert verifier("judge", "read", PAPER, "--endpoint", model.url, "--model", "m\n").code == 2
    assert model.asked == []
