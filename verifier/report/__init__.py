"""What people and machines read about a run: the JSON document, terminal tables and a self-contained HTML page."""

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
