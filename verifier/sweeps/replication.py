"""A replication: how its table in case.toml is read, what it holds, and whether its files of runs can be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from verifier.model.case import Control
from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational
from verifier.model.probes import FileName, ProbeTable, named_expectation
from verifier.model.tables import Line, Path, Table, TableError, TargetName, choose, complaint, nearest, validate
from verifier.stats.bounded_design import CountRule, ProportionRule
from verifier.stats.margin_answers import MarginAnswer
from verifier.stats.margin_design import DifferenceRule, RatioRule
from verifier.stats.rule_fields import Count, Name
from verifier.stats.rules import MARGIN_RULES
from verifier.sweeps.probe import MAX_UNITS, PositiveNumber, expectation

ReplicationRule = DifferenceRule | RatioRule | ProportionRule | CountRule
"""The rules that a replication may register."""


def _number_or_nothing(text: str) -> str:
    if text:
        try:
            parse_rational(text)
        except BadInput as error:
            raise complaint(error.what, mend=error.mend) from None
    return text


class RunsControlTable(Table):
    """A control of a replication: `target` or `file`, as its probe has."""

    target: TargetName | None = None
    file: FileName | None = None
    expect: Any
    why: Line = ""


class PlannedReplicateTable(Table):
    """What is known of one replicate beforehand, for `verifier plan`."""

    sd: PositiveNumber | None = None
    seconds: PositiveNumber | None = None


class ReplicationTable(ProbeTable):
    """`[[probe]] kind = "replication"`."""

    kind: Literal["replication"]
    target: TargetName | None = None
    file: FileName | None = None
    reported: Annotated[str, AfterValidator(_number_or_nothing)] = ""
    rule: dict[str, Any]
    replicate: Annotated[dict[Name, Count], Field(max_length=4)] = {}
    reproduces_claim: bool = False
    planned: PlannedReplicateTable = PlannedReplicateTable()
    controls: Annotated[list[RunsControlTable], Field(max_length=100)] = []


@dataclass(frozen=True, slots=True)
class ReplicationProbe:
    """A number of the paper, measured again or read from a file of runs, judged by a margin rule.

    Of `target` and `file` one is "". `reported` is the paper's number as text, "" where none is given. `replicate` is
    what the target makes one replicate of. `planned_sd` (of one replicate) and `planned_seconds` are what the case
    states, None where it does not.
    """

    name: str
    parts: tuple[str, ...]
    about: Literal["claim", "dispute"]
    required: bool
    reproduces_claim: bool
    data: Literal["paper", "released", "synthetic"]
    target: str
    file: str
    reported: str
    replicate: Mapping[str, int]
    planned_sd: float | None
    planned_seconds: float | None
    rule: ReplicationRule
    controls: tuple[Control, ...]

    kind = "replication"

    @property
    def replicate_size(self) -> int:
        """Inner repetitions in one replicate."""
        return prod(self.replicate.values())

    @property
    def arms(self) -> bool:
        """Whether the rule compares two arms."""
        return isinstance(self.rule, DifferenceRule | RatioRule)

    @property
    def separate(self) -> bool:
        """Whether each arm draws from a stream of its own, so that a target is called once for each."""
        return isinstance(self.rule, DifferenceRule | RatioRule) and self.rule.noise != "paired"

    @property
    def items(self) -> bool:
        """Whether a replicate's values are kept one by one, since they stand for items drawn."""
        return isinstance(self.rule, DifferenceRule) and self.rule.population == "items-drawn"

    @property
    def taken(self) -> frozenset[str]:
        """The names that no parameter may have, since the targets are given them."""
        return frozenset({"stream", "arm", *self.replicate})

    @property
    def drawing_targets(self) -> frozenset[str]:
        """The targets that draw from a stream: the probe's, its controls' and their partners'."""
        if self.file:
            return frozenset()
        partners = (control.expect.value for control in self.controls if control.expect.kind == "equals")
        return frozenset({self.target, *(control.target for control in self.controls), *partners})

    @property
    def value_targets(self) -> frozenset[str]:
        """The targets that give one exact value: a control's."""
        return frozenset(control.expect.value for control in self.controls if control.expect.kind == "values")

    @property
    def targets(self) -> tuple[str, ...]:
        """Every `module:function` that the probe and its controls call, sorted; none for a file."""
        return tuple(sorted(self.drawing_targets | self.value_targets))


