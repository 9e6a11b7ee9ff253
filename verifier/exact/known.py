"""Counterexamples that are known: what a horizon or a search must reach before its silence means anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Catch = tuple[str, int, bool]
"""Name of a known counterexample or known step, the step it needs, whether a run reached that step."""


@dataclass(frozen=True, slots=True)
class Known:
    """A start whose claim is known to fail.

    `document` is a problem as in a problem file, `step` the number of the step that has to be reached to see it fail:
    for an inequality its first violation, otherwise what `explicit_steps` counts in the certificate found.
    """

    name: str
    document: dict[str, Any]
    step: int


KNOWN_STEPS: Mapping[str, tuple[tuple[str, int], ...]] = {
    "hardmax-frank-wolfe": (
        ("a published search, its step rounded", 3_800),
        ("a published search", 6_416),
    ),
}
"""Steps at which a published search saw its first failure; the tokens of these runs are not at hand."""


def _document(system: str, parameters: str, state: str, claim: str) -> dict[str, Any]:
    return {
        "schema": "verifier/problem/1",
        "system": system,
        "parameters": json.loads(parameters),
        "state": json.loads(state),
        "claim": json.loads(claim),
    }


def _frank_wolfe() -> dict[str, Any]:
    state = '{"tokens": [["4"], ["-1"]]}'
    document = _document("hardmax-frank-wolfe", '{"B": [["1"]], "step": "2/(t+2)"}', state, '"energy-bound"')
    return {**document, "ties": "any-selection"}


def _heavy_ball() -> dict[str, Any]:
    # Lessard, Recht, Packard 2016, section 4.6
    return _document(
        "heavy-ball",
        '{"breaks": ["1", "2"], "slopes": ["25", "1", "25"], "value": "25", "alpha": "1/9", "beta": "4/9",'
        ' "mu": "1", "L": "25", "tuning": "optimal-for-quadratics"}',
        '{"z": ["33/10", "33/10"]}',
        '{"name": "converges-to", "point": ["0", "0"]}',
    )


def _powell() -> dict[str, Any]:
    # Powell 1973, with e = 1/100
    return _document(
        "coordinate-minimisation",
        '{"A": [["0", "-1", "-1"], ["-1", "0", "-1"], ["-1", "-1", "0"]]}',
        '{"z": ["-101/100", "201/200", "-401/400"]}',
        '{"name": "limit-points-stationary"}',
    )


def _descent_ascent(eta: str, order: str, start: str, claim: str) -> dict[str, Any]:
    parameters = f'{{"A": [["1"]], "eta": "{eta}", "order": "{order}"}}'
    return _document("gradient-descent-ascent", parameters, start, claim)


def _three_block_admm() -> dict[str, Any]:
    # Chen, He, Ye, Yuan 2016
    return _document(
        "three-block-admm",
        '{"A": [["1", "1", "1"], ["1", "1", "2"], ["1", "2", "2"]], "beta": "1"}',
        '{"z": ["1", "1", "1", "1", "1"]}',
        '{"name": "converges-to", "point": ["0", "0", "0", "0", "0"]}',
    )


def known_counterexamples(system: str) -> tuple[Known, ...]:
    """The starts known to fail for a system, by its name in problem files; empty for a system without any.

    Every call returns fresh documents. tests/unit/test_exact_known.py runs each and counts its steps again.
    """
    to_zero, both = '{"name": "converges-to", "point": ["0", "0"]}', '{"z": ["1", "1"]}'
    match system:
        case "hardmax-frank-wolfe":
            return (Known("the tokens (4, -1)", _frank_wolfe(), 224),)
        case "heavy-ball":
            return (Known("the 3-cycle of heavy ball", _heavy_ball(), 9),)
        case "coordinate-minimisation":
            return (Known("Powell's six corners", _powell(), 6),)
        case "gradient-descent-ascent":
            return (
                Known("alternating, step 1", _descent_ascent("1", "alternating", both, to_zero), 6),
                Known("alternating, step 1/2", _descent_ascent("1/2", "alternating", both, to_zero), 0),
                Known(
                    "simultaneous, step 1",
                    _descent_ascent("1", "simultaneous", '{"z": ["1", "0"]}', '{"name": "bounded"}'),
                    2,
                ),
            )
        case "three-block-admm":
            return (Known("three blocks, start all ones", _three_block_admm(), 5),)
        case _:
            return ()


def explicit_steps(certificate: Mapping[str, Any]) -> int:
    """The explicit steps that a map's certificate needs: to its entry and once round its cycle; none for a level set.

    A spectral one needs as many images of its start as its polynomial has degree, one more where it starts from a
    difference. For a violation it is t, the step of the inequality.
    """
    match certificate["kind"]:
        case "violation":
            return int(certificate["t"])
        case "spectral":
            return len(certificate["polynomial"]) - 1 + int(certificate["of"] == "difference")
        case _:
            return int(certificate["start"]) + len(certificate.get("cycle", ()))


def would_catch(system: str, last: int) -> tuple[Catch, ...]:
    """Which known counterexamples and known steps of a system a run up to step `last` reaches, by ascending step."""
    known = [(entry.name, entry.step) for entry in known_counterexamples(system)]
    return tuple(
        (name, step, step <= last)
        for name, step in sorted([*known, *KNOWN_STEPS.get(system, ())], key=lambda entry: entry[1])
    )
