"""What exact work found, as lines and rows that terminal and HTML share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verifier.model.answers import ExactAnswer
from verifier.model.results import ExactEvidence, ProbeResult
from verifier.report.text import listed, plain

MOST_WITNESS = 160
"""Characters of a witness that a table shows; all of them stand in the JSON."""

MOST_PROBLEM = 400
"""Characters of a parameter or a start that a report shows."""

MOST_DIGITS = 60
"""Longer numbers are shown as decimals; the certificate has them in full."""


def exact_evidence(probe: ProbeResult) -> ExactEvidence | None:
    """What exact work found, or None for another kind of probe and where there is no answer."""
    return probe.latest.exact if probe.evidence else None


@dataclass(frozen=True, slots=True)
class HypothesisRow:
    """A hypothesis as a table shows it; `witness` is empty where it is too long to be read."""

    name: str
    holds: bool
    sentence: str
    witness: str


def hypothesis_rows(found: ExactEvidence) -> list[HypothesisRow]:
    """Every hypothesis of the claim, and what shows that it holds or fails here."""
    return [
        HypothesisRow(plain(h["name"]), bool(h["holds"]), plain(h["sentence"]), _unsaid(h["witness"], h["sentence"]))
        for h in found.document["hypotheses"]
    ]


def _unsaid(witness: Mapping[str, Any], sentence: str) -> str:
    """The witness, unless the sentence says all of it."""
    return "" if all(str(value) in sentence for value in witness.values()) else witness_words(witness)


def witness_words(witness: Mapping[str, Any]) -> str:
    """A witness on one line: `weights: 1/5, 4/5`; empty where it is too long to be read."""
    words = "; ".join(f"{plain(key)}: {_flat(value)}" for key, value in witness.items())
    return words if len(words) <= MOST_WITNESS else ""


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{plain(str(key))}: {_flat(item)}" for key, item in value.items())
    if isinstance(value, list):
        nested = any(isinstance(item, list) for item in value)
        return "; ".join(f"({_flat(item)})" for item in value) if nested else ", ".join(map(_flat, value))
    return plain(str(value))


def answer_line(found: ExactEvidence) -> str:
    """The answer and what it means."""
    answer = ExactAnswer[found.document["answer"]]
    return f"{answer}: {answer.sentence}"


def sides_line(found: ExactEvidence) -> str:
    """Both sides of the inequality where it first fails, exactly and as decimals."""
    first = found.document["first_violation"]
    if first is None:
        return ""
    where = f"first at t = {first['t']:,}, {_part(found)} {first['component']}"
    if first["lhs"] is None or first["rhs"] is None:
        return f"{where}; the sides are too long to be written"
    # an irrational right side is known by a rational above it
    most = "at most " if found.document.get("rhs_is") == "bound" else ""
    return (
        f"{where}: the left side is {number_words(Fraction(first['lhs']))}, "
        f"the right side {most}{number_words(Fraction(first['rhs']))}"
    )


def _part(found: ExactEvidence) -> str:
    """What a component of the claim is called."""
    return "token" if found.document["problem"]["system"] == "hardmax-frank-wolfe" else "component"


def number_words(value: Fraction) -> str:
    """An exact number with its decimal, or the decimal alone where it is long."""
    text = str(value)
    digits = f"{float(value):.12g}" if abs(value) < Fraction(10) ** 300 else "a number beyond 1e300"
    if value.denominator == 1 and len(text) <= MOST_DIGITS:
        return text
    return f"{text} ≈ {digits}" if len(text) <= MOST_DIGITS else f"≈ {digits} (a fraction of {len(text)} characters)"


def fails_from_line(found: ExactEvidence) -> str:
    """From which step the claim fails for good, in all and by component."""
    document = found.document
    if document["fails_from"] is None:
        return ""
    part = _part(found)
    text = f"at every t ≥ {document['fails_from']:,} some {part} fails"
    parts = document["fails_from_by_component"] or []
    if len(parts) > 1:
        each = [f"{i} {'never for good' if t is None else f'from {t:,}'}" for i, t in enumerate(parts)]
        text += f" ({part} {listed(each)})"
    return text


def tie_line(found: ExactEvidence) -> str:
    """The first tie, and the answer under each way to break it."""
    ties = found.document["ties"]
    if ties is None:
        return ""
    answers = [
        f"{plain(rule)}: {answer['answer']}" + (f" (first at t = {answer['t']:,})" if answer["t"] is not None else "")
        for rule, answer in ties["answers"].items()
    ]
    return f"the first tie is at t = {ties['t']:,}, token {ties['token']}" + (f"; {listed(answers)}" if answers else "")


def float_lines(found: ExactEvidence) -> list[str]:
    """How float64 fares on the same start, a line for each form of evaluation."""
    floats = found.document.get("float") or {}
    return [f"float64, {plain(form['sentence'])}" for form in floats.get("forms", [])]


def exact_lines(found: ExactEvidence) -> list[str]:
    """The numbers of the finding, one line each."""
    lines = [sides_line(found), fails_from_line(found), tie_line(found)]
    return [line for line in lines if line]


def problem_rows(found: ExactEvidence) -> list[tuple[str, str]]:
    """What was tested, as (name, value): system, parameters, start, claim, tie rule."""
    problem = found.document["problem"]
    rows = [("system", problem["system"]), *problem["parameters"].items(), *problem["state"].items()]
    rows += [("claim", problem["claim"]), *([("ties", problem["ties"])] if "ties" in problem else [])]
    return [(plain(name), _short(_flat(value))) for name, value in rows]


def _short(text: str) -> str:
    return text if len(text) <= MOST_PROBLEM else f"{text[:MOST_PROBLEM]} … (in full in the problem file)"


def problem_line(probe: ProbeResult) -> str:
    """What the exact work was done on."""
    return f"exact work on the problem {plain(probe.question)}"


def exact_document(found: ExactEvidence) -> Mapping[str, Any]:
    """The finding as JSON values, for machines; the certificate's file is named beside it."""
    return {key: value for key, value in found.document.items() if key not in ("certificate", "state")}
