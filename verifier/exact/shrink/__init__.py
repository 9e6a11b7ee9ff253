"""A smaller start with the same answer: what can be left out, smaller numbers, then a canonical form."""

from __future__ import annotations

from verifier.exact.answer import Refutation
from verifier.exact.expressions.problem import ExpressionProblem
from verifier.exact.hardmax.problem import HardmaxProblem
from verifier.exact.piecewise.problem import MapProblem
from verifier.exact.refute import Problem, parse_problem, refute
from verifier.exact.shrink import expressions, hardmax, maps
from verifier.exact.shrink.boundary import admits
from verifier.exact.shrink.driver import Decide, Document, Moves, Shrunk, smallest
from verifier.model.errors import BadInput

__all__ = ["Shrunk", "shrink"]

HORIZON = 400
"""Steps a candidate may take: a smaller start that needs more is not simpler."""


def shrink(problem: Problem, *, time_limit: float | None = None, keep_parameters: bool = False) -> Shrunk:
    """A start with the same answer that no single step makes smaller; `time_limit` in seconds ends the search early.

    `keep_parameters` leaves B, or a method's parameters, as they are.

    Steps, by system. hardmax: leave out a coordinate, a token; B = identity; a number nearer to 0 or with a smaller
    denominator; then coprime tokens, the larger side positive, in descending order where ties allow. Maps: such numbers
    in the state, then in the method's parameters; then coprime entries where the map is homogeneous and the claim
    permits. Expressions: zeros, then such numbers. The hypotheses are decided anew for each candidate.
    No start of a map is moved onto the point that the claim names, and no orbit onto a boundary between two branches
    (`boundary`).

    Raises BadInput for starts without a certificate and for problems whose start is still to be found.
    """
    document, moves = _prepared(problem, keep_parameters=keep_parameters)
    found = refute(problem, time_limit=time_limit)
    if found.certificate is None:
        raise BadInput(
            f"the answer is {found.answer} and has no certificate", mend="give a start where the claim fails"
        )
    return smallest(document, found, moves=moves, decide=_decider(problem), time_limit=time_limit)


def _prepared(problem: Problem, *, keep_parameters: bool) -> tuple[Document, Moves]:
    if isinstance(problem, HardmaxProblem):
        return problem.document, hardmax.moves(keep_parameters=keep_parameters)
    if isinstance(problem, MapProblem):
        return maps.short_form(problem), maps.moves_of(problem, keep_parameters=keep_parameters)
    if isinstance(problem, ExpressionProblem):
        return problem.document, expressions.MOVES
    raise BadInput("the start is still to be found", mend="give the certificate that refute writes")


def _decider(given: Problem) -> Decide:
    admitted = admits(given, steps=HORIZON) if isinstance(given, MapProblem) else None

    def decide(document: Document, seconds: float | None) -> Refutation | None:
        try:
            problem = parse_problem(document)
            found = refute(problem, horizon=HORIZON, time_limit=seconds)
        except BadInput:  # more digits than the format holds, or a parameter that the method cannot have
            return None
        if admitted is None or found.certificate is None:
            return found
        return found if isinstance(problem, MapProblem) and admitted(problem) else None

    return decide
