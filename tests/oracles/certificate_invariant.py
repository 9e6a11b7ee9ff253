"""Is the whole statement of an `invariant` or `spectral` certificate true? (docs/certificates.md, sections 6 and 7)

The conditions are decided by other means than elimination and interval arithmetic: principal minors, Cramer's rule,
corners of a box, powers of a companion matrix. Then the orbit itself is stepped over many cycles and must stay in the
sets listed; an orbit that leaves them though every condition holds is an AssertionError: the page would be wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from itertools import product
from math import comb
from typing import Any

from flint import fmpz_poly

from tests.oracles.certificate_form import NotACertificate, fractions
from tests.oracles.certificate_formulas import semidefinite
from tests.oracles.certificate_hardmax import need
from tests.oracles.certificate_maps import Branch, Map, combine, gradient, holds, hypotheses, transposed
from tests.oracles.hardmax import Matrix, Vector, determinant, dot, times

LARGEST = 4 * 13_300  # bits, well beyond the page's bound on a computed number
STEPS = 60  # stepped beyond the entry, at least three cycles

Member = Callable[[int, Vector], bool]


def matmul(A: Matrix, B: Matrix) -> Matrix:
    columns = transposed(B)
    return [[dot(row, column) for column in columns] for row in A]


def minus(A: Matrix, B: Matrix) -> Matrix:
    return [combine(x, Fraction(-1), y) for x, y in zip(A, B, strict=True)]


def inverse_form(P: Matrix, a: Vector) -> Fraction:
    """aᵀP⁻¹a by Cramer's rule."""
    whole, total = determinant(P), Fraction(0)
    for i, x in enumerate(a):
        total += (
            x * determinant([[a[r] if c == i else y for c, y in enumerate(row)] for r, row in enumerate(P)]) / whole
        )
    return total


def quadratic(Q: Matrix, x: Vector) -> Fraction:
    return dot(times(Q, x), x)


def check(document: dict[str, Any]) -> None:
    """Raises FalseStatement unless everything an `invariant` certificate says is true."""
    given = Map(document["problem"])
    deriving = hypotheses(given)
    shape, claim = document["shape"], document["problem"]["claim"]
    allowed = {
        "converges-to": {"points", "ellipsoid", "box", "ray", "level"},
        "limit-points-stationary": {"points", "ray"},
    }
    allowed["converges"] = allowed["converges-to"] - {"level"}
    need(shape["type"] in allowed.get(claim["name"], set()), "claim")
    if shape["type"] == "level":
        level(document, given)
        return
    s, p = document["start"], len(document["cycle"])
    orbit, taken = given.orbit(s)
    branches = [given.phases[(s + k) % len(given.phases)][b] for k, b in enumerate(document["cycle"])]
    member = SHAPES[shape["type"]](shape, branches, orbit[s])
    need(member(0, orbit[s]), "entry")
    excluded(document, deriving, shape, branches)
    orbit, taken = given.orbit(s + max(STEPS, 3 * p))
    for t in range(s, len(orbit) - 1):
        k = (t - s) % p
        assert taken[t] == document["cycle"][k], "the orbit takes another branch"
        assert member(k, orbit[t]), "the orbit leaves the set"


def points(shape: dict[str, Any], branches: list[Branch], _: Vector) -> Member:
    z = fractions(shape["points"])
    for k, branch in enumerate(branches):
        need(branch.admits(z[k]), "guard")
        need(branch.step(z[k]) == z[(k + 1) % len(z)], "image")
    return lambda k, x: x == z[k]


def ellipsoid(shape: dict[str, Any], branches: list[Branch], _: Vector) -> Member:
    P, R, e = fractions(shape["P"]), Fraction(shape["R"]), fractions(shape["centres"])
    need(semidefinite(P) and determinant(P) > 0 and R >= 0, "P or R")
    for k, branch in enumerate(branches):
        need(branch.step(e[k]) == e[(k + 1) % len(e)], "image of a centre")
        need(semidefinite(minus(P, matmul(transposed(branch.M), matmul(P, branch.M)))), "contraction")
        for a, b, relation in branch.guards:
            middle = dot(a, e[k]) + b
            need(holds(middle, relation) and holds(middle**2 - R * inverse_form(P, a), relation), "guard")
    return lambda k, x: quadratic(P, combine(x, Fraction(-1), e[k])) <= R


