"""A sweep under a bound as lines a person reads: what was searched, and which instances come closest to g."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verifier.model.e_values import discount_text, e_text, e_value
from verifier.model.numbers import parse_rational
from verifier.model.results import Point, ProbeResult
from verifier.report.growth import Explained
from verifier.report.numbers import NumberTable
from verifier.report.text import counted, decimal, plain

MOST_SHOWN = 12
"""Instances that a table shows; all of them stand in the JSON."""

E_MEANS = (
    "the capital, weighted over the instances as registered, of somebody who bets against “no mean cost is above its "
    "bound”: if that is true it ever reaches T with probability at most 1/T"
)


def is_bound(probe: ProbeResult) -> bool:
    """Whether the probe was judged by the bound rule."""
    return probe.kind == "sweep" and probe.rule.get("kind") == "bound"


def bound_table(probe: ProbeResult) -> NumberTable:
    """The instances whose cost exceeds its bound most, or comes closest, first: cost, bound, their distance."""
    points = probe.latest.points if probe.evidence else ()
    bounds = (probe.latest.statistics or {}).get("bounds", ()) if probe.evidence else ()
    chance = bool(probe.rule.get("looks"))
    cost = "mean cost" if chance else "cost"
    columns = ("instance", cost, "bound", f"{cost} less bound", *(("standard error", "replicates") if chance else ()))
    known = [_bound(bounds, at) for at in range(len(points))]
    largest = sorted(range(len(points)), key=lambda at: -points[at].estimate)[:MOST_SHOWN]
    return NumberTable(columns, tuple(_cells(probe, points[at], known[at], chance=chance) for at in largest))


def _bound(bounds: Sequence[Any], at: int) -> float | None:
    """The bound of the point in this place, None where the evidence does not hold it."""
    return float(parse_rational(str(bounds[at]))) if at < len(bounds) else None


def _cells(probe: ProbeResult, point: Point, g: float | None, *, chance: bool) -> tuple[str, ...]:
    cells = [
        instance_words(probe, point),
        "" if g is None else decimal(point.estimate + g, 4),
        "" if g is None else decimal(g, 4),
        decimal(point.estimate, 4),
    ]
    if chance:
        cells += ["" if point.stderr is None else decimal(point.stderr, 4), f"{point.n:,}"]
    return tuple(cells)


def instance_words(probe: ProbeResult, point: Point) -> str:
    """An instance as sentences call it, with the name that the case gives it: `n = 16, instance 3: star`."""
    number = point.at["instance"]
    text = f"{plain(probe.axis)} = {point.at[probe.axis]:,}, instance {number:,}"
    members = _names(probe).get("members") or ()
    return f"{text}: {plain(members[number - 1])}" if 1 <= number <= len(members) else text


def _names(probe: ProbeResult) -> Mapping[str, Any]:
    """The case's own words for instances: `members` and `alleged`."""
    found: Mapping[str, Any] = probe.rule.get("quoted") or {}
    return found


def bound_design_line(probe: ProbeResult) -> str:
    """What was registered: instances, looks, threshold, and which of the two a pass can show."""
    if not is_bound(probe):
        return ""
    rule = probe.rule
    which = "all of a finite class" if rule["whole_class"] else "a sample, so that passes show nothing"
    if alleged := _names(probe).get("alleged"):
        which += f", of which the dispute names {plain(str(alleged))}"
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
    """How much was run, and E at the end after the discount; of costs without chance there is no E."""
    found = probe.latest.statistics if is_bound(probe) and probe.evidence else None
    if found is None:
        return ""
    parts = [counted(int(found["instances"]), "instance")]
    if found["n"]:
        parts.append(f"{counted(int(found['n']), 'replicate')} of each")
    discount = float(found["discount"])
    said = [
        f"{what} {e_text(float(found[key]['sup']) * discount)}"
        for key, what in (("e_mean", "weighted over all"), ("e_rerun", "of the one run again on fresh streams"))
        if found.get(key) is not None
    ]
    return "; ".join(parts) + (f"; {', '.join(said)}{discount_text(discount)}" if said else "")


def bound_explained(probe: ProbeResult) -> list[Explained]:
    """The statistics of a search, each with a line of explanation; empty where there are none."""
    found = probe.latest.statistics if is_bound(probe) and probe.evidence else None
    if found is None:
        return []
    rows, discount = [], float(found["discount"])
    if found.get("worst_ratio") is not None:
        where = plain(str(found["worst_instance"]))
        rows.append(Explained("largest cost to bound", f"{float(found['worst_ratio']):.4g}", f"at {where}"))
    fresh = "the same for the one instance that was found, on fresh streams: it was chosen before these were drawn"
    for key, name, meaning in (("e_mean", "E, weighted over instances", E_MEANS), ("e_rerun", "E, run again", fresh)):
        if (process := found.get(key)) is not None:
            most, now = (e_value(float(process[part]) * discount) for part in ("sup", "current"))
            rows.append(Explained(name, f"{most} at most, {now} now", meaning))
    if any(found.get(key) is not None for key in ("e_mean", "e_rerun")):
        meaning = "every E shown is after it: 6/(π² l²) at the l-th registration of this claim and dispute"
        rows.append(Explained("discount", f"{discount:.3g}", meaning))
    return rows
