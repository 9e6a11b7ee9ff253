"""A case's code laid out for workers: by several at once, without taking it from under each other."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from verifier.sweeps import code as module
from verifier.sweeps.code import Code, Importer, lay_out

CODE = Code("c" * 64, {"quantity.py": b"x = 1\n", "more/data.csv": b"1,2\n"})


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_what_another_worker_laid_out_meanwhile_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = lay_out(CODE)
    before = (folder / "quantity.py").stat().st_ino
    holds, asked = module._holds, []

    def too_early(*arguments: object) -> bool:
        asked.append(arguments)
        return len(asked) > 1 and holds(*arguments)  # the first look came before the other worker was done

    monkeypatch.setattr(module, "_holds", too_early)
    assert lay_out(CODE) == folder
    assert (folder / "quantity.py").stat().st_ino == before, "somebody may be importing from it"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_folder_that_somebody_changed_is_made_anew() -> None:
    folder = lay_out(CODE)
    (folder / "quantity.py").write_bytes(b"x = 2\n")
    assert lay_out(CODE) == folder
    assert (folder / "quantity.py").read_bytes() == b"x = 1\n"


def test_a_name_means_what_it_means_without_the_case_that_was_left() -> None:
    importer = Importer()
    target = importer.target(Code("d" * 64, {"colorsys.py": b"def hue(k): return k\n"}), "colorsys:hue")
    assert target(3) == 3
    importer.leave()
    assert not hasattr(importlib.import_module("colorsys"), "hue")  # the standard library's
    assert importer.target(Code("d" * 64, {"colorsys.py": b"def hue(k): return k\n"}), "colorsys:hue")(4) == 4
    importer.leave()


def test_a_worker_that_only_draws_starts_without_the_exact_finder() -> None:
    script = (
        "import sys, verifier.sweeps.executors.local\n"
        "print([n for n in ('verifier.exact', 'flint', 'pydantic', 'scipy') if n in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["[]"]
