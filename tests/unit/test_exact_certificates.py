"""Certificates round-trip: finder → file → schema and the checker in a process of its own; and the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import referencing

import verifier.exact
from tests.oracles.configurations import configurations, problem, semidefinite, tokens
from tests.unit.test_exact_hardmax import seeded
from verifier.exact import parse_problem, read_problem, refute

PROBLEMS = Path(__file__).parents[2] / "problems"
EXACT = Path(verifier.exact.__file__).parent
CHECKER = EXACT / "checker.py"


def schemas() -> jsonschema.Draft202012Validator:
    problems, certificates = (
        json.loads((EXACT / "schemas" / f"{name}-1.schema.json").read_text()) for name in ("problem", "certificate")
    )
    registry = referencing.Registry().with_resources(
        (schema["$id"], referencing.Resource.from_contents(schema)) for schema in (problems, certificates)
    )
    return jsonschema.Draft202012Validator(certificates, registry=registry)


def verdict(certificate: dict[str, Any], folder: Path) -> str:
    path = folder / "certificate.json"
    path.write_text(json.dumps(certificate))
    command = [sys.executable, "-I", str(CHECKER), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert run.stderr == ""
    return run.stdout.splitlines()[-1]


@pytest.mark.parametrize("path", sorted(PROBLEMS.glob("*.json")), ids=lambda path: path.stem)
def test_certificates_of_shipped_problems_are_accepted(path: Path, tmp_path: Path) -> None:
    found = refute(read_problem(path), horizon=300)
    if found.certificate is None:
        assert found.no_certificate
        return
    schemas().validate(found.certificate)
    assert verdict(found.certificate, tmp_path).startswith("ACCEPTED")


def documents() -> list[tuple[str, dict[str, Any]]]:
    rng = seeded(11)
    found = [(f"shape-{k}", problem(some, ties="lowest-index")) for k, some in enumerate(configurations(1))]
    for step in ("2/(t+1)", "1/(t+2)", "1/3", "4/5"):
        found += [(step, problem(tokens(rng, 4, 2), step=step, claim="energy-bound-any-step")) for _ in range(2)]
    found += [(f"rank-{r}", problem(tokens(rng, 5, 3), B=semidefinite(rng, 3, r))) for r in (1, 2, 3)]
    lists = [[["3", "1"], ["1", "3"]], [["2", "1"], ["1", "2"]], [["1", "0"], ["0", "1"]]]
    found.append(("list", problem(tokens(rng, 4, 2), B=lists)))
    found.append(("branches", problem([["-3", "0"], ["1", "-2"], ["3", "3"], ["-1/3", "-1/3"]])))
    return found


@pytest.mark.parametrize(("name", "document"), documents())
def test_certificates_of_random_starts_are_accepted(name: str, document: dict[str, Any], tmp_path: Path) -> None:
    found = refute(parse_problem(document), horizon=1_500)
    if found.certificate is None:
        assert not found.answer.startswith("VIOLATED"), (name, found.no_certificate)
        return
    schemas().validate(found.certificate)
    assert verdict(found.certificate, tmp_path).startswith("ACCEPTED")


def test_a_certificate_on_a_start_outside_the_hypotheses_is_rejected(tmp_path: Path) -> None:
    certificate = refute(parse_problem(problem([["4"], ["-1"]]))).certificate
    assert certificate is not None
    outside = json.loads(json.dumps(certificate).replace('"-1"', '"1"'))
    assert verdict(outside, tmp_path).startswith("REJECTED: hypothesis")


def command(*arguments: str, folder: Path) -> tuple[int, list[dict[str, Any]]]:
    run = subprocess.run(
        [sys.executable, "-m", "verifier", *arguments, "--json"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=120,
    )
    return run.returncode, [json.loads(line) for line in run.stdout.splitlines()]


def test_refute_and_check_on_the_command_line(tmp_path: Path) -> None:
    code, (said,) = command("refute", str(PROBLEMS / "frank-wolfe-4-1.json"), "--out", "c.json", folder=tmp_path)
    assert code == 0
    assert said["answer"] == "VIOLATED_FOR_ALL"
    assert said["first_violation"] == {
        "t": 224,
        "component": 0,
        "lhs": "11498881/51714450",
        "rhs": "2/9",
    }
    assert said["rhs_is"] == "exact"
    assert (said["fails_from"], said["fails_from_by_component"]) == (224, [224, 225])
    assert all(h["holds"] for h in said["hypotheses"])
    assert said["ties"] is None
    assert said["certificate"] == "c.json"
    assert {form["first_violation"]["t"] for form in said["float"]["forms"]} == {224}
    assert said["next"] == ["verifier check c.json"]

    code, (said,) = command("check", "c.json", folder=tmp_path)
    assert code == 0
    assert said["verdict"] == "ACCEPTED"
    assert said["quoted"]["lines"][-1].startswith("ACCEPTED: the inequality above fails at every t >= 224")

    certificate = json.loads((tmp_path / "c.json").read_text())
    certificate["branches"][0]["first"]["t"] = 223
    (tmp_path / "c.json").write_text(json.dumps(certificate))
    code, (said,) = command("check", "c.json", folder=tmp_path)
    assert (code, said["ok"], said["verdict"]) == (10, False, "REJECTED")

    (tmp_path / "c.json").write_text("{")
    code, (said,) = command("check", "c.json", folder=tmp_path)
    assert (code, said["ok"], said["verdict"]) == (2, False, "MALFORMED")


@pytest.mark.slow
def test_a_problem_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"schema": 1}')
    code, (said,) = command("refute", "p.json", folder=tmp_path)
    assert code == 2
    assert said["error"]["mend"]
    code, (said,) = command("refute", "none.json", folder=tmp_path)
    assert code == 2
    assert said["error"]["where"] == "none.json"
