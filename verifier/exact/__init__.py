"""Exact counterexamples: rational systems, the finder, and a checker that stands alone."""

from __future__ import annotations

from verifier.exact.answer import Failure, Horizon, Hypothesis, Refutation, Ties
from verifier.exact.document import refutation_document
from verifier.exact.refute import float_report, parse_problem, read_problem, refute
from verifier.exact.shrink import Shrunk, shrink

__all__ = [
    "Failure",
    "Horizon",
    "Hypothesis",
    "Refutation",
    "Shrunk",
    "Ties",
    "float_report",
    "parse_problem",
    "read_problem",
    "refutation_document",
    "refute",
    "shrink",
]
