"""`refute`: the exact answer to a problem, whichever system it names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from verifier.exact.answer import Refutation
from verifier.exact.document import out_of_time
from verifier.exact.expressions.floats import float_report as expression_floats
from verifier.exact.expressions.problem import SYSTEM as EXPRESSIONS
from verifier.exact.expressions.problem import ExpressionProblem, read_expression_problem
from verifier.exact.expressions.refute import refute_expression
from verifier.exact.hardmax.problem import MOST_TOKENS, HardmaxProblem, read_hardmax
from verifier.exact.hardmax.refute import refute_hardmax
from verifier.exact.margin import comparable, compare
from verifier.exact.piecewise.problem import LONG_FORM, MapProblem, read_map_problem
from verifier.exact.piecewise.refute import refute_map
from verifier.exact.reading import Reader, read_json
from verifier.exact.search import SearchProblem, example, is_open, read_search, search
from verifier.exact.search.sampling import Start
from verifier.exact.systems import systems
from verifier.model.errors import BadInput

HORIZON = 10_000
"""Steps taken where nothing freezes, unless told otherwise."""

Problem = HardmaxProblem | MapProblem | ExpressionProblem | SearchProblem


def read_problem(path: Path) -> Problem:
    """The problem of a file (docs/certificates.md, section 3). Raises BadInput with the path of what is wrong."""
    return parse_problem(read_json(path), where=str(path))


def parse_problem(document: Any, *, where: str = "problem") -> Problem:
    """The problem of a decoded JSON document. Raises BadInput."""
    reader = Reader(document, where)
    optional = ("ties", "paper", "locator", "quote", "symbols")
    fields = reader.fields(("schema", "system", "parameters", "state", "claim"), optional)
    fields["schema"].word(("verifier/problem/1",))
    _texts(fields)
    system = fields["system"].word(("hardmax-frank-wolfe", LONG_FORM, EXPRESSIONS, *systems()))
    if is_open(fields["state"].value):
        return _read_open(reader)
    if system == EXPRESSIONS:
        return read_expression_problem(reader)
    return read_hardmax(reader) if system == "hardmax-frank-wolfe" else read_map_problem(reader)


def _read_open(reader: Reader) -> SearchProblem:
    """A problem with a start to be found; the rest of it is held to the same rules as with a start."""
    problem = read_search(reader)
    for index in range(max(1, len(problem.find.shapes))):
        parse_problem(example(problem, index), where=reader.where)
    return problem


def _texts(fields: dict[str, Reader]) -> None:
    """The fields that are shown and never interpreted."""
    if "paper" in fields:
        paper = fields["paper"].fields((), ("openreview", "arxiv", "title"))
        if not paper:
            raise fields["paper"].error("the paper has no identifier", mend="give openreview, arxiv or title")
        for key, entry in paper.items():
            entry.text(400 if key == "title" else 40, least=1)
    for key, most in (("locator", 400), ("quote", 2_000)):
        if key in fields:
            fields[key].text(most)
    if "symbols" in fields:
        symbols = fields["symbols"]
        if not isinstance(symbols.value, dict) or len(symbols.value) > 32:
            raise symbols.error(
                "symbols is not an object of at most 32 entries", mend='write {"K": "hull of the tokens"}'
            )
        for key in symbols.value:
            if not 1 <= len(key) <= 100:
                raise symbols.error("a symbol has no or more than 100 characters", mend="shorten it")
            symbols.child(key).text(400, least=1)


def posed_with(problem: SearchProblem, state: Any) -> Problem:
    """The problem that a search poses for one start, given as a JSON value. Raises BadInput for no such start."""
    if not isinstance(state, dict) or is_open(state):
        raise BadInput("the start is no object with a start in it", mend="see docs/certificates.md")
    if problem.system == "hardmax-frank-wolfe":
        Reader(state, "the start").fields(("tokens",))["tokens"].items(1, MOST_TOKENS)[0].vector()
    return parse_problem(problem.concrete(Start(state, "given")), where="the start")


def refute(
    problem: Problem,
    *,
    horizon: int = HORIZON,
    time_limit: float | None = None,
    progress: Callable[[int, str], None] | None = None,
) -> Refutation:
    """Decides the problem's claim for its start, exactly; a start left to be found is searched for.

    `horizon` bounds the steps taken where no proof for all t is found, never a proof; `time_limit` is in seconds;
    `progress` hears the step and a remark about once a second on long runs.
    """
    if isinstance(problem, HardmaxProblem):
        return refute_hardmax(problem, horizon=horizon, time_limit=time_limit, progress=progress)
    if isinstance(problem, SearchProblem):
        return search(problem, decide=_decide, horizon=horizon, time_limit=time_limit, progress=progress)
    if isinstance(problem, ExpressionProblem):
        return refute_expression(problem, horizon=horizon, time_limit=time_limit, progress=progress)
    return refute_map(problem, horizon=horizon, time_limit=time_limit, progress=progress)


def _decide(document: dict[str, Any], horizon: int, time_limit: float | None) -> Refutation:
    """The answer for one start of a search."""
    return refute(parse_problem(document, where="a start of the search"), horizon=horizon, time_limit=time_limit)


def float_report(problem: Problem, found: Refutation, *, horizon: int = HORIZON) -> dict[str, Any] | None:
    """What float64 says of the same start, for each form of evaluation, and where it parts from the exact orbit.

    For a search it is about the start found. None where there is none, where the time limit came first, and where the
    start's common denominator is too long to step exactly beside the floats.
    """
    if out_of_time(found) or not comparable(problem):
        return None
    if isinstance(problem, SearchProblem):
        if found.certificate is None:
            return None
        return float_report(parse_problem(found.certificate["problem"]), found, horizon=horizon)
    if isinstance(problem, ExpressionProblem):
        return expression_floats(problem, found)
    return compare(problem, found, horizon=horizon).document()
