"""`verifier stats test|plan|portfolio` as a user types them."""

from __future__ import annotations

import csv
import json
import math
import random
import subprocess
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import numpy as np
import pytest
from scipy import stats as peer

from tests.integration.conftest import Said, Verifier
from verifier.cli.stats_ledger import disputes_of
from verifier.report import load_schema
from verifier.stats import growth
from verifier.stats.growth_rule import GrowthRule
from verifier.stats.portfolio import portfolio

SCALES = [32, 64, 128, 256, 512, 1024]
GROWTH = ("--rule", "growth", "--alleged", "0.38")
PAIRED = ("--rule", "difference", "--claimed", "4", "--bounds", "0,100")
LOOKS = ("--looks", "10,20,30,40,50,60")
RETROSPECTIVE = "retrospective: these numbers were not drawn under a registration"


def write(path: Path, header: str, rows: Iterable[Sequence[object]]) -> Path:
    path.write_text("".join(f"{line}\n" for line in [header, *(",".join(map(str, row)) for row in rows)]))
    return path


def sweep(folder: Path, *, n: int = 20, sd: float = 0.1, scales: Sequence[int] = SCALES, name: str = "g.csv") -> Path:
    rng = np.random.default_rng(5)
    noise = rng.standard_normal((len(scales), n))
    rows = [
        (k, r + 1, repr(0.38 * math.log(k) + sd * float(noise[i, r]))) for i, k in enumerate(scales) for r in range(n)
    ]
    return write(folder / name, "k,replicate,value", rows)


def pairs(folder: Path, *, n: int, gap: float, seed: int = 1, name: str = "pairs.csv") -> Path:
    """Two arms that share what varies between seeds; their difference has mean `gap` and sd 3 over all pairs."""
    rng = np.random.default_rng(seed)
    common, own = 50 + 5 * rng.standard_normal(n), rng.standard_normal(n)
    own = 3 * (own - own.mean()) / own.std(ddof=1)
    rows = [("left", r + 1, repr(float(common[r] + gap + own[r]))) for r in range(n)]
    rows += [("right", r + 1, repr(float(common[r]))) for r in range(n)]
    return write(folder / name, "arm,replicate,value", rows)


def answer(said: Said) -> dict[str, Any]:
    assert said.code == 0, said.err
    document = said.document
    jsonschema.validate(document, load_schema("result-1"))
    return document


# --- stats test


def test_a_growth_table_is_judged_as_the_rule_judges_it(verifier: Verifier, tmp_path: Path) -> None:
    path = sweep(tmp_path)
    found = answer(verifier("stats", "test", str(path), *GROWTH, "--looks", "10,20", "--json"))
    with path.open() as file:
        values = np.array([float(row["value"]) for row in csv.DictReader(file)]).reshape(len(SCALES), 20)
    rule = GrowthRule(delta=Fraction("0.19"), alternative=Fraction("0.38"), looks=(10, 20))
    for n, look in zip((10, 20), found["looks"], strict=True):
        direct = growth.evaluate(
            rule, scales=SCALES, values=values[:, :n], claim_scale=1024, discount=1.0, last=n == 20
        )
        assert direct.statistics.e_grow is not None
        assert look["n"] == n
        assert look["e"]["grow"] == direct.statistics.e_grow.current
    assert (found["answer"], found["outcome"], found["stop"]) == ("GROWS", "FOR_DISPUTE", 20)
    assert found["looks"][0]["e"]["grow"] < 1e4 < found["looks"][1]["e"]["grow"]
    assert found["statistics"]["slope_full"]["estimate"] == pytest.approx(direct.statistics.slope_full.estimate)  # type: ignore[union-attr]  # judged above
    assert (found["retrospective"], found["decisive"]) == (True, False)
    assert found["sentence"].startswith("Retrospective, so it decides nothing")
    assert found["rule"]["delta"] == "19/100"
    assert found["schema"] == "verifier/stats-test/1"


def test_a_person_reads_first_that_it_decides_nothing(verifier: Verifier, tmp_path: Path) -> None:
    said = verifier("stats", "test", str(sweep(tmp_path)), *GROWTH)
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0].startswith(RETROSPECTIVE)
    for words in ("slope over all scales: 0.3", "needed: scales up to k = 1024", "by its design: ", "20 of 20 repl"):
        assert words in said.out, words
    (command,) = (line.partition("next: ")[2] for line in lines if "next: " in line)
    assert command.startswith("verifier stats plan --rule growth")


def test_five_pairs_are_too_few_and_sixty_decide_either_way(verifier: Verifier, tmp_path: Path) -> None:
    few = answer(verifier("stats", "test", str(pairs(tmp_path, n=5, gap=4)), *PAIRED, *LOOKS, "--json"))
    assert (few["outcome"], few["reason"], few["answer"]) == ("UNDERPOWERED", "underpowered", "TOO_FEW")
    assert few["adequacy"]["needed"]["replicates"] == pytest.approx(113, abs=1)  # at the five pairs' own upper sd
    claim = answer(verifier("stats", "test", str(pairs(tmp_path, n=60, gap=4)), *PAIRED, *LOOKS, "--json"))
    dispute = answer(verifier("stats", "test", str(pairs(tmp_path, n=60, gap=0)), *PAIRED, *LOOKS, "--json"))
    assert (claim["outcome"], dispute["outcome"]) == ("AGAINST_DISPUTE", "FOR_DISPUTE")
    for found, name in ((claim, "above_alleged"), (dispute, "below_claim")):
        at = [look["n"] for look in found["looks"]].index(found["stop"])
        assert found["looks"][at]["e"][name] >= 1e4
        assert all(look["e"][name] < 1e4 for look in found["looks"][:at] if look["n"] >= 15)
        assert [look["n"] for look in found["looks"]] == [10, 20, 30, 40, 50, 60]  # shown beyond the stop


