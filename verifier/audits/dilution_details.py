"""A dilution's own quantities by name, as JSON values: for machines and for its picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from verifier.audits.dilution_box import LARGEST, Box, Quantity
from verifier.audits.dilution_gap import PrintedGap, Reading, gap_of
from verifier.audits.interval import Interval, exactly
from verifier.audits.logarithms import exp, middle
from verifier.audits.printed import Printed
from verifier.model.answers import AuditAnswer, Corrected


@dataclass(frozen=True, slots=True)
class Answer:
    """The finding of a dilution. `range`: ln(1 + g) on real tokens where admissible; `threshold`: its bar."""

    finding: AuditAnswer
    material: bool | None
    corrected: Corrected | None = None
    missing: tuple[str, ...] = ()
    range: Interval | None = None
    threshold: Interval | None = None

    @property
    def turned(self) -> bool:
        """Whether every admissible value lies on the other side of no gap."""
        return self.range is not None and self.range.below(0)


def dilution_details(
    rounded: Box, points: Box, found: tuple[Reading, ...], *, gap: PrintedGap | None, answer: Answer, multiple: Printed
) -> Mapping[str, Any]:
    """What there is to say: the share, pad loss and deflation that the others give, the readings, the gap's range."""
    details: dict[str, Any] = {
        "consistent": rounded.consistent(),
        "share": {"printed": _numbers(rounded.share, points.share), "solved": _solved(rounded, points, "share")},
        "pad_loss": {"printed": _numbers(rounded.pad, points.pad), "solved": _solved(rounded, points, "pad")},
        "deflation": {"of": rounded.of, "printed": _numbers(rounded.factor, points.factor)},
        "follows": {of: follows(rounded, points, of) for of in ("perplexity", "loss")},
        "smallest_consistent_pad_loss_max": smallest_pad_loss_max(rounded),
    }
    if gap is not None:
        details |= _gap_details(found, gap, answer, multiple)
    return details


def follows(rounded: Box, points: Box, of: Quantity) -> dict[str, Any] | None:
    """The deflation that share and pad loss give, of `of`: over all roundings, and at the pad loss's lower end alone.

    `holds`: whether the printed factor, read as one `of` this, could hold. None where share or pad loss is missing.
    """
    wide, point = replace(rounded, of=of), replace(points, of=of)
    whole, at_point = wide.deflation(), point.deflation()
    if whole is None or at_point is None or rounded.pad is None:
        return None
    least = replace(wide, pad=exactly(rounded.pad.low)).deflation()
    return {
        **(_numbers(whole, at_point) or {}),
        "at_least_pad_loss": _numbers(least, None),
        "holds": wide.consistent(),
    }


def smallest_pad_loss_max(rounded: Box) -> float | None:
    """The smallest `max` of the pad loss with which the statements hold; None where they do already, or none does."""
    solved = rounded.solved_pad()
    if rounded.consistent() is not False or solved is None or rounded.pad is None or solved.low <= rounded.pad.high:
        return None
    return float(solved.low)


def _gap_details(found: tuple[Reading, ...], gap: PrintedGap, answer: Answer, multiple: Printed) -> dict[str, Any]:
    assert answer.threshold is not None
    upper = gap.log.high
    shown = [_reading(reading, gap) for reading in found]
    at_point = [each["gap"] for each in shown if each["gap"] is not None]
    positive = [reading for reading in found if reading.share.low > 0]
    return {
        "gap_of": f"{gap.worse} over {gap.better}",
        "gap_printed": {
            "value": gap_of((gap.at_point.low + gap.at_point.high) / 2),
            "low": gap_of(gap.log.low),
            "high": gap_of(upper),
        },
        "threshold": {"multiple": multiple.text, "gap": gap_of(answer.threshold.high)},
        "readings": shown,
        "gap_at_printed_values": [min(at_point), max(at_point)] if at_point else None,
        "gap_admissible": None if answer.range is None else [gap_of(answer.range.low), gap_of(answer.range.high)],
        "pad_loss_difference": {
            "more_for": gap.worse,
            "registered": float(gap.difference),
            # at printed values the corrected gap is then no larger than rounding lets the printed one be
            "removes_dilution": [
                {"share": middle(each.at_point), "nats": middle(gap.difference_at(upper, each.at_point, rounded=False))}
                for each in _distinct(found)
                if each.at_point is not None and each.at_point.low > 0
            ],
            # the least difference at which some admissible value falls short of the threshold
            "ends_finding": None
            if answer.turned
            else min(
                (float(gap.difference_at(answer.threshold.high, each.share).low) for each in positive), default=None
            ),
        },
    }


def _distinct(found: tuple[Reading, ...]) -> list[Reading]:
    """The readings with different shares at printed values."""
    return [
        each for index, each in enumerate(found) if each.at_point not in [other.at_point for other in found[:index]]
    ]


def _reading(reading: Reading, gap: PrintedGap) -> dict[str, Any]:
    over = gap.corrected(reading.share)
    point = None if reading.at_point is None else gap.corrected(reading.at_point, rounded=False)
    return {
        "given_up": reading.given_up,
        "share": _numbers(reading.share, reading.at_point),
        "pad_loss": _numbers(reading.pad, None),
        "gap": None if point is None else gap_of((point.low + point.high) / 2),
        "gap_low": gap_of(over.low),
        "gap_high": gap_of(over.high),
    }


def _solved(rounded: Box, points: Box, which: str) -> dict[str, Any] | None:
    if which == "share":
        return _numbers(rounded.solved_share(), points.solved_share())
    return _numbers(rounded.solved_pad(), points.solved_pad())


def _numbers(whole: Interval | None, point: Interval | None) -> dict[str, Any] | None:
    if whole is None:
        return None
    return {"value": None if point is None else middle(point), "low": float(whole.low), "high": float(whole.high)}


def perplexity_of(log: Interval) -> tuple[float, float] | None:
    """The ends of exp of an interval as floats; None where no float holds them."""
    if log.high > LARGEST:
        return None
    found = exp(log)
    return float(found.low), float(found.high)
