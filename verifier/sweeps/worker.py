"""What a worker process does with a job: call the target, check what came back, sum it exactly."""

from __future__ import annotations

import functools
import hashlib
import math
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from verifier.model.canonical import rational_text
from verifier.sweeps.code import Code, Importer, TargetMissing, cache_folder, keyword_names
from verifier.sweeps.jobs import ARMS, AuditCall, ExactCall, Failure, Inspection, Job, Row, Unit, ValueCall, value_row

MAX_VALUES = 100_000_000
MAX_ITEMS = 100_000
"""Values that are kept one by one."""
_LARGEST = 2**63 - 1
MAX_TRACEBACK = 20_000

_importer = Importer()


class BadReturn(Exception):
    """A target returned what a target may not return."""


@functools.cache  # Ray gives a process many tasks
def prepare_process() -> None:
    """Settings of a worker process: nothing is written into a case folder, nothing onto the driver's terminal.

    A case's words reach a person as a Failure, quoted, and by no other way.
    """
    sys.dont_write_bytecode = True
    os.environ["NUMBA_CACHE_DIR"] = str(cache_folder() / "numba" / _streams_sha256()[:16])
    nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # lives as long as the process
    sys.stdout = sys.stderr = nowhere
    for descriptor in (1, 2):  # what C code and child processes write to
        os.dup2(nowhere.fileno(), descriptor)


def _streams_sha256() -> str:
    """The hash of the compiled stream helpers: numba inlines them into a case's functions and would miss a change."""
    return hashlib.sha256((Path(__file__).parent / "streams" / "compiled.py").read_bytes()).hexdigest()


@functools.cache
def _exact_work() -> Callable[[ExactCall], Row | Failure]:
    """The exact finder, imported at the first exact call: a worker that only draws starts in half the time."""
    _importer.leave()  # the finder's imports are not to meet a case's module of the same name
    from verifier.sweeps.exact_work import exact_work  # noqa: PLC0415  # as the docstring says

    return exact_work


@functools.cache
def _audit_work() -> Callable[..., Row | Failure]:
    """The audits' mechanisms, imported at the first audit for the same reason."""
    _importer.leave()
    from verifier.sweeps.audit_work import audit_work  # noqa: PLC0415  # as the docstring says

    return audit_work


def perform(code: Code, job: Job) -> Row | Failure:
    """The row of `job`; whatever the case's code raises becomes a Failure with its traceback."""
    try:
        if isinstance(job, ExactCall):  # needs none of the case's code
            return _exact_work()(job)
        if isinstance(job, AuditCall):
            audit = _audit_work()
            return audit(job, folder=_importer.folder(code), function=functools.partial(_importer.target, code))
        function = _importer.target(code, job.target)
        match job:
            case Unit():
                return _returned(job, function(*_scale(job), stream=job.stream, **dict(job.keywords)))
            case ValueCall():
                return value_row(_rational(function(*_scale(job), **dict(job.keywords))))
            case Inspection():
                names, required = keyword_names(function)
                return {"names": names, "required": required}
    except (TargetMissing, BadReturn) as error:
        return Failure(f"{job.target}: {error}")
    except BaseException as error:  # noqa: BLE001  # a stranger's code may raise anything; the worker goes on
        return _raised(job, error)


def _raised(job: Job, error: BaseException) -> Failure:
    """What a stranger's code raised, whatever its exception's own methods do."""
    try:
        text, lines = str(error)[:500], traceback.format_exc()[-MAX_TRACEBACK:]
    except BaseException:  # noqa: BLE001  # even its text may raise
        text, lines = "(its text cannot be read)", ""
    missing = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    what = f"{job.target} raised {type(error).__name__}: {text}"
    return Failure(_encodable(what), _encodable(lines), _encodable(missing))


def _encodable(text: str) -> str:
    """`text` with halves of surrogate pairs, which have no UTF-8 form, as escapes."""
    return text.encode(errors="backslashreplace").decode()


def _scale(job: Unit | ValueCall) -> list[int]:
    return [value for _, value in job.scale]


def _rational(value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise BadReturn(f"returned {type(value).__name__}, not an exact Fraction or int")
    return Fraction(value)


def _returned(job: Unit, returned: object) -> Row:
    """The row of what a target returned: one array, or a mapping of both arms where the rule has arms."""
    if job.arms and isinstance(returned, Mapping):
        if set(returned) != set(ARMS):
            names = ", ".join(sorted(str(name)[:40] for name in list(returned)[:5]))
            raise BadReturn(f"returned a mapping of {names or 'nothing'}, not of left and right")
        return {"arms": {arm: _array_row(job, returned[arm], where=f" ({arm})") for arm in ARMS}}
    return _array_row(job, returned, where="")


def _array_row(job: Unit, returned: object, *, where: str) -> Row:
    try:
        row = unit_row(returned, items=job.items)
    except BadReturn as error:
        raise BadReturn(f"{error}{where}") from None
    return row


def unit_row(returned: object, *, items: bool = False) -> Row:
    """Count, sum and sum of squares of a 1-D array of integers or floats, with a hash over its values.

    Integers are summed exactly; the sum of floats is the correctly rounded one, which no order changes. `items` keeps
    the values, as the shortest texts that give them back. Raises BadReturn for any other shape or type, an empty array,
    NaN and infinities.
    """
    if isinstance(returned, Mapping):
        raise BadReturn("returned a mapping; this rule takes one array, a value per inner repetition")
    if returned is None:
        raise BadReturn("returned nothing, not one value per inner repetition")
    if isinstance(returned, np.ma.MaskedArray):
        raise BadReturn("returned a masked array; a missing value is no value")
    try:
        array = np.asarray(returned)
    except (ValueError, TypeError) as error:
        raise BadReturn(f"returned a {type(returned).__name__} that is no array: {str(error)[:200]}") from None
    if array.ndim != 1 or not 0 < array.size <= MAX_VALUES:
        raise BadReturn(f"returned an array of shape {array.shape}, not one value per inner repetition")
    if items and array.size > MAX_ITEMS:
        raise BadReturn(f"returned {array.size:,} items, more than the {MAX_ITEMS:,} that are kept one by one")
    if array.dtype.kind in "iu":
        # the same integers give the same bytes whatever their width, beyond 2^63 − 1 too
        wide = array.dtype.kind == "u" and array.max() > _LARGEST
        return _row("integer", array.astype("<u8" if wide else "<i8"), _integer_sum, items=items)
    if array.dtype.kind == "f":
        doubles = array.astype("<f8")
        if not np.isfinite(doubles).all():
            first = int(np.flatnonzero(~np.isfinite(doubles))[0])
            raise BadReturn(f"returned {doubles[first]} at position {first}")
        return _row("float", doubles, math.fsum, items=items)
    raise BadReturn(f"returned values of type {array.dtype}, neither integers nor floats")


def _integer_sum(values: Any) -> int:
    return sum(values)


def _row(kind: str, values: np.ndarray[Any, Any], add: Callable[[Any], int | float], *, items: bool) -> Row:
    numbers = values.tolist()
    try:
        total, squares = add(numbers), add(number * number for number in numbers)
    except OverflowError:
        raise BadReturn("returned values whose sum overflows") from None
    if not math.isfinite(squares):
        raise BadReturn("returned values whose sum of squares overflows")
    return {
        "values": kind,
        "n": len(numbers),
        "sum": rational_text(Fraction(total)),
        "sum_sq": rational_text(Fraction(squares)),
        "values_sha256": hashlib.sha256(values.dtype.str.encode() + values.tobytes()).hexdigest(),
        **({"items": list(map(repr, numbers))} if items else {}),
    }
