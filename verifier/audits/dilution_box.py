"""Scored padding: how the padded share, the mean pad loss and the deflation hang together, over what rounding leaves.

With m a perplexity over all positions, x = ln m, p the share of padded ones, l their mean loss and L the mean loss of
real tokens, x = p l + (1 − p) L. Every formula here is that identity, solved for another quantity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from verifier.audits.interval import Interval, exactly
from verifier.audits.logarithms import exp, hull, ln
from verifier.audits.printed import Printed
from verifier.model.errors import BadInput

ABOUT_ZERO = Fraction(5, 100)
"""Nats up to which a pad loss counts as "about 0" where the file registers no `max`."""
LARGEST = 700
"""Logarithms beyond this are not exponentiated: no float holds the result."""
ZERO, ONE = Fraction(0), Fraction(1)

Quantity = Literal["perplexity", "loss"]


@dataclass(frozen=True, slots=True)
class Measured:
    """Perplexities over all positions, padding included, as printed; `variant` is None where one model is asked about.

    Raises BadInput for a perplexity below 1.
    """

    baseline: Printed
    variant: Printed | None = None

    def __post_init__(self) -> None:
        for name, value in (("baseline", self.baseline), ("variant", self.variant)):
            if value is not None and value.value < 1:
                raise BadInput(
                    f"{value.text} is no perplexity: one is at least 1",
                    where=f"dilution.measured.{name}",
                    mend="write the printed perplexity, not the loss",
                )


@dataclass(frozen=True, slots=True)
class PadLoss:
    """The mean loss of padded positions, in nats. `max` is the registered upper end of a value that is only "about".

    Raises BadInput for a negative value, or a `max` below the value.
    """

    value: Printed
    max: Printed | None = None

    def __post_init__(self) -> None:
        if self.value.value < 0:
            raise BadInput(
                f"a mean loss of {self.value.text} nats is below 0",
                where="dilution.pad_loss.value",
                mend="write it in nats, at least 0",
            )
        if self.max is not None and self.max.value < self.value.value:
            raise BadInput(
                f"{self.max.text} is below the value {self.value.text}",
                where="dilution.pad_loss.max",
                mend="write the largest pad loss that the value may mean",
            )

    @property
    def interval(self) -> Interval:
        """What the value may mean: up to `max` where there is one, else a "0" up to `ABOUT_ZERO`, else its rounding."""
        low = max(ZERO, self.value.interval.low)
        if self.max is not None:
            return Interval(min(low, self.max.value), self.max.value)
        return Interval(ZERO, ABOUT_ZERO) if self.value.value == 0 else Interval(low, self.value.interval.high)


@dataclass(frozen=True, slots=True)
class PrintedDeflation:
    """How many times smaller the padded number is said to be: `factor` times smaller, a perplexity or a loss.

    Raises BadInput for a factor whose rounding reaches 0.
    """

    of: Quantity
    factor: Printed

    def __post_init__(self) -> None:
        if self.factor.interval.low <= 0:
            raise BadInput(
                f"{self.factor.text} is no factor: one is above 0",
                where="dilution.printed_deflation.factor",
                mend='write how many times smaller the printed number is, like "3"',
            )


def share_interval(p: Printed) -> Interval:
    """Every padded share that `p` may mean. Raises BadInput where it is no share."""
    if not 0 <= p.value < 1:
        raise BadInput(
            f"{p.text} is no share of padded positions",
            where="dilution.p",
            mend="write one from 0 to below 1, 0.66 for 66 %",
        )
    return Interval(max(ZERO, p.interval.low), p.interval.high)


@dataclass(frozen=True, slots=True)
class Box:
    """The printed statements about one model as intervals; None where one is not printed.

    `log`: x = ln m. `share`: p in [0, 1). `pad`: l in nats. `factor`: the deflation, of what `of` says.
    """

    log: Interval
    share: Interval | None
    pad: Interval | None
    factor: Interval | None
    of: Quantity = "perplexity"

    def excess(self) -> Interval | None:
        """The excess r = p (x − l)/(1 − p), by which the true log perplexity exceeds x; of a loss, r/x.

        Increasing in x, decreasing in l, monotone in p (its derivative has the sign of x − l): corners decide.
        None where one is missing.
        """
        x, pad = self._scale(), self._pad()
        if self.share is None or pad is None or x is None:
            return None
        return hull(lambda p, x, pad: p * (x - pad) / (1 - p), self.share, x, pad)

    def deflation(self) -> Interval | None:
        """The deflation that share and pad loss give: exp(r), of a loss 1 + r/x; None where unknown or too large."""
        r = self.excess()
        if r is None or not -LARGEST <= r.low <= r.high <= LARGEST:
            return None
        return exp(r) if self.of == "perplexity" else r + exactly(ONE)

    def solved_share(self) -> Interval | None:
        """The share p = r/(x − l + r) from deflation and pad loss, within [0, 1]; None where nothing bounds it below 1.

        Its derivatives by r, x and l have the signs of x − l, −r and r: monotone in each while the divisor keeps its
        sign.
        """
        x, pad, r = self._scale(), self._pad(), self.printed_excess()
        if x is None or pad is None or r is None or 0 in x - pad + r:
            return None
        found = hull(lambda r, x, pad: r / (x - pad + r), r, x, pad)
        if found.high < 0 or found.low >= 1 or found.high >= 1:
            return None
        return Interval(max(ZERO, found.low), found.high)

    def solved_pad(self) -> Interval | None:
        """The pad loss l = x − r (1 − p)/p from deflation and share, in nats; may lie below 0.

        Linear in x and in r, monotone in p. For a loss l/x is solved first, then multiplied by x > 0. None where
        nothing bounds it.
        """
        x, r = self._scale(), self.printed_excess()
        if x is None or r is None or self.share is None or self.share.low == 0:
            return None
        found = hull(lambda r, x, p: x - r * (1 - p) / p, r, x, self.share)
        return found if self.of == "perplexity" else found * self.log

    def solved_log(self) -> Interval | None:
        """The x = l + r (1 − p)/p that the other statements give; None for a loss, or unbounded."""
        pad, r = self.pad, self.printed_excess()
        if self.of == "loss" or pad is None or r is None or self.share is None or self.share.low == 0:
            return None
        return hull(lambda r, pad, p: pad + r * (1 - p) / p, r, pad, self.share)

    def consistent(self) -> bool | None:
        """Whether some rounding lets all statements hold: share, pad loss and deflation. None where one is missing."""
        said, follows = self.printed_excess(), self.excess()
        return None if said is None or follows is None else said.meets(follows) and self.possible()

    def possible(self) -> bool:
        """Whether some rounding leaves real tokens a mean loss L ≥ 0: p l ≤ x, as L = (x − p l)/(1 − p)."""
        return self.share is None or self.pad is None or self.share.low * self.pad.low <= self.log.high

    def within_reach(self) -> Box:
        """The same without the shares and pad losses that leave real tokens a loss below 0, where any is left."""
        if self.share is None or self.pad is None or not self.possible():
            return self
        share, pad = self.share, self.pad
        if pad.low > 0:
            share = Interval(share.low, min(share.high, self.log.high / pad.low))
        if share.low > 0:
            pad = Interval(pad.low, min(pad.high, self.log.high / share.low))
        return replace(self, share=share, pad=pad)

    def _scale(self) -> Interval | None:
        """x; for a loss everything is taken relative to x, which then must not reach 0."""
        if self.of == "perplexity":
            return self.log
        return exactly(ONE) if self.log.low > 0 else None

    def _pad(self) -> Interval | None:
        if self.pad is None or self.of == "perplexity":
            return self.pad
        return self.pad / self.log if self.log.low > 0 else None

    def printed_excess(self) -> Interval | None:
        """The excess r as the printed deflation has it."""
        if self.factor is None:
            return None
        return ln(self.factor) if self.of == "perplexity" else self.factor - exactly(ONE)


def box(
    perplexity: Printed,
    *,
    p: Printed | None,
    pad_loss: PadLoss | None,
    deflation: PrintedDeflation | None,
    rounded: bool = True,
) -> Box:
    """The statements as intervals: with every rounding, or, where `rounded` is False, at their printed values.

    Raises BadInput for a `p` that is no share.
    """
    within = None if p is None else share_interval(p)
    if not rounded:
        return Box(
            log=ln(exactly(perplexity.value)),
            share=None if p is None else exactly(p.value),
            pad=None if pad_loss is None else exactly(pad_loss.value.value),
            factor=None if deflation is None else exactly(deflation.factor.value),
            of="perplexity" if deflation is None else deflation.of,
        )
    return Box(
        log=ln(perplexity_interval(perplexity)),
        share=within,
        pad=None if pad_loss is None else pad_loss.interval,
        factor=None if deflation is None else deflation.factor.interval,
        of="perplexity" if deflation is None else deflation.of,
    )


def perplexity_interval(perplexity: Printed) -> Interval:
    """Every perplexity, at least 1, that rounds to the printed one."""
    return Interval(max(ONE, perplexity.interval.low), perplexity.interval.high)
