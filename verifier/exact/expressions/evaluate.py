"""The value of every comparison of a formula at one assignment: exact where rational, in given numbers where not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic

from verifier.exact.definite import is_semidefinite
from verifier.exact.expressions.arithmetic import (
    NotSeparatedError,
    OutsideDomainError,
    R,
    Reals,
    holds,
    operate,
    power,
)
from verifier.exact.expressions.meter import MOST_TERMS, Meter, bits_of, too_large
from verifier.exact.expressions.nodes import (
    Call,
    Chain,
    Choice,
    Comparison,
    Definite,
    DefiniteOf,
    Entry,
    Expression,
    ForAll,
    Formula,
    Function,
    Name,
    Negative,
    Number,
    Operator,
    Power,
    Range,
    Relation,
    Sum,
)
from verifier.exact.reading import Matrix, Vector

MOST_ROWS = 32

Value = Fraction | Vector | Matrix
Assignment = Mapping[str, Value]
Scope = dict[str, Fraction]


@dataclass(frozen=True, slots=True)
class Sides(Generic[R]):
    """Both sides of a comparison: rationals, or two numbers of the real kind."""

    left: Fraction | R
    relation: Relation
    right: Fraction | R


@dataclass(frozen=True, slots=True)
class Instance(Generic[R]):
    """One comparison or definiteness test of a formula, at values of the indices around it.

    `truth` is None where it is not decided. `found` holds the sides or the matrix (`first`: the number of its first
    row), None where an enclosure left it open whether the sides have a value.
    """

    indices: tuple[tuple[str, int], ...]
    truth: bool | None
    found: Sides[R] | Matrix | None
    first: int = 0


def together(truths: Sequence[bool | None]) -> bool | None:
    """The truth of "all of these": false if one is, else open if one is, else true."""
    return False if any(x is False for x in truths) else None if None in truths else True


class Evaluator(Generic[R]):
    """Evaluates formulas at an assignment, with `reals` for what contains sqrt, exp or log.

    Raises BadInput beyond the bounds of the format and OutsideDomainError where an expression has no value.
    """

    def __init__(self, assignment: Assignment, reals: Reals[R], meter: Meter) -> None:
        self._assignment, self._reals, self._meter = assignment, reals, meter

    def instances(self, formula: Formula) -> Iterator[Instance[R]]:
        """Every comparison and definiteness test of a formula, in order."""
        yield from self._formula(formula, {})

    # Formulas

    def _formula(self, formula: Formula, scope: Scope) -> Iterator[Instance[R]]:
        self._meter.charge()
        match formula:
            case ForAll():
                for inner in self._assigned(formula.ranges, scope):
                    yield from self._formula(formula.body, inner)
            case Comparison():
                yield self._compared(formula, scope)
            case Definite():
                value = self._assignment[formula.name]
                assert isinstance(value, tuple)
                yield self._tested([tuple(row) for row in value if isinstance(row, tuple)], scope, 0)
            case DefiniteOf():
                yield self._tested(*self._matrix(formula, scope))

    def _compared(self, formula: Comparison, scope: Scope) -> Instance[R]:
        indices = _texts(scope)
        try:
            truth, sides = self._sides(formula, scope)
        except NotSeparatedError:
            return Instance(indices, None, None)
        return Instance(indices, truth, sides)

    def _sides(self, formula: Comparison, scope: Scope) -> tuple[bool | None, Sides[R]]:
        if not (formula.real or self._reals.leaves):
            left, right = self._exact(formula.left, scope), self._exact(formula.right, scope)
            return holds(left, formula.relation, right), Sides(left, formula.relation, right)
        real_left, real_right = self._real(formula.left, scope), self._real(formula.right, scope)
        truth = self._reals.holds(real_left, formula.relation, real_right)
        return truth, Sides(real_left, formula.relation, real_right)

    def _matrix(self, formula: DefiniteOf, scope: Scope) -> tuple[list[Vector], Scope, int]:
        low, high = self._bounds(formula.low, formula.high, scope)
        size = high - low + 1
        if size < 1:
            raise OutsideDomainError("a psd of an empty matrix", formula.at)
        if size > MOST_ROWS:
            raise too_large(f"a matrix in psd has more than {MOST_ROWS} rows")
        count = [Fraction(k) for k in range(low, high + 1)]
        rows = [
            tuple(self._exact(formula.entry, {**scope, formula.row: i, formula.column: j}) for j in count)
            for i in count
        ]
        return rows, scope, low

    def _tested(self, rows: list[Vector], scope: Scope, first: int) -> Instance[R]:
        matrix = tuple(rows)
        self._meter.charge_matrix(len(matrix), max(bits_of(x) for row in matrix for x in row))
        return Instance(_texts(scope), is_semidefinite(matrix), matrix, first)

    # Ranges

    def _bounds(self, low: Expression, high: Expression, scope: Scope) -> tuple[int, int]:
        return self._integer(low, scope, "a bound"), self._integer(high, scope, "a bound")

    def _integer(self, node: Expression, scope: Scope, what: str) -> int:
        value = self._exact(node, scope)
        if value.denominator != 1:
            raise OutsideDomainError(f"{what} that is {value}, not an integer", node.at)
        return value.numerator

    def _assigned(self, ranges: tuple[Range, ...], scope: Scope) -> Iterator[Scope]:
        """Every assignment of the indices, in order; later bounds see earlier indices."""
        terms = 0

        def walk(k: int, scope: Scope) -> Iterator[Scope]:
            nonlocal terms
            if k == len(ranges):
                terms += 1
                if terms > MOST_TERMS:
                    raise too_large(f"more than {MOST_TERMS:,} terms in one sum or forall")
                yield scope
                return
            low, high = self._bounds(ranges[k].low, ranges[k].high, scope)
            if high - low >= MOST_TERMS:
                raise too_large(f"more than {MOST_TERMS:,} values of one index")
            for value in range(low, high + 1):
                yield from walk(k + 1, {**scope, ranges[k].name: Fraction(value)})

        yield from walk(0, scope)

    # Rational expressions

    def _exact(self, node: Expression, scope: Scope) -> Fraction:
        match node:
            case Number() | Name() | Entry():
                return self._leaf(node, scope)
            case Negative():
                value = self._exact(node.operand, scope)
                self._meter.charge(bits_of(value))
                return -value
            case Chain():
                value = self._exact(node.first, scope)
                for operator, operand in node.rest:
                    value = self._step(operator, value, operand, scope)
                return value
            case Power():
                value = self._exact(node.base, scope)
                self._meter.charge(bits_of(value))
                return power(value, node.exponent)
            case Call():
                values = [self._exact(argument, scope) for argument in node.arguments]
                self._meter.charge(max(map(bits_of, values)))
                return {"min": min, "max": max}[node.function](values) if node.function != "abs" else abs(values[0])
            case Sum():
                self._meter.charge()
                value = Fraction(0)
                for inner in self._assigned(node.ranges, scope):
                    term = self._exact(node.body, inner)
                    self._meter.charge_term(max(bits_of(value), bits_of(term)))
                    value = operate("+", value, term)
                return value
            case Choice():
                return self._exact(self._arm(node, scope), scope)

    def _step(self, operator: Operator, left: Fraction, operand: Expression, scope: Scope) -> Fraction:
        right = self._exact(operand, scope)
        self._meter.charge(max(bits_of(left), bits_of(right)))
        if operator == "/" and right == 0:
            raise OutsideDomainError("a division by zero", operand.at)
        return operate(operator, left, right)

    def _leaf(self, node: Number | Name | Entry, scope: Scope) -> Fraction:
        if isinstance(node, Number):
            self._meter.charge(bits_of(node.value))
            return node.value
        value: Value = scope[node.name] if node.name in scope else self._assignment[node.name]
        for index in node.indices if isinstance(node, Entry) else ():
            assert isinstance(value, tuple)
            k = self._integer(index, scope, "an index")
            if not 0 <= k < len(value):
                what = f"the entry {k} of {node.name}, which has {len(value)} there, counted from 0"
                raise OutsideDomainError(what, node.at)
            value = value[k]
        assert isinstance(value, Fraction)
        self._meter.charge(bits_of(value))
        return value

    def _arm(self, node: Choice, scope: Scope) -> Expression:
        self._meter.charge()
        self._meter.charge()  # the guard is a node too
        truth, _ = self._sides(node.guard, scope)
        return node.yes if truth else node.no

    # Real expressions

    def _real(self, node: Expression, scope: Scope) -> R:
        try:
            if not (node.real or self._reals.leaves):
                return self._reals.lift(self._exact(node, scope))
            return self._enclosed(node, scope)
        except OutsideDomainError as error:
            raise _placed(error, node.at) from None

    def _enclosed(self, node: Expression, scope: Scope) -> R:
        reals = self._reals
        match node:
            case Number() | Name() | Entry():
                return reals.lift(self._leaf(node, scope))
            case Negative():
                value = self._real(node.operand, scope)
                self._meter.charge(reals.bits(value))
                return reals.negative(value)
            case Chain():
                return self._enclosed_chain(node, scope)
            case Power():
                value = self._real(node.base, scope)
                self._meter.charge(reals.bits(value))
                return reals.power(value, node.exponent) if node.exponent else reals.lift(Fraction(1))
            case Call():
                return self._called(node.function, [self._real(argument, scope) for argument in node.arguments])
            case Sum():
                self._meter.charge()
                terms = []
                for inner in self._assigned(node.ranges, scope):
                    terms.append(self._real(node.body, inner))
                    self._meter.charge_term(reals.bits(terms[-1]))
                return reals.total(terms) if terms else reals.lift(Fraction(0))
            case Choice():
                return self._real(self._arm(node, scope), scope)

    def _enclosed_chain(self, node: Chain, scope: Scope) -> R:
        """From left to right; what comes before the first real operand is a rational subexpression of its own."""
        reals, done = self._reals, 0
        if node.first.real or reals.leaves:
            value = self._real(node.first, scope)
        else:
            exact = self._exact(node.first, scope)
            while not node.rest[done][1].real:  # the chain is real and its first operand is not
                operator, operand = node.rest[done]
                exact = self._step(operator, exact, operand, scope)
                done += 1
            value = reals.lift(exact)
        for operator, operand in node.rest[done:]:
            right = self._real(operand, scope)
            self._meter.charge(max(reals.bits(value), reals.bits(right)))
            value = reals.operate(operator, value, right)
        return value

    def _called(self, function: Function, arguments: list[R]) -> R:
        self._meter.charge(max(map(self._reals.bits, arguments)))
        return self._reals.call(function, arguments)


def _placed(error: OutsideDomainError, at: int) -> OutsideDomainError:
    """The error with the position of the innermost expression that it is about."""
    if error.at < 0:
        error.at = at
    return error


def _texts(scope: Scope) -> tuple[tuple[str, int], ...]:
    return tuple((name, value.numerator) for name, value in scope.items())
