"""Before anything is looked at: how often an address asks, and paths that are written to lead elsewhere."""

from __future__ import annotations

import math
import re

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from verifier.web.answers import Refused, error_document, json_bytes
from verifier.web.limits import RateLimit

# every path of the API is made of these: no percent sign, backslash, empty step or step of dots
_PATH = re.compile(rb"(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+")
_MAX_PATH = 200
_MAX_QUERY = 2000
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


class Guard:
    """An application behind its doorkeeper."""

    def __init__(self, app: ASGIApp, *, rate: RateLimit) -> None:
        self._app = app
        self._rate = rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, as ASGI has it."""
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_ALWAYS)
            await send(message)

        refused = self._refused(scope)
        if refused is None:
            await self._app(scope, receive, guarded)
            return
        headers = {**refused.headers, "Connection": "close"}
        response = Response(
            json_bytes(error_document(refused)), refused.status, headers=headers, media_type="application/json"
        )
        await response(scope, receive, guarded)

    def _refused(self, scope: Scope) -> Refused | None:
        client = scope.get("client")
        seconds = self._rate.wait(client[0] if client else "")
        if seconds > 0:
            later = str(math.ceil(seconds))
            return Refused(
                429,
                "too many requests from this address",
                mend=f"ask again in {later} seconds",
                headers={"Retry-After": later},
            )
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        if len(raw) > _MAX_PATH or not _PATH.fullmatch(raw) or len(scope["query_string"]) > _MAX_QUERY:
            return Refused(400, "this is not a path of the API", mend="see /api/v1/openapi.json")
        return None
