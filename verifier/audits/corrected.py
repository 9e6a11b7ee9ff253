"""A comparison of two quantities as printed and on one basis: which of them the printed claim is, and what changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verifier.audits.audit import Audit, Residual, Side
from verifier.audits.interval import Interval, exactly
from verifier.audits.logarithms import exp
from verifier.audits.pairs import turn_witness
from verifier.audits.paths import Path, Step
from verifier.audits.printed import Printed, printed
from verifier.audits.quantity import Quantity
from verifier.audits.readings import (
    NEUTRAL,
    OTHER_READINGS,
    are_shares,
    fitting,
    read,
    readings_witness,
    side,
    words_of,
)
from verifier.audits.records import Comparison, Record
from verifier.audits.residuals import exact_text, folded, short, span
from verifier.audits.units import faster_when
from verifier.model.answers import AuditAnswer, Corrected
from verifier.model.basis import BasisClass
from verifier.model.complaints import listed
from verifier.model.errors import BadInput

MECHANISM = "basis"
LARGEST_FACTOR = Fraction(10) ** 60
LARGEST_LOG = 700
BY_DEFINITION = "by definition"


@dataclass(frozen=True, slots=True)
class Pair:
    """Both numbers, as records and as quantities, how they are compared, and the registered size to keep."""

    left: Record
    right: Record
    ours: Quantity
    theirs: Quantity
    comparison: Comparison
    threshold: Fraction | None

    @property
    def claimed(self) -> Printed | None:
        """The comparison as printed. Raises BadInput for a text that is no number."""
        return None if self.comparison.claimed is None else printed(self.comparison.claimed)

    @property
    def as_printed(self) -> Interval:
        """What comparing the two printed numbers gives."""
        return self._as_printed(self.left.printed.interval, self.right.printed.interval)

    @property
    def value_as_printed(self) -> Fraction:
        """The same at the printed values."""
        return self._as_printed(exactly(self.left.printed.value), exactly(self.right.printed.value)).low

    def on_one_basis(self, factor: Interval) -> Interval:
        """What it gives once left ÷ right is multiplied by `factor`, both in the right number's unit."""
        return self._read(*self.moved(factor))

    def value_on_one_basis(self, factor: Interval) -> Fraction:
        """The same at the printed values."""
        left, right = (exactly(each) for each in (self.ours.value * factor.low, self.theirs.value))
        if self.perplexities:
            left, right = _perplexity(left), _perplexity(right)
        return self._read(left, right).low

    def moved(self, factor: Interval) -> tuple[Interval, Interval]:
        """Both numbers in the right one's unit; two perplexities as such, rescaled by their logarithms."""
        ours, theirs = self.ours.interval * factor, self.theirs.interval
        return (_perplexity(ours), _perplexity(theirs)) if self.perplexities else (ours, theirs)

    @property
    def perplexities(self) -> bool:
        """Whether both numbers are perplexities: then a factor multiplies their logarithms."""
        return bool(self.ours.unit_text and self.theirs.unit_text)

    @property
    def words(self) -> str:
        """The reading that the comparison's kind declares, once both numbers are in the right one's unit."""
        return words_of(self.comparison.kind, shares=self._shares)

    def other_readings(self, claimed: Printed, left: Interval, right: Interval) -> tuple[str, ...]:
        """The readings of two numbers in one unit, but for the declared one, that the claimed number is."""
        found = (words for words in fitting(claimed, left, right) if words != self.words)
        return tuple(words for words in found if self._plain or OTHER_READINGS[words][0] != "points")

    @property
    def _plain(self) -> bool:
        """Whether both are plain numbers or percentages."""
        return not self.ours.unit.dimensions and not self.theirs.unit.dimensions

    @property
    def _shares(self) -> bool:
        """Whether the right number's unit is that of shares of 1, of which points are hundredths."""
        percent = any(each.unit.scale != exactly(1) for each in (self.ours, self.theirs))
        return (
            self._plain
            and self.theirs.unit.scale == exactly(1)
            and (percent or are_shares(self.ours.interval, self.theirs.interval))
        )

    def _read(self, left: Interval, right: Interval) -> Interval:
        found = read(self.comparison.kind, left, right)
        return found * exactly(100) if self.comparison.kind == "points" and self._shares else found

    def _as_printed(self, left: Interval, right: Interval) -> Interval:
        if self.ours.unit.scale == self.theirs.unit.scale:
            return self._read(left, right)
        return read(self.comparison.kind, left, right)


