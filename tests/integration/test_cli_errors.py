"""Bad input, a broken machine and a broken installation: one sentence, the right exit code, nothing changed."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.conftest import Said, Verifier, edit, files_in

HEAVY = ("numpy", "scipy", "ray", "jax", "numba", "sympy", "pydantic", "sqlalchemy")


def one_sentence(said: Said, code: int) -> str:
    """The error's one sentence, the same for people and machines."""
    assert said.code == code, said.out + said.err
    assert "Traceback" not in said.err
    document = said.document
    assert document["ok"] is False
    assert document["schema"] == "verifier/error/1"
    assert set(document["error"]) == {"what", "where", "mend"}
    assert document["error"]["what"]
    assert document["sentence"].endswith(".")
    return str(document["sentence"])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('written_by = "tests"', 'written_bye = "tests"', ["case.toml, line 4", "written_bye", "written_by"]),
        ('text = "The excess of the quantity is O(1)."', "", ["line 10", "text", "missing"]),
        ('kind = "sweep"', 'kind = "swepe"', ["line 34", "swepe", "sweep"]),
        ('kind = "growth"', 'kind = "groth"', ["line 44", "groth", "growth"]),
        ("scale = { k = [32, 64,", 'scale = { k = ["32", 64,', ["line 42", "probe[0].scale.k[0]"]),
        ('delta = "0.19"', "delta = 0.19", ["line 44", "0.19", "quotes"]),
        ('target = "quantity:growing"', 'target = "quantity:nowhere"', ["toy", "nowhere"]),
        ('target = "quantity:growing"', 'target = "absent:growing"', ["toy", "absent"]),
        ('baseline = "quantity:half"', 'baseline = "quantity:growing"', ["quantity:growing", "stream"]),
        ('part = "a"\nabout', 'part = "b"\nabout', ["line 35", "part", "a"]),
        ("percent = {", "per_cent = {", ["per_cent"]),
    ],
)
def test_a_bad_case_is_one_sentence_and_changes_nothing(
    verifier: Verifier, toy: Path, tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    edit(toy / "case.toml", old, new)
    before = files_in(tmp_path)
    sentence = one_sentence(verifier("run", "toy", "--trust", "--json"), 2)
    for word in words:
        assert word in sentence, sentence
    assert files_in(tmp_path) == before


def test_code_that_does_not_import_is_named(verifier: Verifier, toy: Path, tmp_path: Path) -> None:
    edit(toy / "quantity.py", "import math", "import mathematics")
    before = files_in(tmp_path)
    assert "mathematics" in one_sentence(verifier("run", "toy", "--trust", "--json"), 2)
    assert files_in(tmp_path) == before


@pytest.mark.usefixtures("toy")
def test_without_a_terminal_strangers_code_is_not_run(verifier: Verifier, tmp_path: Path) -> None:
    before = files_in(tmp_path)
    assert "--trust" in one_sentence(verifier("run", "toy", "--json"), 2)
    assert files_in(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["run", "nowhere"], "case.toml"),
        (["run", "toy", "--scale", "k=8,x"], '"x"'),
        (["run", "toy", "--scale", "n=8,16"], '"n"'),
        (["run", "toy", "--scale", "k=16,8"], "in order"),
        (["run", "toy", "--set", "percent=many"], "whole number"),
        (["run", "toy", "--set", "per=3"], "percent"),
        (["run", "toy", "--executor", "cloud"], "local"),
        (["run", "toy", "--time-limit", "soon"], "100s"),
        (["run", "toy", "--budget", "0"], "--budget"),
        (["run", "toy", "--expect", "FALSE"], "UPHELD"),
        (["run"], "CASE"),
        (["run", "toy", "--frobnicate"], "--frobnicate"),
        (["rnu", "toy"], "rnu"),
        (["status", "nowhere"], "case.toml"),
        (["plan", "nowhere"], "case.toml"),
        (["ledger", "verify"], "verifier.db"),
    ],
)
@pytest.mark.usefixtures("toy")
def test_bad_usage_is_one_sentence_and_changes_nothing(
    verifier: Verifier, tmp_path: Path, arguments: list[str], word: str
) -> None:
    before = files_in(tmp_path)
    assert word in one_sentence(verifier(*arguments, "--json"), 2)
    assert files_in(tmp_path) == before


@pytest.mark.parametrize("arguments", [[], ["ledger"]])
def test_a_command_that_is_not_named_is_asked_for(verifier: Verifier, arguments: list[str]) -> None:
    said = verifier(*arguments)
    (line,) = said.err.splitlines()
    where = " ".join(["verifier", *arguments])
    assert (said.code, line) == (2, f"Error: {where}: no command is named; see `{where} --help`.")


