"""A case's code as the bytes that were registered, laid out in a folder of its own and imported from there.

Runs in worker processes only. The registered bytes travel to the worker, so an edit made while a run is under way
changes nothing, and a worker on another machine needs no copy of the case.
"""

from __future__ import annotations

import importlib
import inspect
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Code:
    """The files of a case folder (POSIX path -> bytes) and their hash."""

    sha256: str
    files: Mapping[str, bytes] = field(repr=False)


def cache_folder() -> Path:
    """Where code and compiled functions are kept between runs; a temporary folder where there is no home."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    folder = Path(base, "verifier")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.gettempdir(), f"verifier-{os.getuid()}")


def lay_out(code: Code) -> Path:
    """The folder that holds exactly `code.files`; made once, and made anew where it differs."""
    parent = cache_folder() / "code"
    folder = parent / code.sha256
    if _holds(folder, code.files):
        return folder
    parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=parent, prefix=".new-"))
    for name, content in code.files.items():
        path = fresh / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return _settle(fresh, folder, code.files)


def _settle(fresh: Path, folder: Path, files: Mapping[str, bytes]) -> Path:
    """Gives the complete `fresh` its name, or takes `folder` where another worker was quicker."""
    try:
        if folder.exists() and not _holds(folder, files):
            shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    except OSError:  # a folder that is not empty is not replaced
        if not _holds(folder, files):
            return fresh
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def _holds(folder: Path, files: Mapping[str, bytes]) -> bool:
    try:
        present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        return present == set(files) and all((folder / name).read_bytes() == files[name] for name in files)
    except OSError:
        return False


class Importer:
    """Imports targets of one case at a time; a change of case forgets the modules of the one before."""

    def __init__(self) -> None:
        self._sha256 = ""
        self._folder = Path()

    def target(self, code: Code, name: str) -> Callable[..., Any]:
        """The function `module:function`. Raises whatever the import raises, or TargetMissing."""
        self.folder(code)
        module_name, _, function_name = name.partition(":")
        if f"{module_name}.py" not in code.files and f"{module_name}/__init__.py" not in code.files:
            raise TargetMissing(f"the case folder has no module {module_name}.py, or it is a link")
        function = getattr(importlib.import_module(module_name), function_name, None)
        if not callable(function):
            raise TargetMissing(f"{module_name}.py has no function {function_name}")
        checked: Callable[..., Any] = function
        return checked

    def folder(self, code: Code) -> Path:
        """The folder that holds the case's files as they were registered."""
        if code.sha256 != self._sha256:
            self._enter(code)
        return self._folder

    def leave(self) -> None:
        """Forgets the case whose modules were imported last, so that a name means what it means without it."""
        if not self._sha256:
            return
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if file and Path(file).is_relative_to(self._folder):
                del sys.modules[name]
        sys.path[:] = [entry for entry in sys.path if entry != str(self._folder)]
        self._sha256 = ""

    def _enter(self, code: Code) -> None:
        self.leave()
        self._folder = lay_out(code)
        for name in code.files:  # a case's own module goes before one of the same name that is already imported
            sys.modules.pop(name.removesuffix(".py").removesuffix("/__init__").replace("/", "."), None)
        sys.path.insert(0, str(self._folder))
        importlib.invalidate_caches()
        self._sha256 = code.sha256


class TargetMissing(Exception):
    """The case folder has no such module or function."""


def keyword_names(function: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """The keywords that `function` takes (`**` where it takes any), and those among them without a default.

    The first positional parameter is the scale and is left out.
    """
    parameters = list(inspect.signature(function).parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keywords = [p for p in parameters if p not in positional[:1] and p.kind is not p.VAR_POSITIONAL]
    names = ["**" if p.kind is p.VAR_KEYWORD else p.name for p in keywords]
    return names, [p.name for p in keywords if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
