"""The smallest corpus that shows a dilution: so many real tokens, so many pads, and the perplexities both ways."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import exp, log
from typing import Any

from verifier.audits.dilution_box import Measured
from verifier.audits.interval import Interval
from verifier.audits.printed import Printed


def dilution_witness(
    measured: Measured, share: Interval, *, pad: Fraction, difference: Fraction
) -> Mapping[str, Any] | None:
    """Fewest positions whose padded share lies in `share`, all real tokens of a model with one loss, all pads too.

    `pad`: the baseline's pad loss in nats; the variant's is `difference` more. Each model gets its printed perplexity
    over all positions. None where a real token would need a loss below 0.
    """
    p = simplest_fraction(share)
    models = {"baseline": (measured.baseline, pad)}
    if measured.variant is not None:
        models["variant"] = (measured.variant, pad + difference)
    found: dict[str, Any] = {"real_tokens": p.denominator - p.numerator, "pads": p.numerator}
    for name, (perplexity, pad_loss) in models.items():
        model = _model(perplexity, p, float(pad_loss))
        if model["real_loss"] < 0 or model["pad_loss"] < 0 or model["real_loss"] > 700:
            return None
        found[name] = model
    if measured.variant is not None:
        found["gap"] = {which: found["variant"][which] / found["baseline"][which] - 1 for which in ("all", "real")}
    return found


def simplest_fraction(between: Interval) -> Fraction:
    """The fraction with the smallest denominator in an interval of values ≥ 0 (its continued fraction)."""
    whole = -(-between.low.numerator // between.low.denominator)
    if whole <= between.high:
        return Fraction(whole)
    floor = whole - 1
    return floor + 1 / simplest_fraction(Interval(1 / (between.high - floor), 1 / (between.low - floor)))


def _model(perplexity: Printed, p: Fraction, pad_loss: float) -> dict[str, float]:
    share = float(p)
    real_loss = (log(perplexity.value) - share * pad_loss) / float(1 - p)
    return {
        "real_loss": real_loss,
        "pad_loss": pad_loss,
        "all": exp(share * pad_loss + float(1 - p) * real_loss),
        "real": exp(min(real_loss, 700.0)),
    }
