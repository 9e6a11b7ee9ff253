"""Ellipsoids around an attracting cycle: a norm that no branch of it stretches, radii that the guards allow."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verifier.exact.definite import is_positive, is_semidefinite
from verifier.exact.linear import dot, identity, minus, product, quadratic, solve, subtracted, transposed
from verifier.exact.piecewise.clock import Clock
from verifier.exact.piecewise.regimes import Regime, fixed_projection
from verifier.exact.piecewise.stays import Stay, bits, dual_square
from verifier.exact.piecewise.trace import Trace
from verifier.exact.reading import Matrix, Vector

MOST_HALVINGS = 24
MOST_UNITS = 1_000_000
"""Work units that the conditions of a set may take in the checker, a quarter of what the format allows."""
MOST_TURNS = 12


def find_ellipsoids(trace: Trace, regime: Regime, clock: Clock) -> Iterator[Stay]:
    """`Stay`s around the regime's cycle with smaller and smaller R, each entered by the orbit, largest first."""
    centres = regime.centres
    if centres is None or _cost(regime, centres) > MOST_UNITS:
        return
    P = common_norm([b.M for b in regime.branches], regime.p)
    clock.tick(trace.last, "looking for ellipsoids")
    largest = None if P is None else _room(P, regime, centres)
    if P is None or largest is None:
        return
    before: tuple[int, Fraction] | None = None
    for halving in range(MOST_HALVINGS):
        clock.tick(trace.last, "looking for ellipsoids")
        R = _rounded_down(largest / 2**halving)
        start = _entered(trace, regime, P, R)
        if start is None:
            return
        if before != (start, R):
            before = start, R
            k = (start - regime.start) % regime.p
            names = regime.names[k:] + regime.names[:k]
            yield Stay(start, names, "ellipsoid", centres[k:] + centres[:k], P=P, R=R)


def _cost(regime: Regime, centres: tuple[Vector, ...]) -> int:
    size = len(centres[0])
    b = max(bits(x for centre in centres for x in centre), bits(x for br in regime.branches for r in br.M for x in r))
    guards = sum(len(branch.guards) for branch in regime.branches)
    distinct = len(set(regime.branches))
    return distinct * 4 * size**3 * (1 + size * b // 500) + (guards + regime.p) * size**2 * (1 + b // 100)


def _room(P: Matrix, regime: Regime, centres: tuple[Vector, ...]) -> Fraction | None:
    """Nine tenths of the largest R with which the guards hold on every ellipsoid; None where a centre breaks one."""
    room = []
    for branch, centre in zip(regime.branches, centres, strict=True):
        for guard in branch.guards:
            alpha = dot(guard.a, centre) + guard.b
            width = dual_square(P, guard.a)
            if alpha < 0 or (alpha == 0 and (guard.strict or width)):
                return None
            if width:
                room.append(alpha * alpha / width)
    return min(room, default=Fraction(10**6)) * Fraction(9, 10)


def _entered(trace: Trace, regime: Regime, P: Matrix, R: Fraction) -> int | None:
    """The first step of the regime at which the orbit is in its ellipsoid: the distances do not increase."""
    assert regime.centres is not None
    centres = regime.centres

    def far(t: int) -> bool:
        return quadratic(P, minus(trace.state(t), centres[(t - regime.start) % regime.p])) > R

    low, high = regime.start, regime.last
    if far(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if far(middle) else (low, middle)
    return low


def common_norm(matrices: list[Matrix], p: int) -> Matrix | None:
    """A P ≻ 0 with P − MᵀPM ⪰ 0 for every M, with small entries where rounding allows; None where none was found.

    Tried: the solution for each M alone, for the mean of all, and, for one M whose p-th power has the eigenvalue 1, a
    norm that leaves those directions as they are.
    """
    distinct = list(dict.fromkeys(matrices))
    for group in ([M] for M in distinct) if len(distinct) > 1 else []:
        P = lyapunov(group)
        if P is not None and _contracts(P, distinct):
            return _small(P, distinct)
    P = lyapunov(distinct)
    if P is not None and _contracts(P, distinct):
        return _small(P, distinct)
    if len(distinct) == 1 and p <= MOST_TURNS:
        P = _neutral(distinct[0], p)
        if P is not None and _contracts(P, distinct):
            return P
    unit = identity(len(distinct[0]))
    return unit if _contracts(unit, distinct) else None


def _small(P: Matrix, matrices: list[Matrix]) -> Matrix:
    largest = max(abs(x) for row in P for x in row)
    for scale in (10, 100, 1_000, 10_000):
        rounded = tuple(tuple(Fraction(round(x / largest * scale)) for x in row) for row in P)
        if _contracts(rounded, matrices):
            return rounded
    return P


def _contracts(P: Matrix, matrices: list[Matrix]) -> bool:
    return is_positive(P) and all(
        is_semidefinite(subtracted(P, product(transposed(M), product(P, M)))) for M in matrices
    )


def lyapunov(matrices: list[Matrix]) -> Matrix | None:
    """P = I + mean of M_kᵀPM_k (Stein's equation), solved exactly; None where it has no unique solution."""
    size = len(matrices[0])
    pairs = [(i, j) for i in range(size) for j in range(i, size)]
    if len(pairs) > 60:
        return _summed(matrices)
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


def _summed(matrices: list[Matrix]) -> Matrix:
    """The first terms of the solution's series, rounded: a proposal, to be tested like every other."""
    size, total = len(matrices[0]), identity(len(matrices[0]))
    for _ in range(60):
        image = [[Fraction(0)] * size for _ in range(size)]
        for M in matrices:
            part = product(transposed(M), product(total, M))
            image = [
                [a + b / len(matrices) for a, b in zip(x, y, strict=True)] for x, y in zip(image, part, strict=True)
            ]
        total = tuple(
            tuple(Fraction(round((x + (i == j)) * 10**6), 10**6) for j, x in enumerate(row))
            for i, row in enumerate(image)
        )
    return tuple(tuple((total[i][j] + total[j][i]) / 2 for j in range(size)) for i in range(size))


def _neutral(M: Matrix, p: int) -> Matrix | None:
    """With B = M^p and Π the projection on its eigenvectors to 1: Σ M^iᵀ(LᵀL + (I − Π)ᵀS(I − Π))M^i, S of B − Π."""
    B = M
    for _ in range(p - 1):
        B = product(M, B)
    found = fixed_projection(B)
    if found is None:
        return None
    rows, projection = found
    S = lyapunov([subtracted(B, projection)])
    if S is None:
        return None
    away = subtracted(identity(len(M)), projection)
    fixed = product(transposed(rows), rows)
    moving = product(transposed(away), product(S, away))
    term = tuple(tuple(x + y for x, y in zip(a, b, strict=True)) for a, b in zip(fixed, moving, strict=True))
    total = term
    for _ in range(p - 1):
        term = product(transposed(M), product(term, M))
        total = tuple(tuple(x + y for x, y in zip(a, b, strict=True)) for a, b in zip(total, term, strict=True))
    return total


def _rounded_down(x: Fraction) -> Fraction:
    """A rational with few digits, in (x/2, x]; 0 for 0."""
    if x >= 1 or not x:
        return Fraction(x.numerator // x.denominator)
    return Fraction(1, -(-x.denominator // x.numerator))
