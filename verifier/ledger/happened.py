"""Entries as events of the state table."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from verifier.ledger.entry import Entry
from verifier.ledger.people_schema import (
    TABLES,
    AdjudicationTable,
    ChallengeEndTable,
    ChallengeTable,
    CorrectionTable,
    NoticeTable,
    PublicationTable,
    ReplyTable,
    RetractionTable,
    Signed,
)
from verifier.ledger.roster import Roster
from verifier.model.canonical import canonical_sha256
from verifier.model.dispute_events import (
    Adjudicated,
    Challenged,
    ChallengeEnded,
    Corrected,
    Event,
    Noticed,
    Published,
    Registered,
    Replied,
    Retracted,
    Ruled,
    Unmoving,
)
from verifier.model.dispute_status import ChallengeEnd, Facts, Ground, ReplyKind, Tie
from verifier.model.disputes import NotAllowed
from verifier.model.rulings import Ruling
from verifier.model.tables import validate
from verifier.model.words import SentenceEnum

E = TypeVar("E", bound=SentenceEnum)


def table_of(entry: Entry) -> Signed:
    """The checked content of a person's entry. Raises TableError naming the key that is not what it must be."""
    return validate(TABLES[entry.kind], entry.content, path=(entry.kind,))


def registered(entry: Entry) -> Registered:
    """The event of a registration. Raises NotAllowed where its content is none."""
    content = entry.content
    case = content.get("case")
    dispute = content.get("dispute")
    if not isinstance(case, Mapping) or not isinstance(dispute, str):
        raise NotAllowed("its content is not that of a registration")
    return Registered(
        leaf=entry.leaf,
        time=entry.time,
        by=entry.by,
        dispute=dispute,
        paper=str(content.get("paper", "")),
        claim_sha256=str(content.get("claim_sha256", "")),
        registration=str(content["registration"]),
        exploratory=content.get("exploratory") is True,
        facts=facts_of(case),
        writer=str(_table(case, "case").get("written_by", "")),
        reporter=str(_table(case, "dispute").get("reported_by", "")),
    )


def facts_of(case: Mapping[str, Any]) -> Facts:
    """What a case file, as parsed, says that a correction may amend."""
    paper, claim = _table(case, "paper"), _table(case, "claim")
    versions = [one for one in _list(paper, "later_versions") if isinstance(one, Mapping)]
    premises = [one for one in _list(case, "premise") if isinstance(one, Mapping)]
    return Facts(
        title=str(paper.get("title", "")),
        source_sha256=str(paper.get("source_sha256", "")),
        quote=str(claim.get("quote", "")),
        locator=str(claim.get("locator", "")),
        later_versions=tuple((str(one.get("arxiv", "")), str(one.get("claim", "not-read"))) for one in versions),
        premises=tuple(
            (canonical_sha256(str(one.get("text", ""))), str(one.get("checked", "no")), str(one.get("source", "")))
            for one in premises
        ),
    )


def _table(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def _list(value: Mapping[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return found if isinstance(found, list) else []


def ruled(entry: Entry) -> Ruled:
    """The event of a ruling. Raises NotAllowed where its content is none."""
    word = entry.content.get("ruling")
    if not isinstance(word, str) or word not in Ruling.__members__:
        raise NotAllowed("it names no ruling")
    return Ruled(
        leaf=entry.leaf,
        time=entry.time,
        by=entry.by,
        registration=str(entry.content["registration"]),
        ruling=Ruling[word],
        exploratory=entry.content.get("exploratory") is True,
    )


def said(entry: Entry, *, person: str, roster: Roster) -> Event:
    """The event of an entry that a person signed, with what the roster knows of them.

    Raises TableError for content that is not what its kind must be.
    """
    common: dict[str, Any] = {
        "leaf": entry.leaf,
        "time": entry.time,
        "by": person,
        "group": entry.group,
        "keys": roster.keys(person),
        "names": roster.names(person),
        "administrator": roster.is_administrator(person),
    }
    match table_of(entry):
        case AdjudicationTable() as told:
            return Adjudicated(
                **common, about=told.about, target=told.target, agrees=told.agrees, tie=_word(Tie, told.tie)
            )
        case ChallengeTable() as told:
            return Challenged(**common, target=told.target)
        case ChallengeEndTable() as told:
            return ChallengeEnded(
                **common, target=told.target, how=_word(ChallengeEnd, told.how), tie=_word(Tie, told.tie)
            )
        case NoticeTable() as told:
            ends = _later(entry.time, told.window_days)
            return Noticed(**common, target=told.target, window_ends=ends, author_keys=tuple(told.author_keys))
        case ReplyTable() as told:
            return Replied(
                **common,
                target=told.target,
                reply=_word(ReplyKind, told.reply),
                consent=told.consent,
                version=told.version,
            )
        case PublicationTable() as told:
            return Published(**common, ground=_word(Ground, told.ground), source=told.source)
        case CorrectionTable() as told:
            return _corrected(told, common)
        case RetractionTable() as told:
            return Retracted(**common, target=told.target, notices=tuple(told.notices))
        case _:
            return Unmoving(**common)


def _word(words: type[E], value: str) -> E:
    return next(word for word in words if word.value == value)


def _later(time: str, days: int) -> str:
    moment = datetime.fromisoformat(time[:-1]) + timedelta(days=days)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _corrected(told: CorrectionTable, common: Mapping[str, Any]) -> Corrected:
    paper, claim = told.changes.paper, told.changes.claim
    versions = paper.later_versions
    return Corrected(
        **common,
        title=paper.title,
        source_sha256=paper.source_sha256,
        quote=claim.quote,
        locator=claim.locator,
        later_versions=None if versions is None else tuple((one.arxiv, one.claim) for one in versions),
        premises=tuple((one.number, one.checked, one.source) for one in told.changes.premises),
        answers=told.answers,
    )
