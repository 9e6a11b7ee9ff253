"""The ways in which people write the step of a map in float64: equal in exact arithmetic, unequal in rounding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from verifier.exact.linear import identity, subtracted, transposed
from verifier.exact.piecewise.problem import MapProblem
from verifier.exact.reading import Matrix
from verifier.exact.rounding import Rounded, rounded, total
from verifier.exact.systems.coordinate_minimisation import CoordinateMinimisation
from verifier.exact.systems.gradient_descent_ascent import DescentAscent
from verifier.exact.systems.heavy_ball import HeavyBall
from verifier.exact.systems.three_block_admm import ThreeBlock

Numbers = Sequence[Rounded]
Product = Callable[[Sequence[Fraction], Numbers], Rounded]
Step = Callable[[int, int, Numbers], list[Rounded]]


@dataclass(frozen=True, slots=True)
class Form:
    """`product` evaluates aᵀz in guards and claims, `step` the state after (t, branch, z)."""

    name: str
    product: Product
    step: Step


def forms_of(problem: MapProblem) -> tuple[Form, ...]:
    """The forms of the problem's system, or for a map given as data three ways to evaluate Mz + c."""
    data = problem.deriving.data if problem.deriving is not None else None
    matrix = Form("one matrix: Mz + c", direct, partial(_affine, problem, direct))
    match data:
        case CoordinateMinimisation():
            return (
                Form("sum of the others, x_j + x_k", direct, partial(_affine, problem, direct)),
                Form("total less one's own, (x+y+z) - x_i", from_total, partial(_affine, problem, from_total)),
            )
        case HeavyBall():
            return (
                Form("gradient, then momentum", direct, partial(_heavy_ball, data, True)),
                Form("momentum, then gradient", direct, partial(_heavy_ball, data, False)),
                matrix,
            )
        case DescentAscent():
            return (Form("as written: x - eta Ay, y + eta A'x", direct, partial(_descent_ascent, data)), matrix)
        case ThreeBlock():
            return (Form("block after block", direct, partial(_three_blocks, data)), matrix)
    return (
        Form("sum of the products", direct, partial(_affine, problem, direct)),
        Form("sum of the products, last first", last_first, partial(_affine, problem, last_first)),
        Form("increment, z + ((M-I)z + c)", direct, partial(_increment, problem)),
    )


def direct(a: Sequence[Fraction], z: Numbers) -> Rounded:
    """Σ a_j z_j from left to right."""
    return total([rounded(x) * y for x, y in zip(a, z, strict=True)])


def last_first(a: Sequence[Fraction], z: Numbers) -> Rounded:
    """Σ a_j z_j from right to left."""
    return direct(a[::-1], z[::-1])


def from_total(a: Sequence[Fraction], z: Numbers) -> Rounded:
    """k·(sum of z) − Σ (k − a_j) z_j with k the largest coefficient: "all the others" as the total less one's own."""
    if sum(x != 0 for x in a) < 2:
        return direct(a, z)
    k = max(a, key=abs)
    value = rounded(k) * total(z)
    for x, y in zip(a, z, strict=True):
        if x != k:
            value -= rounded(k - x) * y
    return value


def _affine(problem: MapProblem, product: Product, t: int, index: int, z: Numbers) -> list[Rounded]:
    branch = problem.map[t % len(problem.map)][index]
    return [product(row, z) + rounded(c) for row, c in zip(branch.M, branch.c, strict=True)]


def _increment(problem: MapProblem, t: int, index: int, z: Numbers) -> list[Rounded]:
    branch = problem.map[t % len(problem.map)][index]
    rows = subtracted(branch.M, identity(len(z)))
    return [x + (direct(row, z) + rounded(c)) for x, row, c in zip(z, rows, branch.c, strict=True)]


def _heavy_ball(data: HeavyBall, gradient_first: bool, t: int, index: int, z: Numbers) -> list[Rounded]:  # noqa: ARG001, FBT001  # a step's signature, filled by partial
    x, before = z
    pull = rounded(data.alpha) * (rounded(data.slopes[index]) * x + rounded(data.offsets()[index]))
    push = rounded(data.beta) * (x - before)
    return [(x - pull) + push if gradient_first else (x + push) - pull, x]


def _descent_ascent(data: DescentAscent, t: int, index: int, z: Numbers) -> list[Rounded]:  # noqa: ARG001  # a step's signature
    m, eta = len(data.A), rounded(data.eta)
    x, y = z[:m], z[m:]
    new = [a - eta * direct(row, y) for a, row in zip(x, data.A, strict=True)]
    seen = new if data.order == "alternating" else x
    return [*new, *(b + eta * direct(column, seen) for b, column in zip(y, transposed(data.A), strict=True))]


def _three_blocks(data: ThreeBlock, t: int, index: int, z: Numbers) -> list[Rounded]:  # noqa: ARG001  # a step's signature
    beta, columns = rounded(data.beta), transposed(data.A)
    x = [Rounded(0.0), z[0], z[1]]
    scaled = [entry / beta for entry in z[2:]]
    for i, column in enumerate(columns):
        others = [s - _row_without(data.A, r, x, i) for r, s in enumerate(scaled)]
        x[i] = direct(column, others) / direct(column, [rounded(c) for c in column])
    residual = [direct(row, x) for row in data.A]
    return [x[1], x[2], *(entry - beta * r for entry, r in zip(z[2:], residual, strict=True))]


def _row_without(A: Matrix, r: int, x: Numbers, i: int) -> Rounded:
    return total([rounded(A[r][j]) * x[j] for j in range(3) if j != i])