@pytest.mark.parametrize(
    ("header", "rows", "rule", "outcome"),
    [
        (
            "arm,replicate,value",
            [(arm, r, base * (1 + 0.01 * ((7 * r + 3 * base) % 11 - 5))) for r in range(1, 13)
             for arm, base in (("left", 8), ("right", 1))],
            ("--rule", "ratio", "--claimed", "8", "--delta", "1.25", "--alleged", "1/2", "--minimum-n", "12"),
            "AGAINST_DISPUTE",
        ),
        (
            "replicate,value",
            [(r, int(r % 10 != 0)) for r in range(1, 201)],
            ("--rule", "proportion", "--claimed", "0.9", "--alleged", "0.5"),
            "AGAINST_DISPUTE",
        ),
        (
            "replicate,value",
            [(r, int(r % 2 == 0)) for r in range(1, 101)],
            ("--rule", "count", "--claimed", "0.9", "--alleged", "0.5", "--total", "100"),
            "FOR_DISPUTE",
        ),
        (
            "t,seed,value",
            [(2**i, r, 2 ** (-i / 2) * (1 + 0.01 * ((5 * r + 3 * i) % 13 - 6))) for i in range(5, 15)
             for r in range(1, 21)],
            ("--rule", "rate", "--claimed", "1", "--alleged", "1/2"),
            "FOR_DISPUTE",
        ),
    ],
    ids=["ratio", "proportion", "count", "rate"],
)  # fmt: skip
def test_every_rule_runs_on_a_table(
    verifier: Verifier, tmp_path: Path, header: str, rows: Any, rule: tuple[str, ...], outcome: str
) -> None:
    found = answer(verifier("stats", "test", str(write(tmp_path / "t.csv", header, rows)), *rule, "--json"))
    assert found["outcome"] == outcome
    assert found["rule"]["kind"] == rule[1]
    assert found["looks"]
    assert found["adequacy"]["needed"]
    assert not found["decisive"]


def test_the_order_of_rows_and_columns_changes_nothing(verifier: Verifier, tmp_path: Path) -> None:
    path = pairs(tmp_path, n=30, gap=4)
    before = answer(verifier("stats", "test", str(path), *PAIRED, "--json"))
    header, *rows = [line.split(",") for line in path.read_text().splitlines()]
    random.Random(3).shuffle(rows)  # noqa: S311  # an order, not a secret
    write(path, ",".join(header[::-1]), [row[::-1] for row in rows])
    assert answer(verifier("stats", "test", str(path), *PAIRED, "--json")) == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("k,value\n8,1\n", "t.csv, line 1: there is no column replicate"),
        ("k,seed\n8,1\n", "t.csv, line 1: there is no column value"),
        ("seed,value\n1,1\n", "t.csv, line 1: the rule growth needs a scale"),
        ("size,seed,value\n8,1,1\n", "say --axis size"),
        ("k,seed,value\n8,1,1\n8,2,abc\n", "t.csv, line 3, value"),
        ("k,seed,value\n8,1,NaN\n", "t.csv, line 2, value"),
        ("k,seed,value\n8,1,1\n8,2,1\n8,1,1\n", "t.csv, line 4: the same k, replicate and value as in line 2"),
        ("k,seed,value\n", "t.csv: there is no row"),
        ("k,arm,seed,value\n8,left,1,1\n", "no use for the column arm"),
    ],
)
def test_a_bad_table_gets_one_sentence(verifier: Verifier, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    said = verifier("stats", "test", "t.csv", *GROWTH)
    assert said.code == 2
    assert said.out == ""
    assert words in said.err
    assert len(said.err.splitlines()) == 1
    document = verifier("stats", "test", "t.csv", *GROWTH, "--json").document
    assert not document["ok"]
    assert document["error"]["mend"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--rule: no rule is named"),
        (("--rule", "growht"), "the nearest valid rule is growth"),
        (("--rule", "growth"), "the rule growth needs --alleged"),
        (("--rule", "difference"), "the rule difference needs --claimed"),
        ((*GROWTH, "--total", "7"), "--total: the rule growth has none"),
        ((*GROWTH, "--looks", "20,10"), "--looks: looks do not increase"),
        ((*GROWTH, "--looks", "ten"), "--looks: "),
        (("--rule", "growth", "--alleged", "1e999"), "--alleged: "),
        (("--rule", "difference", "--claimed", "4", "--delta", "4"), "--delta: it says what --claimed says"),
        (("--rule", "difference", "--claimed", "4", "--bounds", "3"), "--bounds: "),
        (("--rule", "difference", "--claimed", "4", "--alleged", "5"), "--alleged: "),
        (("--rule", "bound"), "--bound: "),
        ((*GROWTH, "--minimum-n", "1"), "--minimum-n: 1 is below 6"),
        (("--rule", "difference", "--claimed", "4", "--minimum-n", "9" * 11), "--minimum-n: 99999999999 is above"),
        (
            ("--rule", "count", "--claimed", "0.6", "--alleged", "0.5", "--total", "20", "--minimum-n", "30"),
            "--minimum-n: the last look, 30, is beyond the 20",
        ),
        (
            ("--rule", "difference", "--claimed", "4", "--looks", "3"),
            "--looks: the last look is before --minimum-n = 30",
        ),
        ((*GROWTH, "--figure", "picture.png"), "--figure picture.png: the picture is an SVG file"),
        ((*GROWTH, "--figure", "g.svg"), "would be written over g.csv"),
        ((*GROWTH, "--printed", "8"), "--printed: "),
        ((*GROWTH, "--printed", "9=1"), "--printed: there is no cell"),
        ((*GROWTH, "--at", "7"), "--at: no row is at scale 7"),
    ],
)
def test_a_bad_option_gets_one_sentence(
    verifier: Verifier, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    before = sweep(tmp_path, n=3).read_text()
    said = verifier("stats", "test", "g.csv", *options)
    assert said.code == 2
    assert words in said.err
    assert len(said.err.splitlines()) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"g.csv"}
    assert (tmp_path / "g.csv").read_text() == before


