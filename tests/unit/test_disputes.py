"""The state table: every row, every guard, and what no sequence of events reaches."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

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
from verifier.model.dispute_status import ChallengeEnd, Facts, Ground, ReplyKind, Tie
from verifier.model.disputes import DisputeState, DisputeStatus, NotAllowed, Visibility, advance
from verifier.model.docket import turn
from verifier.model.rulings import Ruling

FACTS = Facts(title="T", quote="q", locator="l", premises=(("p1", "by-us", "s"),))
DAY = "2026-01-{:02d}T00:00:00Z"
WINDOW_ENDS = DAY.format(20)


class Story:
    """One dispute and what happens to it, an event after the other."""

    def __init__(self, facts: Facts = FACTS) -> None:
        self.count = 0
        self.day = 1
        self.status: DisputeStatus | None = None
        self.register(facts=facts)

    @property
    def at(self) -> DisputeStatus:
        assert self.status is not None
        return self.status

    def tell(self, kind: type[Event], by: str = "engine", **fields: Any) -> str:
        self.count += 1
        leaf = f"leaf-{self.count}"
        self.status = advance(self.status, kind(leaf=leaf, time=DAY.format(self.day), by=by, **fields))
        return leaf

    def register(self, registration: str = "r1", facts: Facts = FACTS, **fields: Any) -> str:
        named = {"dispute": "d", "paper": "arxiv:1", "claim_sha256": "c", "writer": "writer", "reporter": "reporter"}
        fields = {**named, "exploratory": False, "registration": registration, "facts": facts, **fields}
        return self.tell(Registered, **fields)

    def rule(self, ruling: Ruling = Ruling.UPHELD, registration: str = "r1", *, exploratory: bool = False) -> str:
        return self.tell(Ruled, registration=registration, ruling=ruling, exploratory=exploratory)

    @property
    def ruling(self) -> str:
        assert self.at.ruling is not None
        return self.at.ruling.leaf

    def adjudicate(
        self, by: str, group: str, *, agrees: bool = True, tie: Tie = Tie.NONE, about: str = "ruling"
    ) -> str:
        return self.tell(Adjudicated, by, group=group, about=about, target=self.ruling, agrees=agrees, tie=tie)

    def challenge(self, by: str) -> str:
        return self.tell(Challenged, by, target=self.ruling)

    def end(self, by: str, target: str, how: ChallengeEnd, tie: Tie = Tie.NONE) -> str:
        return self.tell(ChallengeEnded, by, target=target, how=how, tie=tie)

    def notify(self, by: str = "a", **fields: Any) -> str:
        named = {"target": self.ruling, "window_ends": WINDOW_ENDS, "author_keys": ("author",)}
        return self.tell(Noticed, by, **{**named, **fields})

    def reply(self, kind: ReplyKind, by: str = "author", *, consent: bool = False, version: str = "") -> str:
        notice = self.at.notice
        target = "none" if notice is None else notice.leaf
        return self.tell(Replied, by, target=target, reply=kind, consent=consent, version=version)

    def publish(self, ground: Ground, by: str = "a", **fields: Any) -> str:
        return self.tell(Published, by, ground=ground, **fields)

    def retract(self, by: str = "reporter", **fields: Any) -> str:
        notices = tuple(notice.leaf for notice in self.at.notices)
        return self.tell(Retracted, by, target=self.ruling, **{"notices": notices, **fields})

    def refused(self, words: str, do: Any, *args: Any, **fields: Any) -> None:
        before = self.status
        with pytest.raises(NotAllowed, match=words):
            do(*args, **fields)
        assert self.status is before


def ruled() -> Story:
    story = Story()
    story.rule()
    return story


def adjudicated() -> Story:
    story = ruled()
    story.adjudicate("a", "g1")
    story.adjudicate("b", "g2")
    assert story.at.state is DisputeState.ADJUDICATED
    return story


def notified() -> Story:
    story = adjudicated()
    story.notify()
    return story


def acknowledged() -> Story:
    story = notified()
    story.reply(ReplyKind.AGREES)
    return story


def contested() -> Story:
    story = notified()
    story.reply(ReplyKind.HYPOTHESIS)
    return story


def retracted() -> Story:
    story = notified()
    story.retract()
    return story


REACH = {
    DisputeState.OPEN: Story,
    DisputeState.RULED: ruled,
    DisputeState.ADJUDICATED: adjudicated,
    DisputeState.NOTIFIED: notified,
    DisputeState.ACKNOWLEDGED: acknowledged,
    DisputeState.CONTESTED: contested,
    DisputeState.RETRACTED: retracted,
}

S = DisputeState
NO = None
# event -> the state it leads to from each state; None where it is not allowed. Written from the table.
TABLE: dict[str, dict[DisputeState, DisputeState | None]] = {
    "registration": {state: state for state in S},
    "ruling": {**dict.fromkeys(S, S.RULED), S.RETRACTED: NO},
    "agree": {
        S.OPEN: NO,
        S.RULED: S.RULED,
        S.ADJUDICATED: S.ADJUDICATED,
        S.NOTIFIED: S.NOTIFIED,
        S.ACKNOWLEDGED: S.ACKNOWLEDGED,
        S.CONTESTED: S.CONTESTED,
        S.RETRACTED: NO,
    },
    "challenge": {
        S.OPEN: NO,
        S.RULED: S.RULED,
        S.ADJUDICATED: S.RULED,
        S.NOTIFIED: S.NOTIFIED,
        S.ACKNOWLEDGED: S.ACKNOWLEDGED,
        S.CONTESTED: S.CONTESTED,
        S.RETRACTED: NO,
    },
    "notice": {**dict.fromkeys(S, NO), S.ADJUDICATED: S.NOTIFIED},
    "reply agrees": {
        **dict.fromkeys(S, NO),
        **dict.fromkeys((S.NOTIFIED, S.ACKNOWLEDGED, S.CONTESTED), S.ACKNOWLEDGED),
    },
    "reply objects": {
        **dict.fromkeys(S, NO),
        **dict.fromkeys((S.NOTIFIED, S.ACKNOWLEDGED, S.CONTESTED), S.CONTESTED),
    },
    "retraction": {**dict.fromkeys(S, S.RETRACTED), S.OPEN: NO, S.RETRACTED: NO},
    "correction": {**{state: state for state in S}, S.OPEN: NO},
    "nothing": {state: state for state in S},
}
DO: dict[str, Any] = {
    "registration": lambda story: story.register("r2"),
    "ruling": lambda story: story.rule(),
    "agree": lambda story: (
        story.adjudicate("x", "gx")
        if story.at.ruling
        else story.tell(Adjudicated, "x", group="gx", about="ruling", target="none", agrees=True, tie=Tie.NONE)
    ),
    "challenge": lambda story: story.challenge("x") if story.at.ruling else story.tell(Challenged, "x", target="none"),
    "notice": lambda story: (
        story.notify() if story.at.ruling else story.tell(Noticed, "o", target="none", window_ends=WINDOW_ENDS)
    ),
    "reply agrees": lambda story: story.reply(ReplyKind.AGREES),
    "reply objects": lambda story: story.reply(ReplyKind.OTHER),
    "retraction": lambda story: (
        story.retract() if story.at.ruling else story.tell(Retracted, "reporter", target="none", notices=())
    ),
    "correction": lambda story: story.tell(Corrected, "x", title="Another"),
    "nothing": lambda story: story.tell(Unmoving, "x"),
}


@pytest.mark.parametrize("state", S)
@pytest.mark.parametrize("event", TABLE)
def test_every_cell_of_the_table(state: DisputeState, event: str) -> None:
    story = REACH[state]()
    assert story.at.state is state
    wanted = TABLE[event][state]
    if wanted is None:
        story.refused(".", DO[event], story)
    else:
        DO[event](story)
        assert story.at.state is wanted


def test_nothing_happens_to_a_dispute_that_is_not_registered() -> None:
    with pytest.raises(NotAllowed, match="nothing is registered"):
        advance(None, Unmoving(leaf="l", time=DAY.format(1), by="x"))


def test_an_exploratory_ruling_and_one_without_answer_replace_nothing() -> None:
    story = adjudicated()
    before = story.at
    story.rule(exploratory=True)
    story.rule(Ruling.NO_ANSWER)
    assert dataclasses.replace(story.at, last=before.last) == before


def test_a_new_ruling_lets_adjudications_lapse_and_dates_the_notice() -> None:
    story = notified()
    story.adjudicate("x", "gx", agrees=False)
    story.rule()
    assert (story.at.state, story.at.adjudications, story.at.notice_outdated) == (S.RULED, (), True)
    assert not story.at.challenge_open, "a disagreement lapses with the ruling it is about"
    story.day = 25
    story.refused("out of date", story.publish, Ground.WINDOW)
    story.tell(Corrected, "a", answers=story.at.notices[0].leaf)
    assert not story.at.notice_outdated
    story.refused("were written to on the ruling", story.publish, Ground.WINDOW)
    story.adjudicate("a", "g1")
    story.adjudicate("b", "g2")
    story.notify(window_ends=DAY.format(26))
    story.day = 26
    story.publish(Ground.WINDOW)
    assert story.at.visibility is Visibility.PUBLIC


def test_a_challenge_outlives_the_ruling() -> None:
    story = ruled()
    story.challenge("x")
    story.rule()
    assert story.at.challenge_open


@pytest.mark.parametrize(
    ("second", "eligible"),
    [
        ({"by": "b", "group": "g2"}, True),
        ({"by": "a", "group": "g2"}, False),
        ({"by": "b", "group": "g1"}, False),
        ({"by": "b", "group": ""}, False),
        ({"by": "writer", "group": "g2"}, False),
        ({"by": "reporter", "group": "g2"}, False),
        *(({"by": "b", "group": "g2", "tie": tie}, tie is Tie.NONE) for tie in Tie),
    ],
)
def test_two_eligible_people_of_two_groups(second: dict[str, Any], eligible: bool) -> None:  # noqa: FBT001  # a case
    story = ruled()
    story.adjudicate("a", "g1")
    story.adjudicate(**second)
    assert (story.at.state is S.ADJUDICATED) == eligible


def test_a_name_that_an_administrator_recorded_is_the_writers_or_reporters() -> None:
    story = ruled()
    story.adjudicate("a", "g1")
    for name in ("writer", "reporter"):
        fields = {"about": "ruling", "target": story.ruling, "agrees": True, "tie": Tie.NONE}
        story.tell(Adjudicated, "b", group="g2", names=frozenset({name}), **fields)
        assert story.at.state is S.RULED
    story.retract("b", names=frozenset({"reporter"}))
    assert story.at.withdrawn


def test_reading_is_another_matter_and_does_not_lapse() -> None:
    story = ruled()
    for by, group in (("a", "g1"), ("b", "g2")):
        story.adjudicate(by, group, about="reading")
    assert story.at.state is S.RULED
    story.rule()
    assert len(story.at.readings) == 2


def test_only_the_last_word_of_a_person_counts() -> None:
    story = ruled()
    story.adjudicate("a", "g1")
    objection = story.adjudicate("a", "g1", agrees=False)
    story.refused("only withdraw", story.end, "a", objection, ChallengeEnd.DISMISSED)
    story.end("a", objection, ChallengeEnd.WITHDRAWN)
    story.adjudicate("b", "g2")
    assert story.at.state is S.RULED, "a disagreed last"
    story.adjudicate("a", "g1")
    assert story.at.state is S.ADJUDICATED


def test_a_challenge_is_ended_by_its_author_or_a_third_person() -> None:
    story = adjudicated()
    opened = story.challenge("x")
    story.refused("only its author", story.end, "y", opened, ChallengeEnd.WITHDRAWN)
    story.refused("adjudicated", story.end, "a", opened, ChallengeEnd.DISMISSED)
    story.refused("without ties", story.end, "y", opened, ChallengeEnd.DISMISSED, Tie.AUTHOR)
    story.refused("without ties", story.end, "writer", opened, ChallengeEnd.DISMISSED)
    story.refused("no open challenge", story.end, "y", "leaf-1", ChallengeEnd.DISMISSED)
    story.end("y", opened, ChallengeEnd.DISMISSED)
    assert (story.at.state, story.at.challenge_open) == (S.ADJUDICATED, False)
    opened = story.challenge("x")
    story.end("x", opened, ChallengeEnd.WITHDRAWN)
    assert story.at.state is S.ADJUDICATED
    opened = story.challenge("x")
    story.end("y", opened, ChallengeEnd.SUSTAINED)
    assert (story.at.state, story.at.agreeing) == (S.RULED, ())


def test_a_sustained_challenge_dates_the_notice() -> None:
    story = notified()
    story.end("y", story.challenge("x"), ChallengeEnd.SUSTAINED)
    assert (story.at.state, story.at.notice_outdated) == (S.NOTIFIED, True)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (dataclasses.replace(FACTS, quote=""), "not quoted"),
        (dataclasses.replace(FACTS, later_versions=(("2601.00001v2", "not-read"),)), "2601.00001v2"),
        (dataclasses.replace(FACTS, premises=(("p1", "by-us", ""), ("p2", "no", ""))), "checked premise 2"),
    ],
)
def test_the_gate_reads_the_facts_and_a_correction_opens_it(facts: Facts, words: str) -> None:
    story = Story(facts)
    story.rule()
    story.adjudicate("a", "g1")
    story.adjudicate("b", "g2")
    story.refused(words, story.notify)
    assert [missing for missing in gate(story.at) if words in missing.what]
    story.tell(
        Corrected,
        "x",
        quote="q",
        later_versions=tuple((arxiv, "unchanged") for arxiv, _ in facts.later_versions),
        premises=tuple((i, "by-us", None) for i in range(1, len(facts.premises) + 1)),
    )
    assert gate(story.at) == ()
    story.notify()
    assert (story.at.state, story.at.visibility) == (S.NOTIFIED, Visibility.NOTIFIED)


@pytest.mark.parametrize("ruling", [one for one in Ruling if one is not Ruling.UPHELD])
def test_nobody_is_written_to_where_nothing_is_upheld(ruling: Ruling) -> None:
    story = Story()
    story.rule(ruling)
    story.adjudicate("a", "g1")
    story.adjudicate("b", "g2")
    story.refused("not UPHELD", story.notify)


def test_a_correction_amends_something_that_is_there() -> None:
    story = ruled()
    story.refused("no premise 2", story.tell, Corrected, "x", premises=((2, "by-us", None),))
    story.refused("amends nothing", story.tell, Corrected, "x", quote="q")
    story.refused("there is none", story.tell, Corrected, "x", answers="leaf-9")


def test_a_version_once_known_stays_known_under_a_new_registration() -> None:
    story = notified()
    story.reply(ReplyKind.FIXED_IN_VERSION, version="2601.00001v3")
    story.register("r2")
    story.rule(registration="r2")
    assert story.at.facts.unread == ("2601.00001v3",)


def test_a_correction_reaches_registrations_after_the_ruling() -> None:
    story = ruled()
    story.register("r2", dataclasses.replace(FACTS, premises=(("p0", "no", ""), ("p1", "no", ""))))
    story.tell(Corrected, "x", title="New", premises=((1, "by-author", "mail"),))
    story.rule(registration="r2")
    assert story.at.facts.title == "New"
    assert story.at.facts.premises == (("p0", "no", ""), ("p1", "by-author", "mail"))


def test_replies_are_the_authors() -> None:
    story = notified()
    story.refused("key that the notice names", story.reply, ReplyKind.AGREES, "stranger")
    story.tell(
        Replied, "adm", target=story.at.notices[-1].leaf, reply=ReplyKind.AGREES, consent=False, administrator=True
    )
    assert story.at.state is S.ACKNOWLEDGED
    story.refused("not named", story.reply, ReplyKind.FIXED_IN_VERSION)


def test_grounds_of_publication() -> None:
    story = notified()
    story.refused("window ends", story.publish, Ground.WINDOW)
    story.refused("does not consent", story.publish, Ground.CONSENT)
    story.refused("UPHELD", story.publish, Ground.NOT_UPHELD, administrator=True, source="x")
    story.reply(ReplyKind.AGREES, consent=True)
    story.reply(ReplyKind.OTHER, consent=True)
    story.refused("objection waits", story.publish, Ground.CONSENT)
    story.refused("only whoever sent", story.publish, Ground.CONSENT, "stranger")
    story.tell(Corrected, "a", answers=story.at.notices[0].leaf)
    opened = story.challenge("x")
    story.refused("challenge is open", story.publish, Ground.CONSENT)
    story.end("x", opened, ChallengeEnd.WITHDRAWN)
    story.publish(Ground.CONSENT)
    story.refused("public already", story.publish, Ground.CONSENT)


def test_the_window_is_a_ground_even_without_a_reply() -> None:
    story = contested()
    story.day = 20
    story.publish(Ground.WINDOW)
    assert story.at.visibility is Visibility.PUBLIC
    private = ruled()
    private.day = 28
    private.refused("not written to", private.publish, Ground.WINDOW, administrator=True)


def test_what_is_not_upheld_is_published_by_an_administrator_only_and_hidden_again_when_upheld() -> None:
    story = Story()
    story.refused("no ruling", story.publish, Ground.NOT_UPHELD, administrator=True, source="a Space")
    story.rule(Ruling.DISMISSED)
    story.refused("administrator", story.publish, Ground.NOT_UPHELD, source="a Space")
    story.refused("naming the source", story.publish, Ground.NOT_UPHELD, administrator=True)
    story.publish(Ground.NOT_UPHELD, administrator=True, source="a Space")
    assert story.at.visibility is Visibility.PUBLIC
    story.rule(Ruling.UPHELD)
    assert story.at.visibility is Visibility.PRIVATE


def test_a_retraction_lists_every_notice_and_stands_for_the_old_ruling() -> None:
    story = notified()
    story.refused("every notice", story.retract, notices=())
    story.refused("only the reporter", story.retract, "stranger")
    notice = story.at.notices[0].leaf
    story.retract()
    assert story.at.retractions[0].notices == (notice,)
    story.refused("new registration", story.rule)
    story.register("r2")
    story.rule(registration="r2")
    assert (story.at.state, len(story.at.retractions), story.at.notice_outdated) == (S.RULED, 1, True)


@pytest.mark.parametrize("state", S)
@pytest.mark.parametrize("now", [DAY.format(2), DAY.format(28)])
def test_the_docket_has_a_turn_for_every_state(state: DisputeState, now: str) -> None:
    whose = turn(REACH[state]().at, now)
    assert whose.step
    assert whose.settled == (state is S.RETRACTED)
    if state in (S.NOTIFIED, S.ACKNOWLEDGED, S.CONTESTED) and now > WINDOW_ENDS:
        assert whose.step == "publishes it"


@pytest.mark.parametrize("group", ["g1 ", " G1", "\uff27\uff11", "g\u200b1", "  "])
def test_a_group_written_otherwise_is_no_second_one(group: str) -> None:
    story = ruled()
    story.adjudicate("a", "g1")
    story.adjudicate("b", group)
    assert story.at.state is S.RULED
    story.adjudicate("c", "g3")
    assert story.at.state is S.ADJUDICATED


def test_what_does_not_count_says_why() -> None:
    story = ruled()
    for by, group, tie in (("a", "", Tie.NONE), ("b", "g1", Tie.COAUTHOR), ("writer", "g2", Tie.NONE)):
        story.adjudicate(by, group, tie=tie)
    words = [one.barred for one in story.at.adjudications]
    assert ["no --group" in words[0], "coauthor" in words[1], "wrote a case" in words[2]] == [True] * 3


@pytest.mark.parametrize("exploratory", [False, True])
@pytest.mark.parametrize("called", ["writer", "reporter"])
def test_registering_again_sheds_neither_writer_nor_reporter(called: str, exploratory: bool) -> None:  # noqa: FBT001  # a case
    story = ruled()
    story.register("r2", writer="somebody", reporter="someone", exploratory=exploratory)
    story.rule(registration="r1" if exploratory else "r2")
    story.adjudicate("a", "g1")
    story.adjudicate(called, "g2")
    assert story.at.state is S.RULED
    story.adjudicate("somebody", "g3")
    assert story.at.state is S.RULED
    story.adjudicate("b", "g4")
    assert story.at.state is S.ADJUDICATED


def test_a_case_knows_its_writer_by_every_key() -> None:
    fields = {"about": "ruling", "agrees": True, "tie": Tie.NONE, "group": "g2"}
    for called in ("k2", "K2", "f" * 16, "F" * 64):
        story = Story()
        story.register("r2", writer=called)
        story.rule(registration="r2")
        story.adjudicate("a", "g1")
        story.tell(Adjudicated, "k1", keys=frozenset({"k1", "k2", "f" * 64}), target=story.ruling, **fields)
        assert story.at.state is S.RULED, called
        story.tell(Adjudicated, "k3", keys=frozenset({"k3"}), target=story.ruling, **fields)
        assert story.at.state is S.ADJUDICATED


def test_an_author_replies_with_any_key_of_theirs() -> None:
    story = notified()
    fields = {"target": story.at.notices[-1].leaf, "reply": ReplyKind.AGREES, "consent": True}
    story.refused("key that the notice names", story.tell, Replied, "other", keys=frozenset({"old"}), **fields)
    story.tell(Replied, "first", keys=frozenset({"first", "author"}), **fields)
    story.publish(Ground.CONSENT)
    assert story.at.visibility is Visibility.PUBLIC


def test_who_may_write_to_the_authors() -> None:
    story = adjudicated()
    story.adjudicate("c", "g3", tie=Tie.COAUTHOR)
    for stranger in ("stranger", "writer", "c"):
        story.refused("only the reporter", story.notify, stranger)
    for own in ("a", "b"):
        story.refused("not an author's", story.notify, "a", author_keys=(own,))
    for by, fields in (("a", {}), ("reporter", {}), ("x", {"administrator": True})):
        told = adjudicated()
        told.notify(by, **fields)
        assert told.at.state is S.NOTIFIED


@pytest.mark.parametrize("by", ["a", "adm"])
def test_consent_that_was_typed_in_shortens_nothing(by: str) -> None:
    story = notified()
    notice = story.at.notices[-1]
    fields = {"target": notice.leaf, "reply": ReplyKind.AGREES, "consent": True}
    story.tell(Replied, by, administrator=by == "adm", **fields)
    story.refused("typed in", story.publish, Ground.CONSENT, administrator=True)
    assert turn(story.at, DAY.format(2)).owner == "the authors"
    story.day = 20
    story.publish(Ground.WINDOW)
    assert story.at.visibility is Visibility.PUBLIC


def test_consent_is_to_the_ruling_that_the_authors_read() -> None:
    story = notified()
    story.reply(ReplyKind.AGREES, consent=True)
    for ruling in (Ruling.UPHELD, Ruling.DISMISSED):
        story.rule(ruling)
        story.tell(Corrected, "a", answers=story.at.notices[-1].leaf)
        story.refused("were written to on the ruling", story.publish, Ground.CONSENT, administrator=True)
        story.day = 20
        story.refused("were written to on the ruling", story.publish, Ground.WINDOW, administrator=True)
    story.publish(Ground.NOT_UPHELD, administrator=True, source="a Space")


def test_a_strangers_correction_answers_no_notice() -> None:
    story = contested()
    story.adjudicate("x", "gx", agrees=False)
    story.end("y", story.at.challenges[0].leaf, ChallengeEnd.SUSTAINED)
    first = story.at.notices[-1].leaf
    story.refused("only whoever sent", story.tell, Corrected, "stranger", answers=first)
    story.refused("the last one is", story.tell, Corrected, "a", answers="leaf-1")
    story.tell(Corrected, "stranger", title="Another")
    story.tell(Corrected, "a", title="A third")
    assert story.at.notice_outdated, "the authors have not been told"
    assert not story.at.replies[-1].answered
    told = story.at
    for by, fields in (("a", {}), ("adm", {"administrator": True})):
        story.status = told
        story.tell(Corrected, by, answers=first, **fields)
        assert not story.at.notice_outdated
        assert story.at.replies[-1].answered
