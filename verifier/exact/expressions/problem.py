"""The expressions problem: variables, formulas and one assignment, read and bounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from verifier.exact.expressions.evaluate import Assignment, Value
from verifier.exact.expressions.nodes import Formula
from verifier.exact.expressions.parser import Shape, parse_formula
from verifier.exact.expressions.tokens import MOST_CHARACTERS, RESERVED, tokenize
from verifier.exact.reading import Reader
from verifier.model.complaints import listed, nearest, shown

SYSTEM = "expressions"
CLAIM = "conclusion"
MOST_VARIABLES = 32
MOST_HYPOTHESES = 32
MOST_VECTOR = 256
MOST_SIDE = 32

_TOP = ("schema", "system", "parameters", "state", "claim")
_TEXTS = ("paper", "locator", "quote", "symbols")


@dataclass(frozen=True, slots=True)
class Stated:
    """A formula as its author wrote it, and read."""

    text: str
    formula: Formula


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim: under the hypotheses, the conclusion, for variables of the shapes given."""

    variables: dict[str, Shape]
    hypotheses: tuple[Stated, ...]
    conclusion: Stated

    @property
    def formulas(self) -> tuple[Stated, ...]:
        """The hypotheses, then the conclusion."""
        return (*self.hypotheses, self.conclusion)

    @property
    def real(self) -> bool:
        """Whether sqrt, exp or log occurs."""
        return any(stated.formula.real for stated in self.formulas)


@dataclass(frozen=True, slots=True)
class ExpressionProblem:
    """A statement at one assignment. `document` is the problem as it stands in its file."""

    statement: Statement
    assignment: Assignment
    document: dict[str, Any]


def read_expression_problem(reader: Reader) -> ExpressionProblem:
    """The problem of a document whose `system` is expressions. Raises BadInput with the place and how to mend."""
    statement = read_expression_parameters(reader)
    state = reader.child("state")
    assignment = state.fields(("assignment",))["assignment"]
    return ExpressionProblem(statement, _assignment(assignment, statement.variables), reader.value)


def read_expression_parameters(reader: Reader) -> Statement:
    """The statement of such a document, whatever its `state` holds: an assignment, or one that is to be found."""
    fields = reader.fields(_TOP, _TEXTS)
    fields["system"].word((SYSTEM,))
    fields["claim"].word((CLAIM,))
    parts = fields["parameters"].fields(("variables", "hypotheses", "conclusion"))
    variables = _variables(parts["variables"])
    hypotheses = tuple(_stated(entry, variables) for entry in parts["hypotheses"].items(0, MOST_HYPOTHESES))
    return Statement(variables, hypotheses, _stated(parts["conclusion"], variables))


def _stated(reader: Reader, variables: dict[str, Shape]) -> Stated:
    text = reader.text(MOST_CHARACTERS)
    return Stated(text, parse_formula(text, variables, where=reader.error("").where))


def _variables(reader: Reader) -> dict[str, Shape]:
    if not isinstance(reader.value, dict) or not 1 <= len(reader.value) <= MOST_VARIABLES:
        mend = 'write {"x": "rational", "v": {"vector": 3}, "A": {"matrix": [2, 2]}}'
        raise reader.error(f"variables is not an object of 1 to {MOST_VARIABLES} entries", mend=mend)
    return {_name(reader, name): _shape(reader.child(name)) for name in reader.value}


def _name(reader: Reader, name: str) -> str:
    where = reader.error("").where
    tokens = tokenize(name, where=where)
    if len(tokens) != 2 or tokens[0].kind != "name" or tokens[0].text != name:
        raise reader.error(f"{shown(name)} is not a name", mend="write a letter, then letters, digits and _")
    if name in RESERVED:
        raise reader.error(f"{name} is a reserved word", mend="give the variable another name")
    return name


def _shape(reader: Reader) -> Shape:
    if reader.value == "rational":
        return Shape(())
    mend = 'write "rational", {"vector": n} or {"matrix": [rows, columns]}'
    if not isinstance(reader.value, dict) or len(reader.value) != 1:
        raise reader.error(f"{shown(reader.value)} is not a shape", mend=mend)
    fields = reader.fields((), ("vector", "matrix"))
    if "vector" in fields:
        return Shape((fields["vector"].counter(1, MOST_VECTOR),))
    rows, columns = fields["matrix"].items(2, 2)
    return Shape((rows.counter(1, MOST_SIDE), columns.counter(1, MOST_SIDE)))


def _assignment(reader: Reader, variables: dict[str, Shape]) -> Assignment:
    given = reader.value
    if not isinstance(given, dict):
        raise reader.error(f"{shown(given)} is not an object", mend="give every variable its value")
    for name in given:
        if name not in variables:
            mend = nearest(name, list(variables), what="variable")
            raise reader.error(f"{shown(name)} is not one of the variables", mend=mend)
    for name in variables:
        if name not in given:
            raise reader.error(f"the variable {name} has no value", mend=f"give {listed(list(variables))} a value each")
    return {name: _value(reader.child(name), shape) for name, shape in variables.items()}


def _value(reader: Reader, shape: Shape) -> Value:
    match shape.sizes:
        case ():
            return reader.rational()
        case (n,):
            return reader.vector(n, most=MOST_VECTOR)
        case _:
            rows, columns = shape.sizes
            lines = reader.items(1, MOST_SIDE)
            if len(lines) != rows:
                raise reader.error(f"the matrix has {len(lines)} rows", mend=f"give {rows}")
            return tuple(line.vector(columns, most=MOST_SIDE) for line in lines)
