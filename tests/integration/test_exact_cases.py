"""Cases of exact work, from a dispute to a ruling, a report and a certificate that anybody can check."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.integration.conftest import REPOSITORY, Said, Verifier, edit, files_in
from verifier.ledger import Ledger
from verifier.report import run_schema

CHECKER = REPOSITORY / "verifier" / "exact" / "checker.py"


def ran(said: Said, code: int = 0) -> dict[str, Any]:
    assert said.code == code, said.err or said.out
    document = said.document
    jsonschema.validate(document, run_schema())
    return document


@pytest.fixture
def ball(tmp_path: Path) -> Path:
    """A copy of the heavy ball case that a test may change."""
    return Path(shutil.copytree(REPOSITORY / "cases" / "heavy_ball", tmp_path / "ball"))


def change(path: Path, **fields: Any) -> None:
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, **fields}))


def test_a_case_of_exact_work_ends_in_a_certificate(verifier: Verifier, ball: Path, tmp_path: Path) -> None:
    before = files_in(ball)
    document = ran(verifier("run", "ball", "--json"))  # no code of the case runs, so nothing asks for --trust
    assert (document["ruling"], document["verdict"]) == ("UPHELD", "falsified")
    (probe,) = document["probes"]
    assert (probe["kind"], probe["answer"], probe["outcome"]) == ("exact", "VIOLATED_FOR_ALL", "FOR_DISPUTE")
    assert probe["exact"]["answer"] == probe["answer"]
    assert all(hypothesis["holds"] for hypothesis in probe["exact"]["hypotheses"])
    assert [control["passed"] for control in document["controls"]] == [True, True, True]
    assert files_in(ball) == before, "the engine writes nothing into a case folder"

    certificate = tmp_path / probe["certificate"]
    alone = subprocess.run(
        [sys.executable, "-I", str(CHECKER), str(certificate)], capture_output=True, text=True, check=False
    )
    assert alone.returncode == 0
    assert alone.stdout.splitlines()[-1].startswith("ACCEPTED: the claim above fails for this start")
    page = (tmp_path / document["report"]).read_text()
    assert certificate.name in page
    assert "What was shown exactly" in page
    assert alone.stdout.splitlines()[-1] in page.replace("&#39;", "'")

    with Ledger.open(document["ledger"]["url"], create=False) as ledger:
        (evidence,) = ledger.entries("evidence")
    assert evidence.content["exact"]["certificate"] == certificate.read_text(), "the ledger alone is enough to check"

    again = ran(verifier("run", "ball", "--json", "--executor", "local=1"))
    assert again["ledger"] == document["ledger"], "a repeated run finds what it would append"


@pytest.mark.slow
def test_a_person_reads_where_it_fails_and_how_to_check_it(verifier: Verifier, tmp_path: Path) -> None:
    case = shutil.copytree(REPOSITORY / "cases" / "frank_wolfe", tmp_path / "tokens")
    text = (case / "case.toml").read_text()
    (case / "case.toml").write_text(text.partition("controls = [")[0])  # the start alone
    said = verifier("run", "tokens")
    assert said.code == 0, said.err
    assert "11498881/51714450" in said.out
    assert "at every t ≥ 224 some token fails (token 0 from 224 and 1 from 225)" in said.out
    assert "verifier check verifier-reports/tokens-" in said.out
    assert "no control shows that the set-up would have found the opposite" in said.out


@pytest.mark.slow
def test_a_proof_that_the_claim_holds_speaks_against_a_dispute_about_that_instance(
    verifier: Verifier, ball: Path
) -> None:
    edit(ball / "case.toml", 'problem = "cycle.json"', 'problem = "controls/quadratic.json"')
    document = ran(verifier("run", "ball", "--json"))
    assert document["ruling"] == "DISMISSED"
    assert (document["verdict"], document["because"]) == ("inconclusive", "dispute-dismissed")
    edit(ball / "case.toml", 'alleges = "instance"', 'alleges = "general"')
    document = ran(verifier("run", "ball", "--json"))
    assert (document["ruling"], document["reason"]) == ("UNDECIDED", "not-decided")
    assert document["registrations_of_this_claim"]["n"] == 2


@pytest.mark.slow
def test_a_start_outside_the_hypotheses_is_invalid(verifier: Verifier, ball: Path) -> None:
    edit(ball / "case.toml", 'problem = "cycle.json"', 'problem = "controls/not-smooth.json"')
    document = ran(verifier("run", "ball", "--json"))
    assert (document["ruling"], document["reason"]) == ("INVALID", "hypothesis-unmet")
    assert document["probes"][0]["certificate"] is None


@pytest.mark.slow
def test_a_wrong_control_leaves_nothing_ruled(verifier: Verifier, ball: Path) -> None:
    edit(ball / "case.toml", '"controls/quadratic.json", expect = "HOLDS_FOR_ALL"',
         '"controls/quadratic.json", expect = "VIOLATED_FOR_ALL"')  # fmt: skip
    document = ran(verifier("run", "ball", "--json"))
    assert (document["ruling"], document["reason"]) == ("INVALID", "control-failed")
    assert "controls/quadratic.json should give VIOLATED_FOR_ALL and gave HOLDS_FOR_ALL" in document["sentence"]


@pytest.mark.slow
def test_an_exact_probe_stands_beside_a_sweep(verifier: Verifier, toy: Path, ball: Path) -> None:
    shutil.copytree(ball / "controls", toy / "controls")
    shutil.copy(ball / "cycle.json", toy)
    probe = '\n[[probe]]\nname = "cycle"\nkind = "exact"\npart = "a"\nproblem = "cycle.json"\nhorizon = 500\n'
    (toy / "case.toml").write_text((toy / "case.toml").read_text() + probe)
    document = ran(verifier("run", "toy", "--trust", "--json"))
    assert [probe["outcome"] for probe in document["probes"]] == ["FOR_DISPUTE", "FOR_DISPUTE"]
    assert document["registered_scale"] == {"k": document["probes"][0]["registered_scale"]}
    said = verifier("plan", "toy", "--json")
    assert said.code == 0
    assert "cycle: exact work on cycle.json and 0 controls, at most 500 steps" in said.document["sentence"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"cycle.json"', '"circle.json"', "has no file circle.json; the nearest valid file is cycle.json"),
        ('"cycle.json"', '"../cycle.json"', "is not a file of the case folder"),
        ('"HOLDS_FOR_ALL"', '"HOLDS"', "HOLDS is neither an outcome nor an answer of exact work"),
        ('alleges = "instance"', 'alleges = "instance"\nhorizon = 0', "horizon"),
        ('alleges = "instance"', 'alleges = "instance"\nscale = { k = [2, 4] }', "unknown key scale"),
    ],
)  # fmt: skip
def test_a_bad_probe_is_one_sentence(verifier: Verifier, ball: Path, old: str, new: str, complaint: str) -> None:
    edit(ball / "case.toml", old, new)
    said = verifier("run", "ball")
    assert said.code == 2
    assert complaint in said.err.replace('"', "").replace("“", "").replace("”", "")
    assert "case.toml, line" in said.err


def test_a_bad_problem_file_is_said_before_anything_is_registered(
    verifier: Verifier, ball: Path, tmp_path: Path
) -> None:
    change(ball / "controls" / "quadratic.json", system="heavy-bell")
    said = verifier("run", "ball")
    assert said.code == 2
    assert "ball/controls/quadratic.json" in said.err
    assert "the nearest valid word is heavy-ball" in said.err
    (ball / "controls" / "quadratic.json").write_bytes(b'{"schema": ' + b"[" * 100_000)
    assert verifier("run", "ball").code == 2
    assert not list(tmp_path.glob("*.db"))


def test_scales_and_parameters_are_refused_where_nothing_has_them(verifier: Verifier, ball: Path) -> None:
    said = verifier("run", ball.name, "--scale", "k=2,4")
    assert (said.code, "no probe of this case is a sweep" in said.err) == (2, True)
    assert verifier("run", ball.name, "--set", "eta=1").code == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["frank_wolfe", "heavy_ball", "powell"])
def test_the_shipped_cases_uphold_their_disputes(verifier: Verifier, name: str) -> None:
    document = ran(verifier("run", str(REPOSITORY / "cases" / name), "--json", "--expect", "UPHELD"))
    assert document["verdict"] == "falsified"
    assert all(control["passed"] for control in document["controls"])
