"""What `refute` returns: an answer with everything it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

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
    """Where an inequality fails: step, component, and both sides; the left one None where too long to write.

    `rhs_is` is "bound" where the claim's own right side is irrational and `rhs` a rational number above it.
    """

    t: int
    component: int
    lhs: Fraction | None
    rhs: Fraction
    rhs_is: Literal["exact", "bound"] = "exact"


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
    """How far stepping went without an answer: the last step checked, the smallest margin and where, and forecasts.

    `margin` is 1 − left/right at its smallest (a double); for maps what `piecewise.horizon` says, None for bounded.
    Neither forecast is a proof. `predicted_crossing` is the
    first step at which the bound falls below the last energy if that stays as it is; None where the energy is 0.
    `trend_crossing` is the same if the energy keeps falling like the power of t that joins its value at the last
    power of two up to half way with its last value; None where that power is as steep as the bound's own, or unknown.
    `would_catch` names known counterexamples (name, step needed, whether this run reached it). `partly`: ties leave
    several selections, some are decided, and the numbers here are those of the open ones.
    """

    t: int
    margin: float | None
    margin_at: int | None
    predicted_crossing: int | None
    stopped_by: str
    trend_crossing: int | None = None
    would_catch: tuple[tuple[str, int, bool], ...] = ()
    partly: bool = False


@dataclass(frozen=True, slots=True)
class Power:
    """How often a sampler catches a statement known to fail: `caught` of `of` starts break it.

    `by` is "sampler" where the starts were drawn for this count, "search" where the search itself was about that
    statement.
    """

    known: str
    caught: int
    of: int
    by: str


@dataclass(frozen=True, slots=True)
class SearchReport:
    """A search over starts: how many were decided, with which answers, and what silence is worth.

    `starts` of the `planned` ones were decided, then `drawn` further ones that hypothesis drew, each with at most
    `steps` steps where nothing freezes. `exit_steps` counts the steps at which the origin leaves the hull.
    `smallest_margin` is over all starts that hold, `smallest_margin_start` its state. `found_by` is the sampler, or
    hypothesis, or empty, and `found_start` the state found, made smaller; `stopped_by` is "found",
    "starts" or "time limit".
    """

    sampler: str
    seed: int
    starts: int
    planned: int
    drawn: int
    steps: int
    by_answer: dict[str, int]
    drawn_by_answer: dict[str, int]
    exit_steps: dict[int, int]
    smallest_margin: float | None
    smallest_margin_start: dict[str, Any] | None
    power: tuple[Power, ...]
    found_by: str
    found_start: dict[str, Any] | None
    stopped_by: str


@dataclass(frozen=True, slots=True)
class Refutation:
    """An exact answer. `certificate` is the document to write, or None with the reason in `no_certificate`.

    `exit_step` is the first step at which the origin is outside the hull of the tokens, for claims that ask about it.
    `smallest_margin` is 1 − left/right at its smallest (a double) and its step, where no side failed; `search` says
    what a search over starts did.
    """

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
    exit_step: int | None = None
    smallest_margin: tuple[float, int] | None = None
    search: SearchReport | None = None
