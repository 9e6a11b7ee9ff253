"""Exact orbits: integers over one common denominator, reduced by their content at every step.

Reduction keeps the denominator of a frozen orbit at O(log t) bits; unreduced it grows like (t+1)!.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from verifier.exact.definite import IntMatrix
from verifier.exact.hardmax.problem import HardmaxProblem, Ties

Targets = tuple[int, ...]


@dataclass(slots=True)
class State:
    """Tokens x_i = points[i]/bottom at time t, with images B x_i and scores ⟨B x_i, x_k⟩ for the B of `matrix_of`.

    `images` are integers over `B.bottom`·bottom, `scores` over `B.bottom`·bottom².
    """

    t: int
    points: IntMatrix
    bottom: int
    images: IntMatrix
    scores: IntMatrix


class Orbit:
    """The step map of one problem on reduced integers; states are not changed, each step makes a new one."""

    def __init__(self, problem: HardmaxProblem) -> None:
        self.t0 = problem.t0
        self.step_name = problem.step
        self.gamma = problem.gamma
        self.B_bottom = lcm(*(x.denominator for matrix in problem.B for row in matrix for x in row))
        self.matrices = [
            [[x.numerator * (self.B_bottom // x.denominator) for x in row] for row in matrix] for matrix in problem.B
        ]
        bottom = lcm(*(x.denominator for token in problem.tokens for x in token))
        points = [[x.numerator * (bottom // x.denominator) for x in token] for token in problem.tokens]
        self.start = self._state(self.t0, *_reduced(points, bottom), self.matrices[0])

    @property
    def constant_from(self) -> int:
        """The first time from which B no longer changes."""
        return self.t0 + len(self.matrices) - 1

    def matrix(self, t: int) -> IntMatrix:
        """B^t as integers over `B_bottom`."""
        return self.matrices[min(t - self.t0, len(self.matrices) - 1)]

    def _state(self, t: int, points: IntMatrix, bottom: int, B: IntMatrix) -> State:
        if len(B) == 1:
            b = B[0][0]
            images = [[b * x[0]] for x in points]
            return State(t, points, bottom, images, [[y[0] * x[0] for x in points] for y in images])
        images = [[sum(map(int.__mul__, row, x)) for row in B] for x in points]
        scores: IntMatrix = [[0] * len(points) for _ in points]
        for i, y in enumerate(images):
            for k in range(i + 1):
                scores[i][k] = scores[k][i] = sum(map(int.__mul__, y, points[k]))
        return State(t, points, bottom, images, scores)

    def gamma_at(self, t: int) -> tuple[int, int]:
        """γ^t as numerator and denominator."""
        match self.step_name:
            case "2/(t+2)":
                return 2, t + 2
            case "2/(t+1)":
                return 2, t + 1
            case "1/(t+2)":
                return 1, t + 2
            case _:
                assert self.gamma is not None
                return self.gamma.numerator, self.gamma.denominator

    def advance(self, state: State, targets: Targets) -> tuple[State, list[int], int]:
        """The state at t+1, and 2·J^t(x_i^{t+1}) as integers over one denominator.

        The energies use B^t; the scores of the new state use B^{t+1}.
        """
        a, b = self.gamma_at(state.t)
        keep = b - a
        points = [
            [keep * x + a * y for x, y in zip(point, state.points[k], strict=True)]
            for point, k in zip(state.points, targets, strict=True)
        ]
        points, bottom = _reduced(points, b * state.bottom)
        B = self.matrix(state.t)
        new = self._state(state.t + 1, points, bottom, B)
        energies = [row[i] for i, row in enumerate(new.scores)]
        over = self.B_bottom * bottom * bottom
        following = self.matrix(state.t + 1)
        if following is not B:
            new = self._state(state.t + 1, points, bottom, following)
        return new, energies, over


def _reduced(points: IntMatrix, bottom: int) -> tuple[IntMatrix, int]:
    content = gcd(bottom, *(x for point in points for x in point))
    if content == 1:
        return points, bottom
    return [[x // content for x in point] for point in points], bottom // content


def classes_of(state: State) -> list[int]:
    """The class of each token: the lowest index with the same image under B."""
    names: dict[tuple[int, ...], int] = {}
    return [names.setdefault(tuple(image), k) for k, image in enumerate(state.images)]


def minimisers(state: State, names: list[int]) -> list[list[int]]:
    """The classes that each token may select, ascending: where its score is smallest."""
    found = []
    for row in state.scores:
        least = min(row)
        found.append(sorted({name for name, score in zip(names, row, strict=True) if score == least}))
    return found


def chosen(choices: list[list[int]], ties: Ties) -> Targets:
    """The selection of an index rule; under any-selection the lowest."""
    last = -1 if ties == "highest-index" else 0
    return tuple(choice[last] for choice in choices)


def exact_points(state: State) -> list[tuple[Fraction, ...]]:
    """The tokens of a state as rationals."""
    return [tuple(Fraction(x, state.bottom) for x in point) for point in state.points]
