"""The manifest of a registration, and what a table must be to hold its runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import TOY
from verifier.casefile import Case, load, override
from verifier.engine.ingest_cells import number
from verifier.engine.ingest_check import drawn_for_check
from verifier.engine.ingest_read import read_reported
from verifier.engine.ingest_rows import Reported, is_retrospective
from verifier.engine.ingest_split import axis_column
from verifier.engine.layout import Layout, layout_of, unit_probes
from verifier.engine.manifest import check_manifest, manifest, manifest_lines, most_bytes
from verifier.engine.targets import Targets
from verifier.model.canonical import canonical_bytes, sha256_hex
from verifier.model.errors import BadInput

TARGETS = Targets({"quantity:growing": frozenset({"k", "stream", "draws", "percent"})}, {})
CASE = load(TOY)


def laid_out(case: Case, name: str | None = None) -> Layout:
    """The layout of a case's only probe, or of the one called `name`."""
    (probe,) = unit_probes(case, name)
    return layout_of(case, probe, TARGETS)


EXPECTED = manifest(CASE, laid_out(CASE))


def test_it_has_the_fields_that_are_published_and_names_every_unit_once() -> None:
    assert list(EXPECTED) == [
        "schema",
        "registration",
        "case_sha256",
        "probe",
        "rule_sha256",
        "looks",
        "units",
        "manifest_sha256",
    ]
    assert (EXPECTED["registration"], EXPECTED["looks"]) == (CASE.registration, [10, 20, 30])
    units = EXPECTED["units"]
    assert len({unit["unit"] for unit in units}) == len({unit["stream"] for unit in units}) == len(units) == 6 * 30
    assert [unit["replicate"] for unit in units] == sorted(6 * list(range(30)))
    assert set(units[0]) == {"unit", "scale", "arm", "replicate", "stream"}


def test_a_stream_is_what_the_design_says_a_stream_is() -> None:
    """Recomputed from the description of the stream key alone, so that somebody else can."""
    unit = EXPECTED["units"][17]
    identity = {
        "arm": "",
        "probe": "excess",
        "registration": CASE.registration,
        "replicate": unit["replicate"],
        "scale": unit["scale"],
        "target": "quantity:growing",
    }
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    assert unit["stream"] == digest[:32]


def test_its_hash_is_over_the_other_fields() -> None:
    rest = {key: value for key, value in EXPECTED.items() if key != "manifest_sha256"}
    assert EXPECTED["manifest_sha256"] == sha256_hex(canonical_bytes(rest))


def test_what_was_registered_decides_its_hashes() -> None:
    other = override(CASE, scale=(), set_=("percent=0",))
    changed = manifest(other, laid_out(other))
    assert changed["case_sha256"] == EXPECTED["case_sha256"], "the command line is no part of case.toml"
    assert changed["rule_sha256"] == EXPECTED["rule_sha256"]
    assert {unit["unit"] for unit in changed["units"]}.isdisjoint(unit["unit"] for unit in EXPECTED["units"])


def test_reading_more_of_the_paper_leaves_it(tmp_path: Path) -> None:
    text = (TOY / "case.toml").read_text().replace('locator = "theorem 1"', 'locator = "theorem 1, page 4"')
    (tmp_path / "case.toml").write_text(text)
    (tmp_path / "quantity.py").write_bytes((TOY / "quantity.py").read_bytes())
    case = load(tmp_path)
    assert manifest(case, laid_out(case)) == EXPECTED


def written(document: Any) -> bytes:
    return json.dumps(document, indent=None).encode()


def test_its_own_file_is_accepted_and_another_probes_manifest_beside_it() -> None:
    assert len(manifest_lines([EXPECTED])) < most_bytes(EXPECTED)
    check_manifest(manifest_lines([EXPECTED]), EXPECTED, name="m")
    check_manifest(written({**EXPECTED, "probe": "other"}) + b"\n\n" + written(EXPECTED), EXPECTED, name="m")


