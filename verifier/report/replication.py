"""A replication's numbers as lines a person reads: what was claimed and alleged, what the runs gave, E at the looks."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verifier.model.e_values import discount_text, e_text
from verifier.model.numbers import parse_rational
from verifier.model.results import ProbeResult
from verifier.report.growth import Explained
from verifier.report.text import counted, decimal, e_value, plain, quoted, scientific

MOST_SHOWN = 12
"""Looks that a table shows; all that are recorded stand in the JSON."""


def is_replication(probe: ProbeResult) -> bool:
    """Whether the probe was judged by a margin rule."""
    return probe.kind == "replication"


def is_retrospective(probe: ProbeResult) -> bool:
    """Whether the probe read runs from a file, which decide nothing."""
    return is_replication(probe) and bool(probe.question)


def margin(probe: ProbeResult) -> Mapping[str, Any] | None:
    """The statistics of a replication at its latest evidence, or None where it has none."""
    return probe.latest.statistics if is_replication(probe) and probe.evidence else None


def shown(probe: ProbeResult, theta: float) -> str:
    """θ as a person reads it: a ratio rather than its logarithm, a share of a list with its count."""
    kind = probe.rule.get("kind")
    if kind == "ratio":
        return f"{math.exp(theta):.4g}" if theta < math.log(sys.float_info.max) else "inf"
    if kind == "count":
        size = int(probe.rule["size"])
        return f"{theta:.4g} ({theta * size:.4g} of {size:,})"
    return f"{theta:.4g}"


def _what(probe: ProbeResult) -> str:
    """What θ is: `difference, left less right`."""
    turned = probe.rule.get("better") == "lower"
    names = {
        "difference": f"difference, {'right less left' if turned else 'left less right'}",
        "ratio": f"ratio, {'right to left' if turned else 'left to right'}",
        "proportion": "share of successes",
        "count": "share of the list",
    }
    return names.get(str(probe.rule.get("kind")), "effect")


def _number(value: Any) -> float:
    return float(parse_rational(str(value)))


def margin_design_line(probe: ProbeResult) -> str:
    """What was registered for a replication: the rule's two sides, looks, thresholds and noise."""
    if not is_replication(probe) or "looks" not in probe.rule:
        return ""
    rule = probe.rule
    unit = plain(str(rule.get("unit", "replicates")))
    where = f"runs read from {plain(probe.question)}; " if probe.question else ""
    noise = f"{plain(str(rule['noise']))}; " if rule.get("noise") else ""
    claimed = f"at least {_number(rule['claimed']):g}"
    if rule.get("kind") == "ratio":
        claimed = f"{_number(rule['claimed']):g}, short of it by a factor of {_number(rule['delta']):g} at most"
    return (
        f"{where}{_what(probe)}: claimed {claimed}, alleged at most {_number(rule['alleged']):g}; {noise}looked at "
        f"after {_looks_words(rule['looks'])} {unit}, nothing decided before {rule['minimum_n']}; each side must reach "
        f"E = {_number(rule['threshold']):,.0f}"
    )


def _looks_words(looks: Any) -> str:
    words = [f"{look:,}" for look in looks]
    return ", ".join(words) if len(words) <= MOST_SHOWN else f"{', '.join(words[:3])}, … {words[-1]}"


def margin_size_line(probe: ProbeResult) -> str:
    """How much there is and why no more: `40 replicates; stopped at the decision`."""
    found = margin(probe)
    if found is None:
        return ""
    stops = {"decision": "; stopped at the decision", "maximum-n": "; run to the registered maximum"}
    stopped = stops.get(str(found.get("stopped_by")), "")
    if len(probe.evidence) > 1 and (first := probe.evidence[0].statistics) is not None:
        stopped = f"; decided at {int(first['n']):,}, then run on to the registered maximum"
    unit = plain(str(probe.rule.get("unit", "replicates")))
    if probe.question:
        counts = found["reported"].get("file", {})
        stopped = f" of {counts.get('rows', 0):,} rows; {counts.get('unused', 0):,} replicates beyond are only counted"
        stopped += f", {counted(counts['missing'], 'cell')} empty" if counts.get("missing") else ""
    return f"{int(found['n']):,} {unit}{stopped}"


def estimate_line(probe: ProbeResult) -> str:
    """The estimate with its interval, and whether the paper's number lies in it."""
    found = margin(probe)
    if found is None or found.get("effect") is None:
        return ""
    effect = found["effect"]
    text = f"{_what(probe)}: {shown(probe, float(effect['estimate']))}"
    interval = effect.get("interval")
    if interval is None:
        text += "; too few for an interval"
    else:
        low, high = (float(end) for end in interval)
        text += f", between {shown(probe, low)} and {shown(probe, high)} (95 % at any stopping time)"
    return f"{text}{_paper_words(probe, found)}"


def _paper_words(probe: ProbeResult, found: Mapping[str, Any]) -> str:
    paper = found["reported"].get("paper")
    if not paper:
        return ""
    printed = plain(str(paper))
    interval = found["effect"].get("interval")
    value = _number(paper)
    if probe.rule.get("kind") == "ratio":
        value = math.log(value) if value > 0 else -math.inf
    if interval is None or not math.isfinite(value):
        return f"; the paper reports {printed}"
    return (
        f"; the paper's {printed} lies {'inside' if interval[0] <= value <= interval[1] else 'outside'} this interval"
    )