def corners(low: Vector, high: Vector) -> list[Vector]:
    return [list(corner) for corner in product(*({a, b} for a, b in zip(low, high, strict=True)))]


def box(shape: dict[str, Any], branches: list[Branch], _: Vector) -> Member:
    low, high = fractions(shape["low"]), fractions(shape["high"])
    for k, branch in enumerate(branches):
        need(all(a <= b for a, b in zip(low[k], high[k], strict=True)), "box")
        j = (k + 1) % len(low)
        for corner in corners(low[k], high[k]):
            need(branch.admits(corner), "guard")
            image = branch.step(corner)
            need(all(a <= x <= b for a, x, b in zip(low[j], image, high[j], strict=True)), "image")
    return lambda k, x: all(a <= y <= b for a, y, b in zip(low[k], x, high[k], strict=True))


def ray_points(shape: dict[str, Any], branches: list[Branch]) -> tuple[list[Vector], list[Vector]]:
    """e_0, …, e_p and u_0, …, u_p; u_k is the difference of the images of c + u and c."""
    e, tip = [fractions(shape["c"])], [combine(fractions(shape["c"]), Fraction(1), fractions(shape["u"]))]
    for branch in branches:
        e.append(branch.step(e[-1]))
        tip.append(branch.step(tip[-1]))
    return e, [combine(b, Fraction(-1), a) for a, b in zip(e, tip, strict=True)]


def ray(shape: dict[str, Any], branches: list[Branch], entry: Vector) -> Member:
    factor, epsilon = Fraction(shape["lambda"]), Fraction(shape["epsilon"])
    e, u = ray_points(shape, branches)
    need(any(u[0]) and 0 < epsilon <= 1 and 0 < factor <= 1, "ray")
    need(e[-1] == e[0] and u[-1] == [factor * x for x in u[0]], "image")
    need(entry == combine(e[0], epsilon, u[0]), "entry")
    for k, branch in enumerate(branches):
        for a, b, relation in branch.guards:
            at, slope = dot(a, e[k]) + b, dot(a, u[k])
            need(at >= 0 and holds(at + slope, relation), "guard")

    def member(k: int, x: Vector) -> bool:
        offset = combine(x, Fraction(-1), e[k])
        pivot = next((j for j, y in enumerate(u[k]) if y), None)
        ratio = epsilon if pivot is None else offset[pivot] / u[k][pivot]
        return offset == [ratio * y for y in u[k]] and 0 < ratio <= 1

    return member


SHAPES: dict[str, Callable[[dict[str, Any], list[Branch], Vector], Member]] = {
    "points": points,
    "ellipsoid": ellipsoid,
    "box": box,
    "ray": ray,
}


def least(shape: dict[str, Any], k: int, h: Vector, g: Fraction) -> bool:
    """hᵀz ≥ g everywhere on S_k (ellipsoid or box)."""
    if shape["type"] == "box":
        low, high = fractions(shape["low"])[k], fractions(shape["high"])[k]
        return min(dot(h, corner) for corner in corners(low, high)) >= g
    middle = dot(h, fractions(shape["centres"])[k]) - g
    return middle >= 0 and middle**2 >= Fraction(shape["R"]) * inverse_form(fractions(shape["P"]), h)


def excluded(
    document: dict[str, Any], deriving: dict[str, Any] | None, shape: dict[str, Any], branches: list[Branch]
) -> None:
    claim, says = document["problem"]["claim"], document["excluded"]
    k = says["phase"]
    if "h" in says:
        h, g = fractions(says["h"]), Fraction(says["g"])
        need(least(shape, k, h, g), "excluded: half-space")
        if claim["name"] == "converges-to":
            need(dot(h, fractions(claim["point"])) < g, "excluded: point")
        else:
            other = Fraction(says["other_g"])
            need(other < g and least(shape, says["other_phase"], [-x for x in h], -other), "excluded: other half-space")
        return
    limits = fractions(shape["points"]) if shape["type"] == "points" else ray_points(shape, branches)[0]
    need(shape["type"] == "points" or Fraction(shape["lambda"]) < 1, "excluded: lambda")
    if claim["name"] == "converges-to":
        need(limits[k] != fractions(claim["point"]), "excluded: point")
    elif claim["name"] == "converges":
        need(limits[k] != limits[says["other_phase"]], "excluded: two points")
    else:
        assert deriving
        need(any(gradient(fractions(deriving["A"]), limits[k])), "excluded: gradient")


