"""The checker alone in an empty folder, on every certificate that the shipped problems give."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from verifier.cli.main import main

ROOT = Path(__file__).parents[2]
CHECKER = ROOT / "verifier" / "exact" / "checker.py"
NOT_CHECKED = ". Not checked here: that this is the paper's theorem; compare the quoted text."
START = "the claim above fails for this start"
CONCLUSION = "the hypotheses above hold and the conclusion fails at this assignment"
AT_LEAST = {
    "clipped-descent": START,
    "descent-ascent-alternating-1": START,
    "descent-ascent-alternating-half": START,
    "descent-ascent-simultaneous": START,
    "frank-wolfe-4-1": "the inequality above fails at every t >= 224",
    "heavy-ball": START,
    "powell": START,
    "three-block-admm": START,
}


def words(certificate: dict[str, Any]) -> str:
    """What stands between `ACCEPTED: ` and `. Not checked here` by the table of docs/certificates.md, section 2."""
    kind = certificate["kind"]
    if kind == "for-all":
        return f"the inequality above fails at every t >= {certificate['fails_from']}"
    if kind == "violation":
        times = [str(branch["t"]) for branch in certificate.get("branches", [certificate])]
        return (
            f"the inequality above fails{' for every selection,' if len(times) > 1 else ''} at t = {', '.join(times)}"
        )
    return START if kind in {"invariant", "spectral"} else CONCLUSION


def refute(*arguments: str) -> None:
    """`verifier refute ARGUMENTS`, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["verifier", "refute", *arguments, "--json"])
        with pytest.raises(SystemExit) as stop:
            main()
    assert stop.value.code == 0


def test_it_imports_the_standard_library_only() -> None:
    tree = ast.parse(CHECKER.read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add((node.module or "").split(".")[0])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"__import__", "eval", "exec", "compile"}
    assert names
    assert names <= sys.stdlib_module_names


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the checker and the certificates of the shipped problems, nothing else."""
    place = tmp_path_factory.mktemp("alone")
    shutil.copy(CHECKER, place / "checker.py")
    for path in sorted((ROOT / "problems").glob("*.json")):
        if "find" not in json.loads(path.read_text(encoding="utf-8"))["state"]:  # a search has no one certificate
            refute(str(path), "--horizon", "50", "--out", str(place / f"{path.stem}.json"))
    return place


@pytest.mark.slow
def test_it_accepts_every_shipped_certificate(folder: Path) -> None:
    certificates = sorted(folder.glob("*.json"))
    assert set(AT_LEAST) <= {path.stem for path in certificates}
    for path in certificates:
        command = [sys.executable, "-I", "checker.py", path.name]
        done = subprocess.run(command, cwd=folder, env={}, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), path.name
        lines = done.stdout.splitlines()
        said = words(json.loads(path.read_text(encoding="utf-8")))
        assert said == AT_LEAST.get(path.stem, said)
        assert lines[-1] == f"ACCEPTED: {said}{NOT_CHECKED}"
        heads = [line.split(":")[0] for line in lines if not line.startswith(" ")]
        order = ["Paper", "Locator", "Quoted", "Statement", "Symbols", "Data", "Hypotheses", "Sides", "ACCEPTED"]
        assert [head for head in order if head in heads] == [head for head in heads if head in order], path.name
        assert {"Statement", "Data", "Hypotheses", "Sides"} <= set(heads), path.name
        assert done.stdout.isascii()


@pytest.mark.parametrize(("arguments", "code"), [((), "usage"), (("none.json",), "unreadable"), (("a", "b"), "usage")])
def test_wrong_usage_is_malformed(folder: Path, arguments: tuple[str, ...], code: str) -> None:
    command = [sys.executable, "-I", "checker.py", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (2, "", 1)
    assert done.stdout.startswith(f"MALFORMED: {code}: ")
