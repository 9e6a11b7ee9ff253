"""Which declared factors bring two numbers' units onto one basis: at most one factor a side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from verifier.audits.declared import Declared, FactorSide
from verifier.audits.interval import Interval, exactly
from verifier.audits.units import ONE, Unit, unit
from verifier.model.errors import BadInput


@dataclass(frozen=True, slots=True)
class Step:
    """A factor applied to one number: multiplied by its value (`power` 1) or divided by it (-1)."""

    factor: Declared
    power: int
    dimension: Unit

    @property
    def unit(self) -> Unit:
        """What the number's unit is multiplied by."""
        return self.dimension if self.power > 0 else self.dimension.inverse

    @property
    def value(self) -> Interval:
        """What the number is multiplied by; the factor's own unit may carry a scale (`"kFLOP per MAC"`)."""
        value = self.factor.interval * self.dimension.scale
        return value if self.power > 0 else exactly(1) / value


@dataclass(frozen=True, slots=True)
class Path:
    """The step of each side onto the common basis, None where that side stays as it is."""

    left: Step | None
    right: Step | None

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that are taken."""
        return tuple(step for step in (self.left, self.right) if step is not None)

    @property
    def factor(self) -> Interval:
        """What left ÷ right is multiplied by."""
        one = exactly(1)
        return (self.left.value if self.left else one) / (self.right.value if self.right else one)


def paths(
    left: Unit, right: Unit, *, left_factors: Iterable[Declared], right_factors: Iterable[Declared]
) -> tuple[Path, ...]:
    """The paths with fewest steps that make the two units' dimensions equal; none where nothing declared does.

    left_factors, right_factors: what is declared for that side. A factor whose name is no quotient of units
    (`"sequence length"`) leads nowhere.
    """
    by_dimensions: dict[tuple[tuple[str, int], ...], list[Step | None]] = {}
    for step in (None, *_steps(right_factors)):
        reached = right * step.unit if step else right
        by_dimensions.setdefault(reached.dimensions, []).append(step)
    found = []
    for ours in (None, *_steps(left_factors)):
        reached = left * ours.unit if ours else left
        found += [Path(ours, theirs) for theirs in by_dimensions.get(reached.dimensions, ())]
    fewest = min((len(path.steps) for path in found), default=0)
    return tuple(path for path in found if len(path.steps) == fewest)


def for_side(factors: Iterable[Declared], side: FactorSide) -> tuple[Declared, ...]:
    """The factors that belong to `side`, or to neither by name."""
    return tuple(factor for factor in factors if factor.side in (None, side))


def dimension(factor: Declared) -> Unit | None:
    """The unit that the factor's name states, `"trajectory per batch"`; None where the name is no such quotient."""
    try:
        found = unit(factor.name)
    except BadInput:
        return None
    return found if found.dimensions != ONE.dimensions else None


def _steps(factors: Iterable[Declared]) -> Iterator[Step]:
    for factor in factors:
        known = dimension(factor)
        if known is not None:
            yield Step(factor, 1, known)
            yield Step(factor, -1, known)


def misplaced(factor: Declared, one: Unit) -> bool:
    """Whether a number in `one` has nothing that the factor could be declared of.

    `"trajectory per batch"` says how many trajectories a batch holds: it belongs to a number per batch, not to one per
    trajectory, whose batch is the other number's. A factor below 1 is read the other way round.
    """
    known = dimension(factor)
    if known is None or factor.side is None:
        return False
    powers, sign = dict(one.dimensions), 1 if factor.exact >= 1 else -1
    holders = [name for name, power in known.dimensions if power * sign < 0]
    held = [name for name, power in known.dimensions if power * sign > 0]
    return any(powers.get(name, 0) < 0 for name in held) and not any(name in powers for name in holders)


def unlike(one: Unit, *, left: Iterable[Declared], right: Iterable[Declared]) -> tuple[Path, ...]:
    """The paths for two numbers in `one` unit whose things differ: batches of 8 and of 32, both to one sequence.

    left, right: what each side's own things hold. None where no factor is declared of both with different values.
    """
    ours, theirs = ([step for step in _steps(factors) if _cancels(step, one)] for factors in (left, right))
    return tuple(
        Path(our, their)
        for our in ours
        for their in theirs
        if our.unit.dimensions == their.unit.dimensions and our.value != their.value
    )


def _cancels(step: Step, one: Unit) -> bool:
    """Whether the step turns one thing of the unit into another that is not in it."""
    powers = dict(one.dimensions)
    shared = [name for name, _ in step.unit.dimensions if name in powers]
    return len(shared) == 1 and powers[shared[0]] + dict(step.unit.dimensions)[shared[0]] == 0
