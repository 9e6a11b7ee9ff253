"""An audit in a worker: a file of the case, or a function of its code, put to the audits' mechanisms."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from verifier.audits.document import audit_document
from verifier.audits.file import audit_file
from verifier.audits.function import audit_function
from verifier.model.errors import VerifierError
from verifier.sweeps.jobs import AuditCall, Failure, Row, audit_row


def audit_work(job: AuditCall, *, folder: Path, function: Callable[[str], Callable[..., Any]]) -> Row | Failure:
    """The row of an audit call. `folder` holds the case's files; `function` imports a target by its name."""
    try:
        if job.question is None:
            audits = audit_file(folder / job.target, threshold=job.threshold or None)
        else:
            asked = functools.partial(function(job.target), **dict(job.keywords))
            audits = (audit_function(asked, job.question),)
    except VerifierError as error:
        return Failure(f"{job.target}: {error.what}")
    return audit_row([audit_document(audit) for audit in audits])
