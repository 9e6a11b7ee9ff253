"""A problem about the orbit of a piecewise affine map: its data, long form, and hypotheses with witnesses."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from verifier.exact.answer import Hypothesis
from verifier.exact.definite import is_positive, is_semidefinite, is_symmetric, negative_direction
from verifier.exact.linear import quadratic
from verifier.exact.piecewise.derived import checked_map
from verifier.exact.piecewise.maps import Map, map_text, numbers_of, overlapping, read_map
from verifier.exact.reading import MOST_DIMENSION, PROBLEM_DIGITS, Matrix, Reader, Vector
from verifier.exact.systems import systems
from verifier.exact.systems.base import System, comparison
from verifier.model.errors import BadInput

CLAIMS = ("converges-to", "converges", "bounded", "limit-points-stationary", "stays-below")
LONG_FORM = "piecewise-affine"
ONE_VALUE = "the map has one value"
TOO_MANY_DIGITS = 10**PROBLEM_DIGITS
_TOP = ("schema", "system", "parameters", "state", "claim")
_TEXTS = ("paper", "locator", "quote", "symbols")


@dataclass(frozen=True, slots=True)
class Claim:
    """What is said of the orbit: `point` for converges-to; `h`, `g` for stays-below."""

    name: str
    point: Vector | None = None
    h: Vector | None = None
    g: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Deriving:
    """The system that the map comes from, with its parameters."""

    system: System
    data: Any


@dataclass(frozen=True, slots=True)
class MapProblem:
    """Map, start z_0, claim, where the map comes from, its hypotheses, and the long form that certificates carry."""

    map: Map
    z: Vector
    claim: Claim
    deriving: Deriving | None
    hypotheses: tuple[Hypothesis, ...]
    document: dict[str, Any]

    @property
    def linear(self) -> bool:
        """Whether there is one phase with one branch without guards."""
        return len(self.map) == 1 and len(self.map[0]) == 1 and not self.map[0][0].guards


def read_map_problem(reader: Reader) -> MapProblem:
    """The problem of a document in the long form or in the short form of a known system. Raises BadInput."""
    fields = reader.fields(_TOP, _TEXTS)
    z = fields["state"].fields(("z",))["z"].vector()
    known = systems()
    if fields["system"].value == LONG_FORM:
        map_, deriving, found = _long(fields["parameters"], len(z))
        parameters = fields["parameters"].value
    else:
        system = known[fields["system"].word(tuple(known))]
        deriving = Deriving(system, system.read(fields["parameters"]))
        map_ = checked_map(system.derive(deriving.data), where=_file_of(system))
        if any(max(abs(x.numerator), x.denominator) >= TOO_MANY_DIGITS for x in numbers_of(map_)):
            what = f"the map that these parameters mean has a number of more than {PROBLEM_DIGITS} digits"
            raise fields["parameters"].error(what, mend="give parameters with fewer digits")
        found = list(system.hypotheses(deriving.data))
        parameters = {"map": map_text(map_), "hypotheses": _entries(deriving, fields["parameters"].value)}
        if system.kind is None:
            _check_entries(parameters["hypotheses"], system, len(map_[0][0].c))
    if len(map_[0][0].c) != len(z):
        raise fields["state"].error(f"the start has {len(z)} entries", mend=f"give {len(map_[0][0].c)}")
    claim = _read_claim(fields["claim"], len(z), deriving)
    overlap = overlapping(map_)
    witness = {} if overlap is None else {"phase": overlap[0], "branches": list(overlap[1:])}
    sentence = "opposite guards separate every two branches" if overlap is None else _overlap_text(*overlap)
    found.append(Hypothesis(ONE_VALUE, holds=overlap is None, witness=witness, sentence=sentence))
    if claim.point is not None and deriving is not None and deriving.system.solves is not None:
        solved = deriving.system.solves(deriving.data, claim.point)
        text = {"point": [str(x) for x in claim.point]}
        found.append(
            Hypothesis(
                "the point that the claim names is a solution",
                holds=solved,
                witness=text,
                sentence="its defining equations hold" if solved else "its defining equations do not hold",
            )
        )
    document = {**reader.value, "system": LONG_FORM, "parameters": parameters}
    return MapProblem(map_, z, claim, deriving, tuple(found), document)


def _overlap_text(phase: int, one: int, other: int) -> str:
    return (
        f"no guards of branches {one} and {other} of phase {phase} exclude each other, so both may apply to one state"
    )


def _file_of(system: System) -> str:
    return f"the system {system.name} ({system.derive.__module__.replace('.', '/')}.py)"


def _check_entries(entries: list[dict[str, Any]], system: System, dimension: int) -> None:
    """Reads the hypotheses that a certificate will carry. Raises BadInput where the format cannot hold them."""
    try:
        _read_entries(Reader(entries, _file_of(system), ("entries",)), dimension)
    except BadInput as error:
        mend = "give parameters with fewer digits, or mend entries in the system's file"
        raise BadInput(error.what, where=error.where, mend=mend) from error


def _entries(deriving: Deriving, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    if deriving.system.kind is not None:
        return [{"kind": deriving.system.kind, **parameters}]
    return deriving.system.entries(deriving.data) if deriving.system.entries is not None else []


def _long(reader: Reader, dimension: int) -> tuple[Map, Deriving | None, list[Hypothesis]]:
    fields = reader.fields(("map", "hypotheses"))
    map_ = read_map(fields["map"], dimension)
    deriving, found = _read_entries(fields["hypotheses"], dimension, map_)
    return map_, deriving, found


def _read_entries(reader: Reader, dimension: int, map_: Map | None = None) -> tuple[Deriving | None, list[Hypothesis]]:
    """`parameters.hypotheses`; `map_` is what a deriving one must give."""
    by_kind = {system.kind: system for system in systems().values() if system.kind is not None}
    deriving: Deriving | None = None
    found: list[Hypothesis] = []
    for entry in reader.items(0, 8):
        kind = entry.value.get("kind") if isinstance(entry.value, dict) else None
        if kind == "psd":
            found.append(_definite(entry, dimension))
        elif kind == "inequality":
            parts = entry.fields(("kind", "name", "left", "relation", "right"))
            left, right = parts["left"].rational(), parts["right"].rational()
            relation = parts["relation"].word(("<", "<=", "=", "!="))
            found.append(comparison(parts["name"].text(200, least=1), left, relation, right))
        elif isinstance(kind, str) and kind in by_kind:
            if deriving is not None:
                raise entry.error("two hypotheses derive the map", mend="keep one")
            system = by_kind[kind]
            rest = Reader({k: v for k, v in entry.value.items() if k != "kind"}, entry.where, entry.path)
            deriving = Deriving(system, system.read(rest))
            same = system.derive(deriving.data) == map_
            sentence = "number by number" if same else "the map given differs from the one these parameters mean"
            found.append(Hypothesis(f"the map is that of {kind}", holds=same, witness={}, sentence=sentence))
            found.extend(system.hypotheses(deriving.data))
        else:
            entry.fields(("kind",), tuple(entry.value) if isinstance(entry.value, dict) else ())["kind"].word(
                (*by_kind, "psd", "inequality")
            )
    return deriving, found


def _definite(reader: Reader, most: int) -> Hypothesis:
    fields = reader.fields(("kind", "name", "matrix", "strict"))
    matrix: Matrix = fields["matrix"].matrix()
    assert most <= MOST_DIMENSION
    strict = fields["strict"].truth()
    holds = is_positive(matrix) if strict else is_semidefinite(matrix)
    witness: dict[str, Any] = {}
    if not holds and is_symmetric(matrix):
        direction = negative_direction(matrix)
        if direction is not None:
            witness = {"x": [str(x) for x in direction], "value": str(quadratic(matrix, direction))}
    sentence = "by exact elimination"
    return Hypothesis(fields["name"].text(200, least=1), holds=holds, witness=witness, sentence=sentence)


def _read_claim(reader: Reader, dimension: int, deriving: Deriving | None) -> Claim:
    name = reader.fields(("name",), ("point", "h", "g"))["name"].word(CLAIMS)
    match name:
        case "converges-to":
            return Claim(name, point=reader.fields(("name", "point"))["point"].vector(dimension))
        case "stays-below":
            fields = reader.fields(("name", "h", "g"))
            return Claim(name, h=fields["h"].vector(dimension), g=fields["g"].rational())
        case _:
            reader.fields(("name",))
    if name == "limit-points-stationary" and (deriving is None or deriving.system.gradient is None):
        raise reader.error("the map has no gradient", mend="this claim needs the system coordinate-minimisation")
    return Claim(name)
