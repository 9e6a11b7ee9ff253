"""A sweep probe: how its table in case.toml is read, and what it holds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from verifier.model.case import Control, Expectation
from verifier.model.complaints import listed, shown
from verifier.model.numbers import parse_rational
from verifier.model.probes import ProbeTable, named_expectation
from verifier.model.tables import (
    Line,
    Number,
    Path,
    Table,
    TableError,
    TargetName,
    choose,
    complaint,
    form,
    nearest,
    validate,
)
from verifier.stats.growth_rule import JUDGED_FROM, LEAST_SCALES, GrowthAnswer, GrowthRule
from verifier.stats.law_names import LEAST_SCALE
from verifier.stats.rate_rule import RateRule
from verifier.stats.rules import SWEEP_RULES, ScaleText

Axis = Annotated[
    str, form(r"[A-Za-z_][A-Za-z0-9_]{0,31}", what="an axis", mend="name it as the target's first argument is named")
]
ScaleValue = Annotated[int, Field(ge=1, le=2**53 - 1)]


def one_axis(scale: dict[str, list[int]]) -> dict[str, list[int]]:
    """`scale` itself. Raises ValueError, which becomes the key's error, unless it has one axis."""
    if len(scale) != 1:
        raise complaint(
            f"a sweep has one axis, not {len(scale)}" if scale else "the sweep has no axis",
            mend="write scale = { k = [32, 64, 128, 256, 512] }",
        )
    return scale


def _positive(text: str) -> str:
    if parse_rational(text) <= 0:
        raise complaint(f"{shown(text)} is not above zero", mend="write a number above zero")
    return text


PositiveNumber = Annotated[Number, AfterValidator(_positive)]

MAX_UNITS = 1_000_000
"""Units of one target that a sweep may ask for: a unit is meant to take a millisecond or more."""


class EqualsTable(Table):
    equals: TargetName


class ValuesTable(Table):
    values: TargetName


CHECKS: Mapping[Literal["equals", "values"], type[Table]] = {"equals": EqualsTable, "values": ValuesTable}
"""Named checks of a control -> their table."""


class ControlTable(Table):
    target: TargetName
    expect: Any
    why: Line = ""


class PlannedTable(Table):
    sd: dict[ScaleText, PositiveNumber] = {}
    seconds: dict[ScaleText, PositiveNumber] = {}


class StageTable(Table):
    scale: Annotated[list[ScaleValue], Field(min_length=LEAST_SCALES, max_length=10_000)]
    replicates: Annotated[int, Field(ge=2, le=10**6)]


class SweepTable(ProbeTable):
    """`[[probe]] kind = "sweep"`."""

    kind: Literal["sweep"]
    target: TargetName
    scale: Annotated[
        dict[Axis, Annotated[list[ScaleValue], Field(min_length=1, max_length=10_000)]], AfterValidator(one_axis)
    ]
    rule: dict[str, Any]
    reproduces_claim: bool = False
    baseline: TargetName | None = None
    exact: TargetName | None = None
    planned: PlannedTable = PlannedTable()
    stages: Annotated[list[StageTable], Field(max_length=100)] = []
    registered_scale: dict[Axis, ScaleValue] = {}
    controls: Annotated[list[ControlTable], Field(max_length=100)] = []


@dataclass(frozen=True, slots=True)
class SweepStage:
    """One registered stage: its scales (ascending), each with `replicates` fresh replicates."""

    scales: tuple[int, ...]
    replicates: int


