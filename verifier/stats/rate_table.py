"""`rule = { kind = "rate", … }` as written, and the rule it becomes."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from verifier.model.tables import complaint
from verifier.stats.rate_rule import RESOLUTION, RateRule
from verifier.stats.rule_fields import (
    STRICT,
    Count,
    Looks,
    Name,
    NotNegative,
    Positive,
    check_gamma0,
    check_looks,
    check_threshold,
)

LARGEST_RATE = 20


class RateTable(BaseModel):
    """The table of a rate rule. Unknown keys, missing fields and bad values are ValidationErrors."""

    model_config = STRICT

    kind: Literal["rate"]
    claimed: Positive
    alleged: NotNegative
    delta: Positive | None = None
    resolution: Positive = RESOLUTION
    threshold: Positive = Fraction(10_000)
    noise: Literal["block"] = "block"
    replicate: Annotated[dict[Name, Count], Field(max_length=4)] = Field(default_factory=dict)
    looks: Looks
    gamma0: Positive = Fraction(1, 2)
    extrapolate: bool = True
    minimum_n: Annotated[int, Field(ge=6, le=10**12)] = 6

    @model_validator(mode="after")
    def _consistent(self) -> RateTable:
        check_looks(self.looks)
        if self.alleged >= self.claimed:
            raise complaint(
                "alleged, the exponent of the slower decay, is not below claimed",
                mend='for a claim O(1/t) and a dispute t^-1/2 write claimed = "1", alleged = "1/2"',
                key="alleged",
            )
        if self.claimed > LARGEST_RATE:
            raise complaint(f"claimed exceeds {LARGEST_RATE}", mend="a geometric rate is no power of t", key="claimed")
        if self.delta is not None and self.delta > self.claimed - self.alleged:
            raise complaint(
                "delta, the smallest slope of interest, exceeds claimed - alleged",
                mend="half of it is usual",
                key="delta",
            )
        check_threshold(self.threshold)
        check_gamma0(self.gamma0)
        rule = self.to_rule().growth
        if not rule.may_decide(rule.maximum):
            raise complaint(
                f"the last look holds {rule.maximum * rule.replicate_size} repetitions, fewer than "
                f"minimum_n = {self.minimum_n}, so the rule could never decide",
                mend="look later, or make a replicate larger",
                key="looks",
            )
        return self

    def to_rule(self) -> RateRule:
        """The registered rule."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        del fields["kind"], fields["noise"]
        fields["looks"] = tuple(self.looks)
        return RateRule(**fields)
