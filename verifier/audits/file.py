"""An audit file -> its audits: read within bounds, validated at the door, each table put to its mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from verifier.audits.arrays_audit import arrays_audit
from verifier.audits.audit import Audit
from verifier.audits.basis import compare
from verifier.audits.closure import closure
from verifier.audits.dilution import dilution
from verifier.audits.granularity import granularity
from verifier.audits.printed import printed
from verifier.audits.reconcile import reconcile
from verifier.audits.schema import AuditFileTable
from verifier.audits.selection import selection
from verifier.audits.speed import speed
from verifier.model.errors import BadInput
from verifier.model.tables import TableError, validate
from verifier.model.toml import check_values, located, parse_toml

MOST_BYTES = 2**20
TOLERANCE = "0.02"
"""How near a factor must come to a ratio where a file does not say."""


def audit_file(path: str | Path, *, threshold: Fraction | None = None) -> tuple[Audit, ...]:
    """The audits that the file at `path` asks for, one a table, in the order of `AuditFileTable`.

    `threshold`: the size that a corrected comparison must keep, where a case registers one. Raises BadInput naming
    file, line and key for anything that is not as it must be.
    """
    path = Path(path)
    table = read_audit_text(_bytes(path), where=str(path))
    try:
        return tuple(_audits(table, folder=path.parent, threshold=threshold))
    except BadInput as error:
        where = f"{path}, {error.where}" if error.where else str(path)
        raise BadInput(error.what, where=where, mend=error.mend) from error


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise BadInput(
            f"it cannot be read ({error.strerror})", where=str(path), mend="check the path and its rights"
        ) from error
    return data


def read_audit_text(data: bytes, *, where: str) -> AuditFileTable:
    """The tables that the bytes of an audit file hold. Raises BadInput naming line and key."""
    if len(data) > MOST_BYTES:
        raise BadInput(
            f"the file has more than {MOST_BYTES >> 20} MiB", where=where, mend="put long arrays into a CSV beside it"
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("the file is not UTF-8", where=where, mend="save it as UTF-8") from error
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


def _audits(table: AuditFileTable, *, folder: Path, threshold: Fraction | None) -> Iterator[Audit]:
    if table.left is not None and table.right is not None and table.comparison is not None:
        yield compare(
            table.left.to_record(),
            table.right.to_record(),
            table.comparison.to_comparison(),
            declared=[] if table.declared is None else [one.to_declared() for one in table.declared.factors],
            threshold=threshold,
        )
    if (ratios := table.reconcile) is not None:
        yield reconcile(
            ratios.claimed,
            against=ratios.against,
            declared=[one.to_declared() for one in ratios.declared],
            tolerance=ratios.tolerance or TOLERANCE,
        )
    if table.arrays is not None:
        yield from arrays_audit(
            table.arrays.to_arrays(folder),
            printed=None if table.arrays.printed is None else printed(table.arrays.printed),
            returns=table.arrays.returns,
        )
    if table.dilution is not None:
        yield dilution(**table.dilution.to_arguments())
    if table.closure is not None:
        yield closure(**table.closure.to_arguments())
    if (counts := table.granularity) is not None:
        yield granularity(counts.printed, n=counts.n, below=counts.below)
    if (times := table.speed) is not None:
        yield speed(times.before, times.after, claimed=times.claimed, said_as=times.as_)
    if (picked := table.selection) is not None:
        yield selection(picked.to_arms(), **picked.to_arguments())
