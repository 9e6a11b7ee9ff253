"""Whether a factor that the case declares explains a ratio: declared factors only, one at a time.

The ratio may be a disagreement as such, or two comparisons of the same things (`ratio` as claimed, `against` another).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from verifier.audits.audit import Audit, Residual
from verifier.audits.coincidence import coincidence_rate
from verifier.audits.declared import Declared, declarations
from verifier.audits.interval import Interval, exactly
from verifier.audits.pairs import turn_witness, turns
from verifier.audits.printed import Printed, printed
from verifier.audits.readings import side
from verifier.audits.residuals import folded, short, span
from verifier.model.answers import AuditAnswer, Corrected
from verifier.model.basis import BasisClass
from verifier.model.complaints import shown
from verifier.model.errors import BadInput

MECHANISM = "reconcile"
Ratio = str | float | Fraction | Printed

_INVERSE = re.compile(r"1/(?P<of>\d+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Stated:
    """A ratio: its value, every value that rounds to it, and its significant digits (None where it is exact)."""

    text: str
    value: Fraction
    interval: Interval
    digits: int | None

    def over(self, other: Stated) -> Stated:
        """The ratio divided by `other`, with as few digits as the rougher of the two."""
        digits = [each.digits for each in (self, other) if each.digits is not None]
        return Stated(
            f"{self.text} ÷ {other.text}",
            self.value / other.value,
            self.interval / other.interval,
            min(digits, default=None),
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A declared factor, the ratio `explains` that it would make of two equal numbers, and that ratio's logarithm."""

    factor: Declared
    explains: Fraction
    log: float


def reconcile(
    ratio: Ratio,
    *,
    declared: Iterable[Declared | float | str | Fraction],
    tolerance: float | str | Fraction = "0.02",
    against: Ratio | None = None,
) -> Audit:
    """Whether one declared factor turns `ratio` into `against` (1 where that is None).

    ratio, against: left ÷ right, above zero; a text is a rounding interval ("2", "6.25", and "1/8" is one over a
    rounded 8), a float or Fraction is exact. declared: `Declared`, or bare numbers. tolerance: relative, in (0, 1].

    A factor explains where it lies in the wider of the tolerance's window and the rounding interval. A factor with a
    side belongs to that number and divides it; one without is tried both ways. On a ratio known to one digit nothing
    is searched: only a factor with a side is applied. `coincidence` is `coincidence_rate` at the wider half-width.

    Raises BadInput for a ratio that is not above zero over all its roundings, and for a tolerance out of range.
    """
    claimed, other = stated(ratio), stated(Fraction(1) if against is None else against)
    gap = claimed.over(other)
    factors, within = declarations(declared), _tolerance(tolerance)
    allowed = candidates(factors, search=gap.digits != 1)
    rate = coincidence_rate([float(each.exact) for each in factors], half_width=half_width(gap, tolerance=within))
    found = explaining(gap, allowed, tolerance=within)
    applied = [each for each in allowed if each.factor.side]
    if 1 in gap.interval:
        audit = _nothing_to_explain(claimed, other, gap)
    elif found is not None:
        audit = _explained(claimed, other, gap, found, tolerance=within)
    elif len(applied) == 1:
        audit = _applied(claimed, other, gap, applied[0], between=against is not None)
    else:
        audit = _unexplained(gap, factors, searched=gap.digits != 1)
    return replace(
        audit, coincidence=rate, details=_details(claimed, other, gap, applied or ([found] if found else []), within)
    )


def candidates(factors: Sequence[Declared], *, search: bool) -> tuple[Candidate, ...]:
    """What each factor would explain: a left number's factor d explains d, a right one's 1/d, any other both.

    search: whether factors without a side may be tried.
    """
    found = []
    for factor in factors:
        if factor.side != "right" and (factor.side or search):
            found.append(Candidate(factor, factor.exact, math.log(factor.exact)))
        if factor.side != "left" and (factor.side or search):
            found.append(Candidate(factor, 1 / factor.exact, -math.log(factor.exact)))
    return tuple(found)


