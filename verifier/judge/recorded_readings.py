"""Readings as an entry: kept beside the evidence, never part of it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from verifier.judge.claims import PaperJudgement
from verifier.judge.packet import Packet
from verifier.judge.reading import Agreement, Reading
from verifier.ledger import Content, Entry, FreeText, Ledger
from verifier.ledger.entry import MAX_NAME, MAX_REFS
from verifier.ledger.times import EPOCH_VARIABLE, fixed_epoch
from verifier.model.canonical import rational_text
from verifier.model.errors import BadInput

_MODEL = "model "


def may_be_recorded(*, model: str, key: str) -> None:
    """Raises BadInput, before anything is asked, where the readings could not be recorded or sent.

    That is a model whose name is no pseudonym, a key that is no header, or a ledger that holds no people's words.
    """
    if not 0 < len(model) <= MAX_NAME - len(_MODEL) or not model.isprintable():
        raise BadInput("the model's name is not one short line", where="--model")
    if not key.isascii() or (key and not key.isprintable()):
        raise BadInput("the endpoint's key holds a character that cannot be sent", where="VERIFIER_ENDPOINT_KEY")
    if fixed_epoch() is not None:
        raise BadInput(
            "a reproducible ledger takes no readings", where=EPOCH_VARIABLE, mend="unset it and use another ledger"
        )


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
    with ledger.transaction() as transaction:
        return transaction.append(kind="judge-reading", content=content, by=_MODEL + model, refs=refs[:MAX_REFS]).entry