def _perplexity(log: Interval) -> Interval:
    """The perplexity of what a factor made of its logarithm."""
    if log.high > LARGEST_LOG:
        raise BadInput("the perplexity on the other basis is beyond anything printed", mend="check both denominators")
    return exp(log)


def on_two_bases(pair: Pair, way: Path, basis_class: BasisClass) -> Audit:
    """The finding where `way` (or a definition alone) turns one basis into the other."""
    factor = way.factor * (pair.ours.unit.scale / pair.theirs.unit.scale)
    if not 1 / LARGEST_FACTOR < factor.low <= factor.high < LARGEST_FACTOR:
        raise BadInput("the factor between the two units is beyond anything printed", mend="check both units")
    naive, right_way, claimed = pair.as_printed, pair.on_one_basis(factor), pair.claimed
    fits_naive = claimed is None or claimed.interval.meets(naive)
    fits_right_way = claimed is not None and claimed.interval.meets(right_way)
    where, material = standing(pair, claimed.interval if claimed else naive, right_way)
    swallowed = right_way.meets(naive) and fits_naive and (claimed is None or fits_right_way)
    linear = not (pair.ours.unit_text or pair.theirs.unit_text)  # a factor multiplies a perplexity's logarithm
    others = () if claimed is None or fits_naive else pair.other_readings(claimed, *pair.moved(factor))
    unsourced = [step.factor.name for step in way.steps if not step.factor.source]
    missing = tuple(f"the source of {name}" for name in unsourced)
    witness = turn_witness(factor) if linear else None
    residual = None if claimed is None else unexplained(claimed, pair.value_as_printed, naive)
    if fits_right_way and not fits_naive:
        finding, ending = AuditAnswer.SAME_BASIS, "which is what is printed: the comparison already stands on one basis"
        where, material, residual = None, None, None
    elif others and claimed is not None:
        finding, ending, asked = _another_reading(claimed, others)
        material = None if finding is AuditAnswer.INSUFFICIENT else False
        if material is False and unsourced:
            finding = AuditAnswer.RECONCILED_WEAK
        where, residual, missing = None, None, (*asked, *missing)
        basis_class, witness = BasisClass.DIR, readings_witness(pair.words, others[0])
    elif swallowed and where is Corrected.KEPT:
        finding, ending = AuditAnswer.NOT_MATERIAL, "which rounding alone could make of the printed numbers"
        material = False
    else:
        finding = AuditAnswer.RECONCILED_WEAK if unsourced else AuditAnswer.RECONCILED
        ending = _ending(where, pair, factor)
        if not fits_naive:
            ending += "; the printed comparison fits neither"
    return Audit(
        mechanism=MECHANISM,
        basis_class=basis_class,
        finding=finding,
        sentence=_sentence(pair, way, factor, ending),
        material=material,
        left=_left(pair, way, factor),
        right=_right(pair, way, factor),
        factor=exact_text(factor) if linear else None,
        declared_in=None if unsourced else _declared_in(way),
        residual=residual,
        missing=missing,
        witness=witness,
        corrected=where,
        details=_details(
            pair,
            way,
            factor,
            fits={"as printed": fits_naive, "on one basis": fits_right_way}
            | {f"{words} on one basis": True for words in others},
        ),
    )


def _another_reading(claimed: Printed, others: tuple[str, ...]) -> tuple[AuditAnswer, str, tuple[str, ...]]:
    """Finding, words and what to ask where the printed comparison is another reading of two numbers on one basis."""
    said = listed(others, last="or")
    if claimed.significant_digits == 1:
        return AuditAnswer.INSUFFICIENT, f"and {_one_digit(claimed, said)}", (f"whether {claimed.text} is {said}",)
    return (
        AuditAnswer.MISMATCH_PROVEN,
        f"and the printed {claimed.text} is {said} there: the comparison already stands on one basis, read otherwise",
        (),
    )


def _one_digit(claimed: Printed, said: str) -> str:
    return f"the printed {claimed.text} may be {said} (one digit is too little to tell)"


