"""The systems that `refute` knows: one file each, found by name. A file in this folder with `SYSTEM` adds one."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from verifier.exact.systems.base import System


@cache
def systems() -> dict[str, System]:
    """Name → system, for every module of this folder that defines `SYSTEM`."""
    found: dict[str, System] = {}
    for module in sorted(entry.name for entry in pkgutil.iter_modules(__path__)):
        system = getattr(importlib.import_module(f"{__name__}.{module}"), "SYSTEM", None)
        if isinstance(system, System):
            found[system.name] = system
    return found
