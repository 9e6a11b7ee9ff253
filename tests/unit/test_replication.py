"""Replications below the command line: tables, units and their rows, runs from a table, and the rule at the looks."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.engine.replication import Judged, Runs, judge_file, judge_runs, most_jobs
from verifier.engine.replication_probe import _compared
from verifier.engine.sweep import NoAnswer, OutOfBudget
from verifier.engine.targets import Targets
from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome
from verifier.model.tables import TableError
from verifier.stats import count, difference, proportion, ratio
from verifier.stats.margin_answers import MarginAnswer
from verifier.stats.run_arms import read_arm_runs
from verifier.sweeps.jobs import Failure, Row, Unit, arms_of
from verifier.sweeps.replication import ReplicationProbe, parse_replication
from verifier.sweeps.worker import MAX_ITEMS, BadReturn, _returned, unit_row

PAIRED = {"kind": "difference", "delta": "4", "looks": [10, 20], "minimum_n": 10}
UNPAIRED = {**PAIRED, "noise": "unpaired"}
ITEMS = {**PAIRED, "population": "items-drawn", "looks": [10], "minimum_items": 6}
RATIO = {"kind": "ratio", "claimed": "8", "delta": "1.25", "alleged": "1/2", "looks": [12], "minimum_n": 12}
PROPORTION = {"kind": "proportion", "claimed": "0.9", "alleged": "0.5", "looks": [20, 60]}
COUNT = {"kind": "count", "claimed": "17/20", "alleged": "1/2", "size": 20, "looks": [10, 20]}
TABLE = {"name": "score", "kind": "replication", "part": "a", "target": "m:f"}


def probe(rule: Mapping[str, Any], **keys: Any) -> ReplicationProbe:
    return parse_replication({**TABLE, "rule": dict(rule), **keys}, path=("probe", 0))


def runs_of(rule: Mapping[str, Any], names: tuple[str, ...] = ("stream",), **keys: Any) -> Runs:
    targets = Targets({"m:f": frozenset(names)}, {})
    return Runs("r" * 64, probe(rule, **keys), "m:f", "m:f", {}, targets)


def test_a_table_becomes_a_probe() -> None:
    made = probe(RATIO, reported="8", replicate={"launches": 3}, planned={"sd": "0.1"}, reproduces_claim=True)
    assert (made.rule.kind, made.reported, made.planned_sd) == ("ratio", "8", 0.1)
    assert (made.arms, made.separate, made.items, made.replicate_size) == (True, False, False, 3)
    assert made.targets == ("m:f",)
    assert probe(PROPORTION, target=None, file="runs.csv").targets == ()
    assert (probe(UNPAIRED).separate, probe(ITEMS).items, probe(COUNT).arms) == (True, True, False)


@pytest.mark.parametrize("estimand", ["geometric", "ratio-of-means"])
def test_a_known_value_is_turned_as_its_rule_is(estimand: str) -> None:
    rng = np.random.default_rng(7)
    seconds = {"left": rng.uniform(0.9, 1.1, 40), "right": 8 * rng.uniform(0.9, 1.1, 40)}
    rule = {**RATIO, "estimand": estimand, "better": "lower", "looks": [40]}
    found = _compared(probe(rule), seconds["left"], seconds["right"], 8.0)
    assert found.measured == pytest.approx(8, rel=0.05)
    assert abs(found.gap) <= 4 * found.stderr
    other = _compared(probe({**rule, "better": "higher"}), seconds["left"], seconds["right"], 8.0)
    assert other.measured == pytest.approx(1 / 8, rel=0.05)
    assert abs(other.gap) > 4 * other.stderr


def test_a_known_difference_is_turned_as_its_rule_is() -> None:
    loss = np.array([2.0, 2.5, 3.0])
    lower = probe({**PAIRED, "better": "lower"})
    assert _compared(lower, loss, loss + 4, 4.0)[:2] == (4.0, 0.0)
    assert _compared(lower, -4 - 0 * loss, None, 4.0)[:2] == (4.0, 0.0)
    assert _compared(probe(PAIRED), loss + 4, loss, 4.0)[:2] == (4.0, 0.0)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"target": None}, "neither target nor file"),
        ({"file": "runs.csv"}, "target and file"),
        ({"rule": {"kind": "rate"}}, "unknown rule kind"),
        ({"rule": {}}, "no kind"),
        ({"rule": {**PROPORTION, "looks": [600_000]}}, "more than 500,000"),
        ({"target": None, "file": "../runs.csv"}, "is not a file of the case folder"),
        ({"target": None, "file": "runs.csv", "replicate": {"n": 3}}, "belongs to a target"),
        ({"target": None, "file": "runs.csv", "reproduces_claim": True}, "belongs to a target"),
        ({"replicate": {"stream": 3}}, "already an argument"),
        ({"reported": "1/0"}, "divides by zero"),
        ({"reported": "four"}, "is not a number"),
        ({"planned": {"sd": "0"}}, "not above zero"),
        ({"controls": [{"file": "a.csv", "expect": "FOR_DISPUTE"}]}, "has a target"),
        ({"controls": [{"target": "m:g", "expect": "GROWS"}]}, "neither an outcome nor an answer"),
        ({"controls": [{"target": "m:g", "expect": {"above": "m:h"}}]}, "unknown check"),
        (
            {"target": None, "file": "a.csv", "controls": [{"file": "b.csv", "expect": {"values": "m:h"}}]},
            "is not a word",
        ),
    ],
)
def test_a_bad_table_is_refused_in_a_sentence(keys: dict[str, Any], words: str) -> None:
    data = {name: value for name, value in {**TABLE, "rule": PAIRED, **keys}.items() if value is not None}
    with pytest.raises(TableError, match=words):
        parse_replication(data, path=("probe", 0))


def test_paired_arms_share_a_stream_and_others_do_not() -> None:
    both = runs_of(PAIRED)
    assert both.arms == ("",)
    assert both.unit(0, "").arms is True
    paired = runs_of(PAIRED, ("stream", "arm"))
    left, right = (paired.unit(3, arm) for arm in paired.arms)
    assert left.stream == right.stream == both.unit(3, "").stream
    assert left.key != right.key
    assert dict(left.keywords) == {"arm": "left"}
    unpaired = runs_of(UNPAIRED, ("stream", "arm"))
    left, right = (unpaired.unit(3, arm) for arm in unpaired.arms)
    assert left.stream != right.stream
    assert most_jobs(unpaired.probe) == 2 * most_jobs(both.probe)
    assert runs_of(UNPAIRED, ("**",)).arms == ("left", "right")
    assert runs_of(PROPORTION, ("stream", "arm")).arms == ("",)


def test_rows_of_two_arms_and_of_items() -> None:
    unit = runs_of(PAIRED).unit(0, "")
    row = _returned(unit, {"right": [1, 2], "left": np.array([0.5])})
    unit.check(row)
    read = arms_of(row)
    assert (read["left"].mean, read["right"].mean, read["right"].exact) == (Fraction(1, 2), Fraction(3, 2), True)
    items = runs_of(ITEMS).unit(0, "")
    row = _returned(items, {"left": [0.1, 1e100], "right": np.array([2**64 - 1, 0], dtype=np.uint64)})
    items.check(row)
    assert arms_of(row)["left"].items == (0.1, 1e100)
    assert arms_of(row)["right"].items == (float(2**64 - 1), 0.0)
    with pytest.raises(ValueError, match="not the row"):
        unit.check(row)
    with pytest.raises(ValueError, match="not the row"):
        runs_of(PROPORTION).unit(0, "").check(_returned(unit, {"right": [1], "left": [0]}))
    with pytest.raises(ValueError, match="not the values"):
        items.check({"arms": {arm: {**unit_row([1.0], items=True), "items": ["nan"]} for arm in ("left", "right")}})


@pytest.mark.parametrize(
    ("rule", "returned", "words"),
    [
        (PAIRED, {"left": [1.0]}, "a mapping of left, not"),
        (PAIRED, {}, "a mapping of nothing"),
        (PAIRED, {"left": [1.0], "right": []}, r"shape \(0,\).*\(right\)"),
        (PAIRED, {"left": [1.0], "right": ["x"]}, r"\(right\)"),
        (PROPORTION, {"left": [1], "right": [0]}, "takes one array"),
        (ITEMS, np.zeros(MAX_ITEMS + 1), "kept one by one"),
    ],
)
def test_what_a_target_may_not_return(rule: Mapping[str, Any], returned: object, words: str) -> None:
    with pytest.raises(BadReturn, match=words):
        _returned(runs_of(rule).unit(0, ""), returned)


def driven(procedure: Any, draw: Any) -> Any:
    """The result of a procedure whose units return `draw(unit)`."""
    try:
        jobs = next(procedure)
        while True:
            rows: dict[str, Row | Failure] = {job.key: _returned(job, draw(job)) for job in jobs}
            jobs = procedure.send(rows)
    except StopIteration as stop:
        return stop.value


def pairs(mean: float, sd: float = 1.0) -> Any:
    def draw(unit: Unit) -> dict[str, list[float]]:
        rng = np.random.default_rng([unit.replicate, 7])
        right = rng.normal(50, 10)
        return {"left": [right + rng.normal(mean, sd)], "right": [right]}

    return draw


def judged(rule: Mapping[str, Any], draw: Any, names: tuple[str, ...] = ("stream",), **options: Any) -> list[Judged]:
    return list(driven(judge_runs(runs_of(rule, names), discount=1.0, **options), draw))


def test_it_stops_at_the_look_that_decides_and_says_what_the_rule_says() -> None:
    (end,) = judged({**PAIRED, "looks": [10, 20, 40]}, pairs(0.0, 2.0))
    assert (end.stage, end.finding.outcome, end.finding.statistics.n) == ("decision", Outcome.FOR_DISPUTE, 20)
    drawn = [pairs(0.0, 2.0)(runs_of(PAIRED).unit(n, "")) for n in range(20)]
    left, right = (np.array([one[arm][0] for one in drawn]) for arm in ("left", "right"))
    rule = probe({**PAIRED, "looks": [10, 20, 40]}).rule
    own = difference.evaluate(rule, left, right, discount=1.0, last=False)  # type: ignore[arg-type]  # a difference
    assert end.finding == own
    assert [look["n"] for look in end.statistics["looks"]] == [10, 20]
    assert end.units.count == 20


def test_to_the_maximum_keeps_the_decision() -> None:
    first, full = judged({**PAIRED, "looks": [20, 30, 40]}, pairs(4.0), to_maximum=True)
    assert (first.stage, full.stage) == ("decision", "maximum")
    assert first.finding.answer is MarginAnswer.ABOVE_ALLEGED
    assert full.finding.statistics.n == 40
    at_stop = full.finding.statistics.e_above_alleged
    assert at_stop is not None
    assert first.finding.statistics.e_above_alleged is not None
    assert at_stop.at_stop == first.finding.statistics.e_above_alleged.current


def test_a_budget_ends_it_before_a_look() -> None:
    with pytest.raises(OutOfBudget):
        judged(PAIRED, pairs(2.0), budget=19)


def test_every_rule_takes_what_its_target_returns() -> None:
    def of(unit: Unit, arm: str, mean: float) -> list[float]:
        return [mean * (1 + 0.1 * np.random.default_rng([unit.replicate, ord(arm[0])]).standard_normal())]

    def either(unit: Unit) -> list[float]:
        arm = str(dict(unit.keywords)["arm"])
        return of(unit, arm, 8.0 if arm == "left" else 1.0)

    (launch,) = judged({**RATIO, "noise": "unpaired"}, either, ("stream", "arm"))
    assert (launch.finding.answer, launch.units.count) == (MarginAnswer.ABOVE_ALLEGED, 24)
    (hits,) = judged(PROPORTION, lambda unit: [int(unit.replicate % 10 != 3)])  # 54 of 60
    assert hits.finding.answer is MarginAnswer.ABOVE_ALLEGED
    (listed,) = judged(COUNT, lambda unit: [int(unit.replicate % 4 == 0)])  # 5 of 20
    assert listed.finding.outcome is Outcome.FOR_DISPUTE
    (drawn,) = judged(ITEMS, lambda unit: np.random.default_rng(unit.replicate).normal(0, 1, 400))
    assert drawn.finding.answer is MarginAnswer.BELOW_CLAIM
    assert drawn.statistics["reported"]["arms"]["values"]["n"] == 10


@pytest.mark.parametrize(
    ("rule", "draw", "words"),
    [
        (PROPORTION, lambda _: [1, 0], "one outcome a replicate"),
        (PROPORTION, lambda _: [0.5], "neither success nor failure"),
        (RATIO, lambda _: [2.0], "a ratio needs both arms"),
        (ITEMS, lambda unit: [1.0] * (5 + unit.replicate % 2), "5 items in one replicate and 6 in another"),
        (
            PAIRED,
            lambda unit: [1.0] if unit.replicate % 2 else {"left": [1.0], "right": [2.0]},
            "two arms in one replicate and one array in another",
        ),
    ],
)
def test_what_the_rule_cannot_be_applied_to_is_no_answer(rule: Mapping[str, Any], draw: Any, words: str) -> None:
    with pytest.raises(NoAnswer, match=words):
        judged(rule, draw)


def test_replicates_that_do_not_vary_are_malformed() -> None:
    (end,) = judged(PAIRED, lambda _: {"left": [3.0], "right": [1.0]})
    assert (end.finding.outcome, end.finding.statistics.n) == (Outcome.INVALID, 20)
    assert "all 20 differences are equal" in end.finding.summary


# --- files of runs


def table(rows: list[tuple[object, ...]], header: str = "replicate,arm,value") -> bytes:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows), ""]).encode()


def test_a_file_is_judged_at_the_last_look_that_it_reaches() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(0, 1, 27).round(6)
    rows = [(n, *cell) for n in range(27) for cell in (("left", 50 + values[n]), ("right", 50))]
    found = judge_file(probe(PAIRED), table(rows), name="runs.csv", discount=0.5)
    rule = probe(PAIRED).rule
    own = difference.evaluate(rule, 50 + values[:20], np.full(20, 50.0), discount=0.5, last=True)  # type: ignore[arg-type]  # a difference
    assert found.finding == own
    assert found.statistics["reported"]["file"] == {"rows": 54, "missing": 0, "unused": 14}
    assert [look["n"] for look in found.statistics["looks"]] == [10, 20]
    few = judge_file(probe(PAIRED), table(rows[:8]), name="runs.csv", discount=1.0)
    assert (few.finding.answer, few.finding.statistics.n) == (MarginAnswer.TOO_FEW, 4)


def test_unpaired_arms_may_be_of_different_length() -> None:
    rng = np.random.default_rng(4)
    rows = [(n, "left", rng.normal()) for n in range(25)] + [(n, "right", rng.normal()) for n in range(12)]
    made = read_arm_runs(probe(UNPAIRED).rule, table(rows), name="runs.csv")
    assert made.n == 12
    found = judge_file(probe(UNPAIRED), table(rows), name="runs.csv", discount=1.0)
    assert (found.finding.statistics.n, found.statistics["reported"]["file"]["unused"]) == (10, 17)
    paired = judge_file(probe(PAIRED), table(rows), name="runs.csv", discount=1.0)
    assert paired.statistics["reported"]["file"]["missing"] == 0
    assert paired.finding.statistics.n == 10, "the pairs end where one arm does"


def test_every_rule_reads_its_table() -> None:
    rng = np.random.default_rng(5)
    hits = (rng.random(60) < 0.9).astype(int)
    rows = [(n, hits[n]) for n in range(60)]
    found = judge_file(probe(PROPORTION), table(rows, "seed,value"), name="r.csv", discount=1.0)
    own = proportion.evaluate(probe(PROPORTION).rule, hits, discount=1.0, last=True)  # type: ignore[arg-type]  # a proportion
    assert found.finding == own
    found = judge_file(probe(COUNT), table(rows[:20], "replicate,value"), name="r.csv", discount=1.0)
    own = count.evaluate(probe(COUNT).rule, hits[:20], discount=1.0, last=True)  # type: ignore[arg-type]  # a count
    assert found.finding == own
    times = np.exp(rng.normal(0, 0.1, (2, 12))).round(9) * [[8], [1]]
    launches = [(n, *cell) for n in range(12) for cell in (("left", times[0, n]), ("right", times[1, n]))]
    found = judge_file(probe(RATIO), table(launches), name="r.csv", discount=1.0)
    own = ratio.evaluate(probe(RATIO).rule, times[0], times[1], discount=1.0, last=True)  # type: ignore[arg-type]  # a ratio
    assert found.finding == own
    items = [(n, i, rng.normal()) for n in range(10) for i in "abcdefgh"]
    found = judge_file(probe(ITEMS), table(items, "replicate,item,value"), name="r.csv", discount=1.0)
    assert found.finding.statistics.n == 10


@pytest.mark.parametrize(
    ("rule", "content", "words"),
    [
        (RATIO, table([(1, 2.0)], "replicate,value"), "no column arm"),
        (PROPORTION, table([(1, "left", 1), (1, "right", 0)]), "has no arms"),
        (PROPORTION, table([(1, 0.5)], "replicate,value"), "neither success nor failure"),
        (PROPORTION, table([(1, "a", 1)], "replicate,item,value"), "has no items"),
        (ITEMS, table([(1, 1.0)], "replicate,value"), "the rows have none"),
        (UNPAIRED, table([(1, "left", 1)]), "only the arm left"),
        ({**PAIRED, "noise": "pooled"}, table([(1, 1.0)], "replicate,value"), "needs both arms"),
        (PAIRED, table([]), "no row"),
        (PAIRED, b"\xff", "not UTF-8"),
    ],
)
def test_a_table_that_the_rule_cannot_read_is_named(rule: Mapping[str, Any], content: bytes, words: str) -> None:
    with pytest.raises(BadInput, match=words) as error:
        read_arm_runs(probe(rule).rule, content, name="runs.csv")
    assert error.value.where.startswith("runs.csv")


@settings(max_examples=25, deadline=None)
@given(order=st.permutations(range(48)), unpaired=st.booleans())
def test_the_order_of_rows_changes_nothing(*, order: list[int], unpaired: bool) -> None:
    rng = np.random.default_rng(6)
    rows = [(n, arm, rng.normal()) for n in range(24) for arm in ("left", "right")]
    rule = UNPAIRED if unpaired else PAIRED
    plain = judge_file(probe(rule), table(list(rows)), name="r.csv", discount=1.0)
    mixed = judge_file(probe(rule), table([rows[i] for i in order]), name="r.csv", discount=1.0)
    assert mixed == plain
