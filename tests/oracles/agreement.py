"""What an answer of the finder says about the steps that brute force took, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.oracles.stepping import Seen
from verifier.exact import Refutation
from verifier.model.answers import ExactAnswer

VIOLATED = (ExactAnswer.VIOLATED, ExactAnswer.VIOLATED_FOR_ALL)


def agrees(found: Refutation, seen: Sequence[Seen]) -> bool:
    """Asserts that no word of an answer about the steps seen is contradicted; returns whether a failure was seen."""
    failing = {step.t: step.failing for step in seen}
    t0, last = seen[0].t, seen[-1].t
    first = next((step for step in seen if step.failing), None)
    said = found.first_violation
    if found.answer not in VIOLATED:
        assert found.answer in (ExactAnswer.HOLDS_FOR_ALL, ExactAnswer.VERIFIED_TO_HORIZON), found.answer
        until = last if found.horizon is None else found.horizon.t
        assert first is None or first.t > until
    elif said is not None and said.t <= last:
        assert first is not None
        assert (said.t, said.component) == (first.t, first.failing[0])
        assert said.lhs <= Fraction(*map(int, first.largest))
        assert said.lhs > said.rhs
    elif said is not None:
        assert first is None
    if found.fails_from is not None:
        assert found.answer is ExactAnswer.VIOLATED_FOR_ALL
        _fails_from(found, failing, t0=t0, last=last)
    return first is not None


def _fails_from(found: Refutation, failing: dict[int, tuple[int, ...]], *, t0: int, last: int) -> None:
    assert found.fails_from is not None
    assert found.fails_from_by_component is not None
    minimal = not any("smallest" in note for note in found.notes)
    assert all(failing[t] for t in range(found.fails_from, last + 1))
    if minimal and t0 < found.fails_from <= last + 1:
        assert not failing[found.fails_from - 1]
    for i, start in enumerate(found.fails_from_by_component):
        assert start is not None
        assert all(i in failing[t] for t in range(start, last + 1))
        if minimal and t0 < start <= last + 1:
            assert i not in failing[start - 1]
