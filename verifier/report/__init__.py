"""What people and machines read about a run: the JSON document, terminal tables and a self-contained HTML page.

Names load when they are used: the page brings matplotlib with it, and most commands write none.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verifier.report.document import next_commands, run_document
    from verifier.report.html import render_report, write_certificates, write_report
    from verifier.report.schema import load_schema, run_schema
    from verifier.report.sentences import ruling_headline, ruling_sentence
    from verifier.report.terminal import summary

_HOME = {
    "load_schema": "schema",
    "next_commands": "document",
    "render_report": "html",
    "ruling_headline": "sentences",
    "ruling_sentence": "sentences",
    "run_document": "document",
    "run_schema": "schema",
    "summary": "terminal",
    "write_certificates": "html",
    "write_report": "html",
}

__all__ = [
    "load_schema",
    "next_commands",
    "render_report",
    "ruling_headline",
    "ruling_sentence",
    "run_document",
    "run_schema",
    "summary",
    "write_certificates",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Imports a public name from the module it lives in."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
