"""What the statistics commands print under --json, every rule of it, against its JSON Schema."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from tests.integration.conftest import Verifier
from verifier.cli.main import verifier as command
from verifier.model.outcomes import Outcome
from verifier.report import load_schema
from verifier.stats.bound_rule import BoundAnswer, BoundRule
from verifier.stats.bounded_design import CountRule, ProportionRule
from verifier.stats.growth_rule import GrowthAnswer, GrowthRule
from verifier.stats.growth_statistics import GrowthStatistics
from verifier.stats.margin_answers import MarginAnswer
from verifier.stats.margin_design import DifferenceRule, RatioRule
from verifier.stats.margin_statistics import MarginStatistics
from verifier.stats.rate_rule import RateRule
from verifier.stats.teams import TeamAnswer

RULES = (GrowthRule, RateRule, DifferenceRule, RatioRule, ProportionRule, CountRule, BoundRule)
COMMANDS = ("stats-test-1", "stats-plan-1", "stats-portfolio-1")
ROOT = Path(__file__).parents[2]


def said(name: str, *words: str) -> dict[str, Any]:
    """The document that a command prints, its schema's errors said in full."""
    done = CliRunner().invoke(command, ["stats", *words, "--json"], standalone_mode=False)
    assert done.exception is None, done.exception
    document: dict[str, Any] = json.loads(done.stdout)
    wrong = [f"{list(e.absolute_path)}: {e.message}" for e in checker(name).iter_errors(document)]
    assert not wrong, wrong
    return document


def checker(name: str) -> Draft202012Validator:
    return Draft202012Validator(load_schema(name))


def table(folder: Path, header: str, rows: Iterator[tuple[object, ...]]) -> str:
    path = folder / "runs.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows), ""]))
    return str(path)


def one_arm(folder: Path, *, n: int = 40, mean: float = 0.0) -> str:
    rng = np.random.default_rng(7)
    return table(folder, "replicate,value", ((r, rng.normal(mean, 3)) for r in range(n)))


def arms(folder: Path, *, n: int = 40, items: int = 0) -> str:
    rng = np.random.default_rng(7)
    cells = [(r, arm, i) for r in range(n) for arm in ("left", "right") for i in range(max(items, 1))]
    rows = ((r, arm, i, 8 + rng.normal(arm == "left", 0.5)) for r, arm, i in cells)
    if items:
        return table(folder, "replicate,arm,item,value", rows)
    return table(folder, "replicate,arm,value", ((r, arm, x) for r, arm, _, x in rows))


def outcomes(folder: Path) -> str:
    rng = np.random.default_rng(7)
    return table(folder, "replicate,value", ((r, int(rng.random() < 0.5)) for r in range(60)))


def sweep(folder: Path, *, slope: float = 0.38, axis: str = "k", n: int = 20) -> str:
    rng = np.random.default_rng(7)
    cells = [(k, r) for k in (8, 16, 32, 64, 128, 256) for r in range(n)]
    value: Callable[[int], float] = lambda k: slope * math.log(k) + rng.normal(0, 0.2)  # noqa: E731
    return table(
        folder, f"{axis},replicate,value", ((k, r, math.exp(-value(k)) if axis == "t" else value(k)) for k, r in cells)
    )


