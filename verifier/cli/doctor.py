"""`verifier doctor`: what is installed, what is missing, how to mend it.

Imports nothing but the standard library and click, so that it still runs where a dependency is broken.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from verifier.cli.output import Output, with_output
from verifier.model.errors import Exit

DISTRIBUTION = "dispute-verifier"
LEAST_PYTHON = (3, 11)
EXTRAS = {
    "sweep": "compiled simulators and classical fits",
    "ray": "sweeps over several machines",
    "jax": "wide batches on a GPU",
    "postgres": "a ledger that an organization shares",
    "parquet": "arrays of an audit in parquet files",
    "web": "the ledger over HTTP",
}
MODULES = {"python-flint": "flint"}
"""Distribution -> the module it installs, where the names differ."""

_REQUIREMENT = re.compile(
    r"""([A-Za-z0-9_.-]+)(?:\[[a-z,]+\])?\s*(?:>=([0-9.]+))?\s*(?:;\s*extra == ['"]([a-z]+)['"])?"""
)


@dataclass(frozen=True, slots=True)
class Package:
    """A dependency as found: `version` is None where it is not installed, `problem` empty where it is in order."""

    name: str
    wanted: str
    version: str | None
    problem: str

    @property
    def requirement(self) -> str:
        """What pip is asked for: `numpy>=2.0`."""
        return f"{self.name}>={self.wanted}" if self.wanted else self.name

    def document(self, mend: str) -> dict[str, Any]:
        """The package as JSON values, with the command that mends it."""
        return {
            "name": self.name,
            "version": self.version,
            "wanted": self.requirement,
            "ok": not self.problem,
            "problem": self.problem,
            "mend": mend if self.problem else "",
        }


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything doctor looks at."""

    core: tuple[Package, ...]
    extras: dict[str, tuple[Package, ...]]
    cache: Path
    cache_writable: bool
    cores: int
    free_bytes: int | None

    @property
    def python_ok(self) -> bool:
        """Whether this Python is new enough."""
        return sys.version_info >= LEAST_PYTHON

    @property
    def missing_core(self) -> tuple[Package, ...]:
        """What of the core is missing or too old."""
        return tuple(package for package in self.core if package.problem)

    @property
    def missing_extras(self) -> tuple[str, ...]:
        """Extras that lack a package, or that the installed version does not know yet."""
        return tuple(
            name for name, packages in self.extras.items() if not packages or any(each.problem for each in packages)
        )

    @property
    def complete(self) -> bool:
        """Whether the core is complete; extras may be missing."""
        return self.python_ok and bool(self.core) and not self.missing_core


@click.command()
@with_output
def doctor(output: Output) -> None:
    """Show what is installed, what is missing and how to mend it.

    Ends with 0 where the core is complete, with 3 where something of it is missing. Extras may be absent.
    """
    findings = examine()
    output.exit_code = Exit.DONE if findings.complete else Exit.NO_ANSWER
    if output.json:
        output.result(
            "verifier/doctor/1", sentence(findings), ok=findings.complete, next_=mends(findings), **document(findings)
        )
        return
    # plain text, not a rich table: rich may be what is missing
    for line in lines(findings):
        click.echo(line)
    click.echo(sentence(findings))
    for command in mends(findings):
        click.echo(f"  next: {command}")


def examine() -> Findings:
    """Looks at packages (without importing them), cache folder, cores and free disk."""
    from verifier.sweeps.code import cache_folder  # standard library only

    try:
        required = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        required = []
    found = [_package(text) for text in required]
    cache = cache_folder()
    try:
        free: int | None = shutil.disk_usage(Path.cwd()).free
    except OSError:  # the working folder is gone, or says nothing of its disk
        free = None
    return Findings(
        core=tuple(package for package, extra in found if not extra),
        extras={name: tuple(package for package, extra in found if extra == name) for name in EXTRAS},
        cache=cache,
        cache_writable=os.access(cache if cache.exists() else cache.parent, os.W_OK),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        free_bytes=free,
    )


def _package(requirement: str) -> tuple[Package, str]:
    """A requirement as installed metadata lists it, and the extra it belongs to ("" for the core)."""
    match = _REQUIREMENT.match(requirement)
    assert match, requirement
    name, wanted, extra = match[1], match[2] or "", match[3] or ""
    try:
        version: str | None = metadata.version(name)
    except metadata.PackageNotFoundError:
        version = None
    module = MODULES.get(name, name.replace("-", "_"))
    if version is None or find_spec(module) is None:
        return Package(name, wanted, None, "not installed"), extra
    if _release(version) < _release(wanted):
        return Package(name, wanted, version, f"older than {wanted}"), extra
    return Package(name, wanted, version, ""), extra


def _release(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: (2, 4, 6) for 2.4.6rc1."""
    leading = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(number) for number in leading[0].split(".")) if leading else ()


