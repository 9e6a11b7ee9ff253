"""How finely an evaluator's values are rounded, judged by the grid on which all of them lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from verifier.audits.fingerprint.calls import Call, Reading, Returns
from verifier.audits.fingerprint.faults import token_mean
from verifier.audits.fingerprint.relations import LARGEST_LOG

FEWEST_VALUES = 8
"""Different values below which a common grid says nothing."""
LARGEST_RATIO = 2.0**50
DECIMALS = (2, 3, 4, 5)
LARGEST_HALF = math.log(65_504)
"""ln of the largest number of half precision."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """A grid of values. `words`: what it is. `step`: the distance to the next value on the grid.

    `on_logs`: whether it is the mean loss that was rounded, and then exponentiated.
    """

    words: str
    step: Callable[[float], float]
    on_logs: bool = False

    def holds(self, value: float) -> bool:
        """Whether the value lies on the grid, up to the rounding of doubles."""
        value = math.log(value) if self.on_logs and value > 0 else value
        ratio = value / self.step(value)
        if not abs(ratio) < LARGEST_RATIO:
            return True  # doubles of that size are no finer than the grid
        return abs(ratio - round(ratio)) <= 1e-6 + abs(ratio) / LARGEST_RATIO

    def rounding(self, reading: Reading, returns: Returns) -> float:
        """How far the ln perplexity of a value may be off: one step, as truncation moves it."""
        if reading.value is None:
            return 0.0
        if self.on_logs or returns == "loss":
            return self.step(math.log(reading.value) if self.on_logs else reading.value)
        step = self.step(reading.value)
        return -math.log1p(-step / reading.value) if reading.value > step else 0.0


def _decimal(decimals: int, *, on_logs: bool) -> Resolution:
    what = "mean losses" if on_logs else "values"
    return Resolution(f"{what} rounded to {decimals} decimals", lambda _: 10.0**-decimals, on_logs)


def _binary(words: str, bits: int) -> Resolution:
    return Resolution(words, lambda value: math.ldexp(1.0, math.frexp(value)[1] - bits) if value else 1.0)


HALF = _binary("values in half precision", 11)
GRIDS = (
    _binary("values in bfloat16", 8),
    HALF,
    *(_decimal(decimals, on_logs=on_logs) for decimals in DECIMALS for on_logs in (False, True)),
)
"""Binary ones first: short binary fractions are decimals of a few places too."""


def resolution(calls: Sequence[Call], readings: Mapping[str, Reading], returns: Returns) -> Resolution | None:
    """The grid on which all values lie; None where they lie on none, or where exact values would lie on it too."""
    values = [reading.value for reading in readings.values() if reading.value is not None]
    if len(set(values)) < FEWEST_VALUES:
        return None
    means = [token_mean(call) for call in calls]
    exact = [mean if returns == "loss" else math.exp(min(mean, LARGEST_LOG)) for mean in means]
    for grid in GRIDS:
        if grid.on_logs and (returns == "loss" or min(values) <= 0):
            continue
        if all(map(grid.holds, values)):
            return None if all(map(grid.holds, exact)) else grid
    return None


def roundings(
    grid: Resolution | None, calls: Mapping[str, Call], readings: Mapping[str, Reading], returns: Returns
) -> dict[str, float]:
    """Call name -> how far its ln perplexity may be rounded; infinite where half precision holds no such number."""
    if grid is None:
        return {}
    found = {name: grid.rounding(reading, returns) for name, reading in readings.items()}
    if grid is HALF and returns == "perplexity":
        beyond = (name for name, call in calls.items() if token_mean(call) > LARGEST_HALF)
        found |= {
            name: math.inf for name in beyond if readings[name].value is None and "infinite" in readings[name].why
        }
    return found