DIFFERENCE = ("--rule", "difference", "--claimed", "1")
TESTS: dict[str, tuple[Callable[[Path], str], tuple[str, ...]]] = {
    "paired": (arms, DIFFERENCE),
    "unpaired": (arms, (*DIFFERENCE, "--noise", "unpaired", "--looks", "10,20,40")),
    "pooled": (arms, (*DIFFERENCE, "--noise", "pooled", "--better", "lower")),
    "too few": (lambda folder: one_arm(folder, n=5), DIFFERENCE),
    "betting": (arms, (*DIFFERENCE, "--bounds", "0,20", "--method", "betting")),
    "one test set": (lambda folder: arms(folder, items=4), (*DIFFERENCE, "--population", "this-test-set")),
    "items drawn": (
        lambda folder: arms(folder, n=3, items=40),
        (*DIFFERENCE, "--population", "items-drawn"),
    ),
    "flags": (arms, (*DIFFERENCE, "--printed-error", "9", "--printed-interval", "-9,9", "--printed", "left=9")),
    "classical, picture": (arms, (*DIFFERENCE, "--classical", "--figure", "FIGURE")),
    "ratio": (arms, ("--rule", "ratio", "--claimed", "8", "--delta", "1.25", "--alleged", "1/2")),
    "ratio of means": (
        arms,
        ("--rule", "ratio", "--claimed", "8", "--delta", "1.25", "--alleged", "1/2", "--estimand", "ratio-of-means"),
    ),
    "proportion": (outcomes, ("--rule", "proportion", "--claimed", "0.9", "--alleged", "0.5", "--classical")),
    "count": (outcomes, ("--rule", "count", "--claimed", "0.9", "--alleged", "0.5", "--total", "60")),
    "growth": (sweep, ("--rule", "growth", "--alleged", "0.38", "--looks", "6,10,20", "--classical")),
    "growth, pooled": (sweep, ("--rule", "growth", "--alleged", "0.38", "--noise", "pooled", "--law", "sqrt")),
    "growth, one scale": (sweep, ("--rule", "growth", "--alleged", "0.38", "--at", "k=8")),
    "growth, below the minimum": (lambda folder: sweep(folder, n=3), ("--rule", "growth", "--alleged", "0.38")),
    "rate": (
        lambda folder: sweep(folder, slope=0.4, axis="t"),
        ("--rule", "rate", "--claimed", "1", "--alleged", "0.4"),
    ),
}


SLOW = ("classical, picture", "proportion")  # they import statsmodels


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow) if case in SLOW else case for case in TESTS]
)
def test_stats_test(tmp_path: Path, case: str) -> None:
    make, words = TESTS[case]
    figure = str(tmp_path / "e.svg")
    document = said("stats-test-1", "test", make(tmp_path), *(figure if word == "FIGURE" else word for word in words))
    assert document["teams"] is None


@pytest.mark.slow
def test_stats_test_of_teams_and_of_a_bound(tmp_path: Path) -> None:
    tables = ROOT / "docs" / "tables"
    rule = ("--rule", "difference", "--claimed", "4", "--bounds", "0,100")
    document = said("stats-test-1", "test", str(tables / "teams.csv"), *rule, "--classical")
    assert len(document["teams"]["members"]) == len(document["quoted"]["teams"]) == 3
    lines = (tables / "teams.csv").read_text().splitlines()
    copied = [line.replace("east", "oust") for line in lines if "east" in line]
    (tmp_path / "copied.csv").write_text("\n".join([*lines, *copied, ""]))
    document = said("stats-test-1", "test", str(tmp_path / "copied.csv"), *rule)
    assert document["teams"]["duplicates"]
    rng = np.random.default_rng(7)
    camps = [(f"team {i}", "ab"[i > 1], r, rng.normal(0.0 if i > 1 else 4.0, 2.0)) for i in range(4) for r in range(60)]
    document = said(
        "stats-test-1",
        *("test", table(tmp_path, "team,machine,replicate,value", iter(camps)), *rule[:4], "--covariate", "machine"),
    )
    assert document["answer"] == "HETEROGENEOUS"
    assert document["quoted"]["covariates"][0]["covariate"] == "machine"
    costs = [(item, r, 1 + 0.01 * ((r * 7) % 5) + (item == "b")) for item in "ab" for r in range(40)]
    document = said(
        "stats-test-1", "test", table(tmp_path, "item,replicate,value", iter(costs)), "--rule", "bound", "--bound", "3"
    )
    assert document["answer"] == "NO_VIOLATION_FOUND"


PLANS: dict[str, str] = {
    "growth": "--rule growth --scale k=8,16,32,64 --replicates 3 --sd 0.3 --effect 0.38",
    "growth that decides": "--rule growth --scale k=8,16,32,64,128,256 --replicates 60 --sd 0.3 --effect 0.38",
    "rate": "--rule rate --claimed 1 --alleged 0.5 --scale t=8,16,32,64,128 --replicates 30 --sd 0.3",
    "difference": "--rule difference --claimed 4 --sd 3 --replicates 60 --effect 2",
    "difference, too few": "--rule difference --claimed 4 --sd 3 --replicates 5",
    "items drawn": "--rule difference --claimed 4 --population items-drawn --sd 3 --item-sd 30",
    "ratio": "--rule ratio --claimed 8 --delta 1.25 --alleged 1/2 --sd 0.1",
    "proportion": "--rule proportion --claimed 0.9 --alleged 0.5",
    "count": "--rule count --claimed 0.9 --alleged 0.5 --total 60",
    "bound, in the mean": "--rule bound --instances 20 --effect 1 --replicates 40",
    "bound, by a share": "--rule bound --instances 200 --share 0.01",
}


