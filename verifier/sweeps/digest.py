"""Which code found it: the hash of a package of ours, so that what other code would find is kept apart."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from verifier.model.canonical import canonical_sha256


@cache
def package_sha256(package: str) -> str:
    """The SHA-256 over the paths and contents of every Python file of `package`, as it is on disk now."""
    spec = find_spec(package)
    assert spec is not None, package
    assert spec.submodule_search_locations, package
    here = Path(spec.submodule_search_locations[0])
    return canonical_sha256(
        {
            path.relative_to(here).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(here.rglob("*.py"))
        }
    )
