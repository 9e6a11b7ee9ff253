"""A sweep probe: how its table in case.toml is read, and what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from verifier.model.case import Control, Expectation
from verifier.model.numbers import parse_rational
from verifier.model.outcomes import Outcome
from verifier.model.tables import Name, Number, Path, Table, TableError, TargetName, choose, nearest, validate
from verifier.stats.growth_rule import GrowthAnswer, GrowthRule
from verifier.stats.rules import RULES

Axis = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,31}$")]
ScaleValue = Annotated[int, Field(ge=1, le=2**53 - 1)]
ScaleText = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,15}$")]
Part = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class EqualsTable(Table):
    equals: TargetName


class ValuesTable(Table):
    values: TargetName


class ControlTable(Table):
    target: TargetName
    expect: str | EqualsTable | ValuesTable


class PlannedTable(Table):
    sd: dict[ScaleText, Number] = {}
    seconds: dict[ScaleText, Number] = {}


class SweepTable(Table):
    """`[[probe]] kind = "sweep"`."""

    name: Name
    kind: Literal["sweep"]
    part: Part | list[Part]
    target: TargetName
    scale: Annotated[
        dict[Axis, Annotated[list[ScaleValue], Field(min_length=1, max_length=10_000)]],
        Field(min_length=1, max_length=1),
    ]
    rule: dict[str, Any]
    about: Literal["claim", "dispute"] = "claim"
    required: bool = True
    reproduces_claim: bool = False
    data: Literal["paper", "released", "synthetic"] = "paper"
    baseline: TargetName | None = None
    exact: TargetName | None = None
    planned: PlannedTable = PlannedTable()
    registered_scale: dict[Axis, ScaleValue] = {}
    controls: Annotated[list[ControlTable], Field(max_length=100)] = []


@dataclass(frozen=True, slots=True)
class SweepProbe:
    """A sweep over one scale axis, judged by a registered rule.

    `scales` are the scales of this run (ascending), `registered_scales` those of the case file; `claim_scale` is
    K_claim, the scale at which the claim is tested. `planned_sd` (of one replicate's value) and `planned_seconds`
    (per inner repetition) map scales to what the case states.
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
    rule: GrowthRule
    controls: tuple[Control, ...]

    kind = "sweep"

    @property
    def drawing_targets(self) -> frozenset[str]:
        """The targets that draw from a stream: the probe's, its controls' and their partners'."""
        partners = (control.expect.value for control in self.controls if control.expect.kind == "equals")
        return frozenset({self.target, *(control.target for control in self.controls), *partners})

    @property
    def targets(self) -> tuple[str, ...]:
        """Every `module:function` that the probe and its controls call, without repetition."""
        named = [self.target, self.baseline, self.exact]
        for control in self.controls:
            named += [control.target, control.expect.value if control.expect.kind != "named" else None]
        return tuple(dict.fromkeys(name for name in named if name))


def parse_sweep(data: Mapping[str, Any], *, path: Path) -> SweepProbe:
    """A sweep probe from its table. Raises TableError naming the key that is wrong."""
    table = validate(SweepTable, data, path=path)
    rule_table = choose(RULES, table.rule, what="rule", path=(*path, "rule"))
    rule = validate(rule_table, table.rule, path=(*path, "rule")).to_rule()
    ((axis, scales),) = table.scale.items()
    check_scales(scales, path=(*path, "scale", axis))
    if set(table.registered_scale) - {axis}:
        wrong = next(iter(set(table.registered_scale) - {axis}))
        raise TableError(f"unknown axis {wrong}", path=(*path, "registered_scale", wrong), mend=nearest(wrong, [axis]))
    return SweepProbe(
        name=table.name,
        parts=(table.part,) if isinstance(table.part, str) else tuple(table.part),
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
        claim_scale=table.registered_scale.get(axis, max(scales)),
        planned_sd={int(scale): float(parse_rational(sd)) for scale, sd in table.planned.sd.items()},
        planned_seconds={int(scale): float(parse_rational(text)) for scale, text in table.planned.seconds.items()},
        rule=rule,
        controls=tuple(
            Control(control.target, _expectation(control, path=(*path, "controls", index, "expect")))
            for index, control in enumerate(table.controls)
        ),
    )


def check_scales(scales: list[int], *, path: Path) -> None:
    """Raises TableError unless the scales ascend strictly from 2 (ln 1 = 0 has no place on a log grid)."""
    if scales != sorted(set(scales)):
        raise TableError(f"the scales {scales} do not ascend strictly", path=path, mend="sort them, each once")
    if scales[0] < 2:
        raise TableError("a growth sweep has no scale below 2", path=path, mend="start at 2 or above")


def _expectation(control: ControlTable, *, path: Path) -> Expectation:
    match control.expect:
        case EqualsTable(equals=target):
            return Expectation("equals", target)
        case ValuesTable(values=target):
            return Expectation("values", target)
        case str(word):
            known = [*Outcome, *GrowthAnswer]
            if word not in known:
                raise TableError(
                    f"{word!r} is neither an outcome nor an answer of this rule", path=path, mend=nearest(word, known)
                )
            return Expectation("named", word)
