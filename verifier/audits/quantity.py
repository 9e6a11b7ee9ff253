"""A record's number as a quantity: its rounding interval in a unit, denominator included."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction

from verifier.audits.interval import Interval
from verifier.audits.printed import printed
from verifier.audits.records import Record
from verifier.audits.units import ONE, Unit, thing, unit
from verifier.model.complaints import shown
from verifier.model.errors import BadInput

PERPLEXITIES = ("perplexity", "ppl")
SLACK = Fraction(1, 10**12)
"""What a logarithm in floating point can be off by, relative to max(1, |ln|), with room to spare."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its roundings in `unit`; `unit_text` separates a perplexity from the nats that it is read as."""

    value: Fraction
    interval: Interval
    unit: Unit
    unit_text: str = ""


def quantities(left: Record, right: Record) -> tuple[Quantity, Quantity]:
    """Both numbers and units. Where one of them is named a perplexity, what is counted per a thing without a unit is.

    Raises BadInput as `quantity` does.
    """
    named = any(_named_perplexity(each) for each in (left, right))
    ours, theirs = quantity(left), quantity(right)
    if not named or ours.unit == theirs.unit:
        return ours, theirs
    ours, theirs = (
        quantity(replace(each, unit=PERPLEXITIES[0])) if each.per and each.unit.strip() in ("", "1") else found
        for each, found in ((left, ours), (right, theirs))
    )
    return ours, theirs


def _named_perplexity(record: Record) -> bool:
    """Whether its name or formula calls it a perplexity, not the logarithm of one."""
    words = re.findall("[a-z]+", f"{record.name} {record.formula.id if record.formula else ''}".lower())
    return any(word in PERPLEXITIES for word in words) and not any(word in ("log", "ln") for word in words)


def quantity(record: Record) -> Quantity:
    """The record's number and unit; a perplexity becomes nats, its natural logarithm.

    Raises BadInput for a text that is no number or unit, and for a perplexity that is not above zero.
    """
    per = thing(record.per.thing) if record.per else ONE
    number = record.printed
    if record.unit.strip() not in PERPLEXITIES:
        return Quantity(number.value, number.interval, unit(record.unit) / per)
    if not number.interval.above(0):
        raise BadInput(f"{shown(record.label)} is a perplexity of {record.value}", mend="a perplexity is above zero")
    low, high = (_log(end) for end in (number.interval.low, number.interval.high))
    return Quantity(
        _log(number.value), Interval(low - _slack(low), high + _slack(high)), unit("nat") / per, "perplexity"
    )


def perplexity(rate: str, text: str, *, per: str, holds: str = "1") -> float:
    """The perplexity per `per` of an information rate, `rate` in `text` (`"1.0"`, `"bit/byte"`).

    holds: how many of what the rate is per (bytes) one `per` (character) holds. exp(nats per thing), 1 bit = ln 2 nat.

    Raises BadInput where the rate is not an information per one thing, or the things differ and holds is 1.
    """
    found, wanted = unit(text), thing(per)
    if ("nat", 1) not in found.dimensions or len(found.dimensions) != 2:
        raise BadInput(f"{shown(text)} is not an information per thing", mend='write one like "bit/byte"')
    of = found * wanted
    if of.dimensions != (("nat", 1),) and printed(holds).value == 1:
        raise BadInput(f"{shown(text)} is not per {per}", mend=f"declare {(wanted * found / unit('nat')).base.inverse}")
    return math.exp(printed(rate).value * of.scale.low * printed(holds).value)


def _log(value: Fraction) -> Fraction:
    return Fraction(math.log(value))


def _slack(value: Fraction) -> Fraction:
    return SLACK * max(Fraction(1), abs(value))
