"""Calls the function under audit on every input, twice, and says why it cannot be identified where it cannot."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verifier.audits.catalogues.entry import Arguments, Floats, Formula
from verifier.model.complaints import shown

REPEATS = 1e-6
"""By how much a value may differ at the second call, of the largest: parallel sums in float32 do."""

NOTHING = 1e-15
"""Values no larger than this everywhere are rounding of 0."""


@dataclass(frozen=True, slots=True)
class Observed:
    """`values`: what the calls returned, one after the other, float64; None where `reason` says why not."""

    values: Floats | None
    reason: str | None = None


class _Unusable(Exception):
    """Carries the reason why a value cannot be used."""


def observe(
    function: Callable[..., Any], inputs: Sequence[Arguments], *, shapes: Sequence[tuple[int, ...]] | None
) -> Observed:
    """The function's values on `inputs`, or the reason why they say nothing.

    Each call has arguments of its own. The second pass goes backwards, so that a function that changes from call to
    call shows it. `shapes`: of the arrays to be returned, one an input; None for numbers.
    """
    passes: list[list[Floats]] = []
    try:
        for indices in (range(len(inputs)), range(len(inputs) - 1, -1, -1)):
            found = {i: _value(function, inputs, i, shapes[i] if shapes is not None else None) for i in indices}
            passes.append([found[i] for i in range(len(inputs))])
    except _Unusable as unusable:
        return Observed(None, str(unusable))
    first, second = (np.concatenate(each) for each in passes)
    largest = float(np.abs(first).max())
    if np.abs(first - second).max() > REPEATS * max(largest, float(np.abs(second).max())):
        return Observed(None, "it is not deterministic: a second call on the same input gives another value")
    if largest <= NOTHING:
        return Observed(None, f"it is zero on all {len(inputs)} inputs, as every formula times 0 is")
    return Observed(first)


def formula_values(formula: Formula, inputs: Sequence[Arguments]) -> Floats | None:
    """A catalogue formula's values on `inputs`, flattened, float64; None where it has none on one of them."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            values = np.concatenate([np.ravel(np.asarray(formula(*each), dtype=np.float64)) for each in inputs])
        except (ArithmeticError, ValueError, IndexError):  # an input of the caller's on which it is not defined
            return None
    return values if bool(np.all(np.isfinite(values))) else None


def _value(
    function: Callable[..., Any], inputs: Sequence[Arguments], index: int, shape: tuple[int, ...] | None
) -> Floats:
    where = f"on input {index + 1} of {len(inputs)}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            returned = function(*copy.deepcopy(inputs[index]))
        except (Exception, SystemExit) as error:  # somebody's function may raise anything, and this is the answer
            raise _Unusable(f"it raised {type(error).__name__} {where}: {shown(str(error))}") from error
        try:
            value = _number(returned) if shape is None else _numbers(returned)
        except (TypeError, ValueError, OverflowError, RuntimeError) as error:  # torch raises RuntimeError
            wanted = "a number" if shape is None else "an array of numbers"
            raise _Unusable(f"it returned {type(returned).__name__} {where}, not {wanted}") from error
    if shape is not None and value.shape != shape:
        raise _Unusable(f"it returned an array of shape {value.shape} {where}, not {shape}")
    if not np.all(np.isfinite(value)):
        raise _Unusable(f"it returned {'NaN' if np.any(np.isnan(value)) else 'an infinite value'} {where}")
    return value.ravel()


def _number(returned: Any) -> Floats:
    if isinstance(returned, str | bytes | bool | np.bool_) or _is_complex(returned):
        raise TypeError
    return np.array([float(returned)])


def _numbers(returned: Any) -> Floats:
    if _is_complex(returned):
        raise TypeError
    return np.asarray(returned, dtype=np.float64)


def _is_complex(returned: Any) -> bool:
    """Whether numpy would only warn, and keep the real part."""
    return isinstance(returned, np.ndarray | np.generic) and np.iscomplexobj(returned)
