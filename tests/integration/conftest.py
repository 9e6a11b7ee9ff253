"""The command line as a user types it, and a case that runs in a second."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from verifier.cli.main import main

TOY = Path(__file__).parent / "toy"
REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Said:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        (line,) = self.out.splitlines()
        document: dict[str, Any] = json.loads(line)
        return document


Verifier = Callable[..., Said]


def home(folder: Path) -> dict[str, str]:
    """A home of its own for each test, so that none trusts what another one ran; compiled functions are shared."""
    return {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(REPOSITORY / ".pytest_cache/home")}


def start(*arguments: str, cwd: Path, env: dict[str, str] | None = None, **options: Any) -> subprocess.Popen[str]:
    """Starts `verifier` in `cwd` with a home of its own there."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-m", "verifier", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **home(cwd), **(env or {})},
        text=True,
        **{**streams, **options},
    )


@pytest.fixture
def verifier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Verifier:
    """Runs `verifier ARGUMENTS` to its end in the test's folder, in this process: imports are paid for once."""
    monkeypatch.chdir(tmp_path)
    for name, value in home(tmp_path).items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str, env: dict[str, str] | None = None) -> Said:
        capfd.readouterr()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["verifier", *arguments])
            patch.setattr(sys, "stdin", io.StringIO())
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as stop:
                main()
        assert isinstance(stop.value.code, int)
        return Said(stop.value.code, *capfd.readouterr())

    return run


class Ran(NamedTuple):
    """A folder in which `verifier run toy --trust --json` has ended, on two workers, and what it printed."""

    folder: Path
    document: dict[str, Any]


@pytest.fixture(scope="module")
def toy_ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The toy case run once for all tests of a module. They copy the folder: see `after_a_run`."""
    folder = tmp_path_factory.mktemp("ran")
    shutil.copytree(TOY, folder / "toy", ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as out:
        patch.chdir(folder)
        for name, value in home(folder).items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["verifier", "run", "toy", "--trust", "--json", "--executor", "local=2"])
        patch.setattr(sys, "stdin", io.StringIO())
        with pytest.raises(SystemExit) as stop:
            main()
    assert stop.value.code == 0, out.getvalue()
    return Ran(folder, json.loads(out.getvalue()))


@pytest.fixture
def after_a_run(toy_ran: Ran, tmp_path: Path) -> dict[str, Any]:
    """Makes the test's folder one in which the toy case was trusted and run, and gives what that run printed."""
    shutil.copytree(toy_ran.folder, tmp_path, dirs_exist_ok=True)
    return toy_ran.document


@pytest.fixture
def process(tmp_path: Path) -> Verifier:
    """Runs `verifier ARGUMENTS` to its end in the test's folder, as a process of its own."""

    def run(*arguments: str, env: dict[str, str] | None = None, **options: Any) -> Said:
        running = start(*arguments, cwd=tmp_path, env=env, **options)
        out, err = running.communicate(timeout=300)
        return Said(running.returncode, out, err)

    return run


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A copy of the toy case that a test may change."""
    return Path(shutil.copytree(TOY, tmp_path / "toy"))


def edit(path: Path, old: str, new: str) -> None:
    """Replaces one occurrence of `old`."""
    text = path.read_text()
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new))


def files_in(folder: Path) -> dict[str, bytes]:
    """Every file below `folder`, the home aside."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "home" not in path.relative_to(folder).parts
    }
