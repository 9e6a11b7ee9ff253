"""One call of a stranger's evaluator: on copies, with every way to fail caught and named."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from verifier.audits.fingerprint.corpus import Corpus, Floats, Mask

Evaluator = Callable[[Floats, Mask, int], float]
Returns = Literal["perplexity", "loss"]

TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True)
class Call:
    """What the evaluator is called on; `name` is the relation's, with what tells its calls apart."""

    name: str
    corpus: Corpus
    batch_size: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What came back: the value, or None with the reason why there is none."""

    value: float | None
    why: str = ""

    def log(self, returns: Returns) -> float | None:
        """The ln perplexity, with the value read as `returns`; None where there is none."""
        if self.value is None:
            return None
        if returns == "loss":
            return self.value
        return math.log(self.value) if self.value > 0 else None


def agree(left: float | None, right: float | None, *, tolerance: float = TOLERANCE) -> bool:
    """Whether two values of ln perplexity are equal, to `tolerance` times max(1, |right|); None equals only None."""
    if left is None or right is None:
        return left is right
    return abs(left - right) <= tolerance * max(1.0, abs(right))


def read(evaluator: Evaluator, call: Call) -> Reading:
    """Call the evaluator on copies of the arrays, warnings off: what it returns, or why that is no finite number."""
    losses, mask = call.corpus.losses.copy(), call.corpus.mask.copy()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value: Any = evaluator(losses, mask, call.batch_size)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a stranger's code may raise anything: an observation
        return Reading(None, f"it raised {type(error).__name__}")
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        return Reading(None, f"it returned {type(value).__name__}, not a float")
    try:
        found = float(value)
    except (OverflowError, ValueError):
        return Reading(None, "it returned a number beyond floating point")
    if not math.isfinite(found):
        return Reading(None, "it returned NaN" if math.isnan(found) else "it returned an infinite number")
    return Reading(found)
