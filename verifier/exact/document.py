"""A refutation as JSON values, for machines: `refute --json`, the evidence of an exact probe."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from verifier.exact.answer import Refutation, SearchReport

TOO_MANY_DIGITS = 10**4_000
"""A numerator or denominator from here on is left out (docs/certificates.md, section 1)."""


def refutation_document(found: Refutation, *, certificate: str | None, floats: dict[str, Any] | None) -> dict[str, Any]:
    """The fields of `refute --json`: exact numbers as text, doubles as numbers, absent things as null.

    `certificate` is the path of the certificate's file; `floats` is what `float_report` says.
    """
    first, ties, horizon = found.first_violation, found.ties, found.horizon
    return {
        "answer": str(found.answer),
        "state": "partial" if out_of_time(found) else "done",
        "first_violation": None
        if first is None
        else {
            "t": first.t,
            "component": first.component,
            "lhs": _side(first.lhs),
            "rhs": _side(first.rhs),
        },
        "rhs_is": None if first is None else first.rhs_is,
        "fails_from": found.fails_from,
        "fails_from_by_component": None
        if found.fails_from_by_component is None
        else list(found.fails_from_by_component),
        "hypotheses": [
            {"name": h.name, "holds": h.holds, "witness": h.witness, "sentence": h.sentence} for h in found.hypotheses
        ],
        "exit_step": found.exit_step,
        "ties": None
        if ties is None
        else {
            "t": ties.t,
            "token": ties.token,
            "classes": list(ties.classes),
            "answers": {rule: {"answer": str(answer), "t": t} for rule, (answer, t) in ties.answers.items()},
        },
        "certificate": certificate,
        "no_certificate": found.no_certificate or None,
        "horizon": None
        if horizon is None
        else {
            "t": horizon.t,
            "margin": horizon.margin,
            "margin_at": horizon.margin_at,
            "predicted_crossing": horizon.predicted_crossing,
            "trend_crossing": horizon.trend_crossing,
            "would_catch": [
                {"name": name, "step": step, "reached": reached} for name, step, reached in horizon.would_catch
            ],
            "stopped_by": horizon.stopped_by,
            "partly": horizon.partly,
        },
        "search": None if found.search is None else _search(found.search),
        "notes": list(found.notes),
        "float": floats,
    }


def _side(value: Fraction | None) -> str | None:
    """A side of an inequality as text; None where it has more digits than the format holds."""
    if value is None or max(abs(value.numerator), value.denominator) >= TOO_MANY_DIGITS:
        return None
    return str(value)


def out_of_time(found: Refutation) -> bool:
    """Whether a time limit ended the work before its answer."""
    stopped = [part.stopped_by for part in (found.horizon, found.search) if part is not None]
    return "time limit" in stopped


def _search(search: SearchReport) -> dict[str, Any]:
    return {
        "sampler": search.sampler,
        "seed": search.seed,
        "starts": search.starts,
        "planned": search.planned,
        "drawn": search.drawn,
        "steps": search.steps,
        "by_answer": search.by_answer,
        "drawn_by_answer": search.drawn_by_answer,
        "exit_steps": {str(step): count for step, count in search.exit_steps.items()},
        "smallest_margin": search.smallest_margin,
        "smallest_margin_start": search.smallest_margin_start,
        "power": [
            {"known": power.known, "caught": power.caught, "of": power.of, "by": power.by} for power in search.power
        ],
        "found_by": search.found_by or None,
        "found_start": search.found_start,
        "stopped_by": search.stopped_by,
    }
