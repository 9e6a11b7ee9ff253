"""Bearer tokens: who may write what. On the disk stands a hash of each, never the token."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from verifier.ledger.entry import MAX_NAME
from verifier.ledger.times import is_time_text, system_now, time_text
from verifier.model.errors import BadInput, InfrastructureFailed

_SCHEMA = "verifier/token/1"
_SECRET_BYTES = 32
_ID = re.compile(r"[0-9a-f]{16}")
_TOKEN = re.compile(r"vt_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_FINGERPRINT = re.compile(r"[0-9a-f]{16,64}")
_MAX_FILE = 16_384
_MEND = "check the folder, its rights and the free space, or name another with --tokens"


class Scope(StrEnum):
    """What a token lets its holder append."""

    APPEND = "append"
    ADJUDICATE = "adjudicate"
    ADMINISTER = "administer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token as it is kept: its id, who holds it for which team, what it allows, the hash of its secret, times.

    `expires` and `revoked` are RFC 3339 times, "" where it does neither.
    """

    id: str
    name: str
    group: str
    scopes: tuple[Scope, ...]
    secret_sha256: str
    made: str
    expires: str
    revoked: str

    def valid(self, now: str) -> bool:
        """Whether it may be used at `now`."""
        return not self.revoked and (not self.expires or now < self.expires)

    @property
    def sees_all(self) -> bool:
        """Whether its holder sees private disputes: whoever adjudicates or administers does."""
        return Scope.ADJUDICATE in self.scopes or Scope.ADMINISTER in self.scopes


class TokenStore:
    """The tokens of a ledger, a file for each in one folder that only its owner may enter.

    `now` is the clock, in seconds since 1970.
    """

    def __init__(self, folder: Path, *, now: Callable[[], int] = system_now) -> None:
        self.folder = folder
        self._now = now

    def new(self, *, name: str, group: str, scopes: Sequence[Scope], days: int | None) -> tuple[str, Token]:
        """Makes a token and returns it, which nobody can do again, with what is kept of it.

        `days`: after how many it ends. Raises BadInput for a name or group that no entry could carry, or no scope;
        InfrastructureFailed where it cannot be written.
        """
        _check_name(name, where="--name")
        _check_name(group, where="--group", empty=True)
        if not scopes:
            raise BadInput("the token allows nothing", where="--scope", mend=f"name one of {', '.join(Scope)}")
        id_, secret = secrets.token_hex(8), base64.urlsafe_b64encode(secrets.token_bytes(_SECRET_BYTES))
        text = secret.decode().rstrip("=")
        now = self._now()
        token = Token(
            id=id_,
            name=name,
            group=group,
            scopes=tuple(scope for scope in Scope if scope in scopes),
            secret_sha256=_hashed(text),
            made=time_text(now),
            expires="" if days is None else time_text(now + days * 86_400),
            revoked="",
        )
        self._write(token)
        return f"vt_{id_}_{text}", token

    def all(self) -> list[Token]:
        """Every token ever made, oldest first. Raises BadInput where the folder or a file of it is not in order."""
        try:
            found = sorted(self.folder.glob("*.json")) if self.folder.is_dir() else []
        except OSError as error:
            raise InfrastructureFailed(
                f"the tokens cannot be read ({error.strerror})", where=str(self.folder)
            ) from error
        tokens = [token for path in found if _ID.fullmatch(path.stem) and (token := self._read(path.stem)) is not None]
        return sorted(tokens, key=lambda token: (token.made, token.id))

    def revoke(self, id_: str) -> Token:
        """Ends a token at once. Raises BadInput where there is none of this id."""
        token = self._read(id_) if _ID.fullmatch(id_) else None
        if token is None:
            raise BadInput("there is no such token", where=f"ID {id_[:40]}", mend="see `verifier ledger token list`")
        if not token.revoked:
            token = replace(token, revoked=time_text(self._now()))
            self._write(token)
        return token

    def holder(self, text: str) -> Token | None:
        """The token of which `text` is the whole, if it may be used now; None for anything else."""
        match = _TOKEN.fullmatch(text)
        if match is None:
            return None
        token = self._read(match[1])
        # the secret is 256 random bits: one SHA-256 keeps it, and no slow hash would add anything
        good = hmac.compare_digest(_hashed(match[2]), token.secret_sha256 if token else "")
        return token if good and token is not None and token.valid(time_text(self._now())) else None

    def _read(self, id_: str) -> Token | None:
        path = self.folder / f"{id_}.json"
        try:
            with path.open("rb") as file:
                found = os.fstat(file.fileno())
                data = file.read(_MAX_FILE + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InfrastructureFailed(f"the token cannot be read ({error.strerror})", where=str(path)) from error
        if not stat.S_ISREG(found.st_mode) or found.st_mode & 0o077 or found.st_uid != os.geteuid():
            raise BadInput("others than its owner may use this token file", where=str(path), mend=f"chmod 600 {path}")
        try:
            return _token(json.loads(data), id_)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise BadInput("this is not a token file", where=str(path), mend="revoke it by deleting it") from error

    def _write(self, token: Token) -> None:
        path = self.folder / f"{token.id}.json"
        part = path.with_suffix(f".{secrets.token_hex(4)}.part")
        data = json.dumps({"schema": _SCHEMA, **asdict(token)}, indent=1).encode() + b"\n"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise InfrastructureFailed(
                f"the token cannot be written ({error.strerror})", where=str(self.folder), mend=_MEND
            ) from error


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _token(row: dict[str, Any], id_: str) -> Token:
    """The token of a file. Raises KeyError, TypeError or ValueError where it is none."""
    if row.pop("schema") != _SCHEMA or row["id"] != id_:
        raise ValueError("not this token")
    token = Token(**{**row, "scopes": tuple(Scope(scope) for scope in row["scopes"])})
    texts = (token.name, token.group, token.secret_sha256, token.made, token.expires, token.revoked)
    times = [token.made, *(time for time in (token.expires, token.revoked) if time != "")]
    if not all(isinstance(text, str) for text in texts) or not all(is_time_text(time) for time in times):
        raise ValueError("a field is not what it must be")
    return token


def _check_name(name: str, *, where: str, empty: bool = False) -> None:
    if not (name or empty) or len(name) > MAX_NAME or not name.isprintable():
        raise BadInput(f"{name[:80]!r} is not a pseudonym", where=where, mend=f"use up to {MAX_NAME} plain characters")
    if _FINGERPRINT.fullmatch(name):
        raise BadInput("this could be taken for a key's fingerprint", where=where, mend="use another pseudonym")
