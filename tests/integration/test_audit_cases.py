"""Cases of basis audits, from a dispute to a ruling: the shipped ones, and what goes wrong in an audit probe."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.integration.conftest import REPOSITORY, TOY, Said, Verifier, edit, files_in
from tests.integration.test_cli_errors import one_sentence
from verifier.ledger import Ledger
from verifier.report import run_schema

CASES = REPOSITORY / "cases"

CASE = """\
[case]
written_by = "tests"

[paper]
arxiv = "2401.00001v1"
title = "A paper that does not exist"

[claim]
quote = "the loss is the divergence of the student from the teacher"
text = "The loss is KL(S||T)."
locator = "section 2"
kind = "method"
parts = [{ id = "a", text = "the loss is KL(S||T)" }]

[dispute]
part = "a"
text = "The loss is KL(T||S)."
source = { kind = "letter", url = "letter-1" }

[[premise]]
text = "The code is the paper's."
checked = "by-us"
source = "made for tests"

[[probe]]
name = "direction"
kind = "audit"
part = "a"
target = "loss:loss"
catalogue = "divergences"
letters = ["T", "S"]
stated = "KL(S||T)"
threshold = "0.01"
produced_by = "released"
controls = [{ target = "loss:right", expect = "SAME_BASIS" }]
"""

LOSS = """\
import numpy as np


def loss(p, q):
    {body}


def right(p, q):
    return float(np.sum(q * np.log(q / p)))
"""

REVERSED = "return float(np.sum(p * np.log(p / q)))"

TIMING = """\
[left]
label = "ours"
value = "{left}"
unit = "s"
per = {{ thing = "{per}", holds = {{ trajectory = 50 }} }}
source = "table 1"

[right]
label = "theirs"
value = "0.512"
unit = "s"
per = {{ thing = "trajectory" }}
source = "table 1"

