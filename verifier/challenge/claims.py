"""claims.json and claims_anchored.json: which claims a paper was said to make, pinned by the hash of their text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from verifier.challenge.records import MAX_CLAIMS, is_paper_id
from verifier.challenge.stream import Strings, members, shown
from verifier.model.canonical import text_sha256
from verifier.model.errors import BadInput

_FIELDS = {"text", "status"}


class ListedClaim(NamedTuple):
    """A claim as listed: its text and its status on the board, as written there."""

    text: str
    status: str


class PaperClaims(NamedTuple):
    """The claims listed for one paper; their places in the list are the challenge's only key."""

    orid: str
    claims: tuple[ListedClaim, ...]


class Pin(NamedTuple):
    """Where a claim's text stands: the file's name and SHA-256, and its place in the paper's list, from 0."""

    file: str
    sha256: str
    place: int


@dataclass(slots=True)
class Pins:
    """Claims by paper and text hash. `papers` counts the papers; an anchored list takes the place of the plain one."""

    by_paper: dict[str, dict[str, Pin]] = field(default_factory=dict)

    @property
    def papers(self) -> int:
        """How many papers have a list."""
        return len(self.by_paper)

    @property
    def claims(self) -> int:
        """How many different claims there are."""
        return sum(map(len, self.by_paper.values()))

    def find(self, orid: str, claim_sha256: str) -> Pin | None:
        """Where this text is listed for this paper, or None: then the words were judged, but are not its claim now."""
        return self.by_paper.get(orid, {}).get(claim_sha256)


def read_claims(path: Path) -> Iterator[PaperClaims]:
    """The papers of a claims file, in its order. Raises BadInput naming file and paper, OSError."""
    with path.open("rb") as file:
        for key, value in members(file, name=path.name):
            if not is_paper_id(key):
                raise BadInput(
                    f"the key {shown(key)!r} is neither ten characters nor a numeric event id", where=path.name
                )
            yield PaperClaims(key, tuple(_listed(value, f"{path.name}, paper {key}")))


def _listed(value: Strings, where: str) -> Iterator[ListedClaim]:
    if not isinstance(value, list) or len(value) > MAX_CLAIMS:
        raise BadInput(f"its claims are not a list of at most {MAX_CLAIMS}", where=where)
    for number, claim in enumerate(value, start=1):
        if not isinstance(claim, dict) or claim.keys() != _FIELDS:
            raise BadInput(f"claim {number} has not exactly the fields text and status", where=where)
        text, status = claim["text"], claim["status"]
        if not isinstance(text, str) or not isinstance(status, str):
            raise BadInput(f"the text or status of claim {number} is not a text", where=where)
        yield ListedClaim(text, status)


def pins_of(plain: Sequence[Path], anchored: Sequence[Path] = ()) -> Pins:
    """The claims of these files; a paper's list in an anchored file replaces its list in a plain one.

    Where one text stands twice in a list, its first place counts. Raises as `read_claims`.
    """
    pins = Pins()
    for path in (*plain, *anchored):
        sha256 = file_sha256(path)
        for orid, claims in read_claims(path):
            listed: dict[str, Pin] = {}
            for index, claim in enumerate(claims):
                listed.setdefault(text_sha256(claim.text), Pin(path.name, sha256, index))
            pins.by_paper[orid] = listed
    return pins


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
