"""Random formulas with a second reading: each is written twice, in the page's grammar and as Python, brackets only
where chance puts them, so that Python's own precedence and scoping judge ours."""

from __future__ import annotations

import decimal
import random
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

VARIABLES: dict[str, Any] = {"x": "rational", "y": "rational", "v": {"vector": 3}, "A": {"matrix": [2, 2]}}


class Written:
    """Builds formulas from `rng`; `real` allows sqrt, exp and log."""

    def __init__(self, rng: random.Random, *, real: bool = False) -> None:
        self.rng, self.real, self.indices = rng, real, list[str]()
        self._fresh = 0

    def atom(self) -> tuple[str, str]:
        choice = self.rng.randrange(6)
        if choice == 0:
            n = str(self.rng.randrange(5))
            return n, f"N({n})"
        if choice == 1 and self.indices:
            name = self.rng.choice(self.indices)
            return name, f"N({name})"
        if choice == 2:
            k, python = self.index()
            return f"v[{k}]", f"v[int({python})]"
        if choice == 3:
            i, j = self.rng.randrange(2), self.rng.randrange(2)
            return f"A[{i}, {j}]", f"A[{i}][{j}]"
        name = self.rng.choice("xy")
        return name, name

    def index(self) -> tuple[str, str]:
        if self.indices and self.rng.randrange(2):
            name = self.rng.choice(self.indices)
            return name, name
        k = str(self.rng.randrange(3) if self.rng.randrange(20) else 3)  # sometimes out of range
        return k, k

    def expression(self, depth: int, *, real: bool | None = None) -> tuple[str, str]:
        """An expression of at most `depth` levels; `real` False keeps sqrt, exp and log out."""
        real = self.real if real is None else real
        if depth == 0:
            return self.atom()
        kind = self.rng.choice(("binary", "binary", "binary", "minus", "power", "bracket", "call", "sum", "if", "real"))
        if kind == "binary":
            (a, p), (b, q) = self.expression(depth - 1, real=real), self.expression(depth - 1, real=real)
            op = self.rng.choice("++--**/")
            gap = self.rng.choice(("", " "))
            return f"{a}{gap}{op}{gap}{b}", f"{p} {op} {q}"
        if kind == "sum":
            return self.sum(depth, real=real)
        if kind == "if":
            g, gp = self.comparison(0, real=False)
            (a, p), (b, q) = self.expression(depth - 1, real=real), self.expression(depth - 1, real=real)
            return f"if({g}, {a}, {b})", f"(({p}) if ({gp}) else ({q}))"
        inner, python = self.expression(depth - 1, real=real)
        if kind == "minus":
            return f"-({inner})", f"-({python})"
        if kind == "power":
            a, p = self.atom()
            n = self.rng.randrange(4)
            sign = self.rng.choice(("", "-"))
            return f"{sign}{a}^{n}", f"{sign}{p}**{n}"
        if kind == "real" and real:
            function = self.rng.choice(("sqrt", "exp", "log"))
            return f"{function}({inner})", f"{function}({python})"
        if kind == "call":
            other, q = self.expression(depth - 1, real=real)
            function = self.rng.choice(("min", "max"))
            return f"{function}({inner},{other})", f"{function}({python}, {q})"
        if kind == "real":
            return f"abs({inner})", f"abs({python})"
        return f"({inner})", f"({python})"

    def ranges(self) -> tuple[str, str]:
        """One or two new indices, in scope from here on; the second may start at the first."""
        text, python = [], []
        for _ in range(self.rng.randrange(1, 3)):
            name = f"i{self._fresh}"
            self._fresh += 1
            low = self.indices[-1] if self.indices and self.rng.randrange(3) == 0 else "0"
            high = self.rng.choice(("1", "2", "1 + 1", "2*1"))
            text.append(f"{name} in {low}..{high}")
            python.append(f"for {name} in range({low}, {high} + 1)")
            self.indices.append(name)
        return ", ".join(text), " ".join(python)

    def sum(self, depth: int, *, real: bool) -> tuple[str, str]:
        before = len(self.indices)
        ranges, loops = self.ranges()
        body, python = self.expression(depth - 1, real=real)
        del self.indices[before:]
        return f"sum({ranges}: {body})", f"sum((({python}) {loops}), N(0))"

    def comparison(self, depth: int, *, real: bool | None = None) -> tuple[str, str]:
        real = self.real if real is None else real
        relation = self.rng.choice(("<", "<=") if real else ("<", "<=", "=", "!="))
        (a, p), (b, q) = self.expression(depth, real=real), self.expression(depth, real=real)
        return f"{a} {relation} {b}", f"({p}) {'==' if relation == '=' else relation} ({q})"

    def formula(self, depth: int) -> tuple[str, str]:
        if self.rng.randrange(4):
            return self.comparison(depth)
        before = len(self.indices)
        ranges, loops = self.ranges()
        body, python = self.formula(depth)
        del self.indices[before:]
        return f"forall({ranges}: {body})", f"all([({python}) {loops}])"


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  # reproducible, not secret


def assignment(rng: random.Random) -> dict[str, Any]:
    """Values for VARIABLES, as they stand in a file; A is symmetric every other time."""

    def number() -> str:
        return str(Fraction(rng.randrange(-6, 7), rng.randrange(1, 4)))

    a, b, c, d = (number() for _ in range(4))
    matrix = [[a, b], [b if rng.randrange(2) else c, d]]
    return {"x": number(), "y": number(), "v": [number() for _ in range(3)], "A": matrix}


def exactly(python: str, values: Mapping[str, Any]) -> Any:
    """The Python text's value in rationals. Raises ZeroDivisionError or IndexError where it has none."""
    return eval(python, {"N": Fraction, **_numbers(values, Fraction)})  # noqa: S307  # written by this module


def decimally(python: str, values: Mapping[str, Any], *, digits: int) -> Any:
    """The Python text's value in decimals of so many digits. Raises decimal's errors where it has none."""
    with decimal.localcontext() as context:
        context.prec = digits

        def number(text: Any) -> Decimal:
            fraction = Fraction(text)
            return Decimal(fraction.numerator) / Decimal(fraction.denominator)

        def log(x: Decimal) -> Decimal:
            if x <= 0:
                raise decimal.InvalidOperation  # decimal itself says ln(0) = -Infinity
            return x.ln()

        functions = {"sqrt": Decimal.sqrt, "exp": Decimal.exp, "log": log, "N": Decimal}
        zeroth = re.sub(r"(N\(\w+\)|\w+(?:\[[^\]]*\])*)\*\*0\b", r"(0 * \1 + N(1))", python)  # decimal has no 0**0
        return eval(zeroth, {**functions, **_numbers(values, number)})  # noqa: S307  # written by this module


def _numbers(values: Mapping[str, Any], number: Any) -> dict[str, Any]:
    def read(value: Any) -> Any:
        return [read(entry) for entry in value] if isinstance(value, list) else number(value)

    return {name: read(value) for name, value in values.items()}