Change = Callable[[dict[str, Any]], Any]
FORGED: dict[str, tuple[Change, str]] = {
    "another stream": (lambda m: m["units"][7].update(stream="0" * 32), "units"),
    "two units in another order": (lambda m: m["units"].reverse(), "first in unit 1"),
    "a unit less": (lambda m: m["units"].pop(), "it lists 179, and there are 180"),
    "no list of units": (lambda m: m.update(units={}), '"units"'),
    "a later look": (lambda m: m["looks"].append(40), '"looks"'),
    "another rule": (lambda m: m.update(rule_sha256="0" * 64), '"rule_sha256"'),
    "a true for a 1": (lambda m: m["units"][6].update(replicate=True), "first in unit 7"),
    "a double for a 1": (lambda m: m["units"][6].update(replicate=1.0), "first in unit 7"),
    "a key more": (lambda m: m.update(note="believe me"), '"note"'),
    "a key less": (lambda m: m.pop("case_sha256"), '"case_sha256"'),
    "another hash of its own": (lambda m: m.update(manifest_sha256="0" * 64), '"manifest_sha256"'),
    "another registration": (lambda m: m.update(registration="0" * 64), "belongs to the registration"),
    "a registration that is no text": (lambda m: m.update(registration=[["a"]]), "belongs to the registration"),
    "another schema": (lambda m: m.update(schema="verifier/manifest/2"), "no manifest"),
    "another probe": (lambda m: m.update(probe="other"), "no manifests of the probe excess"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_manifest_is_refused_in_one_sentence(name: str) -> None:
    change, words = FORGED[name]
    forged = json.loads(written(EXPECTED))
    change(forged)
    with pytest.raises(BadInput) as error:
        check_manifest(written(forged), EXPECTED, name="forged.json")
    assert error.value.sentence.startswith("forged.json")
    assert words in error.value.sentence
    assert error.value.mend


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b"[" * 100_000, b'{"schema": 1, "schema": 1}', b"9" * 5_000, b"\x00", b"\xff\xfe", b"NaN"],
    ids=["empty", "list", "torn", "deep", "twice", "digits", "nul", "utf16", "nan"],
)
def test_a_file_that_is_no_manifest(content: bytes) -> None:
    with pytest.raises(BadInput):
        check_manifest(content, EXPECTED, name="m")


def test_two_manifests_of_one_probe_and_a_file_beyond_its_bound() -> None:
    for content in (2 * manifest_lines([EXPECTED]), b" " * (most_bytes(EXPECTED) + 1)):
        with pytest.raises(BadInput):
            check_manifest(content, EXPECTED, name="m")


def table(*changes: dict[str, str], replicates: int = 3, case: Case = CASE) -> bytes:
    """A CSV of runs, with changes to row 0, 1, …; sums are 1000 times the replicate's number plus the scale."""
    rows = []
    layout = laid_out(case)
    for unit in layout.units[: layout.count(replicates)]:
        scale = unit.scale[0][1]
        row = {"k": str(scale), "replicate": str(unit.replicate), "n": "1000"}
        row |= {"sum": str(scale + 1000 * unit.replicate), "sum_sq": str(10**9), "unit": unit.key}
        row |= {"stream": f"{unit.stream:032x}", "job": "", "hardware": "", "log_sha256": ""}
        rows.append({**row, "started": "2026-01-01T00:00:00Z"})
    for row, change in zip(rows, changes, strict=False):
        row.update(change)
    header = [*rows[0], *(key for row in rows for key in row if key not in rows[0])]
    lines = [header, *([row.get(key, "") for key in header] for row in rows)]
    return "\n".join(",".join(line) for line in lines).encode()


def reported(content: bytes) -> Reported:
    (found,) = read_reported(content, name="runs.csv", layouts=[laid_out(CASE)])
    return found


