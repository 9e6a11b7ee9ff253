"""An audit probe: how its table in case.toml is read, and what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field

from verifier.audits.file import read_audit_text
from verifier.audits.function import check_question
from verifier.model.answers import About, AuditAnswer
from verifier.model.case import Control
from verifier.model.complaints import shown
from verifier.model.numbers import parse_rational
from verifier.model.probes import FileName, ProbeTable, named_expectation
from verifier.model.questions import Question
from verifier.model.tables import Line, Number, Path, Table, TableError, TargetName, nearest, validate

COMPARISON = "comparison"
"""The name of the audit of the two numbers that a dispute compares."""


class AuditControlTable(Table):
    """A control of an audit: `target` or `file`, as its probe has."""

    target: TargetName | None = None
    file: FileName | None = None
    expect: str
    why: Line = ""


class AuditTable(ProbeTable):
    """`[[probe]] kind = "audit"`."""

    kind: Literal["audit"]
    file: FileName | None = None
    target: TargetName | None = None
    catalogue: Line = ""
    stated: Line = ""
    inputs: Literal["probabilities", "log-probabilities"] = "probabilities"
    returns: Literal["perplexity", "loss"] = "perplexity"
    letters: Annotated[list[Line], Field(max_length=2)] = []
    alleges: Literal["mismatch", "size"] = "mismatch"
    threshold: Number = "0"
    produced_by: Literal["released", "private", "unknown"] = "unknown"
    controls: Annotated[list[AuditControlTable], Field(max_length=100)] = []


@dataclass(frozen=True, slots=True)
class AuditProbe:
    """The audit of an audit file, or of a function of the case.

    Of `file` and `target` one is "". `question` is what a function is asked, None for a file. `alleges` says whether
    the dispute is that the bases differ, or about a size. `threshold` is the least change that is material.
    `produced_by` says which code made the reported result. `comparison`: it audits the two numbers that the dispute
    itself compares.
    """

    name: str
    parts: tuple[str, ...]
    about: About
    required: bool
    data: Literal["paper", "released", "synthetic"]
    file: str
    target: str
    question: Question | None
    alleges: Literal["mismatch", "size"]
    threshold: Fraction
    produced_by: Literal["released", "private", "unknown"]
    controls: tuple[Control, ...]
    comparison: bool = False

    kind = "audit"
    taken = frozenset[str]()
    """An audit gives a function its own arguments by position."""

    @property
    def subject(self) -> str:
        """The file or the function that is audited."""
        return self.file or self.target

    @property
    def targets(self) -> tuple[str, ...]:
        """Every `module:function` that the probe and its controls call, sorted; none for a file."""
        return () if self.file else tuple(sorted({self.target, *(control.target for control in self.controls)}))


def comparison_probe(file: str, parts: tuple[str, ...]) -> AuditProbe:
    """The audit of the two numbers that a dispute over `parts` compares: audited before anything is measured."""
    return AuditProbe(
        name=COMPARISON,
        parts=parts,
        about="dispute",
        required=True,
        data="paper",
        file=file,
        target="",
        question=None,
        alleges="size",
        threshold=Fraction(0),
        produced_by="unknown",
        controls=(),
        comparison=True,
    )


def is_comparison(probe: object) -> bool:
    """Whether `probe` audits the two numbers that the dispute compares."""
    return isinstance(probe, AuditProbe) and probe.comparison


def check_audit_files(probe: AuditProbe, files: Mapping[str, bytes], *, path: Path, folder: str) -> None:
    """Reads every audit file that the probe names, among `files` (POSIX path -> bytes).

    Raises TableError for a file that is not there, BadInput for one that is no audit file.
    """
    if probe.target:
        return
    keys: list[Path] = [("dispute", "comparison")] if probe.comparison else [(*path, "file")]
    keys += [(*path, "controls", index, "file") for index in range(len(probe.controls))]
    for key, name in zip(keys, [probe.file, *(control.target for control in probe.controls)], strict=True):
        if name not in files:
            mend = nearest(name, sorted(other for other in files if other.endswith(".toml")), what="file")
            raise TableError(f"the case folder has no file {shown(name)}", path=key, mend=mend)
        read_audit_text(files[name], where=f"{folder}/{name}")


def parse_audit(data: Mapping[str, Any], *, path: Path) -> AuditProbe:
    """An audit probe from its table. Raises TableError naming the key that is wrong."""
    table = validate(AuditTable, data, path=path)
    if (table.target is None) == (table.file is None):
        what = "neither file nor target is given" if table.file is None else "file and target stand together"
        raise TableError(what, path=path, mend="name the audit file, or the function and its catalogue")
    for key in ("catalogue", "stated", "inputs", "returns", "letters"):
        if table.file and key in table.model_fields_set:
            raise TableError(f"{key} is for the audit of a function", path=(*path, key), mend="remove it")
    return AuditProbe(
        name=table.name,
        parts=tuple(table.part),
        about=table.about,
        required=table.required,
        data=table.data,
        file=table.file or "",
        target=table.target or "",
        question=None if table.file else _question(table, path=path),
        alleges=table.alleges,
        threshold=parse_rational(table.threshold),
        produced_by=table.produced_by,
        controls=tuple(
            _control(control, table, path=(*path, "controls", index)) for index, control in enumerate(table.controls)
        ),
    )


def _question(table: AuditTable, *, path: Path) -> Question:
    if table.letters and len(table.letters) != 2:
        raise TableError("letters are two names", path=(*path, "letters"), mend='write letters = ["T", "S"]')
    question = Question(
        catalogue=table.catalogue,
        stated=table.stated,
        inputs=table.inputs,
        returns=table.returns,
        letters=tuple(table.letters),
        threshold=parse_rational(table.threshold),
    )
    check_question(question, path=path)
    return question


def _control(control: AuditControlTable, table: AuditTable, *, path: Path) -> Control:
    key = "file" if table.file else "target"
    given = control.file if table.file else control.target
    if given is None or (control.file is not None and control.target is not None):
        raise TableError(f"a control of this probe has {key}, as the probe has", path=path, mend=f'write {key} = "…"')
    expect = named_expectation(control.expect, AuditAnswer, path=(*path, "expect"), whose="an audit")
    return Control(given, expect, control.why)
