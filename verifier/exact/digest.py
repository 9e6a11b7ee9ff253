"""Which finder: the hash of the code that decides problems, systems that users added included."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from verifier.model.canonical import canonical_sha256


@cache
def finder_sha256() -> str:
    """The SHA-256 over the paths and contents of every Python file of this package, as it is on disk now."""
    here = Path(__file__).parent
    return canonical_sha256(
        {
            path.relative_to(here).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(here.rglob("*.py"))
        }
    )
