"""The margin rule: is an effect as large as claimed, or only as large as alleged? The same threshold both ways.

Claim: θ ≥ c. Dispute: θ ≤ a, with a < c and m between them; θ is oriented so that larger favours the claim. Each rule
kind (`difference`, `ratio`, `proportion`, `count`) supplies evidence against four nulls at every look; this module
turns it into facts, an answer and a finding. The table itself is `margin_answers.decide`.

Sources: Ville (1939), for suprema over looks as thresholds; Robbins (1970), for one-sided tests of power one both ways.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from verifier.model.results import Adequacy
from verifier.stats.critical import log_threshold
from verifier.stats.growth_statistics import e_value
from verifier.stats.laws import Floats
from verifier.stats.margin_answers import MarginAnswer, decide
from verifier.stats.margin_design import LEAST_N, MIDDLE_BAR, MarginRule, Nulls
from verifier.stats.margin_sentences import summary
from verifier.stats.margin_statistics import Effect, MarginFinding, MarginSoFar, MarginStatistics
from verifier.stats.significance import anytime_sigma

__all__ = [
    "LEAST_N",
    "MIDDLE_BAR",
    "MarginAnswer",
    "MarginEvidence",
    "MarginFacts",
    "MarginFinding",
    "MarginRule",
    "Nulls",
    "decide",
    "margin_facts",
    "margin_finding",
]


@dataclass(frozen=True, kw_only=True)
class MarginEvidence:
    """ln E at each look made, undiscounted; float64 of shape (looks,), or (…, looks) for many data sets at once.

    below_claim: for θ < c (null θ ≥ c). above_alleged: for θ > a (null θ ≤ a). below_middle: for θ < m.
    above_middle: for θ > m. Fewer `looks` than were made are an error of the caller.
    """

    below_claim: Floats
    above_alleged: Floats
    below_middle: Floats
    above_middle: Floats

    def masked(self, counts: npt.NDArray[np.bool_]) -> MarginEvidence:
        """The evidence with −∞ at the looks that do not count; counts: (looks,)."""
        return MarginEvidence(**{f.name: np.where(counts, getattr(self, f.name), -np.inf) for f in fields(self)})

    def suprema(self) -> MarginEvidence:
        """The suprema over the looks made up to each look."""
        return MarginEvidence(
            **{f.name: np.maximum.accumulate(getattr(self, f.name), axis=-1) for f in fields(self)},
        )


class MarginFacts(NamedTuple):
    """The facts of the table that E-values decide, each bool of shape (…, looks)."""

    below_claim: npt.NDArray[np.bool_]
    above_alleged: npt.NDArray[np.bool_]
    below_middle: npt.NDArray[np.bool_]
    above_middle: npt.NDArray[np.bool_]
    below_claim_now: npt.NDArray[np.bool_]
    above_alleged_now: npt.NDArray[np.bool_]


def margin_facts(rule: MarginRule, evidence: MarginEvidence, *, looks: Sequence[int], discount: float) -> MarginFacts:
    """The facts at each of the looks made: G, F, H are suprema up to it over looks of at least minimum_n.

    The discount multiplies every E.
    """
    counts = np.array([look >= rule.minimum_n for look in looks], dtype=bool)
    sup = evidence.masked(counts).suprema()
    bar, middle = log_threshold(float(rule.threshold), discount), log_threshold(MIDDLE_BAR, discount)
    return MarginFacts(
        below_claim=sup.below_claim >= bar,
        above_alleged=sup.above_alleged >= bar,
        below_middle=sup.below_middle >= middle,
        above_middle=sup.above_middle >= middle,
        below_claim_now=evidence.below_claim >= middle,
        above_alleged_now=evidence.above_alleged >= middle,
    )


def margin_finding(
    rule: MarginRule,
    evidence: MarginEvidence,
    *,
    n: int,
    discount: float,
    last: bool,
    adequate: Adequacy,
    malformed: str = "",
    too_few: str = "",
    effect: Effect | None = None,
    flags: Sequence[str] = (),
    reported: Mapping[str, Any] | None = None,
    stopped_at: int | None = None,
) -> MarginFinding:
    """The finding at the look n, from the evidence at every registered look up to n.

    n: what was run, in the rule's units; below the first look there is no evidence and the answer is TOO_FEW.
    discount: 6/(π² l²) of the l-th registration. last: no further look follows. adequate: whether the registered
    maximum could decide, with what is needed under the rule's unit. malformed: why the data cannot be judged, as a
    clause; "" where they can. too_few: what there are too few of beside n, as a clause. stopped_at: the look of the
    registered stop where data go on beyond it.

    `stops` ends the run: only the two decided answers do before the last look.

    Raises BadInput where n is beyond the first look and at no registered one.
    """
    looks = rule.looks_made(n)
    if not looks or n < rule.minimum_n:
        too_few = f"nothing is decided before {max(rule.minimum_n, rule.looks[0])} {rule.unit}"
    assert evidence.below_claim.shape[-1:] == (len(looks),), "one value of evidence a look made"
    facts = margin_facts(rule, evidence, looks=looks, discount=discount)
    answer = decide(
        malformed=bool(malformed),
        too_few=bool(too_few),
        adequate=adequate.adequate,
        **{name: bool(fact[-1]) if looks else False for name, fact in zip(facts._fields, facts, strict=True)},
    )
    early = answer.outcome.decided and not last
    stop = looks.index(stopped_at) if stopped_at is not None else len(looks) - 1 if early or last else None
    by = "decision" if early or stopped_at is not None else "maximum-n" if last else None
    nulls = rule.nulls
    statistics = MarginStatistics(
        n=n,
        looks_made=looks,
        stopped_by=by,
        discount=discount,
        claimed=nulls.claimed,
        alleged=nulls.alleged,
        middle=nulls.middle,
        effect=effect,
        reported=reported or {},
        **(_evidence_records(evidence, looks, stop=stop, discount=discount) if looks and not malformed else {}),
    )
    return MarginFinding(
        answer=answer,
        outcome=answer.outcome,
        reason=answer.reason,
        summary=summary(
            answer,
            statistics,
            adequate,
            shown=rule.shown,
            unit=rule.unit,
            maximum=rule.maximum,
            too_few=too_few,
            threshold=float(rule.threshold),
            malformed=malformed,
        ),
        stops=early or last,
        statistics=statistics,
        adequacy=adequate,
        so_far=_so_far(rule, statistics) if answer.reason is not None and not malformed else None,
        flags=tuple(flags),
    )


def _evidence_records(
    evidence: MarginEvidence, looks: Sequence[int], *, stop: int | None, discount: float
) -> dict[str, Any]:
    assert looks
    best = float(max(evidence.below_claim.max(), evidence.above_alleged.max()))
    records: dict[str, Any] = {
        f"e_{f.name}": e_value(getattr(evidence, f.name), at_stop=stop) for f in fields(evidence)
    }
    return records | {
        "sigma_anytime": anytime_sigma(best),
        "sigma_discounted": anytime_sigma(best + math.log(discount)),
    }


def _so_far(rule: MarginRule, statistics: MarginStatistics) -> MarginSoFar:
    effect, below, above = statistics.effect, statistics.e_below_claim, statistics.e_above_alleged
    return MarginSoFar(
        estimate=None if effect is None else effect.estimate,
        interval=None if effect is None else effect.interval,
        sup_e_below_claim=None if below is None else below.sup,
        sup_e_above_alleged=None if above is None else above.sup,
        share_of_budget=min(1.0, statistics.n / rule.maximum),
    )