[comparison]
kind = "factor"
better = "lower"
measures = "throughput"
"""


def ran(said: Said, code: int = 0) -> dict[str, Any]:
    assert said.code == code, said.err or said.out
    document = said.document
    jsonschema.validate(document, run_schema())
    return document


def probes(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {probe["name"]: probe for probe in document["probes"]}


def said_of(probe: dict[str, Any]) -> tuple[str, str, str | None]:
    return probe["answer"], probe["outcome"], probe["reason"]


def page(document: dict[str, Any], folder: Path) -> str:
    return (folder / document["report"]).read_text().replace("&#39;", "'")


@pytest.fixture
def direction(tmp_path: Path) -> Path:
    """A case that audits which divergence a function computes."""
    folder = tmp_path / "direction"
    folder.mkdir()
    (folder / "case.toml").write_text(CASE)
    (folder / "loss.py").write_text(LOSS.format(body=REVERSED))
    return folder


# the shipped cases


@pytest.mark.slow
def test_batch_timing(verifier: Verifier, tmp_path: Path) -> None:
    before = files_in(CASES / "batch_timing")
    case = str(CASES / "batch_timing")
    document = ran(verifier("run", case, "--json", "--expect", "DISMISSED"))
    assert (document["ruling"], document["because"]) == ("DISMISSED", "dispute-dismissed")
    assert {part["id"]: (part["ruling"], part["reason"]) for part in document["parts"]} == {
        "a": ("DISMISSED", None),
        "b": ("UNDECIDED", "size-unexplained"),
    }
    found = probes(document)
    assert next(iter(found)) == "comparison", "the dispute's own comparison comes first"
    assert found["comparison"]["outcome"] == found["timing"]["outcome"] == "AGAINST_DISPUTE"
    assert said_of(found["published-words"]) == ("RECONCILED", "UNDECIDED", "size-unexplained")
    assert [control["passed"] for control in document["controls"]] == [True] * 3
    assert "throughput" in document["premises"][0]["text"]
    assert files_in(CASES / "batch_timing") == before, "the engine writes nothing into a case folder"

    text = page(document, tmp_path)
    leads = text.lower().index("the two numbers that the dispute compares")
    assert leads < text.index("What would change the ruling")
    assert "8 times faster" in text[leads : leads + 600]
    assert "<svg" in text

    with Ledger.open(document["ledger"]["url"], create=False) as ledger:
        evidence = list(ledger.entries("evidence"))
    audits = [audit for entry in evidence for audit in entry.content.get("audits", [])]
    assert [audit["finding"] for audit in audits] == ["RECONCILED"] * 3

    again = ran(verifier("run", case, "--json", "--executor", "local=1"))
    assert again["ledger"] == document["ledger"], "a repeated run finds what it would append"


@pytest.mark.slow
def test_three_projections(verifier: Verifier, tmp_path: Path) -> None:
    document = ran(verifier("run", str(CASES / "three_projections"), "--json", "--expect", "UPHELD"))
    assert (document["ruling"], document["verdict"], document["because"]) == (
        "UPHELD",
        "inconclusive",
        "premise-unchecked",
    )
    found = probes(document)
    assert said_of(found["dilution"]) == ("RECONCILED", "FOR_DISPUTE", None)
    assert said_of(found["closure"]) == ("JOINTLY_INCONSISTENT", "UNDECIDED", "size-unexplained")
    assert not found["closure"]["required"]
    assert document["parts"][0]["fixed_by"] == ["dilution"]
    assert [control["answer"] for control in document["controls"]] == [
        "MISMATCH_PROVEN",
        "SAME_BASIS",
        "NOT_MATERIAL",
    ]
    assert all(control["passed"] for control in document["controls"])
    text = page(document, tmp_path)
    for premise in document["premises"]:
        assert premise["text"] in text
    assert "from 0.008 on some admissible value falls short" in text
    assert "<figure" in text
    assert "4.6" in text[text.index("<figure") : text.index("</figure>")], "the admissible range is drawn"


@pytest.mark.slow
def test_self_distillation(verifier: Verifier, tmp_path: Path) -> None:
    case = str(CASES / "self_distillation")
    document = ran(verifier("run", case, "--trust", "--json", "--expect", "UPHELD"))
    parts = {part["id"]: (part["ruling"], part["reason"]) for part in document["parts"]}
    assert parts == {"a": ("UPHELD", None), "b": ("UNDERPOWERED", "underpowered")}
    found = probes(document)
    assert said_of(found["direction"]) == ("MISMATCH_PROVEN", "FOR_DISPUTE", None)
    assert found["direction"]["audits"][0]["code_against_text"]
    assert found["direction"]["audits"][0]["material"]
    assert found["gain"]["outcome"] == "UNDERPOWERED"
    assert round(found["gain"]["so_far"]["estimate"], 2) == 1.58
    assert all(control["passed"] for control in document["controls"])
    assert "alpha = 0" in document["premises"][0]["text"]
    assert "would decide" in found["gain"]["summary"] or found["gain"]["adequacy"]["needed"]
    assert document["premises"][0]["text"] in page(document, tmp_path)

    other = ran(verifier("run", case, "--json", "--set", "alpha=1"))
    assert other["exploratory"]
    assert probes(other)["direction"]["answer"] == "SAME_BASIS"
    assert probes(other)["direction"]["outcome"] == "AGAINST_DISPUTE"
    standing = verifier("status", case, "--json").document["standing"]
    assert standing["ruling"] == "UPHELD", "an exploratory run supersedes nothing"


# an audited function


@pytest.mark.slow
def test_a_reversed_divergence_upholds_the_dispute(verifier: Verifier, direction: Path) -> None:
    document = ran(verifier("run", direction.name, "--trust", "--json"))
    assert (document["ruling"], document["verdict"]) == ("UPHELD", "falsified")
    audit = probes(document)["direction"]["audits"][0]
    assert audit["witness"]
    assert (audit["basis_class"], audit["finding"]) == ("FORM", "MISMATCH_PROVEN")


@pytest.mark.parametrize("produced_by", ["unknown", pytest.param("private", marks=pytest.mark.slow)])
def test_code_that_may_not_have_made_the_result_is_a_question_to_the_authors(
    verifier: Verifier, direction: Path, tmp_path: Path, produced_by: str
) -> None:
    edit(direction / "case.toml", '"released"', f'"{produced_by}"')
    document = ran(verifier("run", direction.name, "--trust", "--json"))
    assert (document["ruling"], document["because"]) == ("UNDECIDED", "code-provenance")
    assert said_of(probes(document)["direction"]) == ("MISMATCH_PROVEN", "UNDECIDED", "code-provenance")
    assert "Which code made the reported result: the released one, of which loss:loss was audited, or another?" in page(
        document, tmp_path
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ValueError('no')", "raised ValueError"),
        ("return float('nan')", "returned NaN"),
        ("import random; return random.random()", "not deterministic"),
    ],
)
def test_a_function_that_says_nothing_is_insufficient(
    verifier: Verifier, direction: Path, body: str, words: str
) -> None:
    (direction / "loss.py").write_text(LOSS.format(body=body))
    document = ran(verifier("run", direction.name, "--trust", "--json"))
    assert document["ruling"] == "UNDERPOWERED"
    probe = probes(document)["direction"]
    assert said_of(probe) == ("INSUFFICIENT", "UNDERPOWERED", "underpowered")
    assert words in probe["summary"]


@pytest.mark.slow
def test_a_function_that_ends_its_worker_has_no_answer(verifier: Verifier, direction: Path) -> None:
    (direction / "loss.py").write_text(LOSS.format(body="import os; os._exit(1)"))
    document = ran(verifier("run", direction.name, "--trust", "--json", "--executor", "local=1"), 3)
    assert (document["ruling"], document["verdict"]) == ("NO_ANSWER", None)


@pytest.mark.slow
def test_a_function_that_hangs_ends_with_the_time_limit(verifier: Verifier, direction: Path) -> None:
    (direction / "loss.py").write_text(LOSS.format(body="import time; time.sleep(1000)"))
    said = verifier("run", direction.name, "--trust", "--json", "--time-limit", "8s", "--executor", "local=1")
    assert said.code == 3
    assert said.document["state"] == "partial"
    with Ledger.open("verifier.db", create=False) as ledger:
        assert not list(ledger.entries("evidence"))


@pytest.mark.slow
def test_a_control_that_fails_makes_the_probe_invalid(verifier: Verifier, direction: Path) -> None:
    edit(direction / "case.toml", 'expect = "SAME_BASIS"', 'expect = "MISMATCH_PROVEN"')
    document = ran(verifier("run", direction.name, "--trust", "--json"))
    assert (document["ruling"], document["because"]) == ("INVALID", "control-failed")
    (control,) = document["controls"]
    assert (control["answer"], control["passed"]) == ("SAME_BASIS", False)
    assert probes(document)["direction"]["own_outcome"] == "FOR_DISPUTE"


@pytest.mark.slow
def test_a_control_without_an_answer_leaves_the_probe_without_one(verifier: Verifier, direction: Path) -> None:
    edit(direction / "loss.py", "return float(np.sum(q * np.log(q / p)))", "import os; os._exit(1)")
    document = ran(verifier("run", direction.name, "--trust", "--json", "--executor", "local=1"), 3)
    assert probes(document)["direction"]["outcome"] == "NO_ANSWER"


# the comparison of a dispute


def compared(folder: Path, *, left: str, per: str) -> Path:
    """The toy case, whose dispute compares two times."""
    case = Path(shutil.copytree(TOY, folder / "compared"))
    (case / "timing.toml").write_text(TIMING.format(left=left, per=per))
    edit(case / "case.toml", 'alleged = { slope_per_ln_k = "0.38" }', 'comparison = "timing.toml"')
    edit(case / "case.toml", "looks = [10, 20, 30]", "looks = [30]")
    return case


@pytest.mark.slow
def test_numbers_on_one_basis_leave_the_ruling_to_the_other_probes(verifier: Verifier, tmp_path: Path) -> None:
    case = compared(tmp_path, left="3.2", per="trajectory")
    document = ran(verifier("run", case.name, "--trust", "--json"))
    found = probes(document)
    assert found["comparison"]["answer"] == "SAME_BASIS"
    assert document["ruling"] == "UPHELD"
    assert document["parts"][0]["fixed_by"] == ["excess"]


@pytest.mark.slow
def test_numbers_on_two_bases_speak_against_the_dispute(verifier: Verifier, tmp_path: Path) -> None:
    case = compared(tmp_path, left="3.2", per="batch")
    document = ran(verifier("run", case.name, "--trust", "--json"))
    assert probes(document)["comparison"]["outcome"] == "AGAINST_DISPUTE"
    assert (document["ruling"], document["reason"]) == ("UNDECIDED", "conflict")


@pytest.mark.slow
def test_the_comparison_is_audited_before_any_unit_is_drawn(verifier: Verifier, tmp_path: Path) -> None:
    case = compared(tmp_path, left="3.2", per="batch")
    edit(
        case / "quantity.py",
        "def growing(",
        "def growing(*_, **__):\n    import time; time.sleep(1000)\n\n\ndef other(",
    )
    edit(case / "case.toml", 'baseline = "quantity:half"\nexact = "quantity:exact_growing"\n', "")
    said = verifier("run", case.name, "--trust", "--json", "--time-limit", "8s", "--executor", "local=1")
    assert (said.code, said.document["state"]) == (3, "partial"), said.err
    assert "the two numbers that the dispute compares: ours, 3.2 s per batch" in said.err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('produced_by = "released"', 'produced_by = "theirs"', "produced_by"),
        ('catalogue = "divergences"', 'catalogue = "divergence"', "divergences"),
        ('stated = "KL(S||T)"', 'stated = "KL(S||U)"', "stated"),
        ('stated = "KL(S||T)"\n', "", "stated"),
        ('letters = ["T", "S"]', 'letters = ["T"]', "letters"),
        ('target = "loss:loss"', 'file = "audit.toml"', "is for the audit of a function"),
        ('target = "loss:loss"', 'target = "loss:loss"\nfile = "audit.toml"', "stand together"),
        ('expect = "SAME_BASIS"', 'expect = "SAME"', "SAME_BASIS"),
        ('text = "The loss is KL(T||S)."', 'text = "x"\ncomparison = "absent.toml"', "absent.toml"),
    ],
)
def test_a_bad_probe_is_one_sentence_and_changes_nothing(
    verifier: Verifier, direction: Path, tmp_path: Path, old: str, new: str, words: str
) -> None:
    edit(direction / "case.toml", old, new)
    before = files_in(tmp_path)
    sentence = one_sentence(verifier("run", direction.name, "--trust", "--json"), 2)
    assert words in sentence
    assert "case.toml, line" in sentence
    assert files_in(tmp_path) == before


def test_a_bad_audit_file_is_said_before_anything_is_registered(verifier: Verifier, tmp_path: Path) -> None:
    case = compared(tmp_path, left="3.2", per="bacth")
    before = files_in(tmp_path)
    sentence = one_sentence(verifier("run", case.name, "--trust", "--json"), 2)
    assert "timing.toml, line 5, left.per.thing" in sentence
    assert "the nearest valid unit is batch" in sentence
    assert files_in(tmp_path) == before
