"""Whose word on a ruling counts: a person without ties, of a named group, who neither wrote nor reported."""

from __future__ import annotations

from verifier.model.dispute_events import Adjudicated, Event
from verifier.model.dispute_status import DisputeStatus, Tie
from verifier.model.names import same_name


def barred(status: DisputeStatus, event: Adjudicated) -> str:
    """Why this adjudication does not count, as a clause; empty where it does."""
    if event.tie is not Tie.NONE:
        return f"the tie is {event.tie}, and only none counts"
    if not same_name(event.group):
        return "no --group"
    return "its author wrote a case of this dispute or reported it" if wrote_or_reported(status, event) else ""


def wrote_or_reported(status: DisputeStatus, event: Event) -> bool:
    """Whether any registration names whoever says this: registering anew makes nobody a stranger to the dispute."""
    return any(event.known_as(name) for name in status.interested)
