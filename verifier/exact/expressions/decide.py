"""Each formula's truth at the assignment, with what shows it, and the precision that a certificate needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from verifier.exact.expressions.arithmetic import NotSeparatedError, OutsideDomainError, R, Reals
from verifier.exact.expressions.evaluate import Evaluator, Instance, Sides, together
from verifier.exact.expressions.grid import Grid, Interval
from verifier.exact.expressions.meter import CERTIFIED_UNITS, Meter
from verifier.exact.expressions.problem import ExpressionProblem, Stated
from verifier.model.errors import BadInput

PRECISIONS = (64, 128, 256, 512, 1_000)
"""Bits at which a certificate is offered to its checker, the smallest first."""


@dataclass(frozen=True, slots=True)
class Decided(Generic[R]):
    """A formula's truth (None: open), how many instances were evaluated, and the one that shows it.

    A forall is evaluated in order up to its first false instance. `shows` is that one, else the first open one, else
    the only one. `outside` says where the formula has no value; then its truth is None.
    """

    stated: Stated
    truth: bool | None
    instances: int
    shows: Instance[R] | None
    outside: str = ""

    @property
    def settled(self) -> bool:
        """Whether more precision would add nothing."""
        return self.truth is not None or bool(self.outside)


def decide(problem: ExpressionProblem, reals: Reals[R], meter: Meter) -> tuple[Decided[R], ...]:
    """Every hypothesis, then the conclusion. Raises BadInput where the computation leaves the format's bounds."""
    evaluator = Evaluator(problem.assignment, reals, meter)
    return tuple(_decide(stated, evaluator) for stated in problem.statement.formulas)


def _decide(stated: Stated, evaluator: Evaluator[R]) -> Decided[R]:
    first: dict[bool | None, Instance[R]] = {}
    count = 0
    try:
        for instance in evaluator.instances(stated.formula):
            count += 1
            first.setdefault(instance.truth, instance)
            if instance.truth is False:
                break  # false whatever the others say, even where they have no value
    except OutsideDomainError as error:
        if None in first:  # more precision may show an earlier instance false
            return Decided(stated, None, count, first[None])
        outside = f"{error.what}, at character {error.at + 1}"
        return Decided(stated, None, count, None, outside)
    truth = together(tuple(first))
    shows = first.get(truth) if truth is not True or count == 1 else None
    return Decided(stated, truth, count, shows)


def certified_precision(problem: ExpressionProblem, *, meter: Meter) -> tuple[int | None, str]:
    """The smallest precision at which any checker separates what this problem compares, or None and the reason.

    Preferred is the smallest that leaves the margin of docs/certificates.md, section 8; where none does (sides that
    touch, as in sqrt(4) <= 2), the smallest that separates. `meter` lends its deadline only.
    """
    touching: int | None = None
    reason = ""
    for p in PRECISIONS:
        grid, counted = Grid(p), meter.fresh()
        try:
            apart = _separates(problem, grid, counted)
        except BadInput as error:
            reason = error.what
            continue
        except (NotSeparatedError, OutsideDomainError):
            continue
        if counted.units > CERTIFIED_UNITS:
            reason = "too large: checking would take more than half of a checker's budget"
            break
        if apart:
            return p, ""
        if apart is not None and touching is None:
            touching = p
    return touching, reason or f"the sides are too close for a checker at {PRECISIONS[-1]:,} bits"


def _separates(problem: ExpressionProblem, grid: Grid, meter: Meter) -> bool | None:
    """None: not separated; else whether with the margin."""
    evaluator = Evaluator(problem.assignment, grid, meter)
    apart = True
    for stated in problem.statement.hypotheses:
        for instance in evaluator.instances(stated.formula):
            if not instance.truth:
                return None
            apart = apart and _apart(instance, grid)
    failing = next((i for i in evaluator.instances(problem.statement.conclusion.formula) if _false(i)), None)
    return None if failing is None else apart and _apart(failing, grid)


def _false(instance: Instance[Interval]) -> bool:
    if instance.found is None:
        raise NotSeparatedError  # a checker may stop here, whatever the other instances say
    return instance.truth is False


def _apart(instance: Instance[Interval], grid: Grid) -> bool:
    found = instance.found
    if isinstance(found, Sides) and isinstance(found.left, Interval) and isinstance(found.right, Interval):
        return grid.apart(found.left, found.right)
    return True
