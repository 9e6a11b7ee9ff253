"""Statements about padding that no losses can have: padding alone would weigh more than everything measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verifier.audits.dilution_box import ZERO, Box, Measured, perplexity_interval
from verifier.audits.interval import Interval
from verifier.audits.logarithms import ln
from verifier.audits.printed import Printed
from verifier.audits.shown_numbers import figures, share


@dataclass(frozen=True, slots=True)
class Clash:
    """Why the statements cannot hold, in words, and the numbers that show it at the roundings that are kindest."""

    said: str
    witness: Mapping[str, Any]


def impossible(measured: Measured, baseline: Box, difference: Fraction) -> Clash | None:
    """What makes the statements impossible for any losses ≥ 0, for some model; None where nothing does.

    `baseline`: its statements with every rounding. `difference`: how much more mean pad loss the variant has, in nats.
    With x = ln m, padded share p, pad loss l and a mean loss L on real tokens, x = p l + (1 − p) L, so p l ≤ x.
    """
    models = [("baseline", measured.baseline, baseline.log, ZERO)]
    if measured.variant is not None:
        models.append(("variant", measured.variant, ln(perplexity_interval(measured.variant)), difference))
    for name, perplexity, log, more in models:
        # where no pad loss is printed, both models' are still at least 0
        pad = baseline.pad or Interval(max(ZERO, -difference if measured.variant else ZERO), Fraction(10**9))
        if pad.high + more < 0:
            return Clash(
                f"a pad loss of {figures(pad.high)} nats and a difference of {figures(more)} cannot both hold: "
                f"the {name} would have a pad loss below 0",
                {"model": name, "pad_loss": float(pad.high + more)},
            )
        found = _beyond(name, perplexity, log, share_low=baseline.share, pad_low=max(ZERO, pad.low + more))
        if found is not None:
            return found
    return None


def _beyond(
    name: str, perplexity: Printed, log: Interval, *, share_low: Interval | None, pad_low: Fraction
) -> Clash | None:
    if share_low is None or share_low.low * pad_low <= log.high:
        return None
    weight = share_low.low * pad_low
    return Clash(
        f"a padded share of at least {share(share_low.low)}, a pad loss of at least {figures(pad_low)} nats and a "
        f"perplexity of {perplexity.text} cannot all hold: padding alone would add {figures(weight)} nats a position "
        f"for the {name}, and ln {perplexity.text} is {figures(log.high)}",
        {
            "model": name,
            "share": float(share_low.low),
            "pad_loss": float(pad_low),
            "share_times_pad_loss": float(weight),
            "ln_perplexity": float(log.high),
        },
    )
