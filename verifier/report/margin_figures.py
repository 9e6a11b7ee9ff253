"""The picture of a replication at its looks: both sides' E, drawn from `looks` in its latest statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verifier.model.numbers import parse_rational
from verifier.model.results import ProbeResult
from verifier.report.eprocess_figure import Bar, Process, eprocess_svg
from verifier.report.replication import margin

SIDES = (("less than claimed", "below_claim"), ("more than alleged", "above_alleged"))
"""What an E is evidence for, and its key in a look."""


def margin_look_path(probe: ProbeResult) -> Sequence[Mapping[str, Any]]:
    """The looks at which both sides have an E, in order; empty for what is no replication or has none."""
    found = margin(probe)
    looks = [] if found is None else found.get("looks") or []
    return [look for look in looks if all(look[key] is not None for _, key in SIDES)]


def margin_evidence_svg(probe: ProbeResult) -> str:
    """E for each side at those looks, after the discount, with what each must reach. There must be such a look."""
    path, found = margin_look_path(probe), margin(probe) or {}
    discount = float(found.get("discount", 1.0))
    return eprocess_svg(
        [int(look["n"]) for look in path],
        [Process(name=name, e=[float(look[key]) * discount for look in path]) for name, key in SIDES],
        bars=[Bar(name="decides", value=float(parse_rational(str(probe.rule["threshold"]))))],
        stop=None if found.get("stopped_by") is None else int((probe.evidence[0].statistics or found)["n"]),
        unit=str(probe.rule.get("unit", "replicates")),
        title="Evidence at each look, the discount applied",
    )