def explaining(gap: Stated, allowed: Iterable[Candidate], *, tolerance: Fraction) -> Candidate | None:
    """The candidate nearest to the ratio within the wider of its rounding interval and the tolerance's window."""
    centre, reach = math.log(gap.value), 2 * half_width(gap, tolerance=tolerance) + 1e-9
    near = (each for each in allowed if abs(centre - each.log) <= reach)  # floats first, then exactly
    fits = [each for each in near if _explains(gap, each.explains, tolerance)]
    return min(fits, key=lambda each: max(gap.value / each.explains, each.explains / gap.value), default=None)


def stated(ratio: Ratio) -> Stated:
    """The ratio with its rounding. Raises BadInput for a text that is no number or a ratio that is not above zero."""
    if isinstance(ratio, Printed):
        ratio = ratio.text
    if not isinstance(ratio, str):
        if not math.isfinite(ratio):
            raise BadInput(f"the ratio is {ratio}", mend="give a number above zero")
        found = Stated(str(ratio), Fraction(ratio), exactly(Fraction(ratio)), None)
    elif inverse := _INVERSE.fullmatch(ratio):
        number, below = printed(ratio), printed(inverse["of"])
        if not below.interval.above(0):
            raise _not_above_zero(ratio)
        found = Stated(ratio, number.value, exactly(1) / below.interval, below.significant_digits)
    else:
        number = printed(ratio)
        found = Stated(ratio, number.value, number.interval, number.significant_digits)
    if not found.interval.above(0):
        raise _not_above_zero(found.text)
    return found


def half_width(gap: Stated, *, tolerance: Fraction) -> float:
    """Half the wider of the tolerance's window and the rounding interval, as a logarithm."""
    return max(math.log1p(tolerance), math.log(gap.interval.high / gap.interval.low) / 2)


def recheck(audit: Audit) -> bool:
    """Whether the witness's pair compares one way as printed and the other once the factor is applied."""
    if audit.witness is None or audit.factor is None:
        return False
    return turns(audit.witness["left"], audit.witness["right"], exactly(Fraction(audit.factor)))


def _explains(gap: Stated, factor: Fraction, tolerance: Fraction) -> bool:
    near = max(gap.value, factor) <= min(gap.value, factor) * (1 + tolerance)
    return near or factor in gap.interval


def _tolerance(tolerance: float | str | Fraction) -> Fraction:
    found = printed(tolerance).value if isinstance(tolerance, str) else Fraction(str(tolerance))
    if not 0 < found <= 1:
        raise BadInput(f"the tolerance is {tolerance}", mend='write one above 0 and up to 1, like "0.02"')
    return found


def _not_above_zero(text: str) -> BadInput:
    return BadInput(f"the ratio {shown(text)} is not above zero over its roundings", mend="print more digits")


def _nothing_to_explain(claimed: Stated, other: Stated, gap: Stated) -> Audit:
    return Audit(
        mechanism=MECHANISM,
        basis_class=BasisClass.DENOM,
        finding=AuditAnswer.SAME_BASIS,
        sentence=f"{claimed.text} and {other.text} agree within their rounding: there is nothing to explain.",
        residual=folded(gap.value, gap.interval),
    )


def _explained(claimed: Stated, other: Stated, gap: Stated, found: Candidate, *, tolerance: Fraction) -> Audit:
    factor, left = found.factor, _leftover(gap, found)
    # what the tolerance grants is no residual
    wider = 1 + tolerance
    left = replace(left, low=min(left.low, left.value / float(wider)), high=max(left.high, left.value * float(wider)))
    after = _scaled(claimed.interval, found)
    corrected = _corrected(claimed, Interval(after.low / wider, after.high * wider))
    return Audit(
        mechanism=MECHANISM,
        basis_class=BasisClass.DENOM,
        finding=AuditAnswer.RECONCILED if factor.source else AuditAnswer.RECONCILED_WEAK,
        sentence=f"{_called(factor)} turns {claimed.text} into {short(claimed.value / found.explains)}, "
        f"against {other.text}{_unsourced(factor)}.",
        material=corrected is Corrected.OTHER_SIDE,
        factor=str(1 / found.explains),
        declared_in=_declared_in(factor),
        residual=left,
        missing=() if factor.source else (f"the source of {factor.name}",),
        witness=turn_witness(exactly(1 / found.explains)),
        corrected=corrected,
    )


