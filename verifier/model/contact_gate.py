"""The contact gate: what must hold before the authors are written to, and who could supply what is missing."""

from __future__ import annotations

from typing import NamedTuple

from verifier.model.dispute_status import DisputeState, DisputeStatus
from verifier.model.rulings import Ruling


class Missing(NamedTuple):
    """What is missing, as a clause, and who could supply it."""

    what: str
    who: str


def gate(status: DisputeStatus) -> tuple[Missing, ...]:
    """What keeps the contact gate closed, in the order in which it is best mended; empty where it is open.

    It asks for an UPHELD ruling, state adjudicated, no open challenge, a quoted claim, no unread later version and no
    unchecked premise; quote, versions and premises are read as amended.
    """
    facts = status.facts
    missing = []
    if status.ruling is None:
        missing.append(Missing("there is no ruling", "whoever runs the case"))
    elif status.ruling.ruling is not Ruling.UPHELD:
        missing.append(
            Missing(
                f"the ruling is {status.ruling.ruling.words}, not UPHELD", "nobody: there is nothing to write about"
            )
        )
    if not facts.quote:
        missing.append(Missing("the claim is not quoted in the paper's own words", "anybody who has read the paper"))
    if facts.unread:
        missing.append(
            Missing(f"nobody has looked for the claim in {', '.join(facts.unread)}", "anybody who reads that version")
        )
    if facts.unchecked:
        numbers = ", ".join(map(str, facts.unchecked))
        plural = "s" if len(facts.unchecked) > 1 else ""
        missing.append(
            Missing(f"nobody has checked premise{plural} {numbers}", "anybody who checks it, or the authors")
        )
    if status.challenge_open:
        missing.append(
            Missing(
                "a challenge is open",
                "whoever opened it, or a person without ties who has neither adjudicated nor opened it",
            )
        )
    if status.state is not DisputeState.ADJUDICATED:
        missing.append(_not_adjudicated(status))
    return tuple(missing)


def _not_adjudicated(status: DisputeStatus) -> Missing:
    if status.state in (DisputeState.NOTIFIED, DisputeState.ACKNOWLEDGED, DisputeState.CONTESTED):
        return Missing("the authors were written to already", "nobody: it is done")
    if status.state is DisputeState.RETRACTED:
        return Missing("the ruling was retracted", "whoever registers and runs the case anew")
    count = len(status.agreeing)
    have = ("no eligible person agrees", "one eligible person agrees")[min(count, 1)]
    groups = f", not {status.agreeing[0].group}" if count == 1 else ""
    return Missing(
        f"{have} with the ruling, and two of different groups must",
        f"a person without ties who neither wrote the case nor reported the dispute{groups}",
    )
