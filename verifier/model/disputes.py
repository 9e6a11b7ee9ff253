"""The state table of a dispute, as code that reads like the table: status and event give the next status."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from verifier.model.contact_gate import gate
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
from verifier.model.dispute_status import (
    Adjudication,
    Challenge,
    ChallengeEnd,
    DisputeState,
    DisputeStatus,
    Facts,
    Ground,
    Notice,
    RegistrationRead,
    Reply,
    ReplyKind,
    Retraction,
    StandingRuling,
    Tie,
    Visibility,
)
from verifier.model.eligibility import barred, wrote_or_reported
from verifier.model.errors import BadInput
from verifier.model.rulings import Ruling

__all__ = ["DisputeState", "DisputeStatus", "NotAllowed", "Visibility", "advance"]

_AFTER_NOTICE = (DisputeState.NOTIFIED, DisputeState.ACKNOWLEDGED, DisputeState.CONTESTED)
_RULED_TO_CONTESTED = (DisputeState.RULED, DisputeState.ADJUDICATED, *_AFTER_NOTICE)
_TEXT_FIELDS = ("title", "source_sha256", "quote", "locator", "later_versions")


class NotAllowed(BadInput):
    """The state table does not allow this: the missing guard, in words."""


def advance(status: DisputeStatus | None, event: Event) -> DisputeStatus:
    """Where the dispute stands after `event`; `status` is None before its first registration.

    Raises NotAllowed with the guard that is missing. The table is written in docs/people.md.
    """
    if isinstance(event, Registered):
        return _registered(status, event)
    if status is None:
        raise NotAllowed("nothing is registered on this dispute")
    return replace(_ROWS[type(event)](status, event), last=event.leaf)


def _registered(status: DisputeStatus | None, event: Registered) -> DisputeStatus:
    """Registration | any | – | open if none; else unchanged."""
    facts = event.facts
    if status is None:
        status = DisputeStatus(dispute=event.dispute, paper=event.paper, claim_sha256=event.claim_sha256)
    else:
        # a version once known stays known, whatever a later case file lists
        listed = {arxiv for arxiv, _ in facts.later_versions}
        known = tuple(pair for pair in status.facts.later_versions if pair[0] not in listed)
        facts = replace(facts, later_versions=(*known, *facts.later_versions))
    read = RegistrationRead(
        event.leaf, event.registration, event.exploratory, facts, writer=event.writer, reporter=event.reporter
    )
    fresh = status.fresh_registrations
    if status.state is DisputeState.RETRACTED:
        fresh |= {event.registration}
    return replace(
        status,
        registrations=(*status.registrations, read),
        fresh_registrations=fresh,
        last=event.leaf,
    )


def _ruled(status: DisputeStatus, event: Ruled) -> DisputeStatus:
    """Ruling | open … contested | not exploratory | ruled; and retracted, under a new registration."""
    if event.exploratory:
        return status
    standing = status.ruling
    no_answer = event.ruling is Ruling.NO_ANSWER
    if no_answer and standing is not None and standing.ruling is not Ruling.NO_ANSWER:
        return status  # no answer replaces only no answer
    if status.state is DisputeState.RETRACTED and event.registration not in status.fresh_registrations:
        raise NotAllowed("the ruling was retracted, and only a ruling under a new registration takes its place")
    upheld_unannounced = status.ground is Ground.NOT_UPHELD and event.ruling is Ruling.UPHELD
    visibility, ground = status.visibility, status.ground
    if upheld_unannounced:
        # it became public because nothing was upheld; the authors have not been told of this
        visibility, ground = (Visibility.NOTIFIED if status.notices else Visibility.PRIVATE), None
    return replace(
        status,
        state=DisputeState.RULED,
        ruling=StandingRuling(event.leaf, event.ruling, event.registration, event.time),
        adjudications=(),
        challenges=tuple(challenge for challenge in status.challenges if not challenge.lapses),
        notice_outdated=status.notice_outdated or bool(status.notices),
        visibility=visibility,
        ground=ground,
    )


def _adjudicated(status: DisputeStatus, event: Adjudicated) -> DisputeStatus:
    """Adjudication | ruled (disagree: ruled … contested) | second eligible, no challenge | adjudicated."""
    made = Adjudication(
        leaf=event.leaf,
        by=event.by,
        group=event.group,
        target=event.target,
        agrees=event.agrees,
        tie=event.tie,
        barred=barred(status, event),
    )
    everyone = status.everyone | {event.by}
    if event.about == "reading":
        return replace(status, readings=(*status.readings, made), everyone=everyone)
    _must_stand(status, event.target)
    status = replace(status, adjudications=(*status.adjudications, made), everyone=everyone)
    if event.agrees:
        return _recomputed(status)
    return _flagged(status, Challenge(event.leaf, event.by, lapses=True)) if made.counts else _recomputed(status)


def _challenged(status: DisputeStatus, event: Challenged) -> DisputeStatus:
    """Challenge | ruled … contested | – | `challenge_open`; adjudicated back to ruled."""
    _must_stand(status, event.target)
    return _flagged(status, Challenge(event.leaf, event.by, lapses=False))


def _must_stand(status: DisputeStatus, target: str) -> None:
    if status.state not in _RULED_TO_CONTESTED or status.ruling is None:
        raise NotAllowed(f"the dispute is {status.state}: {status.state.sentence}")
    if target != status.ruling.leaf:
        raise NotAllowed(
            f"it speaks of entry {target[:12]}, and the ruling that stands is {status.ruling.leaf[:12]}",
            mend="read the ruling that stands first",
        )


def _flagged(status: DisputeStatus, challenge: Challenge) -> DisputeStatus:
    return _recomputed(replace(status, challenges=(*status.challenges, challenge)))


def _recomputed(status: DisputeStatus) -> DisputeStatus:
    """Ruled and adjudicated follow from who agrees and whether a challenge is open; after a notice the state stays."""
    if status.state not in (DisputeState.RULED, DisputeState.ADJUDICATED):
        return status
    settled = len(status.agreeing) >= 2 and not status.challenge_open
    return replace(status, state=DisputeState.ADJUDICATED if settled else DisputeState.RULED)


def _challenge_ended(status: DisputeStatus, event: ChallengeEnded) -> DisputeStatus:
    """challenge-end | any | the challenger, or one who neither adjudicated nor opened it | flag off, recomputed."""
    ended = next((challenge for challenge in status.challenges if challenge.leaf == event.target), None)
    if ended is None:
        raise NotAllowed(f"there is no open challenge {event.target[:12]} on this dispute")
    own = event.by == ended.by
    if own != (event.how is ChallengeEnd.WITHDRAWN):
        raise NotAllowed(
            "whoever opened a challenge can only withdraw it" if own else "only its author withdraws a challenge"
        )
    if not own and event.by in status.everyone:
        raise NotAllowed("whoever adjudicated on this dispute does not decide a challenge to it")
    if not own and (event.tie is not Tie.NONE or wrote_or_reported(status, event)):
        raise NotAllowed("a challenge is decided by a person without ties who neither wrote the case nor reported it")
    status = replace(status, challenges=tuple(one for one in status.challenges if one is not ended))
    if event.how is ChallengeEnd.SUSTAINED:
        # the objection holds: who agreed before must look again, and what the authors were told is out of date
        kept = tuple(one for one in status.adjudications if not one.agrees)
        outdated = status.notice_outdated or bool(status.notices)
        status = replace(status, adjudications=kept, notice_outdated=outdated)
    return _recomputed(status)


def _noticed(status: DisputeStatus, event: Noticed) -> DisputeStatus:
    """author-notice | adjudicated | the gate | notified; fixes the window."""
    missing = gate(status)
    if missing:
        raise NotAllowed(
            "the contact gate is closed: " + "; ".join(one.what for one in missing),
            mend=f"the first can be supplied by {missing[0].who}",
        )
    _must_stand(status, event.target)
    _may_write_to_authors(status, event)
    if event.window_ends <= event.time:
        raise NotAllowed("the authors' window ends before it begins")
    notice = Notice(event.leaf, event.time, event.window_ends, event.target, event.by, event.author_keys)
    return replace(
        status,
        state=DisputeState.NOTIFIED,
        visibility=Visibility.NOTIFIED if status.visibility is Visibility.PRIVATE else status.visibility,
        notices=(*status.notices, notice),
        replies=(),
        notice_outdated=False,
    )


def _may_write_to_authors(status: DisputeStatus, event: Noticed) -> None:
    counted = {one.by for one in status.counted}
    if not (event.administrator or event.known_as(status.reporter) or event.by in counted):
        raise NotAllowed(
            "only the reporter of the dispute, an adjudicator whose agreement counts or an administrator notifies",
            mend="where the reporter's key is not known yet, an administrator admits it under the case's name for them",
        )
    if own := set(event.author_keys) & (event.every_key | status.everyone):
        raise NotAllowed(f"the key {min(own)[:16]} is the sender's or an adjudicator's, not an author's")


def _replied(status: DisputeStatus, event: Replied) -> DisputeStatus:
    """Reply | notified, acknowledged, contested | – | acknowledged or contested."""
    notice = status.notice
    if status.state not in _AFTER_NOTICE or notice is None:
        raise NotAllowed(f"the dispute is {status.state}, and no notice on the ruling that stands awaits a reply")
    if event.target != notice.leaf:
        raise NotAllowed(f"it answers entry {event.target[:12]}, and the last notice is {notice.leaf[:12]}")
    own = not event.every_key.isdisjoint(notice.author_keys)
    if not (own or event.administrator or event.by == notice.by):
        raise NotAllowed(
            "a reply is signed with a key that the notice names, or typed in by whoever sent it or an administrator"
        )
    if event.reply is ReplyKind.FIXED_IN_VERSION:
        if not event.version:
            raise NotAllowed("the version in which it is fixed is not named")
        status = _with_facts(status, status.facts.with_version(event.version, "not-read"))
    reply = Reply(event.leaf, event.reply, event.consent, own=own)
    state = DisputeState.CONTESTED if event.reply.objects else DisputeState.ACKNOWLEDGED
    return replace(status, state=state, replies=(*status.replies, reply))


def _published(status: DisputeStatus, event: Published) -> DisputeStatus:
    """Publication | any but open | consent or window, on the ruling notified; or not upheld; no flag set | public."""
    if status.state is DisputeState.OPEN or status.ruling is None:
        raise NotAllowed("there is no ruling to publish")
    if status.visibility is Visibility.PUBLIC:
        raise NotAllowed("this dispute is public already")
    if status.challenge_open:
        raise NotAllowed("a challenge is open")
    if status.notice_outdated:
        raise NotAllowed("what the authors were told is out of date", mend="send them a correction first")
    if event.ground is Ground.NOT_UPHELD:
        if status.ruling.ruling is Ruling.UPHELD:
            raise NotAllowed("the ruling is UPHELD, so the authors are heard before anything is published")
        if not event.administrator or not event.source:
            raise NotAllowed("only an administrator publishes on this ground, naming the source that is public already")
    else:
        _authors_heard(status, event)
    return replace(status, visibility=Visibility.PUBLIC, ground=event.ground)


def _authors_heard(status: DisputeStatus, event: Published) -> None:
    """Raises NotAllowed where neither the window nor the authors' consent is a ground for this publication."""
    notice = status.notice
    if notice is None or status.ruling is None:
        raise NotAllowed("the authors were not written to")
    if notice.ruling != status.ruling.leaf:
        raise NotAllowed(
            f"the authors were written to on the ruling {notice.ruling[:12]}, and {status.ruling.leaf[:12]} stands",
            mend="where it is UPHELD and two people agree with it, write to the authors again",
        )
    if not event.administrator and event.by != notice.by:
        raise NotAllowed("only whoever sent the notice, or an administrator, publishes")
    if event.ground is Ground.WINDOW:
        if event.time < notice.window_ends:
            raise NotAllowed(f"the authors' window ends at {notice.window_ends}")
        return
    last = status.replies[-1] if status.replies else None
    if last is None or not last.consent:
        raise NotAllowed("the authors' last word does not consent")
    if not last.own:
        raise NotAllowed(
            "the consent was typed in for the authors, not signed with a key that the notice names",
            mend="let an author sign the reply, or wait for the end of the window",
        )
    if last.kind.objects and not last.answered:
        raise NotAllowed("the authors' objection waits for a correction, a new ruling or the end of the window")


