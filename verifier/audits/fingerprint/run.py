"""The fingerprint itself: run the relations, judge `twice` first, then name what the values show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from verifier.audits.fingerprint.calls import Call, Evaluator, Reading, Returns, agree, read
from verifier.audits.fingerprint.corpus import Corpus, as_corpus
from verifier.audits.fingerprint.diagnosis import (
    CORRECT,
    LOOKS_LIKE,
    NO_ANSWER,
    NOT_DETERMINISTIC,
    REFUSES,
    UNKNOWN,
    Diagnosis,
    Logs,
    named,
    other,
    unknown,
)
from verifier.audits.fingerprint.relations import BASE, BUILDERS, NotRun, Relation, base_call, relation
from verifier.audits.fingerprint.resolution import Resolution, resolution, roundings
from verifier.audits.fingerprint.result import Fingerprint
from verifier.audits.fingerprint.witness import TWICE, smallest
from verifier.model.basis import BasisClass
from verifier.model.errors import BadInput

LARGEST_BATCH = 1_000_000
SHOWN_CALLS = 3
# A violation no larger than a few times the spread of the repeated base call is that spread.
SPREADS = 4.0


class _NotRepeatable(Exception):
    """The evaluator answered the same call in two ways."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


class _Session:
    """The calls of one fingerprint: each is followed by the base call, which must not change."""

    def __init__(self, evaluator: Evaluator, base: Call, returns: Returns) -> None:
        self.evaluator, self.base, self.returns = evaluator, base, returns
        self.readings: dict[str, Reading] = {BASE: read(evaluator, base)}
        self.calls: dict[str, Call] = {BASE: base}
        self.spread = 0.0

    def log(self, reading: Reading) -> float | None:
        """The ln perplexity under the declaration."""
        return reading.log(self.returns)

    def logs(self, returns: Returns) -> Logs:
        """The ln perplexity of every call, read as `returns`."""
        return {name: reading.log(returns) for name, reading in self.readings.items()}

    def repeat_base(self) -> None:
        """Raises _NotRepeatable where the base call now gives another value."""
        again, first = self.log(read(self.evaluator, self.base)), self.log(self.readings[BASE])
        if not agree(again, first):
            raise _NotRepeatable(BASE)
        if again is not None and first is not None:
            self.spread = max(self.spread, abs(again - first))

    def take(self, call: Call) -> None:
        """Make the call, then the base call."""
        self.calls[call.name] = call
        self.readings[call.name] = read(self.evaluator, call)
        self.repeat_base()

    def roundings(self, returns: Returns) -> dict[str, float]:
        """How far each call's ln perplexity may be rounded, read as `returns`."""
        return roundings(self.resolution(returns), self.calls, self.readings, returns)

    def resolution(self, returns: Returns) -> Resolution | None:
        """The grid on which the values lie."""
        return resolution(list(self.calls.values()), self.readings, returns)

    def confirm(self, relation: Relation, rounding: Mapping[str, float]) -> bool:
        """Whether the relation fails. Its calls are made again then; raises _NotRepeatable where they differ."""
        logs = self.logs(self.returns)
        check = relation.failed(logs, rounding)
        if check is None:
            return False
        again = dict(logs)
        for call in relation.calls:
            again[call.name] = self.log(read(self.evaluator, call))
            if not agree(again[call.name], logs[call.name]):
                raise _NotRepeatable(call.name)
        measured, expected = logs[check.of], check.expected(logs)
        small = measured is not None and expected is not None and abs(measured - expected) <= SPREADS * self.spread
        if small or relation.failed(again, rounding) is None:
            raise _NotRepeatable(check.of)
        return True


