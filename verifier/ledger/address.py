"""Where a ledger is: a path, `sqlite:///PATH`, or `postgresql+psycopg://…`, and how an address may be printed."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

from verifier.ledger.backend import Backend
from verifier.ledger.postgres import PostgresDatabase
from verifier.ledger.sqlite import SqliteFile
from verifier.model.addresses import is_url, shown
from verifier.model.errors import BadInput

_POSTGRES = ("postgresql", "postgresql+psycopg", "postgres")


def backend_at(url: str | os.PathLike[str]) -> Backend:
    """The store that a path or URL names, untouched so far. Raises BadInput for any other address."""
    text = _text(url)
    if _is_postgres(text):
        return PostgresDatabase(text, name=shown(text), path=ledger_path(text))
    return SqliteFile(ledger_path(text))


def ledger_path(url: str | os.PathLike[str]) -> Path:
    """The file that a path or an `sqlite:///` URL names; for a database, the path its files are named after.

    Raises BadInput for any other address.
    """
    text = _text(url)
    if not is_url(text):
        return Path(text)
    scheme, _, rest = text.partition("://")
    if scheme.lower() == "sqlite" and rest.startswith("/") and len(rest) > 1 and rest[1:] != ":memory:":
        return Path(rest[1:])
    if _is_postgres(text):
        return Path(re.sub(r"[^A-Za-z0-9_-]", "_", _database(text)))
    raise BadInput(
        f"{shown(text)!r} names no ledger this version can open",
        where="--ledger",
        mend="give a path, or a URL such as sqlite:///verifier.db or postgresql+psycopg://USER@HOST/DATABASE",
    )


def _text(url: str | os.PathLike[str]) -> str:
    text = os.fspath(url)
    if "\0" in text or not text:
        raise BadInput("the ledger's path is empty or has a zero byte in it", where="--ledger")
    return text


def _is_postgres(text: str) -> bool:
    return text.partition("://")[0].lower() in _POSTGRES and "://" in text


def _database(text: str) -> str:
    """The name of the database. Raises BadInput where the URL names none, or cannot be read."""
    try:
        parts = urlsplit(text)
        named = dict(parse_qsl(parts.query)).get("dbname", "") or parts.path.strip("/")
        _ = parts.port  # raises where it is no number
    except ValueError as error:
        raise BadInput(f"{shown(text)!r} is not a URL", where="--ledger", mend=_FORM) from error
    if not named or quote(named, safe="%") != named or len(named) > 63:
        raise BadInput(f"{shown(text)!r} names no database", where="--ledger", mend=_FORM)
    return named


_FORM = "write postgresql+psycopg://USER@HOST:PORT/DATABASE, and give the password in PGPASSWORD or a .pgpass file"
