"""A mistake in a system's file is named as such; a map of two values is not blamed on the start."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import verifier.exact.piecewise.problem as maps
from verifier.exact import parse_problem, refute
from verifier.exact.piecewise.maps import Branch, Guard
from verifier.exact.reading import Reader
from verifier.exact.systems import systems
from verifier.exact.systems.base import System
from verifier.model.errors import BadInput

PROBLEMS = Path(__file__).parents[2] / "problems"
ONE, TWO = Fraction(1), Fraction(2)
GOOD = Branch((Guard((ONE, ONE), ONE, strict=True),), ((ONE, TWO), (TWO, ONE)), (ONE, ONE))


def branch(**changed: Any) -> Branch:
    fields = {"guards": GOOD.guards, "M": GOOD.M, "c": GOOD.c}
    return Branch(**{**fields, **changed})


def with_derive(monkeypatch: pytest.MonkeyPatch, found: Any, **fields: Any) -> Any:
    """The problem of a system whose `derive` returns `found`."""
    system = System("mine", lambda _: None, lambda _: found, lambda _: (), **fields)
    monkeypatch.setattr(maps, "systems", lambda: {**systems(), "mine": system})
    document = {"schema": "verifier/problem/1", "system": "linear-iteration", "parameters": {}}
    return document | {"system": "mine", "state": {"z": ["1", "1"]}, "claim": {"name": "bounded"}}


@pytest.mark.parametrize(
    ("found", "where", "what"),
    [
        ([(GOOD,)], "", "the map is not a tuple of phases but of type list"),
        ((), "", "the map has 0 phases, where 1 to 16 are allowed"),
        ((GOOD,), ", phase 0", "the phase is not a tuple of branches but of type Branch"),
        (((GOOD,), (GOOD,) * 17), ", phase 1", "the phase has 17 branches, where 1 to 16 are allowed"),
        (((GOOD, None),), ", phase 0, branch 1", "it is not a Branch but of type NoneType"),
        (((GOOD, branch(c=(ONE,))),), ", phase 0, branch 1", "c has 1 entries, where 2 are allowed"),
        (((branch(M=((ONE, TWO),)),),), ", phase 0, branch 0", "M has 1 rows, where 2 are allowed"),
        (((branch(M=((ONE, 0.5), (ONE, ONE))),),), ", phase 0, branch 0", "M[0][1] is not a Fraction but the float"),
        (((branch(M=((ONE, ONE), (ONE,))),),), ", phase 0, branch 0", "M[1] has 1 entries, where 2 are allowed"),
        (((branch(c=(1, ONE)),),), ", phase 0, branch 0", "c[0] is not a Fraction but the int 1"),
        (((branch(guards=[]),),), ", phase 0, branch 0", "guards is not a tuple of guards but of type list"),
        (((branch(guards=(1,)),),), ", phase 0, branch 0", "guards[0] is not a Guard but the int 1"),
        (((branch(guards=(Guard((ONE,), ONE, strict=True),)),),), ", phase 0, branch 0", "guards[0].a has 1 entries"),
        (((branch(guards=(Guard((ONE, ONE), "1", strict=True),)),),), ", phase 0, branch 0", "guards[0].b is not a"),
        (((branch(guards=(Guard((ONE, ONE), ONE, strict=None),)),),), ", phase 0, branch 0", "guards[0].strict is not"),
    ],
)  # fmt: skip
def test_a_mistake_names_branch_and_field(monkeypatch: pytest.MonkeyPatch, found: Any, where: str, what: str) -> None:
    document = with_derive(monkeypatch, found)
    with pytest.raises(BadInput) as caught:
        maps.read_map_problem(Reader(document, "problem"))
    assert caught.value.where == f"the system mine ({__name__.replace('.', '/')}.py){where}"
    assert caught.value.what.startswith(what)
    assert "the system's file; the problem is not at fault" in caught.value.sentence


def test_a_map_without_mistakes_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    document = with_derive(monkeypatch, ((GOOD,), (GOOD,)))
    assert maps.read_map_problem(Reader(document, "problem")).map == ((GOOD,), (GOOD,))


def test_hypotheses_that_no_certificate_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"kind": "inequality", "name": "n", "left": "1" * 101, "relation": "<", "right": "1"}
    document = with_derive(monkeypatch, ((GOOD,),), entries=lambda _: [entry])
    with pytest.raises(BadInput, match="more than 100 digits") as caught:
        maps.read_map_problem(Reader(document, "problem"))
    assert "entries[0].left" in caught.value.where


def test_a_map_of_longer_numbers_than_a_certificate_holds_is_refused() -> None:
    document = json.loads((PROBLEMS / "clipped-descent.json").read_text())
    document["parameters"] |= {"eta": "1/" + "3" * 70, "centres": ["1/" + "7" * 60, "0", "9"]}
    document["claim"] = {"name": "stays-below", "h": ["1"], "g": "2"}
    with pytest.raises(BadInput, match="the map that these parameters mean") as caught:
        parse_problem(document)
    assert caught.value.where == "problem: parameters"


def test_overlapping_branches_are_named_and_the_start_is_not_blamed() -> None:
    above = {"guards": [{"a": ["1"], "b": "0", "relation": ">="}], "M": [["1/2"]], "c": ["0"]}
    below = {"guards": [{"a": ["-1"], "b": "0", "relation": ">="}], "M": [["1/3"]], "c": ["0"]}
    apart = {"guards": [{"a": ["1"], "b": "5", "relation": ">"}, *below["guards"]], "M": [["1"]], "c": ["0"]}
    document = {
        "schema": "verifier/problem/1",
        "system": "piecewise-affine",
        "parameters": {"map": [[above], [above | {"guards": [{**above["guards"][0], "relation": ">"}]}, below, apart]]},
        "state": {"z": ["3"]},
        "claim": {"name": "bounded"},
    }
    document["parameters"]["hypotheses"] = []
    found = refute(parse_problem(document))
    assert found.sentence == (
        "It is the map, not the start, that is not shown to have one value: no guards of branches 1 and 2 of phase 1 "
        "exclude each other, so both may apply to one state."
    )
    failed = found.hypotheses[-1]
    assert not failed.holds
    assert failed.witness == {"phase": 1, "branches": [1, 2]}
