"""A smaller start with the same answer: what can be left out, smaller numbers, then a canonical form."""

from __future__ import annotations

from verifier.exact.answer import Refutation
from verifier.exact.expressions.problem import ExpressionProblem
from verifier.exact.hardmax.problem import HardmaxProblem
from verifier.exact.piecewise.problem import MapProblem
from verifier.exact.refute import Problem, parse_problem, refute
from verifier.exact.shrink import expressions, hardmax, maps
from verifier.exact.shrink.driver import Document, Moves, Shrunk, smallest
from verifier.model.errors import BadInput

__all__ = ["Shrunk", "shrink"]

HORIZON = 400
"""Steps a candidate may take: a smaller start that needs more is not simpler."""


def shrink(problem: Problem, *, time_limit: float | None = None) -> Shrunk:
    """A start with the same answer that no single step makes smaller; `time_limit` in seconds ends the search early.

    Steps, by system. hardmax: leave out a coordinate, a token; B = identity; a number nearer to 0 or with a smaller
    denominator; then coprime tokens, the larger side positive, in descending order where ties allow. Maps: such numbers
    in the state, then in the method's parameters; then coprime entries where the map is homogeneous and the claim
    permits. Expressions: zeros, then such numbers. The hypotheses are decided anew for each candidate.

    Raises BadInput for starts without a certificate and for problems whose start is still to be found.
    """
    document, moves = _prepared(problem)
    found = refute(problem, time_limit=time_limit)
    if found.certificate is None:
        raise BadInput(
            f"the answer is {found.answer} and has no certificate", mend="give a start where the claim fails"
        )
    return smallest(document, found, moves=moves, decide=_decide, time_limit=time_limit)


def _prepared(problem: Problem) -> tuple[Document, Moves]:
    if isinstance(problem, HardmaxProblem):
        return problem.document, hardmax.MOVES
    if isinstance(problem, MapProblem):
        return maps.short_form(problem), maps.moves_of(problem)
    if isinstance(problem, ExpressionProblem):
        return problem.document, expressions.MOVES
    raise BadInput("the start is still to be found", mend="give the certificate that refute writes")


def _decide(document: Document, seconds: float | None) -> Refutation | None:
    try:
        return refute(parse_problem(document), horizon=HORIZON, time_limit=seconds)
    except BadInput:  # more digits than the format holds, or a parameter that the method cannot have
        return None
