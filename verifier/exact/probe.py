"""An exact probe: how its table in case.toml is read, what it holds, and whether its problem files can be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from verifier.exact.reading import parse_json
from verifier.exact.refute import HORIZON, parse_problem
from verifier.model.answers import ExactAnswer
from verifier.model.case import Control
from verifier.model.complaints import shown
from verifier.model.probes import FileName, ProbeTable, named_expectation
from verifier.model.tables import Line, Path, Table, TableError, nearest, validate


class ExactControlTable(Table):
    problem: FileName
    expect: str
    why: Line = ""


class ExactTable(ProbeTable):
    """`[[probe]] kind = "exact"`."""

    kind: Literal["exact"]
    problem: FileName
    horizon: Annotated[int, Field(ge=1, le=1_000_000)] = HORIZON
    alleges: Literal["instance", "general"] = "general"
    controls: Annotated[list[ExactControlTable], Field(max_length=100)] = []


@dataclass(frozen=True, slots=True)
class ExactProbe:
    """Exact work on one problem file of the case.

    `horizon` bounds the steps where nothing is proved for all of them. `alleges` says whether the dispute is about
    this very instance, so that a proof that the claim holds here speaks against it, or about the claim in general.
    """

    name: str
    parts: tuple[str, ...]
    about: Literal["claim", "dispute"]
    required: bool
    data: Literal["paper", "released", "synthetic"]
    problem: str
    horizon: int
    alleges: Literal["instance", "general"]
    controls: tuple[Control, ...]

    kind = "exact"
    targets = ()
    """It calls no function of the case."""
    taken = frozenset[str]()
    """No parameter reaches it."""


def parse_exact(data: Mapping[str, Any], *, path: Path) -> ExactProbe:
    """An exact probe from its table. Raises TableError naming the key that is wrong."""
    table = validate(ExactTable, data, path=path)
    return ExactProbe(
        name=table.name,
        parts=tuple(table.part),
        about=table.about,
        required=table.required,
        data=table.data,
        problem=table.problem,
        horizon=table.horizon,
        alleges=table.alleges,
        controls=tuple(
            Control(
                control.problem,
                named_expectation(
                    control.expect, ExactAnswer, path=(*path, "controls", index, "expect"), whose="exact work"
                ),
                control.why,
            )
            for index, control in enumerate(table.controls)
        ),
    )


def check_problems(probe: ExactProbe, files: Mapping[str, bytes], *, path: Path, folder: str) -> None:
    """Reads every problem file that the probe names, among `files` (POSIX path -> bytes).

    Raises TableError for a file that is not there, BadInput for one that holds no problem.
    """
    for key, name in _named(probe):
        if name not in files:
            mend = nearest(name, sorted(other for other in files if other.endswith(".json")), what="file")
            raise TableError(f"the case folder has no file {shown(name)}", path=(*path, *key), mend=mend)
        read_problem_text(files[name], where=f"{folder}/{name}")


def _named(probe: ExactProbe) -> Iterator[tuple[Path, str]]:
    yield ("problem",), probe.problem
    for index, control in enumerate(probe.controls):
        yield ("controls", index, "problem"), control.target


def read_problem_text(text: bytes, *, where: str) -> Any:
    """The problem that the bytes of a file hold. Raises BadInput."""
    return parse_problem(parse_json(text, where=where), where=where)
