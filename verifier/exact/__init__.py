"""Exact counterexamples: rational systems, the finder, and a checker that stands alone."""

from __future__ import annotations

from verifier.exact.acceptance import Checked, accepted
from verifier.exact.answer import Failure, Horizon, Hypothesis, Power, Refutation, SearchReport, Ties
from verifier.exact.document import out_of_time, refutation_document
from verifier.exact.refute import float_report, parse_problem, read_problem, refute
from verifier.exact.search import SearchProblem
from verifier.exact.shrink import Shrunk, shrink

__all__ = [
    "Checked",
    "Failure",
    "Horizon",
    "Hypothesis",
    "Power",
    "Refutation",
    "SearchProblem",
    "SearchReport",
    "Shrunk",
    "Ties",
    "accepted",
    "float_report",
    "out_of_time",
    "parse_problem",
    "read_problem",
    "refutation_document",
    "refute",
    "shrink",
]
