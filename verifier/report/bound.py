"""A sweep under a bound as lines a person reads: what was searched, and which instances come closest to g."""

from __future__ import annotations

from verifier.model.results import Point, ProbeResult
from verifier.report.numbers import Row, rows
from verifier.report.text import counted, e_value, plain

MOST_SHOWN = 12
"""Instances that a table shows; all of them stand in the JSON."""


def is_bound(probe: ProbeResult) -> bool:
    """Whether the probe was judged by the bound rule."""
    return probe.kind == "sweep" and probe.rule.get("kind") == "bound"


def bound_rows(probe: ProbeResult) -> list[Row]:
    """The instances whose mean exceeds its bound most, or comes closest, first; the estimate is the excess."""
    points = probe.latest.points if probe.evidence else ()
    largest = sorted(points, key=lambda point: -point.estimate)[:MOST_SHOWN]
    return [_named(point, row, probe.axis) for point, row in zip(largest, rows(largest, probe.axis), strict=True)]


def _named(point: Point, row: Row, axis: str) -> Row:
    return Row(
        scale=f"{plain(axis)} = {row.scale}, {point.at['instance']:,}",
        estimate=row.estimate,
        stderr=row.stderr,
        exact=row.exact,
        gap=row.gap,
        n=row.n,
    )


def bound_design_line(probe: ProbeResult) -> str:
    """What was registered: instances, looks, threshold, and which of the two a pass can show."""
    if not is_bound(probe):
        return ""
    rule = probe.rule
    which = "all of a finite class" if rule["whole_class"] else "a sample, so that passes show nothing"
    inner = "".join(f" of {int(size):,} {plain(str(name))}" for name, size in rule["replicate"].items())
    looks = ", ".join(map(str, rule["looks"]))
    how = (
        f"means over replicates{inner}, looked at after {looks}, none counted before {rule['minimum_n']}; their "
        f"weighted evidence must reach E = {float(rule['threshold']):,.0f}"
        if rule["looks"]
        else "a cost without chance, computed once"
    )
    return f"{counted(int(rule['instances']), 'instance')} at each scale, {which}; {how}"


def bound_size_line(probe: ProbeResult) -> str:
    """How much was run, and E at the end."""
    found = probe.latest.statistics if is_bound(probe) and probe.evidence else None
    if found is None:
        return ""
    parts = [counted(int(found["instances"]), "instance")]
    if found["n"]:
        parts.append(f"{counted(int(found['n']), 'replicate')} of each")
    for key, what in (("e_mean", "weighted over all"), ("e_rerun", "of the one run again on fresh streams")):
        if found.get(key) is not None:
            parts.append(f"E {what} {e_value(float(found[key]['sup']))}")
    return "; ".join([*parts, f"each E times {float(found['discount']):.2g} for the registrations made"])
