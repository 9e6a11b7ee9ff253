"""Search for a start: a problem may leave its state open; structured random starts first, then hypothesis."""

from __future__ import annotations

from verifier.exact.search.driver import search
from verifier.exact.search.problem import Find, SearchProblem, is_open
from verifier.exact.search.reading import read_search
from verifier.exact.search.samplers import example

__all__ = ["Find", "SearchProblem", "example", "is_open", "read_search", "search"]