@dataclass(frozen=True, slots=True)
class SweepProbe:
    """A sweep over one scale axis, judged by a registered rule.

    `scales` are the scales of this run (ascending), `registered_scales` those of the case file; `claim_scale` is
    K_claim, the scale at which the claim is tested. `planned_sd` (of one replicate's value) and `planned_seconds`
    (per inner repetition) map scales to what the case states. `stages` are those that the registration lists, () for a
    sweep without; then the rule's looks are the ends of stages.
    """

    name: str
    parts: tuple[str, ...]
    about: Literal["claim", "dispute"]
    required: bool
    reproduces_claim: bool
    data: Literal["paper", "released", "synthetic"]
    target: str
    baseline: str | None
    exact: str | None
    axis: str
    scales: tuple[int, ...]
    registered_scales: tuple[int, ...]
    claim_scale: int
    planned_sd: Mapping[int, float]
    planned_seconds: Mapping[int, float]
    rule: GrowthRule | RateRule
    controls: tuple[Control, ...]
    stages: tuple[SweepStage, ...] = ()

    kind = "sweep"

    def scales_of(self, replicate: int, scales: tuple[int, ...]) -> tuple[int, ...]:
        """The scales at which a replicate (from 0) is drawn: those of its stage, all of `scales` without stages."""
        for end, stage in zip(self.rule.looks, self.stages, strict=False):
            if replicate < end:
                return stage.scales
        return scales

    @property
    def growth(self) -> GrowthRule:
        """The growth rule that judges: the probe's own, or that of ln(t^p y) under a rate."""
        return self.rule if isinstance(self.rule, GrowthRule) else self.rule.growth

    @property
    def replicate(self) -> Mapping[str, int]:
        """What one replicate is made of: keyword of the target -> count."""
        return self.rule.replicate

    @property
    def taken(self) -> frozenset[str]:
        """The names that no parameter may have, since the targets are given them."""
        return frozenset({"stream", self.axis, *self.replicate})

    @property
    def drawing_targets(self) -> frozenset[str]:
        """The targets that draw from a stream: the probe's, its controls' and their partners'."""
        partners = (control.expect.value for control in self.controls if control.expect.kind == "equals")
        return frozenset({self.target, *(control.target for control in self.controls), *partners})

    @property
    def value_targets(self) -> frozenset[str]:
        """The targets that give one exact value for a scale: baseline, exact curve, a control's values."""
        values = (control.expect.value for control in self.controls if control.expect.kind == "values")
        return frozenset(name for name in (self.baseline, self.exact, *values) if name)

    @property
    def targets(self) -> tuple[str, ...]:
        """Every `module:function` that the probe and its controls call, sorted."""
        return tuple(sorted(self.drawing_targets | self.value_targets))


def parse_sweep(data: Mapping[str, Any], *, path: Path) -> SweepProbe:
    """A sweep probe from its table. Raises TableError naming the key that is wrong."""
    table = validate(SweepTable, data, path=path)
    kinds = {kind: kind for kind in (*SWEEP_RULES, "bound")}  # a table with a bound is read by parse_bound
    rule_table = SWEEP_RULES[choose(kinds, table.rule, what="rule", path=(*path, "rule"))]
    rule = validate(rule_table, table.rule, path=(*path, "rule")).to_rule()
    ((axis, scales),) = table.scale.items()
    check_scales(scales, path=(*path, "scale", axis), least=least_scale(rule))
    if isinstance(rule, RateRule) and table.exact is not None:
        raise TableError(
            "the exact curve of y has no place beside ln(t^p y), which a rate is judged by",
            path=(*path, "exact"),
            mend="check it in a control, expect = { values = ... }",
        )
    if set(table.registered_scale) - {axis}:
        wrong = next(iter(set(table.registered_scale) - {axis}))
        mend = nearest(wrong, [axis], what="axis")
        raise TableError(f"unknown axis {shown(wrong)}", path=(*path, "registered_scale", wrong), mend=mend)
    for name in rule.replicate:
        if name in ("stream", axis):
            raise TableError(
                f"{name} is already an argument of the target",
                path=(*path, "rule", "replicate", name),
                mend="give the replicate's keyword another name",
            )
    if rule.maximum * len(scales) > MAX_UNITS:
        raise TableError(
            f"{rule.maximum:,} replicates at {len(scales):,} scales are more than {MAX_UNITS:,} units",
            path=(*path, "rule", "looks"),
            mend="put more inner repetitions into a replicate",
        )
    stages = tuple(SweepStage(tuple(stage.scale), stage.replicates) for stage in table.stages)
    claim_scale = table.registered_scale.get(axis, max(scales))
    _check_stages(stages, rule, axis=axis, scales=scales, claim_scale=claim_scale, path=path)
    return SweepProbe(
        name=table.name,
        parts=tuple(table.part),
        about=table.about,
        required=table.required,
        reproduces_claim=table.reproduces_claim,
        data=table.data,
        target=table.target,
        baseline=table.baseline,
        exact=table.exact,
        axis=axis,
        scales=tuple(scales),
        registered_scales=tuple(scales),
        claim_scale=claim_scale,
        planned_sd={int(scale): float(parse_rational(sd)) for scale, sd in table.planned.sd.items()},
        planned_seconds={int(scale): float(parse_rational(text)) for scale, text in table.planned.seconds.items()},
        rule=rule,
        controls=tuple(
            Control(
                control.target,
                expectation(control.expect, GrowthAnswer, path=(*path, "controls", index, "expect")),
                control.why,
            )
            for index, control in enumerate(table.controls)
        ),
        stages=stages,
    )