def on_one_basis(pair: Pair) -> Audit:
    """The finding where both numbers are in the same unit: whether the printed comparison is what its kind says."""
    claimed, value = pair.claimed, pair.as_printed
    kind = pair.words
    finding, basis_class, where, material = AuditAnswer.SAME_BASIS, BasisClass.DENOM, None, None
    fits: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    witness = None
    said = f"Both numbers are in {pair.left.basis}; {kind} is {short(pair.value_as_printed)}"
    if claimed is None or claimed.interval.meets(value):
        said += f", in {span(value)} by their rounding" + (", and that is what is printed" if claimed else "")
    else:
        basis_class = BasisClass.DIR
        fits = pair.other_readings(claimed, pair.left.printed.interval, pair.right.printed.interval)
        if fits and claimed.significant_digits == 1:
            finding, said_as = AuditAnswer.INSUFFICIENT, listed(fits, last="or")
            said += f"; {_one_digit(claimed, said_as)}"
            missing = (f"whether {claimed.text} is {said_as}",)
        elif fits:
            finding = AuditAnswer.MISMATCH_PROVEN
            said += f"; the printed {claimed.text} is {listed(fits, last='or')}"
            where, material = standing(pair, claimed.interval, value)
            witness = readings_witness(kind, fits[0])
        else:
            finding, basis_class = AuditAnswer.JOINTLY_INCONSISTENT, BasisClass.CLOSE
            said += f", in {span(value)} by their rounding; the printed {claimed.text} cannot hold with them"
    return Audit(
        mechanism=MECHANISM,
        basis_class=basis_class,
        finding=finding,
        sentence=said + ".",
        material=material,
        left=Side(pair.left.label, pair.left.value, pair.left.basis, pair.left.value, pair.right.basis),
        right=Side(pair.right.label, pair.right.value, pair.right.basis, pair.right.value, pair.left.basis),
        residual=None if claimed is None else unexplained(claimed, pair.value_as_printed, value),
        missing=missing,
        witness=witness,
        corrected=where,
        details={"as_printed": short(pair.value_as_printed), "claimed_fits": list(fits), "kind": pair.comparison.kind},
    )


def standing(pair: Pair, claimed: Interval, found: Interval) -> tuple[Corrected | None, bool | None]:
    """Where `found` stands beside what is claimed, and whether that changes the comparison over its whole range.

    None where the claim itself takes no side: its own rounding holds equality.
    """
    kind = pair.comparison.kind
    neutral = NEUTRAL[kind]
    ours, theirs = side(claimed, neutral), side(found, neutral)
    if ours is None:
        return None, None
    if theirs is None:
        return Corrected.CONTAINS_ONE, False
    if ours != theirs:
        return Corrected.OTHER_SIDE, True
    if pair.threshold is not None:
        size = _size(found, turned=theirs < 0, factor=kind == "factor")
        if size.low < pair.threshold:
            return Corrected.BELOW_THRESHOLD, size.below(pair.threshold)
    return Corrected.KEPT, False


def unexplained(claimed: Printed, value: Fraction, interval: Interval) -> Residual | None:
    """What is left of the claim once it is divided by what the numbers give; None where a sign or a 0 is between."""
    if 0 in interval or 0 in claimed.interval or (claimed.value > 0) != (value > 0):
        return None
    return folded(claimed.value / value, claimed.interval / interval)


def _size(found: Interval, *, turned: bool, factor: bool) -> Interval:
    if not turned:
        return found
    return exactly(1) / found if factor else exactly(0) - found


def _side(record: Record, other: Record, restated: Fraction, unit: Quantity, *, perplexities: bool) -> Side:
    """A record's number and the same on the other's basis; beside a loss, a perplexity's is in nats."""
    if perplexities:
        value, per = _perplexity(exactly(restated)).low, other.per
        return Side(
            record.label, record.value, record.basis, short(value), f"perplexity{f' per {per.thing}' if per else ''}"
        )
    basis = f"{unit.unit.base}, of the perplexity's logarithm" if unit.unit_text else other.basis
    return Side(record.label, record.value, record.basis, short(restated), basis)


