"""Where an orbit stays: each finder returns the fields `start`, `cycle`, `shape` of a certificate, or None."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verifier.exact.definite import is_positive, is_semidefinite
from verifier.exact.linear import (
    apply,
    dot,
    identity,
    minus,
    null_space,
    product,
    quadratic,
    solve,
    subtracted,
    transposed,
)
from verifier.exact.piecewise.maps import Branch, Map
from verifier.exact.reading import Matrix, Vector

MOST_PHASES = 64


@dataclass(frozen=True, slots=True)
class Trace:
    """An exact orbit: states z_0 … and the branch taken from each."""

    map: Map
    states: list[Vector]
    taken: list[int]

    def branch(self, t: int) -> Branch:
        """The branch taken at time t."""
        return self.map[t % len(self.map)][self.taken[t]]


@dataclass(frozen=True, slots=True)
class Stay:
    """From step `start` the orbit stays: `centres` are the points, ellipsoid centres or ray ends, phase by phase."""

    start: int
    cycle: tuple[int, ...]
    kind: str
    centres: tuple[Vector, ...]
    P: Matrix | None = None
    R: Fraction | None = None
    u: Vector | None = None
    epsilon: Fraction | None = None
    ratio: Fraction | None = None


def texts(x: Vector) -> list[str]:
    """A vector as it stands in files."""
    return [str(a) for a in x]


def shape_text(stay: Stay) -> dict[str, Any]:
    """`shape` of a certificate."""
    if stay.kind == "points":
        return {"type": "points", "points": [texts(z) for z in stay.centres]}
    if stay.kind == "ray":
        assert stay.u is not None
        return {
            "type": "ray",
            "c": texts(stay.centres[0]),
            "u": texts(stay.u),
            "lambda": str(stay.ratio),
            "epsilon": str(stay.epsilon),
        }
    assert stay.P is not None
    return {
        "type": "ellipsoid",
        "centres": [texts(z) for z in stay.centres],
        "P": [texts(row) for row in stay.P],
        "R": str(stay.R),
    }


def find_points(trace: Trace) -> Stay | None:
    """An exact cycle: a state that returns at the same phase of the map."""
    seen: dict[tuple[int, Vector], int] = {}
    q = len(trace.map)
    for t, z in enumerate(trace.states):
        before = seen.setdefault((t % q, z), t)
        if before < t <= before + MOST_PHASES and t <= len(trace.taken):
            return Stay(before, tuple(trace.taken[before:t]), "points", tuple(trace.states[before:t]))
    return None


def find_ray(trace: Trace) -> Stay | None:
    """{c + εu}: the orbit's returns lie on one line and approach c by an exact factor λ, 0 < λ < 1."""
    q, last = len(trace.map), len(trace.taken)
    for start in range(min(last, 2 * MOST_PHASES)):
        for p in range(q, min(MOST_PHASES, (last - start) // 2) + 1, q):
            z, back, again = (trace.states[start + k * p] for k in range(3))
            one, two = minus(back, z), minus(again, back)
            k = next((i for i, x in enumerate(one) if x), None)
            if (
                k is None
                or not 0 < two[k] / one[k] < 1
                or any(y != two[k] / one[k] * x for x, y in zip(one, two, strict=True))
            ):
                continue
            ratio = two[k] / one[k]
            c = tuple(x + d / (1 - ratio) for x, d in zip(z, one, strict=True))
            stay = _ray(trace, start, p, c, ratio)
            if stay is not None:
                return stay
    return None


def _ray(trace: Trace, start: int, p: int, c: Vector, ratio: Fraction) -> Stay | None:
    u = minus(trace.states[start], c)
    centres, centre, direction = [], c, u
    for k in range(p):
        branch = trace.branch(start + k)
        for guard in branch.guards:
            alpha, beta = dot(guard.a, centre) + guard.b, dot(guard.a, direction)
            if alpha < 0 or alpha + beta < 0 or (guard.strict and alpha + beta == 0):
                return None
        centres.append(centre)
        centre, direction = branch(centre), apply(branch.M, direction)
    if centre != c or direction != tuple(ratio * x for x in u):
        return None
    cycle = tuple(trace.taken[start : start + p])
    return Stay(start, cycle, "ray", tuple(centres), u=u, epsilon=Fraction(1), ratio=ratio)


def find_level(problem_map: Map, z: Vector, point: Vector) -> tuple[Matrix, Vector] | None:
    """Q and w with MᵀQM = Q and Mw + c = w for every phase, and a level that separates z from `point`."""
    if any(len(phase) != 1 or phase[0].guards for phase in problem_map):
        return None
    size = len(z)
    branches = [phase[0] for phase in problem_map]
    rows = [row for b in branches for row in subtracted(b.M, identity(size))]
    w = (
        point
        if all(b(point) == point for b in branches)
        else solve(tuple(rows), tuple(-x for b in branches for x in b.c))
    )
    if w is None:
        return None
    pairs = [(i, j) for i in range(size) for j in range(i, size)]
    columns = []
    for i, j in pairs:
        E = tuple(tuple(Fraction(int((r, s) in ((i, j), (j, i)))) for s in range(size)) for r in range(size))
        changes = [subtracted(product(transposed(b.M), product(E, b.M)), E) for b in branches]
        columns.append([change[r][s] for change in changes for r, s in pairs])
    for solution in null_space(transposed(tuple(tuple(column) for column in columns))):
        entries = dict(zip(pairs, solution, strict=True))
        Q = tuple(tuple(entries[min(r, s), max(r, s)] for s in range(size)) for r in range(size))
        if quadratic(Q, minus(point, w)) != quadratic(Q, minus(z, w)):
            return Q, w
    return None


def find_ellipsoids(trace: Trace) -> Iterator[Stay]:
    """An attracting cycle: centres from the composed map, one P for all phases, the largest R that the guards allow.

    Several `Stay`s of the same cycle with smaller and smaller R, each entered by the orbit, largest first.
    """
    q, last = len(trace.map), len(trace.taken)
    for p in range(q, min(MOST_PHASES, last // 3) + 1, q):
        begin = last - 2 * p
        if trace.taken[begin : begin + p] != trace.taken[begin + p :]:
            continue
        begin += -begin % q
        base = last - p
        branches = [trace.branch(base + (k - (base - begin)) % p) for k in range(p)]  # times t with t - begin = k mod p
        centres = cycle_centres(branches)
        P = common_lyapunov([b.M for b in branches]) if centres is not None else None
        if centres is None or P is None:
            continue
        yield from _nested(trace, branches, centres=centres, P=P, begin=begin)
        return


def cycle_centres(branches: list[Branch]) -> tuple[Vector, ...] | None:
    """The cycle e_0, e_1, … that the branches carry around, or None where it is not unique."""
    size = len(branches[0].c)
    M, c = identity(size), (Fraction(0),) * size
    for branch in branches:
        M, c = product(branch.M, M), branch(c)
    system = subtracted(identity(size), M)
    first = solve(system, c)
    if first is None or null_space(system):
        return None
    centres = [first]
    for branch in branches[:-1]:
        centres.append(branch(centres[-1]))
    return tuple(centres)


def lyapunov(matrices: list[Matrix]) -> Matrix | None:
    """P = I + mean of M_kᵀPM_k, solved exactly; None where it has no unique solution."""
    size = len(matrices[0])
    pairs = [(i, j) for i in range(size) for j in range(i, size)]
    columns = []
    for i, j in pairs:
        E = tuple(tuple(Fraction(int((r, s) in ((i, j), (j, i)))) for s in range(size)) for r in range(size))
        image = [[Fraction(0)] * size for _ in range(size)]
        for M in matrices:
            part = product(transposed(M), product(E, M))
            image = [
                [a + b / len(matrices) for a, b in zip(x, y, strict=True)] for x, y in zip(image, part, strict=True)
            ]
        columns.append([E[r][s] - image[r][s] for r, s in pairs])
    found = solve(transposed(tuple(tuple(c) for c in columns)), tuple(Fraction(int(r == s)) for r, s in pairs))
    if found is None:
        return None
    entries = dict(zip(pairs, found, strict=True))
    return tuple(tuple(entries[min(r, s), max(r, s)] for s in range(size)) for r in range(size))


def common_lyapunov(matrices: list[Matrix]) -> Matrix | None:
    """A P ≻ 0 with P − MᵀPM ⪰ 0 for every M, with small entries where rounding allows; None where none was found."""
    distinct = list(dict.fromkeys(matrices))
    for group in ([M] for M in distinct) if len(distinct) > 1 else []:
        P = lyapunov(group)
        if P is not None and _contracts(P, distinct):
            return P
    P = lyapunov(distinct)
    if P is None or not _contracts(P, distinct):
        return None
    largest = max(abs(x) for row in P for x in row)
    for scale in (10, 100, 1_000, 10_000):
        rounded = tuple(tuple(Fraction(round(x / largest * scale)) for x in row) for row in P)
        if _contracts(rounded, distinct):
            return rounded
    return P


def _contracts(P: Matrix, matrices: list[Matrix]) -> bool:
    return is_positive(P) and all(
        is_semidefinite(subtracted(P, product(transposed(M), product(P, M)))) for M in matrices
    )


def _nested(
    trace: Trace, branches: list[Branch], *, centres: tuple[Vector, ...], P: Matrix, begin: int
) -> Iterator[Stay]:
    room: list[Fraction] = []
    for branch, centre in zip(branches, centres, strict=True):
        for guard in branch.guards:
            alpha = dot(guard.a, centre) + guard.b
            width = dual_square(P, guard.a)
            if alpha <= 0:
                return
            if width:
                room.append(alpha * alpha / width)
    largest = min(room, default=Fraction(10**6)) * Fraction(9, 10)
    for halving in range(24):
        R = _rounded_down(largest / 2**halving)
        stay = _entered(trace, cycle=branches, centres=centres, P=P, R=R, begin=begin)
        if stay is not None:
            yield stay


def _entered(
    trace: Trace, *, cycle: list[Branch], centres: tuple[Vector, ...], P: Matrix, R: Fraction, begin: int
) -> Stay | None:
    """The first step at which the orbit is in the ellipsoid of the matching phase."""
    p, q = len(cycle), len(trace.map)
    for s, z in enumerate(trace.states):
        for k in range(p):
            if (s - begin - k) % q == 0 and quadratic(P, minus(z, centres[k])) <= R:
                turned = centres[k:] + centres[:k]
                names = tuple(trace.map[(s + i) % q].index(cycle[(k + i) % p]) for i in range(p))
                return Stay(s, names, "ellipsoid", turned, P=P, R=R)
    return None


def dual_square(P: Matrix, a: Vector) -> Fraction:
    """aᵀP⁻¹a."""
    y = solve(P, a)
    assert y is not None
    return dot(a, y)


def _rounded_down(x: Fraction) -> Fraction:
    """A rational with few digits, in (x/2, x]."""
    if x >= 1:
        return Fraction(x.numerator // x.denominator)
    return Fraction(1, -(-x.denominator // x.numerator))
