"""The files of a case folder: read once, bounded, and hashed as bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from verifier.model.canonical import sha256_hex
from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.printable import printable

MAX_FILES = 2_000
MAX_BYTES = 64 * 2**20
MAX_CASE_FILE = 2**20

_UNHASHED_SUFFIXES = (".pyc", ".nbi", ".nbc")


def read_folder(folder: Path) -> dict[str, bytes]:
    """POSIX path -> bytes of every regular file that a registration covers, case.toml excepted.

    Left out: README*, dot files and folders, `__pycache__`, `*.pyc *.nbi *.nbc`, and anything behind a symbolic
    link. Raises BadInput where the folder is too large to be a case, or a file cannot be read.
    """
    files: dict[str, bytes] = {}
    total = 0
    for root, folders, names in os.walk(folder, followlinks=False, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        for name in sorted(names):
            path = Path(root, name)
            relative = path.relative_to(folder).as_posix()
            if relative == "case.toml" or not _covered(name) or path.is_symlink() or not path.is_file():
                continue
            if not relative.isprintable():
                raise BadInput(
                    f"the file name {shown(relative)} has characters that cannot be printed",
                    where=printable(str(folder)),
                    mend="rename it",
                )
            total += path.stat().st_size
            if len(files) >= MAX_FILES or total > MAX_BYTES:
                raise BadInput(
                    f"the folder holds more than {MAX_FILES} files or {MAX_BYTES >> 20} MiB",
                    where=str(folder),
                    mend="keep only what the case needs in it",
                )
            try:
                files[relative] = path.read_bytes()
            except OSError as error:
                _unreadable(error, path)
    return files


def _unreadable(error: OSError, path: Path | None = None) -> NoReturn:
    raise BadInput(
        f"it cannot be read ({error.strerror})", where=str(path or error.filename), mend="check its rights"
    ) from error


def _covered(name: str) -> bool:
    return not name.startswith((".", "README")) and not name.endswith(_UNHASHED_SUFFIXES)


def hashes(files: Mapping[str, bytes]) -> dict[str, str]:
    """POSIX path -> SHA-256 of the bytes as they are."""
    return {path: sha256_hex(content) for path, content in files.items()}


def read_case_file(folder: Path) -> str:
    """The text of case.toml. Raises BadInput where there is none, or it is no UTF-8 text of at most 1 MiB."""
    path = folder / "case.toml"
    if not path.is_file():
        raise BadInput("there is no case.toml", where=str(folder), mend="name a case folder, such as cases/paging")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_CASE_FILE + 1)
    except OSError as error:
        _unreadable(error, path)
    if len(content) > MAX_CASE_FILE:
        raise BadInput("it is larger than 1 MiB", where=str(path), mend="a case file is a few kilobytes")
    try:
        return content.decode("utf-8-sig")  # some editors begin a file with a byte order mark
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadInput("not UTF-8 text", where=f"{path}, line {line}", mend="save the file as UTF-8") from error
