"""The hardmax problem: its data, and its hypotheses with exact witnesses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import Any, Literal, cast

from verifier.exact.answer import Hypothesis
from verifier.exact.definite import is_symmetric, negative_direction
from verifier.exact.hull import origin_in_hull
from verifier.exact.reading import Matrix, Reader, Vector

Ties = Literal["any-selection", "lowest-index", "highest-index"]

STEPS = ("2/(t+2)", "2/(t+1)", "1/(t+2)")
INSIDE, WHILE_INSIDE = "energy-bound-inside", "energy-bound-while-inside"
CLAIMS = ("energy-bound", "energy-bound-any-step", INSIDE, WHILE_INSIDE)
TIES = ("any-selection", "lowest-index", "highest-index")
MOST_TOKENS = 64


@dataclass(frozen=True, slots=True)
class HardmaxProblem:
    """Tokens x_i^{t0}, matrices B^{t0}, B^{t0+1}, … (the last repeats), step, claim and tie policy.

    `gamma` is the constant step, None for the three named ones. `document` is the problem as it stands in its file.
    """

    B: tuple[Matrix, ...]
    step: str
    gamma: Fraction | None
    tokens: tuple[Vector, ...]
    claim: str
    ties: Ties
    document: dict[str, Any]

    @property
    def t0(self) -> int:
        """The time of the given tokens: 1 for the step 2/(t+1), else 0."""
        return 1 if self.step == "2/(t+1)" else 0

    @property
    def diameter_squared(self) -> Fraction:
        """D² = max ‖x_i − x_j‖² over the tokens at t0."""
        bottom = lcm(*(x.denominator for token in self.tokens for x in token))
        tokens = [[x.numerator * (bottom // x.denominator) for x in token] for token in self.tokens]
        gaps = [sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for x, y in combinations(tokens, 2)]
        return Fraction(max(gaps, default=0), bottom**2)


def read_hardmax(reader: Reader) -> HardmaxProblem:
    """The problem of a document whose `system` is hardmax-frank-wolfe. Raises BadInput."""
    fields = reader.fields(
        ("schema", "system", "parameters", "state", "claim", "ties"), ("paper", "locator", "quote", "symbols")
    )
    state = fields["state"].fields(("tokens",))["tokens"].items(1, MOST_TOKENS)
    first = state[0].vector()
    tokens = (first, *(token.vector(len(first)) for token in state[1:]))
    parameters = fields["parameters"].fields(("B", "step"))
    matrices = _matrices(parameters["B"], len(first))
    named = parameters["step"].value in STEPS
    return HardmaxProblem(
        B=matrices,
        step=parameters["step"].value,
        gamma=None if named else parameters["step"].rational(),
        tokens=tokens,
        claim=fields["claim"].word(CLAIMS),
        ties=cast("Ties", fields["ties"].word(TIES)),
        document=reader.value,
    )


def _matrices(reader: Reader, dimension: int) -> tuple[Matrix, ...]:
    entries = reader.items(1, MOST_TOKENS)
    is_list = isinstance(entries[0].value, list) and entries[0].value and isinstance(entries[0].value[0], list)
    matrices = entries if is_list else [reader]
    return tuple(matrix.matrix(dimension, dimension) for matrix in matrices)


def texts(vector: Vector) -> list[str]:
    """A vector as it stands in files."""
    return [str(x) for x in vector]


def hypotheses_of(problem: HardmaxProblem, *, tick: Callable[[], None] | None = None) -> tuple[Hypothesis, ...]:
    """H1 to H4 of `docs/certificates.md`, each decided exactly, with a witness either way.

    `tick` is called now and then; what it raises ends the work.
    """
    return (*_semidefinite(problem), *_decreasing(problem), _origin(problem, tick), _step(problem))


def _semidefinite(problem: HardmaxProblem) -> list[Hypothesis]:
    found = []
    for k, matrix in enumerate(problem.B):
        name = "B is positive semidefinite" if len(problem.B) == 1 else f"B[{k}] is positive semidefinite"
        if not is_symmetric(matrix):
            i, j = next((i, j) for i in range(len(matrix)) for j in range(i) if matrix[i][j] != matrix[j][i])
            witness: dict[str, Any] = {"entries": [i, j], "values": texts((matrix[i][j], matrix[j][i]))}
            found.append(Hypothesis(name, holds=False, witness=witness, sentence="the matrix is not symmetric"))
        else:
            found.append(_definite(name, matrix))
    return found


def _decreasing(problem: HardmaxProblem) -> list[Hypothesis]:
    pairs = list(zip(problem.B, problem.B[1:], strict=False))
    differences = [
        tuple(tuple(a - b for a, b in zip(r, s, strict=True)) for r, s in zip(x, y, strict=True)) for x, y in pairs
    ]
    return [
        _definite(f"B[{k}] - B[{k + 1}] is positive semidefinite", difference)
        for k, difference in enumerate(differences)
        if is_symmetric(difference)
    ]


def _definite(name: str, matrix: Matrix) -> Hypothesis:
    direction = negative_direction(matrix)
    if direction is None:
        return Hypothesis(name, holds=True, witness={}, sentence="every pivot of the exact elimination is ≥ 0")
    value = sum(
        (x * row[j] * y for x, row in zip(direction, matrix, strict=True) for j, y in enumerate(direction)), Fraction(0)
    )
    witness = {"x": texts(direction), "value": str(value)}
    return Hypothesis(name, holds=False, witness=witness, sentence=f"⟨Bx, x⟩ = {value} < 0 for the vector x given")


def _origin(problem: HardmaxProblem, tick: Callable[[], None] | None) -> Hypothesis:
    hull = origin_in_hull(problem.tokens, tick=tick)
    name = "the origin lies in the hull of the tokens"
    if hull.weights is not None:
        sentence = "the weights are ≥ 0, sum to 1 and give 0"
        return Hypothesis(name, holds=True, witness={"weights": texts(hull.weights)}, sentence=sentence)
    assert hull.separator is not None
    sentence = "the vector u has a positive product with every token"
    return Hypothesis(name, holds=False, witness={"u": texts(hull.separator)}, sentence=sentence)


def _step(problem: HardmaxProblem) -> Hypothesis:
    if problem.claim != "energy-bound-any-step":
        return Hypothesis(
            "the step is 2/(t+2)",
            holds=problem.step == "2/(t+2)",
            witness={"step": problem.step},
            sentence=f"the step is {problem.step}",
        )
    holds = problem.gamma is None or 0 < problem.gamma <= 1
    return Hypothesis(
        "the step lies in (0, 1]", holds=holds, witness={"step": problem.step}, sentence=f"the step is {problem.step}"
    )
