"""The JSON Schemas of what the command line prints, shipped with the package."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

NAMES = (
    "run-1",
    "error-1",
    "result-1",
    "doctor-1",
    "audit-1",
    "stats-test-1",
    "stats-plan-1",
    "stats-portfolio-1",
)


def load_schema(name: str) -> dict[str, Any]:
    """The schema `name` (one of NAMES) as JSON values, a new object at each call."""
    assert name in NAMES, name
    text = files("verifier.report").joinpath("schemas", f"{name}.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def run_schema() -> dict[str, Any]:
    """What `run --json` prints for a case."""
    return load_schema("run-1")


def error_schema() -> dict[str, Any]:
    """What any command prints under --json when it fails."""
    return load_schema("error-1")


def result_schema() -> dict[str, Any]:
    """What every object under --json has, whichever command printed it."""
    return load_schema("result-1")
