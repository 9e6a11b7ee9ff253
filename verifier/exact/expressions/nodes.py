"""What a formula is once it is read (docs/certificates.md, section 8): frozen nodes, each with its position."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Relation = Literal["<", "<=", "=", "!="]
Function = Literal["min", "max", "abs", "sqrt", "exp", "log"]
Operator = Literal["+", "-", "*", "/"]


@dataclass(frozen=True, slots=True)
class Number:
    """A natural number."""

    at: int
    value: Fraction
    real: Literal[False] = False


@dataclass(frozen=True, slots=True)
class Name:
    """A rational variable or an index."""

    at: int
    name: str
    real: Literal[False] = False


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a vector (one index) or of a matrix (two)."""

    at: int
    name: str
    indices: tuple[Expression, ...]
    real: Literal[False] = False


@dataclass(frozen=True, slots=True)
class Negative:
    """−x."""

    at: int
    operand: Expression
    real: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """Sums and differences, or products and quotients, from left to right; flat, so that it nests no deeper."""

    at: int
    first: Expression
    rest: tuple[tuple[Operator, Expression], ...]
    real: bool


@dataclass(frozen=True, slots=True)
class Power:
    """x^n, n from 0 to 64; x^0 = 1."""

    at: int
    base: Expression
    exponent: int
    real: bool


@dataclass(frozen=True, slots=True)
class Call:
    """min, max (1 to 16 arguments), abs, sqrt, exp, log (one)."""

    at: int
    function: Function
    arguments: tuple[Expression, ...]
    real: bool


@dataclass(frozen=True, slots=True)
class Range:
    """An index with its inclusive bounds."""

    at: int
    name: str
    low: Expression
    high: Expression


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of `body` over all indices."""

    at: int
    ranges: tuple[Range, ...]
    body: Expression
    real: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """`if`: the arm that the guard takes; the other is not evaluated."""

    at: int
    guard: Comparison
    yes: Expression
    no: Expression
    real: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides and a relation."""

    at: int
    left: Expression
    relation: Relation
    right: Expression

    @property
    def real(self) -> bool:
        """Whether a side contains sqrt, exp or log."""
        return self.left.real or self.right.real


@dataclass(frozen=True, slots=True)
class ForAll:
    """The body for every value of the indices."""

    at: int
    ranges: tuple[Range, ...]
    body: Formula

    @property
    def real(self) -> bool:
        """Whether the body contains sqrt, exp or log."""
        return self.body.real


@dataclass(frozen=True, slots=True)
class Definite:
    """`psd(M)` of a variable."""

    at: int
    name: str
    real: Literal[False] = False


@dataclass(frozen=True, slots=True)
class DefiniteOf:
    """`psd(i, j in lo..hi: e)`: the matrix of e."""

    at: int
    row: str
    column: str
    low: Expression
    high: Expression
    entry: Expression
    real: Literal[False] = False


Expression = Number | Name | Entry | Negative | Chain | Power | Call | Sum | Choice
Formula = ForAll | Definite | DefiniteOf | Comparison
