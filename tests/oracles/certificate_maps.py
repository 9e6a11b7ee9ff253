"""Piecewise affine problems read from docs/certificates.md, section 5: the map, the methods behind it, its orbit.

A method's map is found by running the method itself on a basis, not by its matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

from tests.oracles.certificate_form import DERIVING, fractions
from tests.oracles.certificate_formulas import semidefinite
from tests.oracles.certificate_hardmax import need
from tests.oracles.hardmax import Matrix, Vector, determinant, dot, times

Step = Callable[[Vector], Vector]
Guard = tuple[Vector, Fraction, str]


class Branch:
    """Guards (a, b, relation), M and c."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.guards: list[Guard] = [(fractions(g["a"]), Fraction(g["b"]), g["relation"]) for g in document["guards"]]
        self.M: Matrix = fractions(document["M"])
        self.c: Vector = fractions(document["c"])

    def admits(self, z: Vector) -> bool:
        return all(holds(dot(a, z) + b, relation) for a, b, relation in self.guards)

    def step(self, z: Vector) -> Vector:
        return [a + b for a, b in zip(times(self.M, z), self.c, strict=True)]


def holds(value: Fraction, relation: str) -> bool:
    return value > 0 or (value == 0 and relation == ">=")


class Map:
    """The map of a problem, its start, and the orbit as far as asked."""

    def __init__(self, problem: dict[str, Any]) -> None:
        self.problem = problem
        self.phases = [[Branch(branch) for branch in phase] for phase in problem["parameters"]["map"]]
        self.z0: Vector = fractions(problem["state"]["z"])
        self.dimension = len(self.z0)

    def orbit(self, steps: int) -> tuple[list[Vector], list[int]]:
        """z_0, …, z_steps and the branch taken at each step."""
        z, taken = [self.z0], []
        for t in range(steps):
            phase = self.phases[t % len(self.phases)]
            admissible = [k for k, branch in enumerate(phase) if branch.admits(z[-1])]
            need(len(admissible) == 1, f"map: {len(admissible)} branches at step {t}")
            taken.append(admissible[0])
            z.append(phase[admissible[0]].step(z[-1]))
        return z, taken

    def single_valued(self) -> bool:
        return all(
            any(contradict(g, h) for g, h in product(one.guards, two.guards))
            for phase in self.phases
            for one, two in combinations(phase, 2)
        )


def contradict(first: Guard, second: Guard) -> bool:
    """aᵀz + b and a'ᵀz + b' cannot both hold, a' = −κa."""
    (a, b, r), (A, B, R) = first, second
    pivot = next((j for j, x in enumerate(a) if x), None)
    if pivot is None:
        return False
    k = -A[pivot] / a[pivot]
    if k <= 0 or [-k * x for x in a] != A:
        return False
    return B + k * b < 0 or (B + k * b == 0 and (r, R) != (">=", ">="))


def affine(step: Step, size: int) -> tuple[Matrix, Vector]:
    """M and c of an affine function, from its values at 0 and the unit vectors."""
    c = step([Fraction(0)] * size)
    columns = [step([Fraction(i == j) for i in range(size)]) for j in range(size)]
    return [[columns[j][i] - c[i] for j in range(size)] for i in range(size)], c


def transposed(A: Matrix) -> Matrix:
    return [list(row) for row in zip(*A, strict=True)]


def combine(x: Vector, factor: Fraction, y: Vector) -> Vector:
    return [a + factor * b for a, b in zip(x, y, strict=True)]


def equal_map(given: Map, derived: list[list[tuple[list[Guard], Step]]], size: int) -> bool:
    if given.dimension != size or [len(p) for p in given.phases] != [len(p) for p in derived]:
        return False
    for phase, expected in zip(given.phases, derived, strict=True):
        for branch, (guards, step) in zip(phase, expected, strict=True):
            if branch.guards != guards or (branch.M, branch.c) != affine(step, size):
                return False
    return True


def slope_at(h: dict[str, Any], x: Fraction) -> Fraction:
    """f'(x) of the heavy ball's function: from f'(b_1), adding slope times length piece by piece."""
    breaks, slopes = fractions(h["breaks"]), fractions(h["slopes"])
    value, at = Fraction(h["value"]), breaks[0]
    if x < at:
        return value + slopes[0] * (x - at)
    for right, slope in zip([*breaks[1:], x], slopes[1:], strict=True):
        if x < right:
            break
        value, at = value + slope * (right - at), right
    else:
        return value
    return value + slope * (x - at)


def heavy_ball(h: dict[str, Any], given: Map) -> None:
    breaks, slopes = fractions(h["breaks"]), fractions(h["slopes"])
    alpha, beta, mu, L = (Fraction(h[name]) for name in ("alpha", "beta", "mu", "L"))
    need(all(a < b for a, b in pairwise(breaks)), "hypothesis: breaks")
    need(0 < mu <= L and all(mu <= g <= L for g in slopes), "hypothesis: slopes")
    need(alpha > 0 and 0 <= beta < 1, "hypothesis: alpha, beta")
    if h["tuning"] != "none":
        small, large = root(mu), root(L)
        need(alpha * (large + small) ** 2 == 4, "hypothesis: tuning")
        need(beta * (large + small) ** 2 == (large - small) ** 2, "hypothesis: tuning")
    phase: list[tuple[list[Guard], Step]] = []
    one, zero = Fraction(1), Fraction(0)
    for i, g in enumerate(slopes):
        corner = breaks[max(i - 1, 0)]
        guards: list[Guard] = [([one, zero], -breaks[i - 1], ">=")] if i else []
        if i < len(breaks):
            guards.append(([-one, zero], breaks[i], ">"))

        def step(z: Vector, g: Fraction = g, corner: Fraction = corner) -> Vector:
            gradient = slope_at(h, corner) + g * (z[0] - corner)
            return [z[0] - alpha * gradient + beta * (z[0] - z[1]), z[0]]

        phase.append((guards, step))
    need(equal_map(given, [phase], 2), "hypothesis: map")


