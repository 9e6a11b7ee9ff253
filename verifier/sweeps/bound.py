"""A sweep over instances under a bound: how its table in case.toml is read, and what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from verifier.model.case import Control
from verifier.model.complaints import shown
from verifier.model.probes import ProbeTable
from verifier.model.tables import Path, TableError, TargetName, nearest, validate
from verifier.stats.bound_rule import BoundAnswer, BoundRule
from verifier.stats.bound_table import BoundTable
from verifier.stats.rule_fields import Count, Name
from verifier.sweeps.probe import (
    MAX_UNITS,
    Axis,
    ControlTable,
    ScaleValue,
    check_scales,
    expectation,
    one_axis,
)

INSTANCE = "instance"
"""The keyword by which targets are told the instance: its number, from 1."""

MOST_SEARCHED = 10_000
"""Instances, over all scales: each is a point of the evidence."""


class BoundSweepTable(ProbeTable):
    """`[[probe]] kind = "sweep"` with `rule = { kind = "bound", … }`."""

    kind: Literal["sweep"]
    target: TargetName
    bound: TargetName
    scale: Annotated[
        dict[Axis, Annotated[list[ScaleValue], Field(min_length=1, max_length=10_000)]], AfterValidator(one_axis)
    ]
    rule: dict[str, Any]
    replicate: Annotated[dict[Name, Count], Field(max_length=4)] = {}
    reproduces_claim: bool = False
    registered_scale: dict[Axis, ScaleValue] = {}
    controls: Annotated[list[ControlTable], Field(max_length=100)] = []


@dataclass(frozen=True, slots=True)
class BoundProbe:
    """Costs of instances against a bound g at every scale, judged by the bound rule.

    `rule` is as registered, for the instances of one scale; `searched(scales)` is it for those of all. `bound` is the
    target that gives g. `scales` are those of this run (ascending), `registered_scales` those of the case file.
    """

    name: str
    parts: tuple[str, ...]
    about: Literal["claim", "dispute"]
    required: bool
    reproduces_claim: bool
    data: Literal["paper", "released", "synthetic"]
    target: str
    bound: str
    axis: str
    scales: tuple[int, ...]
    registered_scales: tuple[int, ...]
    claim_scale: int
    replicate: Mapping[str, int]
    rule: BoundRule
    controls: tuple[Control, ...]

    kind = "sweep"

    @property
    def replicate_size(self) -> int:
        """Inner repetitions in one replicate."""
        return prod(self.replicate.values())

    @property
    def maximum(self) -> int:
        """The most replicates of an instance; one where the cost is without chance."""
        return self.rule.looks[-1] if self.rule.looks else 1

    def label(self, scale: int, instance: int) -> str:
        """What an instance of one scale is called: a number, since a member's own name is a stranger's word."""
        return f"{self.axis} = {scale}, instance {instance}"

    def searched(self, scales: tuple[int, ...]) -> BoundRule:
        """The rule over the instances of all `scales`: each scale has an equal share of the weight.

        An instance that the dispute alleges is alleged at every scale.
        """
        count = len(self.rule.instances)
        alleged = self.rule.instances.index(self.rule.alleged) + 1 if self.rule.alleged else 0
        return replace(
            self.rule,
            instances=tuple(self.label(scale, i) for scale in scales for i in range(1, count + 1)),
            weights=tuple(weight * Fraction(1, len(scales)) for _ in scales for weight in self.rule.weights),
            alleged=self.label(scales[-1], alleged) if alleged else "",
        )

    @property
    def taken(self) -> frozenset[str]:
        """The names that no parameter may have, since the targets are given them."""
        return frozenset({"stream", INSTANCE, self.axis, *self.replicate})

    @property
    def drawing_targets(self) -> frozenset[str]:
        """The targets that draw from a stream: the probe's, its controls' and their partners'."""
        partners = (control.expect.value for control in self.controls if control.expect.kind == "equals")
        return frozenset({self.target, *(control.target for control in self.controls), *partners})

    @property
    def value_targets(self) -> frozenset[str]:
        """The targets that give an exact value: g, and a control's values."""
        values = (control.expect.value for control in self.controls if control.expect.kind == "values")
        return frozenset({self.bound, *values})

    @property
    def targets(self) -> tuple[str, ...]:
        """Every `module:function` that the probe and its controls call, sorted."""
        return tuple(sorted(self.drawing_targets | self.value_targets))


def is_bound(data: Mapping[str, Any]) -> bool:
    """Whether a sweep's table, not yet validated, names the bound rule."""
    rule = data.get("rule")
    return isinstance(rule, Mapping) and rule.get("kind") == "bound"


def parse_bound(data: Mapping[str, Any], *, path: Path) -> BoundProbe:
    """A sweep under a bound from its table. Raises TableError naming the key that is wrong."""
    table = validate(BoundSweepTable, data, path=path)
    rule = validate(BoundTable, table.rule, path=(*path, "rule")).to_rule()
    ((axis, scales),) = table.scale.items()
    check_scales(scales, path=(*path, "scale", axis), least=1)
    taken = {"stream", INSTANCE}
    if axis in taken:
        mend = "give the axis another name"
        raise TableError(f"{axis} is already an argument of the target", path=(*path, "scale", axis), mend=mend)
    for name in table.replicate:
        if name in {*taken, axis}:
            raise TableError(
                f"{name} is already an argument of the target",
                path=(*path, "replicate", name),
                mend="give the replicate's keyword another name",
            )
    if wrong := next(iter(set(table.registered_scale) - {axis}), None):
        mend = nearest(wrong, [axis], what="axis")
        raise TableError(f"unknown axis {shown(wrong)}", path=(*path, "registered_scale", wrong), mend=mend)
    searched = len(rule.instances) * len(scales)
    if searched > MOST_SEARCHED:
        raise TableError(
            f"{searched:,} instances over {len(scales):,} scales are more than {MOST_SEARCHED:,}",
            path=(*path, "rule"),
            mend="search fewer, or leave scales out",
        )
    if rule.looks and rule.looks[-1] * (searched + 1) > MAX_UNITS:
        raise TableError(
            f"{rule.looks[-1]:,} replicates of {searched:,} instances are more than {MAX_UNITS:,} units",
            path=(*path, "rule", "looks"),
            mend="put more inner repetitions into a replicate",
        )
    return BoundProbe(
        name=table.name,
        parts=tuple(table.part),
        about=table.about,
        required=table.required,
        reproduces_claim=table.reproduces_claim,
        data=table.data,
        target=table.target,
        bound=table.bound,
        axis=axis,
        scales=tuple(scales),
        registered_scales=tuple(scales),
        claim_scale=table.registered_scale.get(axis, max(scales)),
        replicate=dict(table.replicate),
        rule=rule,
        controls=tuple(
            Control(
                control.target,
                expectation(control.expect, BoundAnswer, path=(*path, "controls", index, "expect")),
                control.why,
            )
            for index, control in enumerate(table.controls)
        ),
    )
