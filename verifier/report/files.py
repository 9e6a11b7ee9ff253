"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from verifier.model.errors import InfrastructureFailed

AFTER_A_RUN = "the ruling is in the ledger; free space or choose a folder that can be written, and repeat the run"


def write_whole(files: Mapping[Path, bytes], *, what: str, mend: str = AFTER_A_RUN) -> None:
    """Writes every file to a temporary one beside it; only when all are written do they take their names.

    Makes missing folders. `what` is what they are called. Raises InfrastructureFailed, with `mend`, where one cannot
    be written; then none has taken its name.
    """
    parts: dict[Path, Path] = {}
    target = next(iter(files))
    try:
        for target, content in files.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            parts[target] = _part(target, content)
        for target, part in list(parts.items()):
            part.replace(target)
            del parts[target]
    except OSError as error:
        what = f"{what} cannot be written ({error.strerror or error})"
        raise InfrastructureFailed(what, where=str(target), mend=mend) from error
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def _part(target: Path, content: bytes) -> Path:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.chmod(0o644)  # mkstemp's 0600 would keep the page from a web server and from colleagues
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return part
