"""Formulas read by recursive descent, bounded, with every name checked against its shape and scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import NoReturn, TypeVar, cast

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
from verifier.exact.expressions.tokens import RESERVED, Token, complaint, tokenize
from verifier.model.complaints import listed, shown

MOST_DEPTH = 32
MOST_POWER = 64
MOST_ARGUMENTS = 16
MOST_RANGES = 8

RELATIONS = ("<", "<=", "=", "!=")
REAL_FUNCTIONS = ("sqrt", "exp", "log")
FUNCTIONS = ("abs", "exp", "if", "log", "max", "min", "sqrt", "sum")
"""What can be called inside an expression."""

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a variable: () for a rational, (n,) for a vector, (rows, columns) for a matrix."""

    sizes: tuple[int, ...]

    @property
    def text(self) -> str:
        """The shape in words."""
        match self.sizes:
            case ():
                return "a rational"
            case (n,):
                return f"a vector of {n}"
            case _:
                return "a matrix of {} by {}".format(*self.sizes)


def parse_formula(formula: str, variables: Mapping[str, Shape], *, where: str = "formula") -> Formula:
    """The nodes of a formula over `variables`. Raises BadInput with the formula's place, position, and how to mend."""
    return _Parser(formula, variables, where).whole()


class _Parser:
    def __init__(self, formula: str, variables: Mapping[str, Shape], where: str) -> None:
        self._formula, self._variables, self._where = formula, variables, where
        self._tokens = tokenize(formula, where=where)
        self._next = 0
        self._depth = 0
        self._scope: list[str] = []

    # Tokens

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _fail(self, at: int, what: str, mend: str) -> NoReturn:
        raise complaint(self._formula, at, what, where=self._where, mend=mend)

    def _take(self) -> Token:
        token = self._token
        self._next += 1
        return token

    def _at(self, *signs: str) -> bool:
        return self._token.kind == "sign" and self._token.text in signs

    def _expect(self, sign: str, mend: str) -> Token:
        if not self._at(sign):
            found = shown(self._token.text) if self._token.text else "the end"
            self._fail(self._token.at, f'"{sign}" is expected before {found}', mend)
        return self._take()

    @contextmanager
    def _one_level(self, at: int) -> Iterator[None]:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            self._fail(at, f"brackets and signs nest deeper than {MOST_DEPTH}", "write it flatter")
        yield
        self._depth -= 1

    def _bracketed(self, inner: Callable[[], _Read]) -> _Read:
        """( inner )."""
        opened = self._expect("(", "open a bracket there")
        with self._one_level(opened.at):
            found = inner()
            self._expect(")", f"close the bracket opened at character {opened.at + 1}")
        return found

    # Formulas

    def whole(self) -> Formula:
        found = self._formula_node()
        if self._token.kind != "end":
            self._fail(
                self._token.at,
                f"{shown(self._token.text)} cannot follow a complete formula",
                "a formula is one comparison, one forall(...) or one psd(...)",
            )
        return found

    def _formula_node(self) -> Formula:
        token = self._token
        if token.kind == "name" and token.text == "forall":
            self._take()

            def inner() -> ForAll:
                with self._scoped():
                    ranges = self._ranges()
                    self._expect(":", "write forall(i in 0..n: formula)")
                    return ForAll(token.at, ranges, self._formula_node())

            return self._bracketed(inner)
        if token.kind == "name" and token.text == "psd":
            self._take()
            return self._bracketed(lambda: self._definite(token.at))
        return self._comparison()

    def _definite(self, at: int) -> Definite | DefiniteOf:
        first = self._name("the name of a matrix, or an index")
        if self._at(")"):
            shape = self._variables.get(first.text)
            if shape is None or len(shape.sizes) != 2 or shape.sizes[0] != shape.sizes[1]:
                what = f"psd takes a square matrix, and {first.text} is {self._what_is(first.text)}"
                self._fail(first.at, what, "name a square matrix, or write psd(i, j in 0..n: entry)")
            return Definite(at, first.text)
        self._expect(",", "write psd(M) or psd(i, j in 0..n: entry)")
        second = self._name("the second index")
        self._word_in()
        low = self._rational("a bound of a range", self._expression)
        self._expect("..", "write the bounds as lo..hi")
        high = self._rational("a bound of a range", self._expression)
        self._expect(":", "write psd(i, j in 0..n: entry)")
        with self._scoped():
            self._declare(first)
            self._declare(second)
            entry = self._rational("an entry of psd", self._expression)
        return DefiniteOf(at, first.text, second.text, low, high, entry)

    def _comparison(self) -> Comparison:
        at = self._token.at
        left = self._expression()
        relation = self._token
        if not self._at(*RELATIONS):
            found = shown(relation.text) if relation.text else "the end"
            mend = "write one of <, <=, =, != between two sides"
            self._fail(relation.at, f"a comparison is expected before {found}", mend)
        self._take()
        right = self._expression()
        if self._at(*RELATIONS):
            self._fail(self._token.at, "two comparisons in a row", "write a <= b and b <= c as two formulas")
        found_ = Comparison(at, left, cast("Relation", relation.text), right)
        if relation.text in ("=", "!=") and found_.real:
            what = f"{relation.text} is decided only between rational sides, and one contains sqrt, exp or log"
            self._fail(relation.at, what, "use < or <=, or remove the function")
        return found_

    # Expressions

    def _expression(self) -> Expression:
        return self._chain(("+", "-"), lambda: self._chain(("*", "/"), self._unary))

    def _chain(self, signs: tuple[str, ...], inner: Callable[[], Expression]) -> Expression:
        at = self._token.at
        first = inner()
        rest: list[tuple[Operator, Expression]] = []
        while self._at(*signs):
            sign = cast("Operator", self._take().text)
            rest.append((sign, inner()))
        if not rest:
            return first
        return Chain(at, first, tuple(rest), first.real or any(operand.real for _, operand in rest))

    def _unary(self) -> Expression:
        if not self._at("-"):
            return self._power()
        at = self._take().at
        with self._one_level(at):
            operand = self._unary()
        return Negative(at, operand, operand.real)

    def _power(self) -> Expression:
        at = self._token.at
        base = self._atom()
        if not self._at("^"):
            return base
        self._take()
        exponent = self._token
        if exponent.kind != "number" or int(exponent.text) > MOST_POWER:
            mend = f"write x^2, up to x^{MOST_POWER}"
            if self._at("("):
                mend += ", and sqrt(x) for x^(1/2)"
            elif self._at("-"):
                mend += ", and 1/x^2 for x^-2"
            self._fail(exponent.at, f"a power is a number from 0 to {MOST_POWER}", mend)
        self._take()
        if self._at("^"):
            self._fail(self._token.at, "two powers in a row", "write (x^2)^3")
        return Power(at, base, int(exponent.text), base.real)

    def _atom(self) -> Expression:
        token = self._token
        if token.kind == "number":
            self._take()
            return Number(token.at, Fraction(int(token.text)))
        if self._at("("):
            return self._bracketed(self._expression)
        if token.kind != "name":
            found = shown(token.text) if token.text else "the end"
            self._fail(token.at, f"a number, name or bracket is expected before {found}", "complete the expression")
        match token.text:
            case "min" | "max" | "abs" | "sqrt" | "exp" | "log":
                self._take()
                return self._call(token)
            case "sum":
                self._take()
                return self._bracketed(lambda: self._sum(token.at))
            case "if":
                self._take()
                return self._bracketed(lambda: self._choice(token.at))
            case "forall" | "psd" | "in":
                self._fail(token.at, f"{token.text} cannot stand inside an expression", "write it at the front")
        return self._named()

    def _call(self, token: Token) -> Call:
        most = MOST_ARGUMENTS if token.text in ("min", "max") else 1

        def inner() -> tuple[Expression, ...]:
            found = [self._expression()]
            while self._at(","):
                comma = self._take()
                if len(found) == most:
                    self._fail(comma.at, f"{token.text} takes at most {most} arguments", "give fewer")
                found.append(self._expression())
            return tuple(found)

        arguments = self._bracketed(inner)
        real = token.text in REAL_FUNCTIONS or any(argument.real for argument in arguments)
        return Call(token.at, cast("Function", token.text), arguments, real)

    def _sum(self, at: int) -> Sum:
        with self._scoped():
            ranges = self._ranges()
            self._expect(":", "write sum(i in 0..n: term)")
            body = self._expression()
        return Sum(at, ranges, body, body.real)

    def _choice(self, at: int) -> Choice:
        guard = self._comparison()
        if guard.real:
            self._fail(guard.at, "the guard of an if contains sqrt, exp or log", "use a rational guard")
        self._expect(",", "write if(guard, value, other value)")
        yes = self._expression()
        self._expect(",", "write if(guard, value, other value)")
        no = self._expression()
        return Choice(at, guard, yes, no, yes.real or no.real)

    def _named(self) -> Name | Entry:
        token = self._take()
        name = token.text
        index = name in self._scope
        if not index and name not in self._variables:
            self._unknown(token)
        sizes = () if index else self._variables[name].sizes
        if not self._at("["):
            if sizes:
                want = f"{name}[i]" if len(sizes) == 1 else f"{name}[i,j]"
                self._fail(token.at, f"{name} is {self._what_is(name)} and stands without an index", f"write {want}")
            return Name(token.at, name)
        opened = self._take()
        with self._one_level(opened.at):
            indices = [self._rational("an index", self._expression)]
            if self._at(","):
                self._take()
                indices.append(self._rational("an index", self._expression))
            self._expect("]", f"close the bracket opened at character {opened.at + 1}")
        if len(indices) != len(sizes):
            what = f"{name} is {self._what_is(name)} and takes {('no index', 'one index', 'two indices')[len(sizes)]}"
            self._fail(opened.at, what, "give as many indices as the variable has")
        return Entry(token.at, name, tuple(indices))

    def _unknown(self, token: Token) -> NoReturn:
        """A name that is none: the nearest function if it is called, else the nearest name, else all there are."""
        names = [*self._variables, *self._scope]
        functions = listed(FUNCTIONS)
        if self._at("("):
            close = get_close_matches(token.text, FUNCTIONS, n=1)
            mend = f"the nearest valid one is {close[0]}" if close else f"the functions are {functions}"
            self._fail(token.at, f"{token.text} is no function", mend)
        close = get_close_matches(token.text, [*names, *FUNCTIONS], n=1)
        mend = f"the names here are {listed(sorted(names))}, the functions {functions}"
        if close:
            mend = f"the nearest valid name is {close[0]}; {mend}"
        self._fail(token.at, f"{token.text} is neither a variable nor an index in scope", mend)

    # Ranges and scopes

    def _ranges(self) -> tuple[Range, ...]:
        found = [self._range()]
        while self._at(","):
            comma = self._take()
            if len(found) == MOST_RANGES:
                self._fail(comma.at, f"more than {MOST_RANGES} ranges", "nest a second sum or forall")
            found.append(self._range())
        return tuple(found)

    def _range(self) -> Range:
        name = self._name("the name of an index")
        self._word_in()
        low = self._rational("a bound of a range", self._expression)
        self._expect("..", "write the bounds as lo..hi")
        high = self._rational("a bound of a range", self._expression)
        self._declare(name)
        return Range(name.at, name.text, low, high)

    def _name(self, what: str) -> Token:
        if self._token.kind != "name" or self._token.text in RESERVED:
            found = shown(self._token.text) if self._token.text else "the end"
            self._fail(self._token.at, f"{what} is expected, not {found}", "write a name that is not reserved")
        return self._take()

    def _word_in(self) -> None:
        if self._token.kind != "name" or self._token.text != "in":
            self._fail(self._token.at, '"in" is expected after an index', "write i in 0..n")
        self._take()

    def _declare(self, name: Token) -> None:
        if name.text in self._variables or name.text in self._scope:
            taken = "a variable" if name.text in self._variables else "an index in scope"
            self._fail(name.at, f"the index {name.text} is already {taken}", "give the index another name")
        self._scope.append(name.text)

    @contextmanager
    def _scoped(self) -> Iterator[None]:
        before = len(self._scope)
        yield
        del self._scope[before:]

    def _rational(self, what: str, read: Callable[[], Expression]) -> Expression:
        at = self._token.at
        found = read()
        if found.real:
            self._fail(at, f"{what} contains sqrt, exp or log", "use a rational expression there")
        return found

    def _what_is(self, name: str) -> str:
        if name in self._scope:
            return "an index"
        return self._variables[name].text if name in self._variables else "no variable"
