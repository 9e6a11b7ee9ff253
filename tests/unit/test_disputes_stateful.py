"""No sequence of events reaches `notified` without the gate, or publishes without a ground: searched by hypothesis.

The conditions are worked out here a second time, from the list of what was accepted, and not by the code under test.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from verifier.model.dispute_events import (
    Adjudicated,
    Challenged,
    ChallengeEnded,
    Corrected,
    Noticed,
    Published,
    Registered,
    Replied,
    Retracted,
    Ruled,
)
from verifier.model.dispute_status import ChallengeEnd, Facts, Ground, ReplyKind, Tie
from verifier.model.disputes import DisputeState, DisputeStatus, NotAllowed, Visibility, advance
from verifier.model.rulings import Ruling

PEOPLE = st.sampled_from(["a", "b", "c", "d", "writer", "reporter", "organizer"])
GROUPS = st.sampled_from(["g1", "G1 ", "g2", "g3", "", " "])
WRITERS = st.sampled_from(["writer", "writer", "writer", "c", "D"])
MOSTLY_NONE = st.sampled_from([Tie.NONE, Tie.NONE, Tie.NONE, *Tie])
VERSIONS = st.sampled_from([(), (("2601.00001v2", "not-read"),), (("2601.00001v2", "unchanged"),)])


class OneDispute(RuleBasedStateMachine):
    """A dispute to which anything may happen in any order. `accepted` is what the table let through, in order."""

    reached: ClassVar[set[object]] = set()

    def __init__(self) -> None:
        super().__init__()
        self.status: DisputeStatus | None = None
        self.accepted: list[Any] = []
        self.hour = 0
        self.leaves = 0

    def tell(self, kind: Any, by: str, **fields: Any) -> None:
        self.hour += 1
        self.leaves += 1
        event = kind(leaf=f"l{self.leaves}", time=self.time(), by=by, **fields)
        before = self.status
        try:
            self.status = advance(before, event)
        except NotAllowed:
            assert self.status is before
            return
        if isinstance(event, Noticed):
            assert self.may_notify(event), self.accepted
        if isinstance(event, Published):
            assert self.may_publish(event), self.accepted
        self.accepted.append(event)
        self.reached.update((self.status.state.name, type(event)))
        self.reached.add(f"seen {self.status.visibility}")

    def time(self, later: int = 0) -> str:
        day, hour = divmod(self.hour + later, 24)
        return f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}T{hour:02d}:00:00Z"

    def ruling(self) -> Any:
        """The standing ruling by the accepted events: no answer replaces only no answer."""
        standing = None
        for event in self.accepted:
            if isinstance(event, Ruled) and not event.exploratory:
                replaces = event.ruling is not Ruling.NO_ANSWER or standing is None
                if replaces or standing.ruling is Ruling.NO_ANSWER:
                    standing = event
        return standing

    def since(self, leaf: str) -> list[Any]:
        leaves = [event.leaf for event in self.accepted]
        return self.accepted[leaves.index(leaf) + 1 :]

    def objections(self) -> set[str]:
        """Challenges, and eligible disagreements with the standing ruling, that nobody ended."""
        standing = self.ruling()
        after = self.since(standing.leaf) if standing else []
        ended = {event.target for event in self.accepted if isinstance(event, ChallengeEnded)}
        opened = {event.leaf for event in self.accepted if isinstance(event, Challenged)}
        disagreeing = {
            event.leaf
            for event in after
            if isinstance(event, Adjudicated) and event.about == "ruling" and not event.agrees and self.eligible(event)
        }
        return (opened | disagreeing) - ended

    def eligible(self, event: Adjudicated) -> bool:
        before = self.accepted[: self.accepted.index(event)] if event in self.accepted else self.accepted
        barred = {name.lower() for one in before if isinstance(one, Registered) for name in (one.writer, one.reporter)}
        return event.tie is Tie.NONE and event.group.strip() != "" and event.by not in barred

    def may_notify(self, notice: Noticed) -> bool:
        standing = self.ruling()
        if standing is None or standing.ruling is not Ruling.UPHELD or notice.target != standing.leaf:
            return False
        after = self.since(standing.leaf)
        if any(isinstance(event, Noticed | Retracted) for event in after) or self.objections():
            return False
        words: dict[str, Adjudicated] = {}
        for event in after:
            if isinstance(event, Adjudicated) and event.about == "ruling":
                words[event.by] = event
            if isinstance(event, ChallengeEnded) and event.how is ChallengeEnd.SUSTAINED:
                words = {by: word for by, word in words.items() if not word.agrees}
        agreeing = {
            (word.by, word.group.strip().lower()) for word in words.values() if word.agrees and self.eligible(word)
        }
        pairs = [(x, y) for x in agreeing for y in agreeing if x[0] != y[0] and x[1] != y[1]]
        sender = notice.administrator or notice.by in {"reporter", *(by for by, _ in agreeing)}
        return bool(pairs) and sender and self.facts_are_ready(standing)

    def facts_are_ready(self, standing: Ruled) -> bool:
        versions: dict[str, str] = {}
        quote, checked = "", "no"
        started = False
        for event in self.accepted:
            if isinstance(event, Registered):
                versions |= dict(event.facts.later_versions)
                if event.registration == standing.registration:
                    quote, checked, started = event.facts.quote, event.facts.premises[0][1], True
            elif isinstance(event, Replied) and event.reply is ReplyKind.FIXED_IN_VERSION:
                versions[event.version] = "not-read"
            elif isinstance(event, Corrected):
                if event.later_versions is not None:
                    versions = dict(event.later_versions)
                if started and event.quote is not None:
                    quote = event.quote
                for _, now, _ in event.premises if started else ():
                    checked = checked if now is None else now
        return quote != "" and checked != "no" and "not-read" not in versions.values()

    def may_publish(self, event: Published) -> bool:
        standing = self.ruling()
        if standing is None or self.objections():
            return False
        if event.ground is Ground.NOT_UPHELD:
            return standing.ruling is not Ruling.UPHELD and event.administrator and event.source != ""
        notices = [one for one in self.accepted if isinstance(one, Noticed)]
        if not notices or notices[-1].target != standing.leaf:
            return False
        if event.ground is Ground.WINDOW:
            return event.time >= notices[-1].window_ends
        replies = [one for one in self.since(notices[-1].leaf) if isinstance(one, Replied)]
        return bool(replies) and replies[-1].consent and replies[-1].by == "author"

    @rule(
        registration=st.sampled_from(["r1", "r2", "r3"]),
        quote=st.sampled_from(["q", "q", ""]),
        checked=st.sampled_from(["by-us", "by-us", "no"]),
        versions=VERSIONS,
        writer=WRITERS,
    )
    def register(self, registration: str, quote: str, checked: str, versions: Any, writer: str) -> None:
        if any(isinstance(one, Registered) and one.registration == registration for one in self.accepted):
            return  # an equal registration is found, not appended
        facts = Facts(quote=quote, later_versions=versions, premises=(("p", checked, ""),))
        named = {"dispute": "d", "paper": "p", "claim_sha256": "c", "writer": writer, "reporter": "reporter"}
        self.tell(Registered, "engine", registration=registration, exploratory=False, facts=facts, **named)

    @rule(ruling=st.sampled_from([Ruling.UPHELD] * 6 + list(Ruling)), exploratory=st.sampled_from([False] * 4 + [True]))
    def rule_on_it(self, ruling: Ruling, exploratory: bool) -> None:  # noqa: FBT001  # drawn by name
        registered = [one.registration for one in self.accepted if isinstance(one, Registered)]
        if registered:
            self.tell(Ruled, "engine", registration=registered[-1], ruling=ruling, exploratory=exploratory)

    @rule(by=PEOPLE, group=GROUPS, tie=MOSTLY_NONE, agrees=st.sampled_from([True, True, True, False]))
    def adjudicate(self, by: str, group: str, tie: Tie, agrees: bool) -> None:  # noqa: FBT001  # drawn by name
        self.tell(Adjudicated, by, group=group, about="ruling", target=self.standing(), agrees=agrees, tie=tie)

    @rule()
    def two_agree(self) -> None:
        for by, group in (("a", "g1"), ("b", "g2")):
            fields = {"about": "ruling", "target": self.standing(), "agrees": True, "tie": Tie.NONE}
            self.tell(Adjudicated, by, group=group, **fields)

    @rule()
    def towards_a_notice(self) -> None:
        """What a careful organizer does; each step may still be refused."""
        self.register("r1", "q", "by-us", (), "writer")
        self.rule_on_it(Ruling.UPHELD, exploratory=False)
        self.two_agree()
        self.correct("q", "by-author", read=True)
        self.notify("a", 10, administrator=False)

    def standing(self) -> str:
        standing = self.ruling()
        return standing.leaf if standing else "none"

    @rule(by=PEOPLE)
    def challenge(self, by: str) -> None:
        self.tell(Challenged, by, target=self.standing())

    @rule(by=PEOPLE, how=st.sampled_from(ChallengeEnd), tie=MOSTLY_NONE, data=st.data())
    def end(self, by: str, how: ChallengeEnd, tie: Tie, data: st.DataObject) -> None:
        said = [one for one in self.accepted if isinstance(one, Challenged | Adjudicated)]
        if said:
            target = data.draw(st.sampled_from(said))
            who = target.by if how is ChallengeEnd.WITHDRAWN else by
            self.tell(ChallengeEnded, who, target=target.leaf, how=how, tie=tie)

    @rule(by=PEOPLE, hours=st.integers(min_value=1, max_value=20), administrator=st.booleans())
    def notify(self, by: str, hours: int, administrator: bool) -> None:  # noqa: FBT001  # drawn by name
        fields = {"target": self.standing(), "window_ends": self.time(hours + 1), "author_keys": ("author",)}
        self.tell(Noticed, by, administrator=administrator, **fields)

    @rule(by=st.sampled_from(["author", "author", "a", "b"]), kind=st.sampled_from(ReplyKind), consent=st.booleans())
    def reply(self, by: str, kind: ReplyKind, consent: bool) -> None:  # noqa: FBT001  # drawn by name
        notices = [one.leaf for one in self.accepted if isinstance(one, Noticed)]
        version = "2601.00001v9" if kind is ReplyKind.FIXED_IN_VERSION else ""
        if notices:
            self.tell(Replied, by, target=notices[-1], reply=kind, consent=consent, version=version)

    @rule(by=PEOPLE, ground=st.sampled_from(Ground), administrator=st.booleans(), source=st.sampled_from(["", "x"]))
    def publish(self, by: str, ground: Ground, administrator: bool, source: str) -> None:  # noqa: FBT001  # drawn
        self.tell(Published, by, ground=ground, administrator=administrator, source=source)

    @rule(
        quote=st.sampled_from([None, "q", ""]), checked=st.sampled_from([None, "by-author", "no"]), read=st.booleans()
    )
    def correct(self, quote: str | None, checked: str | None, read: bool) -> None:  # noqa: FBT001  # drawn by name
        versions = (("2601.00001v2", "unchanged"), ("2601.00001v9", "unchanged")) if read else None
        self.tell(Corrected, "a", quote=quote, later_versions=versions, premises=((1, checked, None),))

    @rule(by=st.sampled_from(["reporter", "a"]))
    def retract(self, by: str) -> None:
        notices = tuple(one.leaf for one in self.accepted if isinstance(one, Noticed))
        self.tell(Retracted, by, target=self.standing(), notices=notices)

    @rule(hours=st.integers(min_value=1, max_value=30))
    def wait(self, hours: int) -> None:
        self.hour += hours

    @invariant()
    def states_follow_from_what_was_accepted(self) -> None:
        if self.status is None:
            return
        notices = [one for one in self.accepted if isinstance(one, Noticed)]
        published = [one for one in self.accepted if isinstance(one, Published)]
        after_notice = (DisputeState.NOTIFIED, DisputeState.ACKNOWLEDGED, DisputeState.CONTESTED)
        if self.status.state in after_notice:
            assert notices
            assert notices[-1].target == self.standing()
        if self.status.visibility is Visibility.PUBLIC:
            assert published
            standing = self.ruling()
            assert notices or standing.ruling is not Ruling.UPHELD, "nothing upheld is public before the authors know"
        assert self.status.challenge_open == bool(self.objections())


def search(examples: int, steps: int) -> None:
    OneDispute.reached.clear()
    run_state_machine_as_test(  # type: ignore[no-untyped-call]  # hypothesis has no types for it
        OneDispute,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_short_search() -> None:
    search(40, 25)


@pytest.mark.slow
def test_a_long_search_reaches_everything() -> None:
    search(1_000, 40)
    kinds = {Registered, Ruled, Adjudicated, Challenged, ChallengeEnded, Noticed, Replied, Published, Corrected}
    states = {state.name for state in DisputeState}
    assert OneDispute.reached >= {*states, *(f"seen {one}" for one in Visibility), *kinds, Retracted}
