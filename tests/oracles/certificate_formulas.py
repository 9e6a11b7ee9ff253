"""The formula grammar of docs/certificates.md, section 8, read once more: closures over Fractions and long Decimals.

A real value (square root, exponential, logarithm) is a Decimal of 420 digits; Fractions stay exact until they meet one.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from tests.oracles.hardmax import determinant

RESERVED = frozenset(["forall", "psd", "min", "max", "abs", "sum", "if", "in", "sqrt", "exp", "log"])
TOKEN = re.compile(r" *(?:([0-9]+)|([A-Za-z][A-Za-z0-9_]*)|(\.\.|<=|!=|[-+*/^()\[\],:<=]))", re.ASCII)
CONTEXT = decimal.Context(prec=420, Emax=10**9, Emin=-(10**9))
CLOSE = decimal.Decimal(10) ** -330

Value = Fraction | decimal.Decimal
Scope = dict[str, Any]


class BadFormula(Exception):
    """The text is not a formula."""


class OutOfDomain(Exception):
    """A value does not exist: the certificate is rejected."""


class Undecided(Exception):
    """Two real values agree to hundreds of digits."""


class Node(NamedTuple):
    """A function of the scope, and whether it contains a real function."""

    run: Callable[[Scope], Any]
    real: bool


def need(condition: object, why: str) -> None:
    if not condition:
        raise BadFormula(why)


def parse(text: str, *, variables: dict[str, Any], real: bool) -> Callable[[Scope], bool]:
    """The formula as a function of the assignment; `real` admits sqrt, exp, log."""
    need(len(text) <= 4000, "characters")
    tokens, at = [], 0
    while at < len(text.rstrip(" ")):
        found = TOKEN.match(text, at)
        need(found, f"character {text[at]!r}")
        assert found
        number, name, _ = found.groups()
        need(not number or (len(number) <= 100 and (number == "0" or number[0] != "0")), "number")
        need(not name or len(name) <= 32, "name")
        tokens.append(found.group().strip(" "))
        at = found.end()
    need(len(tokens) <= 2000, "tokens")
    reader = Reader([*tokens, ""], variables, real)
    node = reader.formula()
    need(reader.tokens[reader.at] == "", "rest")
    return node.run


def as_real(x: Value) -> decimal.Decimal:
    if isinstance(x, decimal.Decimal):
        return x
    return CONTEXT.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator))


def compute(word: str, x: Value, y: Value) -> Value:
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        if word == "/" and y == 0:
            raise OutOfDomain
        return {"+": x.__add__, "-": x.__sub__, "*": x.__mul__, "/": x.__truediv__}[word](y)
    a, b = as_real(x), as_real(y)
    if word == "/" and abs(b) < CLOSE:
        raise OutOfDomain
    return {"+": CONTEXT.add, "-": CONTEXT.subtract, "*": CONTEXT.multiply, "/": CONTEXT.divide}[word](a, b)


def less(x: Value, y: Value) -> bool:
    """x < y; undecided where long decimals agree without being the same."""
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x < y
    a, b = as_real(x), as_real(y)
    if a != b and abs(CONTEXT.subtract(a, b)) < CLOSE * (1 + abs(a)):
        raise Undecided
    return a < b


def function(word: str, x: Value) -> Value:
    a = as_real(x)
    if word == "sqrt":
        if a < 0:
            raise OutOfDomain
        return CONTEXT.sqrt(a)
    if word == "log":
        if a <= 0:
            raise OutOfDomain
        return CONTEXT.ln(a)
    return CONTEXT.exp(a)


def power(x: Value, n: int) -> Value:
    result: Value = Fraction(1)
    for _ in range(n):
        result = compute("*", result, x)
    return result


def whole(x: Value) -> int:
    if not isinstance(x, Fraction) or x.denominator != 1:
        raise OutOfDomain
    return x.numerator


def semidefinite(matrix: list[list[Fraction]]) -> bool:
    """Symmetric with every principal minor ≥ 0."""
    n = len(matrix)
    if any(matrix[i][j] != matrix[j][i] for i in range(n) for j in range(i)):
        return False
    subsets = [rows for size in range(1, n + 1) for rows in combinations(range(n), size)]
    return all(determinant([[matrix[i][j] for j in rows] for i in rows]) >= 0 for rows in subsets)


class Reader:
    """Recursive descent, one method a line of the grammar."""

    def __init__(self, tokens: list[str], variables: dict[str, Any], real: bool) -> None:  # noqa: FBT001  # one caller
        self.tokens, self.at, self.real, self.deep = tokens, 0, real, 0
        self.shapes: dict[str, int] = {
            name: 0 if kind == "rational" else 1 if "vector" in kind else 2 for name, kind in variables.items()
        }
        self.square = {
            n
            for n, k in variables.items()
            if isinstance(k, dict) and "matrix" in k and k["matrix"][0] == k["matrix"][1]
        }

    def peek(self, *words: str) -> bool:
        return self.tokens[self.at] in words

    def take(self, *words: str) -> str:
        word = self.tokens[self.at]
        need(word in words if words else word, f"unexpected {word!r}")
        self.at += 1
        if word in {"(", "["}:
            self.deep += 1
            need(self.deep <= 32, "depth")
        if word in {")", "]"}:
            self.deep -= 1
        return word

    def name(self) -> str:
        word = self.take()
        need(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", word, re.ASCII) and word not in RESERVED, f"not a name: {word!r}")
        return word

    def rational(self) -> Node:
        node = self.expr()
        need(not node.real, "must be rational")
        return node

    def formula(self) -> Node:
        if self.peek("forall"):
            self.take()
            self.take("(")
            names, each = self.ranges()
            self.take(":")
            inner = self.formula()
            self.take(")")
            for name in names:
                del self.shapes[name]

            def run(scope: Scope) -> bool:
                seen = [decided(inner.run, s) for s in each(scope)]
                if False in seen:
                    return False
                if None in seen:
                    raise Undecided
                return True

            return Node(run, inner.real)
        return self.psd() if self.peek("psd") else self.comparison()

    def psd(self) -> Node:
        self.take()
        self.take("(")
        first = self.name()
        if self.peek(")"):
            self.take()
            need(first in self.square, "psd of what")
            return Node(lambda scope: semidefinite(scope[first]), real=False)
        self.take(",")
        second = self.name()
        need(first != second and not {first, second} & set(self.shapes), "index name")
        self.take("in")
        low = self.rational()
        self.take("..")
        high = self.rational()
        self.take(":")
        self.shapes |= {first: 0, second: 0}
        entry = self.rational()
        self.take(")")
        del self.shapes[first], self.shapes[second]

        def run(scope: Scope) -> bool:
            span = [Fraction(k) for k in range(whole(low.run(scope)), whole(high.run(scope)) + 1)]
            if not span:
                raise OutOfDomain
            return semidefinite([[entry.run({**scope, first: i, second: j}) for j in span] for i in span])

        return Node(run, real=False)

    def comparison(self) -> Node:
        left = self.expr()
        word = self.take("<", "<=", "=", "!=")
        right = self.expr()
        need(word not in {"=", "!="} or not (left.real or right.real), "equality of reals")

        def run(scope: Scope) -> bool:
            x, y = left.run(scope), right.run(scope)
            if word in {"=", "!="}:
                return bool((x == y) == (word == "="))
            return less(x, y) if word == "<" else not less(y, x)

        return Node(run, left.real or right.real)

    def chain(self, words: tuple[str, ...], part: Callable[[], Node]) -> Node:
        node = part()
        while self.peek(*words):
            node = binary(self.take(), node, part())
        return node

    def expr(self) -> Node:
        return self.chain(("+", "-"), lambda: self.chain(("*", "/"), self.unary))

    def unary(self) -> Node:
        if not self.peek("-"):
            return self.power()
        self.take()
        self.deep += 1
        need(self.deep <= 32, "depth")
        inner = self.unary()
        self.deep -= 1
        return Node(lambda scope: compute("-", Fraction(0), inner.run(scope)), inner.real)

    def power(self) -> Node:
        base = self.atom()
        if not self.peek("^"):
            return base
        self.take()
        digits = self.take()
        need(digits.isdigit() and int(digits) <= 64 and not self.peek("^"), "exponent")
        return Node(lambda scope: power(base.run(scope), int(digits)), base.real)

    def atom(self) -> Node:
        word = self.tokens[self.at]
        if word.isdigit():
            self.take()
            return Node(lambda _: Fraction(int(word)), real=False)
        if word == "(":
            self.take()
            node = self.expr()
            self.take(")")
            return node
        if word in {"min", "max", "abs", "sqrt", "exp", "log", "sum", "if"}:
            return getattr(self, f"read_{word}", self.call)()  # type: ignore[no-any-return]  # methods below
        return self.indexed(self.name())

    def indexed(self, name: str) -> Node:
        need(name in self.shapes, f"unknown name {name}")
        indices: list[Node] = []
        if self.peek("["):
            self.take()
            indices.append(self.rational())
            if self.peek(","):
                self.take()
                indices.append(self.rational())
            self.take("]")
        need(len(indices) == self.shapes[name], "number of indices")

        def run(scope: Scope) -> Any:
            value = scope[name]
            for index in indices:
                k = whole(index.run(scope))
                if not 0 <= k < len(value):
                    raise OutOfDomain
                value = value[k]
            return value

        return Node(run, real=False)

    def call(self) -> Node:
        word = self.take()
        self.take("(")
        parts = [self.expr()]
        while word in {"min", "max"} and self.peek(","):
            self.take()
            parts.append(self.expr())
        self.take(")")
        need(len(parts) <= 16, "arguments")
        real = word in {"sqrt", "exp", "log"}
        need(self.real or not real, "a real function in a witness")

        def run(scope: Scope) -> Any:
            values = [part.run(scope) for part in parts]
            if real:
                return function(word, values[0])
            if word == "abs":
                values.append(compute("-", Fraction(0), values[0]))
            best = values[0]
            for value in values[1:]:
                if less(value, best) if word == "min" else less(best, value):
                    best = value
            return best

        return Node(run, real or any(part.real for part in parts))

    def read_sum(self) -> Node:
        self.take()
        self.take("(")
        names, each = self.ranges()
        self.take(":")
        inner = self.expr()
        self.take(")")
        for name in names:
            del self.shapes[name]

        def run(scope: Scope) -> Value:
            total: Value = Fraction(0)
            for s in each(scope):
                total = compute("+", total, inner.run(s))
            return total

        return Node(run, inner.real)

    def read_if(self) -> Node:
        self.take()
        self.take("(")
        guard = self.comparison()
        need(not guard.real, "a real guard")
        self.take(",")
        yes = self.expr()
        self.take(",")
        no = self.expr()
        self.take(")")
        return Node(lambda scope: (yes if guard.run(scope) else no).run(scope), yes.real or no.real)

    def ranges(self) -> tuple[list[str], Callable[[Scope], Iterator[Scope]]]:
        spans: list[tuple[str, Node, Node]] = []
        while True:
            name = self.name()
            need(name not in self.shapes, "index name")
            self.take("in")
            low = self.rational()
            self.take("..")
            spans.append((name, low, self.rational()))
            self.shapes[name] = 0
            if not self.peek(","):
                break
            self.take()
        need(len(spans) <= 8, "ranges")

        def each(scope: Scope, depth: int = 0) -> Iterator[Scope]:
            if depth == len(spans):
                yield scope
                return
            name, low, high = spans[depth]
            for k in range(whole(low.run(scope)), whole(high.run(scope)) + 1):
                yield from each({**scope, name: Fraction(k)}, depth + 1)

        return [span[0] for span in spans], each


def binary(word: str, left: Node, right: Node) -> Node:
    return Node(lambda scope: compute(word, left.run(scope), right.run(scope)), left.real or right.real)


def decided(run: Callable[[Scope], bool], scope: Scope) -> bool | None:
    try:
        return run(scope)
    except Undecided:
        return None
