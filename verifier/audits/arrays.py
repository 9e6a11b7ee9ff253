"""Arrays from a file beside the audit file: inside its folder, bounded before they are read."""

from __future__ import annotations

import stat
from pathlib import Path

from verifier.audits.array_csv import read_csv_arrays
from verifier.audits.array_npz import read_npz_arrays
from verifier.audits.array_parquet import read_parquet_arrays
from verifier.audits.token_arrays import MOST_BYTES, Columns, TokenArrays
from verifier.model.complaints import shown
from verifier.model.errors import BadInput

READERS = {".csv": read_csv_arrays, ".npz": read_npz_arrays, ".parquet": read_parquet_arrays}


def read_arrays(folder: Path, path: str, columns: Columns, *, where: str = "arrays.path") -> TokenArrays:
    """The named columns of the CSV, NPZ or parquet file at `path`, which lies inside `folder`.

    Its size is looked at before anything is read, its rows before they are unpacked. `where` names the key of the path.

    Raises BadInput for a path out of the folder, also by a link, for a file that is none, too large or of another kind,
    and for whatever in it is no array; MissingExtra where parquet cannot be read on this installation.
    """
    target = _inside(folder, path, where=where)
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        raise BadInput(f"{shown(path)} is of no kind that holds arrays", where=where, mend=f"name a {_kinds()} file")
    try:
        found = target.stat()
    except OSError as error:
        reason = (error.strerror or "it fails").lower()
        raise BadInput(
            f"{shown(path)} cannot be read: {reason}", where=where, mend="name a file that is there"
        ) from None
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{shown(path)} is no file", where=where, mend=f"name a {_kinds()} file")
    if found.st_size > MOST_BYTES:
        raise BadInput(
            f"{shown(path)} holds {found.st_size / (1 << 30):.1f} GiB",
            where=where,
            mend=f"give at most {MOST_BYTES >> 30} GiB, a sample of the sequences",
        )
    try:
        arrays = reader(target, columns, name=path)
    except OSError as error:
        reason = (error.strerror or "it fails").lower()
        raise BadInput(f"{shown(path)} cannot be read: {reason}", where=where, mend="see that it is whole") from None
    if not len(arrays):
        raise BadInput("it holds no row", where=path, mend="write one row a position")
    return arrays


def _inside(folder: Path, path: str, *, where: str) -> Path:
    out = BadInput(
        f"{shown(path)} leads out of the file's folder", where=where, mend="put the arrays beside the audit file"
    )
    if "\0" in path:
        raise out
    try:
        root, target = folder.resolve(), (folder / path).resolve()
    except (OSError, RuntimeError):  # a loop of links
        raise out from None
    if not target.is_relative_to(root) or target == root:
        raise out
    return target


def _kinds() -> str:
    return "CSV, NPZ or parquet"
