"""What people and machines read about a run: the JSON document, terminal tables and a self-contained HTML page.

Names are imported when they are asked for: pictures and templates take seconds to load, and not every command draws.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verifier.report.document import next_commands, run_document
    from verifier.report.html import render_report, write_certificates, write_report
    from verifier.report.schema import load_schema, run_schema
    from verifier.report.sentences import ruling_headline, ruling_sentence
    from verifier.report.terminal import summary

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

_MODULES = {
    "document": ("next_commands", "run_document"),
    "html": ("render_report", "write_certificates", "write_report"),
    "schema": ("load_schema", "run_schema"),
    "sentences": ("ruling_headline", "ruling_sentence"),
    "terminal": ("summary",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """The public name, from the module that has it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
