"""The smallest input on which two callables differ by more than is material.

The threshold stands inside the predicate: shrinking ends at the least input that still satisfies it, which without a
threshold would be the least material one.
"""

from __future__ import annotations

import contextlib
import math
import random
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verifier.audits.space import LABELS, MASKED_LOSSES, PROBABILITIES, SEQUENCES, Raw, Space, json_values
from verifier.model.complaints import shown
from verifier.model.errors import BadInput

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

SPACES = {
    "probabilities": PROBABILITIES,
    "masked losses": MASKED_LOSSES,
    "sequences": SEQUENCES,
    "labels": LABELS,
}
"""What can be searched by name."""

SECONDS = 1.5
EXAMPLES = 400
DRAWS = 400
RECHECK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """An input and what each of two callables makes of it.

    `raw`: the input in exact numbers, an entry for each argument; `space`: its kind. `left`, `right`: the two values.
    `materiality`: by how much they must differ, of |right| where `relative`, else absolute.
    """

    space: Space
    raw: Raw
    left: float
    right: float
    materiality: float
    relative: bool

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The input as the callables take it, made afresh."""
        return self.space.arguments(self.raw)

    @property
    def document(self) -> Mapping[str, Any]:
        """The witness as JSON values: the input by argument, exact numbers as text, and both values."""
        given = {name: json_values(entry) for name, entry in zip(self.space.names, self.raw, strict=True)}
        return {"input": given, "left": self.left, "right": self.right}

    def recheck(self, f: Callable[..., Any], g: Callable[..., Any]) -> bool:
        """Whether `f` and `g`, called again, give these two values, materially apart on an input that is admitted."""
        left, right = value_of(f, self.arguments), value_of(g, self.arguments)
        return (
            self.space.admits(self.raw)
            and differs(left, right, materiality=self.materiality, relative=self.relative)
            and left is not None
            and right is not None
            and math.isclose(left, self.left, rel_tol=RECHECK, abs_tol=RECHECK)
            and math.isclose(right, self.right, rel_tol=RECHECK, abs_tol=RECHECK)
        )


class _Found(Exception):
    """Tells hypothesis that an input is a witness; it looks for a simpler one that raises this too."""


class _OutOfTime(BaseException):
    """Ends a search at once: hypothesis lets pass what is no Exception."""


def witness(
    f: Callable[..., Any],
    g: Callable[..., Any],
    *,
    materiality: float,
    relative: bool = False,
    space: str | Space = "probabilities",
    seconds: float = SECONDS,
) -> Witness | None:
    """The smallest input on which |f − g| > materiality (times |g| where `relative`), or None where none was found.

    `space`: `probabilities` (two vectors p, q), `masked losses` (losses, mask), `sequences` (a list of loss arrays),
    `labels` (y_true, y_pred), or a Space. `f` and `g` take its arguments and return a number; an input on which one
    of them raises, or returns no finite number, is passed over. The draws are the same at every call; after `seconds`
    of this thread's own time the search ends with the smallest found. A witness is rechecked before it is given.

    Raises BadInput for an unknown space, a materiality that is negative or not finite, or no positive time.
    """
    chosen = _space(space)
    if not (math.isfinite(materiality) and materiality >= 0):
        raise BadInput(
            f"a materiality of {materiality} is no threshold", where="witness", mend="give a number from 0 up"
        )
    if not seconds > 0:
        raise BadInput(f"{seconds} seconds leave no time to search", where="witness", mend="give a positive time")

    def judged(raw: Raw) -> Witness | None:
        left, right = value_of(f, chosen.arguments(raw)), value_of(g, chosen.arguments(raw))
        if left is None or right is None or not differs(left, right, materiality=materiality, relative=relative):
            return None
        return Witness(space=chosen, raw=raw, left=left, right=right, materiality=materiality, relative=relative)

    import hypothesis.strategies  # noqa: F401, PLC0415  # strategies() needs it: loading it is no part of the search

    ends = time.thread_time() + seconds
    for drawn, strategy in chosen.strategies():
        if not _occurs(drawn, judged, admits=chosen.admits, ends=ends):
            continue
        found = _smallest(strategy, judged, ends=ends)
        if found is not None:
            return found if found.recheck(f, g) else None
    return None


def _occurs(
    drawn: Callable[[random.Random], Raw],
    judged: Callable[[Raw], Witness | None],
    *,
    admits: Callable[[Raw], bool],
    ends: float,
) -> bool:
    """Whether some of many random inputs of a shape is a witness: quick to ask."""
    rng = random.Random(0)  # noqa: S311  # reproducible, not secret
    for _ in range(DRAWS):
        if time.thread_time() > ends:
            return False
        raw = drawn(rng)
        if admits(raw) and judged(raw) is not None:
            return True
    return False


def _smallest(strategy: SearchStrategy[Raw], judged: Callable[[Raw], Witness | None], *, ends: float) -> Witness | None:
    """The simplest witness that hypothesis finds among these inputs, or the last found before the time is up."""
    import hypothesis  # noqa: PLC0415  # half a second, which only a search needs to wait for
    import hypothesis.errors  # noqa: PLC0415  # likewise

    known: dict[Raw, Witness | None] = {}
    best: list[Witness] = []

    @hypothesis.settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        derandomize=True,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
        verbosity=hypothesis.Verbosity.quiet,
    )
    @hypothesis.given(strategy)
    def attempt(raw: Raw) -> None:
        if time.thread_time() > ends:
            raise _OutOfTime
        if raw not in known:
            known[raw] = judged(raw)
        found = known[raw]
        if found is not None:
            best[:] = [found]
            raise _Found

    with contextlib.suppress(_Found, _OutOfTime, hypothesis.errors.Flaky, hypothesis.errors.Unsatisfiable):
        attempt()
    return best[0] if best else None


def differs(left: float | None, right: float | None, *, materiality: float, relative: bool) -> bool:
    """Whether both are numbers and |left − right| > materiality, times |right| where `relative`."""
    if left is None or right is None:
        return False
    return abs(left - right) > materiality * (abs(right) if relative else 1.0)


def value_of(function: Callable[..., Any], arguments: tuple[Any, ...]) -> float | None:
    """What `function` returns as a finite float; None where it raises or returns no finite number."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = float(function(*arguments))
    except Exception:  # noqa: BLE001  # somebody's function may raise anything; such an input is no witness
        return None
    return value if math.isfinite(value) else None


def _space(space: str | Space) -> Space:
    if isinstance(space, Space):
        return space
    if space not in SPACES:
        raise BadInput(f"{shown(space)} is no kind of input", where="witness", mend=f"use one of {', '.join(SPACES)}")
    return SPACES[space]
