"""Why a request is not answered: the errors of HTTP as sentences, and the status of every other error."""

from __future__ import annotations

import json
from typing import Any

from verifier.model.disputes import NotAllowed
from verifier.model.errors import BadInput, InfrastructureFailed, VerifierError


class Refused(BadInput):
    """A request that is not answered, with the HTTP status that says why and headers that go with it."""

    def __init__(
        self, status: int, what: str, *, where: str = "", mend: str = "", headers: dict[str, str] | None = None
    ) -> None:
        self.status = status
        self.headers = headers or {}
        super().__init__(what, where=where, mend=mend)


def not_found(what: str = "there is nothing here", *, mend: str = "see /api/v1/openapi.json") -> Refused:
    """The refusal for what is not there, or is not to be seen: the two look the same."""
    return Refused(404, what, mend=mend)


def status_of(error: VerifierError) -> int:
    """The HTTP status of an error: 4xx where the client can mend it."""
    if isinstance(error, Refused):
        return error.status
    if isinstance(error, NotAllowed):
        return 409
    if isinstance(error, BadInput):
        return 400
    return 503 if isinstance(error, InfrastructureFailed) else 500


def error_document(error: VerifierError) -> dict[str, Any]:
    """The error as the command line prints it under --json; a failure of the server names none of its files."""
    told = error if status_of(error) < 500 else VerifierError(error.what)
    return {
        "schema": "verifier/error/1",
        "ok": False,
        "sentence": told.sentence,
        "next": [],
        "error": {"what": told.what, "where": told.where, "mend": told.mend},
    }


def json_bytes(document: dict[str, Any]) -> bytes:
    """The document as ASCII JSON. Raises ValueError for NaN: it is never an answer."""
    return json.dumps(document, allow_nan=False).encode() + b"\n"