def _corrected(status: DisputeStatus, event: Corrected) -> DisputeStatus:
    """Correction | any but open | amends the listed fields | unchanged.

    correction | any but open | by the sender or an administrator, answers the last notice | unchanged; not outdated.
    """
    if status.state is DisputeState.OPEN:
        raise NotAllowed("there is no ruling yet, so the case itself is mended")
    if event.answers:
        _may_answer(status, event)
    amended = _amended(status.facts, event)
    if amended == status.facts and not event.answers:
        raise NotAllowed("it amends nothing and answers no notice")
    status = _with_facts(status, amended)
    if not event.answers:
        return status  # what was amended, the authors have yet to be told
    replies = tuple(replace(reply, answered=True) for reply in status.replies)
    return replace(status, notice_outdated=False, replies=replies)


def _may_answer(status: DisputeStatus, event: Corrected) -> None:
    notice = status.notice
    if notice is None or event.answers != notice.leaf:
        last = "there is none" if notice is None else f"the last one is {notice.leaf[:12]}"
        raise NotAllowed(f"it answers the notice {event.answers[:12]}, and on this dispute {last}")
    if not (event.administrator or event.by == notice.by):
        raise NotAllowed("only whoever sent the notice, or an administrator, tells the authors what changed")


def _amended(facts: Facts, event: Corrected) -> Facts:
    premises = list(facts.premises)
    for number, checked, source in event.premises:
        if not 1 <= number <= len(premises):
            raise NotAllowed(f"the case has no premise {number}")
        text, had_checked, had_source = premises[number - 1]
        now_checked = had_checked if checked is None else checked
        premises[number - 1] = (text, now_checked, had_source if source is None else source)
    given: dict[str, Any] = {name: getattr(event, name) for name in _TEXT_FIELDS if getattr(event, name) is not None}
    return replace(facts, premises=tuple(premises), **given)