def root(x: Fraction) -> Fraction:
    """√x where it is rational, by search over integers."""
    found = [isqrt_search(x.numerator), isqrt_search(x.denominator)]
    need(None not in found, "hypothesis: tuning")
    return Fraction(found[0] or 0, found[1] or 1)


def isqrt_search(n: int) -> int | None:
    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle * middle <= n else (low, middle)
    return low if low * low == n else None


def gradient(A: Matrix, x: Vector) -> Vector:
    """∇f of coordinate minimisation's function."""
    clipped = [max(abs(y) - 1, Fraction(0)) * (1 if y > 0 else -1) for y in x]
    return [a + 2 * b for a, b in zip(times(A, x), clipped, strict=True)]


def coordinate(h: dict[str, Any], given: Map) -> None:
    A: Matrix = fractions(h["A"])
    n = len(A)
    need(transposed(A) == A and not any(A[i][i] for i in range(n)), "hypothesis: A")
    phases: list[list[tuple[list[Guard], Step]]] = []
    for p in range(n):
        row = [-x for x in A[p]]
        branches: list[tuple[list[Guard], Step]] = []
        for sign in (1, -1):

            def step(z: Vector, p: int = p, row: Vector = row, sign: int = sign) -> Vector:
                return [*z[:p], sign + dot(row, z) / 2, *z[p + 1 :]]

            branches.append(([([sign * x for x in row], Fraction(0), ">")], step))
        phases.append(branches)
    need(equal_map(given, phases, n), "hypothesis: map")


def descent_ascent(h: dict[str, Any], given: Map) -> None:
    A: Matrix = fractions(h["A"])
    eta, m, n = Fraction(h["eta"]), len(A), len(A[0])
    need(eta > 0, "hypothesis: eta")

    def step(z: Vector) -> Vector:
        x, y = z[:m], z[m:]
        new = combine(x, -eta, times(A, y))
        return [*new, *combine(y, eta, times(transposed(A), new if h["order"] == "alternating" else x))]

    need(equal_map(given, [[([], step)]], m + n), "hypothesis: map")


def admm(h: dict[str, Any], given: Map) -> None:
    A: Matrix = fractions(h["A"])
    beta, columns = Fraction(h["beta"]), transposed(A)
    need(beta > 0, "hypothesis: beta")
    need(determinant([[dot(a, b) for a in columns] for b in columns]) != 0, "hypothesis: columns")

    def step(z: Vector) -> Vector:
        x = [Fraction(0), z[0], z[1]]
        multiplier = z[2:]
        for k, a in enumerate(columns):
            rest = [v / beta for v in multiplier]
            for j in range(3):
                if j != k:
                    rest = combine(rest, -x[j], columns[j])
            x[k] = dot(a, rest) / dot(a, a)
        return [*x[1:], *combine(multiplier, -beta, times(A, x))]

    need(equal_map(given, [[([], step)]], 2 + len(A)), "hypothesis: map")


METHODS = dict(zip(DERIVING, (heavy_ball, coordinate, descent_ascent, admm), strict=True))
COMPARED: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    "=": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
}


def solution(h: dict[str, Any], q: Vector) -> bool:
    """Does q solve what the method solves?"""
    A: Matrix = fractions(h.get("A", [["0"]]))
    if h["kind"] == "heavy-ball":
        return q[0] == q[1] and slope_at(h, q[0]) == 0
    if h["kind"] == "coordinate-minimisation":
        return not any(gradient(A, q))
    if h["kind"] == "gradient-descent-ascent":
        return not any([*times(A, q[len(A) :]), *times(transposed(A), q[: len(A)])])
    return not any([*q[:2], *times(transposed(A), q[2:])])


def hypotheses(given: Map) -> dict[str, Any] | None:
    """All hypotheses of a map problem; returns the deriving one."""
    deriving = None
    need(given.single_valued(), "map: two branches may hold at once")
    for h in given.problem["parameters"]["hypotheses"]:
        if h["kind"] in METHODS:
            deriving = h
            METHODS[h["kind"]](h, given)
        elif h["kind"] == "psd":
            matrix: Matrix = fractions(h["matrix"])
            need(semidefinite(matrix), "hypothesis: psd")
            need(not h["strict"] or determinant(matrix) != 0, "hypothesis: psd, strict")
        else:
            need(COMPARED[h["relation"]](Fraction(h["left"]), Fraction(h["right"])), "hypothesis: inequality")
    claim = given.problem["claim"]
    if claim["name"] == "converges-to" and deriving:
        need(solution(deriving, fractions(claim["point"])), "hypothesis: not a solution")
    if claim["name"] == "limit-points-stationary":
        need(deriving and deriving["kind"] == "coordinate-minimisation", "claim")
    return deriving


def stays_below(document: dict[str, Any]) -> None:
    """`violation` of `stays-below`."""
    claim = document["problem"]["claim"]
    need(claim["name"] == "stays-below", "claim")
    given = Map(document["problem"])
    hypotheses(given)
    h, g, t = fractions(claim["h"]), Fraction(claim["g"]), document["t"]
    orbit, _ = given.orbit(t)
    values = [dot(h, z) for z in orbit]
    need(all(value <= g for value in values[:-1]), "an earlier violation")
    need(values[-1] > g, "no violation")
    need(Fraction(document["lhs"]) == values[-1] and Fraction(document["rhs"]) == g, "sides")
