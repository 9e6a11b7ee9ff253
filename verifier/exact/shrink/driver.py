"""Takes whatever is smaller and keeps the answer; knows nothing of systems."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from verifier.exact.answer import Refutation

Document = dict[str, Any]
Decide = Callable[[Document, float | None], Refutation | None]
"""The answer for a candidate within so many seconds, or None where it is no problem at all, or not to be taken."""


Step = Callable[[Document], Iterator[Document]]
Taken = Sequence[tuple[Step, int]]
"""The steps that were taken, in order, each with the number of its candidate."""


def _unchanged(given: Document, small: Document, taken: Taken) -> tuple[str, ...]:  # noqa: ARG001  # see Moves.changes
    return ()


@dataclass(frozen=True, slots=True)
class Moves:
    """`steps`: what makes a problem smaller, each tried until nothing more is taken. `forms`: tried once at the end.

    `changes` says in clauses what was changed beside the start, from the given document, the new one and the steps.
    """

    steps: tuple[Step, ...]
    forms: tuple[Callable[[Document], Document], ...] = ()
    changes: Callable[[Document, Document, Taken], tuple[str, ...]] = _unchanged


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The smallest start found, as its certificate states it; its answer; how many candidates were tried.

    `changes` says, a clause each, what was changed beside the numbers of the start.
    """

    document: Document
    found: Refutation
    tried: int
    changes: tuple[str, ...] = ()


class _Search:
    def __init__(self, document: Document, found: Refutation, decide: Decide, deadline: float | None) -> None:
        self.document, self.found, self.tried = document, found, 0
        self.taken: list[tuple[Step, int]] = []
        self._decide, self._deadline = decide, deadline

    def take(self, candidate: Document) -> bool:
        """Keeps a candidate that is another problem with the same answer and a certificate."""
        left = None if self._deadline is None else self._deadline - time.monotonic()
        if candidate == self.document or (left is not None and left <= 0):
            return False
        self.tried += 1
        found = self._decide(candidate, left)
        if found is None or found.answer is not self.found.answer or found.certificate is None:
            return False
        self.document, self.found = candidate, found
        return True

    def exhaust(self, step: Step) -> bool:
        """Takes candidates, each built from the last one taken, until none is taken."""
        before = len(self.taken)
        while (number := next((k for k, some in enumerate(step(self.document)) if self.take(some)), None)) is not None:
            self.taken.append((step, number))
        return len(self.taken) > before


def smallest(
    document: Document, found: Refutation, *, moves: Moves, decide: Decide, time_limit: float | None
) -> Shrunk:
    """The problem that no single step makes smaller while answer and certificate stay; `found` has a certificate."""
    deadline = None if time_limit is None else time.monotonic() + time_limit
    search = _Search(document, found, decide, deadline)
    changed = True
    while changed:
        changed = sum(search.exhaust(step) for step in moves.steps) > 0
    for form in moves.forms:
        search.take(form(search.document))
    assert search.found.certificate is not None
    said = moves.changes(document, search.document, search.taken)
    return Shrunk(search.found.certificate["problem"], search.found, search.tried, said)
