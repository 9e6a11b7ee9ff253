"""The smallest corpus that still shows a violated relation: few sequences, few tokens, small whole numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from verifier.audits.fingerprint.calls import Call, Evaluator, Returns, agree, read
from verifier.audits.fingerprint.corpus import Corpus, padded_corpus
from verifier.audits.fingerprint.relations import BASE, BUILDERS, NotRun, base_call, relation
from verifier.audits.fingerprint.resolution import Resolution, roundings

SECONDS = 2.0
TWICE = "twice"
REPEATS = 12

Sequences = tuple[tuple[float, ...], ...]

SMALLEST: tuple[Sequences, ...] = (
    ((1,),),
    ((2,),),
    ((1, 2),),
    ((1,), (2,)),
    ((1,), (3,)),
    ((1, 2, 3),),
    ((1,), (2, 3)),
    ((1, 2), (4,)),
    ((3,), (1, 2)),
    ((1,), (2,), (4,)),
    ((1, 2), (3, 5)),
    ((1,), (2, 3, 4)),
    ((1,), (2,), (3, 5)),
    ((1,), (2,), (4,), (7,)),
    ((1, 2), (3,), (5, 8)),
)


@dataclass(frozen=True, slots=True)
class Witness:
    """A corpus and the relation that fails on it.

    `call` is the call that differs. `expected` and `measured` are ln perplexities: what the relation demands and what
    came back, None for no finite number. For `twice` they are two answers to the same call.
    """

    relation: str
    sequences: Sequences
    width: int
    pad_loss: float
    batch_size: int
    call: str
    expected: float | None
    measured: float | None

    @property
    def corpus(self) -> Corpus:
        """The corpus as arrays."""
        return padded_corpus(self.sequences, width=self.width, pad_loss=self.pad_loss)

    @property
    def size(self) -> tuple[int, int]:
        """Tokens, and cells."""
        return sum(map(len, self.sequences)), self.width * len(self.sequences)

    def as_json(self) -> dict[str, Any]:
        """The witness as JSON values."""
        return {
            "relation": self.relation,
            "sequences": [list(row) for row in self.sequences],
            "width": self.width,
            "pad_loss": self.pad_loss,
            "batch_size": self.batch_size,
            "call": self.call,
            "expected_log_perplexity": self.expected,
            "measured_log_perplexity": self.measured,
        }


@dataclass(frozen=True, slots=True)
class _Candidate:
    sequences: Sequences
    width: int
    pad_loss: float
    batch_size: int


def recheck(evaluator: Evaluator, witness: Witness, *, returns: Returns = "perplexity") -> bool:
    """Whether the evaluator, called anew, still fails the witness's relation on the witness's corpus.

    A deterministic evaluator must also give the measured value again.
    """
    given = _Candidate(witness.sequences, witness.width, witness.pad_loss, witness.batch_size)
    found = _try(evaluator, witness.relation, given, returns=returns)
    if found is None or witness.relation == TWICE:
        return found is not None
    return found.call == witness.call and agree(found.measured, witness.measured)


def smallest(
    evaluator: Evaluator,
    violated: frozenset[str],
    *,
    corpus: Corpus,
    batch_size: int,
    returns: Returns,
    grid: Resolution | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Witness | None:
    """The smallest corpus found within 2 s on which one of the violated relations fails.

    Tiny corpora come first, smallest first; where none shows it, the given corpus is shrunk for as long as it still
    fails. None where not even that was possible in time. `grid`: the rounding of the evaluator's values, allowed for.
    """
    end = clock() + SECONDS
    names = [name for name in (TWICE, *BUILDERS) if name in violated]
    for sequences in SMALLEST:
        longest = max(map(len, sequences))
        for name, size, more in product(names, (1, 2), (0, 1)):
            if clock() > end:
                return None
            tiny = _Candidate(sequences, longest + more, corpus.pad_loss, size)
            found = _try(evaluator, name, tiny, returns=returns, grid=grid)
            if found is not None:
                return found
    for name in names:
        rows = tuple(tuple(row.tolist()) for row in corpus.sequences)
        start = _Candidate(rows, corpus.losses.shape[1], corpus.pad_loss, batch_size)
        found = _try(evaluator, name, start, returns=returns, grid=grid)
        if found is not None:
            return _shrunk(evaluator, found, start, returns=returns, grid=grid, late=lambda: clock() > end)
    return None


def _shrunk(
    evaluator: Evaluator,
    found: Witness,
    start: _Candidate,
    *,
    returns: Returns,
    grid: Resolution | None,
    late: Callable[[], bool],
) -> Witness:
    current, best = start, found
    changed = True
    while changed and not late():
        changed = False
        for candidate in _smaller(current):
            if late():
                break
            again = _try(evaluator, found.relation, candidate, returns=returns, grid=grid)
            if again is not None:
                current, best, changed = candidate, again, True
                break
    return best


def _smaller(this: _Candidate) -> Iterator[_Candidate]:
    """Every candidate one step smaller: halves, single sequences and tokens gone, whole and smaller numbers."""
    rows = this.sequences
    n = len(rows)

    def with_rows(new: Sequences) -> _Candidate:
        longest = max((len(row) for row in new), default=0)
        return _Candidate(new, max(1, longest, min(this.width, longest + 1)), this.pad_loss, this.batch_size)

    if n > 3:
        yield with_rows(rows[: n // 2])
        yield with_rows(rows[n // 2 :])
    for i in range(n if n > 1 else 0):
        yield with_rows(rows[:i] + rows[i + 1 :])
    whole = tuple(tuple(float(max(1, round(value))) for value in row) for row in rows)
    if whole != rows:
        yield with_rows(whole)
    for i, row in enumerate(rows):
        for j in range(len(row) if sum(map(len, rows)) > 1 else 0):
            yield with_rows((*rows[:i], row[:j] + row[j + 1 :], *rows[i + 1 :]))
        for j, value in enumerate(row):
            if value > 1:
                yield with_rows((*rows[:i], (*row[:j], float(max(1, value // 2)), *row[j + 1 :]), *rows[i + 1 :]))
    if this.batch_size > 1:
        yield _Candidate(rows, this.width, this.pad_loss, this.batch_size - 1)


def _try(
    evaluator: Evaluator, name: str, candidate: _Candidate, *, returns: Returns, grid: Resolution | None = None
) -> Witness | None:
    """The candidate as a witness if the relation fails on it, twice over, with a base call that has a value."""
    corpus = padded_corpus(candidate.sequences, width=candidate.width, pad_loss=candidate.pad_loss)
    if corpus.tokens == 0:
        return None
    base = base_call(corpus, candidate.batch_size)
    reading = read(evaluator, base)
    first = reading.log(returns)
    if first is None:
        return None
    if name == TWICE:
        return _repeated(evaluator, base, first, candidate, returns=returns)
    built = relation(name, corpus, candidate.batch_size, returns)
    if isinstance(built, NotRun):
        return None
    readings = {BASE: reading} | {call.name: read(evaluator, call) for call in built.calls}
    logs = {called: each.log(returns) for called, each in readings.items()}
    calls = {call.name: call for call in (base, *built.calls)}
    check = built.failed(logs, roundings(grid, calls, readings, returns))
    if check is None:
        return None
    if not agree(read(evaluator, calls[check.of]).log(returns), logs[check.of]):
        return None
    return _witness(name, candidate, check.of, check.expected(logs), logs[check.of])


def _repeated(
    evaluator: Evaluator, base: Call, first: float, candidate: _Candidate, *, returns: Returns
) -> Witness | None:
    for _ in range(REPEATS):
        again = read(evaluator, base).log(returns)
        if not agree(again, first):
            return _witness(TWICE, candidate, BASE, first, again)
    return None


def _witness(name: str, candidate: _Candidate, call: str, expected: float | None, measured: float | None) -> Witness:
    rows = tuple(tuple(map(_plain, row)) for row in candidate.sequences)
    return Witness(name, rows, candidate.width, candidate.pad_loss, candidate.batch_size, call, expected, measured)


def _plain(value: float) -> float:
    return int(value) if float(value).is_integer() else float(np.float64(value))