def level(document: dict[str, Any], given: Map) -> None:
    Q, w = fractions(document["shape"]["Q"]), fractions(document["shape"]["centre"])
    need(transposed(Q) == Q, "Q")
    for phase in given.phases:
        need(len(phase) == 1 and not phase[0].guards, "branches")
        need(phase[0].step(w) == w, "centre")
        need(matmul(transposed(phase[0].M), matmul(Q, phase[0].M)) == Q, "Q is not kept")
    orbit, _ = given.orbit(document["start"] + STEPS)
    values = [quadratic(Q, combine(z, Fraction(-1), w)) for z in orbit[document["start"] :]]
    assert len(set(values)) == 1, "the level changes"
    q = fractions(document["problem"]["claim"]["point"])
    need(quadratic(Q, combine(q, Fraction(-1), w)) != values[0], "excluded")


def characteristic(A: Matrix) -> Vector:
    """Coefficients of det(zI − A), constant first (Faddeev and LeVerrier)."""
    n = len(A)
    identity = [[Fraction(i == j) for j in range(n)] for i in range(n)]
    found, N = [Fraction(1)], identity
    for k in range(1, n + 1):
        product_ = matmul(A, N)
        c = -sum((product_[i][i] for i in range(n)), Fraction(0)) / k
        found.append(c)
        N = [combine(row, c, unit) for row, unit in zip(product_, identity, strict=True)]
    return found[::-1]


def spectral(document: dict[str, Any]) -> None:
    """Raises FalseStatement unless everything a `spectral` certificate says is true."""
    given = Map(document["problem"])
    claim, of, relation = document["problem"]["claim"], document["of"], document["relation"]
    need(len(given.phases) == 1 and len(given.phases[0]) == 1 and not given.phases[0][0].guards, "map")
    hypotheses(given)
    branch = given.phases[0][0]
    need(of == "difference" or not any(branch.c), "claim: c")
    if claim["name"] == "bounded":
        need(relation == ">", "claim: relation")
    elif claim["name"] == "converges":
        need(of == "difference", "claim: difference")
    else:
        need(claim["name"] == "converges-to", "claim")
        need(of == "difference" or not any(fractions(claim["point"])), "claim: point")
    m = [Fraction(c) for c in document["polynomial"]]
    n = len(m) - 1
    y = [given.z0 if of == "start" else combine(branch.step(given.z0), Fraction(-1), given.z0)]
    for _ in range(n):
        y.append(times(branch.M, y[-1]))
    total = reduce(lambda x, pair: combine(x, *pair), zip(m, y, strict=True), [Fraction(0)] * given.dimension)
    need(not any(total), "polynomial: does not vanish")
    need(determinant([[dot(a, b) for a in y[:n]] for b in y[:n]]) != 0, "polynomial: dependent")
    companion = [[Fraction(i == j + 1) for j in range(n - 1)] + [-m[i] / m[n]] for i in range(n)]
    for _ in range(document["squarings"]):
        companion = matmul(companion, companion)
        bits = max(max(x.numerator.bit_length(), x.denominator.bit_length()) for row in companion for x in row)
        if bits > LARGEST:
            raise NotACertificate("too large")
    symmetric = abs(characteristic(companion)[n - document["j"]])
    bound = comb(n, document["j"])
    need(symmetric > bound or (relation == ">=" and symmetric == bound), "roots")
    moduli = [root.abs_upper() for root, _ in fmpz_poly([int(c) for c in m]).complex_roots()]
    largest = max(moduli)
    assert largest > 1 or (relation == ">=" and largest >= 1), "no root is that large"
