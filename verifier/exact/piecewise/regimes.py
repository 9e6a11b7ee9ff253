"""Where the branches that an orbit takes repeat with a period, and the cycle that it then approaches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from flint import fmpq, fmpq_mat

from verifier.exact.clock import Clock
from verifier.exact.linear import apply, identity, minus, null_space, plus, product, solve, subtracted, transposed
from verifier.exact.piecewise.maps import Branch
from verifier.exact.piecewise.roots import characteristic, inside
from verifier.exact.piecewise.spectral import minimal_polynomial
from verifier.exact.piecewise.stays import MOST_PHASES, bits
from verifier.exact.piecewise.trace import Trace
from verifier.exact.reading import Matrix, Vector

SEEN = 3
"""How often a word of branches must have come in a row, the first time included."""
MOST_TURNS = 12
"""Rounds of a word after which a mode of modulus 1 may have come back: the orders of the roots of unity looked for."""
MOST_CENTRE_BITS = 3_000


@dataclass(frozen=True, slots=True)
class Regime:
    """From step `start` to the end of what was stepped the branches have period `p`.

    `branches` and `names` belong to the times start, start + 1, …, start + p − 1; `centres` are the states of the cycle
    that z_{start + k + jp} approaches as j grows if the branches go on like this, or, where not `tends`, of the one
    cycle that there is; None where there is none.
    """

    start: int
    last: int
    p: int
    names: tuple[int, ...]
    branches: tuple[Branch, ...]
    centres: tuple[Vector, ...] | None
    tends: bool


def periods(taken: list[int], q: int, last: int) -> list[tuple[int, int]]:
    """(p, start) for each p, a multiple of q and at most 64, with which the branches of start … last − 1 repeat."""
    found = []
    for p in range(q, min(MOST_PHASES, last // SEEN) + 1, q):
        i = last - 1
        while i >= p and taken[i] == taken[i - p]:
            i -= 1
        start = i + 1 - p if i >= p else 0
        if last - start >= SEEN * p:
            found.append((p, start))
    return found


Known = dict[tuple[int, int], "Regime"]


def regimes(trace: Trace, known: Known, clock: Clock) -> Iterator[Regime]:
    """The regimes at the end of a trace, shortest period first; none whose period is a multiple of a settled one.

    `known` keeps, by start and period, what an earlier and shorter look at the same trace has found.
    """
    settled: list[int] = []
    turning: list[int] = []  # a multiple has the same only cycle
    last = min(trace.certified, len(trace.taken))
    for p, start in periods(trace.taken[:last], len(trace.map), last):
        clock.tick(trace.last, f"looking at period {p}")
        if any(p % shorter == 0 for shorter in settled) or any(
            p % shorter == 0 and p > MOST_TURNS * shorter for shorter in turning
        ):
            continue
        regime = known.get((start, p)) or _regime(trace, start, p, clock)
        regime = known[start, p] = replace(regime, last=last)
        if regime.tends:
            settled.append(p)
        elif any(p % shorter == 0 for shorter in turning):
            continue
        else:
            turning.append(p)
        yield regime


def _regime(trace: Trace, start: int, p: int, clock: Clock) -> Regime:
    branches = tuple(trace.branch(start + k) for k in range(p))
    centres, tends = limit_cycle(branches, trace.state(start), trace.state(start + p), clock)
    return Regime(start, start, p, tuple(trace.taken[start : start + p]), branches, centres, tends)


def composed(branches: tuple[Branch, ...]) -> Matrix:
    """The matrix of all branches, one after the other."""
    size = len(branches[0].c)
    whole = None
    for branch in branches:
        M = fmpq_mat(size, size, [fmpq(x.numerator, x.denominator) for row in branch.M for x in row])
        whole = M if whole is None else M * whole
    assert whole is not None
    return tuple(tuple(Fraction(int(x.p), int(x.q)) for x in row) for row in whole.tolist())


def limit_cycle(
    branches: tuple[Branch, ...], z: Vector, back: Vector, clock: Clock
) -> tuple[tuple[Vector, ...] | None, bool]:
    """The states e_0 … e_{p−1} to which z and its images tend, `back` being the state after one round, and whether.

    With A the matrix of a round and d = back − z: the differences are A^j d, and tend to 0 iff the roots of d's minimal
    polynomial under A are inside the unit circle. Then e_0 = z + y with (I − A)y = d, y in the span of d, Ad, A²d, …
    Where they do not, the states are those of the only cycle, or None where it is not the only one.
    """
    d = minus(back, z)
    A = composed(branches)
    if bits(x for row in A for x in row) > MOST_CENTRE_BITS:
        return None, False
    polynomial = characteristic(A)
    rest = subtracted(identity(len(z)), A)
    tends, only = inside(polynomial), sum(polynomial) != 0  # 1 is no eigenvalue
    if not tends:
        clock.tick(0, "looking for the modes that the start excites")
        tends = not any(d) or inside(minimal_polynomial(A, d))
    if only:
        first = solve(rest, tuple(a - b for a, b in zip(back, apply(A, z), strict=True)))
    else:
        first = _along(rest, A, d, z) if tends else None
    if first is None or bits(iter(first)) > MOST_CENTRE_BITS:
        return None, False
    centres = [first]
    for branch in branches[:-1]:
        centres.append(branch(centres[-1]))
    assert branches[-1](centres[-1]) == first
    return tuple(centres), tends


def _along(rest: Matrix, A: Matrix, d: Vector, z: Vector) -> Vector | None:
    if not any(d):
        return z
    krylov = [d]
    while len(krylov) < len(minimal_polynomial(A, d)) - 1:
        krylov.append(apply(A, krylov[-1]))
    columns = transposed(tuple(apply(rest, k) for k in krylov))
    found = solve(columns, d)
    if found is None:
        return None
    return plus(z, apply(transposed(tuple(krylov)), found))


def fixed_projection(A: Matrix) -> tuple[Matrix, Matrix] | None:
    """For a matrix whose eigenvalue 1 is semisimple: rows ℓ with ℓA = ℓ, and the projection on its eigenvectors.

    None where 1 is not an eigenvalue or not semisimple.
    """
    size = len(A)
    rest = subtracted(A, identity(size))
    right, left = null_space(rest), null_space(transposed(rest))
    if not right:
        return None
    gram = tuple(tuple(sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0)) for b in right) for a in left)
    columns = [solve(gram, tuple(row[j] for row in left)) for j in range(size)]
    if any(c is None for c in columns) or null_space(gram):
        return None
    weights = transposed(tuple(c for c in columns if c is not None))
    return tuple(left), product(transposed(tuple(right)), weights)
