"""The `rule = {…}` table of a case file: strict models by kind, and the rule each becomes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from verifier.model.tables import complaint
from verifier.stats.bound_table import BoundTable
from verifier.stats.bounded_tables import CountTable, ProportionTable
from verifier.stats.growth_rule import GrowthRule
from verifier.stats.law_names import LARGEST_EXPONENT, power_law
from verifier.stats.margin_tables import DifferenceTable, RatioTable
from verifier.stats.rate_table import RateTable
from verifier.stats.rule_fields import (
    STRICT,
    Count,
    Looks,
    Name,
    NotNegative,
    Positive,
    ScaleText,
    check_gamma0,
    check_looks,
    check_threshold,
    exact_number,
)

__all__ = ["MARGIN_RULES", "RULES", "SWEEP_RULES", "GrowthTable", "ScaleText", "exact_number"]


class GrowthTable(BaseModel):
    """`rule = { kind = "growth", … }` as written. Unknown keys, missing fields and bad values are ValidationErrors."""

    model_config = STRICT

    kind: Literal["growth"]
    law: Literal["log", "loglog", "sqrt", "linear", "power"] = "log"
    exponent: Positive | None = None
    delta: Positive
    log_delta: Positive | None = None
    alternative: Positive
    threshold: Positive = Fraction(10_000)
    noise: Literal["block", "pooled"] = "block"
    replicate: Annotated[dict[Name, Count], Field(max_length=4)] = Field(default_factory=dict)
    looks: Looks
    gamma0: Positive = Fraction(1, 2)
    floor: NotNegative = Fraction(0)
    extrapolate: bool = True
    variance: dict[ScaleText, Positive] = Field(default_factory=dict)
    minimum_n: Annotated[int, Field(ge=6, le=10**12)] = 6

    @model_validator(mode="after")
    def _consistent(self) -> GrowthTable:
        check_looks(self.looks)
        if self.delta > self.alternative:
            raise complaint(
                "delta, the smallest slope of interest, exceeds alternative, the alleged slope",
                mend="half of it is usual",
                key="delta",
            )
        check_threshold(self.threshold)
        check_gamma0(self.gamma0)
        self._check_law()
        if self.variance and self.noise != "pooled":
            raise complaint('variance belongs to noise = "pooled"', mend="a block needs none", key="variance")
        rule = self.to_rule()
        if not rule.may_decide(rule.maximum):
            raise complaint(
                f"the last look holds {rule.maximum * rule.replicate_size} repetitions, fewer than "
                f"minimum_n = {self.minimum_n}, so the rule could never decide",
                mend="look later, or make a replicate larger",
                key="looks",
            )
        return self

    def _check_law(self) -> None:
        if (self.law == "power") != (self.exponent is not None):
            raise complaint(
                'exponent belongs to law = "power", and stands with it always',
                mend='write law = "power", exponent = "3/4"',
                key="exponent",
            )
        if self.exponent is not None and self.exponent > LARGEST_EXPONENT:
            raise complaint(
                f"exponent exceeds {LARGEST_EXPONENT}", mend='"1/2" is the square root, "1" is linear', key="exponent"
            )
        if self.log_delta is not None and self.law in ("log", "loglog"):
            raise complaint(
                "log_delta stands beside a power law, to say whether growth like the logarithm is excluded too",
                mend="leave it out",
                key="log_delta",
            )

    def to_rule(self) -> GrowthRule:
        """The registered rule."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        del fields["kind"]
        exponent = fields.pop("exponent")
        if exponent is not None:
            fields["law"] = power_law(exponent)
        fields["looks"] = tuple(self.looks)
        fields["variance"] = {int(k): sd for k, sd in self.variance.items()}
        return GrowthRule(**fields)


SWEEP_RULES: Mapping[str, type[GrowthTable | RateTable]] = MappingProxyType({"growth": GrowthTable, "rate": RateTable})
"""The kinds that a sweep probe of a case may register."""

MARGIN_RULES: Mapping[str, type[DifferenceTable | RatioTable | ProportionTable | CountTable]] = MappingProxyType(
    {"difference": DifferenceTable, "ratio": RatioTable, "proportion": ProportionTable, "count": CountTable}
)
"""The kinds that a replication probe of a case may register."""

RULES: Mapping[str, type[BaseModel]] = MappingProxyType({**SWEEP_RULES, "bound": BoundTable, **MARGIN_RULES})
"""Rule kind → the model of its table; every model has `to_rule()`."""
