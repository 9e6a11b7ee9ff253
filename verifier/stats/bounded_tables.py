"""The rule tables of `proportion` and `count` as written, and the rules they become."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, Field, model_validator

from verifier.model.tables import complaint
from verifier.stats.bounded_design import MOST_LISTED, CountRule, ProportionRule
from verifier.stats.rule_fields import STRICT, Looks, NotNegative, Positive, check_looks, check_threshold

MinimumN: TypeAlias = Annotated[int, Field(ge=1, le=10**9)]
"""No distribution is assumed, so that a single observation is already evidence."""


class _ShareTable(BaseModel):
    """What both tables hold."""

    model_config = STRICT

    claimed: Positive
    alleged: NotNegative
    threshold: Positive = Fraction(10_000)
    looks: Looks
    minimum_n: MinimumN = 1

    @model_validator(mode="after")
    def _consistent(self) -> _ShareTable:
        check_looks(self.looks)
        check_threshold(self.threshold)
        if self.claimed > 1:
            raise complaint("claimed exceeds 1", mend='a share of 90 % is written "0.9"', key="claimed")
        if self.alleged >= self.claimed:
            raise complaint(
                "alleged is not below claimed",
                mend="count what favours the claim, so that larger is better",
                key="alleged",
            )
        if self.looks[-1] < self.minimum_n:
            raise complaint(
                f"the last look, {self.looks[-1]}, is below minimum_n = {self.minimum_n}, so nothing is ever decided",
                mend="look later",
                key="looks",
            )
        return self

    def _fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        del fields["kind"]
        return fields | {"looks": tuple(self.looks)}


class ProportionTable(_ShareTable):
    """The table of a proportion rule. Unknown keys, missing fields and bad values are ValidationErrors."""

    kind: Literal["proportion"]

    def to_rule(self) -> ProportionRule:
        """The registered rule."""
        return ProportionRule(**self._fields())


class CountTable(_ShareTable):
    """The table of a count rule; claimed and alleged are shares of the list, "17/20" say."""

    kind: Literal["count"]
    size: Annotated[int, Field(ge=1, le=MOST_LISTED)]

    @model_validator(mode="after")
    def _within(self) -> CountTable:
        if self.looks[-1] > self.size:
            raise complaint(
                f"the last look, {self.looks[-1]}, is beyond the {self.size} that are listed",
                mend="end at the list's end",
                key="looks",
            )
        return self

    def to_rule(self) -> CountRule:
        """The registered rule."""
        return CountRule(**self._fields())
