"""case.toml -> Case: validated at the door, with file, line and key in every error."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from verifier.casefile.case import Case, Probe
from verifier.casefile.folder import read_case_file, read_folder
from verifier.casefile.lines import key_lines, line_of
from verifier.casefile.schema import CaseFileTable, ParameterTable
from verifier.model.canonical import canonical_bytes
from verifier.model.case import (
    Claim,
    Dispute,
    Implementation,
    LaterVersion,
    Paper,
    Parameter,
    Part,
    Premise,
    Prior,
    Value,
)
from verifier.model.errors import BadInput, VerifierError
from verifier.model.numbers import parse_rational
from verifier.model.tables import Path as KeyPath
from verifier.model.tables import TableError, choose, nearest, path_text, validate
from verifier.sweeps.probe import parse_sweep

ProbeParser = Callable[..., Probe]
PROBES: Mapping[str, ProbeParser] = {"sweep": parse_sweep}
"""Probe kind -> how its package reads its table."""


def load(folder: str | Path) -> Case:
    """The case in `folder`. Raises BadInput with file, line and key where anything is not as it must be."""
    folder = Path(folder)
    if folder.name == "case.toml":
        folder = folder.parent
    text = read_case_file(folder)
    where = str(folder / "case.toml")
    try:
        table = tomllib.loads(text)
        canonical_bytes(table)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"is not valid TOML: {error}", where=where, mend="mend the syntax there") from error
    except RecursionError as error:
        raise BadInput("is nested too deeply", where=where, mend="a case file nests a few levels") from error
    except VerifierError as error:
        raise _located(_first_unhashable(table) or TableError(error.what, path=()), text, where) from error
    try:
        return _case(table, folder=folder, files=read_folder(folder))
    except TableError as error:
        raise _located(error, text, where) from error


def _located(error: TableError, text: str, where: str) -> BadInput:
    line = line_of(key_lines(text), error.path) if error.path else None
    place = f"{where}, line {line}" if line else where
    key = f", {path_text(error.path)}" if error.path else ""
    return BadInput(error.what, where=place + key, mend=error.mend)


def _first_unhashable(value: Any, path: KeyPath = ()) -> TableError | None:
    """The first value that cannot be hashed: a float, a date, an integer beyond 2^53 − 1."""
    if isinstance(value, dict):
        found = (_first_unhashable(item, (*path, key)) for key, item in value.items())
    elif isinstance(value, list):
        found = (_first_unhashable(item, (*path, index)) for index, item in enumerate(value))
    elif isinstance(value, str | bool) or (isinstance(value, int) and abs(value) < 2**53):
        return None
    else:
        return TableError(f"{value} cannot be hashed exactly", path=path, mend=f'put it in quotes: "{value}"')
    return next((error for error in found if error), None)


def _case(table: Mapping[str, Any], *, folder: Path, files: Mapping[str, bytes]) -> Case:
    parsed = validate(CaseFileTable, table)
    if not (parsed.paper.openreview or parsed.paper.arxiv):
        raise TableError(
            "the paper has no identity", path=("paper",), mend="give openreview, or arxiv with its version"
        )
    if parsed.dispute.comparison:
        raise TableError(
            "comparisons cannot be audited by this version", path=("dispute", "comparison"), mend='leave it "" for now'
        )
    claim = Claim(
        quote=parsed.claim.quote,
        text=parsed.claim.text,
        locator=parsed.claim.locator,
        kind=parsed.claim.kind,
        parts=tuple(Part(part.id, part.text) for part in parsed.claim.parts),
    )
    ids = [part.id for part in claim.parts]
    _all_different(ids, path=("claim", "parts"), what="part")
    disputed = [parsed.dispute.part] if isinstance(parsed.dispute.part, str) else parsed.dispute.part
    _all_known(disputed, ids, path=("dispute", "part"))
    parameters = tuple(_parameter(name, entry) for name, entry in parsed.parameters.items())
    probes = tuple(_probe(entry, index, ids) for index, entry in enumerate(parsed.probe))
    _all_different([probe.name for probe in probes], path=("probe",), what="probe")
    untested = [part for part in disputed if not any(part in probe.parts for probe in probes)]
    if untested:
        raise TableError(f"no probe tests the disputed part {untested[0]}", path=("probe",), mend="add one")
    source = parsed.dispute.source
    return Case(
        folder=folder,
        written_by=parsed.case.written_by,
        paper=Paper(
            openreview=parsed.paper.openreview,
            arxiv=parsed.paper.arxiv,
            title=parsed.paper.title,
            source_sha256=parsed.paper.source_sha256,
            later_versions=tuple(LaterVersion(v.arxiv, v.claim) for v in parsed.paper.later_versions),
        ),
        claim=claim,
        dispute=Dispute(
            parts=tuple(disputed),
            text=parsed.dispute.text,
            source={key: value for key, value in source.model_dump().items() if value},
            reported_by=parsed.dispute.reported_by,
            alleged=parsed.dispute.alleged,
            comparison=parsed.dispute.comparison,
        ),
        premises=tuple(Premise(premise.text, premise.checked, premise.source) for premise in parsed.premise),
        implementations=tuple(Implementation(entry.target, tuple(entry.saw)) for entry in parsed.implementation),
        parameters=parameters,
        probes=probes,
        priors=tuple(Prior(prior.url, prior.text) for prior in parsed.prior),
        settings={parameter.name: parameter.default for parameter in parameters},
        overrides={},
        table=table,
        files=files,
    )


def _probe(data: Mapping[str, Any], index: int, part_ids: list[str]) -> Probe:
    path: KeyPath = ("probe", index)
    probe = choose(PROBES, data, what="probe", path=path)(data, path=path)
    _all_known(list(probe.parts), part_ids, path=(*path, "part"))
    return probe


def _parameter(name: str, entry: ParameterTable) -> Parameter:
    path: KeyPath = ("parameters", name)
    if (entry.type == "choice") != bool(entry.of):
        raise TableError(
            "`of` lists the words of a choice, and of nothing else",
            path=path,
            mend='give type = "choice" its of = [...]',
        )
    parameter = Parameter(name, entry.type, entry.default, tuple(entry.of))
    return Parameter(
        name, entry.type, parameter_value(parameter, entry.default, path=(*path, "default")), tuple(entry.of)
    )


def parameter_value(parameter: Parameter, value: int | str | Value, *, path: KeyPath) -> Value:
    """`value` as the parameter's type. Raises TableError where it is not of that type or not among its words."""
    match parameter.type:
        case "integer" if isinstance(value, int):
            return value
        case "rational" if isinstance(value, str):
            try:
                return parse_rational(value)
            except BadInput as error:
                raise TableError(error.what, path=path, mend=error.mend) from error
        case "choice" if isinstance(value, str):
            if value in parameter.choices:
                return value
            raise TableError(
                f"{value!r} is not a choice of {parameter.name}",
                path=path,
                mend=nearest(value, list(parameter.choices)),
            )
        case _:
            kind = {"integer": "an integer", "rational": 'a rational in quotes, like "1/2"', "choice": "a word"}[
                parameter.type
            ]
            raise TableError(f"{value!r} is not {kind}", path=path)


def _all_known(names: list[str], known: list[str], *, path: KeyPath) -> None:
    if not names:
        raise TableError("no part is named", path=path, mend=f"name one of {', '.join(known)}")
    for name in names:
        if name not in known:
            raise TableError(f"the claim has no part {name!r}", path=path, mend=nearest(name, known))
    _all_different(names, path=path, what="part")


def _all_different(names: list[str], *, path: KeyPath, what: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"{what} {name!r} stands twice", path=path, mend="give each its own name")
