"""Best of unequal numbers of trials: how much of the gap between two bests the numbers of trials explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from verifier.audits.audit import Audit, Side
from verifier.audits.best_of import chance_of_gap, expected_best_of_scores, expected_normal_best
from verifier.audits.interval import Interval, exactly
from verifier.audits.printed import Printed
from verifier.audits.shown_numbers import figures
from verifier.audits.shown_numbers import sentence as joined
from verifier.model.answers import AuditAnswer, Corrected
from verifier.model.basis import BasisClass
from verifier.model.errors import BadInput

MOST_TRIALS = 10**9
MOST_SCORES = 100_000
Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Arm:
    """One side: the best of `trials` trials, as printed or from all its scores. Raises BadInput for numbers that clash.

    `scores`: the result of every trial, as printed; then `best` may be left out and `trials` must count them.
    """

    label: str
    trials: int
    best: Printed | None = None
    scores: tuple[Printed, ...] = ()

    def __post_init__(self) -> None:
        where = f"selection.{self.label}"
        if not 1 <= self.trials <= MOST_TRIALS:
            raise BadInput(f"{self.trials} is no number of trials", where=where, mend="write a whole number from 1")
        if len(self.scores) > MOST_SCORES:
            raise BadInput(f"there are more than {MOST_SCORES} scores", where=where, mend="give the best and the sd")
        if self.scores and len(self.scores) != self.trials:
            raise BadInput(
                f"{self.trials} trials and {len(self.scores)} scores", where=where, mend="give the score of every trial"
            )

    def best_of(self, better: Better) -> Interval | None:
        """The best result over all roundings; None where neither it nor the scores are known."""
        if self.best is not None:
            return self.best.interval
        ends = [score.interval for score in self.scores]
        if not ends:
            return None
        pick = max if better == "higher" else min
        return Interval(pick(x.low for x in ends), pick(x.high for x in ends))


def selection(
    trials: tuple[Arm, Arm], *, better: Better = "higher", sd: Printed | None = None, source: str | None = None
) -> Audit:
    """Where the gap of two bests stands at equal numbers of trials: left − right, the better side positive.

    From scores of the arm with more trials, exactly: the expected best of as many of them, drawn without replacement,
    as the other arm has. Else from `sd`, the standard deviation between trials of either arm, taken as normal:
    the expected best of n lies sd·E[max of n standard normals] above the mean. `source`: where sd is from.

    `SAME_BASIS` at equal numbers; `MISMATCH_PROVEN` (from scores) or `RECONCILED` (from sd; `RECONCILED_WEAK` where sd
    has no source) where at equal numbers the gap vanishes or turns for some rounding; `NOT_MATERIAL` where it keeps its
    side; `INSUFFICIENT` where neither scores nor sd are given. Material where it vanishes or turns for every rounding.

    Raises BadInput for a best that is not the best of the scores beside it, and for an sd that is not above 0.
    """
    left, right = trials
    for arm in trials:
        _check_best(arm, better)
    ends = [arm.best_of(better) for arm in trials]
    gap = None if ends[0] is None or ends[1] is None else _towards(better, ends[0] - ends[1])
    sides = [
        Side(arm.label, "" if end is None else _span(end), f"best of {arm.trials:,}")
        for arm, end in zip(trials, ends, strict=True)
    ]
    shared: Mapping[str, Any] = {"mechanism": "selection", "basis_class": BasisClass.SEL}
    if left.trials == right.trials:
        sentence = f"Both sides are the best of {left.trials:,}."
        return Audit(**shared, finding=AuditAnswer.SAME_BASIS, sentence=sentence, left=sides[0], right=sides[1])
    more, fewer = (left, right) if left.trials > right.trials else (right, left)
    worth = _worth(more, fewer, better=better, sd=sd)
    head = f"{more.label} is the best of {more.trials:,}, {fewer.label} of {fewer.trials:,}"
    if gap is None or worth is None:
        missing = _missing(more, fewer, better=better, sd=sd)
        return Audit(
            **shared, finding=AuditAnswer.INSUFFICIENT, sentence=joined(head, "what that is worth is not given"),
            left=sides[0], right=sides[1], missing=missing,
        )  # fmt: skip
    fair = gap - worth if more is left else gap + worth
    at = 0 if more is left else 1
    best = more.best_of(better)
    assert best is not None  # or there were no gap
    sides[at] = _restated(sides[at], best, worth, trials=fewer.trials, better=better)
    corrected = _corrected(gap, fair)
    finding = AuditAnswer.NOT_MATERIAL
    if corrected is not Corrected.KEPT:
        weak = AuditAnswer.RECONCILED if source else AuditAnswer.RECONCILED_WEAK
        finding = AuditAnswer.MISMATCH_PROVEN if more.scores else weak
    material = (gap.above(0) and fair.high <= 0) or (gap.below(0) and fair.low >= 0)
    said = {
        Corrected.KEPT: "the gap keeps its side",
        Corrected.CONTAINS_ONE: "the numbers of trials may explain the gap",
        Corrected.OTHER_SIDE: "the gap turns",
    }[corrected]
    if material and corrected is Corrected.CONTAINS_ONE:
        said = "the gap is explained by the numbers of trials"
    return Audit(
        **shared,
        finding=finding,
        sentence=joined(
            f"{head}, which is worth {_span(worth)}: of the gap of {_span(gap)} between {left.label} and {right.label} "
            f"{_span(fair)} is left at {fewer.trials:,} trials each",
            said,
        ),
        material=material,
        left=sides[0],
        right=sides[1],
        declared_in=source,
        corrected=corrected,
        witness=_witness(more, better=better),
        details={
            "gap": _ends(gap),
            "worth_of_trials": _ends(worth),
            "gap_at_equal_trials": _ends(fair),
            "method": "scores, without replacement" if more.scores else "normal",
            "chance_of_gap_between_equals": _chance(trials, gap, sd),
        },
    )


def _check_best(arm: Arm, better: Better) -> None:
    """Raises BadInput where a best and scores are given and no rounding lets it be the best of them."""
    if arm.best is None or not arm.scores:
        return
    pick = max if better == "higher" else min
    first = pick(arm.scores, key=lambda score: score.value)
    if not arm.best.interval.meets(first.interval):
        raise BadInput(
            f"the best is {arm.best.text}, and the best of the scores {first.text}",
            where=f"selection.{arm.label}",
            mend="give the scores that it was chosen from, or leave it out",
        )


def _worth(more: Arm, fewer: Arm, *, better: Better, sd: Printed | None) -> Interval | None:
    """By how much the best of more trials is expected to beat that of fewer, between equal arms; at least 0."""
    if more.scores:
        best = more.best_of(better)
        assert best is not None
        return _towards(better, best - _expected(more, fewer.trials, better))
    if sd is None:
        return None
    if sd.value <= 0:
        raise BadInput(
            f"{sd.text} is no standard deviation", where="selection.sd", mend="write the spread between trials, above 0"
        )
    factor = Fraction(expected_normal_best(more.trials) - expected_normal_best(fewer.trials))
    return Interval(max(Fraction(0), sd.interval.low), sd.interval.high) * exactly(factor)


def _expected(arm: Arm, k: int, better: Better) -> Interval:
    """The expected best of k of the arm's scores; it increases in each of them, so the ends decide."""
    sign = 1 if better == "higher" else -1
    ends = []
    for side in ("low", "high"):
        scores = [sign * getattr(score.interval, side) for score in arm.scores]
        ends.append(sign * expected_best_of_scores(scores, k))
    return Interval(*ends)


