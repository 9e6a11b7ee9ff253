"""An audit file -> its audits: read within bounds, validated at the door, each table put to its mechanism."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path

from verifier.audits.arrays_audit import arrays_audit
from verifier.audits.audit import Audit
from verifier.audits.basis import compare
from verifier.audits.closure import closure
from verifier.audits.dilution import dilution
from verifier.audits.granularity import granularity
from verifier.audits.printed import printed
from verifier.audits.reconcile import reconcile
from verifier.audits.schema import (
    ArraysTable,
    AuditFileTable,
    ComparisonTable,
    DeclaredTable,
    ReconcileTable,
    RecordTable,
)
from verifier.audits.selection import selection
from verifier.audits.speed import speed
from verifier.model.errors import BadInput
from verifier.model.tables import TableError, validate
from verifier.model.toml import check_values, located, parse_toml
from verifier.model.toml_lines import key_lines, line_of

MOST_BYTES = 2**20
TOLERANCE = "0.02"
"""How near a factor must come to a ratio where a file does not say."""


def audit_file(path: str | Path, *, threshold: Fraction | None = None) -> tuple[Audit, ...]:
    """The audits that the file at `path` asks for, one a table, in the order of `AuditFileTable`.

    `threshold`: the size that a corrected comparison must keep, where a case registers one. Raises BadInput naming
    file, line and key for anything that is not as it must be.
    """
    path = Path(path)
    data = _bytes(path)
    table = read_audit_text(data, where=str(path))
    audits: list[Audit] = []
    for name, audited in _asked(table, folder=path.parent, threshold=threshold):
        try:
            audits += audited()
        except BadInput as error:
            raise _placed(error, data.decode(), table=name, where=str(path)) from error
    return tuple(audits)


def _placed(error: BadInput, text: str, *, table: str, where: str) -> BadInput:
    """A mechanism's error with the line of the key that it names, of its table where it names none."""
    words = error.where.partition(", ")[0].split(".")
    own = words[0] == table
    known = own and all(re.fullmatch("[a-z_]+", word) for word in words)
    line = line_of(key_lines(text), tuple(words) if known else (table,))
    place = error.where if known else table if own else ", ".join(filter(None, [table, error.where]))
    return BadInput(error.what, where=f"{where}, line {line}, {place}", mend=error.mend)


def _bytes(path: Path) -> bytes:
    try:
        # opening a pipe would wait for its writer
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise BadInput("it is no file", where=str(path), mend="name an audit file")
            return file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = getattr(error, "strerror", None) or "it is no path"
        raise BadInput(
            f"it cannot be read: {reason.lower()}", where=str(path), mend="check the path and its rights"
        ) from error


def read_audit_text(data: bytes, *, where: str) -> AuditFileTable:
    """The tables that the bytes of an audit file hold. Raises BadInput naming line and key."""
    if len(data) > MOST_BYTES:
        raise BadInput(
            f"the file has more than {MOST_BYTES >> 20} MiB", where=where, mend="put long arrays into a CSV beside it"
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput("not UTF-8 text", where=f"{where}, line {line}", mend="save the file as UTF-8") from error
    if text.startswith("\ufeff"):
        raise BadInput("the file starts with a byte order mark", where=where, mend="save it as UTF-8 without one")
    table = parse_toml(text, where=where)
    try:
        check_values(table)
        parsed = validate(AuditFileTable, table)
        _check_tables(parsed)
    except TableError as error:
        raise located(error, text, where=where) from error
    return parsed


def _check_tables(table: AuditFileTable) -> None:
    """Raises TableError for tables that stand alone where they belong together, and for a file that asks nothing."""
    together = {"left": table.left, "right": table.right, "comparison": table.comparison}
    present = [name for name, value in together.items() if value is not None]
    if present and len(present) < len(together):
        absent = next(name for name in together if name not in present)
        raise TableError(f"[{present[0]}] stands without [{absent}]", path=(present[0],), mend=f"add [{absent}]")
    if table.declared is not None and not present:
        raise TableError(
            "[declared] is for [left] and [right]", path=("declared",), mend="[reconcile] has a list of its own"
        )
    asked = (table.left, table.reconcile, table.arrays, table.dilution, table.closure, table.granularity, table.speed)
    if all(each is None for each in (*asked, table.selection)):
        raise TableError(
            "the file asks nothing", path=(), mend="write [left], [right] and [comparison], or another table"
        )


Asked = Callable[[], Iterable[Audit]]


def _asked(table: AuditFileTable, *, folder: Path, threshold: Fraction | None) -> Iterator[tuple[str, Asked]]:
    """Each audit that the file asks for, with the table that asks it."""
    if table.left is not None and table.right is not None and table.comparison is not None:
        yield "left", partial(_compared, table.left, table.right, table.comparison, table.declared, threshold)
    if table.reconcile is not None:
        yield "reconcile", partial(_reconciled, table.reconcile)
    if table.arrays is not None:
        yield "arrays", partial(_of_arrays, table.arrays, folder)
    if (diluted := table.dilution) is not None:
        yield "dilution", lambda: [dilution(**diluted.to_arguments())]
    if (closed := table.closure) is not None:
        yield "closure", lambda: [closure(**closed.to_arguments())]
    if (counts := table.granularity) is not None:
        yield "granularity", lambda: [granularity(counts.printed, n=counts.n, below=counts.below)]
    if (times := table.speed) is not None:
        yield "speed", lambda: [speed(times.before, times.after, claimed=times.claimed, said_as=times.as_)]
    if (picked := table.selection) is not None:
        yield "selection", lambda: [selection(picked.to_arms(), **picked.to_arguments())]


def _compared(
    left: RecordTable,
    right: RecordTable,
    comparison: ComparisonTable,
    declared: DeclaredTable | None,
    threshold: Fraction | None,
) -> list[Audit]:
    factors = [] if declared is None else [one.to_declared() for one in declared.factors]
    return [
        compare(left.to_record(), right.to_record(), comparison.to_comparison(), declared=factors, threshold=threshold)
    ]


def _reconciled(ratios: ReconcileTable) -> list[Audit]:
    declared = [one.to_declared() for one in ratios.declared]
    tolerance = ratios.tolerance or TOLERANCE
    return [reconcile(ratios.claimed, against=ratios.against, declared=declared, tolerance=tolerance)]


def _of_arrays(table: ArraysTable, folder: Path) -> Iterable[Audit]:
    number = None if table.printed is None else printed(table.printed)
    return arrays_audit(table.to_arrays(folder), printed=number, returns=table.returns)
