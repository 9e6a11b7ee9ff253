"""What is said of runs that were made elsewhere, beside the result that they gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from verifier.engine.ingest_rows import Measured, Missing, missing_document, unit_document
from verifier.engine.layout import Layout
from verifier.ledger import Content
from verifier.model.case import Premise
from verifier.sweeps.jobs import Unit

MOST_LISTED = 1_000
"""Missing cells that are listed one by one; their number is always said."""

AS_REPORTED = "These runs are as reported."
RULE_FIRST = "The rule was fixed before these runs began."


@dataclass(frozen=True, kw_only=True)
class IngestedRuns:
    """What is said of the runs of one probe.

    rows: units with numbers. used: of them, by the rule. prefix: r*, complete replicates before the first that is not.
    retrospective: a used row began before its registration or does not say when it began. reproduced: the units in
    `checked` were run here and are equal; `unchecked` says why not, where not. missing: listed up to a bound,
    `missing_cells` is their number. later: units after the prefix, which enter nothing. layout: whose units they are.
    """

    layout: Layout
    rows: int
    used: int
    prefix: int
    root: str
    retrospective: bool
    reproduced: bool
    checked: tuple[Unit, ...]
    unchecked: str
    missing: tuple[Missing, ...]
    missing_cells: int
    later: tuple[Measured, ...]
    manifest_sha256: str

    @property
    def probe(self) -> str:
        """The probe's name."""
        return self.layout.probe.name

    def content(self) -> dict[str, Content]:
        """What the evidence entry holds of it; the rows' columns stand under its root."""
        return {
            "rows": self.rows,
            "used": self.used,
            "prefix": self.prefix,
            "root": self.root,
            "retrospective": self.retrospective,
            "reproduced": self.reproduced,
            "checked": [unit.key for unit in self.checked],
            "missing": missing_document(self.missing),
            "missing_cells": self.missing_cells,
            "later": len(self.later),
            "manifest_sha256": self.manifest_sha256,
        }

    def document(self) -> dict[str, Any]:
        """The field `ingested` of the machine output."""
        arm = self.layout.arm
        checked = [{"unit": unit.key, **unit_document(unit, arm(unit))} for unit in self.checked]
        later = [{**unit_document(one.unit, arm(one.unit)), "line": one.line} for one in self.later[:MOST_LISTED]]
        return {"probe": self.probe, **self.content(), "checked": checked, "unchecked": self.unchecked, "later": later}

    @property
    def sentence(self) -> str:
        """What stands first: whether the runs can decide, how many were used, whether any was repeated here."""
        used = f"{self.used} of {self.rows} units used"
        if not self.used and self.rows:
            looks, complete = self.layout.probe.rule.looks, f"{self.prefix} complete replicate"
            used += f": {complete}{'' if self.prefix == 1 else 's'}, and the first look is at {looks[0]}"
        if self.reproduced:
            checked = f"{len(self.checked)} of them repeated here, and equal"
        else:
            checked = f"none of them repeated here ({self.unchecked})"
        if self.retrospective:
            return (
                "retrospective: these runs began before their registration or do not say when, so they are shown and "
                f"decide nothing; {used}; {checked}"
            )
        return f"measured elsewhere: {used}; {checked}"

    def premises(self, name: str) -> list[Premise]:
        """What a ruling on these runs takes on trust besides. name: of the file."""
        found = []
        if self.used and not self.reproduced:
            found.append(Premise(AS_REPORTED, "no", f"{name}; none of them was repeated here"))
        if self.retrospective:
            found.append(Premise(RULE_FIRST, "no", f"{name}, column started"))
        return found


def banner(ingested: tuple[IngestedRuns, ...]) -> tuple[str, ...]:
    """The first lines of a report on these runs, those that decide nothing first; of several probes each named."""
    several = len(ingested) > 1
    lines = sorted(ingested, key=lambda one: not one.retrospective)
    return tuple(f"{one.sentence}{f' (probe {one.probe})' if several else ''}" for one in lines)
