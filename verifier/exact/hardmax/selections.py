"""What may be said of a claim where ties leave several selections, and not all of them are decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from verifier.exact.answer import Horizon, Hypothesis, Refutation, Ties
from verifier.model.answers import ExactAnswer

TOO_MANY = "number of selections"
"""What stopped the stepping where more selections would have to be followed than the format holds."""

_SAID = {
    ExactAnswer.VIOLATED: ("breaks the bound", "break the bound"),
    ExactAnswer.UNSUPPORTED_HYPOTHESIS: ("leaves the hypotheses", "leave the hypotheses"),
    ExactAnswer.HOLDS_FOR_ALL: ("holds for all t", "hold for all t"),
    ExactAnswer.VERIFIED_TO_HORIZON: ("is open", "are open"),
}


@dataclass(frozen=True, slots=True)
class Followed:
    """One selection, or the beginning of several: its answer and first violation; `reached`: the last step checked."""

    answer: ExactAnswer
    first: int | None
    reached: int


def kind_of(answer: ExactAnswer) -> ExactAnswer:
    """Failing at one step and failing for good speak alike of a selection."""
    return ExactAnswer.VIOLATED if answer is ExactAnswer.VIOLATED_FOR_ALL else answer


def depends(answers: Iterable[ExactAnswer]) -> bool:
    """Whether the answer is proved to depend on the selection: two that are decided differ."""
    return len({kind_of(answer) for answer in answers} - {ExactAnswer.VERIFIED_TO_HORIZON}) > 1


def ambiguous(hypotheses: tuple[Hypothesis, ...], ties: Ties | None, why: str) -> Refutation:
    """The answer where it depends on the selection."""
    assert ties is not None
    return Refutation(
        ExactAnswer.AMBIGUOUS,
        f"The answer depends on ties, first at t = {ties.t} for token {ties.token} ({_by_rule(ties)}): {why}.",
        hypotheses,
        ties=ties,
        no_certificate="no statement holds for every selection",
    )


def partly_decided(
    hypotheses: tuple[Hypothesis, ...],
    ties: Ties | None,
    followed: Sequence[Followed],
    *,
    horizon: Horizon,
    complete: bool,
) -> Refutation:
    """The answer where some selections are open and the others agree.

    `horizon` is that of the open ones; `complete` is False where more than 64 selections would have to be followed.
    """
    assert ties is not None
    kinds = [kind_of(one.answer) for one in followed]
    counts = []
    for answer, (single, several) in _SAID.items():
        if count := kinds.count(answer):
            counts.append(f"{count} {single if count == 1 else several}{_when(answer, followed)}")
    name = "followed" if complete else f"beginning{'s' * (len(followed) != 1)} followed"
    limit = "" if complete else "More than 64 selections would have to be followed. "
    sentence = (
        f"{limit}Decided for some selections only: of {len(followed)} {name} {', '.join(counts)}; by rule, "
        f"{_by_rule(ties)}. The first tie is at t = {ties.t} for token {ties.token}."
    )
    return Refutation(
        ExactAnswer.VERIFIED_TO_HORIZON,
        sentence,
        hypotheses,
        ties=ties,
        no_certificate="no statement is proved for every selection",
        horizon=replace(horizon, partly=True),
    )


def _when(answer: ExactAnswer, followed: Sequence[Followed]) -> str:
    if answer is ExactAnswer.VIOLATED:
        known = [one.first for one in followed if kind_of(one.answer) is answer and one.first is not None]
        return f", first at t = {min(known)}" if known else ""
    if answer is ExactAnswer.VERIFIED_TO_HORIZON:
        return f" from t = {min(one.reached for one in followed if one.answer is answer) + 1} on"
    return ""


def _by_rule(ties: Ties) -> str:
    return "; ".join(
        f"{rule}: {answer}" + (f" first at t = {t}" if t is not None else "")
        for rule, (answer, t) in ties.answers.items()
    )
