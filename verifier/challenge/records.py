"""One record of verdicts.json, strictly: nine fields, three for each claim."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from verifier.challenge.stream import shown
from verifier.model.canonical import text_sha256
from verifier.model.errors import BadInput
from verifier.model.verdicts import Verdict

FIELDS = ("space_id", "orid", "paper_title", "sha", "judged_at", "model", "claims", "overall", "quality")
CLAIM_FIELDS = ("claim", "verdict", "evidence")
QUALITIES = ("high", "medium", "low")
MAX_CLAIMS = 1_000
BOARD_WORDS = {"reproduced": Verdict.VERIFIED, "refuted": Verdict.FALSIFIED}
"""The board's own words for two of the judge's four."""

_SPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9._-]{1,96}")
_PAPER = re.compile(r"[A-Za-z0-9_-]{10}|[0-9]{1,12}")
_SHA = re.compile(r"[0-9a-f]{40}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """What the challenge's judge said of one claim: the claim's text, the word, the prose."""

    claim: str
    verdict: Verdict
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord:
    """One judged logbook: a Space at a revision, its paper, and the judge's word on each claim."""

    space_id: str
    orid: str
    paper_title: str
    sha: str
    judged_at: str
    model: str
    claims: tuple[ClaimVerdict, ...]
    overall: str
    quality: str

    @property
    def owner(self) -> str:
        """The user whose Space it is."""
        return self.space_id.partition("/")[0]


def is_paper_id(text: str) -> bool:
    """Whether `text` is an OpenReview id: ten characters, or a numeric event id."""
    return _PAPER.fullmatch(text) is not None


def is_space_id(text: str) -> bool:
    """Whether `text` names a Space, `owner/name`."""
    return _SPACE.fullmatch(text) is not None


def is_revision(text: str) -> bool:
    """Whether `text` is a revision: 40 lower-case hexadecimal digits."""
    return _SHA.fullmatch(text) is not None


def record_of(key: str, value: Any) -> VerdictRecord:
    """The record that stands under `key`. Raises BadInput, without saying in which file, where a field is not right."""
    fields = _fields(value, FIELDS, of="the record")
    texts = {name: _text(fields[name], name) for name in FIELDS if name != "claims"}
    _matching(key, texts["space_id"])
    checks = {
        "space_id": (is_space_id, "is not a Space id, owner/name"),
        "orid": (is_paper_id, "is neither ten characters nor a numeric event id"),
        "sha": (is_revision, "is not 40 lower-case hexadecimal digits"),
        "judged_at": (_is_time, "is not an ISO 8601 time"),
        "quality": (QUALITIES.__contains__, "is not high, medium or low"),
    }
    for name, (right, what) in checks.items():
        if not right(texts[name]):
            raise BadInput(f"its {name} {shown(texts[name])!r} {what}")
    claims = fields["claims"]
    if not isinstance(claims, list) or len(claims) > MAX_CLAIMS:
        raise BadInput(f"its claims are not a list of at most {MAX_CLAIMS}")
    made = tuple(_claim(claim, i) for i, claim in enumerate(claims, start=1))
    _once(made)
    return VerdictRecord(claims=made, **texts)


def _once(claims: tuple[ClaimVerdict, ...]) -> None:
    """Raises BadInput where one claim stands twice: then the record says two things of it, or one thing twice."""
    seen: dict[str, int] = {}
    for number, one in enumerate(claims, start=1):
        first = seen.setdefault(text_sha256(one.claim), number)
        if first != number:
            raise BadInput(f"claims {first} and {number} have the same text")


def _claim(value: Any, number: int) -> ClaimVerdict:
    fields = _fields(value, CLAIM_FIELDS, of=f"claim {number}")
    texts = {name: _text(fields[name], f"claim {number}: {name}") for name in CLAIM_FIELDS}
    word = texts["verdict"]
    verdict = BOARD_WORDS.get(word) or next((one for one in Verdict if one.value == word), None)
    if verdict is None:
        words = ", ".join([*(one.value for one in Verdict), *BOARD_WORDS])
        raise BadInput(f"the verdict {shown(word)!r} of claim {number} is none of {words}")
    return ClaimVerdict(texts["claim"], verdict, texts["evidence"])


def _matching(key: str, space: str) -> None:
    if key != space:
        differ = "differ only in case" if key.casefold() == space.casefold() else "differ"
        raise BadInput(f"its key and its space_id {shown(space)!r} {differ}")


def _fields(value: Any, names: tuple[str, ...], *, of: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadInput(f"{of} is not an object")
    if missing := [name for name in names if name not in value]:
        raise BadInput(f"{of} lacks {', '.join(missing)}")
    if unknown := [name for name in value if name not in names]:
        raise BadInput(f"{of} has {len(unknown)} unknown fields, the first of them {shown(unknown[0])!r}")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise BadInput(f"its {name} is not a text")
    return value


def _is_time(text: str) -> bool:
    if not _TIME.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def instant(judged_at: str) -> datetime:
    """The time a record was judged, comparable with others: one without an offset counts as UTC."""
    parsed = datetime.fromisoformat(judged_at)
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed
