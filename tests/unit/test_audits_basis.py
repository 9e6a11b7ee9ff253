"""Two printed numbers by their basis records: unit, denominator, reading, and the fields both state."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from verifier.audits.audit import Audit
from verifier.audits.basis import compare, recheck
from verifier.audits.declared import Declared
from verifier.audits.records import Comparison, Formula, ItemSet, Per, Record, Selection
from verifier.model.answers import AuditAnswer, AuditContext, Corrected, audit_outcome
from verifier.model.basis import BasisClass
from verifier.model.errors import BadInput
from verifier.model.outcomes import Outcome, Reason

FIXTURES = {
    case["id"]: case for case in json.loads((Path(__file__).parents[1] / "fixtures" / "audits.json").read_text("utf-8"))
}
SAME, PROVEN = AuditAnswer.SAME_BASIS, AuditAnswer.MISMATCH_PROVEN
RECONCILED, WEAK = AuditAnswer.RECONCILED, AuditAnswer.RECONCILED_WEAK
CLASH, OPEN = AuditAnswer.JOINTLY_INCONSISTENT, AuditAnswer.INSUFFICIENT

BATCH = Per("batch", {"trajectory": "50"})
EACH = Per("trajectory")
METHOD = Record(label="method", value="3.2", unit="s", per=BATCH, source="methods, page 6")
BASELINE = Record(label="baseline", value="0.512", unit="s", per=EACH, source="table 2")
FASTER = Comparison(better="lower", claimed="6.25", measures="throughput")


def record(value: str, unit: str = "", **fields: Any) -> Record:
    return Record(label=fields.pop("label", "it"), value=value, unit=unit, **{"source": "table 1", **fields})


def about_the_dispute(audit: Audit) -> Outcome:
    context = AuditContext(
        about="dispute",
        residual_excludes_one=audit.residual is not None and audit.residual.excludes_one,
        material=bool(audit.material),
        corrected=audit.corrected or Corrected.KEPT,
    )
    return audit_outcome(audit.finding, context).outcome


def test_c1_a_time_per_batch_against_one_per_trajectory() -> None:
    case = FIXTURES["C1"]
    audit = compare(METHOD, BASELINE, FASTER)
    assert (audit.finding, audit.basis_class, audit.corrected) == (RECONCILED, BasisClass.DENOM, Corrected.OTHER_SIDE)
    assert audit.material is True
    assert float(audit.details["as_printed"]) == pytest.approx(case["expected"]["naive_slowdown"], rel=1e-9)
    assert 1 / float(audit.details["on_one_basis"]) == pytest.approx(case["expected"]["proper_speedup"], rel=1e-9)
    assert audit.factor == "1/50"
    assert audit.declared_in == "trajectory per batch = 50: methods, page 6"
    assert audit.left is not None
    assert audit.right is not None
    assert (audit.left.restated, audit.left.restated_basis) == ("0.064", "s per trajectory")
    assert (audit.right.restated, audit.right.restated_basis) == ("25.6", "s per batch")
    assert audit.residual is not None
    assert not audit.residual.excludes_one
    assert audit.details["claimed_fits"] == ["as printed"]
    assert about_the_dispute(audit) is Outcome.AGAINST_DISPUTE


@pytest.mark.parametrize(
    ("left", "right", "unit", "kind", "better", "said"),
    [
        ("3.2", "0.512", "s", "factor", "lower", "1: method is 8 times faster (lower is better)"),
        ("3.2", "0.512", "s", "factor", None, "1: method is 8 times faster"),
        ("64", "0.512", "s", "factor", "lower", "same: method is 2.5 times slower (lower is better)"),
        ("400", "100", "tokens/s", "factor", "higher", "1: method is 12.5 times slower (higher is better)"),
        ("400", "4", "tokens/s", "factor", "higher", "same: method is 2 times faster (higher is better)"),
        ("400", "100", "J", "factor", "lower", "1: baseline is 12.5 times method (lower is better)"),
        ("400", "4", "J", "factor", "lower", "same: method is 2 times baseline (lower is better)"),
        ("400", "100", "W", "factor", "lower", "1: baseline is 12.5 times method (lower is better)"),
        ("400", "100", "J", "difference", "lower", "0: method is the lower one (lower is better)"),
        ("400", "4", "J", "percent", None, "same: method is the higher one"),
    ],
)  # fmt: skip
def test_the_sentence_says_which_is_better_and_by_how_much(
    left: str, right: str, unit: str, kind: Any, better: Any, said: str
) -> None:
    """All of these are per batch of 50 on the left, per trajectory on the right: ÷ 50 on one basis."""
    audit = compare(
        record(left, unit, label="method", per=BATCH),
        record(right, unit, label="baseline", per=EACH),
        Comparison(kind=kind, better=better, measures="throughput"),
    )
    where = {"1": "the other side of 1", "0": "the other side of 0", "same": "in the same direction"}
    turned, _, words = said.partition(": ")
    assert audit.sentence.endswith(f", {where[turned]}: {words}.")


def test_the_other_side_per_batch_makes_it_worse() -> None:
    method = dataclasses.replace(METHOD, per=EACH)
    baseline = dataclasses.replace(BASELINE, per=BATCH)
    audit = compare(method, baseline, FASTER)
    assert audit.corrected is Corrected.KEPT
    assert audit.details["on_one_basis"] == "312.5"
    assert about_the_dispute(audit) is Outcome.UNDECIDED


@pytest.mark.parametrize("measures", [None, "latency"])
def test_a_time_is_divided_only_as_a_throughput(measures: Any) -> None:
    audit = compare(METHOD, BASELINE, dataclasses.replace(FASTER, measures=measures))
    assert audit.finding is OPEN
    assert "latency" in audit.missing[0]
    assert about_the_dispute(audit) is Outcome.UNDERPOWERED
    joules = [dataclasses.replace(each, unit="J") for each in (METHOD, BASELINE)]
    assert compare(*joules, dataclasses.replace(FASTER, measures=measures)).finding is RECONCILED


def test_a_factor_nobody_declared_is_named() -> None:
    audit = compare(dataclasses.replace(METHOD, per=Per("batch")), BASELINE, FASTER)
    assert audit.finding is OPEN
    assert audit.missing == ("trajectory per batch (or batch per trajectory)",)
    wrong = [Declared("gpu per batch", "50", source="x"), Declared("sequence length", "50", source="x")]
    assert compare(dataclasses.replace(METHOD, per=Per("batch")), BASELINE, FASTER, declared=wrong).finding is OPEN


@pytest.mark.parametrize(("name", "value"), [("trajectory per batch", "50"), ("batch/trajectory", "1/50")])
@pytest.mark.parametrize(("side", "finding"), [(None, RECONCILED), ("left", RECONCILED), ("right", OPEN)])
def test_a_declared_factor_works_either_way_round(name: str, value: str, side: Any, finding: AuditAnswer) -> None:
    bare = dataclasses.replace(METHOD, per=Per("batch"))
    audit = compare(bare, BASELINE, FASTER, declared=[Declared(name, value, side, "page 6")])
    assert audit.finding is finding
    if finding is OPEN:  # a number per trajectory has no batch of its own: the method's may hold any number
        assert audit.missing[0].startswith(f"{name} of method")
        return
    assert audit.factor == "1/50"


def test_a_factor_without_a_source_is_weak() -> None:
    audit = compare(dataclasses.replace(METHOD, source=""), BASELINE, FASTER)
    assert (audit.finding, audit.declared_in) == (WEAK, None)
    assert audit.missing == ("the source of trajectory per batch",)
    assert about_the_dispute(audit) is Outcome.UNDECIDED
    twice = compare(
        dataclasses.replace(METHOD, source=""),
        BASELINE,
        FASTER,
        declared=[Declared("trajectory per batch", "50", "left", "page 6")],
    )
    assert twice.finding is RECONCILED


def test_two_values_of_one_factor_ask_which() -> None:
    audit = compare(METHOD, BASELINE, FASTER, declared=[Declared("trajectory per batch", "64", "left", "page 7")])
    assert audit.finding is OPEN
    assert audit.missing == ("which trajectory per batch holds: 50 or 64",)
    assert audit.sentence == "The declarations contradict each other: trajectory per batch is 50 and 64."
    many = [Declared("trajectory per batch", str(count), source="page 7") for count in range(51, 1051)]
    audit = compare(METHOD, BASELINE, FASTER, declared=many)
    assert audit.missing == ("which trajectory per batch holds: 50, 51, 52, 53, 54 or 996 more",)


def test_each_side_may_need_its_own_factor() -> None:
    left = record("3.2", "s", per=Per("batch", {"token": "100"}))
    right = record("1.0", "s", per=Per("sequence", {"token": "10"}))
    audit = compare(left, right, Comparison(measures="throughput"))
    assert (audit.finding, audit.factor, audit.details["on_one_basis"]) == (RECONCILED, "1/10", "0.32")


@pytest.mark.parametrize(
    ("claimed", "finding", "fits"),
    [
        ("6.25", RECONCILED, ["as printed"]),
        ("6.3", RECONCILED, ["as printed"]),
        ("0.125", SAME, ["on one basis"]),
        ("0.13", SAME, ["on one basis"]),
        (None, RECONCILED, []),
        ("2", RECONCILED, []),
        ("6.4", RECONCILED, ["as printed"]),  # 6.354 is a ratio of roundings, and 6.35 rounds to 6.4
        ("6.5", RECONCILED, []),
    ],
)
def test_a_claim_is_a_basis_where_rounding_intervals_meet(claimed: Any, finding: AuditAnswer, fits: list[str]) -> None:
    audit = compare(METHOD, BASELINE, dataclasses.replace(FASTER, claimed=claimed))
    assert (audit.finding, audit.details["claimed_fits"]) == (finding, fits)
    if claimed in ("2", "6.5"):
        assert audit.residual is not None
        assert audit.residual.excludes_one
        assert about_the_dispute(audit) is Outcome.UNDECIDED


@pytest.mark.parametrize(
    ("left", "right", "kind", "claimed", "threshold", "where", "material"),
    [
        ("300", "5.00", "factor", "60.0", None, Corrected.KEPT, False),
        ("300", "5.00", "factor", "60.0", Fraction(11, 10), Corrected.KEPT, False),
        ("300", "5.00", "factor", "60.0", Fraction(3, 2), Corrected.BELOW_THRESHOLD, True),
        ("300", "5.00", "factor", "60.0", Fraction(6, 5), Corrected.BELOW_THRESHOLD, False),
        ("250", "5.0", "factor", "50", None, Corrected.CONTAINS_ONE, False),
        ("200", "5.0", "factor", "40", None, Corrected.OTHER_SIDE, True),
        ("200", "5.0", "difference", "195", None, Corrected.OTHER_SIDE, True),
        ("200", "5.0", "percent", "3900", None, Corrected.OTHER_SIDE, True),
        ("300", "5.00", "percent", "5900", Fraction(30), Corrected.BELOW_THRESHOLD, True),
        ("300", "5.00", "difference", "295", Fraction(1, 2), Corrected.KEPT, False),
        ("0.5", "5.0", "factor", "0.1", Fraction(400), Corrected.KEPT, False),
    ],
)
def test_where_a_corrected_comparison_stands(
    left: str,
    right: str,
    kind: Any,
    claimed: str,
    threshold: Any,
    where: Corrected,
    material: bool,  # noqa: FBT001  # a row of the table
) -> None:
    comparison = Comparison(kind=kind, claimed=claimed)
    audit = compare(
        record(left, "J", per=BATCH), record(right, "J", per=EACH), comparison, declared=(), threshold=threshold
    )
    assert (audit.finding, audit.corrected, audit.material) == (RECONCILED, where, material)
    expected = {
        Corrected.KEPT: Outcome.UNDECIDED,
        Corrected.OTHER_SIDE: Outcome.AGAINST_DISPUTE,
        Corrected.CONTAINS_ONE: Outcome.INVALID,
        Corrected.BELOW_THRESHOLD: Outcome.INVALID,
    }
    assert about_the_dispute(audit) is expected[where]


def test_material_about_the_claim() -> None:
    audit = compare(METHOD, BASELINE, FASTER)
    context = AuditContext(about="claim", material=bool(audit.material))
    assert audit_outcome(audit.finding, context).outcome is Outcome.FOR_DISPUTE
    kept = compare(dataclasses.replace(METHOD, per=EACH), dataclasses.replace(BASELINE, per=BATCH), FASTER)
    context = AuditContext(about="claim", material=bool(kept.material))
    assert audit_outcome(kept.finding, context).reason is Reason.SIZE_UNEXPLAINED


@pytest.mark.parametrize(
    ("ours", "theirs", "basis_class", "factor"),
    [
        ("s", "ms", BasisClass.UNIT, "1000"),
        ("bit/byte", "nat/byte", BasisClass.UNIT, "0.693147180559945"),
        ("%", "", BasisClass.UNIT, "1/100"),
        ("kB/s", "B/s", BasisClass.UNIT, "1000"),
    ],
)
def test_what_is_so_by_definition_needs_no_declaration(
    ours: str, theirs: str, basis_class: BasisClass, factor: str
) -> None:
    audit = compare(record("1.50", ours), record("1.20", theirs), Comparison(claimed="1.25"))
    assert (audit.finding, audit.basis_class, audit.factor) == (RECONCILED, basis_class, factor)
    assert audit.declared_in == "by definition"
    assert recheck(audit)


@pytest.mark.parametrize(
    ("ours", "theirs", "factor", "basis_class"),
    [
        ("GMAC", "GFLOP", Declared("FLOP per MAC", "2", source="appendix B"), BasisClass.UNIT),
        ("nat/byte", "nat/character", Declared("byte per character", "1.0505", source="s"), BasisClass.DENOM),
        ("bit/byte", "nat/character", Declared("byte per character", "1.0505", source="s"), BasisClass.DENOM),
        ("token/s", "word/s", Declared("token per word", "1.3", source="s"), BasisClass.UNIT),
    ],
)
def test_n20_and_its_like_need_one(ours: str, theirs: str, factor: Declared, basis_class: BasisClass) -> None:
    left, right = record("3.00", ours), record("4.00", theirs)
    without = compare(left, right, Comparison())
    assert (without.finding, without.basis_class) == (OPEN, basis_class)
    assert factor.name in without.missing[0]
    assert compare(left, right, Comparison(), declared=[factor]).finding in (RECONCILED, AuditAnswer.NOT_MATERIAL)


def test_perplexities_are_compared_as_nats() -> None:
    case = FIXTURES["N02"]
    for (words, chars), held in zip(case["input"]["runs"], case["expected"]["bytes_per_word"], strict=True):
        word, byte = record(str(words), "perplexity", per=Per("word")), record(str(chars), "ppl", per=Per("byte"))
        assert compare(word, byte, Comparison()).missing == ("byte per word (or word per byte)",)
        audit = compare(word, byte, Comparison(), declared=[Declared("byte per word", str(held), source="s")])
        assert float(audit.details["on_one_basis"]) == pytest.approx(1, rel=1e-9)
        assert audit.corrected is Corrected.CONTAINS_ONE
        assert compare(word, word, Comparison(claimed="1.0")).finding is SAME
    mixed = compare(record("20.1", "perplexity", per=Per("token")), record("3.5", "nat/token"), Comparison())
    assert (mixed.finding, mixed.factor, mixed.witness) == (RECONCILED, None, None)  # a logarithm is no factor
    assert float(mixed.details["on_one_basis"]) == pytest.approx(math.log(20.1) / 3.5, rel=1e-5)


def test_a_correction_that_rounding_swallows_is_not_material() -> None:
    left, right = record("3.0", "nat/byte"), record("2.0", "nat/character")
    factor = Declared("byte per character", "1.003", source="s")
    audit = compare(left, right, Comparison(claimed="1.5"), declared=[factor])
    assert (audit.finding, audit.material, audit.corrected) == (AuditAnswer.NOT_MATERIAL, False, Corrected.KEPT)


@pytest.mark.parametrize(
    ("kind", "claimed", "finding", "basis_class"),
    [
        ("factor", "0.88", SAME, BasisClass.DENOM),
        ("difference", "-6.0", SAME, BasisClass.DENOM),
        ("points", "-6.0", SAME, BasisClass.DENOM),
        ("percent", "-12.0", SAME, BasisClass.DENOM),
        ("percent", "-6.0", PROVEN, BasisClass.DIR),  # points printed as per cent
        ("points", "-12.0", PROVEN, BasisClass.DIR),
        ("percent", "13.6", PROVEN, BasisClass.DIR),  # of the other number
        ("factor", "1.14", PROVEN, BasisClass.DIR),  # upside down
        ("factor", "1.30", CLASH, BasisClass.CLOSE),
        ("percent", "-6", OPEN, BasisClass.DIR),  # one digit names no other reading
    ],
)
def test_on_one_basis_the_printed_comparison_is_what_its_kind_says(
    kind: Any, claimed: str, finding: AuditAnswer, basis_class: BasisClass
) -> None:
    audit = compare(record("44.0", "%"), record("50.0", "%"), Comparison(kind=kind, claimed=claimed))
    assert (audit.finding, audit.basis_class) == (finding, basis_class)
    if finding is PROVEN:
        assert recheck(audit)
        assert audit.witness is not None
        assert max(audit.witness["left"], audit.witness["right"]) <= 3
    if claimed in ("1.14", "13.6"):
        assert audit.corrected is Corrected.OTHER_SIDE


FIELDS: list[tuple[dict[str, Any], dict[str, Any], BasisClass]] = [
    ({"state": {"mode": "train"}}, {"state": {"mode": "eval"}}, BasisClass.STATE),
    ({"formula": Formula("KL", ("T", "S"))}, {"formula": Formula("KL", ("S", "T"))}, BasisClass.FORM),
    (
        {"formula": Formula("KL", ("T", "S")), "name": "reverse KL"},
        {"formula": Formula("KL", ("S", "T")), "name": "reverse KL"},
        BasisClass.NAME,
    ),
    ({"items": ItemSet(n=500)}, {"items": ItemSet(n=480)}, BasisClass.MASK),
    ({"items": ItemSet(sha256="a" * 64)}, {"items": ItemSet(sha256="b" * 64)}, BasisClass.MASK),
    ({"items": ItemSet(id="dev")}, {"items": ItemSet(id="test")}, BasisClass.MASK),
    ({"mask": "pads scored"}, {"mask": "pads ignored"}, BasisClass.MASK),
    ({"aggregation": ("token",)}, {"aggregation": ("token", "sequence")}, BasisClass.AGG),
    ({"better": "lower"}, {"better": "higher"}, BasisClass.DIR),
    ({"selection": Selection("best", 50)}, {"selection": Selection("best", 1)}, BasisClass.SEL),
    ({"selection": Selection("best")}, {"selection": Selection("last")}, BasisClass.SEL),
]


@pytest.mark.parametrize(("ours", "theirs", "basis_class"), FIELDS)
def test_a_field_in_which_both_records_differ(
    ours: dict[str, Any], theirs: dict[str, Any], basis_class: BasisClass
) -> None:
    left, right = record("1.0", **ours), record("2.0", **theirs)
    audit = compare(left, right, Comparison())
    assert (audit.finding, audit.basis_class, audit.material) == (PROVEN, basis_class, None)
    assert compare(left, record("2.0", **ours), Comparison()).finding is SAME
    one_sided = compare(left, record("2.0"), Comparison())
    assert one_sided.finding is SAME
    assert set(one_sided.details["stated_by_one_side"]) == set(ours)
    unsourced = compare(dataclasses.replace(left, source=""), right, Comparison())
    assert unsourced.finding is OPEN
    assert "source" in unsourced.missing[0]


def test_the_first_difference_in_the_order_of_judging_is_the_finding() -> None:
    order = [BasisClass.STATE, BasisClass.FORM, BasisClass.MASK, BasisClass.AGG, BasisClass.DIR, BasisClass.SEL]
    rows = {row[2]: row for row in FIELDS}
    for first, second in product(order, order):
        if order.index(first) >= order.index(second):
            continue
        (a, b, _), (c, d, _) = rows[first], rows[second]
        audit = compare(record("1.0", **a, **c), record("2.0", **b, **d), Comparison())
        assert audit.basis_class is first
        assert len(audit.details["differences"]) == 2
    masked = compare(dataclasses.replace(METHOD, mask="x"), dataclasses.replace(BASELINE, mask="y"), FASTER)
    assert masked.basis_class is BasisClass.MASK
    picked = compare(
        dataclasses.replace(METHOD, selection=Selection("best", 5)),
        dataclasses.replace(BASELINE, selection=Selection("best", 1)),
        FASTER,
    )
    assert picked.basis_class is BasisClass.DENOM


def test_names_that_differ_while_formulas_agree_are_one_basis() -> None:
    formula = Formula("KL", ("S", "T"))
    left, right = record("1.0", name="forward KL", formula=formula), record("2.0", name="reverse KL", formula=formula)
    assert compare(left, right, Comparison()).finding is SAME
    unknown = compare(record("1.0", name="forward KL"), right, Comparison())
    assert (unknown.finding, unknown.basis_class) == (OPEN, BasisClass.NAME)
    assert unknown.missing == ("the formula of it (forward KL)",)


def test_equal_bases_stay_clean() -> None:
    for unit, per in (("s", EACH), ("J", BATCH), ("", None), ("nat/byte", None), ("perplexity", None), ("%", None)):
        audit = compare(record("3.0", unit, per=per), record("2.0", unit, per=per), Comparison(claimed="1.5"))
        assert audit.finding is SAME, unit
        assert audit.residual is not None
        assert not audit.residual.excludes_one


def test_seconds_per_batch_may_be_written_into_the_unit() -> None:
    left = record("3.2", "s/batch")
    audit = compare(left, BASELINE, FASTER, declared=[Declared("trajectory per batch", "50", "left", "page 6")])
    assert (audit.finding, audit.factor) == (RECONCILED, "1/50")


@pytest.mark.parametrize("factor", ["50", "2", "1/8", "1.02", "2048", "3/2", "0.99"])
def test_the_witness_is_the_smallest_pair_that_the_factor_turns(factor: str) -> None:
    exact = Fraction(factor)
    audit = compare(
        record("3.0", "J", per=Per("batch")),
        record("2.0", "J", per=EACH),
        Comparison(),
        declared=[Declared("trajectory per batch", factor, source="s")],
    )
    assert audit.witness is not None
    assert recheck(audit)
    assert not recheck(dataclasses.replace(audit, witness={**audit.witness, "left": audit.witness["right"]}))
    total = audit.witness["left"] + audit.witness["right"]
    for a, b in product(range(1, total), repeat=2):
        if a + b < total:
            assert not ((a > b) != (a / exact > b) and a != b and a / exact != b), (a, b)


@pytest.mark.parametrize(
    ("left", "right", "comparison", "says"),
    [
        (record("3", "tokn"), record("2"), Comparison(), "nearest valid unit is token"),
        (record("three"), record("2"), Comparison(), "is not a number"),
        (record("3"), record("0"), Comparison(), "not above zero"),
        (record("3"), record("-2"), Comparison(kind="percent"), "not above zero"),
        (record("3"), record("2"), Comparison(claimed="x"), "is not a number"),
        (record("3", per=Per("s/s")), record("2"), Comparison(), "not one thing"),
        (record("0", "perplexity"), record("2", "perplexity"), Comparison(), "above zero"),
        (record("3", per=Per("batch", {"item": "0"})), record("2", per=Per("item")), Comparison(), "not above zero"),
        (record("3", "Phour^4 Phour^4"), record("2", "ns^4 ns^4"), Comparison(), "beyond anything printed"),
    ],
)
def test_bad_input_gets_one_sentence(left: Record, right: Record, comparison: Comparison, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        compare(left, right, comparison)


@pytest.mark.parametrize("name", ["perplexity", "test PPL"])
@pytest.mark.parametrize("unit", ["", "perplexity"])
def test_a_perplexity_is_rescaled_by_its_logarithm(name: str, unit: str) -> None:
    left, right = (record("20.0", unit, name=name, per=Per(thing)) for thing in ("word", "token"))
    audit = compare(left, right, Comparison(), declared=[Declared("token per word", "1.3", source="table 1")])
    assert (audit.finding, audit.factor, audit.witness) == (RECONCILED, None, None)  # no factor leads from one to other
    assert audit.left is not None
    assert audit.right is not None
    assert float(str(audit.left.restated)) == pytest.approx(20 ** (1 / 1.3), rel=1e-5)
    assert float(str(audit.right.restated)) == pytest.approx(20**1.3, rel=1e-5)
    assert audit.left.restated_basis == "perplexity per token"
    assert float(audit.details["on_one_basis"]) == pytest.approx(20 ** (1 / 1.3 - 1), rel=1e-5)


def test_a_perplexity_beyond_a_float_is_refused() -> None:
    left, right = (record("20.0", "perplexity", per=Per(thing)) for thing in ("byte", "word"))
    with pytest.raises(BadInput, match="beyond anything printed"):
        compare(left, right, Comparison(), declared=[Declared("byte per word", "1000", source="table 1")])


@pytest.mark.parametrize("name", ["perplexity", "log perplexity"])
def test_plain_numbers_on_one_basis_stay_plain(name: str) -> None:
    left, right = record("20.0", name=name), record("10.0", name=name)
    assert compare(left, right, Comparison(claimed="2.00")).finding is SAME


@pytest.mark.parametrize("where", ["holds", "declared"])
def test_things_of_one_name_and_other_sizes_are_another_denominator(where: str) -> None:
    """100 J a batch of 8 is 12.5 a sequence, 300 J a batch of 32 is 9.375: the direction turns."""
    left, right = (
        record(value, "J", label=label, per=Per("batch", {"sequence": size} if where == "holds" else {}))
        for label, value, size in (("ours", "100", "8"), ("base", "300", "32"))
    )
    declared = [
        Declared("sequence per batch", "8", "left", "table 1"),
        Declared("sequence per batch", "32", "right", "table 1"),
    ]
    declared = declared if where == "declared" else []
    audit = compare(left, right, Comparison(better="lower", claimed="0.33"), declared=declared)
    assert (audit.finding, audit.basis_class, audit.corrected) == (RECONCILED, BasisClass.DENOM, Corrected.OTHER_SIDE)
    assert float(audit.details["on_one_basis"]) == pytest.approx(12.5 / 9.375, rel=1e-5)
    assert audit.left is not None
    assert audit.right is not None
    assert (audit.left.restated, audit.right.restated) == ("12.5", "9.375")
    assert audit.left.restated_basis == audit.right.restated_basis == "joule per sequence"
    assert recheck(audit)


def test_things_of_one_size_or_of_an_unknown_one_share_a_basis() -> None:
    eight, unknown = Per("batch", {"sequence": "8"}), Per("batch")
    for per in (eight, unknown):
        assert compare(record("100", "J", per=eight), record("300", "J", per=per), Comparison()).finding is SAME
    other = Per("batch", {"sequence": "32"})
    one, two = (record("1.0", "s", per=per) for per in (eight, other))
    assert compare(one, two, Comparison(measures="latency")).finding is OPEN
    assert compare(one, two, Comparison(measures="throughput")).finding is RECONCILED
    rate = record("10.0", "batch/s")
    sized = [Declared("sequence per batch", "8", "left", "a"), Declared("sequence per batch", "32", "right", "b")]
    assert compare(rate, rate, Comparison(), declared=sized).details["on_one_basis"] == "0.25"


def test_a_factor_of_the_other_number_converts_nothing() -> None:
    fifty = Declared("trajectory per batch", "50", "right", "page 6")
    bare = dataclasses.replace(METHOD, per=Per("batch"))
    audit = compare(bare, BASELINE, FASTER, declared=[fifty])
    assert audit.missing == ("trajectory per batch of method (50 is declared of baseline, which has none)",)
    assert compare(BASELINE, bare, FASTER, declared=[fifty]).finding is RECONCILED


@pytest.mark.parametrize(
    ("claimed", "finding", "basis_class", "material"),
    [
        ("6.25", RECONCILED, BasisClass.DENOM, True),
        ("0.125", SAME, BasisClass.DENOM, None),
        ("8.0", PROVEN, BasisClass.DIR, False),
        ("700", PROVEN, BasisClass.DIR, False),
        ("8", OPEN, BasisClass.DIR, None),
        ("9.0", RECONCILED, BasisClass.DENOM, True),
    ],
)
def test_a_comparison_on_one_basis_may_be_read_otherwise(
    claimed: str, finding: AuditAnswer, basis_class: BasisClass, material: Any
) -> None:
    """3.2 s per batch of 50 against 0.512 s: "8.0 times faster" is right ÷ left on one basis, and true."""
    audit = compare(METHOD, BASELINE, dataclasses.replace(FASTER, claimed=claimed))
    assert (audit.finding, audit.basis_class, audit.material) == (finding, basis_class, material)
    if finding is PROVEN:
        assert about_the_dispute(audit) is Outcome.UNDECIDED
        assert recheck(audit)
    if finding is OPEN:
        assert audit.missing == ("whether 8 is right ÷ left",)


def test_another_reading_through_a_factor_without_a_source_is_weak() -> None:
    bare = dataclasses.replace(METHOD, per=Per("batch"))
    factor = Declared("trajectory per batch", "50", "left")
    audit = compare(bare, BASELINE, dataclasses.replace(FASTER, claimed="8.0"), declared=[factor])
    assert (audit.finding, audit.basis_class, audit.material) == (WEAK, BasisClass.DIR, False)
    assert audit.missing == ("the source of trajectory per batch",)


@pytest.mark.parametrize(
    ("left", "right", "claimed", "finding", "words"),
    [
        (("0.900", ""), ("0.850", ""), "5.0", SAME, "100 (left − right) is 5"),
        (("0.900", ""), ("0.850", ""), "0.050", PROVEN, "0.050 is left − right"),
        (("90.0", "%"), ("85.0", "%"), "5.0", SAME, "left − right is 5"),
        (("90.0", ""), ("85.0", ""), "5.0", SAME, "left − right is 5"),
        (("90", "%"), ("0.85", ""), "5", SAME, "5 on one basis"),
        (("0.90", ""), ("85", "%"), "5", SAME, "5 on one basis"),
        (("0.900", ""), ("0.850", ""), "-5.0", PROVEN, "-5.0 is 100 (right − left)"),
        (("0.900", ""), ("0.850", ""), "7.0", CLASH, "7.0 cannot hold"),
    ],
)
def test_points_are_hundredths_of_shares(
    left: tuple[str, str], right: tuple[str, str], claimed: str, finding: AuditAnswer, words: str
) -> None:
    audit = compare(record(*left), record(*right), Comparison(kind="points", claimed=claimed))
    assert audit.finding is finding
    assert words in audit.sentence
    if finding is PROVEN:
        assert recheck(audit)


def test_times_are_no_shares() -> None:
    audit = compare(record("0.900", "s"), record("0.850", "s"), Comparison(kind="points", claimed="5.0"))
    assert audit.finding is CLASH
    assert compare(record("10.0", "s"), record("20.0", "s"), Comparison(claimed="2")).finding is OPEN


def test_a_better_direction_against_the_comparison_is_refused() -> None:
    left, right = record("100", "tokens/s", label="a", better="lower"), record("50", "tokens/s")
    with pytest.raises(BadInput, match='lower is better for "a", and higher for the comparison'):
        compare(left, right, Comparison(better="higher"))
    assert compare(left, right, Comparison(better="lower")).finding is SAME
    both = dataclasses.replace(right, better="higher")
    assert compare(left, both, Comparison(better="higher")).basis_class is BasisClass.DIR


def test_a_count_that_one_number_does_not_state_is_asked_for_by_its_words() -> None:
    ours = Record(label="ours", value="24000", unit="token/s")
    theirs = Record(label="theirs", value="4100", unit="token/s", per=Per("gpu"))
    asked = compare(ours, theirs, Comparison(measures="throughput"), declared=[Declared("gpu per run", "8", "left")])
    assert asked.finding is OPEN
    assert asked.missing[0].startswith("how many of gpu ours stands for")
    assert "gpu per run is declared" in asked.sentence
    bare = compare(theirs, ours, Comparison(measures="throughput"))
    assert bare.missing == ("how many of gpu ours stands for",)
