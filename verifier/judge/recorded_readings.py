"""Readings as an entry: kept beside the evidence, never part of it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from verifier.judge.claims import PaperJudgement
from verifier.judge.packet import Packet
from verifier.judge.reading import Agreement, Reading
from verifier.ledger import Content, Entry, FreeText, Ledger
from verifier.ledger.entry import MAX_NAME, MAX_REFS
from verifier.model.canonical import rational_text

_WHOLE_PACKET = 2**16  # claims' hashes and words are short; far more than any packet holds


def record_readings(
    ledger: Ledger,
    paper: PaperJudgement,
    packet: Packet,
    readings: Sequence[Reading],
    *,
    agreement: Agreement,
    model: str,
    endpoint: str,
) -> Entry:
    """Appends the readings of one packet as one `judge-reading` entry. They change no evidence and no verdict.

    It refers to the rulings that the packet shows; `endpoint` is recorded without anything secret.
    """
    assert len(packet.claims) < _WHOLE_PACKET
    shown = set(packet.claims.values())
    refs = [one.ruling.leaf for claim in paper.claims if claim.claim_sha256 in shown for one in claim.disputes]
    content: dict[str, Content] = {
        "request": str(uuid.uuid4()),
        "paper": paper.paper,
        "audience": paper.audience,
        "model": model,
        "endpoint": endpoint,
        "packet_sha256": packet.sha256,
        "size": paper.size,
        "root": paper.root,
        "alpha": None if agreement.alpha is None else rational_text(agreement.alpha),
        "missing": agreement.missing,
        "readings": [
            {
                "failure": reading.failure,
                "claims": [
                    {"claim_sha256": sha256, "word": said.word, "because": FreeText(said.because)}
                    for sha256, said in reading.claims.items()
                ],
            }
            for reading in readings
        ],
    }
    by = f"model {model}"[:MAX_NAME]
    with ledger.transaction() as transaction:
        return transaction.append(kind="judge-reading", content=content, by=by, refs=refs[:MAX_REFS]).entry
