"""The margin rule over many data sets at once, with early stopping: the same table, facts by the array."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from verifier.stats.margin_answers import MarginAnswer, decide
from verifier.stats.margin_design import MarginRule
from verifier.stats.margin_rule import MarginEvidence, margin_facts

Flags = npt.NDArray[np.bool_]

_ANSWERS = tuple(MarginAnswer)
_FACTS = (
    "malformed",
    "too_few",
    "below_claim",
    "above_alleged",
    "below_middle",
    "above_middle",
    "below_claim_now",
    "above_alleged_now",
    "adequate",
)
_TABLE = np.array(
    [
        _ANSWERS.index(decide(**dict(zip(_FACTS, bits, strict=True))))
        for bits in itertools.product((False, True), repeat=len(_FACTS))
    ],
    dtype=np.int8,
)
_DECIDED = np.array([answer.outcome.decided for answer in _ANSWERS])


class MarginBatch(NamedTuple):
    """Per run: its answer as an index of `MarginAnswer`'s members, int8 (runs,), and the n it used, int64 (runs,)."""

    codes: npt.NDArray[np.int8]
    n: npt.NDArray[np.int64]

    @property
    def answers(self) -> list[MarginAnswer]:
        """The answers, one a run."""
        return [_ANSWERS[code] for code in self.codes]

    def shares(self) -> dict[MarginAnswer, float]:
        """How often each answer was given, those that were; the most frequent first."""
        counts = np.bincount(self.codes, minlength=len(_ANSWERS))
        order = sorted(range(len(_ANSWERS)), key=lambda code: -int(counts[code]))
        return {_ANSWERS[code]: float(counts[code] / counts.sum()) for code in order if counts[code]}


def run_margin_batch(
    rule: MarginRule,
    evidence: MarginEvidence,
    *,
    adequate: Flags,
    malformed: Flags | None = None,
    discount: float = 1.0,
) -> MarginBatch:
    """The answers of complete runs: stopped at the first look that decides, else judged at the maximum n.

    evidence: (runs, looks) over all the rule's looks. adequate: (runs,), at the maximum n. malformed: (runs, looks).
    """
    runs = evidence.below_claim.shape[0]
    looks = np.array(rule.looks)
    shape = (runs, len(looks))
    facts = margin_facts(rule, evidence, looks=rule.looks, discount=discount)
    columns = (
        np.zeros(shape, bool) if malformed is None else malformed,
        np.broadcast_to(looks < rule.minimum_n, shape),
        *facts,
        np.broadcast_to(adequate[:, None], shape),
    )
    index = np.zeros(shape, np.int64)
    for column in columns:
        index = 2 * index + column
    codes = _TABLE[index]
    decided = _DECIDED[codes]
    at = np.where(decided.any(axis=1), decided.argmax(axis=1), len(looks) - 1)
    return MarginBatch(codes[np.arange(runs), at], looks[at].astype(np.int64))
