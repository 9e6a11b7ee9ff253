"""The pictures of a basis audit, each with its caption, from its JSON document alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verifier.report.dilution_figures import gap_svg, position_svg
from verifier.report.ratio_figure import ratio_svg, ratios

Document = Mapping[str, Any]

GAP = (
    "The gap on real tokens against the padded share: the line at the printed values, the band over their rounding, "
    "boxes where the printed statements leave the share."
)
POSITION = (
    "The mean loss by position in a sequence, of all scored positions and of real tokens alone; shaded, the share of "
    "padding."
)
RATIOS = (
    "The ratio as claimed, after each correction, and what it is set against, with the rounding of the printed "
    "numbers; at 1 both sides are equal."
)


def audit_pictures(audit: Document) -> list[tuple[str, str]]:
    """(SVG, caption) of every picture that the audit has something to draw for; often none.

    `audit`: one of `audits[]`. A dilution shows its gap against the padded share, one of arrays the loss by position;
    an audit of ratios shows them on one logarithmic axis.
    """
    details = audit.get("details") or {}
    found = []
    if details.get("gap_admissible") and None not in details["gap_admissible"]:
        found.append((gap_svg(details), GAP))
    if details.get("by_position"):
        found.append((position_svg(details["by_position"]), POSITION))
    if len(rows := ratios(details)) > 1:
        found.append((ratio_svg(rows, threshold=details.get("threshold")), RATIOS))
    return found
