"""Where the branches that an orbit takes repeat with a period, and the cycle that it then approaches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from verifier.exact.linear import apply, identity, minus, null_space, plus, product, solve, subtracted, transposed
from verifier.exact.piecewise.clock import Clock
from verifier.exact.piecewise.maps import Branch
from verifier.exact.piecewise.roots import characteristic, inside
from verifier.exact.piecewise.spectral import minimal_polynomial
from verifier.exact.piecewise.stays import MOST_PHASES, bits
from verifier.exact.piecewise.trace import Trace
from verifier.exact.reading import Matrix, Vector

SEEN = 3
"""How often a word of branches must have come in a row, the first time included."""
MOST_CENTRE_BITS = 3_000


@dataclass(frozen=True, slots=True)
class Regime:
    """From step `start` to the end of what was stepped the branches have period `p`.

    `branches` and `names` belong to the times start, start + 1, …, start + p − 1; `centres` are the states of the cycle
    that z_{start + k + jp} approaches as j grows if the branches go on like this; None where it approaches none.
    """

    start: int
    last: int
    p: int
    names: tuple[int, ...]
    branches: tuple[Branch, ...]
    centres: tuple[Vector, ...] | None


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


def regimes(trace: Trace, clock: Clock) -> Iterator[Regime]:
    """The regimes at the end of a trace, shortest period first; none whose period is a multiple of a settled one."""
    settled: list[int] = []
    last = min(trace.certified, len(trace.taken))
    for p, start in periods(trace.taken[:last], len(trace.map), last):
        clock.tick(trace.last, f"looking at period {p}")
        if any(p % known == 0 for known in settled):
            continue
        branches = tuple(trace.branch(start + k) for k in range(p))
        names = tuple(trace.taken[start : start + p])
        centres = limit_cycle(branches, trace.state(start), trace.state(start + p), clock)
        if centres is not None:
            settled.append(p)
        yield Regime(start, last, p, names, branches, centres)


def composed(branches: tuple[Branch, ...]) -> Matrix:
    """The matrix of all branches, one after the other."""
    M = identity(len(branches[0].c))
    for branch in branches:
        M = product(branch.M, M)
    return M


def limit_cycle(branches: tuple[Branch, ...], z: Vector, back: Vector, clock: Clock) -> tuple[Vector, ...] | None:
    """The states e_0 … e_{p−1} to which z and its images tend, `back` being the state after one round.

    With A the matrix of a round and d = back − z: the differences are A^j d, and tend to 0 iff the roots of d's minimal
    polynomial under A are inside the unit circle. Then e_0 = z + y with (I − A)y = d, y in the span of d, Ad, A²d, …
    """
    d = minus(back, z)
    A = composed(branches)
    if bits(x for row in A for x in row) > MOST_CENTRE_BITS:
        return None
    polynomial = characteristic(A)
    rest = subtracted(identity(len(z)), A)
    if inside(polynomial):
        first = solve(rest, tuple(a - b for a, b in zip(back, apply(A, z), strict=True)))
    else:
        clock.tick(0, "looking for the modes that the start excites")
        if any(d) and not inside(minimal_polynomial(A, d)):
            return None
        first = _along(rest, A, d, z)
    if first is None or bits(iter(first)) > MOST_CENTRE_BITS:
        return None
    centres = [first]
    for branch in branches[:-1]:
        centres.append(branch(centres[-1]))
    assert branches[-1](centres[-1]) == first
    return tuple(centres)


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
