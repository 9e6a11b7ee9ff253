"""A norm that no branch of a cycle stretches: P ≻ 0 with P − MᵀPM ⪰ 0 for every M. Proposals, each tested exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache

from verifier.exact.definite import is_positive, is_semidefinite
from verifier.exact.linear import identity, null_space, product, solve, subtracted, transposed
from verifier.exact.piecewise.regimes import MOST_TURNS, fixed_projection
from verifier.exact.reading import Matrix

MOST_UNKNOWNS = 60


@lru_cache(maxsize=64)
def common_norm(matrices: tuple[Matrix, ...], p: int) -> Matrix | None:
    """A P ≻ 0 with P − MᵀPM ⪰ 0 for every M, with small entries where rounding allows; None where none was found.

    Arguments: the matrices of the phases, m×m, and their number p.
    """
    distinct = list(dict.fromkeys(matrices))
    for P in _proposals(distinct, p):
        if _contracts(P, distinct):
            return _small(P, distinct)
    return None


def _proposals(distinct: list[Matrix], p: int) -> Iterator[Matrix]:
    """Stein's equation for each M alone, then for their mean; norms with special relations to every M; the unit."""
    for group in ([M] for M in distinct) if len(distinct) > 1 else []:
        P = lyapunov(group)
        if P is not None:
            yield P
    P = lyapunov(distinct)
    if P is not None:
        yield P
    if len(distinct) == 1 and p <= MOST_TURNS:  # a p-th power with the eigenvalue 1
        P = _neutral(distinct[0], p)
        if P is not None:
            yield P
    if len(_pairs(len(distinct[0]))) <= MOST_UNKNOWNS:
        # exact minimisation along coordinates is self-adjoint in the norm of the Hessian; rotations keep a norm
        yield from _related(distinct, lambda M, E: subtracted(product(E, M), product(transposed(M), E)))
        yield from _related(distinct, lambda M, E: subtracted(product(transposed(M), product(E, M)), E))
    yield identity(len(distinct[0]))


def _related(matrices: list[Matrix], relation: Callable[[Matrix, Matrix], Matrix]) -> Iterator[Matrix]:
    """Symmetric P with relation(M, P) = 0, linear in P, for every M: a basis, and the sum of the basis, both signs."""
    size = len(matrices[0])
    columns = [[x for M in matrices for row in relation(M, E) for x in row] for E in _basis(size)]
    found = [_from(solution, size) for solution in null_space(transposed(tuple(tuple(c) for c in columns)))]
    if len(found) > 1:
        found.append(
            tuple(tuple(sum(x, Fraction(0)) for x in zip(*rows, strict=True)) for rows in zip(*found, strict=True))
        )
    for P in found:
        yield P if P[0][0] > 0 else tuple(tuple(-x for x in row) for row in P)


def _pairs(size: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(size) for j in range(i, size)]


def _basis(size: int) -> list[Matrix]:
    """A basis of the symmetric matrices, in the order of `_pairs`."""
    return [
        tuple(tuple(Fraction(int((r, s) in ((i, j), (j, i)))) for s in range(size)) for r in range(size))
        for i, j in _pairs(size)
    ]


def _from(entries: tuple[Fraction, ...], size: int) -> Matrix:
    known = dict(zip(_pairs(size), entries, strict=True))
    return tuple(tuple(known[min(r, s), max(r, s)] for s in range(size)) for r in range(size))


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
    size, pairs = len(matrices[0]), _pairs(len(matrices[0]))
    if len(pairs) > MOST_UNKNOWNS:
        return _summed(matrices)
    columns = []
    for E in _basis(size):
        image = _mean_image(matrices, E)
        columns.append(tuple(E[r][s] - image[r][s] for r, s in pairs))
    found = solve(transposed(tuple(columns)), tuple(Fraction(int(r == s)) for r, s in pairs))
    return None if found is None else _from(found, size)


def _mean_image(matrices: list[Matrix], P: Matrix) -> Matrix:
    """The mean of M_kᵀPM_k."""
    parts = [product(transposed(M), product(P, M)) for M in matrices]
    return tuple(
        tuple(sum(entries, Fraction(0)) / len(parts) for entries in zip(*rows, strict=True))
        for rows in zip(*parts, strict=True)
    )


def _summed(matrices: list[Matrix]) -> Matrix:
    """The first terms of the solution's series, rounded: a proposal, to be tested like every other."""
    size, total = len(matrices[0]), identity(len(matrices[0]))
    for _ in range(60):
        image = _mean_image(matrices, total)
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
