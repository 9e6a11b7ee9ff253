"""Is a file a certificate at all? A reading of docs/certificates.md (sections 1, 3 to 8) and of the JSON Schemas.

Only the form: strict JSON, the schema, number form, digits, lengths, dimensions and indices. Computed bounds (work
units, 13,300 bits) are left to the checker.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import gcd
from typing import Any

from tests.oracles import certificate_formulas as formulas
from tests.oracles import certificate_schema

NUMBER = re.compile(r"0|-?[1-9][0-9]*(?:/[1-9][0-9]*)?", re.ASCII)
DERIVING = ("heavy-ball", "coordinate-minimisation", "gradient-descent-ascent", "three-block-admm")
TEXTS = ("paper", "locator", "quote", "symbols", "name", "kind", "schema", "system", "claim", "ties", "relation")
TEXTS += ("tuning", "order", "of", "type", "step", "variables", "hypotheses", "conclusion")


class NotACertificate(Exception):
    """The file is not a certificate in this format; the text says why."""


def need(condition: object, why: str) -> None:
    if not condition:
        raise NotACertificate(why)


def read(data: bytes) -> dict[str, Any]:
    """The document in `data`, or NotACertificate."""
    need(len(data) <= 1_048_576, "size")
    need(not data.startswith(b"\xef\xbb\xbf"), "byte-order mark")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise NotACertificate("encoding") from None
    need(depth(text) <= 32, "nesting")
    document = parse(text)
    need(certificate_schema.certificate(document), "schema")
    numbers(document["problem"], 100)
    numbers({k: v for k, v in document.items() if k != "problem"}, 4000)
    shapes(document)
    return document


def depth(text: str) -> int:
    """The deepest nesting of brackets outside strings."""
    now = deepest = 0
    for mark in re.findall(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', text, re.DOTALL):
        now += (mark in "[{") - (mark in "]}")
        deepest = max(deepest, now)
    return deepest


def parse(text: str) -> dict[str, Any]:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len({key for key, _ in items}) == len(items), "a key twice")
        return dict(items)

    def integer(digits: str) -> int:
        need(len(digits) < 20 and digits != "-0", "counter")
        return int(digits)

    def other(word: str) -> Any:
        raise NotACertificate(f"no such number: {word[:20]}")

    try:
        document = json.loads(text, object_pairs_hook=pairs, parse_int=integer, parse_float=other, parse_constant=other)
    except json.JSONDecodeError:
        raise NotACertificate("json") from None
    need(isinstance(document, dict), "not an object")
    return document  # type: ignore[no-any-return]  # checked in the line above


def strings(value: Any) -> Iterator[str]:
    """Every string that is a quantity: strings outside the textual fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in TEXTS and (isinstance(item, str) or key in ("paper", "symbols", "variables")):
                continue
            if key == "hypotheses" and any(isinstance(entry, str) for entry in item):
                continue
            yield from strings(item)


def numbers(value: Any, digits: int) -> None:
    for text in strings(value):
        need(NUMBER.fullmatch(text), f"number form: {text[:30]!r}")
        parts = text.lstrip("-").split("/")
        need(max(map(len, parts)) <= digits, "digits")
        if len(parts) == 2:
            need(parts[1] != "1" and (len(text) > 4000 or gcd(int(parts[0]), int(parts[1])) == 1), "lowest terms")


def shapes(document: dict[str, Any]) -> None:
    """Lengths, dimensions and indices."""
    problem = document["problem"]
    need("find" not in problem["state"], "a state to be found")
    if problem["system"] == "hardmax-frank-wolfe":
        hardmax(document)
    elif problem["system"] == "piecewise-affine":
        piecewise(document)
    else:
        expressions(document)


def vector(x: list[Any], size: int) -> None:
    need(len(x) == size, "length")


def square(M: list[list[Any]], size: int) -> None:
    vector(M, size)
    for row in M:
        vector(row, size)


def hardmax(document: dict[str, Any]) -> None:
    problem = document["problem"]
    tokens = problem["state"]["tokens"]
    n, d = len(tokens), len(tokens[0])
    for token in tokens:
        vector(token, d)
    raw = problem["parameters"]["B"]
    for matrix in raw if isinstance(raw[0][0], list) else [raw]:
        square(matrix, d)
    step = problem["parameters"]["step"]
    if step not in {"2/(t+2)", "2/(t+1)", "1/(t+2)"}:
        numbers([step], 100)
    vector(document["weights"], n)
    explicit = 0
    for branch in document["branches"]:
        runs = branch["selections"]
        for run in runs:
            vector(run["targets"], n)
            need(max(run["targets"]) < n, "target")
            explicit += run["steps"]
        need(all(a["targets"] != b["targets"] for a, b in pairwise(runs)), "neighbouring runs")
        need(branch.get("component", 0) < n, "component")
        need(branch.get("first", {"component": 0})["component"] < n, "component")
        need(branch.get("freeze", {"target": 0})["target"] < n, "freeze target")
        if "separation" in branch:
            vector(branch["separation"]["u"], d)
        if document["kind"] == "for-all":
            vector(branch["fails_from_by_component"], n)
    need(explicit <= 2001, "explicit steps")
    if document["kind"] == "for-all":
        vector(document["fails_from_by_component"], n)


