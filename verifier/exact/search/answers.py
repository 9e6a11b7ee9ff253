"""What a search reads off one start's answer."""

from __future__ import annotations

from verifier.exact.answer import Refutation
from verifier.model.answers import ExactAnswer

VIOLATED = (ExactAnswer.VIOLATED, ExactAnswer.VIOLATED_FOR_ALL)


def violated(found: Refutation) -> bool:
    """Whether the start breaks the claim within its hypotheses."""
    return found.answer in VIOLATED


def margin_of(found: Refutation) -> tuple[float, int] | None:
    """1 − left/right at its smallest and the step, where the answer says so; None where some selections break it."""
    horizon = found.horizon
    if horizon is not None and horizon.partly:
        return None
    if horizon is not None and horizon.margin is not None and horizon.margin_at is not None:
        return horizon.margin, horizon.margin_at
    return found.smallest_margin
