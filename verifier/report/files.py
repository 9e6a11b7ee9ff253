"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from verifier.model.errors import InfrastructureFailed


def write_whole(
    target: Path,
    content: bytes,
    *,
    what: str,
    mend: str = "the ruling is in the ledger; free space or choose a folder that can be written, and repeat the run",
) -> None:
    """Writes `content` to `target`: a temporary file beside it takes its name at the end. Makes missing folders.

    `what` is what the file is called. Raises InfrastructureFailed, with `mend`, where it cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, content)
    except OSError as error:
        raise InfrastructureFailed(
            f"{what} cannot be written ({error.strerror or error})",
            where=str(target),
            mend=mend,
        ) from error


def _replace(target: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)  # mkstemp's 0600 would keep the page from a web server and from colleagues
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