def _with_facts(status: DisputeStatus, amended: Facts) -> DisputeStatus:
    """The status with the facts of the standing ruling's registration amended, and those of the ones after it alike.

    A later registration's premises are matched by their text.
    """
    before = status.facts
    start = next((i for i, read in enumerate(status.registrations) if read.facts is before), 0)
    known = {text: (text, checked, source) for text, checked, source in amended.premises}
    changed: dict[str, Any] = {
        name: getattr(amended, name) for name in _TEXT_FIELDS if getattr(amended, name) != getattr(before, name)
    }
    moved = {premise for premise in amended.premises if premise not in before.premises}
    after = tuple(
        replace(
            read,
            facts=replace(
                read.facts,
                premises=tuple(known[one[0]] if known.get(one[0]) in moved else one for one in read.facts.premises),
                **changed,
            ),
        )
        for read in status.registrations[start:]
    )
    return replace(status, registrations=(*status.registrations[:start], *after))


def _retracted(status: DisputeStatus, event: Retracted) -> DisputeStatus:
    """Retraction | ruled … contested | reporter or administrator; refers to the ruling | retracted."""
    _must_stand(status, event.target)
    if not (event.administrator or event.known_as(status.reporter)):
        raise NotAllowed("only the reporter of the dispute or an administrator retracts")
    every = tuple(notice.leaf for notice in status.notices)
    if event.notices != every:
        raise NotAllowed("it does not list every notice", mend="repeat the command, so that the newest is among them")
    made = Retraction(event.leaf, event.target, event.time, every)
    return replace(
        status,
        state=DisputeState.RETRACTED,
        retractions=(*status.retractions, made),
        fresh_registrations=frozenset(),
    )


_ROWS: dict[type[Event], Callable[[DisputeStatus, Any], DisputeStatus]] = {
    Ruled: _ruled,
    Adjudicated: _adjudicated,
    Challenged: _challenged,
    ChallengeEnded: _challenge_ended,
    Noticed: _noticed,
    Replied: _replied,
    Published: _published,
    Corrected: _corrected,
    Retracted: _retracted,
    Unmoving: lambda status, _event: status,
}
