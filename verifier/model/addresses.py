"""Addresses as they may be printed."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_SECRET = {"password", "sslpassword", "passfile", "sslkey"}  # parameters of a connection that name or hold a secret


def is_url(text: str) -> bool:
    """Whether `text` begins as a URL does, with a scheme and `://`; else it is a path."""
    scheme, separator, _ = text.partition("://")
    return bool(separator) and _SCHEME.fullmatch(scheme) is not None


def shown(address: str) -> str:
    """A path as it is, a URL without its password: for people, logs and commands to copy."""
    if not is_url(address) or address.lower().startswith("sqlite://"):
        return address
    try:
        parts = urlsplit(address)
    except ValueError:
        return f"{address.partition('://')[0]}://…"
    login, at, host = parts.netloc.rpartition("@")
    query = urlencode([(key, value) for key, value in parse_qsl(parts.query) if key.lower() not in _SECRET])
    return urlunsplit((parts.scheme, login.partition(":")[0] + at + host, parts.path, query, ""))
