"""`verifier stats test` on instances under a bound, and on teams with covariates, as a user types it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from tests.integration.conftest import Said, Verifier
from tests.integration.test_cli_errors import one_sentence
from verifier.report import load_schema
from verifier.stats import log_mixture_e

BOUND = ("--rule", "bound")


def write(path: Path, header: str, rows: Iterable[Sequence[object]]) -> str:
    path.write_text("".join(f"{line}\n" for line in [header, *(",".join(map(str, row)) for row in rows)]))
    return str(path)


def costs(folder: Path, means: dict[str, float], *, n: int = 60, seed: int = 4) -> str:
    rng = np.random.default_rng(seed)
    draws = {name: mean + 0.5 * rng.standard_normal(n) for name, mean in means.items()}
    rows = [(name, r + 1, repr(float(x))) for name, values in draws.items() for r, x in enumerate(values)]
    return write(folder / "costs.csv", "item,replicate,value", rows)


def answer(said: Said) -> dict[str, Any]:
    assert said.code == 0, said.err or said.out
    document = said.document
    jsonschema.validate(document, load_schema("stats-test-1"))
    assert (document["retrospective"], document["decisive"]) == (True, False)
    return document


def test_one_instance_above_its_bound_is_found_by_the_weighted_mean(verifier: Verifier, tmp_path: Path) -> None:
    data = costs(tmp_path, {"a": 1.0, "b": 1.4, "c": 2.6})
    found = answer(verifier("stats", "test", data, *BOUND, "--bound", "2", "--looks", "30,45,60", "--json"))
    assert (found["answer"], found["outcome"]) == ("VIOLATED_IN_MEAN", "FOR_DISPUTE")
    assert found["statistics"]["instances"] == 3
    # the same by hand, from the t of each instance at its look
    draws = {name: [] for name in "abc"}
    for line in Path(data).read_text().splitlines()[1:]:
        name, _, value = line.split(",")
        draws[name].append(float(value))
    n = found["stop"]
    logs = []
    for values in draws.values():
        z = np.array(values[:n]) - 2
        t = z.mean() / (z.std(ddof=1) / math.sqrt(n))
        logs.append(float(log_mixture_e(np.array([t]), df=np.array([n - 1.0]), n=np.array([float(n)]))[0]))
    e = np.mean(np.exp(logs))
    (look,) = [look for look in found["looks"] if look["n"] == n]
    assert look["e_mean"] == pytest.approx(e, rel=1e-9)
    assert look["e_mean"] >= 1e4
    assert all(look["e_mean"] < 1e4 for look in found["looks"] if look["n"] < n)


def test_passes_show_nothing_and_say_what_would(verifier: Verifier, tmp_path: Path) -> None:
    data = costs(tmp_path, {"a": 1.0, "b": 2.05})
    found = answer(verifier("stats", "test", data, *BOUND, "--bound", "2", "--json"))
    assert (found["answer"], found["reason"]) == ("NO_VIOLATION_FOUND", "horizon")
    said = verifier("stats", "test", data, *BOUND, "--bound", "2")
    assert said.out.startswith("retrospective: ")
    assert f"needed: {found['needed']['replicates']:,} replicates" in said.out
    assert "blind to failures rarer" in said.out


def test_too_few_replicates_never_count(verifier: Verifier, tmp_path: Path) -> None:
    data = costs(tmp_path, {"a": 9.0, "b": 1.0}, n=20)
    found = answer(verifier("stats", "test", data, *BOUND, "--bound", "2", "--json"))
    assert found["answer"] == "NO_VIOLATION_FOUND"
    fewer = answer(verifier("stats", "test", data, *BOUND, "--bound", "2", "--minimum-n", "12", "--json"))
    assert fewer["answer"] == "VIOLATED_IN_MEAN"


@pytest.mark.parametrize(
    ("values", "members", "outcome", "answered"),
    [
        (("3/2", "2", "2"), ("--members", "a,b,c", "--alleged", "c"), "AGAINST_DISPUTE", "HOLDS_ON_CLASS"),
        (("3/2", "2", "2"), ("--members", "a,b,c"), "UNDECIDED", "HOLDS_ON_CLASS"),
        (("3/2", "2", "2"), (), "UNDERPOWERED", "NO_VIOLATION_FOUND"),
        (("3/2", "2", "2.0"), ("--members", "a,b,c", "--alleged", "c"), "UNDERPOWERED", "NO_VIOLATION_FOUND"),
        (("3/2", "2", ""), ("--members", "a,b,c", "--alleged", "c"), "UNDERPOWERED", "NO_VIOLATION_FOUND"),
        (("3/2", "2", "9/4"), ("--members", "a,b,c", "--alleged", "c"), "UNDECIDED", "VIOLATED_FLOAT"),
    ],
)
def test_costs_without_chance(
    verifier: Verifier, tmp_path: Path, values: Sequence[str], members: Sequence[str], outcome: str, answered: str
) -> None:
    data = write(
        tmp_path / "x.csv", "item,g,replicate,value", [(n, 2, 1, v) for n, v in zip("abc", values, strict=True)]
    )
    found = answer(verifier("stats", "test", data, *BOUND, "--bound", "g", *members, "--json"))
    assert (found["outcome"], found["answer"]) == (outcome, answered)


def test_costs_are_compared_as_written_and_a_decimal_in_a_class_is_named(verifier: Verifier, tmp_path: Path) -> None:
    header = "item,replicate,value"
    data = write(tmp_path / "c.csv", header, [("i16", 1, 8), ("i4", 1, 4), ("i9", 1, 6), ("i25", 1, "10.0")])
    known = ("--members", "i16,i4,i9,i25", "--alleged", "i25")
    found = answer(verifier("stats", "test", data, *BOUND, "--bound", "10", *known, "--json"))
    assert found["answer"] == "NO_VIOLATION_FOUND"
    assert "the value in line 5 is a decimal" in found["sentence"], "no name of a stranger's in it"
    said = verifier("stats", "test", data, *BOUND, "--bound", "10", *known).out
    assert '"i25", line 5, is a decimal, and may have been rounded; write an integer or p/q' in said
    assert "registered" not in said
    tenth = write(tmp_path / "t.csv", header, [("a", r, "0.1") for r in range(60)])
    assert answer(verifier("stats", "test", tenth, *BOUND, "--bound", "0.1", "--json"))["answer"] == (
        "NO_VIOLATION_FOUND"
    )
    for rows in ([("a", 1, "2.00000000000000000001")], [("a", r, "2.00000000000000000001") for r in range(60)]):
        above = write(tmp_path / "a.csv", header, rows)
        assert answer(verifier("stats", "test", above, *BOUND, "--bound", "2", "--json"))["answer"] == "VIOLATED_FLOAT"


def test_the_order_of_rows_changes_nothing(verifier: Verifier, tmp_path: Path) -> None:
    data = costs(tmp_path, {"a": 1.0, "b": 2.3})
    first = answer(verifier("stats", "test", data, *BOUND, "--bound", "2", "--json"))
    header, *lines = Path(data).read_text().splitlines()
    Path(data).write_text("\n".join([header, *reversed(lines), ""]))
    assert answer(verifier("stats", "test", data, *BOUND, "--bound", "2", "--json")) == first


@pytest.mark.parametrize(
    ("header", "rows", "options", "words"),
    [
        ("replicate,value", [(1, 1)], ("--bound", "2"), ["line 1", "item"]),
        ("item,replicate,value", [("a", 1, 1)], (), ["--bound"]),
        ("item,replicate,value", [("a", 1, 1)], ("--bound", "2x"), ["--bound", "2x"]),
        ("item,replicate,value", [("a", 1, 1)], ("--bound", "g"), ["line 1", "no column g"]),
        ("item,g,replicate,value", [("a", 2, 1, 1), ("a", 3, 2, 1)], ("--bound", "g"), ["line 3", "line 2", "g"]),
        ("item,g,replicate,value", [("a", 2, 1, 1), ("b", "?", 1, 1)], ("--bound", "g"), ["line 3", "g"]),
        ("item,team,replicate,value", [("a", "x", 1, 1)], ("--bound", "2"), ["line 1", "team"]),
        ("item,replicate,value", [("z", 1, 1)], ("--bound", "2", "--members", "a,b"), ["z", "not registered"]),
        ("item,replicate,value", [("a", 1, 1)], ("--bound", "2", "--looks", "30"), ["--looks", "one replicate"]),
        ("item,replicate,value", [("a", 1, 1)], ("--bound", "2", "--classical"), ["--classical"]),
    ],
)
def test_a_table_or_an_option_that_makes_no_sense_is_one_sentence(
    verifier: Verifier,
    tmp_path: Path,
    header: str,
    rows: list[Sequence[object]],
    options: Sequence[str],
    words: list[str],
) -> None:
    data = write(tmp_path / "x.csv", header, rows)
    sentence = one_sentence(verifier("stats", "test", data, *BOUND, *options, "--json"), 2)
    assert all(word in sentence for word in words), sentence


def camps(folder: Path, library: Sequence[str]) -> str:
    """Four teams: two see four points, two see none; `library` is what each of them used."""
    rng = np.random.default_rng(2)
    rows = []
    for team, gain, lib in zip(("ada", "bo", "cy", "di"), (4, 4, 0, 0), library, strict=True):
        for r in range(1, 41):
            base, more = 70 + 3 * rng.standard_normal(2)[0], gain + 1.5 * rng.standard_normal()
            rows += [(team, lib, 8, "left", r, f"{base + more:.3f}"), (team, lib, 8, "right", r, f"{base:.3f}")]
    return write(folder / "camps.csv", "team,library,gpus,arm,replicate,value", rows)


DIFFERENCE = ("--rule", "difference", "--claimed", "4", "--bounds", "0,100")
BOTH = ("--covariate", "library", "--covariate", "gpus")


def test_the_covariate_that_separates_the_camps_is_named(verifier: Verifier, tmp_path: Path) -> None:
    data = camps(tmp_path, ("fast", "fast", "plain", "plain"))
    found = answer(verifier("stats", "test", data, *DIFFERENCE, *BOTH, "--json"))
    assert found["answer"] == "HETEROGENEOUS"
    assert found["teams"]["covariates"] == [{"misplaced": [], "teams": 4, "p": pytest.approx(2 / 6)}]
    assert found["quoted"]["covariates"] == [
        {"covariate": "library", "rule": 'for the dispute: "plain", against it: "fast"'}
    ]
    said = verifier("stats", "test", data, *DIFFERENCE, *BOTH)
    assert 'covariate "library" separates all 4 teams: for the dispute: "plain", against it: "fast"' in said.out


def test_a_number_is_split_at_a_threshold_and_nothing_is_said_where_nothing_separates(
    verifier: Verifier, tmp_path: Path
) -> None:
    said = verifier("stats", "test", camps(tmp_path, ("8", "16", "2", "4")), *DIFFERENCE, *BOTH)
    assert "for the dispute up to 4, against it above" in said.out
    said = verifier("stats", "test", camps(tmp_path, ("x", "y", "x", "y")), *DIFFERENCE, *BOTH)
    assert 'the camps are not separated by "library" and "gpus"' in said.out


def test_a_covariate_that_changes_within_a_team_names_the_line(verifier: Verifier, tmp_path: Path) -> None:
    data = camps(tmp_path, ("fast", "fast", "plain", "plain"))
    lines = Path(data).read_text().splitlines()
    lines[5] = lines[5].replace("fast", "slow")
    Path(data).write_text("\n".join([*lines, ""]))
    sentence = one_sentence(verifier("stats", "test", data, *DIFFERENCE, *BOTH, "--json"), 2)
    assert "line 6, library" in sentence
    assert "line 2" in sentence
    for words in (("--covariate", "team"), ("--covariate", "library", "--covariate", "library")):
        assert "--covariate" in one_sentence(verifier("stats", "test", data, *DIFFERENCE, *words, "--json"), 2)
    undeclared = one_sentence(verifier("stats", "test", data, *DIFFERENCE, "--covariate", "gpus", "--json"), 2)
    assert "unknown column" in undeclared
