"""`doctor`: honest about what is there, and running where dependencies are not."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import hatchling.build
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from verifier.cli.doctor import EXTRAS, doctor, examine, lines, mends, sentence
from verifier.report import load_schema

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what an installation of this tree says of itself; the one at hand may be older."""
    folder = tmp_path_factory.mktemp("built")
    with contextlib.chdir(ROOT):
        hatchling.build.prepare_metadata_for_build_editable(str(folder))
    return folder


@pytest.fixture(autouse=True)
def _this_version_is_installed(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(built))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(built), os.environ.get("PYTHONPATH")])))


def _name(requirement: str) -> str:
    return requirement.partition(">=")[0]


def test_it_looks_at_every_declared_dependency() -> None:
    findings = examine()
    assert {package.requirement for package in findings.core} == set(PROJECT["dependencies"])
    optional = {
        name: {need.replace("[binary]", "") for need in needs}
        for name, needs in PROJECT["optional-dependencies"].items()
        if name != "all"
    }
    assert {name: {each.requirement for each in packages} for name, packages in findings.extras.items()} == optional
    assert set(EXTRAS) == set(optional)


def test_the_object_keeps_to_its_schema() -> None:
    found = CliRunner().invoke(doctor, ["--json"])
    document = json.loads(found.output)
    Draft202012Validator(load_schema("doctor-1")).validate(document)
    assert found.exit_code == 0
    assert document["ok"]
    assert {each["name"] for each in document["core"]} == {_name(need) for need in PROJECT["dependencies"]}
    numpy = next(each for each in document["core"] if each["name"] == "numpy")
    assert numpy["version"] == metadata.version("numpy")
    assert document["disk"]["free_bytes"] > 0


def test_people_get_a_table() -> None:
    found = CliRunner().invoke(doctor, [])
    assert found.exit_code == 0
    for name in ("numpy", "ray [ray]", "cache", "cores", "free disk here"):
        assert any(line.startswith(f"{name} ") for line in found.output.split("\n"))


SCRIPT = """
import sys
for name in {absent!r}:
    sys.modules[name] = None  # importing it raises ImportError, as where it is not installed
sys.argv = ["verifier", "doctor", *{options!r}]
from verifier.cli.main import main
try:
    main()
finally:
    heavy = {{"numpy", "scipy", "jax", "ray", "numba", "sympy", "matplotlib"}} - set({absent!r})
    sys.stderr.write(",".join(sorted(heavy & set(sys.modules))))
"""


def _run(absent: list[str], *options: str) -> subprocess.CompletedProcess[str]:
    script = SCRIPT.format(absent=absent, options=list(options))
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("absent", [["numpy"], ["rich", "pydantic", "scipy", "sqlalchemy", "rfc8785", "jinja2"]])
def test_it_runs_without_the_core(absent: list[str]) -> None:
    found = _run(absent, "--json")
    assert (found.returncode, found.stderr) == (3, "")
    document: dict[str, Any] = json.loads(found.stdout)
    Draft202012Validator(load_schema("doctor-1")).validate(document)
    assert not document["ok"]
    assert {each["name"] for each in document["core"] if not each["ok"]} == set(absent)
    (command,) = document["next"]
    assert command.startswith("pip install ")
    for name in absent:
        assert name in document["sentence"]
        assert f"'{name}>=" in command
    people = _run(absent)
    assert (people.returncode, people.stderr) == (3, "")
    assert "not installed" in people.stdout
    assert command in people.stdout


def test_an_absent_extra_is_no_failure() -> None:
    found = _run(["jax", "statsmodels"], "--json")
    assert (found.returncode, found.stderr) == (0, "")
    document = json.loads(found.stdout)
    assert document["sentence"] == "The core is complete; not installed: the extras sweep, jax."
    assert document["next"] == ["pip install 'dispute-verifier[sweep]'", "pip install 'dispute-verifier[jax]'"]
    assert not document["extras"]["jax"]["installed"]
    assert document["extras"]["ray"]["installed"]


def test_an_extra_that_the_installed_version_does_not_know_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    older = [need for need in metadata.requires("dispute-verifier") or [] if "parquet" not in need]
    monkeypatch.setattr(metadata, "requires", lambda _: older)
    document = json.loads(CliRunner().invoke(doctor, ["--json"]).output)
    Draft202012Validator(load_schema("doctor-1")).validate(document)
    assert document["ok"]
    assert not document["extras"]["parquet"]["installed"]
    assert document["next"] == ["pip install 'dispute-verifier[parquet]'"]


def test_an_old_version_and_a_missing_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "1.26.4" if name == "numpy" else real(name))
    findings = examine()
    assert sentence(findings) == "The core is not complete: numpy (older than 2.0)."
    assert mends(findings)[0] == "pip install 'numpy>=2.0'"
    assert any(line.startswith("numpy") and line.endswith("older than 2.0") for line in lines(findings))

    def absent(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", absent)
    findings = examine()
    assert not findings.complete
    assert "installation is broken" in sentence(findings)
    assert mends(findings) == ["pip install --force-reinstall dispute-verifier"]
