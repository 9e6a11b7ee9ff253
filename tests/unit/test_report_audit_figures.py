"""The pictures of basis audits: well-formed, harmless, the same for the same audit, and saying its numbers."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from verifier.audits.audit import Audit
from verifier.audits.declared import Declared
from verifier.audits.dilution import dilution
from verifier.audits.dilution_arrays import dilution_of_arrays
from verifier.audits.dilution_box import Measured, PadLoss, PrintedDeflation
from verifier.audits.document import audit_document
from verifier.audits.printed import printed
from verifier.audits.reconcile import reconcile
from verifier.report.audit_figures import audit_pictures
from verifier.report.ratio_figure import ratios

SVG = "{http://www.w3.org/2000/svg}"


def published(**changed: Any) -> Audit:
    given: dict[str, Any] = {
        "measured": Measured(printed("5.11"), printed("5.27")),
        "p": printed("0.66"),
        "pad_loss": PadLoss(printed("0"), printed("0.05")),
        "printed_deflation": PrintedDeflation("perplexity", printed("3")),
    }
    return dilution(**(given | changed))


def arrays() -> Audit:
    mask = np.arange(30) < np.arange(3, 28)[:, None]
    return dilution_of_arrays(np.where(mask, 3.0, 0.01), mask)


def two_times_slower(name: str = "trajectory per batch") -> Audit:
    return reconcile("2", against="1/8", declared=[Declared(name=name, value="50", side="left")])


def words(audit: Audit) -> str:
    ((svg, caption),) = audit_pictures(audit_document(audit))
    root = ET.fromstring(svg)  # noqa: S314  # our own output
    assert root.find(f"{SVG}title") is not None
    assert not re.search(r"url\((?!#)|<image|<script|<!DOCTYPE", svg)
    assert caption.endswith(".")
    assert audit_pictures(audit_document(audit)) == [(svg, caption)]
    return " ".join("".join(element.itertext()) for element in root.iter(f"{SVG}text"))


def test_the_gap_against_the_padded_share() -> None:
    said = words(published())
    for part in ("4.6 % to 10.3 %", "threshold, 4.17 %", "published gap", "admissible range", "share given up",
                 "pad loss or deflation given up"):  # fmt: skip
        assert part in said


@pytest.mark.parametrize(
    "changed",
    [
        {"p": printed("0.999"), "printed_deflation": None},
        {"pad_loss_difference": printed("0.2")},
        {"p": None},
        {"measured": Measured(printed("5.27"), printed("5.11"))},
        {"p": printed("0.000")},
        {"p": printed("0/1"), "printed_deflation": None},
    ],
)
def test_unusual_dilutions_are_drawn(changed: dict[str, Any]) -> None:
    assert "padded share" in words(published(**changed))


def test_the_loss_by_position() -> None:
    said = words(arrays())
    assert "all scored positions" in said
    assert "real tokens" in said


def test_the_reconciliation() -> None:
    said = words(two_times_slower())
    for part in ("as claimed", "times 1/50", "against", "0.04", "0.125"):
        assert part in said
    rows = ratios(audit_document(two_times_slower())["details"])
    assert [(row.label, row.low, row.high) for row in rows[::2]] == [
        ("as claimed", 1.5, 2.5),
        ("against", pytest.approx(1 / 8.5), pytest.approx(1 / 7.5)),
    ]


def test_strangers_words_are_shown_and_not_obeyed() -> None:
    words(two_times_slower("<script>\x1b]0;x\u202e & $\\frac{1}{2}$"))


def test_audits_without_a_picture() -> None:
    assert audit_pictures(audit_document(dilution(measured=Measured(printed("5.11"))))) == []
    assert audit_pictures(audit_document(dilution_of_arrays([1.0, 2.0], [1, 1]))) == []
    assert audit_pictures({"details": None}) == []
    assert audit_pictures({"details": {"kind": "factor", "as_printed": "-1", "on_one_basis": "0"}}) == []
