"""Results as JSON values: exact numbers as text, other numbers as numbers, never NaN or an infinity."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any

from verifier.model.canonical import rational_text
from verifier.model.errors import InfrastructureFailed


def number(value: float) -> float:
    """A double for JSON; one that overflowed is the largest double. Raises InfrastructureFailed for NaN."""
    if math.isnan(value):
        raise InfrastructureFailed("a result is not a number", mend="repeat the run; if it stays, report it")
    return max(min(float(value), sys.float_info.max), -sys.float_info.max)


def json_value(value: Any) -> Any:
    """`value` in JSON's own types: tuples as arrays, rationals as text, words as their text, numpy scalars as numbers.

    Raises InfrastructureFailed for NaN and for what JSON cannot hold.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return json_value(value.value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Fraction):
        return rational_text(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return number(float(value))
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [json_value(item) for item in value]
    raise InfrastructureFailed(f"a result of type {type(value).__name__} cannot be written as JSON", mend="report it")
