"""Exact counterexamples: rational systems, the finder, and a checker that stands alone."""

from __future__ import annotations

from verifier.exact.answer import Failure, Horizon, Hypothesis, Refutation, Ties
from verifier.exact.refute import float_report, parse_problem, read_problem, refute

__all__ = [
    "Failure",
    "Horizon",
    "Hypothesis",
    "Refutation",
    "Ties",
    "float_report",
    "parse_problem",
    "read_problem",
    "refute",
]