def parse_replication(data: Mapping[str, Any], *, path: Path) -> ReplicationProbe:
    """A replication from its table. Raises TableError naming the key that is wrong."""
    table = validate(ReplicationTable, data, path=path)
    if (table.target is None) == (table.file is None):
        what = "neither target nor file is given" if table.target is None else "target and file stand together"
        raise TableError(what, path=path, mend="name the function that runs it, or the file of runs made elsewhere")
    rule_table = choose(MARGIN_RULES, table.rule, what="rule", path=(*path, "rule"))
    rule = validate(rule_table, table.rule, path=(*path, "rule")).to_rule()
    for name in table.replicate:
        if name in ("stream", "arm"):
            raise TableError(
                f"{name} is already an argument of the target",
                path=(*path, "replicate", name),
                mend="give the replicate's keyword another name",
            )
    if table.file is not None:
        for key, given in (("replicate", table.replicate), ("reproduces_claim", table.reproduces_claim)):
            if given:
                raise TableError(
                    f"{key} belongs to a target, and a file of runs is only shown", path=(*path, key), mend="remove it"
                )
    elif rule.maximum > MAX_UNITS // 2:
        raise TableError(
            f"{rule.maximum:,} {rule.unit} are more than {MAX_UNITS // 2:,}",
            path=(*path, "rule", "looks"),
            mend="end earlier, or put more inner repetitions into a replicate",
        )
    return ReplicationProbe(
        name=table.name,
        parts=tuple(table.part),
        about=table.about,
        required=table.required,
        reproduces_claim=table.reproduces_claim,
        data=table.data,
        target=table.target or "",
        file=table.file or "",
        reported=table.reported,
        replicate=dict(table.replicate),
        planned_sd=None if table.planned.sd is None else float(parse_rational(table.planned.sd)),
        planned_seconds=None if table.planned.seconds is None else float(parse_rational(table.planned.seconds)),
        rule=rule,
        controls=tuple(
            _control(control, of_file=table.file is not None, path=(*path, "controls", index))
            for index, control in enumerate(table.controls)
        ),
    )


def _control(table: RunsControlTable, *, of_file: bool, path: Path) -> Control:
    """A control, which has its probe's own input key."""
    own, other = (table.file, "target") if of_file else (table.target, "file")
    if getattr(table, other) is not None or own is None:
        key = "file" if of_file else "target"
        raise TableError(
            f"a control of this probe has a {key}, as the probe has", path=path, mend=f"write {key} = ... and expect"
        )
    if of_file:
        if not isinstance(table.expect, str):
            raise TableError(
                f"{shown(table.expect)} is not a word",
                path=(*path, "expect"),
                mend="write an outcome or an answer; a file of runs has no other check",
            )
        expect = named_expectation(table.expect, MarginAnswer, path=(*path, "expect"), whose="this rule")
        return Control(own, expect, table.why)
    return Control(own, expectation(table.expect, MarginAnswer, path=(*path, "expect")), table.why)


def check_runs(probe: ReplicationProbe, files: Mapping[str, bytes], *, path: Path, folder: str) -> None:
    """Reads every file of runs that the probe names, among `files` (POSIX path -> bytes).

    Raises TableError for a file that is not there, BadInput for one that the rule cannot be applied to.
    """
    for key, name in _named(probe):
        if name not in files:
            mend = nearest(name, sorted(other for other in files if other.endswith(".csv")), what="file")
            raise TableError(f"the case folder has no file {shown(name)}", path=(*path, *key), mend=mend)
        from verifier.stats.run_arms import read_arm_runs  # noqa: PLC0415  # numpy, for cases that have such files

        read_arm_runs(probe.rule, files[name], name=f"{folder}/{name}")


def _named(probe: ReplicationProbe) -> Iterator[tuple[Path, str]]:
    if probe.file:
        yield ("file",), probe.file
        for index, control in enumerate(probe.controls):
            yield ("controls", index, "file"), control.target
