"""`rule = { kind = "bound", … }` as written, and the rule it becomes."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BaseModel, Field, model_validator

from verifier.model.complaints import nearest, shown
from verifier.model.tables import complaint
from verifier.stats.bound_rule import BoundRule, equal_weights
from verifier.stats.rule_fields import MOST_LOOKS, STRICT, Look, Positive, check_looks, check_threshold

MOST_INSTANCES = 100_000
InstanceName = Annotated[str, Field(min_length=1, max_length=100)]


class BoundTable(BaseModel):
    """The table of a bound rule. Unknown keys, missing fields and bad values are ValidationErrors.

    `members` lists a finite class by name; `instances` counts those that a sampler is to draw. One of the two stands.
    """

    model_config = STRICT

    kind: Literal["bound"]
    instances: Annotated[int, Field(ge=1, le=MOST_INSTANCES)] | None = None
    members: Annotated[list[InstanceName], Field(min_length=1, max_length=MOST_INSTANCES)] | None = None
    weights: Annotated[list[Positive], Field(max_length=MOST_INSTANCES)] | None = None
    alleged: InstanceName | None = None
    looks: Annotated[list[Look], Field(max_length=MOST_LOOKS)] = Field(default_factory=list)
    threshold: Positive = Fraction(10_000)
    minimum_n: Annotated[int, Field(ge=6, le=10**9)] = 30

    @model_validator(mode="after")
    def _consistent(self) -> BoundTable:
        if (self.instances is None) == (self.members is None):
            raise complaint(
                "one of instances and members stands, not both",
                mend='write instances = 200 for a sampler, or members = ["a", "b"] for a finite class',
                key="instances",
            )
        names = self.members or []
        if len(set(names)) < len(names):
            raise complaint("an instance stands twice in members", mend="name each once", key="members")
        if self.alleged is not None and self.alleged not in names:
            mend = nearest(self.alleged, names, what="instance") if names else "leave it out: a sampler names none"
            raise complaint(f"alleged is {shown(self.alleged)}, which members does not name", mend=mend, key="alleged")
        count = self.instances or len(names)
        if self.weights is not None and (len(self.weights) != count or sum(self.weights) != 1):
            raise complaint(
                f"weights are {len(self.weights)} numbers with sum {float(sum(self.weights)):g}",
                mend=f"give {count} that sum to 1 exactly, or leave them out",
                key="weights",
            )
        check_looks(self.looks)
        if self.looks and self.looks[-1] < self.minimum_n:
            raise complaint(
                f"the last look is below minimum_n = {self.minimum_n}, so no mean could ever count",
                mend="look later",
                key="looks",
            )
        check_threshold(self.threshold)
        return self

    def to_rule(self) -> BoundRule:
        """The registered rule."""
        names = tuple(self.members or (str(i + 1) for i in range(self.instances or 0)))
        return BoundRule(
            instances=names,
            weights=equal_weights(len(names)) if self.weights is None else tuple(self.weights),
            whole_class=self.members is not None,
            alleged=self.alleged or "",
            looks=tuple(self.looks),
            threshold=self.threshold,
            minimum_n=self.minimum_n,
        )
