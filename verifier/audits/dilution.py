"""Scored padding: what the gap of two perplexities is on real tokens, and whether the printed statements agree."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from verifier.audits.audit import Audit, Side
from verifier.audits.dilution_box import Box, Measured, PadLoss, PrintedDeflation, box
from verifier.audits.dilution_details import Answer, dilution_details
from verifier.audits.dilution_gap import PrintedGap, Reading, gap_of, printed_gap, readings, threshold_of
from verifier.audits.dilution_possible import impossible
from verifier.audits.dilution_sentence import dilution_sentence, share_text
from verifier.audits.dilution_witness import dilution_witness
from verifier.audits.interval import Interval
from verifier.audits.printed import Printed, printed
from verifier.audits.shown_numbers import figures
from verifier.model.answers import AuditAnswer, Corrected
from verifier.model.basis import BasisClass
from verifier.model.errors import BadInput

THRESHOLD = printed("1.25")
"""How many times the upper end of the printed gap the true one must exceed to be material."""
SCORED, REAL = "perplexity over all positions, padding scored", "perplexity over real tokens"


def dilution(
    *,
    measured: Measured,
    p: Printed | None = None,
    pad_loss: PadLoss | None = None,
    pad_loss_difference: Printed | None = None,
    printed_deflation: PrintedDeflation | None = None,
    threshold: Printed | None = None,
    source: str | None = None,
) -> Audit:
    """What scored padding does to printed perplexities: solves for the missing one of share, pad loss and deflation.

    `measured`: perplexities over all positions. `p`: the padded share of the positions. `pad_loss`: their mean loss of
    the baseline, nats. `pad_loss_difference`: the variant's mean pad loss minus the baseline's, nats, a premise and
    exact (0 where not given). `printed_deflation`: how many times too small the padded number is said to be.
    `threshold`: a multiple of the printed gap's upper end (1.25). `source`: where the share is printed.

    With two models the finding is about their gap: `RECONCILED` where every admissible value exceeds the threshold or
    every one turns the gap over, `NOT_MATERIAL` where none exceeds it, `INSUFFICIENT` otherwise or where nothing bounds
    the share, `SAME_BASIS` where there is no padding. Statements that cannot all hold are given up one at a time, and
    the admissible range covers every one. With one model it is `JOINTLY_INCONSISTENT` where they cannot hold,
    `RECONCILED` where the deflation follows. With either it is `JOINTLY_INCONSISTENT` where padding alone would have
    more loss than was measured. Intervals are rigorous: exact rationals at corners of monotone functions, logarithms
    rounded outward.

    Raises BadInput for a perplexity below 1, a share outside [0, 1), a pad loss below 0, a factor or threshold of 0.
    """
    multiple = threshold or THRESHOLD
    if multiple.value <= 0:
        raise BadInput(
            f"{multiple.text} is no multiple of a gap",
            where="dilution.threshold",
            mend='write how many times the printed gap is material, like "1.25"',
        )
    difference = Fraction(0) if pad_loss_difference is None else pad_loss_difference.value
    rounded, points = (
        box(measured.baseline, p=p, pad_loss=pad_loss, deflation=printed_deflation, rounded=wide)
        for wide in (True, False)
    )
    gap, clash = printed_gap(measured, difference), impossible(measured, rounded, difference)
    rounded = rounded.within_reach()
    found = () if clash else readings(rounded, points)
    answer = _one_model(rounded, found) if gap is None else _two_models(gap, found, multiple)
    if clash:
        answer = Answer(AuditAnswer.JOINTLY_INCONSISTENT, None, threshold=answer.threshold)
    sides = _sides(measured, points, difference)
    return Audit(
        mechanism="dilution",
        basis_class=BasisClass.MASK,
        finding=answer.finding,
        sentence=dilution_sentence(measured, rounded, found, gap=gap, answer=answer, p=p, clash=clash),
        material=answer.material,
        left=sides[0],
        right=sides[1] if len(sides) > 1 else None,
        factor=None if p is None else str(1 / (1 - p.value)),
        declared_in=None if p is None else source or f"the printed share of padding, {share_text(p.value)}",
        missing=answer.missing,
        witness=clash.witness if clash else _witness(measured, found, points, difference=difference, printed_share=p),
        corrected=answer.corrected,
        details={
            **dilution_details(rounded, points, found, gap=gap, answer=answer, multiple=multiple),
            **({"consistent": False} if clash else {}),
        },
    )


def _two_models(gap: PrintedGap, found: tuple[Reading, ...], multiple: Printed) -> Answer:
    threshold = threshold_of(multiple, gap)
    if not found:
        unknown = ("the padded share of the scored positions, or the pad loss and the deflation",)
        return Answer(AuditAnswer.INSUFFICIENT, None, missing=unknown, threshold=threshold)
    ranges = [gap.corrected(reading.share) for reading in found]
    whole = Interval(min(each.low for each in ranges), max(each.high for each in ranges))
    if all(reading.share.high == 0 for reading in found):
        return Answer(AuditAnswer.SAME_BASIS, None, range=whole, threshold=threshold)
    corrected: Corrected | None = Corrected.KEPT
    if whole.below(0):
        corrected = Corrected.OTHER_SIDE if gap.log.above(0) else None  # a printed gap of 0 takes no side
    elif 0 in whole:
        corrected = Corrected.CONTAINS_ONE
    elif not whole.above(threshold.high):
        corrected = Corrected.BELOW_THRESHOLD
    if whole.above(threshold.high) or whole.below(0):
        return Answer(AuditAnswer.RECONCILED, True, corrected=corrected, range=whole, threshold=threshold)
    if whole.high <= threshold.low:
        return Answer(AuditAnswer.NOT_MATERIAL, False, corrected=corrected, range=whole, threshold=threshold)
    missing = ("the numbers of scored and of padded positions", "the mean pad loss of each model")
    return Answer(
        AuditAnswer.INSUFFICIENT, None, corrected=corrected, missing=missing, range=whole, threshold=threshold
    )


def _one_model(rounded: Box, found: tuple[Reading, ...]) -> Answer:
    if rounded.consistent() is False:
        return Answer(AuditAnswer.JOINTLY_INCONSISTENT, None)
    excess = rounded.excess() or rounded.printed_excess()
    if excess is None or not found:
        return Answer(AuditAnswer.INSUFFICIENT, None, missing=_unknown(rounded))
    if excess.low == excess.high == 0:
        return Answer(AuditAnswer.SAME_BASIS, None)
    if 0 in excess:
        return Answer(AuditAnswer.INSUFFICIENT, None, missing=("the padded share and the pad loss to more digits",))
    return Answer(AuditAnswer.RECONCILED, None)


def _unknown(rounded: Box) -> tuple[str, ...]:
    names = {
        "the padded share of the scored positions": rounded.share,
        "the mean pad loss": rounded.pad,
        "the deflation": rounded.factor,
    }
    return tuple(name for name, value in names.items() if value is None)


def _sides(measured: Measured, points: Box, difference: Fraction) -> list[Side]:
    sides: list[Side] = []
    for label, value, more in (
        ("baseline", measured.baseline, Fraction(0)),
        ("variant", measured.variant, difference),
    ):
        if value is None:
            continue
        pad = None if points.pad is None else points.pad.low + more
        true = true_perplexity(value, points.share, pad)
        restated = None if true is None else f"{figures(true, 4)} (share and pad loss as printed)"
        sides.append(Side(label, value.text, SCORED, restated, None if restated is None else REAL))
    return sides


def true_perplexity(perplexity: Printed, share: Interval | None, pad: Fraction | None) -> float | None:
    """The perplexity on real tokens, exp((ln m − p l)/(1 − p)), at the printed values.

    None where share or pad loss is missing, it would lie below 1, or no float holds it.
    """
    if share is None or pad is None:
        return None
    log = box(perplexity, p=None, pad_loss=None, deflation=None, rounded=False).log
    true = Interval((log.low - share.low * pad) / (1 - share.low), (log.high - share.low * pad) / (1 - share.low))
    if true.high < 0:  # padding alone has more loss than was measured
        return None
    found = gap_of((true.low + true.high) / 2)
    return None if found is None else found + 1


def _witness(
    measured: Measured, found: tuple[Reading, ...], points: Box, *, difference: Fraction, printed_share: Printed | None
) -> Mapping[str, Any] | None:
    if not found or found[-1].share.high == 0:
        return None
    share = found[-1].share  # the printed one, where it is printed
    if share.low == 0 and printed_share is not None:
        share = Interval(printed_share.value, share.high)
    if share.low == 0:  # no padding shows nothing
        return None
    pad = Fraction(0) if points.pad is None else points.pad.low
    return dilution_witness(measured, share, pad=pad, difference=difference)
