"""A refutation as JSON values, for machines: `refute --json`, the evidence of an exact probe."""

from __future__ import annotations

from typing import Any

from verifier.exact.answer import Refutation


def refutation_document(found: Refutation, *, certificate: str | None, floats: dict[str, Any] | None) -> dict[str, Any]:
    """The fields of `refute --json`: exact numbers as text, doubles as numbers, absent things as null.

    `certificate` is the path of the certificate's file; `floats` is what `float_report` says.
    """
    first, ties, horizon = found.first_violation, found.ties, found.horizon
    return {
        "answer": str(found.answer),
        "state": "partial" if horizon is not None and horizon.stopped_by == "time limit" else "done",
        "first_violation": None
        if first is None
        else {"t": first.t, "component": first.component, "lhs": str(first.lhs), "rhs": str(first.rhs)},
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
        },
        "notes": list(found.notes),
        "float": floats,
    }
