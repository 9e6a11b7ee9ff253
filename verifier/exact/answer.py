"""What `refute` returns: an answer with everything it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from verifier.model.answers import ExactAnswer


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A hypothesis of the claim: whether it holds here, and the witness, in JSON values with exact numbers as text."""

    name: str
    holds: bool
    witness: dict[str, Any]
    sentence: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Where an inequality fails: step, component, and both sides exactly."""

    t: int
    component: int
    lhs: Fraction
    rhs: Fraction


@dataclass(frozen=True, slots=True)
class Ties:
    """The first tie (step, token, classes by their lowest index) and the answer under each resolution followed.

    `answers` maps a resolution to its answer and first violation; None where no tie occurred.
    """

    t: int
    token: int
    classes: tuple[int, ...]
    answers: dict[str, tuple[ExactAnswer, int | None]]


@dataclass(frozen=True, slots=True)
class Horizon:
    """How far stepping went without an answer: the last step checked, the smallest margin and where, and a forecast.

    `margin` is 1 − left/right at its smallest (a double). `predicted_crossing` is the step at which the bound would
    fall below the last energy if that stayed as it is; None where the energy is 0.
    """

    t: int
    margin: float
    margin_at: int
    predicted_crossing: int | None
    stopped_by: str


@dataclass(frozen=True, slots=True)
class Refutation:
    """An exact answer. `certificate` is the document to write, or None with the reason in `no_certificate`."""

    answer: ExactAnswer
    sentence: str
    hypotheses: tuple[Hypothesis, ...]
    first_violation: Failure | None = None
    fails_from: int | None = None
    fails_from_by_component: tuple[int | None, ...] | None = None
    ties: Ties | None = None
    certificate: dict[str, Any] | None = None
    no_certificate: str = ""
    horizon: Horizon | None = None
    notes: tuple[str, ...] = field(default=())
