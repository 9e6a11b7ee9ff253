"""Arrays from NPZ: each array's header is read and bounded before any of it is unpacked; nothing is unpickled."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from verifier.audits.array_columns import check_named
from verifier.audits.token_arrays import MOST_ROWS, Columns, TokenArrays, check_finite
from verifier.model.complaints import shown
from verifier.model.errors import BadInput

MOST_DIRECTORY = 1 << 20
"""Bytes of the archive's list of members."""
MOST_HEADER = 10_000
MOST_ITEM = 800
"""Bytes of an entry: a text label of 200 characters."""
_END, _END64 = b"PK\5\6", b"PK\6\7"
_LONGEST_END = 22 + 65_535
_HEADER = re.compile(
    rb"\{'descr': '(?P<type>[<>|=]?[biufcSUOmMV]\d{0,5})', 'fortran_order': (?P<order>True|False), "
    rb"'shape': \((?P<shape>(?:\d{1,18}, ?){0,31}\d{0,18})\), \} *\n"
)
_PLAIN = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


def read_npz_arrays(path: Path, columns: Columns, *, name: str) -> TokenArrays:
    """The named arrays of an NPZ file, all of one shape: (positions,) or (sequences, positions).

    Of arrays in two dimensions the rows are the sequences where no array names them; sequence and batch may then have
    one entry a row. `name` is how errors call the file.

    Raises BadInput for a missing array, one of objects, one with too many entries, shapes that differ, a mask that is
    neither 1 nor 0, and a loss that is no finite number.
    """
    with path.open("rb") as file:
        _check_directory(file, name)
        try:
            with zipfile.ZipFile(file) as archive:
                members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
                check_named(columns, list(members), where=name)
                found = {
                    kind: _member(archive, members[column], kind=kind, name=f"{name}, {shown(column)}")
                    for kind, column in columns.named.items()
                }
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError, struct.error):
            raise BadInput("it is no whole NPZ file", where=name, mend="write it with numpy.savez") from None
    return _together(found, columns, name)


def _together(found: dict[str, NDArray[Any]], columns: Columns, name: str) -> TokenArrays:
    loss = found["loss"]
    places = {kind: f"{name}, {shown(column)}" for kind, column in columns.named.items()}
    if loss.dtype.kind not in "fiu" or loss.ndim not in {1, 2}:
        raise BadInput(
            f"it is {loss.dtype} in {loss.ndim} dimensions", where=places["loss"],
            mend="give losses as floats, one a position or a row a sequence",
        )  # fmt: skip
    for kind, values in found.items():
        rows_only = kind in {"sequence", "batch"} and loss.ndim == 2 and values.shape == loss.shape[:1]
        if rows_only:
            found[kind] = np.broadcast_to(values[:, None], loss.shape)
        elif values.shape != loss.shape:
            what = f"its shape is {values.shape}, and that of the losses {loss.shape}"
            raise BadInput(what, where=places[kind], mend="give one entry a loss, in the same shape")
    flat = np.ascontiguousarray(loss, np.float64).reshape(-1)
    check_finite(flat, first=0, where=places["loss"], of="flat index")
    mask = found.get("mask")
    if mask is not None and not ((mask == 0) | (mask == 1)).all():
        raise BadInput(
            "an entry is neither 0 nor 1", where=places["mask"], mend="give 1 for real tokens, 0 for padding"
        )
    groups = {kind: _numbers(found[kind]) for kind in ("sequence", "batch") if kind in found}
    if loss.ndim == 2:
        groups.setdefault("sequence", np.repeat(np.arange(loss.shape[0]), loss.shape[1]))
    return TokenArrays(loss=flat, mask=None if mask is None else mask.reshape(-1).astype(bool), **groups)


def _numbers(labels: NDArray[Any]) -> NDArray[np.int64]:
    return np.unique(labels.reshape(-1), return_inverse=True)[1].astype(np.int64)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, *, kind: str, name: str) -> NDArray[Any]:
    """The array in one member, unpacked up to the size that its header states and no further."""
    if info.flag_bits & 1 or info.compress_type not in _PLAIN:
        raise BadInput(
            "it is encrypted, or compressed in an unusual way", where=name, mend="use numpy.savez_compressed"
        )
    with archive.open(info) as member:
        shape, fortran, dtype, rest = _header(member.read(MOST_HEADER), name)
        wanted = "fiub" if kind in {"loss", "mask"} else "iubSU"
        if dtype.kind not in wanted or dtype.itemsize > MOST_ITEM:
            raise BadInput(f"its entries are {dtype}", where=name, mend="give numbers; labels may be texts")
        if prod(shape) > MOST_ROWS:
            raise BadInput(f"it has more than {MOST_ROWS} entries", where=name, mend="give a sample of the sequences")
        size = prod(shape) * dtype.itemsize
        data = rest + member.read(max(0, size - len(rest)))
        if len(data) != size or member.read(1):
            raise BadInput("its length is not what its header says", where=name, mend="write it with numpy.savez")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


def _header(start: bytes, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any], bytes]:
    """Shape, order and type of entries from an array's first bytes, and those behind its header.

    The format is numpy's (NEP 1): magic, version, the header's length, and a dictionary as numpy.save writes it.
    """
    width = {b"\1\0": 2, b"\2\0": 4}.get(start[6:8], 0)
    behind = 8 + width + int.from_bytes(start[8 : 8 + width], "little")
    found = _HEADER.fullmatch(start[8 + width : behind])
    if start[:6] != b"\x93NUMPY" or not width or behind > MOST_HEADER or found is None:
        raise BadInput("it is no plain array", where=name, mend="write it with numpy.savez")
    try:
        dtype = np.dtype(found["type"].decode())
    except TypeError:
        raise BadInput("its entries are of no known type", where=name, mend="write it with numpy.savez") from None
    shape = tuple(int(n) for n in found["shape"].replace(b" ", b"").split(b",") if n)
    return shape, found["order"] == b"True", dtype, start[behind:]


def _check_directory(file: BinaryIO, name: str) -> None:
    """Refuses a list of members that would be large to read; its size stands at the archive's end."""
    file.seek(0, io.SEEK_END)
    file.seek(max(0, file.tell() - _LONGEST_END))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + 22:
        raise BadInput("it is no NPZ file", where=name, mend="write it with numpy.savez")
    size = int.from_bytes(tail[at + 12 : at + 16], "little")
    if size > MOST_DIRECTORY or tail[max(0, at - 20) : at].startswith(_END64):
        raise BadInput("it has too many members", where=name, mend="leave only the named arrays in it")
    file.seek(0)
