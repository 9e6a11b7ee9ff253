"""A ledger being served: made without running anything, and asked in this process without a socket."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integration.judged import tried
from verifier.ledger import FreeText, Ledger
from verifier.ledger.keys import PrivateKey, generate
from verifier.ledger.signed import signed_content
from verifier.ledger.speak import speak
from verifier.web.app import Service, application
from verifier.web.book import Book
from verifier.web.guard import Guard
from verifier.web.limits import RateLimit
from verifier.web.reads import BASE
from verifier.web.tokens import Scope, TokenStore

ADMINISTRATOR = generate("adm")
MARK = "ONLY-PRIVATE"  # stands in every text and name of the private dispute
PUBLIC_PAPER, PRIVATE_PAPER = "ESa07RwpVr", "Zz99PrivPp"


def say(book: Ledger, private: PrivateKey, kind: str, dispute: str = "", group: str = "", **fields: Any) -> str:
    """Says it through the front door; returns the leaf hash."""
    return speak(book, private=private, kind=kind, fields=lambda _: fields, dispute=dispute, group=group).entry.leaf


def public_key(private: PrivateKey) -> str:
    key = signed_content({}, private)["key"]
    assert isinstance(key, str)
    return key


def make(path: Path) -> dict[str, str]:
    """A ledger with a public dispute and a private one, of two papers; name -> dispute id."""
    with Ledger.open(path, create=True) as book:
        with book.transaction() as transaction:
            shown = tried(transaction, name="shown", ruling="DISMISSED", claim="A public claim.")
            hidden = tried(
                transaction,
                name=f"case-{MARK}",
                paper=f"openreview:{PRIVATE_PAPER}",
                version="2699.09999v1",
                title=MARK,
                claim=MARK,
                quote=MARK,
                says=MARK,
                space=f"{MARK}/space",
                target=MARK,
                group=MARK,
            )
        say(
            book,
            ADMINISTRATOR,
            "key",
            role="administrator",
            public=public_key(ADMINISTRATOR),
            pseudonym="",
            replaces="",
            proof="",
        )
        say(book, ADMINISTRATOR, "publication", shown, ground="not-upheld", source=FreeText("a logbook"))
    return {"public": shown, "private": hidden}


@dataclass(frozen=True)
class Reply:
    """What the application answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(self.body)
        return made


class Served:
    """The application over one ledger, as a client uses it."""

    def __init__(self, path: Path, *, rate: int = 100_000) -> None:
        self.ledger = Ledger.open(path, create=False)
        self.tokens = TokenStore(path.with_name(f"{path.stem}-tokens"))
        self.app: Guard = application(
            Service(
                book=Book(self.ledger),
                checkpoints=path.with_name(f"{path.stem}-checkpoints"),
                tokens=self.tokens,
                rate=RateLimit(rate),
                body_seconds=0.05,
            )
        )

    def crawl(self, *further: str) -> str:
        """All that anybody is shown who follows every path from the first one, and `further` ones, without a token."""
        waiting, seen, said = [BASE, *further], set(), []
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen.add(path)
                told = self.get(path)
                said.append(told.body.decode())
                waiting += told.document.get("next", []) if told.status == 200 and told.body[:1] == b"{" else []
        return "\n".join(said)

    def token(self, *scopes: str, name: str = "holder", group: str = "") -> str:
        return self.tokens.new(name=name, group=group, scopes=[Scope(one) for one in scopes], days=None)[0]

    def get(self, path: str, *, token: str = "", **headers: str) -> Reply:
        return self.ask("GET", path, token=token, headers=headers)

    def post(self, document: Any, *, token: str = "", path: str = f"{BASE}/entries") -> Reply:
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        return self.ask("POST", path, token=token, body=body, headers={"content-type": "application/json"})

    def ask(
        self,
        method: str,
        path: str,
        *,
        token: str = "",
        body: bytes | None = b"",
        headers: dict[str, str] | None = None,
        client: str = "192.0.2.1",
    ) -> Reply:
        """One request; `body` None is one that never arrives."""
        given = {**(headers or {}), **({"authorization": f"Bearer {token}"} if token else {})}
        target, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "path": target,
            "raw_path": target.encode(),
            "query_string": query.encode(),
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()],
            "client": (client, 1),
            "server": ("test", 80),
            "scheme": "http",
            "root_path": "",
        }
        sent: list[Any] = []

        async def receive() -> Any:
            if body is None:
                await asyncio.sleep(3600)
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        return Reply(
            sent[0]["status"],
            {name.decode(): value.decode() for name, value in sent[0]["headers"]},
            b"".join(message.get("body", b"") for message in sent[1:]),
        )