def piecewise(document: dict[str, Any]) -> None:
    problem = document["problem"]
    m = len(problem["state"]["z"])
    phases = problem["parameters"]["map"]
    for branch in [branch for phase in phases for branch in phase]:
        square(branch["M"], m)
        vector(branch["c"], m)
        for guard in branch["guards"]:
            vector(guard["a"], m)
    for name in ("point", "h"):
        if name in problem["claim"]:
            vector(problem["claim"][name], m)
    methods(problem["parameters"]["hypotheses"])
    if document["kind"] == "invariant":
        invariant(document, phases, m)
    if document["kind"] == "spectral":
        coefficients = [int(c) for c in document["polynomial"]]
        need(coefficients[-1] > 0 and gcd(*coefficients) == 1, "polynomial")
        need(len(coefficients) - 1 <= m and document["j"] <= len(coefficients) - 1, "degree")


def methods(hypotheses: list[dict[str, Any]]) -> None:
    need(sum(h["kind"] in DERIVING for h in hypotheses) <= 1, "two deriving hypotheses")
    for hypothesis in hypotheses:
        for name in ("A", "matrix"):
            if name in hypothesis:
                need(len({len(row) for row in hypothesis[name]}) == 1, "rows")
        if hypothesis["kind"] == "coordinate-minimisation":
            square(hypothesis["A"], len(hypothesis["A"]))
        if hypothesis["kind"] == "psd":
            square(hypothesis["matrix"], len(hypothesis["matrix"]))
        if hypothesis["kind"] == "heavy-ball":
            vector(hypothesis["slopes"], len(hypothesis["breaks"]) + 1)


def invariant(document: dict[str, Any], phases: list[Any], m: int) -> None:
    shape = document["shape"]
    if shape["type"] == "level":
        square(shape["Q"], m)
        vector(shape["centre"], m)
        return
    p, q, s = len(document["cycle"]), len(phases), document["start"]
    need(p % q == 0, "cycle against phases")
    for k, index in enumerate(document["cycle"]):
        need(index < len(phases[(s + k) % q]), "branch index")
    for name in ("points", "centres", "low", "high"):
        if name in shape:
            vector(shape[name], p)
            for entry in shape[name]:
                vector(entry, m)
    if "P" in shape:
        square(shape["P"], m)
    for name in ("c", "u"):
        if name in shape:
            vector(shape[name], m)
    excluded, converges = document["excluded"], document["problem"]["claim"]["name"] == "converges"
    need(excluded["phase"] < p and excluded.get("other_phase", 0) < p, "phase")
    need(("other_phase" in excluded) == converges, "other_phase")
    if "h" in excluded:
        vector(excluded["h"], m)


def expressions(document: dict[str, Any]) -> None:
    problem = document["problem"]
    variables, assignment = problem["parameters"]["variables"], problem["state"]["assignment"]
    need(set(variables) == set(assignment), "variables and assignment")
    for name, kind in variables.items():
        value = assignment[name]
        need(name not in formulas.RESERVED, "reserved")
        if kind == "rational":
            need(isinstance(value, str), "shape of a value")
        elif "vector" in kind:
            need(isinstance(value, list) and all(isinstance(x, str) for x in value), "shape of a value")
            vector(value, kind["vector"])
        else:
            need(isinstance(value, list) and all(isinstance(x, list) for x in value), "shape of a value")
            vector(value, kind["matrix"][0])
            for row in value:
                vector(row, kind["matrix"][1])
    for text in [*problem["parameters"]["hypotheses"], problem["parameters"]["conclusion"]]:
        try:
            formulas.parse(text, variables=variables, real=document["kind"] == "ball")
        except formulas.BadFormula as error:
            raise NotACertificate(f"expression: {error}") from None


def fractions(value: Any) -> Any:
    """Nested lists of quantities as nested lists of Fractions."""
    return Fraction(value) if isinstance(value, str) else [fractions(item) for item in value]
