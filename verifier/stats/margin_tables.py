"""The `rule = {…}` tables of the margin rules on means: `difference` and `ratio`."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from verifier.model.tables import complaint
from verifier.stats.margin_design import FEW, LEAST_N, DifferenceRule, RatioRule
from verifier.stats.rule_fields import MOST_LOOKS, STRICT, Exact, Positive, check_looks, check_threshold

MinimumN = Annotated[int, Field(ge=LEAST_N, le=10**9)]
FirstLooks = Annotated[list[Annotated[int, Field(ge=1, le=10**9)]], Field(min_length=1, max_length=MOST_LOOKS)]


class TTable(BaseModel):
    """What the tables of `difference` and `ratio` share."""

    model_config = STRICT

    threshold: Positive = Fraction(10_000)
    looks: FirstLooks
    minimum_n: MinimumN | None = None
    bounds: Annotated[list[Exact], Field(min_length=2, max_length=2)] | None = None
    better: Literal["higher", "lower"] = "higher"
    original_n: Annotated[int, Field(ge=2, le=10**9)] | None = None

    def _check_shared(self, *, one_seed: bool = False) -> None:
        check_looks(self.looks)
        check_threshold(self.threshold)
        if self.bounds is not None and self.bounds[0] >= self.bounds[1]:
            raise complaint("bounds do not increase", mend='write the least value first, ["0", "1"]', key="bounds")
        if one_seed:
            return
        if self.looks[0] < 2:
            raise complaint("one value shows no variance", mend="look at two or more", key="looks")
        if self.looks[-1] < self._minimum():
            raise complaint(
                f"the last look is before minimum_n = {self._minimum()}, so the rule could never decide",
                mend="look later",
                key="looks",
            )

    def _minimum(self) -> int:
        usual = FEW["unbounded" if self.bounds is None else "bounded"]
        return usual if self.minimum_n is None else self.minimum_n

    def _shared(self) -> dict[str, Any]:
        return {
            "threshold": self.threshold,
            "looks": tuple(self.looks),
            "minimum_n": self._minimum(),
            "bounds": None if self.bounds is None else (self.bounds[0], self.bounds[1]),
            "better": self.better,
            "original_n": self.original_n,
        }


class DifferenceTable(TTable):
    """`rule = { kind = "difference", … }` as written. Unknown keys, missing fields and bad values are errors."""

    kind: Literal["difference"]
    delta: Exact
    alleged: Exact = Fraction(0)
    noise: Literal["paired", "unpaired", "pooled"] = "paired"
    population: Literal["", "this-test-set", "items-drawn"] = ""
    minimum_items: MinimumN = FEW["unbounded"]
    method: Literal["t", "betting"] = "t"

    @model_validator(mode="after")
    def _consistent(self) -> DifferenceTable:
        if self.alleged >= self.delta:
            raise complaint(
                "alleged is not below delta, the difference that the claim is held to",
                mend="turn the arms round, or correct one of them",
                key="alleged",
            )
        drawn = self.population == "items-drawn"
        one_seed = drawn and self.looks == [1]
        if drawn and len(self.looks) > 1:
            raise complaint(
                "items that are drawn are looked at once, for later seeds see the same items",
                mend="register the last look alone",
                key="looks",
            )
        if one_seed and self.minimum_n is not None:
            raise complaint(
                "one seed has no minimum_n", mend="leave it out; minimum_items says how many items", key="minimum_n"
            )
        if self.method == "betting":
            self._check_betting(drawn=drawn)
        self._check_shared(one_seed=one_seed)
        return self

    def _check_betting(self, *, drawn: bool) -> None:
        if self.bounds is None:
            raise complaint(
                "a bet needs to know what it can lose", mend='register bounds, like ["0", "1"]', key="method"
            )
        if drawn or self.noise == "pooled":
            raise complaint(
                "betting is on replicates, paired or in manifest order",
                mend='use method = "t", or leave out population and pooled noise',
                key="method",
            )
        width = self.bounds[1] - self.bounds[0]
        if not (-width <= self.alleged and self.delta <= width):
            raise complaint("no difference within the bounds is that large", mend="correct bounds", key="bounds")

    def _minimum(self) -> int:
        return 1 if self.population == "items-drawn" and self.looks == [1] else super()._minimum()

    def to_rule(self) -> DifferenceRule:
        """The registered rule."""
        return DifferenceRule(
            claimed=self.delta,
            alleged=self.alleged,
            noise=self.noise,
            population=self.population,
            minimum_items=self.minimum_items,
            method=self.method,
            **self._shared(),
        )


class RatioTable(TTable):
    """`rule = { kind = "ratio", … }` as written. Unknown keys, missing fields and bad values are errors."""

    kind: Literal["ratio"]
    claimed: Positive
    delta: Positive
    alleged: Positive
    estimand: Literal["geometric", "ratio-of-means"] = "geometric"
    noise: Literal["paired", "unpaired"] = "paired"

    @model_validator(mode="after")
    def _consistent(self) -> RatioTable:
        if self.delta <= 1:
            raise complaint(
                "delta is the factor by which the claim may be short, and is above 1", mend="1.25 is usual", key="delta"
            )
        if self.alleged * self.delta >= self.claimed:
            raise complaint(
                "alleged is not below claimed/delta, the ratio that the claim is held to",
                mend="turn the arms round, or make delta smaller",
                key="alleged",
            )
        self._check_shared()
        return self

    def to_rule(self) -> RatioRule:
        """The registered rule."""
        return RatioRule(
            claimed=self.claimed,
            delta=self.delta,
            alleged=self.alleged,
            estimand=self.estimand,
            noise=self.noise,
            **self._shared(),
        )
