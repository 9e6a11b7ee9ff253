"""The two JSON Schemas as one quick predicate: the few keywords they use, compiled to closures.

The jsonschema package answers the same and takes forty milliseconds a file; a test compares the two.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).parents[2] / "verifier" / "exact" / "schemas"
TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda x: isinstance(x, dict),
    "array": lambda x: isinstance(x, list),
    "string": lambda x: isinstance(x, str),
    "boolean": lambda x: isinstance(x, bool),
    "integer": lambda x: isinstance(x, int) and not isinstance(x, bool),
}
SILENT = {"$schema", "$id", "title", "$defs", "properties", "additionalProperties"}  # say nothing, or read together
SILENT |= {"items", "prefixItems", "if", "then"}
COUNTS: dict[str, Callable[[int], bool]] = {
    "oneOf": lambda count: count == 1,
    "anyOf": lambda count: count > 0,
    "not": lambda count: count == 0,
}

Test = Callable[[Any], bool]


@functools.cache
def document(name: str) -> dict[str, Any]:
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]  # a JSON object


@functools.cache
def referred(reference: str, home: str) -> Test:
    """The schema that a `$ref` inside the file `home` means."""
    place, _, pointer = reference.partition("#")
    home = place.removeprefix("urn:verifier:schema:") or home
    schema: Any = document(home)
    for part in pointer.split("/")[1:]:
        schema = schema[part]
    return compiled(schema, home)


def certificate(value: Any) -> bool:
    """Does a decoded file satisfy certificate-1.schema.json?"""
    return referred("#", "certificate-1")(value)


def compiled(schema: dict[str, Any] | bool, home: str) -> Test:  # noqa: FBT001  # JSON Schema has both
    if isinstance(schema, bool):
        return lambda _: schema
    tests = [keyword(word, argument, home) for word, argument in schema.items() if word not in SILENT]
    if "properties" in schema or "additionalProperties" in schema:
        tests.append(fields(schema, home))
    if "items" in schema:
        tests.append(entries(schema, home))
    if "if" in schema:
        given, then = compiled(schema["if"], home), compiled(schema["then"], home)
        tests.append(lambda value: not given(value) or then(value))
    return lambda value: all(test(value) for test in tests)


def fields(schema: dict[str, Any], home: str) -> Test:
    known = {name: compiled(inner, home) for name, inner in schema.get("properties", {}).items()}
    other = compiled(schema.get("additionalProperties", True), home)
    return lambda x: not isinstance(x, dict) or all(known.get(name, other)(value) for name, value in x.items())


def entries(schema: dict[str, Any], home: str) -> Test:
    first = [compiled(inner, home) for inner in schema.get("prefixItems", [])]
    rest = compiled(schema["items"], home)

    def test(x: Any) -> bool:
        tests = [*first, *([rest] * (len(x) - len(first)))] if isinstance(x, list) else []
        return all(check(item) for check, item in zip(tests, x, strict=False))

    return test


def keyword(word: str, argument: Any, home: str) -> Test:
    """One keyword as a predicate; a keyword that the schemas do not use today is a KeyError."""

    def on(kind: type | tuple[type, ...], test: Test) -> Test:
        return lambda x: not isinstance(x, kind) or test(x)

    if word == "$ref":
        return lambda x: referred(argument, home)(x)  # noqa: PLW0108  # looked up late: schemas refer to each other
    if word in {"oneOf", "anyOf", "not", "allOf", "propertyNames"}:
        inner = [compiled(schema, home) for schema in (argument if isinstance(argument, list) else [argument])]
        if word == "propertyNames":
            return on(dict, lambda x: all(inner[0](name) for name in x))
        if word == "allOf":
            return lambda x: all(test(x) for test in inner)
        return lambda x: COUNTS[word](sum(test(x) for test in inner))
    number: Test = TYPES["integer"]
    table: dict[str, Callable[[], Test]] = {
        "type": lambda: TYPES[argument],
        "const": lambda: lambda x: bool(type(x) is type(argument) and x == argument),
        "enum": lambda: lambda x: isinstance(x, str) and x in argument,
        "pattern": lambda: on(str, lambda x: re.search(argument, x) is not None),
        "minLength": lambda: on(str, lambda x: len(x) >= argument),
        "maxLength": lambda: on(str, lambda x: len(x) <= argument),
        "minItems": lambda: on(list, lambda x: len(x) >= argument),
        "maxItems": lambda: on(list, lambda x: len(x) <= argument),
        "minProperties": lambda: on(dict, lambda x: len(x) >= argument),
        "maxProperties": lambda: on(dict, lambda x: len(x) <= argument),
        "minimum": lambda: lambda x: not number(x) or x >= argument,
        "maximum": lambda: lambda x: not number(x) or x <= argument,
        "required": lambda: on(dict, lambda x: set(argument) <= set(x)),
        "dependentRequired": lambda: on(dict, lambda x: all(set(b) <= set(x) for a, b in argument.items() if a in x)),
    }
    return table[word]()
