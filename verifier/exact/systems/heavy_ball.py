"""Heavy ball (Polyak 1964) on a piecewise linear gradient: x' = x − αf'(x) + β(x − x_before).

The gradient of a μ-strongly convex, L-smooth f in one variable; example and tuning from Lessard, Recht, Packard 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isqrt

from verifier.exact.answer import Hypothesis
from verifier.exact.piecewise.maps import Branch, Guard, Map
from verifier.exact.reading import Reader, Vector
from verifier.exact.systems.base import System, comparison

ONE, ZERO = Fraction(1), Fraction(0)


@dataclass(frozen=True, slots=True)
class HeavyBall:
    """f'(x) = slopes[i]·x + offset_i between the breaks; `value` is f' at the first break."""

    breaks: Vector
    slopes: Vector
    value: Fraction
    alpha: Fraction
    beta: Fraction
    mu: Fraction
    L: Fraction
    tuning: str

    def offsets(self) -> list[Fraction]:
        """o_i, from continuity."""
        offsets = [self.value - self.slopes[0] * self.breaks[0]]
        for i, at in enumerate(self.breaks):
            offsets.append(offsets[-1] + (self.slopes[i] - self.slopes[i + 1]) * at)
        return offsets

    def slope(self, x: Fraction) -> Fraction:
        """f'(x)."""
        i = sum(at <= x for at in self.breaks)
        return self.slopes[i] * x + self.offsets()[i]


def read(reader: Reader) -> HeavyBall:
    """The parameters. Raises BadInput."""
    fields = reader.fields(("breaks", "slopes", "value", "alpha", "beta", "mu", "L", "tuning"))
    breaks = fields["breaks"].vector(most=15)
    if any(a >= b for a, b in pairwise(breaks)):
        raise fields["breaks"].error("the breaks do not increase", mend="list them in increasing order")
    slopes = fields["slopes"].vector(len(breaks) + 1)
    names = ("value", "alpha", "beta", "mu", "L")
    value, alpha, beta, mu, L = (fields[name].rational() for name in names)
    return HeavyBall(
        breaks, slopes, value, alpha, beta, mu, L, fields["tuning"].word(("none", "optimal-for-quadratics"))
    )


def derive(data: HeavyBall) -> Map:
    """State (x_t, x_{t−1}), one phase, a branch for each piece."""
    branches = []
    pieces = len(data.slopes)
    for i, (slope, offset) in enumerate(zip(data.slopes, data.offsets(), strict=True)):
        guards = []
        if i > 0:
            guards.append(Guard((ONE, ZERO), -data.breaks[i - 1], strict=False))
        if i < pieces - 1:
            guards.append(Guard((-ONE, ZERO), data.breaks[i], strict=True))
        M = ((1 - data.alpha * slope + data.beta, -data.beta), (ONE, ZERO))
        branches.append(Branch(tuple(guards), M, (-data.alpha * offset, ZERO)))
    return (tuple(branches),)


def hypotheses(data: HeavyBall) -> tuple[Hypothesis, ...]:
    """Strong convexity, smoothness, step, momentum and tuning."""
    found = [
        comparison("mu is positive", 0, "<", data.mu),
        comparison("f is mu-strongly convex: no slope is below mu", data.mu, "<=", min(data.slopes)),
        comparison("f is L-smooth: no slope is above L", max(data.slopes), "<=", data.L),
        comparison("alpha is positive", 0, "<", data.alpha),
        comparison("beta is not negative", 0, "<=", data.beta),
        comparison("beta is below 1", data.beta, "<", 1),
    ]
    if data.tuning == "optimal-for-quadratics":
        small, large = square_root(data.mu), square_root(data.L)
        if small is None or large is None:
            witness = {"mu": str(data.mu), "L": str(data.L)}
            sentence = "mu and L are not both squares of rationals"
            found.append(
                Hypothesis("the tuning is optimal for quadratics", holds=False, witness=witness, sentence=sentence)
            )
        else:
            total = (large + small) ** 2
            found.append(comparison("alpha (sqrt L + sqrt mu)^2 is 4", data.alpha * total, "=", 4))
            beta = data.beta * total
            found.append(comparison("beta is optimal for quadratics", beta, "=", (large - small) ** 2))
    return tuple(found)


def square_root(x: Fraction) -> Fraction | None:
    """The rational square root, or None."""
    if x < 0:
        return None
    root = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    return root if root * root == x else None


def solves(data: HeavyBall, z: Vector) -> bool:
    """Whether z = (x, x) with f'(x) = 0."""
    return z[0] == z[1] and data.slope(z[0]) == 0


SYSTEM = System("heavy-ball", read, derive, hypotheses, solves=solves, kind="heavy-ball")
