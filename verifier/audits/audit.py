"""What every basis audit answers with: one frozen result, whatever the mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from verifier.model.answers import AuditAnswer, Corrected
from verifier.model.basis import BasisClass

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two compared numbers, on its own basis and on the other's.

    `stated` and `basis`: as printed, and what it is (`"3.2"`, `"s per batch"`). `restated` and `restated_basis`: the
    same quantity on the other basis, as text; None where no declared factor leads there.
    """

    label: str
    stated: str
    basis: str
    restated: str | None = None
    restated_basis: str | None = None


@dataclass(frozen=True, slots=True)
class Residual:
    """What a correction leaves unexplained: a factor, 1 where it explains everything, and its rounding interval."""

    value: float
    low: float
    high: float

    @property
    def excludes_one(self) -> bool:
        """Whether no rounding of the printed numbers makes the correction explain everything."""
        return not self.low <= 1.0 <= self.high


@dataclass(frozen=True, slots=True)
class Audit:
    """A mechanism's finding about the basis of printed numbers, arrays or a callable.

    `mechanism`: the name of the module that answers (`"basis"`, `"closure"`, ...).
    `sentence`: one sentence for a person, the numbers in it.
    `material`: whether the correction changes the comparison over its whole range; None where that was not asked.
    `left`, `right`: both numbers on both bases; None where fewer than two numbers are compared.
    `factor`: the factor between the bases as exact text, `"1/50"`; `declared_in` says where it was declared (its
    source), None where it was not, or without a source.
    `residual`: what the factor leaves unexplained. `coincidence`: the chance that a random ratio would have been
    explained as well, in [0, 1].
    `missing`: what to ask for, one thing a line (the name of an undeclared factor, the number of items, ...).
    `witness`: the smallest input that shows the finding, as JSON values with the two results it gives.
    `corrected`: where the comparison stands on one basis; None where there is nothing to correct.
    `code_against_text`: whether the mismatch sets code against the paper's words.
    `details`: the mechanism's own quantities by name, as JSON values.
    """

    mechanism: str
    basis_class: BasisClass
    finding: AuditAnswer
    sentence: str
    material: bool | None = None
    left: Side | None = None
    right: Side | None = None
    factor: str | None = None
    declared_in: str | None = None
    residual: Residual | None = None
    coincidence: float | None = None
    missing: tuple[str, ...] = ()
    witness: Mapping[str, Any] | None = None
    corrected: Corrected | None = None
    code_against_text: bool = False
    details: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
