"""Where a ledger is: a path, `sqlite:///PATH`, or `postgresql+psycopg://…`, and how an address may be printed."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from verifier.ledger.backend import Backend
from verifier.ledger.postgres import PostgresDatabase
from verifier.ledger.sqlite import SqliteFile
from verifier.model.errors import BadInput

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_POSTGRES = ("postgresql", "postgresql+psycopg", "postgres")
_SECRET = {"password", "sslpassword", "passfile", "sslkey"}  # parameters of a connection that name or hold a secret


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
    scheme, separator, rest = text.partition("://")
    if not separator or not _SCHEME.fullmatch(scheme):
        return Path(text)
    if scheme.lower() == "sqlite" and rest.startswith("/") and len(rest) > 1 and rest[1:] != ":memory:":
        return Path(rest[1:])
    if _is_postgres(text):
        return Path(re.sub(r"[^A-Za-z0-9_-]", "_", _database(text)))
    raise BadInput(
        f"{shown(text)!r} names no ledger this version can open",
        where="--ledger",
        mend="give a path, or a URL such as sqlite:///verifier.db or postgresql+psycopg://USER@HOST/DATABASE",
    )


def shown(url: str | os.PathLike[str]) -> str:
    """The address without any password, for people, logs and commands to copy."""
    text = os.fspath(url)
    scheme, separator, _ = text.partition("://")
    if not separator or not _SCHEME.fullmatch(scheme) or scheme.lower() == "sqlite":
        return text
    try:
        parts = urlsplit(text)
    except ValueError:
        return f"{scheme}://…"
    login, at, host = parts.netloc.rpartition("@")
    query = urlencode([(key, value) for key, value in parse_qsl(parts.query) if key.lower() not in _SECRET])
    return urlunsplit((parts.scheme, login.partition(":")[0] + at + host, parts.path, query, ""))


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
