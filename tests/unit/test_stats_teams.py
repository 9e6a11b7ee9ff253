"""Teams: combined e-values, duplicates, votes, and the table over every combination of its facts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.teams_portfolios import team_rows
from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome, Reason
from verifier.stats.run_csv import parse_runs
from verifier.stats.team_copies import SURELY, near, reordered
from verifier.stats.team_duplicates import LEAST_NEAR, without_duplicates
from verifier.stats.teams import (
    ASSUMES,
    Method,
    Team,
    TeamAnswer,
    TeamFinding,
    decide,
    evaluate,
    log_average_e,
    log_combined_e,
    log_partial_conjunction_e,
    log_product_e,
)

LOGS = st.lists(st.floats(-50, 50), min_size=2, max_size=7)


def test_the_three_combinations_of_known_numbers() -> None:
    logs = np.log([2.0, 4.0, 8.0, 10.0, 1000.0])
    assert np.exp(log_product_e(logs)) == pytest.approx(640_000)
    assert np.exp(log_average_e(logs)) == pytest.approx(1024 / 5)
    assert np.exp(log_partial_conjunction_e(logs, u=2)) == pytest.approx(6.0)  # the mean of the four smallest
    assert np.exp(log_partial_conjunction_e(logs, u=5)) == pytest.approx(2.0)  # all five, so the least


@given(LOGS, st.data())
def test_partial_conjunction_is_the_least_mean_over_sets_that_may_be_null(
    logs: list[float], data: st.DataObject
) -> None:
    u = data.draw(st.integers(1, len(logs)))
    sets = itertools.combinations(np.exp(logs), len(logs) - u + 1)
    assert np.exp(log_partial_conjunction_e(np.array(logs), u=u)) == pytest.approx(min(map(np.mean, sets)))


@given(LOGS)
def test_combinations_do_not_depend_on_the_order_and_are_the_average_for_one(logs: list[float]) -> None:
    array = np.array(logs)
    for method in ASSUMES:
        one, other = log_combined_e(array, method=method), log_combined_e(array[::-1], method=method)
        assert one == pytest.approx(other, abs=1e-9)
    assert log_partial_conjunction_e(array, u=1) == pytest.approx(log_average_e(array))
    assert log_partial_conjunction_e(array) <= log_average_e(array) + 1e-9


def test_capital_beyond_doubles_stays_in_logs() -> None:
    logs = np.array([[800.0, 900.0], [-math.inf, 900.0], [-math.inf, math.inf]])
    assert log_product_e(logs).tolist() == [1700.0, -math.inf, -math.inf]
    assert log_average_e(logs) == pytest.approx([900 - math.log(2), 900 - math.log(2), math.inf])
    assert log_partial_conjunction_e(logs).tolist() == [800.0, -math.inf, -math.inf]


@pytest.mark.parametrize(
    ("logs", "u", "said"),
    [
        ([1.0, math.nan], 2, "a team's e-value is not a number"),
        ([], 1, "there is no team to combine"),
        ([1.0], 2, "2 teams with the effect are asked for, and there are 1"),
        ([1.0, 2.0], 0, "0 teams with the effect"),
    ],
)
def test_what_cannot_be_combined_is_said(logs: list[float], u: int, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        log_partial_conjunction_e(np.array(logs), u=u)


def test_an_unknown_method_is_named() -> None:
    with pytest.raises(BadInput, match=r"no method \"largest\"; use product, average or partial-conjunction"):
        log_combined_e(np.zeros(2), method="largest")  # type: ignore[arg-type]  # what a file may say


@pytest.mark.parametrize("runs", [20_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_one_biased_team_and_shared_seeds_do_what_is_published(runs: int) -> None:
    rows = list(team_rows(runs=runs))
    assert len(rows) == 7
    assert not [row for row in rows if not row.agrees]


# -- the table

FACTS = (
    "too_few_teams",
    "opposite_votes",
    "reaches_for",
    "reaches_against",
    "enough_for",
    "enough_against",
    "adequate",
)
ROWS: list[tuple[dict[str, bool], str]] = [
    ({"too_few_teams": True}, "TOO_FEW_TEAMS"),
    ({"opposite_votes": True}, "HETEROGENEOUS"),
    ({"reaches_for": True, "reaches_against": True}, "BETWEEN"),
    ({"reaches_for": True, "enough_for": True}, "CONFIRMED_FOR"),
    ({"reaches_against": True, "enough_against": True}, "CONFIRMED_AGAINST"),
    ({"reaches_for": True}, "NOT_DECIDED_BY_TEAMS"),
    ({"reaches_against": True}, "NOT_DECIDED_BY_TEAMS"),
    ({"adequate": True}, "NOT_CONFIRMED"),
    ({"adequate": False}, "NOT_CONFIRMED_INADEQUATE"),
]
OUTCOMES = {
    "TOO_FEW_TEAMS": "UNDERPOWERED: underpowered",
    "HETEROGENEOUS": "UNDECIDED: heterogeneous",
    "BETWEEN": "UNDECIDED: between",
    "NOT_DECIDED_BY_TEAMS": "UNDECIDED: between",
    "CONFIRMED_FOR": "FOR_DISPUTE",
    "CONFIRMED_AGAINST": "AGAINST_DISPUTE",
    "NOT_CONFIRMED": "UNDECIDED: not-decided",
    "NOT_CONFIRMED_INADEQUATE": "UNDERPOWERED: underpowered",
}


def test_every_combination_gives_the_first_row_that_applies() -> None:
    seen = set()
    for values in itertools.product([False, True], repeat=len(FACTS)):
        facts = dict(zip(FACTS, values, strict=True))
        expected = next(answer for asks, answer in ROWS if all(facts[name] is want for name, want in asks.items()))
        assert decide(**facts) == expected, facts
        seen.add(expected)
    assert seen == set(TeamAnswer)


@pytest.mark.parametrize("answer", list(TeamAnswer))
def test_every_answer_has_its_outcome_reason_and_sentence(answer: TeamAnswer) -> None:
    outcome, _, reason = OUTCOMES[answer.value].partition(": ")
    assert answer.outcome is Outcome(outcome)
    assert answer.reason == (Reason(reason) if reason else None)
    assert (answer.reason is None) == answer.outcome.decided
    assert answer.sentence[0].islower()
    assert not answer.sentence.endswith(".")


# -- votes


def team(name: str, outcome: Outcome, *, e: float, adequate: bool = True) -> Team:
    """A team whose E on its own side is e, and 1/e on the other."""
    log_for = math.log(e) if outcome is Outcome.FOR_DISPUTE else -math.log(e)
    return Team(name=name, outcome=outcome, adequate=adequate, log_e_for=log_for, log_e_against=-log_for)


FOR, AGAINST, OPEN = Outcome.FOR_DISPUTE, Outcome.AGAINST_DISPUTE, Outcome.UNDECIDED


def found(*teams: Team, u: int = 2) -> TeamFinding:
    return evaluate(teams, u=u)


def test_one_team_however_sure_confirms_nothing() -> None:
    finding = found(team("a", FOR, e=1e300))
    assert finding.answer is TeamAnswer.TOO_FEW_TEAMS
    assert finding.log_e_for is None
    assert "1 of the 2 teams needed" in finding.summary


def test_two_teams_that_agree_confirm_with_the_weaker_of_them() -> None:
    assert found(team("a", FOR, e=1e5), team("b", FOR, e=2e4)).answer is TeamAnswer.CONFIRMED_FOR
    weak = found(team("a", FOR, e=1e300), team("b", FOR, e=9e3))
    assert weak.answer is TeamAnswer.NOT_CONFIRMED
    assert weak.log_e_for == pytest.approx(math.log(9e3))
    assert found(team("a", AGAINST, e=1e5), team("b", AGAINST, e=1e5)).answer is TeamAnswer.CONFIRMED_AGAINST


def test_teams_that_decided_neither_way_are_named() -> None:
    finding = found(team("a", AGAINST, e=1e9), team("b", AGAINST, e=1e9), team("c", OPEN, e=1e9))
    assert finding.answer is TeamAnswer.CONFIRMED_AGAINST
    assert finding.summary.endswith("a and b against it; decided neither way: c")


def test_opposite_votes_of_adequate_designs_are_undecided() -> None:
    finding = found(team("a", FOR, e=1e9), team("b", FOR, e=1e9), team("c", AGAINST, e=1e9))
    assert finding.answer is TeamAnswer.HETEROGENEOUS
    assert finding.reason is Reason.HETEROGENEOUS
    assert (finding.votes_for, finding.votes_against, finding.dropped) == (("a", "b"), ("c",), ())


def test_an_inadequate_vote_is_dropped_first_but_its_evidence_stays() -> None:
    finding = found(team("a", FOR, e=1e9), team("b", FOR, e=3e4), team("c", AGAINST, e=1e9, adequate=False))
    assert finding.answer is TeamAnswer.CONFIRMED_FOR
    assert (finding.votes_against, finding.dropped) == ((), ("c",))
    assert finding.log_e_for == pytest.approx(math.log((3e4 + 1e-9) / 2))  # with c the mean of two, not b's alone
    assert "no vote, as the design could not be expected to decide: c" in finding.summary


def test_an_inadequate_vote_without_an_opposite_one_is_kept() -> None:
    finding = found(team("a", FOR, e=1e9), team("b", FOR, e=1e9, adequate=False))
    assert (finding.votes_for, finding.dropped) == (("a", "b"), ())


def test_too_few_adequate_teams_are_underpowered_not_undecided() -> None:
    finding = found(team("a", OPEN, e=2.0), team("b", OPEN, e=2.0, adequate=False))
    assert finding.answer is TeamAnswer.NOT_CONFIRMED_INADEQUATE


def test_a_team_that_may_not_decide_alone_does_not_decide_by_way_of_others() -> None:
    short = [
        Team(name=n, outcome=Outcome.UNDERPOWERED, adequate=True, log_e_for=40, log_e_against=0, able=False)
        for n in "xyz"
    ]
    alone = found(*short)
    assert alone.answer is TeamAnswer.NOT_CONFIRMED_INADEQUATE
    assert alone.log_e_for == -math.inf
    assert alone.unable == ("x", "y", "z")
    with_two = found(team("a", FOR, e=1e9), team("b", FOR, e=1e9), short[0])
    assert with_two.answer is TeamAnswer.CONFIRMED_FOR
    assert with_two.log_e_for == pytest.approx(math.log(5e8))  # x is 0 in the mean of two
    assert evaluate([team("a", FOR, e=1e9), *short], method="product").answer is TeamAnswer.NOT_CONFIRMED_INADEQUATE


@pytest.mark.parametrize(
    ("method", "outcomes", "expected"),
    [
        ("partial-conjunction", (OPEN, OPEN, OPEN), "NOT_DECIDED_BY_TEAMS"),
        ("partial-conjunction", (FOR, OPEN, OPEN), "NOT_DECIDED_BY_TEAMS"),
        ("partial-conjunction", (FOR, FOR, OPEN), "CONFIRMED_FOR"),
        ("average", (OPEN, OPEN, OPEN), "NOT_DECIDED_BY_TEAMS"),
        ("average", (FOR, OPEN, OPEN), "CONFIRMED_FOR"),
        ("product", (OPEN, OPEN, OPEN), "NOT_DECIDED_BY_TEAMS"),
        ("product", (FOR, OPEN, OPEN), "CONFIRMED_FOR"),
    ],
)
def test_teams_confirm_only_what_enough_of_them_found(method: Method, outcomes: list[Outcome], expected: str) -> None:
    teams = [
        Team(name=name, outcome=outcome, adequate=True, log_e_for=20.0, log_e_against=-20.0)
        for name, outcome in zip("abc", outcomes, strict=True)
    ]
    assert evaluate(teams, method=method).answer == expected


def test_evidence_against_both_sides_without_opposite_votes_is_between() -> None:
    teams = [Team(name=n, outcome=OPEN, adequate=True, log_e_for=20.0, log_e_against=20.0) for n in "abc"]
    assert evaluate(teams).answer is TeamAnswer.BETWEEN


def test_strangers_input_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match='the team "a" stands twice'):
        found(team("a", FOR, e=2.0), team("a", FOR, e=2.0))
    with pytest.raises(BadInput, match="0 teams are asked for"):
        found(team("a", FOR, e=2.0), u=0)


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_of_teams_changes_nothing(order: list[str]) -> None:
    teams = {
        "a": team("a", FOR, e=1e6),
        "b": team("b", FOR, e=1e5),
        "c": team("c", AGAINST, e=1e3, adequate=False),
        "d": team("d", OPEN, e=2.0),
    }
    finding = found(*(teams[name] for name in order))
    assert finding.answer is found(*teams.values()).answer
    assert finding.log_e_for == found(*teams.values()).log_e_for


# -- duplicates


def csv(*rows: str) -> bytes:
    return "\n".join(["team,replicate,value", *rows, ""]).encode()


def teams_left(content: bytes, order: list[str] | None = None) -> tuple[set[str], list[tuple[str, str, int, int]]]:
    table, dropped = without_duplicates(parse_runs(content, name="t.csv"), order=order)
    left = {table.teams[i] for i in table.team}
    return left, [(d.team, d.of, d.common, d.equal) for d in dropped]


def test_a_team_with_half_of_another_teams_numbers_is_dropped() -> None:
    content = csv(
        "a,1,0.1", "a,2,0.2", "a,3,0.3", "a,4,0.4", "b,1,1/10", "b,2,0.20", "b,3,5", "b,4,6", "c,1,9", "c,2,8"
    )
    assert teams_left(content) == ({"a", "c"}, [("b", "a", 4, 2)])
    assert teams_left(content, order=["c", "b", "a"]) == ({"b", "c"}, [("a", "b", 4, 2)])


def test_just_under_half_is_no_duplicate_and_missing_cells_do_not_count() -> None:
    shared = (
        [f"a,{r},{r}" for r in range(5)] + [f"b,{r},{r}" for r in range(2)] + [f"b,{r},{r + 50}" for r in range(2, 5)]
    )
    assert teams_left(csv(*shared)) == ({"a", "b"}, [])
    assert teams_left(csv(*shared, "a,9,", "b,9,")) == ({"a", "b"}, [])


def test_teams_without_a_common_cell_are_no_duplicates() -> None:
    assert teams_left(csv("a,1,5", "b,2,5")) == ({"a", "b"}, [])


def test_a_third_copy_is_dropped_for_the_one_that_is_kept() -> None:
    content = csv(*(f"{name},{r},{r}.25" for name in "abc" for r in range(4)))
    assert teams_left(content) == ({"a"}, [("b", "a", 4, 4), ("c", "a", 4, 4)])


def test_equal_doubles_of_different_numbers_are_different() -> None:
    content = csv("a,1,0.1", "b,1,0.1000000000000000000001")
    assert teams_left(content) == ({"a", "b"}, [])


def test_honest_teams_with_values_0_and_1_are_no_duplicates_and_a_copy_is() -> None:
    rng = np.random.default_rng(1)
    rows = [f"{name},{r},{x}" for name in "abc" for r, x in enumerate((rng.random(300) < 0.9).astype(int))]
    assert teams_left(csv(*rows)) == ({"a", "b", "c"}, [])
    copied = [row.replace("a,", "d,") for row in rows if row.startswith("a,")]
    table, (dropped,) = without_duplicates(parse_runs(csv(*rows, *copied), name="t.csv"))
    assert (dropped.team, dropped.of, dropped.equal, dropped.distinct) == ("d", "a", 300, 2)
    assert dropped.sentence.endswith("of only 2 different numbers, which may be chance")
    assert len(table.teams) >= 3


def measured(name: str, values: np.ndarray) -> list[str]:
    return [f"{name},{r},{x}" for r, x in enumerate(values)]


@pytest.mark.parametrize("n", [15, 30, 300])
def test_another_teams_values_in_another_order_are_no_team(n: int) -> None:
    values = np.round(np.random.default_rng(n).normal(0, 2, n), 5)
    content = csv(*measured("a", values), *measured("b", values[::-1]))
    _, (dropped,) = without_duplicates(parse_runs(content, name="t.csv"))
    assert (dropped.team, dropped.of, dropped.common, dropped.equal) == ("b", "a", n, n)
    assert dropped.sentence == f'"b" has the values of "a" in another order, {n} of {n}'


@pytest.mark.parametrize("shift", [1e-9, 1e-8, -1e-7])
def test_another_teams_numbers_with_a_last_digit_changed_are_no_team(shift: float) -> None:
    values = np.round(np.random.default_rng(3).normal(0, 2, 30), 5)
    content = csv(*measured("a", values), *measured("b", values + shift))
    _, (dropped,) = without_duplicates(parse_runs(content, name="t.csv"))
    assert dropped.sentence == '"b" has the numbers of "a" to a millionth of their spread in 30 of 30 common cells'
    both = csv(*measured("a", values), *measured("b", values[::-1] + shift))
    assert without_duplicates(parse_runs(both, name="t.csv"))[1][0].how == "reordered"


def test_numbers_that_differ_by_more_are_a_team() -> None:
    values = np.round(np.random.default_rng(3).normal(0, 2, 30), 5)
    assert teams_left(csv(*measured("a", values), *measured("b", values + 1e-3)))[0] == {"a", "b"}


HONEST: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "whole numbers": lambda rng, n: np.round(rng.normal(0, 2, n)),
    "one decimal": lambda rng, n: np.round(rng.normal(0, 2, n), 1),
    "shares of a hundred": lambda rng, n: rng.binomial(100, 0.9, n) / 100,
    "counts": lambda rng, n: rng.poisson(1000, n),
    "0 and 1": lambda rng, n: (rng.random(n) < 0.7).astype(int),
    "most at zero but for rounding": lambda rng, n: np.where(rng.random(n) < 0.8, 1e-9 * rng.random(n), rng.random(n)),
}


@pytest.mark.parametrize("kind", HONEST)
@pytest.mark.parametrize("n", [6, 15, 30, 120])
def test_honest_teams_are_not_taken_for_copies(kind: str, n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(40):
        mine, theirs = HONEST[kind](rng, n).astype(float), HONEST[kind](rng, n).astype(float)
        assert reordered([(mine, theirs)]) is None
        close, by_chance = near(mine, theirs)
        assert close.sum() <= max(LEAST_NEAR - 1, n / 2 - 1, by_chance + SURELY * math.sqrt(by_chance))


def test_scales_are_not_exchanged() -> None:
    rng = np.random.default_rng(2)
    small, large = np.round(rng.normal(0, 1, 30), 5), np.round(rng.normal(100, 1, 30), 5)
    head = "team,k,replicate,value"
    rows = [f"a,{k},{r},{x}" for k, values in ((2, small), (4, large)) for r, x in enumerate(values)]
    swapped = [f"b,{k},{r},{x}" for k, values in ((2, large), (4, small)) for r, x in enumerate(values)]
    table = parse_runs("\n".join([head, *rows, *swapped, ""]).encode(), axes=("k",), name="t.csv")
    assert without_duplicates(table)[1] == ()
    turned = [f"b,{k},{r},{x}" for k, values in ((2, small), (4, large)) for r, x in enumerate(values[::-1])]
    table = parse_runs("\n".join([head, *rows, *turned, ""]).encode(), axes=("k",), name="t.csv")
    assert [(d.how, d.equal) for d in without_duplicates(table)[1]] == [("reordered", 60)]


def test_one_number_for_all_says_nothing() -> None:
    assert teams_left(csv(*(f"{name},{r},1" for name in "ab" for r in range(50)))) == ({"a", "b"}, [])


def test_an_order_that_lacks_a_team_is_refused() -> None:
    with pytest.raises(BadInput, match="does not name each team of the table once"):
        teams_left(csv("a,1,1", "b,1,2"), order=["a"])


def test_groups_of_one_value_do_not_hide_a_copy() -> None:
    """They are no part of the count, so however many there are, the values that can be compared decide."""
    rng = np.random.default_rng(8)
    mine = rng.normal(size=60)
    single = [(np.array([float(i)]), np.array([float(i) + 0.5])) for i in range(300)]
    assert reordered([(mine, mine[::-1].copy()), *single]) == (60, 60)
    assert reordered([(mine, rng.normal(size=60)), *single]) is None
