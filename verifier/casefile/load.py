"""case.toml -> Case: validated at the door, with file, line and key in every error."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from verifier.audits.probe import AuditProbe, check_audit_files, comparison_probe, parse_audit
from verifier.casefile.case import Case, Probe
from verifier.casefile.folder import read_case_file, read_folder
from verifier.casefile.schema import CaseFileTable, ParameterTable
from verifier.exact.probe import ExactProbe, check_problems, parse_exact
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
from verifier.model.complaints import listed, shown
from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational
from verifier.model.tables import Path as KeyPath
from verifier.model.tables import TableError, choose, nearest, validate
from verifier.model.toml import check_values, located, parse_toml
from verifier.sweeps.bound import is_bound, parse_bound
from verifier.sweeps.probe import parse_sweep
from verifier.sweeps.replication import ReplicationProbe, check_runs, parse_replication

ProbeParser = Callable[..., Probe]


def _sweep(data: Mapping[str, Any], *, path: KeyPath) -> Probe:
    """A sweep by its rule: over scales, or over instances."""
    return parse_bound(data, path=path) if is_bound(data) else parse_sweep(data, path=path)


PROBES: Mapping[str, ProbeParser] = {
    "sweep": _sweep,
    "exact": parse_exact,
    "audit": parse_audit,
    "replication": parse_replication,
}
"""Probe kind -> how its package reads its table."""


def load(folder: str | Path) -> Case:
    """The case in `folder`. Raises BadInput with file, line and key where anything is not as it must be."""
    folder = Path(folder)
    if folder.name == "case.toml":
        folder = folder.parent
    where = str(folder / "case.toml")
    text = read_case_file(folder)
    table = parse_toml(text, where=where)
    try:
        check_values(table)
        return _case(table, folder=folder, files=read_folder(folder))
    except TableError as error:
        raise located(error, text, where=where) from error


def _case(table: Mapping[str, Any], *, folder: Path, files: Mapping[str, bytes]) -> Case:
    parsed = validate(CaseFileTable, table)
    if not (parsed.paper.openreview or parsed.paper.arxiv or parsed.paper.doi):
        raise TableError(
            "the paper has no identity",
            path=("paper",),
            mend="give openreview, or arxiv with its version; doi where it has neither",
        )
    claim = Claim(
        quote=parsed.claim.quote,
        text=parsed.claim.text,
        locator=parsed.claim.locator,
        kind=parsed.claim.kind,
        parts=tuple(Part(part.id, part.text) for part in parsed.claim.parts),
    )
    ids = [part.id for part in claim.parts]
    _all_different(ids, path=("claim", "parts"), key="id", what="part")
    disputed = parsed.dispute.part
    _all_known(disputed, ids, path=("dispute", "part"))
    parameters = tuple(_parameter(name, entry) for name, entry in parsed.parameters.items())
    probes = tuple(_probe(entry, index, ids) for index, entry in enumerate(parsed.probe))
    _all_different([probe.name for probe in probes], path=("probe",), key="name", what="probe")
    for index, probe in enumerate(probes):
        _check_probe(probe, files, index=index, folder=str(folder), parameters=parsed.parameters)
    for part in disputed:
        if not any(part in probe.parts for probe in probes):
            raise TableError(
                f"no probe tests the disputed part {part}",
                path=("dispute", "part"),
                mend=f'add a [[probe]] with part = "{part}", or take it out of dispute.part',
            )
    if parsed.dispute.comparison:
        probes = (_compared(parsed.dispute.comparison, disputed, probes, files, folder=str(folder)), *probes)
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
            doi=parsed.paper.doi,
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


def _check_probe(
    probe: Probe, files: Mapping[str, bytes], *, index: int, folder: str, parameters: Mapping[str, ParameterTable]
) -> None:
    """Reads the files that a probe names, and sees that no parameter takes a name that its targets are given."""
    path: KeyPath = ("probe", index)
    match probe:
        case ExactProbe():
            check_problems(probe, files, path=path, folder=folder)
        case AuditProbe():
            check_audit_files(probe, files, path=path, folder=folder)
        case ReplicationProbe():
            check_runs(probe, files, path=path, folder=folder)
    for taken in probe.taken & set(parameters):
        raise TableError(
            f"{taken} is already an argument that the probe {probe.name} gives its targets",
            path=("parameters", taken),
            mend="give the parameter another name",
        )


def _compared(
    file: str, parts: list[str], probes: tuple[Probe, ...], files: Mapping[str, bytes], *, folder: str
) -> AuditProbe:
    """The audit of the two numbers that the dispute compares."""
    compared = comparison_probe(file, tuple(parts))
    check_audit_files(compared, files, path=("dispute",), folder=folder)
    for index, probe in enumerate(probes):
        if probe.name == compared.name:
            what = f"{compared.name} names the audit of the dispute's own numbers"
            raise TableError(what, path=("probe", index, "name"), mend="give the probe another name")
    return compared


def _probe(data: Mapping[str, Any], index: int, part_ids: list[str]) -> Probe:
    path: KeyPath = ("probe", index)
    probe = choose(PROBES, data, what="probe", path=path)(data, path=path)
    _all_known(list(probe.parts), part_ids, path=(*path, "part"))
    return probe


def _parameter(name: str, entry: ParameterTable) -> Parameter:
    path: KeyPath = ("parameters", name)
    if entry.type == "choice" and not entry.of:
        raise TableError("a choice has no words to choose from", path=path, mend='add of = ["one", "another"]')
    if entry.type != "choice" and entry.of:
        raise TableError(
            f"of belongs to a choice, and {name} is of type {entry.type}", path=(*path, "of"), mend="remove it"
        )
    _all_different(entry.of, path=(*path, "of"), what="choice")
    unread = Parameter(name, entry.type, "", tuple(entry.of))
    return dataclasses.replace(unread, default=parameter_value(unread, entry.default, path=(*path, "default")))


def parameter_value(parameter: Parameter, value: object, *, path: KeyPath) -> Value:
    """`value` as the parameter's type. Raises TableError where it is not of that type or not among its words."""
    match parameter.type:
        case "integer" if isinstance(value, int) and not isinstance(value, bool):
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
                f"{shown(value)} is not a choice of {parameter.name}",
                path=path,
                mend=nearest(value, list(parameter.choices)),
            )
        case "integer":
            raise TableError(f"{shown(value)} is not a whole number", path=path, mend="write digits without quotes")
        case "rational":
            raise TableError(f"{shown(value)} is not a number in quotes", path=path, mend='write one like "1/2"')
        case "choice":
            mend = f"write {listed(parameter.choices, last='or')}"
            raise TableError(f"{shown(value)} is not a word", path=path, mend=mend)


def _all_known(names: list[str], known: list[str], *, path: KeyPath) -> None:
    if not names:
        raise TableError("no part is named", path=path, mend=f"name {listed(known, last='or')}")
    for name in names:
        if name not in known:
            raise TableError(f"the claim has no part {shown(name)}", path=path, mend=nearest(name, known, what="part"))
    _all_different(names, path=path, what="part")


def _all_different(names: list[str], *, path: KeyPath, what: str, key: str = "") -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            place: KeyPath = (*path, index, key) if key else path
            raise TableError(f"the {what} {shown(name)} stands twice", path=place, mend="give each its own name")