def _applied(claimed: Stated, other: Stated, gap: Stated, only: Candidate, *, between: bool) -> Audit:
    """The one factor whose side is declared, where it does not explain the size: perhaps it explains the direction."""
    factor, after = only.factor, _scaled(claimed.interval, only)
    residual = _leftover(gap, only)
    direction = side(after, 1)
    turned = between and direction is not None and direction == side(other.interval, 1) != side(claimed.interval, 1)
    left = f"a factor of {short(Fraction(residual.value))}, in [{residual.low:.3g}, {residual.high:.3g}], is left"
    said = f"{_called(factor)} turns {claimed.text} into {short(claimed.value / only.explains)}, in {span(after)}"
    if turned:
        ending = f"against {other.text}: reconciled in direction for every rounding, not in size; {left}"
    else:
        ending = f"against {other.text}, which it does not explain; {left}"
    return Audit(
        mechanism=MECHANISM,
        basis_class=BasisClass.DENOM,
        # the residual alone keeps this from deciding anything, with a source or without
        finding=AuditAnswer.RECONCILED if turned else AuditAnswer.INSUFFICIENT,
        sentence=f"{said}, {ending}{_unsourced(factor)}.",
        material=turned,
        factor=str(1 / only.explains),
        declared_in=_declared_in(factor),
        residual=residual,
        missing=(f"what explains a factor of {short(Fraction(residual.value))}",),
        witness=turn_witness(exactly(1 / only.explains)),
        corrected=_corrected(claimed, after),
    )


def _unexplained(gap: Stated, factors: Sequence[Declared], *, searched: bool) -> Audit:
    if searched:
        sentence = f"None of {len(factors)} declared factors explains {gap.text} = {short(gap.value)}."
        missing = (f"a declared factor of about {short(max(gap.value, 1 / gap.value))}",)
    else:
        sentence = f"{gap.text} is known to one digit, on which nothing is searched, and no single factor has a side."
        missing = ("the ratio to two digits or more, or the side of one declared factor",)
    return Audit(
        mechanism=MECHANISM,
        basis_class=BasisClass.DENOM,
        finding=AuditAnswer.INSUFFICIENT,
        sentence=sentence,
        residual=folded(gap.value, gap.interval),
        missing=missing,
    )


def _leftover(gap: Stated, found: Candidate) -> Residual:
    return folded(gap.value / found.explains, _scaled(gap.interval, found))


def _scaled(interval: Interval, by: Candidate) -> Interval:
    return Interval(interval.low / by.explains, interval.high / by.explains)


def _corrected(claimed: Stated, after: Interval) -> Corrected | None:
    before, now = side(claimed.interval, 1), side(after, 1)
    if before is None:
        return None
    if now is None:
        return Corrected.CONTAINS_ONE
    return Corrected.KEPT if before == now else Corrected.OTHER_SIDE


def _called(factor: Declared) -> str:
    return f"{factor.name} = {factor.value}" if factor.name != factor.value else f"the factor {factor.value}"


def _declared_in(factor: Declared) -> str | None:
    return f"{_called(factor)}: {factor.source}" if factor.source else None


def _unsourced(factor: Declared) -> str:
    return "" if factor.source else "; the factor is declared without a source"


def _details(
    claimed: Stated, other: Stated, gap: Stated, applied: Sequence[Candidate], tolerance: Fraction
) -> dict[str, Any]:
    """The quantities of the picture: where each factor that is applied would put the claim, alone."""
    return {
        "claimed": {"text": claimed.text, "interval": _floats(claimed.interval)},
        "against": {"text": other.text, "interval": _floats(other.interval)},
        "ratio": str(gap.value),
        "ratio_interval": _floats(gap.interval),
        "tolerance": str(tolerance),
        "readings": [
            {
                "name": each.factor.name,
                "factor": str(1 / each.explains),
                "reading": str(claimed.value / each.explains),
                "interval": _floats(_scaled(claimed.interval, each)),
                "needs": str(each.explains * other.value),
            }
            for each in applied
        ],
    }


def _floats(interval: Interval) -> list[float]:
    return [float(interval.low), float(interval.high)]
