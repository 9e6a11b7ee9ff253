"""The API's description in OpenAPI 3.1, made from the table of its operations."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from verifier.web.operations import READS, Operation
from verifier.web.queries import MAX_TEXT, Parameter
from verifier.web.reads import BASE
from verifier.web.writes import SCOPES

_ERROR = {"$ref": "#/components/schemas/Error"}
_REFUSALS = {
    "400": "A parameter, or the path, is not what it must be.",
    "401": "The token is none, ended, or was revoked.",
    "404": "It is not there, or not to be seen.",
    "408": "The request did not come in time.",
    "413": "The body is too large.",
    "429": "Too many requests from one address; Retry-After says when.",
    "500": "The ledger is not what its hashes say, or the server failed.",
    "503": "The ledger cannot be reached.",
}


def description() -> dict[str, Any]:
    """The whole description, JSON values only."""
    paths: dict[str, Any] = {f"{BASE}/openapi.json": {"get": _own()}}
    for operation in READS:
        paths.setdefault(operation.path, {})["get"] = _read(operation)
    paths[f"{BASE}/entries"]["post"] = _write()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "A ledger of disputes",
            "version": version("dispute-verifier"),
            "description": "Reading needs no token and shows what is public. Strangers' words stand under `quoted`.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _error(), "Entry": _entry(), "Written": _written()},
        },
    }


def _own() -> dict[str, Any]:
    said = {"description": "This description.", "content": {"application/json": {"schema": {"type": "object"}}}}
    return {"operationId": "openapi", "summary": "This description.", "responses": {"200": said}}


def _read(operation: Operation) -> dict[str, Any]:
    if operation.schema:
        said: dict[str, Any] = {"application/json": {"schema": _answer(operation)}}
    else:
        said = {"text/plain": {"schema": {"type": "string"}}}
    etag = {"ETag": {"schema": {"type": "string"}}}
    return {
        "operationId": operation.name,
        "summary": operation.says,
        "security": [{}, {"token": []}],
        "parameters": [_parameter(one) for one in operation.parameters],
        "responses": {
            "200": {"description": operation.says, "headers": etag, "content": said},
            "304": {"description": "Nothing changed since the ETag in If-None-Match."},
            **_refusals("400", "401", "404", "429", "500", "503"),
        },
    }


def _refusals(*statuses: str, **more: str) -> dict[str, Any]:
    said = {**{status: _REFUSALS[status] for status in statuses}, **more}
    return {
        one: {"description": text, "content": {"application/json": {"schema": _ERROR}}} for one, text in said.items()
    }


def _parameter(one: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": MAX_TEXT}
    if one.kind == "integer":
        schema = {"type": "integer", "minimum": one.least, "maximum": one.most}
    if one.default is not None:
        schema["default"] = one.default
    return {"name": one.name, "in": one.place, "required": one.required, "description": one.says, "schema": schema}


def _object(properties: dict[str, Any], *, required: list[str] | None = None, closed: bool = False) -> dict[str, Any]:
    made = {"type": "object", "properties": properties, "required": required or list(properties)}
    return {**made, "additionalProperties": False} if closed else made


def _common(schema: str, *, ok: bool) -> dict[str, Any]:
    return {
        "schema": {"const": schema},
        "ok": {"const": ok},
        "sentence": {"type": "string"},
        "next": {"type": "array", "items": {"type": "string"}},
    }


def _answer(operation: Operation) -> dict[str, Any]:
    return _object(
        {**_common(operation.schema, ok=True), **{name: {"type": type_} for name, type_ in operation.fields}}
    )


def _error() -> dict[str, Any]:
    text = {"type": "string"}
    details = _object({"what": text, "where": text, "mend": text}, closed=True)
    return _object({**_common("verifier/error/1", ok=False), "error": details}, closed=True)


def _entry() -> dict[str, Any]:
    leaf = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
    text = _object({"salt": leaf, "text": {"type": "string"}}, closed=True)
    properties = {
        "kind": {"enum": list(SCOPES)},
        "content": {"type": "string", "description": "The canonical JSON (RFC 8785) that is hashed."},
        "texts": {"type": "array", "items": text, "description": "Every free text that the content names."},
        "refs": {"type": "array", "items": leaf, "description": "Left out for kinds that people sign."},
        "supersedes": {"anyOf": [leaf, {"type": "null"}]},
    }
    return _object(properties, required=["kind", "content"], closed=True)


def _written() -> dict[str, Any]:
    named = {"n": {"type": "integer"}, "leaf": {"type": "string"}, "found": {"type": "boolean"}}
    return _object({**_common("verifier/api-written/1", ok=True), **named})


def _write() -> dict[str, Any]:
    scopes = "; ".join(f"{kind}: {scope}" for kind, scope in SCOPES.items())
    written = {"application/json": {"schema": {"$ref": "#/components/schemas/Written"}}}
    return {
        "operationId": "append",
        "summary": "Append an entry, or find the equal one.",
        "description": f"The token needs the scope of the entry's kind ({scopes}).",
        "security": [{"token": []}],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Entry"}}},
        },
        "responses": {
            "201": {"description": "The entry is on the disk.", "content": written},
            "200": {"description": "An equal entry stood there before.", "content": written},
            **_refusals(
                *("400", "401", "408", "413", "429", "500", "503"),
                **{
                    "403": "The token does not allow this kind, or is another group's.",
                    "409": "The state table does not allow it now.",
                    "415": "The body is not application/json.",
                },
            ),
        },
    }