@pytest.mark.parametrize(
    ("n", "scales", "reason"), [(1, SCALES, "underpowered"), (1, [64], "horizon"), (10, [64], "horizon")]
)
def test_one_seed_or_one_scale_is_an_answer(
    verifier: Verifier, tmp_path: Path, n: int, scales: list[int], reason: str
) -> None:
    path = sweep(tmp_path, n=n, scales=scales)
    found = answer(verifier("stats", "test", str(path), *GROWTH, "--json"))
    assert (found["outcome"], found["reason"]) == ("UNDERPOWERED", reason)
    single = write(tmp_path / "one.csv", "arm,seed,value", [("left", 1, 5), ("right", 1, 3)])
    assert answer(verifier("stats", "test", str(single), *PAIRED, "--json"))["outcome"] == "UNDERPOWERED"


def test_what_follows_a_missing_cell_is_listed_and_not_counted(verifier: Verifier, tmp_path: Path) -> None:
    path = sweep(tmp_path, n=20)
    lines = path.read_text().splitlines()
    at = lines.index(next(line for line in lines if line.startswith("64,13,")))
    lines[at] = "64,13,"
    path.write_text("\n".join(lines) + "\n")
    said = verifier("stats", "test", str(path), *GROWTH)
    assert "12 of 20 replicates complete and in order" in said.out
    assert "replicate 13 has no value at k = 64" in said.out
    found = answer(verifier("stats", "test", str(path), *GROWTH, "--json"))
    assert (found["data"]["replicates"], found["data"]["used"]) == (20, 12)
    assert found["statistics"]["n"] == 12


def test_a_further_column_and_a_scale_are_refused_with_what_would_do(verifier: Verifier, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "arm,seed,value,optimizer", [("left", 1, 5, "adam"), ("right", 1, 3, "adam")])
    assert "--covariate optimizer if it is of teams" in verifier("stats", "test", str(path), *PAIRED).err
    rule = ("--rule", "bound", "--bound", "3")
    path = write(tmp_path / "b.csv", "item,seed,value,goal", [("a", 1, 5, 7)])
    assert "--bound goal if it holds each instance's bound" in verifier("stats", "test", str(path), *rule).err
    assert "say --axis size" in verifier("stats", "test", str(path), *rule, "--axis", "n").err
    path = write(tmp_path / "k.csv", "k,item,seed,value", [(16, "a", 1, 5), (32, "a", 1, 5)])
    assert "write it like k=16" in verifier("stats", "test", str(path), *rule, "--at", "size=16").err
    assert verifier("stats", "test", str(path), *rule, "--at", "k=16").code == 0


def camps(tmp_path: Path) -> Path:
    """Three teams against the dispute, one for it, and one for it whose few noisy runs could not be expected to."""
    rng = np.random.default_rng(5)
    means = {"a": (4.0, 1), "b": (4.0, 1), "c": (4.0, 1), "d": (0.0, 1), "e": (-2.2, 3.5)}
    rows = [
        (team, r, repr(mean + sd * float(x)), "slow" if mean > 1 else "fast")
        for team, (mean, sd) in means.items()
        for r, x in enumerate(rng.standard_normal(20))
    ]
    return write(tmp_path / "camps.csv", "team,replicate,value,kind", rows)


