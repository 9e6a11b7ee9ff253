"""The audit of a function: which formula of a catalogue it computes, or whether it scores what an evaluator should."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from verifier.audits.audit import Audit
from verifier.model.errors import BadInput
from verifier.model.questions import EVALUATORS, Question
from verifier.model.tables import Path, TableError


def check_question(question: Question, *, path: Path) -> None:
    """Raises TableError for a catalogue that is none, or a stated formula that is not in it."""
    from verifier.audits.catalogues import CATALOGUES, catalogue_named  # noqa: PLC0415  # most cases need none
    from verifier.audits.identify.resolve import resolve  # noqa: PLC0415  # likewise

    if question.catalogue == EVALUATORS:
        if question.stated:
            raise TableError("an evaluator has one right answer", path=(*path, "stated"), mend="remove it")
        return
    if question.catalogue not in CATALOGUES:
        from verifier.model.tables import nearest  # noqa: PLC0415  # likewise

        what = "no catalogue is named" if not question.catalogue else f"{question.catalogue} is no catalogue"
        raise TableError(
            what, path=(*path, "catalogue"), mend=nearest(question.catalogue, [*CATALOGUES, EVALUATORS], what="one")
        )
    if not question.stated:
        raise TableError(
            "the formula that the text names is missing",
            path=path,
            mend='write stated = "KL(p||q)", as the text has it',
        )
    try:
        resolve(question.stated, catalogue_named(question.catalogue), letters=_letters(question))
    except BadInput as error:
        raise TableError(error.what, path=(*path, "stated"), mend=error.mend) from error


def audit_function(function: Callable[..., Any], question: Question) -> Audit:
    """Whether `function` is what the text says. Raises BadInput as `fingerprint` and `identify` do."""
    from verifier.audits.fingerprint import fingerprint  # noqa: PLC0415  # either is needed alone
    from verifier.audits.identify import identify  # noqa: PLC0415  # likewise

    if question.catalogue == EVALUATORS:
        return replace(fingerprint(function, returns=question.returns).audit(), code_against_text=True)
    found = identify(function, catalogue=question.catalogue, inputs=question.inputs, letters=_letters(question))
    materiality = float(question.threshold) if question.threshold else None
    return found.audit(expected=question.stated, materiality=materiality)


def _letters(question: Question) -> tuple[str, str]:
    first, second = question.letters or ("p", "q")
    return first, second
