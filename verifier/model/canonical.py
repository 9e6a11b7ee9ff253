"""Canonical bytes (RFC 8785) and their SHA-256: how everything that is hashed is written."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

import rfc8785

from verifier.model.errors import BadInput

Json: TypeAlias = "bool | int | str | Sequence[Json] | Mapping[str, Json] | None"


def canonical_bytes(value: Json) -> bytes:
    """The RFC 8785 encoding of `value`, which holds no floats: a number is an integer or a string.

    Raises BadInput for a float, for an integer beyond ±(2^53 − 1) and for anything JSON has not.
    """
    try:
        _refuse_floats(value)
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeEncodeError) as error:
        raise BadInput(f"a value cannot be written as canonical JSON ({error})") from error


def _refuse_floats(value: object) -> None:
    if isinstance(value, float):
        raise BadInput(
            f"the float {value!r} stands in a hashed value",
            mend="write it as an integer, a rational or a decimal string",
        )
    if isinstance(value, Mapping):
        for item in value.values():
            _refuse_floats(item)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for item in value:
            _refuse_floats(item)


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of `data` as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def canonical_sha256(value: Json) -> str:
    """The SHA-256 of the canonical bytes of `value`, in hexadecimal."""
    return sha256_hex(canonical_bytes(value))


def text_sha256(text: str) -> str:
    """The SHA-256 of a text as compared: NFC, runs of white space as one space, trimmed, UTF-8."""
    return sha256_hex(" ".join(unicodedata.normalize("NFC", text).split()).encode())


def rational_text(value: Fraction | int) -> str:
    """A rational in lowest terms: `"-7/3"`, `"4"`."""
    return str(Fraction(value))


MAX_DIGITS = 4_000
"""Digits of the longest number that is written out: Python's own limit for integers as text is 4,300."""


def short_rational_text(value: Fraction | None) -> str | None:
    """`rational_text`, or None where there is no value or writing it out would take more than 4,000 digits."""
    if value is None or max(abs(value.numerator), value.denominator) >= 10**MAX_DIGITS:
        return None
    return rational_text(value)


def double_text(value: float) -> str:
    """The shortest decimal that reads back as the same double. Raises BadInput for NaN and infinities."""
    if not math.isfinite(value):
        raise BadInput(f"{value!r} is not a number that can be recorded")
    return repr(float(value))