def margin_evidence_line(probe: ProbeResult) -> str:
    """Both sides' E after the discount for repeated registrations, against the threshold."""
    found = margin(probe)
    if found is None or found.get("e_below_claim") is None or found.get("e_above_alleged") is None:
        return ""
    sigma = found.get("sigma_discounted")
    worth = "" if sigma is None else f" (the larger is {float(sigma):.1f} sigma at any stopping time)"
    discount = float(found["discount"])
    below, above = (float(found[key]["sup"]) * discount for key in ("e_below_claim", "e_above_alleged"))
    return (
        f"evidence for less than what is claimed: {e_text(below)}; evidence for more than what is alleged: "
        f"{e_text(above)}{discount_text(discount)}, to be compared with {e_value(_number(probe.rule['threshold']))}"
        f"{worth}"
    )


def margin_lines(probe: ProbeResult, *, named: bool) -> list[str]:
    """The numbers that stand beside a ruling; `named` puts the probe's name before each."""
    name = f"{plain(probe.name)}: " if named else ""
    return [name + line for line in (estimate_line(probe), margin_evidence_line(probe)) if line]


@dataclass(frozen=True, slots=True)
class LookRow:
    """One look as a table shows it; "" where there is no E yet."""

    n: str
    below_claim: str
    above_alleged: str


def look_rows(probe: ProbeResult) -> list[LookRow]:
    """E at the looks made, after the discount: the first and the last ones where there are many."""
    found = margin(probe)
    if found is None:
        return []
    looks, discount = list(found.get("looks") or []), float(found["discount"])
    if len(looks) > MOST_SHOWN:
        looks = [*looks[: MOST_SHOWN // 2], *looks[-(MOST_SHOWN // 2) :]]

    def text(value: Any) -> str:
        return "" if value is None else e_value(float(value) * discount)

    return [LookRow(f"{int(look['n']):,}", text(look["below_claim"]), text(look["above_alleged"])) for look in looks]


def margin_explained(probe: ProbeResult) -> list[Explained]:
    """The statistics of a replication, each with a line of explanation; empty where there are none."""
    found = margin(probe)
    if found is None:
        return []
    effect, rows = found.get("effect"), []
    if effect is not None:
        error = effect.get("stderr")
        logarithm = ", as a logarithm" if probe.rule.get("kind") == "ratio" else ""
        value = f"{float(effect['estimate']):.4g}" + ("" if error is None else f" ± {float(error):.3g}")
        rows.append(Explained(f"{_what(probe)}{logarithm}", value, "the estimate and its standard error at this size"))
    for name, arm in (found["reported"].get("arms") or {}).items():
        if arm.get("mean") is not None:
            value = decimal(float(arm["mean"]), 4)
            value += "" if arm.get("stderr") is None else f" ± {decimal(float(arm['stderr']), 4)}"
            rows.append(Explained(plain(str(name)), value, f"mean of {int(arm['n']):,}, with its own standard error"))
    rows += [
        _process(found, "e_below_claim", "E for less than claimed", "betting against “as large as claimed”"),
        _process(found, "e_above_alleged", "E for more than alleged", "betting against “as small as alleged”"),
        _process(found, "e_below_middle", "E for the lower half", "betting against “above the middle of the two”"),
        _process(found, "e_above_middle", "E for the upper half", "betting against “below the middle of the two”"),
        Explained(
            "discount",
            f"{float(found['discount']):.3g}",
            "every E shown is after it: 6/(π² l²) at the l-th registration of this claim and dispute",
        ),
    ]
    return [*rows, *_beside(found["reported"])]


def _process(found: Mapping[str, Any], key: str, name: str, meaning: str) -> Explained:
    process = found.get(key)
    value = "not available"
    if process is not None:
        most, now = (e_value(float(process[part]) * float(found["discount"])) for part in ("sup", "current"))
        value = f"{most} at most, {now} now"
    return Explained(name, value, meaning)


def _beside(reported: Mapping[str, Any]) -> list[Explained]:
    """What is reported and decides nothing."""
    rows = []
    if (exact := reported.get("clopper_pearson")) is not None:
        value = f"{float(exact[0]):.4g} to {float(exact[1]):.4g}"
        rows.append(Explained("Clopper–Pearson interval", value, "95 % had the size been fixed; decides nothing"))
    beside = reported.get("beside") or {}
    if (test := beside.get("tost")) is not None:
        p = max(float(test["p_low"]), float(test["p_high"]))
        meaning = f"two one-sided tests: between {test['low']:.4g} and {test['high']:.4g}; decides nothing"
        rows.append(Explained("equivalence to what is alleged", f"p = {_p(p)}", meaning))
    if (ahead := beside.get("prediction")) is not None:
        value = f"{float(ahead['low']):.4g} to {float(ahead['high']):.4g}"
        meaning = f"where the mean of {int(ahead['n']):,} more would lie, 95 %; not a confidence interval"
        rows.append(Explained("prediction interval", value, meaning))
    if (small := beside.get("small_telescopes")) is not None:
        meaning = (
            f"that the effect is smaller than {float(small['d33']):.2g} standard deviations, which the paper's "
            f"{int(small['original_n']):,} would have found once in three times; decides nothing"
        )
        rows.append(Explained("small telescopes", f"p = {_p(float(small['p']))}", meaning))
    return rows


def _p(value: float) -> str:
    return scientific(value) if 0 < value < 1e-3 else f"{value:.2g}"


def retrospective_words(probe: ProbeResult) -> str:
    """Why runs from a file decide nothing."""
    return f"the runs in {quoted(probe.question)} were not made under this registration, so they decide nothing"
