"""The tables of case.toml that do not depend on the kind of probe."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from verifier.model.probes import FileName
from verifier.model.tables import Line, Name, Number, OneOrMore, Sha256, Table, TargetName, form

_ARXIV = r"(\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?/\d{7})v\d{1,3}"
_AN_ARXIV_ID = {"what": "an arXiv id with its version", "mend": 'write one like "2606.01342v1"'}
ArxivId = Annotated[str, form(_ARXIV, **_AN_ARXIV_ID)]
NoOrArxivId = Annotated[str, form(f"({_ARXIV})?", **_AN_ARXIV_ID)]
OpenReviewId = Annotated[
    str,
    form(
        r"([A-Za-z0-9_-]{10}|\d{1,12})?",
        what="an OpenReview id",
        mend='write the ten characters after id= in the address, like "ESa07RwpVr", or a numeric event id',
    ),
]
NoOrDoi = Annotated[
    str,
    form(
        r"(10\.\d{4,9}/[A-Za-z0-9._;()/:-]{1,200})?",
        what="a DOI",
        mend='write it without an address, like "10.1007/BF01584660"',
    ),
]
ParameterName = Annotated[
    str,
    form(r"[a-z_][a-z0-9_]{0,63}", what="a parameter's name", mend="write small letters, digits and _, as in the code"),
]


class CaseTable(Table):
    written_by: Line


class LaterVersionTable(Table):
    arxiv: ArxivId
    claim: Literal["unchanged", "changed", "withdrawn", "not-read"]


class PaperTable(Table):
    title: Line
    openreview: OpenReviewId = ""
    arxiv: NoOrArxivId = ""
    doi: NoOrDoi = ""
    source_sha256: Sha256 = ""
    later_versions: list[LaterVersionTable] = []


class PartTable(Table):
    id: Name
    text: Line


class ClaimTable(Table):
    text: Annotated[Line, StringConstraints(min_length=1)]
    parts: Annotated[list[PartTable], Field(min_length=1, max_length=100)]
    kind: Literal["theorem", "number", "comparison", "method", "artifact", "priority"]
    locator: Line = ""
    quote: Line = ""


class SourceTable(Table):
    kind: Name
    space: Line = ""
    revision: Line = ""
    page: Line = ""
    url: Line = ""


class DisputeTable(Table):
    part: Annotated[list[Name], OneOrMore]
    text: Line
    source: SourceTable
    reported_by: Line = ""
    alleged: dict[Name, Number] = {}
    comparison: FileName | Literal[""] = ""


class PremiseTable(Table):
    text: Line
    checked: Literal["by-us", "by-author", "no"]
    source: Line = ""


class ImplementationTable(Table):
    target: TargetName
    saw: list[Literal["paper", "release", "logbook"]]


class ParameterTable(Table):
    type: Literal["integer", "rational", "choice"]
    default: Any
    of: list[Name] = []


class PriorTable(Table):
    url: Line
    text: Line


class CaseFileTable(Table):
    """case.toml as a whole; probes are validated by the package of their kind."""

    case: CaseTable
    paper: PaperTable
    claim: ClaimTable
    dispute: DisputeTable
    probe: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=100)]
    premise: list[PremiseTable] = []
    implementation: list[ImplementationTable] = []
    parameters: dict[ParameterName, ParameterTable] = {}
    prior: list[PriorTable] = []
