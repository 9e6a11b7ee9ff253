"""Where a ledger is, and what of an address may be printed."""

from pathlib import Path

import pytest

from verifier.ledger import ledger_path
from verifier.ledger.address import backend_at
from verifier.ledger.postgres import PostgresDatabase
from verifier.ledger.sqlite import SqliteFile
from verifier.model.addresses import shown
from verifier.model.errors import BadInput, InfrastructureFailed, TamperingDetected

URL = "postgresql+psycopg://me:geheim@host:5/docket"


@pytest.mark.parametrize(
    ("address", "printed"),
    [
        ("verifier.db", "verifier.db"),
        ("sqlite:///a:b@c.db", "sqlite:///a:b@c.db"),
        (URL, "postgresql+psycopg://me@host:5/docket"),
        ("postgresql://me:ge%40heim@host/docket?sslmode=require", "postgresql://me@host/docket?sslmode=require"),
        ("postgresql://host/d?user=me&password=geheim", "postgresql://host/d?user=me"),
        ("http://a:geheim@[::1/x", "http://…"),
    ],
)
def test_a_password_is_never_printed(address: str, printed: str) -> None:
    assert shown(address) == printed
    assert "heim" not in printed


def test_an_address_chooses_its_store() -> None:
    assert isinstance(backend_at("a.db"), SqliteFile)
    database = backend_at(URL)
    assert isinstance(database, PostgresDatabase)
    assert (database.name, database.path) == (shown(URL), Path("docket"))
    assert ledger_path("postgres://host/a.b") == Path("a_b")


@pytest.mark.parametrize(
    "url", ["postgresql://me:geheim@host", "postgresql://me:geheim@host:port/d", "x://me:geheim@h"]
)
def test_an_address_that_names_no_ledger_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(BadInput) as caught:
        backend_at(url)
    assert "geheim" not in caught.value.sentence


class Said(Exception):
    """An error of the driver, with the code that the server gives."""

    def __init__(self, sqlstate: str | None, text: str = "no reason") -> None:
        super().__init__(text)
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("state", "text", "kind", "word"),
    [
        ("55P03", "", InfrastructureFailed, "30 seconds"),
        ("53100", "No space left on device", InfrastructureFailed, "room"),
        ("57P01", "terminating connection", InfrastructureFailed, "stopped"),
        (None, "server closed the connection unexpectedly\nmore", InfrastructureFailed, "stopped"),
        (None, 'connection failed: FATAL: database "x" does not exist', BadInput, "no such database"),
        (None, "connection failed: password geheim authentication failed", InfrastructureFailed, "login"),
        (None, "connection failed: geheim refused", InfrastructureFailed, "reached"),
        ("42P01", "relation is missing", TamperingDetected, "damaged"),
        ("XX001", "invalid page", TamperingDetected, "damaged"),
        ("40P01", "deadlock", InfrastructureFailed, "again"),
        ("42501", "permission denied", InfrastructureFailed, "rights"),
    ],
)
def test_what_the_server_says_becomes_one_sentence(state: str | None, text: str, kind: type, word: str) -> None:
    meaning = backend_at(URL).meaning(Said(state, text))
    assert type(meaning) is kind
    assert word in meaning.sentence
    assert "\n" not in meaning.sentence
    assert "geheim" not in meaning.sentence
