"""Exact work in a worker: the finder decides the problem; a certificate counts where the checker accepts it."""

from __future__ import annotations

import json

from verifier.exact import accepted, float_report, refutation_document, refute
from verifier.exact.margin_document import margin_document, margins_of
from verifier.exact.probe import read_problem_text
from verifier.model.answers import ExactAnswer
from verifier.model.errors import VerifierError
from verifier.model.results import ExactEvidence
from verifier.sweeps.jobs import ExactCall, Failure, Row, exact_row


def exact_work(job: ExactCall) -> Row | Failure:
    """The row of an exact call. A certificate that the checker does not accept is no answer."""
    try:
        problem = read_problem_text(job.text, where=job.target)
        found = refute(problem, horizon=job.horizon)
        answer = found.answer
        checked = accepted(found)
        outside = found.answer is ExactAnswer.UNSUPPORTED_HYPOTHESIS
        floats = None if outside else float_report(problem, found, horizon=job.horizon)
    except VerifierError as error:
        return Failure(f"{job.target}: {error.what}")
    if checked.refused:
        return Failure(f"{job.target}: the finder says {answer}, the checker {checked.refused}")
    document = {
        "sentence": found.sentence,
        "finder": job.finder,
        "problem": json.loads(job.text),
        **refutation_document(found, certificate=None, floats=floats),
    }
    series, _ = margins_of(problem, found, horizon=job.horizon)
    picture = None if series is None else margin_document(series)
    return exact_row(ExactEvidence(document, checked.text, checked.said, picture))
