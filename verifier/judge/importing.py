"""Somebody else's verdicts as entries: untrusted, one entry a record, all of a file or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from verifier.challenge import Pins, Skipped, VerdictRecord, read_verdicts
from verifier.challenge.claims import Pin, file_sha256
from verifier.challenge.records import CLAIM_FIELDS, FIELDS
from verifier.ledger import Content, FreeText, Ledger
from verifier.model.canonical import sha256_hex, text_sha256
from verifier.model.errors import BadInput

BY = "import"
"""The pseudonym under which imported verdicts stand; whose word they are stands in the content."""

FORMAT = "challenge/verdicts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import did: records `appended`, `found` in the ledger before, and `skipped` with the reason.

    `claims` counts the claims in the records read, `pinned` those whose text stands in the claims files, and
    `same_content` the records that say the same, word for word, of the same paper as one of another Space.
    """

    appended: int
    found: int
    skipped: tuple[Skipped, ...]
    claims: int
    pinned: int
    same_content: int
    file_sha256: str


def import_verdicts(
    ledger: Ledger, path: Path, *, pins: Pins, revision: str = "", skip_invalid: bool = False
) -> Imported:
    """Validates all of a verdicts.json, then appends one `import` entry a record, in one transaction.

    A record imported before, from this or another file, is found by its content and not appended again. `revision`
    says which revision of its source the file is. With `skip_invalid` records with a wrong field are left out and
    listed. Raises BadInput where anything else is not right; then nothing is imported.
    """
    before = file_sha256(path)
    claims = pinned = appended = found = 0
    skipped: list[Skipped] = []
    for record in _records(path, skipped, skip_invalid=skip_invalid):
        claims += len(record.claims)
        pinned += sum(pins.find(record.orid, text_sha256(one.claim)) is not None for one in record.claims)
    said: dict[str, str] = {}  # evidence hash -> Space
    same = 0
    with ledger.transaction() as transaction:
        known = {str(entry.content.get("record_sha256")) for entry in transaction.entries("import")}
        for record in _records(path, [], skip_invalid=skip_invalid):
            evidence = evidence_sha256(record)
            same += said.setdefault(evidence, record.space_id) != record.space_id
            content = import_content(record, pins=pins, file_sha256=before, revision=revision)
            if content["record_sha256"] in known:
                found += 1
                continue
            known.add(str(content["record_sha256"]))
            transaction.append(kind="import", content=content, by=BY)
            appended += 1
        if file_sha256(path) != before:
            raise BadInput("the file changed while it was read", where=str(path), mend="repeat the import")
    return Imported(
        appended=appended,
        found=found,
        skipped=tuple(skipped),
        claims=claims,
        pinned=pinned,
        same_content=same,
        file_sha256=before,
    )


def _records(path: Path, skipped: list[Skipped], *, skip_invalid: bool) -> Iterator[VerdictRecord]:
    for read in read_verdicts(path, skip_invalid=skip_invalid):
        if isinstance(read, Skipped):
            skipped.append(read)
        else:
            yield read


def import_content(record: VerdictRecord, *, pins: Pins, file_sha256: str, revision: str) -> dict[str, Content]:
    """The content of the entry for one record.

    The record itself, with all that strangers wrote, stands as one free text of JSON, so that it can be withheld alone.
    """
    text = record_text(record)
    return {
        "format": FORMAT,
        "record_sha256": sha256_hex(text.encode()),
        "evidence_sha256": evidence_sha256(record),
        "source": {"file_sha256": file_sha256, "revision": revision},
        "paper": f"openreview:{record.orid}",
        "space": record.space_id,
        "sha": record.sha,
        "judged_at": record.judged_at,
        "model": record.model,
        "quality": record.quality,
        "claims": [
            {
                "claim_sha256": (sha256 := text_sha256(claim.claim)),
                "verdict": claim.verdict.value,
                "pin": _pinned(pins.find(record.orid, sha256)),
            }
            for claim in record.claims
        ],
        "record": FreeText(text),
    }


def _pinned(pin: Pin | None) -> Content:
    return None if pin is None else {"file": pin.file, "sha256": pin.sha256, "place": pin.place}


def record_text(record: VerdictRecord) -> str:
    """A record as JSON, its fields in the schema's order: equal for equal records."""
    fields = {name: getattr(record, name) for name in FIELDS}
    fields["claims"] = [{name: getattr(claim, name) for name in CLAIM_FIELDS} for claim in record.claims]
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def evidence_sha256(record: VerdictRecord) -> str:
    """What a record says, without who said it: equal for one logbook judged under two names."""
    said = [record.orid, *([claim.claim, claim.verdict, claim.evidence] for claim in record.claims)]
    return sha256_hex(json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode())