def _left(pair: Pair, way: Path, factor: Interval) -> Side:
    """The left number on the right one's basis, or, where neither stays as it is, on that both are brought to."""
    return _reached(pair.left, pair.ours, way.left if way.right else None) or _side(
        pair.left, pair.right, pair.ours.value * factor.low, pair.theirs, perplexities=pair.perplexities
    )


def _right(pair: Pair, way: Path, factor: Interval) -> Side:
    """The right number on the left one's basis, or as `_left`."""
    return _reached(pair.right, pair.theirs, way.right if way.left else None) or _side(
        pair.right, pair.left, pair.theirs.value / factor.low, pair.ours, perplexities=pair.perplexities
    )


def _reached(record: Record, of: Quantity, step: Step | None) -> Side | None:
    """A number after its step, in base units; None where it takes none, or where its logarithm takes it."""
    if step is None or of.unit_text:
        return None
    value = of.value * of.unit.scale.low * step.value.low
    return Side(record.label, record.value, record.basis, short(value), str((of.unit * step.unit).base))


def _declared_in(way: Path) -> str:
    if not way.steps:
        return BY_DEFINITION
    return "; ".join(f"{step.factor.name} = {step.factor.value}: {step.factor.source}" for step in way.steps)


def _sentence(pair: Pair, way: Path, factor: Interval, ending: str) -> str:
    left, right, kind = pair.left, pair.right, pair.words
    moved, other = _left(pair, way, factor), _right(pair, way, factor)
    first, second = ([step] if step else [] for step in (way.left, way.right))
    both = bool(first and second)
    held = _held(first if both else way.steps) or BY_DEFINITION
    stays = f"is {other.restated} ({_held(second)})" if both else ""
    return (
        f"{left.label}, {left.value} {left.basis}, is {moved.restated} {moved.restated_basis} ({held}), {right.label} "
        f"{' '.join(filter(None, [right.value, stays]))}; {kind} is {short(pair.value_as_printed)} as printed and "
        f"{short(pair.value_on_one_basis(factor))} on one basis, in {span(pair.on_one_basis(factor))}, {ending}."
    )


def _held(steps: Sequence[Step]) -> str:
    return listed([f"{step.factor.name} = {step.factor.value}" for step in steps])


def _ending(where: Corrected | None, pair: Pair, factor: Interval) -> str:
    neutral = NEUTRAL[pair.comparison.kind]
    match where:
        case Corrected.OTHER_SIDE:
            return f"the other side of {neutral}: {_standing_words(pair, factor)}"
        case Corrected.CONTAINS_ONE:
            return f"which contains {neutral}"
        case Corrected.BELOW_THRESHOLD:
            return "which misses the registered threshold"
        case Corrected.KEPT:
            return f"in the same direction: {_standing_words(pair, factor)}"
        case None:
            return f"and the printed comparison takes no side of {neutral}"


def _standing_words(pair: Pair, factor: Interval) -> str:
    """How the left number stands on one basis, in words: `method is 8 times faster (lower is better)`."""
    value, kind = pair.value_on_one_basis(factor), pair.comparison.kind
    left, right, higher = pair.left.label, pair.right.label, value > NEUTRAL[kind]
    more = faster_when(pair.theirs.unit)
    if kind != "factor":
        said = f"{left} is the {'higher' if higher else 'lower'} one"
    elif more is not None:
        said = (
            f"{left} is {short(max(value, 1 / value))} times {'faster' if (more == 'higher') == higher else 'slower'}"
        )
    elif higher:
        said = f"{left} is {short(value)} times {right}"
    else:
        said = f"{right} is {short(1 / value)} times {left}"
    return said + (f" ({pair.comparison.better} is better)" if pair.comparison.better else "")


def _details(pair: Pair, way: Path, factor: Interval, *, fits: dict[str, bool]) -> dict[str, Any]:
    found = pair.on_one_basis(factor)
    return {
        "kind": pair.comparison.kind,
        "as_printed": short(pair.value_as_printed),
        "on_one_basis": short(pair.value_on_one_basis(factor)),
        "as_printed_interval": [float(pair.as_printed.low), float(pair.as_printed.high)],
        "on_one_basis_interval": [float(found.low), float(found.high)],
        "claimed_fits": [words for words, fit in fits.items() if fit] if pair.claimed else [],
        "factors": [{"name": step.factor.name, "value": step.factor.value} for step in way.steps],
    }
