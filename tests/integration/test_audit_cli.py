"""`verifier audit`: the rows of the fact sheet and the public fixtures, as files and through the command line."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import REPOSITORY, Said, Verifier, files_in
from tests.integration.test_cli_errors import one_sentence
from verifier import audits

FIXTURES = {row["id"]: row for row in json.loads((REPOSITORY / "tests/fixtures/audits.json").read_text("utf-8"))}
CASES = REPOSITORY / "cases"

Asked = Callable[..., dict[str, Any]]


def near(value: float | list[float]) -> Any:
    return pytest.approx(value, abs=1e-9)


@pytest.fixture
def asked(verifier: Verifier, tmp_path: Path) -> Asked:
    """The document of an audit file with this text, or of the file at this path, which must end with this code."""

    def ask(file: str | Path, code: int) -> dict[str, Any]:
        if isinstance(file, str):
            (tmp_path / "audit.toml").write_text(file)
            file = tmp_path / "audit.toml"
        said = verifier("audit", str(file), "--json")
        assert said.code == code, said.out + said.err
        assert said.err == ""
        document = said.document
        assert document["schema"] == "verifier/audit/1"
        for audit in document["audits"]:
            assert audit["sentence"] in document["sentence"]
        return document

    return ask


def only(document: dict[str, Any]) -> dict[str, Any]:
    """The one audit of the document."""
    (audit,) = document["audits"]
    assert isinstance(audit, dict)
    return audit


def by_mechanism(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {audit["mechanism"]: audit for audit in document["audits"]}


def arrays(losses: list[list[str]], *, mask: list[list[int]] | None = None, more: str = "") -> str:
    """An audit file with these arrays in it."""
    rows = "" if mask is None else f"mask = {json.dumps(mask)}\n"
    return f"[arrays]\nloss = {json.dumps(losses)}\n{rows}{more}\n"


def records(left: str, right: str, comparison: str = 'kind = "factor"', more: str = "") -> str:
    """An audit file with two basis records."""
    head = 'label = "{}"\nvalue = '
    return (
        f"[left]\n{head.format('ours')}{left}\n[right]\n{head.format('theirs')}{right}\n"
        f"[comparison]\n{comparison}\n{more}\n"
    )


# self-distillation


def test_two_scores_force_507_items(asked: Asked) -> None:
    document = asked(CASES / "self_distillation" / "granularity.toml", 0)
    audit = only(document)
    assert audit["details"]["sizes"] == [507]
    assert audit["details"]["counts"] == {"68.05": [345], "69.63": [353]}
    assert "only 507 has 68.05 and 69.63" in document["sentence"]


# three projections


def dilution(**change: str) -> str:
    """The dilution file of the case, some of its lines otherwise."""
    text = (CASES / "three_projections" / "dilution.toml").read_text()
    for key, value in change.items():
        (line,) = [line for line in text.splitlines() if line.startswith(f"{key} = ")]
        text = text.replace(line, f"{key} = {value}" if value else "")
    return text


def test_the_published_set_of_three_projections(asked: Asked) -> None:
    document = asked(CASES / "three_projections" / "dilution.toml", 10)
    audit = only(document)
    assert (audit["finding"], audit["basis_class"], audit["material"]) == ("RECONCILED", "MASK", True)
    at, expected = audit["details"], FIXTURES["B2"]["expected"]
    assert at["gap_printed"]["value"] == near(expected["gap_measured"])
    assert at["readings"][-1]["gap"] == near(expected["gap_true"])
    assert at["follows"]["loss"]["value"] == near(expected["loss_deflation"])
    assert at["follows"]["perplexity"]["value"] == near(expected["ppl_deflation"])
    assert at["follows"]["perplexity"]["value"] * 5.11 == near(expected["ppl_true_base"])
    assert audit["left"]["restated"].startswith("121.2 ")
    solved = FIXTURES["B3"]["expected"]
    assert at["share"]["solved"]["value"] == near(solved["p_if_pad_nll_zero"])
    assert at["readings"][0]["gap"] == near(solved["gap_then"])
    assert at["pad_loss"]["solved"]["value"] == near(solved["pad_nll_if_p_066"])
    # the rounding box
    free = at["follows"]["perplexity"]["at_least_pad_loss"]
    assert [round(free["low"], 1), round(free["high"], 1)] == [22.1, 25.5]
    assert [round(at["follows"]["perplexity"][end], 1) for end in ("low", "high")] == [20.1, 25.5]
    assert at["follows"]["loss"]["holds"]
    assert not at["follows"]["perplexity"]["holds"]
    assert round(at["smallest_consistent_pad_loss_max"], 3) == 0.970
    assert [round(100 * gap, 1) for gap in at["gap_at_printed_values"]] == [5.3, 9.5]
    assert [round(100 * gap, 1) for gap in at["gap_admissible"]] == [4.6, 10.3]
    assert round(100 * at["gap_printed"]["high"], 2) == 3.33
    assert round(100 * at["threshold"]["gap"], 2) == 4.16
    assert [round(each["nats"], 3) for each in at["pad_loss_difference"]["removes_dilution"]] == [0.028, 0.030]
    for words in (
        "registered 4.17 %",
        "gap of 3.1 % is 9.5 % on real tokens",
        "between 4.6 % and 10.3 %",
        "0.028 nats at p = 0.402 or 0.030 nats at p = 0.66",
        "20.1 to 25.5 times",
        "0.970 nats or if it is the loss that is deflated",
    ):
        assert words in document["sentence"]


def test_the_published_set_cannot_all_hold(asked: Asked) -> None:
    document = asked(CASES / "three_projections" / "closure.toml", 10)
    assert only(document)["finding"] == "JOINTLY_INCONSISTENT"
    assert "5.11, padded share 0.66" in document["sentence"]
    assert "cannot all hold" in document["sentence"]
    assert [round(end, 1) for end in only(document)["details"]["given"]] == [20.1, 25.5]


@pytest.mark.parametrize(("difference", "index"), [("0", 0), ("0.001", 1), ("0.005", 2), ("0.01", 3)])
def test_unequal_pad_losses(asked: Asked, difference: str, index: int) -> None:
    assert FIXTURES["B4"]["input"]["pad_nll_difference"][index] == float(difference)
    document = asked(dilution(pad_loss_difference=f'"{difference}"', printed_deflation=""), 10)
    assert only(document)["details"]["readings"][-1]["gap"] == near(FIXTURES["B4"]["expected"]["gap_true"][index])


@pytest.mark.parametrize(("difference", "finding", "code"), [("0.03", "NOT_MATERIAL", 0), ("0.023", "INSUFFICIENT", 3)])
def test_a_pad_loss_difference_that_takes_the_finding_away(
    asked: Asked, difference: str, finding: str, code: int
) -> None:
    assert (
        only(asked(dilution(pad_loss_difference=f'"{difference}"', printed_deflation=""), code))["finding"] == finding
    )


def test_the_smallest_dilution(asked: Asked) -> None:
    given, expected = FIXTURES["B1"]["input"], FIXTURES["B1"]["expected"]
    losses = [str(x) for x in given["nll"]] + [str(given["pad_nll"])] * given["pad_positions"]
    mask = [1] * len(given["nll"]) + [0] * given["pad_positions"]
    document = asked(arrays([losses], mask=[mask], more='printed = "2.718282"'), 10)
    audit = by_mechanism(document)["dilution"]
    assert audit["finding"] == "MISMATCH_PROVEN"
    for name, value in expected.items():
        assert audit["details"][name] == near(value), name
    assert "2.71828 with them and 20.0855 on real tokens" in document["sentence"]


# the false "2× slower"


def test_the_side_of_the_batch_decides(asked: Asked) -> None:
    expected = FIXTURES["C1"]["expected"]
    document = asked(CASES / "batch_timing" / "timing.toml", 10)
    audit = only(document)
    assert (audit["finding"], audit["corrected"]) == ("RECONCILED", "OTHER_SIDE")
    assert float(audit["details"]["as_printed"]) == near(expected["naive_slowdown"])
    assert 1 / float(audit["details"]["on_one_basis"]) == near(expected["proper_speedup"])
    assert audit["left"]["restated"] == "0.064"
    assert "method is 8 times faster" in document["sentence"]

    document = asked(CASES / "batch_timing" / "controls" / "baseline-per-batch.toml", 10)
    assert float(only(document)["details"]["on_one_basis"]) == near(312.5)
    assert only(document)["corrected"] == "KEPT"
    assert "method is 312.5 times slower" in document["sentence"]

    latency = only(asked(CASES / "batch_timing" / "controls" / "latency.toml", 3))
    assert latency["finding"] == "INSUFFICIENT"
    assert latency["missing"]
    assert only(asked(CASES / "batch_timing" / "controls" / "equal-bases.toml", 0))["finding"] == "SAME_BASIS"


def test_published_words_are_reconciled_in_direction_not_in_size(asked: Asked) -> None:
    expected = FIXTURES["C2"]["expected"]
    document = asked(CASES / "batch_timing" / "published-words.toml", 10)
    audit = only(document)
    assert (audit["finding"], audit["corrected"]) == ("RECONCILED", "OTHER_SIDE")
    assert audit["residual"]["value"] == near(expected["unexplained_factor"])
    assert [round(audit["residual"][end], 2) for end in ("low", "high")] == [2.35, 4.44]
    assert audit["residual"]["excludes_one"]
    reading = audit["details"]["readings"][0]
    assert 1 / eval_fraction(reading["reading"]) == near(expected["implied_speedup"])
    assert eval_fraction(reading["needs"]) == near(expected["naive_slowdown_needed_for_8x"])
    assert "in direction for every rounding, not in size" in document["sentence"]
    assert "3.125, in [2.35, 4.44]" in document["sentence"]


def eval_fraction(text: str) -> float:
    above, _, below = text.partition("/")
    return int(above) / int(below or 1)


def test_the_other_side_of_published_words_is_slower_still(asked: Asked) -> None:
    words = (CASES / "batch_timing" / "published-words.toml").read_text().replace('"left"', '"right"')
    document = asked(words.replace('against = "1/8"\n', ""), 3)
    assert only(document)["details"]["readings"][0]["reading"] == "100"
    assert "turns 2 into 100" in document["sentence"]


# more public cases


def test_n01_micro_batches(asked: Asked) -> None:
    given, expected = FIXTURES["N01"]["input"], FIXTURES["N01"]["expected"]
    losses = [[str(mean)] * n for n, mean in zip(given["tokens"], given["mean_loss"], strict=True)]
    document = asked(arrays(losses, more='returns = "loss"\nprinted = "3.0"'), 10)
    audit = by_mechanism(document)["aggregate"]
    orders = audit["details"]["orders"]
    assert (audit["finding"], audit["basis_class"]) == ("MISMATCH_PROVEN", "AGG")
    assert orders["mean of sequence means"] == near(expected["mean_of_means"])
    assert orders["token mean"] == near(expected["token_mean"])
    assert orders["token mean times the sequence count"] == near(expected["over_corrected_x_ga"])
    assert "3.0 is the mean of sequence means" in document["sentence"]


@pytest.mark.parametrize("index", range(4))
def test_n02_bytes_per_word(asked: Asked, index: int) -> None:
    word, byte = FIXTURES["N02"]["input"]["runs"][index]
    ratio = FIXTURES["N02"]["expected"]["bytes_per_word"][index]
    consistent = index in (0, 1)
    text = f'[closure]\nidentity = "bytes-per-word"\nterms = ["{word}", "{byte}"]\nprinted = "5.3475"\n'
    audit = only(asked(text, 0 if consistent else 10))
    assert audit["details"]["given"][0] - 1e-4 < ratio < audit["details"]["given"][1] + 1e-4
    assert math.log(word) / math.log(byte) == near(ratio)
    if index == 0:
        assert audit["details"]["at_printed_values"] == near([ratio])
    assert audit["finding"] == ("SAME_BASIS" if consistent else "JOINTLY_INCONSISTENT")


def test_n06_reductions(asked: Asked) -> None:
    losses = [[str(x) for x in row] for row in FIXTURES["N06"]["input"]["losses"]]
    expected = FIXTURES["N06"]["expected"]
    document = asked(arrays(losses, more='returns = "loss"\nprinted = "2.0"'), 10)
    orders = by_mechanism(document)["aggregate"]["details"]["orders"]
    assert orders["mean of sequence means"] == near(expected["sequence_mean"])
    assert orders["token mean"] == near(expected["token_mean"])
    assert orders["mean of sequence sums"] == near(expected["sequence_sum"])
    assert orders["sum"] / (len(losses) * FIXTURES["N06"]["input"]["max_len"]) == near(expected["constant_length"])
    assert only_aggregate(asked(arrays(losses, more='returns = "loss"\nprinted = "2.6"'), 0)) == "SAME_BASIS"


def only_aggregate(document: dict[str, Any]) -> str:
    return str(by_mechanism(document)["aggregate"]["finding"])


def test_n10_word_errors(asked: Asked) -> None:
    given, expected = FIXTURES["N10"]["input"], FIXTURES["N10"]["expected"]
    losses = [
        ["1"] * errors + ["0"] * (words - errors) for errors, words in zip(given["errors"], given["words"], strict=True)
    ]
    document = asked(arrays(losses, more='returns = "loss"\nprinted = "0.5"'), 10)
    orders = by_mechanism(document)["aggregate"]["details"]["orders"]
    assert orders["mean of sequence means"] == near(expected["mean_of_utterances"])
    assert orders["token mean"] == near(expected["corpus"])


@pytest.mark.parametrize("index", range(5))
def test_n13_faster_is_not_less_time(asked: Asked, index: int) -> None:
    before, after = FIXTURES["N13"]["input"]["pairs"][index]
    factor, faster, less = FIXTURES["N13"]["expected"]["factor_fasterpct_lesspct"][index]
    audit = only(asked(f'[speed]\nbefore = "{before}"\nafter = "{after}"\n', 0))
    assert audit["details"]["factor"] == near(factor)
    assert audit["details"]["percent-faster"] == near(faster)
    assert audit["details"]["percent-less-time"] == near(less)


def test_n13_in_words(asked: Asked) -> None:
    text = '[speed]\nbefore = "9.42"\nafter = "5.27"\nclaimed = "78.7"\nas = '
    document = asked(text + '"percent-faster"\n', 0)
    for words in ("1.787", "78.7", "44.05"):
        assert words in document["sentence"]
    wrong = only(asked(text + '"percent-less-time"\n', 10))
    assert (wrong["basis_class"], wrong["details"]["claimed_fits"]) == ("DIR", ["percent-faster"])


def test_n20_bits_and_nats(asked: Asked) -> None:
    bits = '"1.000"\nunit = "bit"\nper = { thing = "byte" }'
    nats = '"0.69314718056"\nunit = "nat"\nper = { thing = "byte" }'
    audit = only(asked(records(bits, nats, 'kind = "factor"\nclaimed = "1.4427"'), 10))
    assert (audit["finding"], audit["basis_class"]) == ("RECONCILED", "UNIT")
    assert float(audit["left"]["restated"]) == pytest.approx(math.log(2), abs=1e-6)
    twin = by_mechanism(asked(arrays([["1", "1"]], more='printed = "2.0"'), 10))["arrays"]
    assert (twin["basis_class"], twin["finding"]) == ("UNIT", "MISMATCH_PROVEN")
    assert twin["details"]["twin"] == near(FIXTURES["N20"]["expected"]["ppl_byte"])


@pytest.mark.parametrize("index", range(2))
def test_n20_bytes_per_character_is_declared(asked: Asked, index: int) -> None:
    ratio = FIXTURES["N20"]["input"]["bytes_per_char"][index]
    expected = FIXTURES["N20"]["expected"]["ppl_char"][index]
    byte = f'"{math.log(2):.15f}"\nunit = "nat"\nper = {{ thing = "byte" }}'
    char = f'"{math.log(expected):.15f}"\nunit = "nat"\nper = {{ thing = "char" }}'
    nobody = only(asked(records(byte, char), 3))
    assert nobody["finding"] == "INSUFFICIENT"
    assert any("byte" in each and "char" in each for each in nobody["missing"])
    declared = f'[declared]\nfactors = [{{ name = "byte per char", value = "{ratio}", source = "the corpus" }}]'
    audit = only(asked(records(byte, char, more=declared), 10))
    assert audit["finding"] == "RECONCILED"
    assert float(audit["details"]["on_one_basis"]) == near(1.0)


def test_n27_percentages_that_are_no_counts(asked: Asked) -> None:
    given, expected = FIXTURES["N27"]["input"], FIXTURES["N27"]["expected"]["consistent"]
    printed = json.dumps([str(value) for value in given["values_pct"]])
    document = asked(f"[granularity]\nprinted = {printed}\nn = {given['n']}\n", 10)
    assert [each["possible"] for each in only(document)["details"]["values"]] == expected
    assert "42.9, 64.2 and 63.1 are no k/68" in document["sentence"]


# what must stay clean


def test_equal_bases_are_the_same_basis(asked: Asked) -> None:
    number = '"{}"\nunit = "s"\nper = {{ thing = "trajectory" }}'
    audit = only(asked(records(number.format("0.064"), number.format("0.512"), 'claimed = "0.125"'), 0))
    assert (audit["finding"], audit["corrected"]) == ("SAME_BASIS", None)


def test_names_that_differ_while_formulas_agree_are_the_same_basis(asked: Asked) -> None:
    number = '"{}"\nname = "{} KL"\nformula = {{ id = "KL", arguments = ["S", "T"] }}'
    assert only(asked(records(number.format("0.6", "forward"), number.format("0.7", "reverse")), 0))["finding"] == (
        "SAME_BASIS"
    )
    other = number.format("0.7", "reverse").replace('"S", "T"', '"T", "S"')
    unsourced = only(asked(records(number.format("0.6", "forward"), other), 3))
    assert (unsourced["finding"], len(unsourced["missing"])) == ("INSUFFICIENT", 2)
    read = '\nsource = "the code"'
    differ = only(asked(records(number.format("0.6", "forward") + read, other + read), 10))
    assert (differ["finding"], differ["basis_class"]) == ("MISMATCH_PROVEN", "FORM")
    unknown = [number.format(*each).splitlines()[:2] for each in (("0.6", "forward"), ("0.7", "reverse"))]
    assert only(asked(records(*map("\n".join, unknown)), 3))["finding"] == "INSUFFICIENT"


def test_a_ratio_known_to_one_digit_is_not_searched(asked: Asked) -> None:
    factors = 'declared = [{ name = "a", value = "50", source = "p. 1" }, { name = "b", value = "2", source = "p. 2" }]'
    audit = only(asked(f'[reconcile]\nclaimed = "2"\n{factors}\n', 3))
    assert (audit["finding"], audit["factor"]) == ("INSUFFICIENT", None)
    assert only(asked(f'[reconcile]\nclaimed = "50.1"\n{factors}\n', 10))["finding"] == "RECONCILED"


@pytest.mark.parametrize("n", [667, 1000, 10**6])
def test_granularity_says_nothing_where_every_value_passes(asked: Asked, n: int) -> None:
    audit = only(asked(f'[granularity]\nprinted = ["42.9", "63.1"]\nn = {n}\n', 3))
    assert audit["finding"] == "INSUFFICIENT"


def test_no_padding_is_the_same_basis(asked: Asked) -> None:
    document = asked(arrays([["3", "2"], ["4"]], mask=[[1, 1], [1]], more='printed = "20.085537"'), 0)
    assert {audit["finding"] for audit in document["audits"]} == {"SAME_BASIS"}


# what people see, and what is written


def test_people_read_the_finding_and_both_numbers_on_both_bases(verifier: Verifier) -> None:
    said = verifier("audit", str(CASES / "batch_timing" / "timing.toml"))
    assert said.code == 10
    for words in (
        "RECONCILED: ",
        "3.2 s per batch = 0.064 s per trajectory",
        "0.512 s per trajectory = 25.6 s per batch",
        "factor: 1/50, declared in trajectory per batch = 50",
        "smallest witness: ",
    ):
        assert words in said.out


def test_a_file_with_many_tables_gives_an_audit_each(asked: Asked) -> None:
    text = '[granularity]\nprinted = ["42.9"]\nn = 68\n[speed]\nbefore = "9.42"\nafter = "5.27"\n'
    assert [audit["mechanism"] for audit in asked(text, 10)["audits"]] == ["granularity", "speed"]


def test_several_files_are_an_object_each_and_a_broken_one_stops_no_other(verifier: Verifier, tmp_path: Path) -> None:
    (tmp_path / "fine.toml").write_text('[speed]\nbefore = "9.42"\nafter = "5.27"\n')
    (tmp_path / "broken.toml").write_text("[speed\n")
    said = verifier("audit", "broken.toml", "fine.toml", "--json")
    objects = [json.loads(line) for line in said.out.splitlines()]
    assert said.code == 2
    assert [each["schema"] for each in objects] == ["verifier/error/1", "verifier/audit/1"]


def test_expect_decides_the_code(verifier: Verifier) -> None:
    timing = str(CASES / "batch_timing" / "timing.toml")
    met = verifier("audit", timing, "--json", "--expect", "RECONCILED")
    assert (met.code, met.document["expected"]) == (0, {"finding": "RECONCILED", "met": True})
    assert verifier("audit", timing, "--json", "--expect", "SAME_BASIS").code == 10


def test_a_picture_is_written_where_one_says_more(verifier: Verifier, tmp_path: Path) -> None:
    said = verifier("audit", str(CASES / "three_projections" / "dilution.toml"), "--json", "--figure", "dilution.svg")
    assert said.document["figure"] == "dilution.svg"
    assert (tmp_path / "dilution.svg").read_text().lstrip().startswith(("<?xml", "<svg"))


BROKEN = [
    "unknown-table", "unknown-key", "number-is-a-word", "unit-unknown", "mask-row-of-another-length", "loss-is-nan",
    "path-out-of-the-folder", "column-missing", "nested-too-deeply", "whole-number-beyond-a-double", "empty", "binary",
    "byte-order-mark", "not-utf8",
]  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_sentence_and_nothing_is_written(verifier: Verifier, tmp_path: Path, name: str) -> None:
    broken = (REPOSITORY / "tests" / "corpus" / "audits" / f"{name}.toml").read_bytes()
    (tmp_path / "broken.toml").write_bytes(broken)
    (tmp_path / "losses.csv").write_text("nll,real\n3,1\n")
    before = files_in(tmp_path)
    sentence = one_sentence(verifier("audit", "broken.toml", "--json", "--figure", "picture.svg"), 2)
    assert sentence.startswith("broken.toml")
    people = verifier("audit", "broken.toml")
    assert (people.code, people.out) == (2, "")
    assert len(people.err.splitlines()) == 1
    assert files_in(tmp_path) == before


def test_arrays_of_ten_gigabytes_are_not_read(verifier: Verifier, tmp_path: Path) -> None:
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(10 << 30)
    (tmp_path / "audit.toml").write_text('[arrays]\npath = "large.csv"\ncolumns = { loss = "nll" }\n')
    assert "audit.toml, line 2, arrays.path" in one_sentence(verifier("audit", "audit.toml", "--json"), 2)


def test_nothing_to_audit_is_a_usage_error(verifier: Verifier) -> None:
    said: Said = verifier("audit", "--json")
    assert said.code == 2
    assert "Traceback" not in said.err


def test_a_perplexity_is_a_unit(asked: Asked) -> None:
    text = """