def _corrected(gap: Interval, fair: Interval) -> Corrected:
    """Where the fair gap stands against the printed one's side of 0."""
    if 0 in fair or 0 in gap:
        return Corrected.CONTAINS_ONE
    return Corrected.KEPT if fair.above(0) == gap.above(0) else Corrected.OTHER_SIDE


def _towards(better: Better, x: Interval) -> Interval:
    return x if better == "higher" else Interval(-x.high, -x.low)


def _restated(side: Side, best: Interval, worth: Interval, *, trials: int, better: Better) -> Side:
    fair = best - worth if better == "higher" else best + worth
    return Side(side.label, side.stated, side.basis, _span(fair), f"expected best of {trials:,}")


def _missing(more: Arm, fewer: Arm, *, better: Better, sd: Printed | None) -> tuple[str, ...]:
    missing = [f"the best result of {arm.label}" for arm in (more, fewer) if arm.best_of(better) is None]
    if sd is None and not more.scores:
        missing.append(f"every score of {more.label}, or the standard deviation between trials")
    return tuple(missing)


def _chance(trials: tuple[Arm, Arm], gap: Interval, sd: Printed | None) -> float | None:
    """P(a gap at least this large, to the side it has) between equal normal arms, at printed values."""
    if sd is None:
        return None
    middle = float((gap.low + gap.high) / 2) / float(sd.value)
    left, right = trials
    if middle >= 0:
        return chance_of_gap(middle, left.trials, right.trials)
    return chance_of_gap(-middle, right.trials, left.trials)


def _witness(more: Arm, *, better: Better) -> Mapping[str, Any] | None:
    """Two of the scores, the best and another: their best beats the expected best of one of them."""
    if not more.scores:
        return None
    ordered = sorted(more.scores, key=lambda score: score.value, reverse=better == "higher")
    other = next((score for score in ordered if score.value != ordered[0].value), None)
    if other is None:
        return None
    mean = (ordered[0].value + other.value) / 2
    return {"scores": [ordered[0].text, other.text], "best_of_2": ordered[0].text, "expected_best_of_1": float(mean)}


def _ends(x: Interval) -> Sequence[float]:
    return [float(x.low), float(x.high)]


def _span(x: Interval) -> str:
    low, high = figures(x.low, 4), figures(x.high, 4)
    return low if low == high else f"{low} to {high}"