@pytest.mark.parametrize("case", PLANS)
def test_stats_plan(case: str) -> None:
    said("stats-plan-1", "plan", *PLANS[case].split())


@pytest.mark.slow
def test_stats_portfolio(verifier: Verifier, toy: Path) -> None:
    assert verifier("run", str(toy), "--trust", "--json").code == 0
    document = verifier("stats", "portfolio", "--json").document
    checker("stats-portfolio-1").validate(document)
    assert document["families"]["for"]["standings"]
    for part in (document, document["families"]["for"], document["families"]["for"]["standings"][0]):
        part["more"] = 1
        assert not checker("stats-portfolio-1").is_valid(document)
        del part["more"]


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for key, value in schema.items():
            if key != "if":
                yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


OPEN = {
    "stats-test-1": ["What stands beside and decides nothing, by the rule."],
    "stats-plan-1": [],
    "stats-portfolio-1": [],
}
"""The objects of a schema whose keys it does not name."""


@pytest.mark.parametrize("name", COMMANDS)
def test_the_schema_is_one_and_leaves_no_object_open_but_by_its_words(name: str) -> None:
    schema = load_schema(name)
    Draft202012Validator.check_schema(schema)
    open_ones = [one for one in objects(schema) if "if" not in one and "additionalProperties" not in one]
    assert [one["description"] for one in open_ones] == OPEN[name]
    assert schema["title"] == f"verifier/{name.removesuffix('-1')}/1"
    for one in objects(schema):
        assert set(one.get("required", ())) <= set(one.get("properties", {}))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_the_schemas_of_a_rule_have_its_own_fields(rule: Any) -> None:
    fields = {"kind", *(field.name for field in dataclasses.fields(rule))}
    plan = load_schema("stats-plan-1")["$defs"][f"rule_{rule.kind}"]["properties"]
    assert set(plan) == fields
    names = {"instances", "weights", "alleged"} if rule is BoundRule else set()  # strangers' words
    assert set(load_schema("stats-test-1")["$defs"][f"rule_{rule.kind}"]["properties"]) == fields - names


def test_the_schema_of_a_test_has_every_answer_and_every_statistic() -> None:
    defs = load_schema("stats-test-1")["$defs"]
    for name, answers in (("growth", GrowthAnswer), ("margin", MarginAnswer), ("bound", BoundAnswer)):
        assert set(defs[name]["properties"]["answer"]["enum"]) == {str(one) for one in answers}
    assert set(defs["several"]["properties"]["answer"]["enum"]) == {str(one) for one in TeamAnswer}
    assert set(defs["outcome"]["enum"]) == {str(one) for one in Outcome}
    for name, record in (("growth_statistics", GrowthStatistics), ("margin_statistics", MarginStatistics)):
        assert set(defs[name]["properties"]) == {field.name for field in dataclasses.fields(record)}
        optional = {key for key, kind in typing.get_type_hints(record).items() if "None" in str(kind)}
        for key in optional - {"misfit"}:
            assert Draft202012Validator({**defs[name]["properties"][key], "$defs": defs}).is_valid(None), key


def test_what_is_not_such_a_document_is_not_valid(tmp_path: Path) -> None:
    document = said("stats-test-1", "test", arms(tmp_path), *DIFFERENCE)
    check = checker("stats-test-1")
    spoilt: list[Callable[[dict[str, Any]], object]] = [
        lambda d: d.update(decisive=True),
        lambda d: d.update(retrospective=False),
        lambda d: d.update(answer="CONFIRMED_FOR"),
        lambda d: d.update(outcome="UPHELD"),
        lambda d: d.update(more=1),
        lambda d: d.pop("looks"),
        lambda d: d["rule"].update(kind="growth"),
        lambda d: d["rule"].update(claimed=1),
        lambda d: d["looks"][0]["e"].update(below_claim=-1),
        lambda d: d["statistics"]["effect"].update(interval=[1]),
        lambda d: d["adequacy"].update(needed={"replicates": "many"}),
        lambda d: d["quoted"].update(summary="x"),
    ]
    assert check.is_valid(document)
    for spoil in spoilt:
        other = copy.deepcopy(document)
        spoil(other)
        assert not check.is_valid(other)
