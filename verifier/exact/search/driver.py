"""The search: structured random starts in order, then starts drawn by hypothesis, then what the silence is worth."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from verifier.exact.answer import Horizon, Hypothesis, Power, Refutation, SearchReport
from verifier.exact.search.answers import margin_of, violated
from verifier.exact.search.power import measured, power_note
from verifier.exact.search.problem import EXPRESSIONS, HARDMAX, Document, SearchProblem
from verifier.exact.search.samplers import documents
from verifier.exact.search.smaller import make_smaller
from verifier.model.answers import ExactAnswer
from verifier.model.errors import BadInput

START_STEPS = 400
MAP_STEPS = 64
"""Steps that one start may take where nothing freezes, for hardmax and for maps; they never limit a proof."""

MOST_DRAWN = 200
"""Starts drawn by hypothesis: a fifth of the random ones, at most this many."""

Decide = Callable[[Document, int, float | None], Refutation]
"""The exact answer for a concrete problem: document, horizon, time limit in seconds."""

Progress = Callable[[int, str], None]

SAID = {
    ExactAnswer.HOLDS_FOR_ALL: "hold for all t",
    ExactAnswer.VERIFIED_TO_HORIZON: "hold to the horizon",
    ExactAnswer.AMBIGUOUS: "depend on a tie",
    ExactAnswer.UNSUPPORTED_HYPOTHESIS: "lie outside the hypotheses",
}
OF_ASSIGNMENTS = {
    **SAID,
    ExactAnswer.HOLDS_FOR_ALL: "satisfy the conclusion",
    ExactAnswer.AMBIGUOUS: "have sides that no precision separates",
}


@dataclass(slots=True)
class _Tally:
    """What the starts so far have shown."""

    system: str
    starts: int = 0
    undecided: int = 0
    partly: int = 0
    drawn: int = 0
    by_answer: Counter[str] = field(default_factory=Counter)
    drawn_by_answer: Counter[str] = field(default_factory=Counter)
    exits: Counter[int] = field(default_factory=Counter)
    hypotheses: dict[str, list[bool]] = field(default_factory=dict)
    smallest: tuple[float, int, Document] | None = None
    crossing: int | None = None
    reached: int | None = None
    first: dict[ExactAnswer, Refutation] = field(default_factory=dict)

    def add(self, document: Document, found: Refutation, *, drawn: bool = False) -> None:
        if drawn:
            self.drawn += 1
            self.drawn_by_answer[found.answer] += 1
        else:
            self.starts += 1
            self.by_answer[found.answer] += 1
            if found.exit_step is not None:
                self.exits[found.exit_step] += 1
            for hypothesis in found.hypotheses:
                self.hypotheses.setdefault(hypothesis.name, []).append(hypothesis.holds)
        self.first.setdefault(found.answer, found)
        if found.horizon is not None and found.horizon.partly:
            self.partly += 1
        elif found.horizon is not None:
            self.reached = found.horizon.t if self.reached is None else min(self.reached, found.horizon.t)
        margin = margin_of(found)
        if margin is not None and not violated(found) and (not self.smallest or margin[0] < self.smallest[0]):
            self.smallest = (*margin, document)
            self.crossing = found.horizon.predicted_crossing if found.horizon is not None else None


class _Search:
    def __init__(
        self, problem: SearchProblem, decide: Decide, *, horizon: int, time_limit: float | None,
        progress: Progress | None,
    ) -> None:  # fmt: skip
        self.problem, self._decide, self.progress = problem, decide, progress
        self.steps = min(horizon, START_STEPS if problem.system == HARDMAX else MAP_STEPS)
        self.deadline = None if time_limit is None else time.monotonic() + time_limit
        self.tally = _Tally(problem.system)
        self.late = False
        self._said = time.monotonic()

    def decide(self, document: Document) -> Refutation | None:
        """The answer for one start; None once the time is over, or where its numbers leave the format's bounds."""
        left = None if self.deadline is None else self.deadline - time.monotonic()
        if left is not None and left <= 0:
            self.late = True
            return None
        try:
            found = self._decide(document, self.steps, left)
        except BadInput:  # this start's numbers leave the bounds of the format
            return None
        if found.horizon is not None and found.horizon.stopped_by == "time limit":
            self.late = True
            return None
        return found

    @property
    def done(self) -> str:
        """The starts so far, by answer."""
        return _counted(self.tally, self.tally.by_answer)

    def say(self, remark: str) -> None:
        if self.progress is not None and time.monotonic() - self._said > 1.0:
            self._said = time.monotonic()
            self.progress(self.tally.starts + self.tally.drawn, remark)

    def random_starts(self) -> tuple[Document, Refutation] | None:
        for document in documents(self.problem):
            found = self.decide(document)
            if self.late:
                return None
            if found is None:
                self.tally.undecided += 1
                continue
            self.tally.add(document, found)
            if violated(found):
                return document, found
            self.say(f"of at most {self.problem.find.starts}: {self.done}")
        return None

    def drawn_starts(self) -> tuple[Document, Refutation] | None:
        from verifier.exact.search.drawn import search_drawn  # noqa: PLC0415  # hypothesis is slow to import

        def decide(document: Document) -> Refutation | None:
            found = self.decide(document)
            if found is not None:
                self.tally.add(document, found, drawn=True)
                self.say("drawn towards small margins")
            return found

        examples = min(MOST_DRAWN, max(1, self.problem.find.starts // 5))
        return search_drawn(self.problem, decide, examples=examples)

    def power(self) -> Iterable[Power]:
        own = (0, self.tally.starts)

        def decide(document: Document) -> Refutation | None:
            found = self.decide(document)
            self.say("done; measuring the sampler's power on a statement known to fail")
            return found

        return () if self.late else tuple(measured(self.problem, decide, own=own))


def search(
    problem: SearchProblem,
    *,
    decide: Decide,
    horizon: int,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Refutation:
    """Looks for a start that breaks the claim within its hypotheses.

    The first such start wins; its refutation is returned with the start made smaller where that is cheap, and a note
    that says how it was found. Otherwise the answer is `VERIFIED_TO_HORIZON` with counts, the smallest margin and the
    sampler's power, measured on statements known to fail. `decide` gives the exact answer for one start; `horizon`
    bounds the steps of each (400 at most, 64 for maps), `time_limit` (seconds) the whole search; `progress` hears the
    number of starts and a remark about once a second.
    """
    running = _Search(problem, decide, horizon=horizon, time_limit=time_limit, progress=progress)
    won = running.random_starts()
    how = problem.find.sampler
    if won is None and not running.late:
        won, how = running.drawn_starts(), "hypothesis"
    if won is not None:
        return _won(running, won, how)
    return _none(running)


def _won(running: _Search, won: tuple[Document, Refutation], how: str) -> Refutation:
    tally, find = running.tally, running.problem.find
    drawn = f" and {tally.drawn} drawn" if tally.drawn else ""
    by = f"{how} starts" if how != "hypothesis" else how
    note = f"found by {by} after {tally.starts} start{'s' * (tally.starts != 1)}{drawn} (seed {find.seed})"
    document, found, tried = make_smaller(*won, running.decide, find=find)
    smaller = (f"made smaller within its shape: {tried} starts tried",) if found is not won[1] else ()
    report = _report(running, stopped_by="found", power=(), found_by=how)
    report = replace(report, found_start=document["state"])
    return replace(found, notes=(note, *smaller, *found.notes), search=report)


def _none(running: _Search) -> Refutation:
    tally = running.tally
    late = running.late  # before the power is measured: that may be late without the search being so
    power = tuple(running.power())
    report = _report(running, stopped_by="time limit" if late else "starts", power=power, found_by="")
    answer = _answer(tally)
    if answer is not ExactAnswer.VERIFIED_TO_HORIZON:
        first = tally.first[answer]
        sentence = f"Nothing can be said: {_in_all(tally)}. The first: {first.sentence}"
        return replace(first, sentence=sentence, search=report)
    horizon = None
    smallest = ""
    if tally.smallest is not None:
        margin, at, document = tally.smallest
        smallest = f" The smallest margin is {margin:.4g}, at t = {at} of the start {_shown(document)}."
        reached = tally.reached if tally.reached is not None else running.steps
        horizon = Horizon(reached, margin, at, tally.crossing, report.stopped_by)
    return Refutation(
        answer,
        f"No start breaks the claim: {_in_all(tally)}.{smallest}",
        tuple(_hypothesis(name, holds) for name, holds in tally.hypotheses.items() if len(holds) == tally.starts),
        no_certificate="a certificate attacks a claim",
        horizon=horizon,
        notes=tuple(_notes(running, report)),
        search=report,
    )


def _answer(tally: _Tally) -> ExactAnswer:
    """What the starts allow to say: nothing to the horizon where not one of them holds."""
    seen = tally.by_answer + tally.drawn_by_answer
    if seen and not any(seen[held] for held in (ExactAnswer.HOLDS_FOR_ALL, ExactAnswer.VERIFIED_TO_HORIZON)):
        return ExactAnswer.AMBIGUOUS if seen[ExactAnswer.AMBIGUOUS] else ExactAnswer.UNSUPPORTED_HYPOTHESIS
    return ExactAnswer.VERIFIED_TO_HORIZON


def _report(running: _Search, *, stopped_by: str, power: tuple[Power, ...], found_by: str) -> SearchReport:
    tally, find = running.tally, running.problem.find
    return SearchReport(
        sampler=find.sampler,
        seed=find.seed,
        starts=tally.starts,
        planned=find.starts,
        drawn=tally.drawn,
        steps=running.steps,
        by_answer={str(answer): count for answer, count in sorted(tally.by_answer.items())},
        drawn_by_answer={str(answer): count for answer, count in sorted(tally.drawn_by_answer.items())},
        exit_steps=dict(sorted(tally.exits.items())),
        smallest_margin=tally.smallest[0] if tally.smallest else None,
        smallest_margin_start=tally.smallest[2]["state"] if tally.smallest else None,
        power=power,
        found_by=found_by,
        found_start=None,
        stopped_by=stopped_by,
    )


def _counted(tally: _Tally, by_answer: Counter[str]) -> str:
    """359 hold for all t, 1 hold to the horizon."""
    words = OF_ASSIGNMENTS if tally.system == EXPRESSIONS else SAID
    return ", ".join(f"{by_answer[answer]} {said}" for answer, said in words.items() if by_answer[answer]) or "none"


def _in_all(tally: _Tally) -> str:
    """360 starts: 359 hold for all t, 1 hold to the horizon; of 72 more drawn by hypothesis 72 hold for all t."""
    parts = [f"{tally.starts} start{'s' * (tally.starts != 1)}: {_counted(tally, tally.by_answer)}"]
    if tally.undecided:
        parts.append(f"{tally.undecided} more had numbers beyond the format's bounds")
    if tally.partly:
        parts.append(f"{tally.partly} of them decided for some selections at ties only")
    if tally.drawn:
        parts.append(f"of {tally.drawn} more drawn by hypothesis {_counted(tally, tally.drawn_by_answer)}")
    return "; ".join(parts)


def _hypothesis(name: str, holds: list[bool]) -> Hypothesis:
    witness = {"starts": len(holds), "holding": sum(holds)}
    sentence = f"for {sum(holds)} of {len(holds)} starts, each with its own witness"
    return Hypothesis(name, holds=all(holds), witness=witness, sentence=sentence)


def _shown(document: Document) -> str:
    state = document["state"]
    rows = state.get("tokens") or [state.get("z") or []]
    if len(rows) > 8:
        return f"with {len(rows)} tokens given under search"
    return "[" + ", ".join("(" + ", ".join(row) + ")" for row in rows) + "]"


def _notes(running: _Search, report: SearchReport) -> Iterable[str]:
    if report.stopped_by == "time limit":
        yield f"the time was over after {report.starts} of {report.planned} starts; the power was not measured"
        return
    if report.exit_steps:
        steps = ", ".join(f"{step}: {count}" for step, count in report.exit_steps.items())
        yield f"the origin leaves at step {steps}"
    yield from map(power_note, report.power)
    if running.late:
        yield "the time was over before the sampler's power was fully measured"
    elif not report.power:
        yield "no start of this system is known to fail, so the sampler's power is not measured"
