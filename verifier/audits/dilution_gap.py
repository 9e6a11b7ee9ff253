"""The gap of two perplexities on real tokens, from the gap with scored padding, over what is left open."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from verifier.audits.dilution_box import LARGEST, ONE, ZERO, Box, Measured, perplexity_interval
from verifier.audits.interval import Interval, exactly
from verifier.audits.logarithms import exp, hull, ln
from verifier.audits.printed import Printed


@dataclass(frozen=True, slots=True)
class PrintedGap:
    """ln(1 + g) of the worse printed perplexity over the better, and which is which.

    `log`: over all roundings; `at_point`: at the printed values. `worse`: "variant" (also where both print alike) or
    "baseline". `difference`: mean pad loss of the worse model minus that of the better, in nats: a premise, so exact.
    """

    log: Interval
    at_point: Interval
    worse: str
    difference: Fraction

    @property
    def better(self) -> str:
        """The model with the smaller printed perplexity."""
        return "baseline" if self.worse == "variant" else "variant"

    def corrected(self, share: Interval, *, rounded: bool = True) -> Interval:
        """ln(1 + g_true) = (G − p d)/(1 − p) over all p in `share`, G = ln(1 + g).

        Increasing in G; its derivative by p is (G − d)/(1 − p)²: monotone in each, so corners decide.
        """
        d = self.difference
        return hull(lambda g, p: (g - p * d) / (1 - p), self.log if rounded else self.at_point, share)

    def difference_at(self, target: Fraction, share: Interval, *, rounded: bool = True) -> Interval:
        """The d that brings ln(1 + g_true) to `target`: (G − (1 − p) target)/p, for p > 0; corners as above."""
        return hull(lambda g, p: (g - (1 - p) * target) / p, self.log if rounded else self.at_point, share)


def printed_gap(measured: Measured, difference: Fraction) -> PrintedGap | None:
    """The gap of the two printed perplexities; None where one model is asked about.

    `difference`: mean pad loss of the variant minus that of the baseline, in nats.
    """
    if measured.variant is None:
        return None
    variant_is_worse = measured.variant.value >= measured.baseline.value
    worse, better = measured.baseline, measured.variant
    if variant_is_worse:
        worse, better = better, worse
    return PrintedGap(
        log=ln(perplexity_interval(worse)) - ln(perplexity_interval(better)),
        at_point=ln(exactly(worse.value / better.value)),
        worse="variant" if variant_is_worse else "baseline",
        difference=difference if variant_is_worse else -difference,
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """What the gap is when one printed statement is given up ("" where none need be).

    `share`: the padded shares that the others leave; `at_point`: the share at printed values, None where these leave
    none. `pad`: for a pad loss given up, what the others make of it (nats).
    """

    given_up: str
    share: Interval
    at_point: Interval | None
    pad: Interval | None = None


def readings(rounded: Box, points: Box) -> tuple[Reading, ...]:
    """Every way to keep the printed statements: all, if they can hold together, else all but one.

    Empty where nothing bounds the padded share. The measured perplexities are never given up: without them there is
    no gap to correct.
    """
    solved = rounded.solved_share()
    if rounded.consistent():
        share = rounded.share
        if share is not None and solved is not None and share.meets(solved):
            share = Interval(max(share.low, solved.low), min(share.high, solved.high))
        return () if share is None else (Reading("", share, points.share),)
    if rounded.consistent() is None:
        share, at_point = (rounded.share, points.share) if rounded.share else (solved, points.solved_share())
        return () if share is None else (Reading("", share, at_point),)
    found = []
    if solved is not None:
        found.append(Reading("share", solved, points.solved_share()))
    assert rounded.share is not None  # without it nothing could be inconsistent
    pad = rounded.solved_pad()
    if pad is not None and pad.high >= 0:
        found.append(Reading("pad loss", rounded.share, points.share, Interval(max(ZERO, pad.low), pad.high)))
    return (*found, Reading("deflation", rounded.share, points.share))


def threshold_of(multiple: Printed, gap: PrintedGap) -> Interval:
    """ln(1 + t) for t = `multiple` times the upper end of the printed gap.

    The upper end is taken as it is enclosed, so the threshold is never below what was registered.
    """
    upper = exp(exactly(gap.log.high)).high - ONE
    return ln(exactly(ONE + max(ZERO, multiple.value * upper)))


def gap_of(log: Fraction) -> float | None:
    """The gap g for ln(1 + g); None where no float holds it."""
    if abs(log) > LARGEST:
        return None
    ends = exp(exactly(log))
    return float((ends.low + ends.high) / 2 - 1)
