"""Units, values, exact calls: the content-addressed pieces of a run, and the rows they return."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from verifier.model.canonical import Json, canonical_bytes, canonical_sha256
from verifier.model.case import Scale, Value
from verifier.model.questions import Question
from verifier.model.results import ExactEvidence

Keywords = tuple[tuple[str, Value], ...]


def _plain(pairs: Scale | Keywords) -> dict[str, int | str]:
    # a rational becomes text; an integer stays one, so that 1 and "1" are different settings
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in pairs}


@dataclass(frozen=True)
class Unit:
    """One replicate of one target at one scale.

    `stream_target` is the target whose stream it draws: its own, or its partner's under an `equals` control.
    `keywords` are the replicate keys and the parameters that the target names, and the arm where each is called for
    by itself; `arm` is one that draws a stream of its own, or an instance, which does. `arms`: whether the target may
    return both at once. `items`: whether the values are kept one by one.
    """

    registration: str
    probe: str
    target: str
    stream_target: str
    scale: Scale
    replicate: int
    keywords: Keywords
    arm: str = ""
    arms: bool = False
    items: bool = False

    @cached_property
    def stream(self) -> int:
        """The 128-bit key of the unit's random stream: what the unit is, and nothing else."""
        identity: dict[str, Json] = {
            "registration": self.registration,
            "probe": self.probe,
            "target": self.stream_target,
            "arm": self.arm,
            "scale": _plain(self.scale),
            "replicate": self.replicate,
        }
        return int.from_bytes(hashlib.sha256(canonical_bytes(identity)).digest()[:16], "big")

    @cached_property
    def key(self) -> str:
        """The unit's key in the store."""
        return canonical_sha256(
            {"stream": f"{self.stream:032x}", "target": self.target, "keywords": _plain(self.keywords)}
        )

    @property
    def group(self) -> tuple[str, Scale]:
        """Units of one group take about equally long."""
        return self.target, self.scale

    def check(self, row: Row) -> None:
        """Raises KeyError, TypeError, ValueError or ZeroDivisionError for a row that no worker wrote."""
        found = arms_of(row)
        if ("" not in found and not self.arms) or any((each.items is None) == self.items for each in found.values()):
            raise ValueError("not the row of this unit")


@dataclass(frozen=True)
class ValueCall:
    """An exact function of a case at one scale: a baseline, an exact curve, a control's values."""

    registration: str
    target: str
    scale: Scale
    keywords: Keywords

    @cached_property
    def key(self) -> str:
        """The value's key in the store."""
        return canonical_sha256(
            {
                "registration": self.registration,
                "value": self.target,
                "scale": _plain(self.scale),
                "keywords": _plain(self.keywords),
            }
        )

    @property
    def group(self) -> tuple[str, Scale]:
        """Values are grouped by target and scale, like units."""
        return self.target, self.scale

    def check(self, row: Row) -> None:
        """Raises as `Unit.check` does."""
        value_of(row)


@dataclass(frozen=True)
class Inspection:
    """Whether a target of this code imports, and the names it can be called with."""

    code_sha256: str
    target: str

    @cached_property
    def key(self) -> str:
        """The inspection's key in the store."""
        return canonical_sha256({"code": self.code_sha256, "inspect": self.target})

    @property
    def group(self) -> tuple[str, Scale]:
        """Each inspection stands alone."""
        return self.target, ()

    def check(self, row: Row) -> None:
        """Raises as `Unit.check` does."""
        if set(row) != {"names", "required"} or not all(isinstance(x, str) for xs in row.values() for x in xs):
            raise ValueError("not the fields of an inspection")


@dataclass(frozen=True)
class ExactCall:
    """Exact work on one problem file: finder, then checker. `target` is the file's path in the case folder.

    `finder` is the hash of the finder's code: another one may find more, so what it finds is kept apart.
    """

    registration: str
    target: str
    text: bytes = field(repr=False)
    horizon: int
    finder: str

    @cached_property
    def key(self) -> str:
        """The call's key in the store."""
        return canonical_sha256(
            {
                "registration": self.registration,
                "exact": hashlib.sha256(self.text).hexdigest(),
                "horizon": self.horizon,
                "finder": self.finder,
            }
        )

    @property
    def group(self) -> tuple[str, Scale]:
        """No two problems take equally long."""
        return self.key, ()

    def check(self, row: Row) -> None:
        """Raises as `Unit.check` does."""
        exact_of(row)