def _check_stages(
    stages: Sequence[SweepStage],
    rule: GrowthRule | RateRule,
    *,
    axis: str,
    scales: Sequence[int],
    claim_scale: int,
    path: Path,
) -> None:
    """Raises TableError unless the stages are of a growth rule, make up `scales`, and end at the rule's looks.

    A stage that reaches K_claim is to have as many replicates as a misfit and the rule's minimum_n ask for.
    """
    if not stages:
        return
    at: Path = (*path, "stages")
    if not isinstance(rule, GrowthRule):
        raise TableError("stages belong to the growth rule", path=at, mend="leave them out")
    if len(stages) == 1:
        raise TableError("one stage is no stage", path=at, mend="list two or more, or leave them out")
    for index, stage in enumerate(stages):
        check_scales(list(stage.scales), path=(*at, index, "scale"), least=least_scale(rule))
    if set().union(*(stage.scales for stage in stages)) != set(scales):
        mend = f"write scale = {{ {axis} = [...] }} with every scale of every stage, and no other"
        raise TableError("the stages have other scales than the probe", path=at, mend=mend)
    least = max(JUDGED_FROM, math.ceil(rule.minimum_n / rule.replicate_size))
    for index, stage in enumerate(stages):
        if stage.scales[-1] >= claim_scale and stage.replicates < least:
            raise TableError(
                f"{stage.replicates} replicates are too few for a stage that reaches the registered scale, "
                f"{axis} = {claim_scale}",
                path=(*at, index, "replicates"),
                mend=f"give it at least {least}",
            )
    ends = tuple(itertools.accumulate(stage.replicates for stage in stages))
    if ends != rule.looks:
        mend = f"write looks = {list(ends)}"
        raise TableError("a sweep in stages is looked at where each ends", path=(*path, "rule", "looks"), mend=mend)


def least_scale(rule: GrowthRule | RateRule) -> int:
    """The least scale at which the rule's law has a place: 2, or 3 under ln ln k."""
    return 2 if isinstance(rule, RateRule) else LEAST_SCALE.get(rule.law, 2)


def check_scales(scales: list[int], *, path: Path, least: int = 2) -> None:
    """Raises TableError unless the scales ascend strictly from `least` (ln 1 = 0 has no place on a log grid)."""
    for index, (before, scale) in enumerate(itertools.pairwise(scales), 1):
        if before >= scale:
            raise TableError(f"{scale} follows {before}", path=(*path, index), mend="list each scale once, in order")
    if scales[0] < least:
        what = "a growth sweep" if least == 2 else "a sweep under ln ln k"
        raise TableError(f"{what} has no scale below {least}", path=(*path, 0), mend=f"start at {least} or above")


def expectation(expect: object, answers: Iterable[str], *, path: Path) -> Expectation:
    """What a control must give: an outcome, one of the rule's answers, or a named check. Raises TableError."""
    if isinstance(expect, str):
        return named_expectation(expect, answers, path=path, whose="this rule")
    if not isinstance(expect, Mapping):
        raise TableError(f"{shown(expect)} is neither a word nor a check", path=path, mend=_HOW_TO_EXPECT)
    for key in expect:
        if key not in CHECKS:
            raise TableError(f"unknown check {shown(key)}", path=(*path, key), mend=nearest(key, list(CHECKS)))
    if len(expect) != 1:
        what = f"{listed(list(expect))} stand together" if expect else "no check is named"
        raise TableError(what, path=path, mend=_HOW_TO_EXPECT)
    (kind,) = expect
    validate(CHECKS[kind], expect, path=path)
    return Expectation(kind, expect[kind])


_HOW_TO_EXPECT = (
    'write an outcome or an answer in quotes, { equals = "module:function" } or { values = "module:function" }'
)