[left]
label = "a"
value = "20.0"
unit = "perplexity"
[right]
label = "b"
value = "25.0"
unit = "perplexity"
[comparison]
better = "lower"
"""
    assert only(asked(text, 0))["finding"] == "SAME_BASIS"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[granularity]\nprinted = ["42.9"]\nn = 68\nbelow = 100\n', "below stands beside n"),
        (
            '[left]\nlabel = "a"\nvalue = "1"\nunit = "KB"\n[right]\nlabel = "b"\nvalue = "1"\n[comparison]\n',
            "the nearest valid unit is kB",
        ),
    ],
)
def test_what_is_refused_says_how_to_mend_it(verifier: Verifier, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    assert words in one_sentence(verifier("audit", "a.toml", "--json"), 2)


def test_a_file_that_breaks_the_program_leaves_the_others_answered(
    verifier: Verifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.toml").write_text('[granularity]\nprinted = ["42.9"]\nn = 68\n')
    whole = audits.audit_file

    def breaks_on_the_first(path: Path) -> Any:
        if path.name == "first.toml":
            raise ArithmeticError("no such number")
        return whole(path)

    monkeypatch.setattr(audits, "audit_file", breaks_on_the_first)
    said = verifier("audit", "first.toml", "a.toml")
    assert "internal error (ArithmeticError" in said.err
    assert "JOINTLY_INCONSISTENT" in said.out
    assert said.code == 3
