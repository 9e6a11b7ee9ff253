"""Assignments to try where a problem leaves its own to be found: structured, within the bounds, and shrinkable.

Everything is made from one source of small integers, so that a random generator and hypothesis build the same kinds.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any

from verifier.exact.drawing import whole
from verifier.exact.expressions.nodes import Comparison, Definite, Entry, ForAll, Formula, Name
from verifier.exact.expressions.parser import Shape
from verifier.exact.expressions.problem import Statement, read_expression_parameters
from verifier.exact.reading import Reader

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Draw = Callable[[int], int]
"""draw(n): an integer from 0 to n − 1."""

Document = dict[str, Any]
Rows = list[list[Fraction]]

ENTRIES = ("small", "rational", "nonnegative", "signs", "sparse", "repeated", "unit", "weights", "sorted", "large")
"""The kinds of vectors; a draw of 0 gives the simplest."""
MATRICES = ("plain", "symmetric", "rank one", "diagonal")
SMALL = 3


def strategy(problem_document: Document) -> SearchStrategy[Document]:
    """States `{"assignment": …}` of a problem whose `state` is `{"find": {"numerator", "denominator"}}`.

    Entries are p/q with |p| ≤ numerator and q ≤ denominator; matrices that a hypothesis declares psd(NAME) are LLᵀ/q.
    """
    from hypothesis import strategies  # noqa: PLC0415  # slow to import, and only a search needs it

    statement, limits = _read(problem_document)

    @strategies.composite
    def states(draw: Any) -> Document:
        return _state(lambda n: whole(draw, n), statement, limits)

    return states()


def batches(problem_document: Document, seed: int) -> Iterator[Document]:
    """Such states without end; state i depends on the statement, the bounds, the seed and i alone."""
    statement, limits = _read(problem_document)
    key = json.dumps([problem_document["parameters"], limits, seed], sort_keys=True)
    index = 0
    while True:
        digest = hashlib.sha256(f"{key} {index}".encode()).digest()
        rng = random.Random(int.from_bytes(digest))  # noqa: S311  # reproducible, not secret
        yield _state(rng.randrange, statement, limits)
        index += 1


def _read(document: Document) -> tuple[Statement, tuple[int, int]]:
    statement = read_expression_parameters(Reader(document, "problem"))
    find = document["state"]["find"]
    return statement, (find["numerator"], find["denominator"])


def _state(draw: Draw, statement: Statement, limits: tuple[int, int]) -> Document:
    definite, symmetric = declared(statement)
    hint = draw(3)  # often one structure for all variables: a claim can need two of them alike
    kind = ENTRIES[draw(len(ENTRIES))]
    assignment = {}
    for name, shape in statement.variables.items():
        if hint == 0:
            kind = ENTRIES[draw(len(ENTRIES))]
        if name in definite:
            rows = _gram(draw, limits, shape.sizes[0])
            assignment[name] = [_texts(row) for row in rows]
        else:
            assignment[name] = _value(draw, limits, shape, kind, symmetric=name in symmetric)
    return {"assignment": assignment}


def declared(statement: Statement) -> tuple[frozenset[str], frozenset[str]]:
    """The matrices that a hypothesis declares semidefinite, and those that some formula needs symmetric.

    Symmetric are those that occur in psd(NAME), and those with a hypothesis forall(…: M[i,j] = M[j,i]).
    """
    definite = {h.formula.name for h in statement.hypotheses if isinstance(h.formula, Definite)}
    mirrored = {name for h in statement.hypotheses if (name := _mirrored(h.formula))}
    tested = {f.formula.name for f in statement.formulas if isinstance(f.formula, Definite)}
    return frozenset(definite), frozenset(mirrored | tested)


def _mirrored(formula: Formula) -> str:
    while isinstance(formula, ForAll):
        formula = formula.body
    if not isinstance(formula, Comparison) or formula.relation != "=":
        return ""
    left, right = formula.left, formula.right
    if not (isinstance(left, Entry) and isinstance(right, Entry) and left.name == right.name):
        return ""
    indices = [[i.name for i in side.indices if isinstance(i, Name)] for side in (left, right)]
    return left.name if len(indices[0]) == 2 and indices[0] == indices[1][::-1] else ""


def _value(draw: Draw, limits: tuple[int, int], shape: Shape, kind: str, *, symmetric: bool) -> Any:
    match shape.sizes:
        case ():
            return str(_vector(draw, limits, 1, kind)[0])
        case (n,):
            return _texts(_vector(draw, limits, n, kind))
        case rows, columns:
            kinds = MATRICES if rows == columns else MATRICES[:1]
            form = "symmetric" if symmetric else kinds[draw(len(kinds))]
            found = _matrix(draw, limits, rows, columns, kind=kind, form=form)
            return [_texts(row) for row in found]
        case _:
            raise AssertionError("shapes have at most two sizes")


def _matrix(draw: Draw, limits: tuple[int, int], rows: int, columns: int, *, kind: str, form: str) -> Rows:
    if form == "rank one":  # ±1 and small factors, so that the products stay within the bounds
        most = min(SMALL, isqrt(limits[0]))
        u = [Fraction(_signed(draw, most)) for _ in range(rows)]
        return [[x * y for y in u] for x in u]
    found = [_vector(draw, limits, columns, kind) for _ in range(rows)]
    if form == "symmetric":
        return [[found[min(i, j)][max(i, j)] for j in range(columns)] for i in range(rows)]
    if form == "diagonal":
        return [[x if i == j else Fraction(0) for j, x in enumerate(row)] for i, row in enumerate(found)]
    return found


def _gram(draw: Draw, limits: tuple[int, int], size: int) -> Rows:
    """LLᵀ/q with integer L of a drawn rank, its entries so small that no product passes the bounds."""
    numerator, denominator = limits
    rank = 1 + draw(size)
    most = max(1, min(SMALL, isqrt(numerator // rank)))
    kept = max(1, min(rank, numerator // most**2))  # products of rows with `kept` entries stay ≤ numerator
    first = draw(rank)
    L = [[_signed(draw, most) if (k - first) % rank < kept else 0 for k in range(rank)] for _ in range(size)]
    q = 1 + draw(min(denominator, SMALL))
    return [[Fraction(sum(a * b for a, b in zip(x, y, strict=True)), q) for y in L] for x in L]


def _vector(draw: Draw, limits: tuple[int, int], n: int, kind: str) -> list[Fraction]:
    numerator, denominator = limits
    small = min(SMALL, numerator)

    def rational(top: int) -> Fraction:
        return Fraction(_signed(draw, top), 1 + draw(denominator))

    match kind:
        case "rational" | "large":
            whole = kind == "large"
            return [Fraction(_signed(draw, numerator)) if whole else rational(numerator) for _ in range(n)]
        case "nonnegative":
            return [abs(rational(min(10, numerator))) for _ in range(n)]
        case "signs":
            return [Fraction(1 - 2 * draw(2)) for _ in range(n)]
        case "sparse":
            return [Fraction(_signed(draw, small)) if draw(3) == 0 else Fraction(0) for _ in range(n)]
        case "repeated":
            pool = [rational(min(10, numerator)) for _ in range(2)]
            return [pool[draw(2)] for _ in range(n)]
        case "unit":
            k = draw(n)
            return [Fraction(int(i == k)) for i in range(n)]
        case "weights":
            return _weights(draw, limits, n)
        case "sorted":
            return sorted((rational(min(10, numerator)) for _ in range(n)), reverse=draw(2) == 1)
        case _:
            return [Fraction(_signed(draw, small)) for _ in range(n)]


def _weights(draw: Draw, limits: tuple[int, int], n: int) -> list[Fraction]:
    """Nonnegative and of sum 1: counts out of one denominator."""
    total = 1 + draw(min(limits))
    counts = [0] * n
    for _ in range(min(total, 64) - 1):
        counts[draw(n)] += 1
    counts[draw(n)] += total - sum(counts)
    return [Fraction(count, total) for count in counts]


def _signed(draw: Draw, most: int) -> int:
    """An integer of modulus at most `most`; a draw of 0 is 0."""
    x = draw(2 * most + 1)
    return -(x // 2) if x % 2 == 0 else (x + 1) // 2


def _texts(row: list[Fraction]) -> list[str]:
    return [str(x) for x in row]