def fingerprint(
    evaluator: Evaluator, *, returns: Returns = "perplexity", corpus: object = None, batch_size: int = 3
) -> Fingerprint:
    """Which of fifteen metamorphic relations `evaluator(losses, mask, batch_size) -> float` violates, and why.

    The evaluator gets copies: `losses` float64 (sequences, positions) in nats, padded; `mask` bool of that shape, True
    for a real token; `batch_size` int. It returns the perplexity of the real tokens, or their mean loss in nats, as
    `returns` declares. `corpus` is what `as_corpus` reads; default: the shipped one. `batch_size` is the base one.

    `twice` comes first: an evaluator that answers one call in two ways violates that and nothing else. A relation
    fails where ln perplexity is off by more than 1e-4·max(1, |ln perplexity|), a tolerance that grows in proportion
    from 1,000 tokens on, as single precision does; a call without a finite float fails it. Where all values lie on a
    grid (decimals, half precision, bfloat16), one step of it is allowed beside.

    Raises BadInput for a `returns`, corpus or batch size that is none.
    """
    if returns not in LOOKS_LIKE:
        raise BadInput(f"returns = {returns!r}", mend='declare "perplexity" or "loss"')
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or not 1 <= batch_size <= LARGEST_BATCH:
        raise BadInput("the batch size is not a whole number from 1 up", mend="pass 3, say")
    base = as_corpus(corpus)
    session = _Session(evaluator, base_call(base, batch_size), returns)
    if session.log(session.readings[BASE]) is None:
        return _no_answer(session, base)
    relations, not_run = _relations(base, batch_size, returns)
    try:
        session.repeat_base()
        for each in relations:
            for call in each.calls:
                session.take(call)
        rounding = session.roundings(returns)
        violated = frozenset(each.name for each in relations if session.confirm(each, rounding))
    except _NotRepeatable as found:
        words = f"the call {found.name!r} was answered in two ways"
        diagnosis = Diagnosis(NOT_DETERMINISTIC, BasisClass.STATE, words)
        return _result(session, base, frozenset({TWICE}), diagnosis, not_run)
    return _result(session, base, violated, _diagnose(session, relations, violated), not_run)


def _relations(corpus: Corpus, batch_size: int, returns: Returns) -> tuple[list[Relation], dict[str, str]]:
    run, not_run = [], {}
    for name in BUILDERS:
        built = relation(name, corpus, batch_size, returns)
        if isinstance(built, NotRun):
            not_run[name] = built.reason
        else:
            run.append(built)
    return run, not_run


def _diagnose(session: _Session, relations: list[Relation], violated: frozenset[str]) -> Diagnosis:
    """The declaration first, then the table's faults, then the faults of a value that was declared wrongly."""
    if not violated:
        grid = session.resolution(session.returns)
        coarse = f"; it gives {grid.words}, and no smaller fault would show" if grid is not None else ""
        return Diagnosis(CORRECT, BasisClass.FORM, f"every relation holds{coarse}")
    calls = list(session.calls.values())
    twin = other(session.returns)
    wrong = Diagnosis(LOOKS_LIKE[twin], BasisClass.FORM, f"read as a {twin}, every relation holds")
    logs = session.logs(twin)
    if not any(each.failed(logs, session.roundings(twin)) for each in relations):
        return wrong
    refused = _refused(session, relations, violated)
    if refused is not None:
        return refused
    found = named(calls, session.logs(session.returns))
    if found is not None:
        return found
    inner = named(calls, logs)
    if inner is not None:
        return Diagnosis(wrong.name, BasisClass.FORM, f"read as a {twin}, the values are those of {inner.name}")
    return unknown(violated, calls, session.logs(session.returns))


def _refused(session: _Session, relations: list[Relation], violated: frozenset[str]) -> Diagnosis | None:
    """That it only refuses calls, where every check between the calls that it answers holds; None where one fails."""
    reasons = {name: reading.why for name, reading in session.readings.items() if "raised" in reading.why}
    rounding = session.roundings(session.returns)
    logs = session.logs(session.returns)
    silent = dict.fromkeys(reasons, math.inf)
    if not reasons or any(each.failed(logs, {**rounding, **silent}) for each in relations):
        return None
    some = [f"{name} ({why})" for name, why in list(reasons.items())[:SHOWN_CALLS]]
    more = len(reasons) - len(some)
    words = f"{REFUSES}{', '.join(some)}{f' and {more} more' if more else ''}; the others agree"
    return Diagnosis(UNKNOWN, unknown(violated, list(session.calls.values()), logs).basis_class, words)


def _no_answer(session: _Session, corpus: Corpus) -> Fingerprint:
    why = session.readings[BASE].why or f"it returned {session.readings[BASE].value:g}, which is no perplexity"
    return _result(session, corpus, frozenset(), Diagnosis(NO_ANSWER, BasisClass.STATE, why), {})


def _result(
    session: _Session, corpus: Corpus, violated: frozenset[str], diagnosis: Diagnosis, not_run: dict[str, str]
) -> Fingerprint:
    witness = None
    if violated:
        witness = smallest(
            session.evaluator,
            violated,
            corpus=corpus,
            batch_size=session.base.batch_size,
            returns=session.returns,
            grid=session.resolution(session.returns),
        )
    return Fingerprint(
        violated=violated,
        diagnosis=diagnosis.name,
        basis_class=diagnosis.basis_class,
        calls=MappingProxyType({name: reading.value for name, reading in session.readings.items()}),
        failures=MappingProxyType({name: reading.why for name, reading in session.readings.items() if reading.why}),
        not_run=MappingProxyType(not_run),
        reason=diagnosis.words,
        returns=session.returns,
        expected=corpus.mean,
        witness=witness,
    )
