"""Which formula a function computes, and what that says of the formula that somebody expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from verifier.audits.audit import Audit, Side
from verifier.audits.catalogues import Catalogue
from verifier.audits.catalogues.entry import Arguments, Floats
from verifier.audits.identify.compare import Compared, compare, find_witness
from verifier.audits.identify.constants import constant_class, constant_words, reading
from verifier.audits.identify.resolve import Letters, Named, resolve
from verifier.audits.witness import Witness
from verifier.model.answers import AuditAnswer
from verifier.model.basis import BasisClass

NONE = "NONE"
MATERIAL = 0.01
"""The relative difference that a witness shows where the caller names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identification:
    """The formula that a function computes, up to a constant.

    `name`: with the order of the arguments, in the caller's letters; NONE where no entry matches or nothing could be
    said. `constant`: value = constant × formula, of either sign; None for NONE. `aliases`: other names of the formula
    and of its multiples. `order`: the letters in the order in which the formula takes them, None where it is
    symmetric. `parameter`: the fitted alpha of a family.
    `nearest`, `residual`: the entry itself for a match; for NONE the one that an added constant or a transform
    explains, else the one with the smallest residual; the residual is relative and up to a constant. `remark`: that
    constant or transform, or what the constant tells, in words.
    `same_objective_in`, `same_objective_as`: the argument in which the formula is the same objective as another one.
    `finding`: INSUFFICIENT where nothing could be said, with the `reason`; None otherwise. `candidates`: the entries
    that agree with the function on the given inputs where several do.
    """

    name: str
    constant: float | None = None
    nearest: str | None = None
    residual: float | None = None
    same_objective_in: str | None = None
    same_objective_as: str | None = None
    aliases: tuple[str, ...] = ()
    order: tuple[str, str] | None = None
    parameter: float | None = None
    formula: str | None = None
    remark: str | None = None
    finding: AuditAnswer | None = None
    reason: str | None = None
    candidates: tuple[str, ...] = ()
    catalogue: Catalogue = field(repr=False, compare=False)
    letters: Letters = field(default=("p", "q"), repr=False)
    inputs: tuple[Arguments, ...] = field(default=(), repr=False, compare=False)
    values: Floats | None = field(default=None, repr=False, compare=False)
    function: Callable[..., Any] = field(repr=False, compare=False)

    @property
    def sentence(self) -> str:
        """What was found, for a person."""
        if self.finding is not None:
            return f"Which formula the function computes is not settled: {self.reason}."
        remark = f"; {self.remark}" if self.remark else ""
        if self.name == NONE:
            return (
                f"The function computes no formula of the catalogue {self.catalogue.name} up to a constant; "
                f"the nearest is {self.nearest}, with a relative residual of {self.residual:.3g}{remark}."
            )
        objective = (
            f"; as an objective in {self.same_objective_in} it is {self.same_objective_as}"
            if self.same_objective_in
            else ""
        )
        return f"The function computes {self.constant:.6g} × {self.name}{objective}{remark}."

    def audit(self, *, expected: str, materiality: float | None = None) -> Audit:
        """Whether the function computes the formula that a text names: the code against the text.

        A constant of an objective (a divergence, a reduction of losses) changes nothing, unless it is negative: DIR.
        Anything else that is measured is another number when it is multiplied: UNIT, except a share in per cent.

        `expected`: a name or an alias of the catalogue, in the caller's letters. `materiality`: the share of the
        function's values, over all inputs, that matters when the expected formula leaves it unexplained under every
        constant; `material` then says whether more is left. The details give the smallest and largest relative
        difference on one input. A mismatch carries the smallest input that shows it, the constant taken out.

        Raises BadInput for a name that stands for no formula, or for several.
        """
        wanted = resolve(expected, self.catalogue, letters=self.letters)
        if self.finding is not None or self.values is None:
            return self._insufficient()
        compared = compare(self.values, wanted, inputs=self.inputs, constant=self.constant)
        if compared is None:
            return self._insufficient()
        if compared.same:
            basis_class = constant_class(compared.constant, self.catalogue)
            if basis_class is None:
                return self._same(expected, wanted, compared)
            return self._multiple(expected, wanted, compared, basis_class, materiality)
        return self._mismatch(expected, wanted, compared, materiality)

    def _insufficient(self) -> Audit:
        return Audit(
            mechanism="identify",
            basis_class=BasisClass.FORM,
            finding=AuditAnswer.INSUFFICIENT,
            sentence=self.sentence,
            missing=(self.reason or "inputs on which the expected formula is defined",),
            code_against_text=True,
            details=self._details(),
        )

    def _same(self, expected: str, wanted: Named, compared: Compared) -> Audit:
        only_named = wanted.alias or self.name != wanted.name
        return Audit(
            mechanism="identify",
            basis_class=BasisClass.NAME if only_named else BasisClass.FORM,
            finding=AuditAnswer.SAME_BASIS,
            sentence=f"The function computes {expected}, times {constant_words(compared.constant)}"
            + (f", which is {self.name} by another name" if only_named and self.name != NONE else "")
            + (f"; {self.remark}." if self.remark else "."),
            left=self._computed(),
            right=Side("expected", expected, wanted.formula),
            factor=reading(compared.constant),
            code_against_text=True,
            details=self._details(),
        )

    def _multiple(
        self, expected: str, wanted: Named, compared: Compared, basis_class: BasisClass, materiality: float | None
    ) -> Audit:
        """The expected formula times a constant that makes another number, or another direction, of it."""
        off = abs(compared.constant - 1)
        found = find_witness(
            self.function, 1.0, wanted, self.catalogue, materiality=min(MATERIAL, off / 2), letters=self.letters
        )
        shown = f" At {_input(found)} they are {found.left:.6g} and {found.right:.6g}." if found is not None else ""
        what = "the sign turns the better direction round" if basis_class is BasisClass.DIR else "another unit"
        telling = f"; {self.remark}" if self.remark else ""
        return Audit(
            mechanism="identify",
            basis_class=basis_class,
            finding=AuditAnswer.MISMATCH_PROVEN,
            sentence=f"The function computes {constant_words(compared.constant)} times what the text says, {expected}: "
            f"{what}{telling}.{shown}",
            material=None if materiality is None else basis_class is BasisClass.DIR or off > materiality,
            left=self._computed(),
            right=Side("expected", expected, wanted.formula),
            factor=reading(compared.constant),
            witness=None if found is None else {**found.document, "constant_taken_out": 1.0},
            code_against_text=True,
            details={
                **self._details(),
                "expected": wanted.name,
                "residual_to_expected": compared.residual,
                "relative_difference": {"low": off, "high": off},
            },
        )

    def _mismatch(self, expected: str, wanted: Named, compared: Compared, materiality: float | None) -> Audit:
        threshold = MATERIAL if materiality is None else materiality
        found = find_witness(
            *self._to_show(compared.scale), wanted, self.catalogue, materiality=threshold, letters=self.letters
        )
        shown = f" At {_input(found)} they are {found.left:.6g} and {found.right:.6g}." if found is not None else ""
        what = self.name if self.name != NONE else "no formula of the catalogue"
        details = {
            **self._details(),
            "expected": wanted.name,
            "residual_to_expected": compared.residual,
            "relative_difference": {"low": compared.low, "high": compared.high},
        }
        return Audit(
            mechanism="identify",
            basis_class=BasisClass.FORM,
            finding=AuditAnswer.MISMATCH_PROVEN,
            sentence=f"The function computes {what}, and the text says {expected}.{shown}",
            material=None if materiality is None else compared.residual > materiality,
            left=self._computed(),
            right=Side("expected", expected, wanted.formula),
            witness=None if found is None else {**found.document, "constant_taken_out": compared.scale},
            code_against_text=True,
            details=details,
        )

    def _to_show(self, scale: float) -> tuple[Callable[..., Any], float]:
        """What a witness sets against the expected formula, and the constant to take out of it.

        The identified formula itself: the constant may hang on the number of classes (a mean over them). The function,
        where there is no such formula, or where its parameter was fitted.
        """
        if self.name == NONE or self.parameter is not None:
            return self.function, scale
        return resolve(self.name, self.catalogue, letters=self.letters).function, 1.0

    def _computed(self) -> Side:
        stated = self.name if self.constant is None else f"{self.constant:.6g} × {self.name}"
        return Side("computed", stated, self.formula or "no formula of the catalogue")

    def _details(self) -> Mapping[str, Any]:
        return {
            "name": self.name,
            "catalogue": self.catalogue.name,
            "constant": self.constant,
            "nearest": self.nearest,
            "residual": self.residual,
            "same_objective_in": self.same_objective_in,
            "same_objective_as": self.same_objective_as,
            "aliases": list(self.aliases),
            "parameter": self.parameter,
            "remark": self.remark,
            "candidates": list(self.candidates),
            "inputs": len(self.inputs),
        }


def _input(found: Witness) -> str:
    document = found.document["input"]
    return ", ".join(f"{name} = {_text(value)}" for name, value in document.items())


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_text(entry) for entry in value) + "]"
    return f'"{value}"' if isinstance(value, str) and not value.replace("/", "").isdigit() else str(value)
