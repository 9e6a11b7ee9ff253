"""Tables of replications' runs under a registration: which unit a line belongs to, and what is refused."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import pytest

from tests.integration.mixed_case import write_mixed_case
from verifier.casefile import Case, load
from verifier.engine.ingest_cells import numbers_words
from verifier.engine.ingest_read import read_reported
from verifier.engine.ingest_rows import Reported
from verifier.engine.layout import Layout, layout_of, unit_probes
from verifier.engine.manifest import manifest
from verifier.engine.targets import Targets
from verifier.model.errors import BadInput
from verifier.sweeps.jobs import Unit, arms_of
from verifier.sweeps.worker import unit_row

NAMES = {
    "quantity:growing": {"k", "stream", "draws", "percent"},
    "measured:pairs": {"stream", "tasks"},
    "measured:called": {"stream", "arm"},
    "measured:seconds": {"stream", "arm"},
    "measured:items": {"stream"},
    "measured:gains": {"stream"},
    "measured:successes": {"stream"},
}
TARGETS = Targets({target: frozenset(names) for target, names in NAMES.items()}, {})

Lines = list[dict[str, str]]


@dataclass(frozen=True)
class Mixed:
    """The layouts of the mixed case by probe, and the case."""

    case: Case
    layouts: dict[str, Layout]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Mixed:
    case = load(write_mixed_case(tmp_path_factory.mktemp("mixed") / "mixed"))
    return Mixed(case, {probe.name: layout_of(case, probe, TARGETS) for probe in unit_probes(case)})


def line(unit: Unit, **columns: str) -> dict[str, str]:
    same = {"unit": unit.key, "stream": f"{unit.stream:032x}", "started": "2026-01-01T00:00:00Z"}
    return {**same, "replicate": str(unit.replicate), **columns}


def of_pairs(layout: Layout, replicates: int = 3) -> Lines:
    """Both arms of each replicate: lines 2 and 3, 4 and 5, …"""
    return [
        line(unit, arm=arm, n="20", sum=f"{1000 + unit.replicate}.5", sum_sq="60000.0")
        for unit in layout.units[:replicates]
        for arm in ("left", "right")
    ]


def of_items(layout: Layout, replicates: int = 2, items: int = 3) -> Lines:
    return [
        line(unit, arm=arm, item=str(item), value=str(item % 2))
        for unit in layout.units[:replicates]
        for arm in ("left", "right")
        for item in range(items)
    ]


def of_arms(layout: Layout, replicates: int = 3) -> Lines:
    """One line a unit, of a target that is called for either arm."""
    return [line(u, arm=layout.arm(u), n="1", sum="1.5", sum_sq="2.25") for u in layout.units[: 2 * replicates]]


def of_ones(layout: Layout, replicates: int = 3) -> Lines:
    """One line a replicate, of one array."""
    return [line(unit, n="1", sum="1", sum_sq="1") for unit in layout.units[:replicates]]


def table(lines: Lines) -> bytes:
    text = io.StringIO(newline="")
    columns = list(dict.fromkeys(column for one in lines for column in one))
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue().encode()


def reported(lines: Lines, *layouts: Layout) -> list[Reported]:
    return read_reported(table(lines), name="runs.csv", layouts=layouts)


def refused(lines: Lines, *layouts: Layout) -> str:
    with pytest.raises(BadInput) as error:
        reported(lines, *layouts)
    assert error.value.mend
    assert error.value.sentence.isprintable()
    return error.value.sentence


def changed(lines: Lines, at: int, **columns: str) -> Lines:
    """The lines with columns of the one in line `at` of the file changed."""
    return [{**one, **columns} if n == at else one for n, one in enumerate(lines, 2)]


def test_a_manifest_says_for_which_arm_a_unit_is_called(mixed: Mixed) -> None:
    units = {name: manifest(mixed.case, layout)["units"] for name, layout in mixed.layouts.items()}
    assert [(unit["arm"], unit["replicate"]) for unit in units["speed"][:4]] == [
        ("left", 0),
        ("right", 0),
        ("left", 1),
        ("right", 1),
    ]
    left, right = units["called"][:2]
    assert left["stream"] == right["stream"], "paired arms share what varies"
    assert left["unit"] != right["unit"]
    assert units["speed"][0]["stream"] != units["speed"][1]["stream"]
    assert {unit["arm"] for name in ("pairs", "gains", "rate") for unit in units[name]} == {""}
    everything = [unit["unit"] for one in units.values() for unit in one]
    assert len(set(everything)) == len(everything)


def test_both_arms_of_a_call_are_one_unit(mixed: Mixed) -> None:
    layout = mixed.layouts["pairs"]
    (found,) = reported(of_pairs(layout), layout)
    assert (found.rows, found.prefix) == (3, 3)
    one = found.used(3)[1]
    assert one.lines == (4, 5)
    assert [sums.mean for sums in arms_of(one.row).values()] == [Fraction("1001.5") / 20] * 2
    assert found.record(3) == reported(of_pairs(layout)[::-1], layout)[0].record(3)
    assert found.record(3) != reported(changed(of_pairs(layout), 5, job="7"), layout)[0].record(3)


@pytest.mark.parametrize("kind", [int, float])
def test_items_come_back_as_the_row_of_a_worker(mixed: Mixed, kind: type) -> None:
    layout = mixed.layouts["drawn-items"]
    numbers = [x / 7 for x in range(41)] if kind is float else list(range(41))
    values = {"left": numbers[:40], "right": numbers[1:]}
    lines = [
        line(layout.units[0], arm=arm, item=str(item), value=repr(value))
        for arm, own in values.items()
        for item, value in enumerate(own)
    ]
    (found,) = reported(lines, layout)
    (one,) = found.used(1)
    for arm, own in values.items():
        row = unit_row(own, items=True)
        assert one.row["arms"][arm] == {**row, "values_sha256": ""}


def test_values_of_no_arm_are_differences(mixed: Mixed) -> None:
    layout = mixed.layouts["gains"]
    (found,) = reported([line(unit, value="0.25") for unit in layout.units[:4]], layout)
    assert found.prefix == 4
    assert set(arms_of(found.used(1)[0].row)) == {""}


def test_what_is_missing_is_said_and_stays_missing(mixed: Mixed) -> None:
    pairs, items, speed = (mixed.layouts[name] for name in ("pairs", "drawn-items", "speed"))
    (found,) = reported(changed(of_pairs(pairs), 5, n="", sum="", sum_sq=""), pairs)
    assert (found.rows, found.prefix, len(found.later(1))) == (2, 1, 1)
    assert [cell.reason for cell in found.missing(3)] == ["the right arm is empty in line 5"]
    (found,) = reported(of_pairs(pairs)[:-1], pairs)
    assert (found.prefix, [cell.reason for cell in found.missing(3)]) == (2, ["the right arm has no row"])
    (found,) = reported(of_items(items)[:-1], items)
    assert [cell.reason for cell in found.missing(2)] == ["item 2 of the right arm has no row"]
    (found,) = reported(of_arms(speed)[:-1], speed)
    (cell,) = found.missing(3)
    assert (cell.words, cell.reason, found.prefix) == ("replicate 2, right arm", "there is no row", 2)


def without(lines: Lines, *replicates: int) -> Lines:
    return [one for one in lines if int(one["replicate"]) not in replicates]


@pytest.mark.parametrize(
    ("absent", "words"),
    [
        ((0,), "runs.csv, line 2: replicate 0 has no row, and this line is of a later one"),
        ((3,), "runs.csv, line 8: replicate 3 has no row"),
        ((1, 2, 5), "runs.csv, line 4: replicates 1, 2, 5 have no row"),
        (tuple(range(11)), "replicates 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 1 more have no row"),
    ],
)
def test_a_gap_in_the_numbering_is_refused_with_the_numbers(mixed: Mixed, absent: Sequence[int], words: str) -> None:
    layout = mixed.layouts["pairs"]
    assert words in refused(without(of_pairs(layout, 12), *absent), layout)


def test_a_team_is_kept_and_two_must_agree(mixed: Mixed) -> None:
    layout = mixed.layouts["pairs"]
    lines = [{**one, "team": "a"} for one in of_pairs(layout)]
    (found,) = reported(lines, layout)
    assert found.used(1)[0].cells[0]["team"] == "a"
    twice = [*lines, {**lines[1], "team": "b"}]
    assert reported(twice, layout)[0].record(3) == found.record(3)
    assert "line 8: another value than in line 3 for the same unit" in refused(
        [*lines, {**lines[1], "team": "b", "sum": "1000.25"}], layout
    )


ROWS: dict[str, tuple[str, dict[str, str], str]] = {
    "the unit of another replicate": ("pairs", {"replicate": "5"}, "is not the unit that this registration gives"),
    "the unit of one arm": ("speed", {"replicate": "5"}, "that this registration gives replicate 5, left arm"),
    "another stream": ("pairs", {"stream": "0" * 32}, "is not the stream"),
    "a replicate beyond the last look": ("pairs", {"replicate": "12"}, "numbered from 0 to 11"),
    "no arm": ("pairs", {"arm": "both"}, "is not an arm"),
    "another number of repetitions": ("pairs", {"n": "19"}, "19 repetitions make this replicate, where tasks = 20"),
    "repetitions of an outcome": ("rate", {"n": "2", "sum": "1", "sum_sq": "1"}, "2 repetitions make this replicate"),
    "half a success": ("rate", {"n": "1", "sum": "1/2", "sum_sq": "1/4"}, "neither success nor failure"),
    "an item that is a word": ("drawn-items", {"item": "first"}, "is not the place of an item"),
    "an item far away": ("drawn-items", {"item": "999999"}, "no row of any replicate has item 3"),
    "a formula as a team": ("pairs", {"team": "=1+1"}, "begins like a formula"),
    "a time that is none": ("pairs", {"started": "yesterday"}, "is no time"),
    "an infinite value": ("gains", {"sum": "inf"}, "not a finite number"),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_line_that_is_no_unit_of_the_registration(mixed: Mixed, name: str) -> None:
    probe, change, words = ROWS[name]
    layout = mixed.layouts[probe]
    lines = {
        "pairs": of_pairs,
        "speed": of_arms,
        "drawn-items": of_items,
        "rate": of_ones,
        "gains": of_ones,
    }[probe](layout)
    if "team" in change:
        lines = [{**one, "team": "a"} for one in lines]
    if name == "an item far away":
        lines = changed(lines, len(lines) + 1, **change)
        assert words in refused([*lines, {**lines[-1], "item": "2"}], layout)
        return
    sentence = refused(changed(lines, 2, **change), layout)
    assert words in sentence
    assert "runs.csv, line 2" in sentence


@pytest.mark.parametrize(
    ("probe", "column", "text"),
    [
        ("rate", "arm", "left"),
        ("rate", "item", "0"),
        ("pairs", "item", "0"),
        ("pairs", "note", "x"),
        ("gains", "k", "8"),
    ],
)
def test_a_column_that_the_probe_has_not(mixed: Mixed, probe: str, column: str, text: str) -> None:
    layout = mixed.layouts[probe]
    numbers = {"n": "20", "sum": "1", "sum_sq": "1"} if probe == "pairs" else {"value": "1"}
    arm = {"arm": "left"} if probe == "pairs" else {}
    lines = [line(unit, **{**numbers, **arm, column: text}) for unit in layout.units[:3]]
    assert column in refused(lines, layout)


@pytest.mark.parametrize(("probe", "column"), [("speed", "arm"), ("drawn-items", "item"), ("pairs", "unit")])
def test_a_column_that_the_probe_needs(mixed: Mixed, probe: str, column: str) -> None:
    layout = mixed.layouts[probe]
    lines = {"speed": of_arms, "drawn-items": of_items, "pairs": of_pairs}[probe](layout)
    assert f"no column {column}" in refused([{k: v for k, v in one.items() if k != column} for one in lines], layout)


class TestSeveralProbesInOneTable:
    def lines(self, mixed: Mixed) -> Lines:
        sweep = mixed.layouts["excess"]
        of_sweep = [
            line(unit, k=str(unit.scale[0][1]), n="1000", sum="6000", sum_sq="40000000") for unit in sweep.units[:12]
        ]
        replications = [
            *of_items(mixed.layouts["drawn-items"]),
            *of_pairs(mixed.layouts["pairs"]),
            *of_arms(mixed.layouts["speed"]),
        ]
        return [one for both in zip(of_sweep, replications, strict=False) for one in both] + replications[12:]

    def test_every_line_goes_to_its_probe_and_keeps_its_number(self, mixed: Mixed) -> None:
        lines = self.lines(mixed)
        found = {one.layout.probe.name: one for one in reported(lines, *mixed.layouts.values())}
        assert list(found) == ["excess", "pairs", "speed", "drawn-items"]
        assert [one.prefix for one in found.values()] == [2, 3, 3, 2]
        for one in found.values():
            for measured in one.used(one.layout.count(one.prefix)):
                for at, cell in zip(measured.lines, measured.cells, strict=True):
                    assert lines[at - 2]["unit"] == measured.unit.key
                    assert lines[at - 2].get("arm", "") == cell.get("arm", "")

    def test_alone_and_together_it_is_the_same(self, mixed: Mixed) -> None:
        pairs = mixed.layouts["pairs"]
        together = {one.layout.probe.name: one for one in reported(self.lines(mixed), *mixed.layouts.values())}
        (alone,) = reported(of_pairs(pairs), pairs)
        assert together["pairs"].record(3) == alone.record(3)

    def test_a_unit_of_no_probe_and_a_scale_of_another(self, mixed: Mixed) -> None:
        lines, layouts = self.lines(mixed), mixed.layouts.values()
        assert "line 5, unit" in refused(changed(lines, 5, unit="f" * 64), *layouts)
        assert "unknown column" in refused(changed(lines, 3, k="32"), *layouts)
        assert "line 4, arm" in refused(changed(lines, 2, arm="left"), *layouts)
        assert "no column unit" in refused([{"replicate": "0", "value": "1"}], *layouts)
        with pytest.raises(BadInput, match="no row below the header"):
            read_reported(b"unit,stream,replicate,value\n", name="runs.csv", layouts=list(layouts))


def test_numbers_are_said_as_a_table_writes_them() -> None:
    sums = {"values": "float", "n": 4, "sum": str(Fraction(1188.1)), "sum_sq": str(Fraction(353000.25))}
    assert numbers_words(sums) == "n 4, sum 1188.1, sum_sq 353000.25"
    assert numbers_words(sums, means=True) == f"value {1188.1 / 4!r}"
    whole = {"values": "integer", "n": 4, "sum": "10", "sum_sq": "30"}
    assert numbers_words({"arms": {"left": whole}}) == "left n 4, sum 10, sum_sq 30"
    assert numbers_words(whole, means=True) == "value 2.5"
