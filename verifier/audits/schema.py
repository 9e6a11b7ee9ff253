"""The tables of an audit file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from verifier.audits.arrays import read_arrays
from verifier.audits.declared import Declared
from verifier.audits.dilution_box import Measured, PadLoss, PrintedDeflation
from verifier.audits.printed import Printed, printed
from verifier.audits.quantity import PERPLEXITIES
from verifier.audits.records import Comparison, Formula, ItemSet, Per, Record, Selection
from verifier.audits.selection import Arm
from verifier.audits.token_arrays import Columns, TokenArrays, inline_arrays
from verifier.audits.units import thing, unit
from verifier.model.complaints import shown
from verifier.model.errors import BadInput
from verifier.model.numbers import parse_rational
from verifier.model.probes import FileName
from verifier.model.tables import Line, Name, Number, Sha256, Table, complaint

Said = Annotated[Line, StringConstraints(min_length=1)]
Count = Annotated[int, Field(ge=1, le=2**53 - 1)]
Bit = Annotated[int, Field(ge=0, le=1)]


def _known(of: Callable[[str], object]) -> AfterValidator:
    """A text that `of` knows as a unit."""

    def check(text: str) -> str:
        try:
            of(text)
        except BadInput as error:
            raise complaint(error.what, mend=error.mend) from None
        return text

    return AfterValidator(check)


def _above_zero(text: str) -> str:
    if parse_rational(text) <= 0:
        raise complaint(f"{shown(text)} is not above zero", mend="write how many there are")
    return text


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _measure(text: str) -> object:
    return text if text.strip() in PERPLEXITIES else unit(text)


UnitText = Annotated[Line, _known(_measure)]
Thing = Annotated[Said, _known(thing)]
Many = Annotated[Number, BeforeValidator(_as_text), AfterValidator(_above_zero)]
"""How many there are: a whole number, or an exact one as text."""
Numbers = Annotated[list[Number], Field(min_length=1, max_length=100_000)]


class PerTable(Table):
    thing: Thing
    holds: Annotated[dict[Thing, Many], Field(max_length=20)] = {}

    def to_per(self) -> Per:
        """The denominator of the table."""
        return Per(self.thing, dict(self.holds))


class ItemsTable(Table):
    id: Line = ""
    n: Count | None = None
    sha256: Sha256 = ""


class FormulaTable(Table):
    id: Said
    arguments: Annotated[list[Said], Field(max_length=8)] = []


class SelectionTable(Table):
    rule: Line = ""
    trials: Count | None = None


class RecordTable(Table):
    """`[left]` and `[right]`: a printed number and its basis."""

    label: Said
    value: Number
    unit: UnitText = ""
    per: PerTable | None = None
    items: ItemsTable | None = None
    mask: Said | None = None
    aggregation: Annotated[list[Said], Field(min_length=1, max_length=16)] | None = None
    better: Literal["higher", "lower"] | None = None
    state: Annotated[dict[Name, Said], Field(max_length=50)] = {}
    selection: SelectionTable | None = None
    formula: FormulaTable | None = None
    name: Line = ""
    source: Line = ""

    def to_record(self) -> Record:
        """The record of the table."""
        return Record(
            label=self.label,
            value=self.value,
            unit=self.unit,
            per=None if self.per is None else self.per.to_per(),
            items=None if self.items is None else ItemSet(self.items.id, self.items.n, self.items.sha256),
            mask=self.mask,
            aggregation=None if self.aggregation is None else tuple(self.aggregation),
            better=self.better,
            state=self.state,
            selection=None if self.selection is None else Selection(self.selection.rule, self.selection.trials),
            formula=None if self.formula is None else Formula(self.formula.id, tuple(self.formula.arguments)),
            name=self.name,
            source=self.source,
        )


class ComparisonTable(Table):
    kind: Literal["factor", "difference", "percent", "points"] = "factor"
    better: Literal["higher", "lower"] | None = None
    claimed: Number | None = None
    measures: Literal["throughput", "latency"] | None = None

    def to_comparison(self) -> Comparison:
        """The comparison of the table."""
        return Comparison(kind=self.kind, better=self.better, claimed=self.claimed, measures=self.measures)


class FactorTable(Table):
    name: Said
    value: Annotated[Number, AfterValidator(_above_zero)]
    side: Literal["left", "right"] | None = None
    source: Line = ""

    def to_declared(self) -> Declared:
        """The factor of the table."""
        return Declared(name=self.name, value=self.value, side=self.side, source=self.source)


Factors = Annotated[list[FactorTable], Field(max_length=1_000)]


class DeclaredTable(Table):
    factors: Factors = []


class ReconcileTable(Table):
    """`[reconcile]`: ratios only, no values."""

    claimed: Number
    against: Number | None = None
    declared: Factors = []
    tolerance: Number | None = None


class MeasuredTable(Table):
    baseline: Number
    variant: Number | None = None


class PadLossTable(Table):
    value: Number
    max: Number | None = None


class PrintedDeflationTable(Table):
    of: Literal["perplexity", "loss"]
    factor: Number


class DilutionTable(Table):
    measured: MeasuredTable
    p: Number | None = None
    pad_loss: PadLossTable | None = None
    pad_loss_difference: Number | None = None
    printed_deflation: PrintedDeflationTable | None = None
    threshold: Number | None = None
    source: Line = ""

    def to_arguments(self) -> dict[str, Any]:
        """The arguments of `dilution`."""
        pad, said = self.pad_loss, self.printed_deflation
        return {
            "measured": Measured(printed(self.measured.baseline), _printed(self.measured.variant)),
            "p": _printed(self.p),
            "pad_loss": pad and PadLoss(printed(pad.value), _printed(pad.max)),
            "pad_loss_difference": _printed(self.pad_loss_difference),
            "printed_deflation": said and PrintedDeflation(said.of, printed(said.factor)),
            "threshold": _printed(self.threshold),
            "source": self.source or None,
        }


class GranularityTable(Table):
    printed: Annotated[list[Number], Field(min_length=1, max_length=10_000)]
    n: Annotated[int, Field(ge=1, le=10**9)] | None = None
    below: Annotated[int, Field(ge=2, le=10**6)] | None = None

    @model_validator(mode="after")
    def _one_number(self) -> GranularityTable:
        if self.n is not None and self.below is not None:
            raise complaint("below stands beside n, which is known", mend="remove one of them", key="below")
        return self


class SpeedTable(Table):
    before: Number
    after: Number
    claimed: Number | None = None
    as_: Annotated[Literal["factor", "percent-faster", "percent-less-time", "points"] | None, Field(alias="as")] = None


class ClosureTable(Table):
    identity: Literal["mean", "product", "little", "bytes-per-word", "dilution"]
    terms: Numbers
    printed: Number | None = None
    weights: Numbers | None = None
    source: Line = ""

    def to_arguments(self) -> dict[str, Any]:
        """The arguments of `closure`."""
        return {
            "identity": self.identity,
            "terms": [printed(term) for term in self.terms],
            "printed": _printed(self.printed),
            "weights": None if self.weights is None else [printed(weight) for weight in self.weights],
            "source": self.source or None,
        }


class ArmTable(Table):
    label: Said
    trials: Count
    best: Number | None = None
    scores: Annotated[list[Number], Field(max_length=100_000)] = []

    def to_arm(self) -> Arm:
        """The side of the table."""
        return Arm(self.label, self.trials, _printed(self.best), tuple(map(printed, self.scores)))


class BestTable(Table):
    """`[selection]`: two bests of unequal numbers of trials."""

    left: ArmTable
    right: ArmTable
    better: Literal["higher", "lower"] = "higher"
    sd: Number | None = None
    source: Line = ""

    def to_arms(self) -> tuple[Arm, Arm]:
        """Both sides."""
        return self.left.to_arm(), self.right.to_arm()

    def to_arguments(self) -> dict[str, Any]:
        """The other arguments of `selection`."""
        return {"better": self.better, "sd": _printed(self.sd), "source": self.source or None}


class ColumnsTable(Table):
    loss: Said
    mask: Said | None = None
    sequence: Said | None = None
    batch: Said | None = None


class ArraysTable(Table):
    """`[arrays]`: losses by position, in a file beside this one or, a list a sequence, in this one."""

    path: FileName | None = None
    columns: ColumnsTable | None = None
    loss: Annotated[list[list[Number]], Field(min_length=1, max_length=10_000)] | None = None
    mask: Annotated[list[list[Bit]], Field(min_length=1, max_length=10_000)] | None = None
    batch: Annotated[list[Annotated[int, Field(ge=0, le=10_000)]], Field(max_length=10_000)] | None = None
    printed: Number | None = None
    returns: Literal["perplexity", "loss"] = "perplexity"

    @model_validator(mode="after")
    def _one_place(self) -> ArraysTable:
        inline = [name for name in ("loss", "mask", "batch") if getattr(self, name) is not None]
        if self.path is not None and inline:
            raise complaint("path stands beside values of the same", mend=f"remove path or {inline[0]}", key=inline[0])
        if self.path is not None and self.columns is None:
            raise complaint("the columns of the file are not named", mend='add columns = { loss = "nll" }')
        if self.path is None and self.columns is not None:
            raise complaint("columns stand without a path", mend="name the file, or remove them", key="columns")
        if self.path is None and self.loss is None:
            raise complaint("there are no losses", mend='add path = "losses.csv", or loss = [["3", "2"], ["4"]]')
        return self

    def to_arrays(self, folder: Path) -> TokenArrays:
        """The arrays, read from a file inside `folder` or from the table. Raises BadInput for what is no array."""
        if self.path is not None and self.columns is not None:
            return read_arrays(folder, self.path, Columns(**self.columns.model_dump()))
        return inline_arrays(self.loss or [], self.mask, self.batch)


class AuditFileTable(Table):
    """An audit file as a whole; each table that asks something is one audit, in this order."""

    left: RecordTable | None = None
    right: RecordTable | None = None
    comparison: ComparisonTable | None = None
    declared: DeclaredTable | None = None
    reconcile: ReconcileTable | None = None
    arrays: ArraysTable | None = None
    dilution: DilutionTable | None = None
    closure: ClosureTable | None = None
    granularity: GranularityTable | None = None
    speed: SpeedTable | None = None
    selection: BestTable | None = None


def _printed(text: str | None) -> Printed | None:
    return None if text is None else printed(text)