def test_a_team_whose_vote_does_not_count_is_said_to_have_none(
    verifier: Verifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")  # no cell of the table is folded
    rule = ("--rule", "difference", "--claimed", "4", "--minimum-n", "15", "--covariate", "kind")
    said = verifier("stats", "test", str(camps(tmp_path)), *rule)
    assert said.code == 0, said.err
    assert 'covariate "kind" separates 4 of 5 teams (e has no vote)' in said.out
    (row,) = (line for line in said.out.splitlines() if line.split()[:1] == ["e"])
    assert row.rstrip().endswith("for the dispute, no vote")


def test_more_outcomes_than_are_listed_are_refused(verifier: Verifier, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "replicate,value", [(r, 1) for r in range(12)])
    rule = ("--rule", "count", "--claimed", "0.9", "--alleged", "0.5", "--total", "10")
    for looks in ((), ("--looks", "5,10")):
        said = verifier("stats", "test", str(path), *rule, *looks)
        assert (said.code, said.out) == (2, "")
        assert "12" in said.err
        assert "list" in said.err


def test_items_of_one_seed(verifier: Verifier, tmp_path: Path) -> None:
    rows = [(arm, 1, f"q{i}", int(i % 4 != 0) if arm == "left" else int(i % 4 == 1)) for i in range(400)
            for arm in ("left", "right")]  # fmt: skip
    path = write(tmp_path / "t.csv", "arm,seed,item,value", rows)
    rule = ("--rule", "difference", "--claimed", "0.1", "--bounds", "0,1")
    found = answer(verifier("stats", "test", str(path), *rule, "--population", "items-drawn", "--json"))
    assert found["outcome"] == "AGAINST_DISPUTE"
    assert found["statistics"]["effect"]["estimate"] == pytest.approx(0.5)
    assert found["design_flags"] == ["one seed: nothing is known of what another seed would give"]
    said = verifier("stats", "test", str(path), *rule)
    assert said.code == 2
    assert "items-drawn" in said.err


def test_unpaired_rows_without_a_partner_are_only_counted(verifier: Verifier, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [("left", r, repr(54 + float(rng.standard_normal()))) for r in range(40)]
    rows += [("right", r, repr(50 + float(rng.standard_normal()))) for r in range(36)]
    path = write(tmp_path / "t.csv", "arm,replicate,value", rows)
    found = answer(verifier("stats", "test", str(path), *PAIRED, "--noise", "unpaired", "--json"))
    assert found["statistics"]["n"] == 36
    assert found["statistics"]["reported"]["excess_rows"] == {"left": 4, "right": 0}


def test_a_rule_file_says_what_the_options_say(verifier: Verifier, tmp_path: Path) -> None:
    sweep(tmp_path)
    keys = 'kind = "growth"\ndelta = "0.19"\nalternative = "0.38"\nlooks = [10, 20]\n'
    (tmp_path / "rule.toml").write_text(f"[rule]\n{keys}")
    by_file = answer(verifier("stats", "test", "g.csv", "--rule-file", "rule.toml", "--json"))
    by_options = answer(verifier("stats", "test", "g.csv", *GROWTH, "--looks", "10,20", "--json"))
    assert by_file | {"next": []} == by_options | {"next": []}
    for text, words in (
        (f"[rule]\n{keys}law = 3\n", "rule.toml, rule.law"),
        (f"[rule]\n{keys.replace('looks', 'look')}", "rule.toml"),
        (f"[rules]\n{keys}", 'unknown key "rules"'),
        ("[rule]\nkind = \n", "rule.toml, line 2"),
    ):
        (tmp_path / "rule.toml").write_text(text)
        said = verifier("stats", "test", "g.csv", "--rule-file", "rule.toml")
        assert said.code == 2
        assert words in said.err, said.err
    assert verifier("stats", "test", "g.csv", *GROWTH, "--rule-file", "rule.toml").code == 2


# --- teams


def team_table(folder: Path, names: Sequence[str], *, copies: Sequence[str] = ()) -> Path:
    rng = np.random.default_rng(8)
    rows: list[tuple[object, ...]] = []
    for name in names:
        common, d = 50 + rng.standard_normal(40), 4 + 2 * rng.standard_normal(40)
        for team in (name, *(copy for copy in copies if name == names[0])):
            rows += [(team, "left", r, repr(float(x))) for r, x in enumerate(common + d, 1)]
            rows += [(team, "right", r, repr(float(x))) for r, x in enumerate(common, 1)]
    return write(folder / "teams.csv", "team,arm,seed,value", rows)


def test_teams_are_judged_alone_and_together_and_a_copy_is_nobody(verifier: Verifier, tmp_path: Path) -> None:
    path = team_table(tmp_path, ["ada", "bo", "cy"], copies=["zz"])
    found = answer(verifier("stats", "test", str(path), *PAIRED, "--json"))
    teams = found["teams"]
    assert [member["outcome"] for member in teams["members"]] == ["AGAINST_DISPUTE"] * 3
    assert found["quoted"]["teams"] == ["ada", "bo", "cy", "zz"]
    (copy,) = teams["duplicates"]
    assert (copy["team"], copy["of"], copy["equal"]) == (4, 1, 80)
    logs = sorted(member["log_e_against"] for member in teams["members"])
    mean_of_two = math.log((math.exp(logs[0]) + math.exp(logs[1])) / 2)  # u = 2: of the two smallest
    assert teams["together"]["log_e_against"] == pytest.approx(mean_of_two, rel=1e-12)
    assert found["answer"] == "CONFIRMED_AGAINST"
    average = answer(verifier("stats", "test", str(path), *PAIRED, "--teams", "average", "--json"))
    mean = math.log(sum(map(math.exp, logs)) / 3)
    assert average["teams"]["together"]["log_e_against"] == pytest.approx(mean, rel=1e-12)
    shown = verifier("stats", "test", str(path), *PAIRED).out
    assert '"zz" has the numbers of "ada" in 80 of 80 common cells' in shown


def test_the_plan_takes_the_noise_of_the_noisiest_team_and_says_whose(verifier: Verifier, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    drawn = {team: sd * rng.standard_normal(40) for team, sd in (("calm", 1.0), ("loud", 6.0), ("mild", 2.0))}
    rows = [(team, r, repr(float(x))) for team, values in drawn.items() for r, x in enumerate(values)]
    write(tmp_path / "t.csv", "team,seed,value", rows)
    words = ("stats", "test", "t.csv", "--rule", "difference", "--claimed", "4")
    found = answer(verifier(*words, "--json"))
    assert found["next"][0].endswith(f"--sd {np.std(drawn['loud'], ddof=1):.3g}")
    assert found["quoted"]["teams"][found["teams"]["noisiest"] - 1] == "loud"
    assert "takes the noise of team loud, the largest" in verifier(*words).out
    # two sweeps: scales, replicates and sd are all the noisier one's
    cells = [(t, k, r, sd * float(rng.standard_normal())) for t, sd, n in (("a", 1, 9), ("b", 3, 7)) for k in SCALES
             for r in range(n)]  # fmt: skip
    write(tmp_path / "s.csv", "team,k,seed,value", cells)
    found = answer(verifier("stats", "test", "s.csv", *GROWTH, "--json"))
    assert "--replicates 7 " in found["next"][0]
    assert found["teams"]["noisiest"] == 2
    # outcomes have no noise of their own to plan with
    rows = [(team, r, str((r + len(team)) % 2)) for team in ("x", "yy") for r in range(30)]
    write(tmp_path / "o.csv", "team,seed,value", rows)
    found = answer(
        verifier("stats", "test", "o.csv", "--rule", "proportion", "--claimed", "0.9", "--alleged", "0.5", "--json")
    )
    assert (found["teams"]["noisiest"], len(found["next"])) == (None, 1)


def test_teams_below_the_minimum_decide_nothing_together(verifier: Verifier, tmp_path: Path) -> None:
    path = team_table(tmp_path, ["ada", "bo", "cy"])
    found = answer(verifier("stats", "test", str(path), *PAIRED, "--minimum-n", "50", "--json"))
    members, together = found["teams"]["members"], found["teams"]["together"]
    assert [member["answer"] for member in members] == ["TOO_FEW"] * 3
    assert min(member["log_e_against"] for member in members) > math.log(1e4)  # which counts for nothing
    assert found["answer"] == "NOT_CONFIRMED_INADEQUATE"
    assert together["unable"] == [1, 2, 3]


def test_teams_that_all_find_something_between_are_not_opposite(verifier: Verifier, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [(team, r, repr(float(x))) for team in "abc" for r, x in enumerate(3 + rng.standard_normal(60), 1)]
    path = write(tmp_path / "between.csv", "team,seed,value", rows)
    found = answer(verifier("stats", "test", str(path), "--rule", "difference", "--claimed", "6", "--json"))
    assert {member["answer"] for member in found["teams"]["members"]} == {"BETWEEN"}
    assert (found["answer"], found["reason"]) == ("BETWEEN", "between")


@pytest.mark.parametrize(
    ("header", "rows", "said"),
    [
        ("arm,seed,value", [("left", 1, 0.5), ("right", 1, 1.5)], 'line 3: the value "1.5" is not within'),
        ("seed,value", [(1, "0.5"), (2, "-1"), (3, "-1.25"), (4, 7)], 'line 4: the difference "-1.25" is not within'),
    ],
)
def test_a_value_that_the_bounds_exclude_is_an_error_and_no_answer(
    verifier: Verifier, tmp_path: Path, header: str, rows: Sequence[Sequence[object]], said: str
) -> None:
    path = write(tmp_path / "out.csv", header, rows)
    done = verifier("stats", "test", str(path), "--rule", "difference", "--claimed", "0.1", "--bounds", "0,1")
    assert done.code == 2
    assert said in done.err


def test_strangers_words_stand_under_quoted_and_obey_nobody(verifier: Verifier, tmp_path: Path) -> None:
    names = ["=cmd()", "<b>x</b>", "[red]Ω"]
    path = team_table(tmp_path, names)
    found = answer(verifier("stats", "test", str(path), *PAIRED, "--figure", "f.svg", "--json"))
    quoted = found.pop("quoted")
    assert set(quoted["teams"]) == set(names)
    assert not [name for name in names if name in json.dumps(found, ensure_ascii=False)]
    assert "[red]Ω" in verifier("stats", "test", str(path), *PAIRED).out
    with (tmp_path / "f.csv").open() as file:
        assert "'=cmd()" in [row["team"] for row in csv.DictReader(file)]
    ET.fromstring((tmp_path / "f.svg").read_text())  # noqa: S314  # our own output


# --- flags, classical fits, pictures


def test_flags_by_name(verifier: Verifier, tmp_path: Path) -> None:
    path = pairs(tmp_path, n=40, gap=4)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    left, right = (np.array([float(row["value"]) for row in rows if row["arm"] == arm]) for arm in ("left", "right"))
    marginal = f"{math.sqrt((left.var(ddof=1) + right.var(ddof=1)) / 40):.3f}"
    d = left - right
    reach = float(peer.t.ppf(0.975, 39)) * d.std(ddof=1) * math.sqrt(1 + 1 / 40)
    interval = f"{d.mean() - reach:.3f},{d.mean() + reach:.3f}"
    found = answer(
        verifier(
            "stats", "test", str(path), *PAIRED, "--printed-error", marginal, "--printed-interval", interval, "--json"
        )
    )  # fmt: skip
    assert {flag["name"] for flag in found["flags"]} == {"marginal-error-for-paired", "prediction-interval"}
    paired = f"{d.std(ddof=1) / math.sqrt(40):.3f}"
    clean = answer(verifier("stats", "test", str(path), *PAIRED, "--printed-error", paired, "--json"))
    assert clean["flags"] == []

    path.write_text(path.read_text().replace("arm,replicate", "arm,seed"))
    seeds = answer(verifier("stats", "test", str(path), *PAIRED, "--noise", "unpaired", "--json"))
    assert {flag["name"] for flag in seeds["flags"]} == {"shared-seeds"}

    rows_of = [("64", r, "1.25") for r in range(1, 9)] + [(str(k), r, 1 + r / 7 + k / 9) for k in (8, 16, 32, 128)
                                                          for r in range(1, 9)]  # fmt: skip
    same = write(tmp_path / "same.csv", "k,seed,value", rows_of)
    found = answer(verifier("stats", "test", str(same), *GROWTH, "--json"))
    assert found["answer"] == "MALFORMED"
    assert [flag["name"] for flag in found["flags"]][:1] == ["zero-variance"]


def test_printed_digits_that_noise_should_change_are_flagged(verifier: Verifier, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [(k, r, f"{1 + 0.5 * rng.standard_normal():.5f}") for k in SCALES for r in range(1, 7)]
    rows = [(k, r, f"{k}.12345" if r == 3 else value) for k, r, value in rows]
    path = write(tmp_path / "t.csv", "k,replicate,value", rows)
    printed = [word for k in SCALES for word in ("--printed", f"{k}={k}.12345")]
    found = answer(verifier("stats", "test", str(path), *GROWTH, *printed, "--json"))
    flag = next(flag for flag in found["flags"] if flag["name"] == "identical-to-printed")
    assert flag["numbers"]["identical"] == 6
    other = [word for k in SCALES for word in ("--printed", f"{k}={k}.54321")]
    found = answer(verifier("stats", "test", str(path), *GROWTH, *other, "--json"))
    assert "identical-to-printed" not in {flag["name"] for flag in found["flags"]}


def test_classical_tests_are_scipys(verifier: Verifier, tmp_path: Path) -> None:
    path = pairs(tmp_path, n=20, gap=3)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    left, right = ([float(row["value"]) for row in rows if row["arm"] == arm] for arm in ("left", "right"))
    found = answer(verifier("stats", "test", str(path), *PAIRED, "--classical", "--json"))
    (fits,) = found["classical"]
    expected = peer.ttest_rel(left, right, alternative="greater")
    assert fits["t_test"]["p_more_than_alleged"] == pytest.approx(expected.pvalue, rel=1e-9)
    low, high = peer.ttest_rel(left, right).confidence_interval(0.95)
    assert fits["t_test"]["interval_fixed_n"] == pytest.approx([low, high], rel=1e-9)
    welch = answer(
        verifier("stats", "test", str(path), *PAIRED, "--noise", "unpaired", "--classical", "--json")
    )["classical"][0]["welch_t_test"]  # fmt: skip
    expected = peer.ttest_ind(left, right, equal_var=False, alternative="greater")
    assert welch["p_more_than_alleged"] == pytest.approx(expected.pvalue, rel=1e-9)
    tries = write(tmp_path / "p.csv", "replicate,value", [(r, int(r % 20 < 7)) for r in range(20)])
    rule = ("--rule", "proportion", "--claimed", "0.9", "--alleged", "0.1")
    fits = answer(verifier("stats", "test", str(tries), *rule, "--classical", "--json"))["classical"][0]
    assert fits["clopper_pearson"]["low"] == pytest.approx(0.1539092047845411, abs=1e-12)  # 7 of 20


def test_pictures_are_the_same_every_time_with_their_numbers_beside(verifier: Verifier, tmp_path: Path) -> None:
    path = pairs(tmp_path, n=60, gap=4)
    arguments = ("stats", "test", str(path), *PAIRED, *LOOKS, "--figure", "e.svg")
    found = answer(verifier(*arguments, "--json"))
    assert found["figure"] == {"svg": "e.svg", "csv": "e.csv"}
    first = (tmp_path / "e.svg").read_bytes()
    root = ET.fromstring(first.decode())  # noqa: S314  # our own output
    texts = " ".join(filter(None, (node.text for node in root.iter())))
    for words in ("10,000: decides, either way", "20: the middle", f"stop at {found['stop']}", "more than alleged"):
        assert words in texts, words
    with (tmp_path / "e.csv").open() as file:
        numbers = [float(row["above_alleged"]) for row in csv.DictReader(file)]
    assert numbers == [look["e"]["above_alleged"] for look in found["looks"]]
    assert "picture: e.svg" in verifier(*arguments).out
    assert (tmp_path / "e.svg").read_bytes() == first


# --- stats plan

DESIGN = ("--scale", "k=8,16,32,64", "--replicates", "3", "--sd", "0.3", "--effect", "0.38")


def test_the_plan_of_a_growth_design_says_what_it_misses_and_what_decides(verifier: Verifier) -> None:
    said = verifier("stats", "plan", "--rule", "growth", *DESIGN)
    assert said.code == 0
    assert (
        "would have missed it in 30 % of runs (one-sided 5 % slope test). This design cannot decide: 4 scales (5 "
        "needed), 3 replicates (5 needed). K = 256 with 57 replicates decides (or 1024 with 21)."
    ) in said.out
    found = answer(verifier("stats", "plan", "--rule", "growth", *DESIGN, "--json"))
    assert found["schema"] == "verifier/stats-plan/1"
    assert not found["can_decide"]
    assert found["needed"] == {"k": 256, "replicates": 57}
    assert found["growth"]["missed"] == pytest.approx(0.30, abs=0.005)


@pytest.mark.parametrize(
    ("options", "needed", "least"),
    [
        ((*PAIRED, "--sd", "3", "--replicates", "60"), {"replicates": 47}, 0.95),
        ((*PAIRED, "--sd", "3", *LOOKS), {"replicates": 47}, 0.95),
        (
            ("--rule", "ratio", "--claimed", "8", "--delta", "1.25", "--alleged", "1/2", "--minimum-n", "12", "--sd",
             "0.1", "--replicates", "12"),
            {"launches": 12},
            0.95,
        ),
        (("--rule", "proportion", "--claimed", "0.9", "--alleged", "0.5"), {"trials": 111}, 0.9),
        (("--rule", "count", "--claimed", "0.9", "--alleged", "0.5", "--total", "300"), {"listed": 79}, 0.9),
    ],
    ids=["difference", "difference-looks", "ratio", "proportion", "count"],
)  # fmt: skip
def test_the_plan_of_a_margin_rule(
    verifier: Verifier, options: tuple[str, ...], needed: dict[str, int], least: float
) -> None:
    found = answer(verifier("stats", "plan", *options, "--json"))
    assert found["needed"] == needed
    claim, dispute = found["power"]
    assert claim["outcomes"]["AGAINST_DISPUTE"] >= least
    assert dispute["outcomes"]["FOR_DISPUTE"] >= least
    assert sum(claim["outcomes"].values()) == pytest.approx(1.0)


def test_the_plan_of_proportions_is_a_binomial_tail(verifier: Verifier) -> None:
    """At ten trials of an even chance against none, one success is a witness: the chance of any is 1 − 2^−10."""
    options = ("--rule", "proportion", "--claimed", "1/2", "--alleged", "0", "--replicates", "10", "--json")
    claim = answer(verifier("stats", "plan", *options))["power"][0]
    above = claim["answers"].get("ABOVE_ALLEGED", 0.0) + claim["answers"].get("NOT_AS_ALLEGED", 0.0)
    assert above == pytest.approx(1 - 2**-10, abs=1e-12)


def test_plans_of_rates_bounds_and_too_small_designs(verifier: Verifier, tmp_path: Path) -> None:
    rate = ("--rule", "rate", "--claimed", "1", "--alleged", "1/2", "--scale", "t=32,64,128,256,512", "--sd", "0.1")
    found = answer(verifier("stats", "plan", *rate, "--replicates", "20", "--figure", "p.svg", "--json"))
    assert found["sentence"].startswith("Of ln(t^1 y)")
    assert found["can_decide"]
    assert found["needed"]["t"] == 512
    ET.fromstring((tmp_path / "p.svg").read_text())  # noqa: S314  # our own output
    with (tmp_path / "p.csv").open() as file:
        chances = [float(row["chance"]) for row in csv.DictReader(file) if row["line"] == "K = 512"]
    assert chances == sorted(chances)
    assert chances[-1] > 0.99
    bound = answer(verifier("stats", "plan", "--rule", "bound", "--instances", "200", "--share", "0.01", "--json"))
    assert bound["power"][0]["answers"]["VIOLATED_FLOAT"] == pytest.approx(1 - 0.99**200)
    assert bound["needed"] == {"instances": math.ceil(math.log(0.1) / math.log(0.99))}
    few = verifier("stats", "plan", *PAIRED, "--sd", "3", "--replicates", "5")
    assert "This design cannot decide: 5 replicates (15 needed). 47 replicates decide" in few.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rule", "growth", "--effect", "0.38", "--replicates", "3", "--sd", "1"), "--scale: "),
        (("--rule", "growth", "--effect", "0.38", "--scale", "8,16", "--replicates", "3", "--sd", "1"), "--scale: "),
        (("--rule", "growth", "--scale", "k=8,16", "--replicates", "3", "--sd", "1"), "needs --alleged"),
        (("--rule", "growth", "--effect", "0.38", "--scale", "k=8,16", "--replicates", "3"), "--sd: "),
        (("--rule", "growth", "--effect", "0.38", "--scale", "k=8,16", "--sd", "1"), "--replicates: "),
        (("--rule", "growth", "--effect", "0.38", "--scale", "k=8,16", "--sd", "1", "--share", "1"), "--share: "),
        (("--rule", "difference", "--claimed", "4"), "--sd: "),
        (("--rule", "difference", "--claimed", "4", "--sd", "-1"), "--sd: "),
        (("--rule", "difference", "--claimed", "4", "--sd", "x"), "--sd: "),
        (("--rule", "proportion", "--claimed", "0.9", "--alleged", "0.5", "--sd", "1"), "--sd: "),
        (("--rule", "bound", "--instances", "5"), "--effect: "),
        (("--rule", "bound", "--instances", "5", "--share", "2"), "--share: "),
    ],
)
def test_a_design_that_is_none_gets_one_sentence(verifier: Verifier, options: tuple[str, ...], words: str) -> None:
    said = verifier("stats", "plan", *options)
    assert said.code == 2, said
    assert words in said.err
    assert len(said.err.splitlines()) == 1


# --- stats portfolio


@pytest.mark.slow
def test_the_portfolio_of_a_ledger(verifier: Verifier, toy: Path) -> None:
    assert verifier("stats", "portfolio").code == 2
    ran = verifier("run", str(toy), "--trust", "--json", env={"SOURCE_DATE_EPOCH": "1700000000"})
    (probe,) = ran.document["probes"]
    found = answer(verifier("stats", "portfolio", "--json"))
    assert found["schema"] == "verifier/stats-portfolio/1"
    (one,) = found["families"]["for"]["standings"]
    statistics = probe["statistics"]
    assert one["e"] == pytest.approx(statistics["e_grow"]["at_stop"] * statistics["discount"], rel=1e-9)
    assert one["rate"] == pytest.approx(1 / one["e"], rel=1e-9)
    assert one["survives"]
    assert one["holm_survives"]
    (other,) = found["families"]["against"]["standings"]
    assert not other["survives"]
    assert found["disputes"][0]["ruling"] == "UPHELD"
    assert "1 dispute counted together: 1 supported and 0 opposed" in verifier("stats", "portfolio").out
    tighter = answer(verifier("stats", "portfolio", "--alpha", "1e-20", "--json"))
    assert not tighter["families"]["for"]["standings"][0]["survives"]
    assert verifier("stats", "portfolio", "--alpha", "2").code == 2


def registered(dispute: str, registration: str, *, exploratory: bool = False, **case: Any) -> Any:
    content = {
        "registration": registration,
        "dispute": dispute,
        "paper": "arxiv:2401.00001",
        "exploratory": exploratory,
        "case": {"probe": [], **case},
    }
    return SimpleNamespace(content=content, leaf=f"r{registration}", refs=())


def evidence(leaf: str, *, grow: str, flat: str, **changes: Any) -> Any:
    sides = {name: {"current": e, "sup": e, "at_stop": e} for name, e in (("e_grow", grow), ("e_flat", flat))}
    content = {"kind": "sweep", "probe": leaf, "outcome": "FOR_DISPUTE", "own_outcome": "FOR_DISPUTE",
               "statistics": {"discount": "0.5", **sides}, **changes}  # fmt: skip
    return SimpleNamespace(content=content, leaf=leaf, refs=())


def ruled(registration: str, *leaves: str, ruling: str = "UPHELD", exploratory: bool = False) -> Any:
    content = {"registration": registration, "ruling": ruling, "exploratory": exploratory}
    return SimpleNamespace(content=content, leaf=f"ruling {registration}", refs=("r", *leaves))


def test_one_entry_a_dispute_by_its_standing_ruling() -> None:
    found = disputes_of(
        [
            registered("a" * 64, "a1"),
            registered("a" * 64, "a2"),
            registered("b" * 64, "b1"),
            registered("c" * 64, "c1", exploratory=True),
            registered("d" * 64, "d1"),
            registered("e" * 64, "e1"),
            registered("f" * 64, "f1", probe=[{"name": "file", "kind": "replication", "file": "runs.csv"}]),
            registered("g" * 64, "g1"),
        ],
        [
            ruled("a1", "old"),
            ruled("a2", "new", "second"),
            ruled("a1", "old", ruling="NO_ANSWER"),  # does not replace
            ruled("a1", "old", exploratory=True),
            ruled("c1", "old", exploratory=True),
            ruled("d1", "proof"),
            ruled("e1", "late"),
            ruled("f1", "file"),
            ruled("g1", "void"),
        ],
        [
            evidence("old", grow="7e9", flat="1"),
            evidence("new", grow="40000", flat="0.5"),
            evidence("second", grow="3", flat="8"),
            evidence("proof", grow="1", flat="1", kind="exact"),
            evidence("late", grow="1e9", flat="1", ingested={"retrospective": True}),
            evidence("file", grow="1e9", flat="1", kind="replication"),
            evidence("void", grow="1e9", flat="1", outcome="INVALID"),
        ],
    )
    by_id = {one.id[0]: one for one in found.disputes}
    assert set(by_id) == set("abdefg")
    assert len(found.exploratory) == 1
    first = by_id["a"].entry
    assert first.support.at_stop == pytest.approx(math.log(40000 * 0.5 / 2))  # two probes: the larger over two
    assert first.opposition.at_stop == pytest.approx(math.log(8 * 0.5 / 2))
    assert by_id["b"].entry.support.at_stop is None
    assert {name: by_id[name].entry.kind for name in "def"} == {
        "d": "exact",
        "e": "retrospective",
        "f": "retrospective",
    }
    assert by_id["g"].void == ("void",)
    both = portfolio([one.entry for one in found.disputes])
    assert both.support.size == 3
    assert both.support.survivors == (by_id["a"].name,)
    assert [standing.running for standing in both.support.standings].count(True) == 1


# --- what it costs


@pytest.mark.parametrize(
    "arguments",
    [("stats", "test", "g.csv", *GROWTH), ("stats", "plan", *PAIRED, "--sd", "3")],
    ids=["test", "plan"],
)
@pytest.mark.slow
def test_nothing_heavy_is_loaded(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    sweep(tmp_path)
    pairs(tmp_path, n=20, gap=4)
    code = (
        f"import sys\nfrom verifier.cli.main import invoke\ninvoke({list(arguments)!r})\nprint('loaded', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.rpartition("loaded")[2].split())
    assert "verifier.cli.stats_plan" in loaded
    assert not loaded & {"scipy.stats", "statsmodels", "pandas", "matplotlib", "sympy", "numba", "sqlalchemy"}


def test_help_loads_no_arithmetic() -> None:
    code = "import sys\nfrom verifier.cli.main import main\nsys.argv = ['verifier', 'stats', 'test', '--help']\n"
    code += "try:\n    main()\nfinally:\n    print('loaded', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.rpartition("loaded")[2].split())
    assert "verifier.cli.stats_test" in loaded
    assert not loaded & {"numpy", "scipy", "pydantic", "sqlalchemy", "sympy"}
