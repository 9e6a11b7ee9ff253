"""Whose turn it is in a dispute: what comes next, and what is missing for it."""

from __future__ import annotations

from typing import NamedTuple

from verifier.model.contact_gate import Missing, gate
from verifier.model.dispute_status import DisputeState, DisputeStatus, Visibility
from verifier.model.rulings import Ruling

_ORGANIZER = "the organizer"
_AUTHORS = "the authors"


class Turn(NamedTuple):
    """Who owns a dispute now, what they do next, and what is missing for the step after it."""

    owner: str
    step: str
    missing: tuple[Missing, ...]

    @property
    def settled(self) -> bool:
        """Whether nobody has anything left to do."""
        return not self.owner


def turn(status: DisputeStatus, now: str) -> Turn:
    """Whose turn it is at `now` (RFC 3339 UTC, whole seconds): first row that applies."""
    state = status.state
    if state is DisputeState.RETRACTED:
        return Turn("", "the ruling was retracted; a new registration would open it again", ())
    if status.challenge_open:
        return _challenge(status)
    if status.notice_outdated:
        step = "sends the authors a correction, or a new notice: the last one is out of date"
        return Turn(_ORGANIZER, step, gate(status))
    if state is DisputeState.OPEN:
        return Turn("whoever registered the case", "runs it", gate(status)[:1])
    if status.visibility is Visibility.PUBLIC:
        return Turn("", "it is public", ())
    if status.ruling is not None and status.ruling.ruling is not Ruling.UPHELD:
        return Turn("", "nothing is upheld; an administrator may publish it where its source is public already", ())
    if state is DisputeState.RULED:
        return Turn("adjudicators", "read the ruling and its evidence, and agree or disagree", gate(status))
    if state is DisputeState.ADJUDICATED:
        missing = gate(status)
        step = "supplies what is missing before the authors are written to" if missing else "writes to the authors"
        return Turn(_ORGANIZER, step, missing)
    return _after_notice(status, now)


def _challenge(status: DisputeStatus) -> Turn:
    first = status.challenges[0]
    return Turn(
        "whoever opened the challenge, or a third person",
        f"withdraws or decides the challenge {first.leaf[:12]}",
        (Missing("a challenge is open", "a person without ties who has neither adjudicated nor opened it"),),
    )


def _after_notice(status: DisputeStatus, now: str) -> Turn:
    notice = status.notice
    assert notice is not None, "a notice led here"
    last = status.replies[-1] if status.replies else None
    consents = last is not None and last.consent and last.own and (last.answered or not last.kind.objects)
    if now >= notice.window_ends or consents:
        return Turn(_ORGANIZER, "publishes it", ())
    window = Missing(f"the window ends at {notice.window_ends}", "nobody: it passes")
    consent = Missing("the authors have not consented to publication", _AUTHORS)
    if last is not None and last.kind.objects and not last.answered:
        return Turn(_ORGANIZER, "answers the authors' objection with a correction or a new ruling", (window,))
    return Turn(_AUTHORS, f"have until {notice.window_ends} to reply", (window, consent))
