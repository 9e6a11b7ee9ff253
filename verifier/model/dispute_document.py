"""Where a dispute stands, as JSON values: what the command line and the API both show."""

from __future__ import annotations

from typing import Any

from verifier.model.dispute_status import DisputeStatus


def status_fields(status: DisputeStatus) -> dict[str, Any]:
    """Where a dispute stands, for machines."""
    notice = status.notice
    return {
        "dispute": status.dispute,
        "paper": status.paper,
        "claim_sha256": status.claim_sha256,
        "state": str(status.state),
        "visibility": str(status.visibility),
        "challenge_open": status.challenge_open,
        "challenges": [one.leaf for one in status.challenges],
        "notice_outdated": status.notice_outdated,
        "ruling": None if status.ruling is None else status.ruling.ruling.words,
        "ruling_leaf": None if status.ruling is None else status.ruling.leaf,
        "window_ends": None if notice is None else notice.window_ends,
        "retractions": [one.leaf for one in status.retractions],
        "refused": [{"leaf": leaf, "because": because} for leaf, because in status.refused],
    }
