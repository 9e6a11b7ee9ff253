"""Imported verdicts as read back from the ledger: who said what of which claim, and on what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from verifier.challenge.records import instant, is_space_id
from verifier.judge.findings import table_rows, text_at
from verifier.ledger import Entry
from verifier.model.verdicts import Verdict


class ImportedVerdict(NamedTuple):
    """An `import` entry in brief.

    `claims` maps claim hashes to the word; `evidence_sha256` is equal where two records say the same.
    """

    n: int
    leaf: str
    paper: str
    space: str
    sha: str
    judged_at: datetime
    evidence_sha256: str
    claims: dict[str, Verdict]

    @property
    def owner(self) -> str:
        """The user whose Space was judged: the team."""
        return self.space.partition("/")[0]


def imported_verdicts(entries: Iterable[Entry]) -> Iterator[ImportedVerdict]:
    """The imported verdicts among `entries`; an entry that somebody appended by hand and is none is left out."""
    words = {verdict.value: verdict for verdict in Verdict}
    for entry in entries:
        content = entry.content
        space, paper = text_at(content, "space"), text_at(content, "paper")
        try:
            judged = instant(text_at(content, "judged_at"))
        except ValueError:
            continue
        if not is_space_id(space) or not paper:
            continue
        claims = {
            text_at(row, "claim_sha256"): words[text_at(row, "verdict")]
            for row in table_rows(content, "claims")
            if text_at(row, "verdict") in words
        }
        evidence = text_at(content, "evidence_sha256")
        yield ImportedVerdict(entry.n, entry.leaf, paper, space, text_at(content, "sha"), judged, evidence, claims)