def mends(findings: Findings) -> list[str]:
    """The commands that put right what is missing, the core first."""
    if not findings.core:
        return [f"pip install --force-reinstall {DISTRIBUTION}"]
    wrong = [package.requirement for package in findings.missing_core]
    commands = [_install(wrong)] if wrong else []
    return [*commands, *(_install([f"{DISTRIBUTION}[{extra}]"]) for extra in findings.missing_extras)]


def _install(requirements: Sequence[str]) -> str:
    return "pip install " + " ".join(shlex.quote(text) for text in requirements)


def sentence(findings: Findings) -> str:
    """What doctor found, in a sentence."""
    if not findings.python_ok:
        return f"Python {platform.python_version()} is too old; 3.11 or newer is needed."
    if not findings.core:
        return f"The installation is broken: {DISTRIBUTION} is not among the installed packages."
    if findings.missing_core:
        wrong = ", ".join(f"{package.name} ({package.problem})" for package in findings.missing_core)
        return f"The core is not complete: {wrong}."
    absent = findings.missing_extras
    if not absent:
        return "The core and all extras are complete."
    return f"The core is complete; not installed: the extra{'s' if len(absent) > 1 else ''} {', '.join(absent)}."


def document(findings: Findings) -> dict[str, Any]:
    """The findings as JSON values, beside the contract's fields."""
    return {
        "python": {"version": platform.python_version(), "ok": findings.python_ok},
        "core": [package.document(_install([package.requirement])) for package in findings.core],
        "extras": {
            name: {
                "installed": name not in findings.missing_extras,
                "packages": [package.document(_install([package.requirement])) for package in packages],
                "mend": _install([f"{DISTRIBUTION}[{name}]"]) if name in findings.missing_extras else "",
            }
            for name, packages in findings.extras.items()
        },
        "cache": {"folder": str(findings.cache), "writable": findings.cache_writable},
        "cores": findings.cores,
        "disk": {"folder": os.curdir, "free_bytes": findings.free_bytes},
    }


def lines(findings: Findings) -> list[str]:
    """The table for people: what, version, and what is wrong with it."""
    rows = [("python", platform.python_version(), "" if findings.python_ok else "too old, 3.11 is needed")]
    rows += [(package.name, package.version or "-", package.problem) for package in findings.core]
    for extra, packages in findings.extras.items():
        rows += [(f"{package.name} [{extra}]", package.version or "-", package.problem) for package in packages]
    written = "" if findings.cache_writable else "not writable: compiled code is not kept; set XDG_CACHE_HOME"
    free = findings.free_bytes
    rows += [
        ("cache", str(findings.cache), written),
        ("cores", str(findings.cores), ""),
        ("free disk here", "unknown" if free is None else f"{free / 1e9:.1f} GB", ""),
    ]
    first, second = (max(len(row[i]) for row in rows) for i in (0, 1))
    return [f"{name:<{first}}  {value:<{second}}  {problem or 'ok'}".rstrip() for name, value, problem in rows]
