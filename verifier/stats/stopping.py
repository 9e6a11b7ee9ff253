"""The margin rule played out exactly, with its early stops, where the data are a count that grows from look to look."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from verifier.model.outcomes import Outcome
from verifier.stats.laws import Floats
from verifier.stats.margin_answers import MarginAnswer, decide
from verifier.stats.margin_design import MarginRule
from verifier.stats.margin_rule import MarginEvidence, MarginFacts, margin_facts
from verifier.stats.margin_statistics import MarginPower

Ints = npt.NDArray[np.int64]
ANSWERS = tuple(MarginAnswer)
_BITS = len(MarginFacts._fields)  # the suprema's four, then the two of the present look
_SUPREMA = 4
_NEGLIGIBLE = 1e-17


def answer_table(*, adequate: bool) -> Ints:
    """The index in ANSWERS of the table's answer for each of the 64 combinations of the facts, fact i being bit i."""
    rows = itertools.product((False, True), repeat=_BITS)
    return np.array(
        [
            ANSWERS.index(
                decide(
                    malformed=False,
                    too_few=False,
                    adequate=adequate,
                    **dict(zip(MarginFacts._fields, reversed(row), strict=True)),
                )
            )
            for row in rows
        ]
    )


def fact_codes(facts: MarginFacts) -> Ints:
    """The facts as one number, fact i being bit i, of the facts' shape."""
    return np.asarray(sum(np.asarray(fact, np.int64) << bit for bit, fact in enumerate(facts)))


def chain_power(
    rule: MarginRule,
    *,
    effect: float,
    discount: float,
    adequate: bool,
    evidence: Callable[[int, Ints], MarginEvidence],
    step: Callable[[int, int, Ints], tuple[int, Floats]],
) -> MarginPower:
    """The exact probability of each answer where the data are a count s that grows from look to look.

    evidence(n, s): ln E at n for the counts s, each (len(s),). step(n, h, s): how many are added by the next h, as the
    smallest number j and the probabilities of j, j + 1, …, shape (len(s), J). A dynamic programme over s and the four
    suprema's facts; what has probability below 1e-17 is dropped.
    """
    table = answer_table(adequate=adequate)
    ended = dict.fromkeys(ANSWERS, 0.0)
    mean_n, before = 0.0, 0
    counts, mass = np.array([0]), {0: np.array([1.0])}  # by code of the suprema's facts: probability of each count
    for look in rule.looks:
        counts, mass = _advance(counts, mass, *step(before, look - before, counts))
        here = margin_facts(rule, _single(evidence(look, counts)), looks=[look], discount=discount)
        codes = fact_codes(here)[:, 0]
        live: dict[int, Floats] = {}
        for code, weights in mass.items():
            now = codes | code
            for each in np.unique(now):
                part = np.where(now == each, weights, 0.0)
                answer = ANSWERS[table[each]]
                if answer.outcome.decided or look == rule.maximum:
                    ended[answer] += float(part.sum())
                    mean_n += look * float(part.sum())
                else:
                    kept = int(each) & ((1 << _SUPREMA) - 1)
                    live[kept] = live.get(kept, 0.0) + part
        mass, before = live, look
        if not mass:
            break
    answers, outcomes = shares(ended)
    return MarginPower(effect=effect, answers=answers, outcomes=outcomes, mean_n=mean_n, method="dynamic programme")


def shares(answers: Mapping[MarginAnswer, float]) -> tuple[dict[MarginAnswer, float], dict[Outcome, float]]:
    """The answers that occur and their outcomes with their probabilities, likeliest first."""
    outcomes: dict[Outcome, float] = {}
    for answer, share in answers.items():
        if share > 0:
            outcomes[answer.outcome] = outcomes.get(answer.outcome, 0.0) + share
    ordered = sorted(answers.items(), key=lambda item: -item[1])
    return {answer: share for answer, share in ordered if share > 0}, dict(
        sorted(outcomes.items(), key=lambda item: -item[1])
    )


def least_n(enough: Callable[[Ints], npt.NDArray[np.bool_]], *, start: int, most: int) -> int | None:
    """The least n in a window below where bisection lands at which `enough` holds; None beyond `most`.

    enough(n): whether the power at each n suffices, elementwise. Counts make power a saw-tooth in n, so the last fifth
    (at most a thousand) below the bisected n is searched one by one.
    """

    def holds(n: int) -> bool:
        return bool(enough(np.array([n]))[0])

    high = start
    while not holds(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    low = max(start - 1, high // 2)
    bottom = low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    window = np.arange(max(start, bottom, high - min(1000, max(50, high // 5))), high + 1)
    return int(window[int(np.argmax(enough(window)))])


def _advance(counts: Ints, mass: Mapping[int, Floats], least: int, chances: Floats) -> tuple[Ints, dict[int, Floats]]:
    """The counts after a step, and their probabilities, without the negligible ones at either end."""
    first = int(counts[0]) + least
    width = len(counts) + chances.shape[1] - 1
    index = (np.arange(len(counts))[:, None] + np.arange(chances.shape[1])[None, :]).ravel()
    moved: dict[int, Floats] = {
        code: np.bincount(index, weights=(weights[:, None] * chances).ravel(), minlength=width).astype(float)
        for code, weights in mass.items()
    }
    seen = np.flatnonzero(sum(moved.values(), np.zeros(width)) > _NEGLIGIBLE)
    keep = slice(int(seen[0]), int(seen[-1]) + 1)
    return np.arange(first, first + width)[keep], {code: weights[keep] for code, weights in moved.items()}


def _single(evidence: MarginEvidence) -> MarginEvidence:
    """Evidence for many counts at one look as (counts, 1)."""
    return MarginEvidence(
        below_claim=evidence.below_claim[:, None],
        above_alleged=evidence.above_alleged[:, None],
        below_middle=evidence.below_middle[:, None],
        above_middle=evidence.above_middle[:, None],
    )
