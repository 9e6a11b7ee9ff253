"""Two printed numbers with their basis records: whether they share a basis, and where they stand once they do.

Judged in this order: state, names, items, masks, aggregation (where both records state the field), then units and
denominators and what the printed comparison means (from the numbers), then the better direction and the selection.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any

from verifier.audits import corrected as judge
from verifier.audits.audit import Audit, Side
from verifier.audits.declared import Declared, declarations
from verifier.audits.fields import Difference, after_units, before_units, one_sided
from verifier.audits.interval import exactly
from verifier.audits.pairs import turns
from verifier.audits.paths import Path, dimension, for_side, misplaced, paths, unlike
from verifier.audits.quantity import Quantity, quantities
from verifier.audits.readings import readings
from verifier.audits.records import Comparison, Record
from verifier.audits.units import ONE
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass
from verifier.model.complaints import listed, shown
from verifier.model.errors import BadInput

MECHANISM = "basis"
SHOWN_VALUES = 5


def compare(
    left: Record,
    right: Record,
    comparison: Comparison,
    *,
    declared: Iterable[Declared | float | str | Fraction] = (),
    threshold: Fraction | None = None,
) -> Audit:
    """Whether `left` and `right` stand on one basis, and what their comparison is once they do.

    declared: factors of the case beside those the records hold; a conversion nobody declared is never made, except
    what is so by definition (1 min = 60 s, 1 bit = ln 2 nat). threshold: the registered size the comparison must keep
    in its direction: a factor folded to ≥ 1, or an absolute difference, percentage or number of points.

    Raises BadInput for a text that is no number or no unit, for a factor of numbers that are not above zero, and for a
    comparison that takes the other numbers for the better ones than both records do.
    """
    _check_better(left, right, comparison)
    first = next(before_units(left, right), None)
    later = tuple(after_units(left, right))
    numbers = _numbers(left, right, comparison, factors=declarations(declared), threshold=threshold)
    differences = tuple(chain(before_units(left, right), later))
    details: dict[str, Any] = {
        **numbers.details,
        "differences": [f"{each.basis_class}: {each.what}" for each in differences],
        "stated_by_one_side": list(one_sided(left, right)),
    }
    if first is not None:
        return replace(_differing(first, left, right), details=details)
    if numbers.finding is AuditAnswer.SAME_BASIS and later:
        return replace(_differing(later[0], left, right), details=details)
    return replace(numbers, details=details)


def _check_better(left: Record, right: Record, comparison: Comparison) -> None:
    stated = {record.better: record.label for record in (right, left) if record.better}
    if comparison.better and len(stated) == 1 and comparison.better not in stated:
        said, label = next(iter(stated.items()))
        raise BadInput(
            f"{said} is better for {shown(label)}, and {comparison.better} for the comparison",
            mend="write one better direction",
        )


def _differing(difference: Difference, left: Record, right: Record) -> Audit:
    """The finding on a field in which both records differ: shown where both name where they state it."""
    unsourced = tuple(f"the source of {each.label}'s {difference.what}" for each in (left, right) if not each.source)
    missing = difference.open or unsourced
    said = f"{left.label} has {difference.left}, {right.label} has {difference.right}"
    return Audit(
        mechanism=MECHANISM,
        basis_class=difference.basis_class,
        finding=AuditAnswer.INSUFFICIENT if missing else AuditAnswer.MISMATCH_PROVEN,
        sentence=f"The {difference.what} differs: {said}"
        + (f"; to settle it, ask for {listed(missing)}." if missing else "; how much that matters is not known."),
        left=Side(left.label, left.value, left.basis),
        right=Side(right.label, right.value, right.basis),
        missing=missing,
    )


def _numbers(
    left: Record, right: Record, comparison: Comparison, *, factors: tuple[Declared, ...], threshold: Fraction | None
) -> Audit:
    """Units, denominators, and the reading of the printed comparison."""
    ours, theirs = quantities(left, right)
    pair = judge.Pair(left, right, ours, theirs, comparison, threshold)
    others = tuple(
        factor for factor in factors if misplaced(factor, ours.unit if factor.side == "left" else theirs.unit)
    )
    factors = tuple(factor for factor in factors if factor not in others)
    ways = paths(
        ours.unit,
        theirs.unit,
        left_factors=(*left.held, *for_side(factors, "left")),
        right_factors=(*right.held, *for_side(factors, "right")),
    )
    basis_class = _class(ours, theirs)
    if not ways:
        return _insufficient(pair, basis_class, missing=_undeclared(pair, others) or (_missing(pair, factors),))
    if not ways[0].steps:
        sided = unlike(
            ours.unit.base,
            left=(*left.held, *(factor for factor in factors if factor.side == "left")),
            right=(*right.held, *(factor for factor in factors if factor.side == "right")),
        )
        if sided:
            ways, basis_class = sided, BasisClass.DENOM
    if len({way.factor for way in ways}) > 1:
        values = sorted({step.factor.exact for way in ways for step in way.steps})
        texts = [str(value) for value in values[:SHOWN_VALUES]]
        texts += [f"{len(values) - SHOWN_VALUES} more"] if len(values) > SHOWN_VALUES else []
        name = ways[0].steps[0].factor.name
        found = _insufficient(pair, basis_class, missing=(f"which {name} holds: {listed(texts, last='or')}",))
        return replace(found, sentence=f"The declarations contradict each other: {name} is {listed(texts)}.")
    way = min(ways, key=_unsourced)
    if way.steps and _divides_time(ours, theirs, basis_class) and comparison.measures != "throughput":
        return _indivisible(pair, basis_class)
    if not way.steps and ours.unit == theirs.unit and ours.unit_text == theirs.unit_text:
        return judge.on_one_basis(pair)
    return judge.on_two_bases(pair, way, basis_class)


def _missing(pair: judge.Pair, factors: tuple[Declared, ...]) -> str:
    """The factor that nobody declared: by name, either way round, or how much one number is of where that is open."""
    ours, theirs = pair.ours.unit, pair.theirs.unit
    lacking = (ours / theirs).base
    for label, without, other in ((pair.left.label, ours, theirs), (pair.right.label, theirs, ours)):
        for thing, power in other.dimensions:
            if power == -1 and thing not in dict(without.dimensions) and len(lacking.dimensions) == 1:
                related = [each.name for each in factors if thing in dict((dimension(each) or ONE).dimensions)]
                told = f" ({listed(related)} is declared, but {label} does not say what it is counted per)"
                return f"how many of {thing} {label} stands for{told if related else ''}"
    return f"{lacking} (or {lacking.inverse})"


def _undeclared(pair: judge.Pair, factors: tuple[Declared, ...]) -> tuple[str, ...]:
    """What is declared of the number that has no such thing, and so is missing of the other."""
    return tuple(
        f"{factor.name} of {(pair.right if factor.side == 'left' else pair.left).label} ({factor.value} is declared of "
        f"{(pair.left if factor.side == 'left' else pair.right).label}, which has none)"
        for factor in factors
    )


def _unsourced(way: Path) -> int:
    return sum(not step.factor.source for step in way.steps)


def _class(left: Quantity, right: Quantity) -> BasisClass:
    """DENOM where only what is counted per differs, else UNIT."""
    ours, theirs = dict(left.unit.dimensions), dict(right.unit.dimensions)
    differing = [name for name, _ in (left.unit / right.unit).dimensions]
    per = differing and all(max(ours.get(name, 0), theirs.get(name, 0)) <= 0 for name in differing)
    return BasisClass.DENOM if per else BasisClass.UNIT


def _divides_time(left: Quantity, right: Quantity, basis_class: BasisClass) -> bool:
    """Whether a time is shared out among things: then it must be the inverse of a throughput."""
    timed = [dict(each.unit.dimensions).get("second", 0) > 0 for each in (left, right)]
    return any(timed) and basis_class is BasisClass.DENOM


def _insufficient(pair: judge.Pair, basis_class: BasisClass, *, missing: tuple[str, ...]) -> Audit:
    left, right = pair.left, pair.right
    return Audit(
        mechanism=MECHANISM,
        basis_class=basis_class,
        finding=AuditAnswer.INSUFFICIENT,
        sentence=f"{left.label} is in {left.basis}, {right.label} in {right.basis}, and nobody declared {missing[0]}.",
        left=Side(left.label, left.value, left.basis),
        right=Side(right.label, right.value, right.basis),
        missing=missing,
    )


def _indivisible(pair: judge.Pair, basis_class: BasisClass) -> Audit:
    """A time per batch says how long one of its parts takes only where it stands for a throughput."""
    asked = (
        f"the latency of both numbers per one and the same thing ({pair.left.label}: {pair.left.basis})"
        if pair.comparison.measures == "latency"
        else "whether the times measure throughput or latency"
    )
    found = _insufficient(pair, basis_class, missing=(asked,))
    why = (
        "the latency of what runs in parallel cannot be divided"
        if pair.comparison.measures == "latency"
        else "dividing a time presumes a throughput, which nobody declared"
    )
    return replace(
        found,
        sentence=f"{pair.left.label} is in {pair.left.basis}, {pair.right.label} in {pair.right.basis}, and {why}.",
    )


def recheck(audit: Audit) -> bool:
    """Whether the audit's witness, worked out again, shows what it says.

    A turn: the pair compares one way as printed, the other once it is multiplied by `factor`. A reading: both readings
    of the pair come out as stated and differ.
    """
    witness = audit.witness
    if witness is None:
        return False
    if "on_one_basis" in witness:
        assert audit.factor is not None
        return turns(witness["left"], witness["right"], exactly(Fraction(audit.factor)))
    again = readings(exactly(Fraction(witness["left"])), exactly(Fraction(witness["right"])))
    stated = {words: value for words, value in witness.items() if words in again}
    return len(set(stated.values())) == 2 and all(again[words] == exactly(Fraction(stated[words])) for words in stated)
