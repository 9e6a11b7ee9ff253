"""A dilution in one sentence, its numbers in it."""

from __future__ import annotations

from fractions import Fraction

from verifier.audits.dilution_box import Box, Measured, Quantity
from verifier.audits.dilution_details import Answer, follows, perplexity_of, smallest_pad_loss_max
from verifier.audits.dilution_gap import PrintedGap, Reading, gap_of
from verifier.audits.dilution_possible import Clash
from verifier.audits.logarithms import middle
from verifier.audits.printed import Printed
from verifier.audits.shown_numbers import figures, nats, percent, percent_up, sentence, share
from verifier.model.answers import AuditAnswer


def dilution_sentence(
    measured: Measured,
    rounded: Box,
    found: tuple[Reading, ...],
    *,
    gap: PrintedGap | None,
    answer: Answer,
    p: Printed | None,
    clash: Clash | None = None,
) -> str:
    """What the padding does to the gap, or to the one perplexity; `clash`: why no losses give the statements."""
    if clash is not None:
        return sentence(clash.said)
    disagree = inconsistency(measured.baseline, rounded)
    if gap is None:
        return sentence(disagree or _one(measured.baseline, rounded, answer))
    parts = [_gap(found, gap, answer, p)]
    if answer.finding is AuditAnswer.RECONCILED and answer.material and not answer.turned:
        parts.append(_dies(found, gap, answer))
    return sentence(*parts, disagree)


def inconsistency(perplexity: Printed, rounded: Box) -> str:
    """Which printed statements cannot all hold, and what follows from the others; "" where they can."""
    if rounded.consistent() is not False:
        return ""
    assert rounded.share is not None
    assert rounded.pad is not None
    assert rounded.factor is not None
    what = follows(rounded, rounded, rounded.of)
    means = "" if what is None else f": {rounded.of} would be deflated {_span(what['low'], what['high'])} times"
    return (
        f"a padded share of {share(rounded.share.low)} to {share(rounded.share.high)}, a pad loss of "
        f"{_span(rounded.pad.low, rounded.pad.high)} nats, {rounded.of} deflated "
        f"{_span(rounded.factor.low, rounded.factor.high)} times and a perplexity of {perplexity.text} cannot all hold"
        f"{means}{_mended(rounded)}"
    )


def _mended(rounded: Box) -> str:
    """What would let them hold: a larger pad loss, or the other reading of the deflation."""
    other: Quantity = "loss" if rounded.of == "perplexity" else "perplexity"
    reads = follows(rounded, rounded, other)
    least = smallest_pad_loss_max(rounded)
    ways = [] if least is None else [f"with a pad loss of {nats(least)} nats"]
    if reads is not None and reads["holds"]:
        ways.append(f"if it is the {other} that is deflated")
    return f"; they can {' or '.join(ways)}" if ways else ""


def share_text(p: Fraction) -> str:
    """A padded share as people write it."""
    return f"p = {share(p)}"


def _span(low: Fraction | float, high: Fraction | float) -> str:
    one, other = figures(low), figures(high)
    return one if one == other else f"{one} to {other}"


def _one(perplexity: Printed, rounded: Box, answer: Answer) -> str:
    if answer.finding is AuditAnswer.SAME_BASIS:
        return f"a perplexity of {perplexity.text} stands on real tokens already: no position is padding"
    if answer.finding is AuditAnswer.INSUFFICIENT:
        return f"what scored padding does to a perplexity of {perplexity.text} is not settled by what was given"
    excess = rounded.excess() or rounded.printed_excess()
    if excess is not None and rounded.of == "loss":
        excess = excess * rounded.log  # r/x times x
    true = None if excess is None else perplexity_of(rounded.log + excess)
    said = "" if true is None else f" is {_span(*true)} on real tokens"
    solved = [
        f"{name} {_span(max(Fraction(0), found.low), found.high)}"
        for name, known, found in (
            ("the padded share", rounded.share, rounded.solved_share()),
            ("the pad loss in nats", rounded.pad, rounded.solved_pad()),
            ("the deflation", rounded.factor, rounded.deflation()),
        )
        if known is None and found is not None and found.high >= 0
    ]
    rest = " and ".join(solved) or "all statements agree"
    return f"a perplexity of {perplexity.text}{said}, and {rest} over all roundings"


def _gap(found: tuple[Reading, ...], gap: PrintedGap, answer: Answer, p: Printed | None) -> str:
    said = gap_of((gap.at_point.low + gap.at_point.high) / 2)
    head = "the printed gap" if said is None else f"the gap of {percent(said)}"
    if answer.range is None:
        return f"{head} cannot be put on real tokens: nothing given bounds the padded share"
    if answer.finding is AuditAnswer.SAME_BASIS:
        return f"{head} stands on real tokens already: no position is padding"
    low, high = gap_of(answer.range.low), gap_of(answer.range.high)
    assert answer.threshold is not None
    bar = gap_of(answer.threshold.high)
    if low is None or high is None or bar is None:
        return f"{head} is beyond all bounds on real tokens: nearly every scored position is padding"
    at = found[-1].at_point
    point = None if at is None else gap_of(middle_log(gap, found[-1]))
    where = "" if point is None or at is None else f" is {percent(point)} on real tokens at {_share(at.low, p)}, and"
    if answer.turned:
        return (
            f"{head}{where} lies between {percent(low)} and {percent(high)} over all that is admissible; every value "
            f"turns it over: on real tokens the {gap.better} has the larger perplexity"
        )
    verdict = {
        AuditAnswer.RECONCILED: "every value is above",
        AuditAnswer.NOT_MATERIAL: "none is above",
    }.get(answer.finding, "some are above and some below")
    return (
        f"{head}{where} lies between {percent(low)} and {percent(high)} over all that is admissible; {verdict} the "
        f"registered {percent_up(bar)}"
    )


def _share(value: Fraction, p: Printed | None) -> str:
    return f"p = {p.text}" if p is not None and p.value == value else share_text(value)


def middle_log(gap: PrintedGap, reading: Reading) -> Fraction:
    """ln(1 + g) on real tokens at the printed values of a reading that has them."""
    assert reading.at_point is not None
    log = gap.corrected(reading.at_point, rounded=False)
    return (log.low + log.high) / 2


def _dies(found: tuple[Reading, ...], gap: PrintedGap, answer: Answer) -> str:
    assert answer.threshold is not None
    shares: dict[str, str] = {}
    for reading in found:
        at = reading.at_point
        if at is not None and at.low > 0:
            d = middle(gap.difference_at(gap.log.high, at, rounded=False))
            shares.setdefault(share_text(at.low), nats(d))
    removes = " or ".join(f"{d} nats at {share}" for share, d in shares.items())
    positive = [reading for reading in found if reading.share.low > 0]
    ends = min(float(gap.difference_at(answer.threshold.high, reading.share).low) for reading in positive)
    tail = f", and from {nats(ends)} on some admissible value falls short of the threshold"
    more = f"{removes} more pad loss for the {gap.worse} would leave no dilution" if removes else ""
    return f"{more}{tail}" if more else tail.removeprefix(", and ")
