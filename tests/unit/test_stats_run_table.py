"""Tables of runs: what is read, exactly; row order changes nothing; views and grids; bounds."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifier.model.errors import BadInput
from verifier.stats import csv_columns, run_table
from verifier.stats.run_csv import parse_runs, read_runs
from verifier.stats.run_table import RunTable

TABLE = """\
team,value,arm,k,seed,item
red,0.5,left,16,2,a
red,0.1,left,8,2,a
red,1/3,right,8,1,a
red,-7,left,8,1,a
red,,right,16,1,b
blue,1e-3,left,8,1,a
"""


def read(text: str, **options: Any) -> RunTable:
    return parse_runs(text.encode(), name="runs.csv", **options)


def test_rows_are_sorted_by_scale_arm_replicate_item_and_team() -> None:
    table = read(TABLE, axes=("k",))
    assert table.axes == ("k",)
    assert table.scale[:, 0].tolist() == [8, 8, 8, 8, 16, 16]
    assert [table.arms[i] for i in table.arm] == ["left", "left", "left", "right", "left", "right"]
    assert table.replicate.tolist() == [1, 1, 2, 1, 2, 1]
    assert [table.teams[i] for i in table.team] == ["blue", "red", "red", "red", "red", "red"]
    assert [table.items[i] for i in table.item] == ["a", "a", "a", "a", "a", "b"]
    assert table.line.tolist() == [7, 5, 3, 4, 2, 6]
    assert table.exact == (Fraction(1, 1000), Fraction(-7), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), None)
    assert table.value[:5].tolist() == [0.001, -7.0, 0.1, 1 / 3, 0.5]
    assert table.missing == 1
    assert table.n.tolist() == [1, 1, 1, 1, 1, 0]


def same(one: RunTable, other: RunTable) -> bool:
    """Whether two tables hold the same, to the bit; lines are where a row stood and no part of it."""
    arrays = ("scale", "arm", "replicate", "item", "team", "value", "n", "numbers")
    labels = ("axes", "arms", "items", "teams")
    alike = all(getattr(one, a).tobytes() == getattr(other, a).tobytes() for a in arrays if a != "numbers")
    return (
        alike
        and one.numbers.tolist() == other.numbers.tolist()
        and all(getattr(one, label) == getattr(other, label) for label in labels)
        and {k: v.tolist() for k, v in one.extras.items()} == {k: v.tolist() for k, v in other.extras.items()}
    )


NUMBERS = st.one_of(
    st.just(""),
    st.integers(-(10**12), 10**12).map(str),
    st.decimals(-1000, 1000, places=3).map(str),
    st.fractions(max_denominator=99).map(str),
    st.floats(-1e20, 1e20).filter(lambda x: x == 0 or abs(x) > 1e-10).map(repr),
)
KEYS = st.tuples(
    st.integers(1, 40),
    st.sampled_from(["left", "right"]),
    st.integers(0, 30),
    st.sampled_from("ab"),
    st.sampled_from("xyz"),
)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(KEYS, NUMBERS, min_size=1, max_size=25),
    st.permutations(range(6)),
    st.randoms(use_true_random=False),
)
def test_the_order_of_rows_and_columns_changes_nothing(
    cells: dict[tuple[Any, ...], str], columns: list[int], shuffle: random.Random
) -> None:
    header = ("k", "arm", "seed", "item", "team", "value")
    rows = [(*map(str, key), value) for key, value in cells.items()]
    straight = read("\n".join(map(",".join, [header, *rows])), axes=("k",))
    shuffle.shuffle(rows)
    turned = read("\n".join(",".join(row[i] for i in columns) for row in [header, *rows]), axes=("k",))
    assert same(straight, turned)
    assert len(straight) == len(cells)
    got = {
        (k, straight.arms[a], r, straight.items[i], straight.teams[t]): value
        for k, a, r, i, t, value in zip(
            straight.scale[:, 0].tolist(),
            straight.arm.tolist(),
            straight.replicate.tolist(),
            straight.item.tolist(),
            straight.team.tolist(),
            straight.exact,
            strict=True,
        )
    }
    assert got == {key: Fraction(value) if value else None for key, value in cells.items()}
    assert [None if e is None else float(e) for e in straight.exact] == [
        None if np.isnan(v) else v for v in straight.value
    ]


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=12))
def test_value_codes_are_equal_where_exact_values_are(values: list[str]) -> None:
    values = [*values, *values, "0.1", "1/10", "0.1000000000000000000001"]
    table = read("\n".join(["seed,value", *(f"{r},{v}" for r, v in enumerate(values))]))
    pairs = itertools.combinations(zip(table.exact, table.value_codes.tolist(), strict=True), 2)
    assert all((a == b) == (c == d) for (a, c), (b, d) in pairs)
    assert all((e is None) == (c == -1) for e, c in zip(table.exact, table.value_codes.tolist(), strict=True))


def test_sums_give_the_mean_exactly() -> None:
    table = read("k,seed,n,sum,sum_sq\n8,1,3,1,1\n8,2,3,1/2,1\n8,3,,,\n8,4,7,0.7,0.07\n", axes=("k",))
    assert table.exact == (Fraction(1, 3), Fraction(1, 6), None, Fraction(1, 10))
    assert table.value[[0, 1, 3]].tolist() == [1 / 3, 1 / 6, 0.1]
    assert table.n.tolist() == [3, 3, 0, 7]


def test_sums_of_equal_numbers_may_be_rounded() -> None:
    assert len(read("seed,n,sum,sum_sq\n1,3,0.3,0.0299999999999\n")) == 1  # 0.03, less than rounding at 1e-9 allows


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffseed,value\r\n1,0.5\r\n2,0.6\r\n",
        "seed , value\n\n 1 , 0.5\n2,\t0.6 \n\n",
        '"seed","value"\n"1","0.5"\n"2","0.6"',
        "replicate,value\r1,0.5\r2,0.6\r",
    ],
)
def test_what_spreadsheets_write_is_read(text: str) -> None:
    assert read(text).value.tolist() == [0.5, 0.6]


def test_one_seed_and_one_scale_and_no_row_are_answers() -> None:
    assert read("k,seed,value\n8,1,2\n", axes=("k",)).grid().values.shape == (1, 1, 1, 1)
    empty = read("k,seed,value\n", axes=("k",))
    assert len(empty) == 0
    assert empty.grid().prefix == 0


def test_two_axes_are_one_scale() -> None:
    table = read("k,m,seed,value\n8,2,1,1\n8,1,1,2\n4,9,1,3\n", axes=("k", "m"))
    assert table.scale.tolist() == [[4, 9], [8, 1], [8, 2]]
    assert table.view(scale=(8, 1)).value.tolist() == [2.0]
    with pytest.raises(BadInput, match="1 numbers name no scale on 2 axes"):
        table.view(scale=8)
    with pytest.raises(BadInput, match="there is no column m"):
        read("k,seed,value\n8,1,1\n", axes=("k", "m"))


def test_views_are_the_rows_of_a_label() -> None:
    table = read(TABLE, axes=("k",))
    assert table.view(team="red", arm="left").value.tolist() == [-7.0, 0.1, 0.5]
    assert table.view(scale=16, item="b").missing == 1
    assert len(table.view(team="red").view(item="b")) == 1
    with pytest.raises(BadInput, match='the table has no team "rad"; the nearest valid one is red'):
        table.view(team="rad")


def test_a_grid_imputes_nothing_and_knows_its_prefix() -> None:
    rows = [f"{k},{r},{k * r}" for k in (8, 16) for r in (1, 2, 3, 4, 9) if (k, r) != (16, 3)]
    grid = read("\n".join(["k,seed,value", *rows, "8,10,"]), axes=("k",)).grid()
    assert grid.values.shape == (1, 2, 6, 1)
    assert grid.replicates.tolist() == [1, 2, 3, 4, 9, 10]
    assert grid.complete.tolist() == [True, True, False, True, True, False]
    assert grid.prefix == 2
    assert grid.arm("")[1, :2, 0].tolist() == [16.0, 32.0]
    assert np.isnan(grid.values[0, 1, 2, 0])


def test_a_grid_is_of_one_team() -> None:
    table = read(TABLE, axes=("k",))
    with pytest.raises(BadInput, match='the rows are of 2 teams: "blue" and "red"; take one team at a time'):
        table.grid()
    grid = table.view(team="red").grid()
    assert (grid.arms, grid.items) == (("left", "right"), ("a", "b"))
    assert grid.arm("left")[0, :, 0].tolist() == [-7.0, 0.1]
    with pytest.raises(BadInput, match='there is no arm "middle"'):
        grid.arm("middle")


def test_a_grid_of_too_many_cells_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_table, "MOST_CELLS", 8)
    sparse = read("\n".join(["k,seed,value", *(f"{8 + r},{r},1" for r in range(3))]), axes=("k",))
    with pytest.raises(BadInput, match="1 arms, 3 scales, 3 replicates and 1 items make more than 8 cells"):
        sparse.grid()


def test_a_grid_of_far_too_many_cells_takes_no_memory() -> None:
    rows = [f"{k},{k},left,i{k},1" for k in range(1, 40_000)]
    with pytest.raises(BadInput, match="most of them missing"):
        read("\n".join(["k,seed,arm,item,value", *rows]), axes=("k",)).grid()


# -- results under a registration

UNIT = "k,replicate,value,unit,stream,started\n"


def test_a_row_sent_twice_is_one_row_in_ingest_whatever_the_order() -> None:
    rows = [
        "8,1,0.5,u1,3,2026-06-02T00:00:00Z",
        "8,1,1/2,u1,3,2026-06-01T00:00:00Z",
        "8,2,0.6,u2,4,2026-06-01T00:00:00Z",
    ]
    for order in itertools.permutations(rows):
        table = read(UNIT + "\n".join(order), axes=("k",), ingest=True)
        assert table.value.tolist() == [0.5, 0.6]
        assert table.extras["started"].tolist() == ["2026-06-01T00:00:00Z"] * 2  # of the two the one that sorts first
        assert table.extras["unit"].tolist() == ["u1", "u2"]


def test_a_third_row_of_one_key_is_compared_too() -> None:
    with pytest.raises(BadInput, match="line 4: another value than in line 2"):
        read(f"{UNIT}8,1,0.5,u1,3,a\n8,1,0.5,u1,3,b\n8,1,0.7,u1,3,c\n", axes=("k",), ingest=True)


# -- bounds


def test_bounds_are_kept_before_work_is_done(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    content = "seed,value\n" + "".join(f"{r},1\n" for r in range(50))
    path = tmp_path / "runs.csv"
    path.write_text(content)
    monkeypatch.setattr(csv_columns, "MOST_ROWS", 50)
    assert len(read_runs(path)) == 50
    monkeypatch.setattr(csv_columns, "MOST_ROWS", 49)
    with pytest.raises(BadInput, match=r"runs\.csv, line 51: there are more than 49 rows"):
        read_runs(path)
    monkeypatch.setattr(csv_columns, "MOST_BYTES", 100)
    with pytest.raises(BadInput, match=r"runs\.csv: it is larger than 0 MiB"):
        read_runs(path)


def test_a_cell_beyond_the_readers_own_limit_is_a_sentence() -> None:
    with pytest.raises(BadInput, match="line 2: the quotation marks do not match, or a cell is too long"):
        read(f"seed,value\n1,{'1' * 200_000}\n")


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"the file cannot be read: no such file or directory; name a CSV file"):
        read_runs(tmp_path / "none.csv")
    with pytest.raises(BadInput, match="the file cannot be read: is a directory"):
        read_runs(tmp_path)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text('seedvalu,\n\r"0123456789./e-\t ', max_size=200).map(str.encode)))
def test_whatever_the_bytes_the_complaint_is_a_sentence(content: bytes) -> None:
    for head in (b"", b"seed,value\n"):
        complaint, table = None, None
        try:
            table = parse_runs(head + content, name="runs.csv")
        except BadInput as error:
            complaint = error
        if complaint is not None:
            assert complaint.mend
            assert complaint.sentence.isprintable()
        else:
            assert table is not None
            assert len(table) == len(table.exact)


def test_a_hundred_thousand_rows_in_any_order() -> None:
    rows = [
        f"{k},{r},{a},{k / 7 + r:.6f}" for k in (8, 16, 32, 64, 128) for r in range(10_000) for a in ("left", "right")
    ]
    random.Random(1).shuffle(rows)  # noqa: S311  # a shuffle, no secret
    grid = read("\n".join(["k,seed,arm,value", *rows]), axes=("k",)).grid()
    assert grid.prefix == 10_000
    assert grid.arm("right")[2, 77, 0] == float(f"{32 / 7 + 77:.6f}")


def test_reading_a_table_is_light() -> None:
    script = "import sys, verifier.stats.run_csv\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"scipy", "pydantic", "statsmodels", "pandas"}
    script = (
        "import sys\nfrom verifier.stats import teams, team_duplicates, heterogeneity, portfolio\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"scipy.stats", "pydantic", "statsmodels", "pandas"}