@pytest.mark.usefixtures("toy")
def test_a_ledger_that_is_not_one_is_left_alone(verifier: Verifier, tmp_path: Path) -> None:
    (tmp_path / "verifier.db").write_text("a diary, not a ledger\n" * 100)
    before = files_in(tmp_path)
    assert "verifier.db" in one_sentence(verifier("run", "toy", "--trust", "--json"), 2)
    assert files_in(tmp_path) == before


@pytest.mark.usefixtures("toy")
def test_a_folder_that_takes_no_file_is_no_answer(verifier: Verifier) -> None:
    # root may write into any folder; a kernel file system takes nobody's files
    sentence = one_sentence(verifier("run", "toy", "--trust", "--json", "--ledger", "/proc/verifier.db"), 3)
    assert "/proc" in sentence


@pytest.mark.usefixtures("toy")
def test_a_full_disk_loses_no_earlier_entry(verifier: Verifier, process: Verifier) -> None:
    assert verifier("register", "toy", "--trust").code == 0
    registered = verifier("ledger", "verify", "--json").document

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    sentence = one_sentence(process("run", "toy", "--json", preexec_fn=small_files), 3)
    assert "space" in sentence
    assert verifier("ledger", "verify", "--json").document == registered
    assert verifier("run", "toy", "--json").code == 0


@pytest.mark.usefixtures("toy")
def test_a_missing_dependency_is_named(process: Verifier, tmp_path: Path) -> None:
    shadow = tmp_path / "home" / "shadow"
    shadow.mkdir(parents=True)
    (shadow / "scipy.py").write_text("raise ModuleNotFoundError(\"No module named 'scipy'\", name='scipy')\n")
    repository = Path(__file__).parents[2]
    said = process("run", "toy", "--trust", "--json", env={"PYTHONPATH": f"{shadow}:{repository}"})
    assert "scipy" in one_sentence(said, 3)


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nsys.argv = ['verifier', '--help']\nfrom verifier.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert stop.code == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Commands:" in said.stdout
    assert said.stdout.splitlines()[-1] == "[]"


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = f"import sys, verifier; print([name for name in {HEAVY!r} if name in sys.modules], verifier.load.__name__)"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["[]", "load"]


def test_plan_runs_nothing_and_writes_nothing(verifier: Verifier, toy: Path, tmp_path: Path) -> None:
    edit(toy / "quantity.py", "import math", "raise RuntimeError('imported')")
    before = files_in(tmp_path)
    document = verifier("plan", "toy", "--json").document
    assert files_in(tmp_path) == before
    (probe,) = document["probes"]
    assert document["discount"] == pytest.approx(0.6079271018540267)
    assert probe["units"] == 6 * 30
    assert probe["power"][0]["outcomes"]["FOR_DISPUTE"] > 0.99
    assert verifier("plan", "toy", "--scale", "k=4,8,16").out.count("cannot decide") == 1


def test_a_plan_without_an_sd_asks_for_a_pilot(verifier: Verifier, toy: Path) -> None:
    edit(toy / "case.toml", 'planned = { sd = { "32" = "0.1" }, seconds = { "32" = "0.0000001" } }\n', "")
    document = verifier("plan", "toy", "--json").document
    assert document["next"] == ["verifier plan toy --pilot"]
    assert document["probes"][0]["power"] == []


@pytest.mark.usefixtures("toy")
def test_a_pilot_measures_and_leaves_no_evidence(verifier: Verifier, tmp_path: Path) -> None:
    before = files_in(tmp_path)
    said = verifier("plan", "toy", "--pilot", "--trust", "--json")
    assert said.code == 0, said.out
    (probe,) = said.document["probes"]
    assert set(probe["sd"]) == {"32", "64", "128", "256", "512", "1024"}
    assert probe["cpu_seconds"] > 0
    assert files_in(tmp_path) == before


@pytest.mark.usefixtures("toy")
def test_status_before_and_after(verifier: Verifier) -> None:
    assert verifier("status", "toy", "--json").document["state"] == "unregistered"
    registered = verifier("register", "toy", "--trust", "--json").document
    assert (registered["ordinal"], registered["found"]) == (1, False)
    status = verifier("status", "toy", "--json").document
    assert (status["state"], status["registered"]) == ("open", True)
    assert verifier("register", "toy", "--json").document["found"] is True
    assert verifier("run", "toy").code == 0
    assert verifier("status", "toy", "--json").document["standing"]["ruling"] == "UPHELD"