@dataclass(frozen=True)
class AuditCall:
    """The audit of a file or of a function of the case; `target` is the file's path in the folder, or the function.

    `question` is what a function is asked, None for a file. `keywords` are the parameters that a function names.
    `threshold` is the size that a comparison must keep. `mechanisms` is the hash of the audits' code.
    """

    registration: str
    target: str
    question: Question | None
    keywords: Keywords
    threshold: Fraction
    mechanisms: str

    @cached_property
    def key(self) -> str:
        """The call's key in the store."""
        return canonical_sha256(
            {
                "registration": self.registration,
                "audit": self.target,
                "question": None if self.question is None else self.question.document,
                "keywords": _plain(self.keywords),
                "threshold": str(self.threshold),
                "mechanisms": self.mechanisms,
            }
        )

    @property
    def group(self) -> tuple[str, Scale]:
        """No two audits take equally long."""
        return self.key, ()

    def check(self, row: Row) -> None:
        """Raises as `Unit.check` does."""
        audits_of(row)


Job = Unit | ValueCall | Inspection | ExactCall | AuditCall

Row = Mapping[str, Any]
"""What a job returned: a JSON object of integers and texts, as stored and hashed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A job without an answer: what happened, and the traceback where there is one.

    `missing` is the module that could not be imported, where that is what happened; `lost` says that workers died.
    """

    what: str
    traceback: str = ""
    missing: str = ""
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Sums:
    """What a unit returned: count, sum and sum of squares, exact where the values are integers.

    `items` are the values one by one, where they are kept.
    """

    n: int
    total: Fraction
    total_of_squares: Fraction
    values_sha256: str
    exact: bool
    items: tuple[float, ...] | None = None

    @property
    def mean(self) -> Fraction:
        """The replicate's mean."""
        return self.total / self.n


def sums_of(row: Row) -> Sums:
    """A unit's row, read."""
    if set(row) - {"items"} != {"values", "n", "sum", "sum_sq", "values_sha256"}:
        raise ValueError("not the fields of a unit's row")
    n = _positive(row["n"])
    return Sums(
        n=n,
        total=Fraction(row["sum"]),
        total_of_squares=Fraction(row["sum_sq"]),
        values_sha256=str(row["values_sha256"]),
        exact=row["values"] == "integer",
        items=_items(row["items"], n) if "items" in row else None,
    )


def _items(texts: Any, n: int) -> tuple[float, ...]:
    items = tuple(float(text) for text in texts)
    if len(items) != n or not all(map(math.isfinite, items)):
        raise ValueError("not the values of a unit's row")
    return items


ARMS = ("left", "right")


def arms_of(row: Row) -> dict[str, Sums]:
    """A unit's row, read by arm: `left` and `right`, or one array under the name ""."""
    if "arms" not in row:
        return {"": sums_of(row)}
    if set(row) != {"arms"} or set(row["arms"]) != set(ARMS):
        raise ValueError("not the fields of a unit's row")
    return {arm: sums_of(row["arms"][arm]) for arm in ARMS}


def exact_row(found: ExactEvidence) -> Row:
    """Exact work as a row. Its documents are kept as JSON texts, since a row holds no doubles."""
    return {
        "document": json.dumps(found.document, sort_keys=True, allow_nan=False),
        "certificate": found.certificate or "",
        "checked": found.checked or "",
        "margins": json.dumps(found.margins) if found.margins else "",
    }


def exact_of(row: Row) -> ExactEvidence:
    """An exact call's row, read."""
    if set(row) != {"document", "certificate", "checked", "margins"}:
        raise ValueError("not the fields of exact work")
    document = json.loads(row["document"])
    if not all(isinstance(document[key], str) for key in ("answer", "sentence")):
        raise TypeError("not the fields of exact work")
    return ExactEvidence(
        document=document,
        certificate=row["certificate"] or None,
        checked=row["checked"] or None,
        margins=json.loads(row["margins"]) if row["margins"] else None,
    )


def audit_row(audits: Sequence[Mapping[str, Any]]) -> Row:
    """Audits as a row: a JSON text, since a row holds no doubles."""
    return {"audits": json.dumps(list(audits), sort_keys=True, allow_nan=False)}


def audits_of(row: Row) -> tuple[Mapping[str, Any], ...]:
    """An audit call's row, read."""
    if set(row) != {"audits"}:
        raise ValueError("not the field of audits")
    audits = json.loads(row["audits"])
    if not audits or not all(isinstance(audit[key], str) for audit in audits for key in ("finding", "sentence")):
        raise TypeError("not the fields of an audit")
    return tuple(audits)


def _positive(value: Any) -> int:
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"{value!r} is not a count")
    return value


def value_row(value: Fraction) -> Row:
    """A value as a row. Hexadecimal, since a harmonic number outgrows Python's limit for decimal text."""
    return {"numerator": f"{value.numerator:x}", "denominator": f"{value.denominator:x}"}


def value_of(row: Row) -> Fraction:
    """A value's row, read."""
    if set(row) != {"numerator", "denominator"}:
        raise ValueError("not the fields of a value")
    return Fraction(int(row["numerator"], 16), int(row["denominator"], 16))