ROWS: dict[str, tuple[dict[str, str], str]] = {
    "the unit of another cell": ({"replicate": "21"}, "is not the unit that this registration gives k = 1024"),
    "another stream": ({"stream": "0" * 32}, "is not the stream that this registration gives k = 1024"),
    "a stream in capitals": ({"stream": "A" * 32}, "is not the stream"),
    "no unit": ({"unit": ""}, '"" is not the unit'),
    "another scale": ({"k": "2048"}, "k = 2048 is not a scale of this registration"),
    "a replicate beyond the last look": ({"replicate": "30"}, "numbered from 0 to 29"),
    "another number of repetitions": ({"n": "999"}, "999 repetitions make this replicate"),
    "a formula": ({"job": "=1+1"}, "begins like a formula"),
    "another formula": ({"hardware": "@SUM(A1)"}, "begins like a formula"),
    "no hash": ({"log_sha256": "abc"}, "is no SHA-256"),
    "a time without offset": ({"started": "2026-01-01T00:00:00"}, "is no time with its offset"),
    "a time that is none": ({"started": "2026-02-30T00:00:00Z"}, "is no time"),
    "NaN": ({"sum": "NaN"}, "not a finite number"),
    "an escape sequence": ({"job": "\x1b[31mred"}, "cannot be shown"),
    "sums that no numbers have": ({"sum_sq": "1"}, "no 1000 numbers have this sum"),
    "some of the sums": ({"sum": ""}, "only some of n, sum and sum_sq"),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_that_is_no_unit_of_the_registration(name: str) -> None:
    change, words = ROWS[name]
    with pytest.raises(BadInput) as error:
        reported(table(change))
    assert words in error.value.sentence
    assert "runs.csv, line 2" in error.value.sentence
    assert error.value.sentence.isprintable()


@pytest.mark.parametrize("column", ["arm", "item", "team", "note"])
def test_a_column_that_the_rule_has_not(column: str) -> None:
    lines = table().decode().splitlines()
    content = "\n".join([f"{lines[0]},{column}", *(f"{line},left" for line in lines[1:])]).encode()
    with pytest.raises(BadInput, match=column):
        reported(content)


@pytest.mark.parametrize("column", ["unit", "stream", "k", "replicate"])
def test_a_column_that_is_missing(column: str) -> None:
    rows = [line.split(",") for line in table().decode().splitlines()]
    at = rows[0].index(column)
    content = "\n".join(",".join(row[:at] + row[at + 1 :]) for row in rows).encode()
    with pytest.raises(BadInput, match=f"no column {column}"):
        reported(content)


def test_the_prefix_is_the_replicates_complete_before_the_first_that_is_not() -> None:
    empty = {"n": "", "sum": "", "sum_sq": ""}
    whole = reported(table())
    assert (whole.rows, whole.prefix, list(whole.missing(3))) == (18, 3, [])
    cut = reported(table(*[{}] * 7, empty))  # the second cell of replicate 1
    assert (cut.rows, cut.prefix) == (17, 1)
    (cell,) = cut.missing(3)
    assert (dict(cell.unit.scale), cell.unit.replicate, cell.reason) == ({"k": 512}, 1, "it is empty in line 9")
    assert len(cut.later(1)) == 11
    assert (reported(table(empty)).prefix, whole.last_replicate()) == (0, 3)


def test_every_column_is_content() -> None:
    root = reported(table()).record(18).root
    for change in ({"job": "7"}, {"started": "2026-01-01T00:00:01Z"}, {"log_sha256": "0" * 64}, {"sum": "2"}):
        assert reported(table(change)).record(18).root != root
    assert reported(table({"job": "7"})).record(0).root == reported(table()).record(0).root


def test_a_decimal_is_a_double_and_a_ratio_is_exact() -> None:
    assert number("0.1") == 0.1 != number("1/10")
    assert number("1/10") * 10 == 1
    assert number("12345678901234567890") == 12345678901234567890


def test_a_start_is_compared_in_time_and_not_as_text() -> None:
    rows = reported(table({"started": "2026-01-01T01:00:00+01:00"})).used(18)
    second = 1767225600
    assert rows[0].started == rows[1].started == second
    assert not is_retrospective(rows, second)
    assert is_retrospective(rows, second + 1)
    assert is_retrospective(reported(table({"started": ""})).used(18), second)


def test_units_to_repeat_are_drawn_by_the_root() -> None:
    leaf = sha256_hex(b"leaf")
    one, other = (drawn_for_check(sha256_hex(text), leaf, 180) for text in (b"1", b"2"))
    assert len(set(one)) == 3
    assert one != other
    assert one == drawn_for_check(sha256_hex(b"1"), leaf, 180)
    assert one != drawn_for_check(sha256_hex(b"1"), sha256_hex(b"another"), 180), "not by the root alone"
    assert sorted(drawn_for_check(sha256_hex(b"1"), leaf, 2)) == [0, 1]
    counts = [0] * 5
    for seed in range(2_000):
        for index in drawn_for_check(sha256_hex(str(seed).encode()), leaf, 5):
            counts[index] += 1
    assert all(1_080 < count < 1_320 for count in counts), "each unit as often as another: 1,200 ± 5 sd of 22"


def test_an_axis_named_like_a_column_stands_under_scale() -> None:
    assert (axis_column("k"), axis_column("n"), axis_column("seed")) == ("k", "scale", "scale")


def test_a_case_with_several_sweeps_has_a_manifest_of_each(tmp_path: Path) -> None:
    text = (TOY / "case.toml").read_text()
    start = text.index("[[probe]]")
    (tmp_path / "case.toml").write_text(text + text[start:].replace('name = "excess"', 'name = "second"'))
    (tmp_path / "quantity.py").write_bytes((TOY / "quantity.py").read_bytes())
    case = load(tmp_path)
    assert [probe.name for probe in unit_probes(case)] == ["excess", "second"]
    assert [probe.name for probe in unit_probes(case, "second")] == ["second"]
    with pytest.raises(BadInput, match="no sweep or replication"):
        unit_probes(case, "third")
    one, two = (manifest(case, laid_out(case, name)) for name in ("excess", "second"))
    assert {unit["stream"] for unit in one["units"]}.isdisjoint(unit["stream"] for unit in two["units"])
    check_manifest(manifest_lines([one, two]), two, name="m")
