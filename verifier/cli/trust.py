"""Whether a case's code may run here: asked once for code that never ran on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

import verifier
from verifier.casefile import Case, load
from verifier.model.complaints import shown
from verifier.model.errors import BadInput, VerifierError
from verifier.model.printable import printable


def ensure_trusted(case: Case, *, trust: bool) -> None:
    """Returns where no code will run, it ran here before, comes with this verifier, or the user agrees now.

    Without a terminal nothing is asked. Raises BadInput where nobody agreed.
    """
    if not any(probe.targets for probe in case.probes):
        return
    if case.code_sha256 in _trusted() or _is_shipped(case):
        return
    if not trust and not _agreed(case):
        raise BadInput(
            f"its code never ran here (sha256 {case.code_sha256[:16]})",
            where=str(case.folder),
            mend="read it, then repeat with --trust",
        )
    _remember(case.code_sha256)


def _agreed(case: Case) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    names = ", ".join(map(shown, sorted(case.files))) or "no files"
    folder = printable(str(case.folder))
    return click.confirm(
        f"{folder} holds code that never ran here ({names}). It will run with your rights. Run it?",
        err=True,
    )


def _state_file() -> Path:
    base = os.environ.get("XDG_STATE_HOME") or str(Path("~/.local/state").expanduser())
    return Path(base, "verifier", "trusted-code")


def _trusted() -> set[str]:
    try:
        return set(_state_file().read_text().split())
    except (OSError, UnicodeDecodeError):
        return set()


def _remember(sha256: str) -> None:
    path = _state_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(sha256 + "\n")
    except OSError:
        pass  # without a home, the user is asked again next time


def _is_shipped(case: Case) -> bool:
    """Whether the code comes with the source tree that this verifier runs from: it is as trusted as we are."""
    shipped = Path(verifier.__file__).parents[1] / "cases"
    for folder in sorted(shipped.iterdir()) if shipped.is_dir() else []:
        try:
            if load(folder).code_sha256 == case.code_sha256:
                return True
        except VerifierError:
            continue
    return False
